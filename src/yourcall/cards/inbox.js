/** `<yc-inbox base=".">`: the open questions of all conversations, and of others, that the user may answer. */

/** @import { YcCard } from "./card.js" */
/** @import { Interrupt } from "./wire.d.ts" */
import { Client, Problem } from "./client.js";
import "./define.js";
import { h } from "./dom.js";
import { strings } from "./strings.js";

export class YcInbox extends HTMLElement {
  /** Before the element is connected, one of your own may be set. @type {Client | undefined} */
  client;
  #status = h("p", { role: "status" });
  /** @type {Map<string, YcCard>} */
  #cards = new Map();
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #timer;

  connectedCallback() {
    this.client ??= new Client(this.getAttribute("base") ?? ".");
    this.append(this.#status);
    this.addEventListener("yc-outdated", this.#look);
    this.addEventListener("yc-closed", (event) => this.#settle(/** @type {CustomEvent} */ (event).detail.id));
    addEventListener("visibilitychange", this.#look);
    this.#timer = setInterval(this.#look, 3_000);
    void this.#look();
  }

  disconnectedCallback() {
    removeEventListener("visibilitychange", this.#look);
    clearInterval(this.#timer);
  }

  #look = async () => {
    if (document.hidden) return;
    try {
      /** @type {{ interrupts: Interrupt[] }} */
      const { interrupts } = await this.#get();
      this.#status.textContent = interrupts.length ? "" : strings.nothing;
      const gone = new Set(this.#cards.keys());
      for (const interrupt of interrupts.reverse()) if (!gone.delete(interrupt.id)) this.#add(interrupt);
      for (const id of gone) if (this.#cards.get(id)?.open) await this.#settle(id);
    } catch (error) {
      this.#status.textContent = error instanceof Problem ? error.message : strings.unreachable;
    }
  };

  /** Below the others: what is being answered stays where it is. @param {Interrupt} interrupt */
  #add(interrupt) {
    const card = /** @type {YcCard} */ (document.createElement("yc-card"));
    Object.assign(card, { client: this.client, interrupt });
    this.#cards.set(interrupt.id, card);
    this.append(card);
  }

  /** Show what became of it; what the user may not see any more goes. @param {string} id */
  async #settle(id) {
    const interrupt = await this.#get(`/${id}`).catch((error) => {
      if (error.status !== 404) throw error;
    });
    if (interrupt) Object.assign(this.#cards.get(id) ?? {}, { interrupt });
    else this.#cards.get(id)?.remove(), this.#cards.delete(id);
  }

  async #get(path = "") {
    const { base, init } = /** @type {Client} */ (this.client);
    const response = await fetch(`${base}/interrupts${path}`, init);
    const body = await response.json().catch(() => null);
    if (response.ok) return body;
    throw new Problem(response.status, body);
  }
}

if (!customElements.get("yc-inbox")) customElements.define("yc-inbox", YcInbox);
