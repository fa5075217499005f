/**
 * `<yc-inbox base=".">`: the open questions that the user may answer, of all conversations, as cards. It looks for new
 * ones every few seconds while it is seen; what somebody else answered meanwhile closes here, too.
 */

/** @import { Interrupt } from "./wire.d.ts" */
import { YcCard } from "./card.js";
import { Client, Problem } from "./client.js";
import "./define.js";
import { h } from "./dom.js";
import { persist } from "./persist.js";
import { strings } from "./strings.js";

const EVERY_MS = 3_000;

export class YcInbox extends HTMLElement {
  /** @type {Client | undefined} One with a header of its own can be set before the element is connected. */
  client;
  #empty = h("p", { class: "yc-aside", role: "status" });
  /** @type {AbortController | undefined} */
  #watch;

  connectedCallback() {
    const watch = (this.#watch = new AbortController());
    this.client ??= new Client(this.getAttribute("base") ?? ".");
    this.append(this.#empty);
    const look = () => void this.#look().catch(() => {}); // the next look, seconds later, says what is wrong
    this.addEventListener("yc-outdated", look, { signal: watch.signal });
    document.addEventListener("visibilitychange", look, { signal: watch.signal });
    void this.#watching(watch.signal);
  }

  disconnectedCallback() {
    this.#watch?.abort();
  }

  /** @param {AbortSignal} signal */
  async #watching(signal) {
    while (!signal.aborted) {
      await persist(() => this.#look(), { signal }).catch((error) => (this.#empty.textContent = error.message));
      await new Promise((next) => setTimeout(next, EVERY_MS));
    }
  }

  async #look() {
    if (document.hidden) return;
    /** @type {{ interrupts: Interrupt[] }} */
    const { interrupts } = await this.#get("interrupts");
    const cards = [.../** @type {NodeListOf<YcCard>} */ (this.querySelectorAll("yc-card"))];
    const open = new Set(interrupts.map(({ id }) => id));
    const known = new Set(cards.map(({ interrupt }) => interrupt?.id));
    this.#empty.textContent = interrupts.length ? "" : strings.nothing;
    const fresh = interrupts.filter(({ id }) => !known.has(id)).reverse(); // who waits longest is first
    this.append(...fresh.map((interrupt) => this.#card(interrupt))); // and what is being answered stays where it is
    for (const card of cards) if (card.open && !open.has(card.interrupt?.id ?? "")) await this.#refresh(card);
  }

  /** @param {Interrupt} interrupt */
  #card(interrupt) {
    const card = /** @type {YcCard} */ (document.createElement("yc-card"));
    card.client = this.client;
    card.interrupt = interrupt;
    return card;
  }

  /** It is not listed any more: show what became of it. @param {YcCard} card */
  async #refresh(card) {
    try {
      card.interrupt = await this.#get(`interrupts/${card.interrupt?.id}`);
    } catch (error) {
      if (error instanceof Problem && error.status === 404) card.remove(); // it is not theirs to see any more
    }
  }

  /** @param {string} path */
  async #get(path) {
    const { base, init } = /** @type {Client} */ (this.client);
    const response = await fetch(`${base}/${path}`, init);
    if (response.ok) return response.json();
    throw new Problem(response.status, await response.json().catch(() => null));
  }
}

if (!customElements.get("yc-inbox")) customElements.define("yc-inbox", YcInbox);
