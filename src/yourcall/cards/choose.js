/** `<yc-choose>`: one of many options, or several; from ten on they can be searched. */

/** @import { Interrupt, KindMembers } from "./wire.d.ts" */
import { h, uid } from "./dom.js";
import { offers } from "./questions.js";
import { strings } from "./strings.js";

const MANY = 10;

/** @implements {KindMembers} */
export class YcChoose extends HTMLElement {
  #multi = false;
  /** @type {HTMLInputElement[]} */
  #ticks = [];

  /** @param {Interrupt} interrupt */
  set interrupt({ metadata: { yourcall: { ask, ending } } }) {
    this.#multi = ask.multi;
    /** @type {string[]} */
    const options = ask.options;
    const title = h("span", { class: "yc-prompt", dir: "auto" }, ask.title);
    if (ending) {
      this.replaceChildren(title, offers(options, [ending.answer?.choice ?? []].flat()));
      return;
    }
    const name = uid();
    this.#ticks = options.map((value) => h("input", { type: ask.multi ? "checkbox" : "radio", name, value }));
    const labels = options.map((label, n) =>
      h("label", { class: "yc-option" }, this.#ticks[n], h("span", { class: "yc-label", dir: "auto" }, label)));
    this.replaceChildren(h("fieldset", { class: "yc-question", "data-pointer": "/choice" },
      h("legend", {}, title),
      ...(options.length < MANY ? [] : this.#search(labels)),
      h("div", { class: "yc-options" }, ...labels)));
  }

  get answer() {
    const chosen = this.#ticks.filter(({ checked }) => checked).map(({ value }) => value);
    return { choice: this.#multi ? chosen : chosen[0] };
  }

  get faults() {
    return this.#ticks.some(({ checked }) => checked) ? [] : [{ pointer: "/choice", detail: strings.choose }];
  }

  /** Narrows the list as one types, but for what is chosen; Enter goes to the first. @param {HTMLElement[]} labels */
  #search(labels) {
    const field = h("input", { type: "search", placeholder: strings.search, "aria-label": strings.search, dir: "auto" });
    const count = h("p", { class: "yc-sr", role: "status" });
    field.addEventListener("input", () => {
      const wanted = folded(field.value).split(" ");
      labels.forEach((label, n) => {
        const text = folded(label.textContent ?? "");
        label.hidden = !this.#ticks[n]?.checked && !wanted.every((word) => text.includes(word));
      });
      count.textContent = `${labels.filter(({ hidden }) => !hidden).length} / ${labels.length}`;
    });
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault(); // to search is not to send
      labels.find(({ hidden }) => !hidden)?.querySelector("input")?.focus();
    });
    return [h("div", { class: "yc-options" }, field, count)];
  }
}

/** As it is compared: without case and accents. @param {string} text */
const folded = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
