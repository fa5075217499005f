/** `<yc-visit>`: a link that leads outside, by way of a route of ours. Coming back, or that page's own call, answers. */

/** @import { Interrupt, KindMembers } from "./wire.d.ts" */
/** @import { YcCard } from "./card.js" */
import { h } from "./dom.js";
import { strings } from "./strings.js";

/** @implements {KindMembers} */
export class YcVisit extends HTMLElement {
  answer = undefined;
  outside = true;
  #id = "";
  #status = h("p", { class: "yc-aside", role: "status" });
  #link = h("a", {
    class: "yc-primary", target: "_blank", rel: "noopener noreferrer", dir: "auto",
    click: () => (this.#status.textContent = strings.away),
  });

  /** @param {Interrupt} interrupt */
  set interrupt({ id, metadata: { yourcall: { ask, ending } } }) {
    this.#id = id;
    this.#link.textContent = `${strings.open} ${ask.host}`; // where it leads is read before it is followed
    this.replaceChildren(h("p", { class: "yc-prompt", dir: "auto" }, ask.title));
    if (!ending) this.append(this.#status, h("div", { class: "yc-actions", "data-actions": true }, this.#link));
  }

  connectedCallback() {
    const card = /** @type {YcCard | null} */ (this.closest("yc-card"));
    this.#link.href = `${card?.client?.base ?? "."}/interrupts/${this.#id}/visit`;
  }
}
