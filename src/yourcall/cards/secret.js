/**
 * `<yc-secret>`: one field for a password or a key. What is typed leaves it once, with the answer; no draft, attribute
 * or other element ever has it.
 */

/** @import { Interrupt, KindMembers } from "./wire.d.ts" */
import { h, titled, uid } from "./dom.js";
import { strings } from "./strings.js";

/** @implements {KindMembers} */
export class YcSecret extends HTMLElement {
  way = "secret";
  #input = h("input", { type: "password", autocomplete: "off", "aria-describedby": uid() });

  /** @param {Interrupt} interrupt */
  set interrupt({ metadata: { yourcall: { ask, tool, ending } } }) {
    const title = h("span", { class: "yc-prompt", dir: "auto" }, ask.title);
    const asker = tool ? `${strings.askedBy} “${titled(tool)}”. ` : "";
    const sealed = ending?.kind === "answered" ? h("p", { class: "yc-aside" }, strings.sealed) : "";
    if (ending) this.append(title, sealed);
    else this.append(h("div", { class: "yc-field", "data-pointer": "" },
      h("label", {}, title, this.#input),
      h("p", { class: "yc-description", dir: "auto", id: this.#input.getAttribute("aria-describedby") },
        ask.help && `${ask.help}\n`, asker + strings.sealing),
    ));
  }

  get faults() {
    return this.#input.value.trim() ? [] : [{ pointer: "", detail: strings.required }];
  }

  get answer() {
    const { value } = this.#input;
    this.#input.value = "";
    return { value };
  }
}
