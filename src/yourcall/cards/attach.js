/**
 * `<yc-attach>`: adds files to what is being written, a message or an answer. A file is sent ahead as soon as it is
 * chosen, dropped or pasted, and what is written then names its id. Where the server takes no files, nothing is shown.
 */

/** @import { YcCard } from "./card.js" */
/** @import { YcChat } from "./chat.js" */
/** @import { Client } from "./client.js" */
/** @import { Sent, Taken } from "./wire.d.ts" */
import { Problem } from "./client.js";
import { h, uid } from "./dom.js";
import { strings } from "./strings.js";
import { size } from "./upload.js";

const KEPT_MS = 50 * 60_000; // after an hour the server forgets a file that nothing has named
const IMAGES = /^image\/(png|jpeg|gif|webp)$/; // of which the server knows that they are no more than that

/** A file on its way. */
class Ahead {
  #key = uid();
  /** @type {Promise<string> | undefined} */
  #id;
  #at = 0;
  #over = new AbortController();

  /** @param {Client} client @param {File} file @param {string} [refusal] Why it need not be sent. */
  constructor(client, file, refusal) {
    this.client = client;
    this.file = file;
    this.name = file.name;
    this.size = file.size;
    this.refusal = refusal;
  }

  /** Send it, unless it is under way or there; what failed is tried again, but not what was refused. */
  sent() {
    if (this.#id && Date.now() - this.#at < KEPT_MS) return this.#id;
    this.#at = Date.now();
    return (this.#id = this.#send().catch((error) => {
      if (error.transient !== false) this.#id = undefined;
      throw error;
    }));
  }

  async #send() {
    if (this.refusal) throw new Problem(413, { detail: this.refusal });
    const form = new FormData();
    form.append("file", this.file);
    return (await this.client.json("POST", "files", form, { signal: this.#over.signal })).id;
  }

  stop() {
    this.#over.abort();
  }

  /** What no other file has. */
  toString() {
    return this.#key;
  }
}

export class YcAttach extends HTMLElement {
  /** @type {Client | undefined} */
  #client;
  /** @type {Taken | undefined} */
  #taken;
  /** @type {Ahead[]} */
  files = [];
  #list = h("ul", { class: "yc-chips", "aria-label": strings.files });
  #input = h("input", { type: "file", multiple: true, hidden: true, change: () => this.#chosen() });
  #label = h("span", {}, strings.attach);
  #pick = h("button", { type: "button", class: "yc-quiet yc-pick", click: () => this.#input.click() }, this.#label);
  #alert = h("p", { class: "yc-error", role: "alert" });
  #status = h("p", { class: "yc-sr", "aria-live": "polite" });

  connectedCallback() {
    if (this.firstChild) return;
    /** @type {YcCard | YcChat | null} */
    const place = this.closest("yc-card, yc-chat");
    this.dataset.pointer = "/files";
    this.#label.classList.toggle("yc-sr", place?.localName === "yc-chat");
    this.#client = place?.client;
    this.#client?.about().then(({ files }) => files && this.#show(files, place), () => {});
  }

  /** Hand over all files, to `put` them back if they could not be used. */
  take() {
    const files = this.files;
    this.files = [];
    this.#list.replaceChildren();
    this.#alert.textContent = "";
    return files;
  }

  /** @param {Ahead[]} files */
  put(files) {
    this.files.push(...files);
    this.#list.append(...files.map((file) => this.#chip(file)));
  }

  /** @param {Taken} taken @param {HTMLElement | null} place */
  #show(taken, place) {
    this.#taken = taken;
    this.#input.accept = taken.accept.join();
    this.append(this.#list, this.#pick, this.#input, this.#alert, this.#status);
    place?.addEventListener("dragover", (event) => ours(event) && event.preventDefault());
    place?.addEventListener("drop", (event) => ours(event) && this.#given(event, event.dataTransfer));
    this.closest("form")?.addEventListener("paste", (event) => this.#given(event, event.clipboardData));
  }

  #chosen() {
    this.#add([.../** @type {FileList} */ (this.#input.files)]);
    this.#input.value = ""; // so that the same one may be chosen again
  }

  /** @param {Event} event @param {DataTransfer | null} data */
  #given(event, data) {
    if (!data?.files.length) return;
    event.preventDefault();
    if (!this.#pick.matches(":disabled")) this.#add([...data.files]);
  }

  /** @param {File[]} files */
  #add(files) {
    const [client, { maxBytes, most }] = [/** @type {Client} */ (this.#client), /** @type {Taken} */ (this.#taken)];
    const room = most - this.files.length;
    const tooLarge = `${strings.tooLarge} ${strings.atMost} ${size(maxBytes)}.`;
    this.#alert.textContent = files.length > room ? `${strings.mostFiles} ${most}.` : "";
    this.put(files.slice(0, room).map((file) => new Ahead(client, file, file.size > maxBytes ? tooLarge : undefined)));
  }

  /** @param {Ahead} file */
  #chip(file) {
    const state = h("progress", { "aria-label": strings.sending });
    const chip = h("li", {}, h("span", {}, h("span", { dir: "auto" }, named(file)), " ", state),
      h("button", { type: "button", "aria-label": `${strings.remove} ${file.name}`, click: () => this.#remove(file, chip) }));
    file.sent().then(() => {
      state.remove();
      this.#status.textContent = `${file.name}: ${strings.added}`;
    }, (error) => {
      const why = error instanceof Problem ? error.message : strings.unreachable;
      state.replaceWith(h("span", { class: "yc-error", role: "alert" }, why));
    });
    return chip;
  }

  /** @param {Ahead} file @param {HTMLElement} chip */
  #remove(file, chip) {
    file.stop();
    this.files = this.files.filter((one) => one !== file);
    const next = chip.nextElementSibling ?? chip.previousElementSibling;
    chip.remove();
    this.#alert.textContent = "";
    (next?.querySelector("button") ?? this.#pick).focus();
    this.dispatchEvent(new Event("input", { bubbles: true }));
  }
}

/** Files that are dropped on a file input, or on another `<yc-attach>`, are not ours. @param {DragEvent} event */
const ours = ({ target, dataTransfer, defaultPrevented }) =>
  !defaultPrevented && dataTransfer?.types.includes("Files") && !(/** @type {Element} */ (target).closest("[type=file]"));

/** @param {Sent} file */
const named = (file) => `${file.name} (${size(file.size)})`;

export const attach = () => /** @type {YcAttach} */ (document.createElement("yc-attach"));

/** Their ids, once all are there. Throws the first refusal. @param {Ahead[]} files */
export const idsOf = (files) => Promise.all(files.map((file) => file.sent()));

/**
 * Show the files that came along with a message or an answer: by name, and once they are kept in a conversation, with
 * links and small pictures.
 *
 * @template {HTMLElement} T
 * @param {T} node @param {Sent[]} [files] @param {Client} [client] @param {string} [conversation]
 * @returns {T}
 */
export function attached(node, files = [], client, conversation = "") {
  if (!files.length || node.querySelector("a")) return node;
  const list = h("ul", { class: "yc-files", "aria-label": strings.files }, ...files.map((file) => {
    if (!file.id || !client) return h("li", { dir: "auto" }, named(file));
    const href = `${client.base}/conversations/${encodeURIComponent(conversation)}/files/${file.id}`;
    const signed = client.init.headers && true; // which neither links nor pictures can be
    const click = signed && ((/** @type {Event} */ event) => (event.preventDefault(), save(href, file.name, client)));
    const picture = !signed && IMAGES.test(file.type ?? "") && h("img", { src: href, alt: "", loading: "lazy" });
    return h("li", {}, h("a", { href, download: file.name, dir: "auto", click }, picture, named(file)));
  }));
  node.querySelector(".yc-files")?.remove(); // as they were on their way
  node.append(list);
  return node;
}

/** @param {string} href @param {string} download @param {Client} client */
async function save(href, download, { init }) {
  const response = await fetch(href, init);
  if (!response.ok) return;
  const url = URL.createObjectURL(await response.blob());
  h("a", { href: url, download }).click();
  URL.revokeObjectURL(url);
}
