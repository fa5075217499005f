/**
 * `<yc-chats>`: the way to a new conversation and back to the earlier ones. To go to one is to change the fragment of
 * the address, which `<yc-chat>` follows. Whoever comes by an address without a fragment is led to where they were.
 */

/** @import { Client } from "./client.js" */
/** @import { Listed } from "./wire.d.ts" */
import { h, when } from "./dom.js";
import { strings } from "./strings.js";

export class YcChats extends HTMLElement {
  /** @type {Client | undefined} Whose conversations these are. */
  client;
  #list = h("ul", { class: "yc-menu", click: () => (this.#menu.open = false) });
  #menu = h("details", { toggle: () => this.#menu.open && this.#fill() },
    h("summary", { class: "yc-quiet" }, strings.chats), this.#list);

  connectedCallback() {
    if (this.firstChild) return;
    this.append(this.#menu, h("a", { href: "#", class: "yc-quiet" }, strings.newChat));
    this.addEventListener("focusout", ({ relatedTarget }) => {
      if (!this.contains(/** @type {Node | null} */ (relatedTarget))) this.#menu.open = false;
    });
    this.addEventListener("keydown", ({ key }) => {
      if (key === "Escape") this.#menu.open = false;
    });
    if (!location.href.includes("#")) this.#resume();
  }

  /** The address of a new chat ends in a bare `#`: only who comes anew finds the last one open. */
  async #resume() {
    const [last] = await this.#chats();
    if (last && !location.href.includes("#")) location.replace(`#${last.id}`);
  }

  async #fill() {
    const chats = await this.#chats();
    const none = chats.length ? [] : [h("li", {}, strings.noChats)];
    this.#list.replaceChildren(...none, ...chats.map(line));
  }

  /** @returns {Promise<Listed[]>} None where the server cannot say: the chat itself tells what is wrong. */
  async #chats() {
    return (await this.client?.list().catch(() => null))?.conversations ?? [];
  }
}

/** @param {Listed} listed */
function line({ id, opening, phase, updatedAt }) {
  return h("li", {}, h("a", { href: `#${id}`, "aria-current": location.hash === `#${id}` && "page" },
    h("span", { dir: "auto" }, opening || id),
    h("time", { datetime: updatedAt }, phase === "waiting" ? strings.waits : when(updatedAt))));
}
