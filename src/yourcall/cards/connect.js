/** `<yc-connect>`: a link to our own page, which leads to the provider. Coming back from there answers the question. */

/** @import { Interrupt, KindMembers } from "./wire.d.ts" */
/** @import { YcCard } from "./card.js" */
import { h } from "./dom.js";
import { strings } from "./strings.js";

/** @implements {KindMembers} */
export class YcConnect extends HTMLElement {
  answer = undefined; // comes by another way
  outside = true;
  #id = "";
  #status = h("p", { class: "yc-aside", role: "status" });
  #link = h("a", {
    class: "yc-primary", target: "_blank", rel: "noopener", click: () => (this.#status.textContent = strings.away),
  }, strings.connect);

  /** @param {Interrupt} interrupt */
  set interrupt({ id, metadata: { yourcall: { ask, ending } } }) {
    this.#id = id;
    this.replaceChildren(h("p", { class: "yc-prompt", dir: "auto" }, ask.title));
    if (ending) this.append(h("p", { class: "yc-aside", dir: "auto" }, ending.answer?.label));
    else this.append(this.#status, h("div", { class: "yc-actions", "data-actions": true }, this.#link));
  }

  connectedCallback() {
    const card = /** @type {YcCard | null} */ (this.closest("yc-card"));
    this.#link.href = `${card?.client?.base ?? "."}/connect/${this.#id}`;
  }
}
