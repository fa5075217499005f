/** `<yc-upload>`: one file, chosen or dropped on the browser's own control. */

/** @import { Interrupt, KindMembers } from "./wire.d.ts" */
import { h, uid } from "./dom.js";
import { strings } from "./strings.js";

/** @implements {KindMembers} */
export class YcUpload extends HTMLElement {
  way = "files";
  #max = 0;
  #input = h("input", { type: "file", "aria-describedby": uid() });

  /** @param {Interrupt} interrupt */
  set interrupt({ metadata: { yourcall: { ask, ending } } }) {
    const title = h("span", { class: "yc-prompt", dir: "auto" }, ask.title);
    const file = ending?.answer;
    this.#max = ask.maxBytes;
    this.#input.accept = ask.accept;
    if (ending) this.append(title, h("p", { class: "yc-label", dir: "auto" }, file && `${file.name} (${size(file.size)})`));
    else this.append(h("div", { class: "yc-field", "data-pointer": "" },
      h("label", {}, title, this.#input),
      h("p", { class: "yc-description", dir: "auto", id: this.#input.getAttribute("aria-describedby") },
        ask.help && `${ask.help}\n`, this.#most),
      h("progress", { "aria-label": strings.sending }),
    ));
  }

  get #most() {
    return `${strings.atMost} ${size(this.#max)}.`;
  }

  get #file() {
    return /** @type {FileList} */ (this.#input.files)[0];
  }

  get faults() {
    const { size = -1 } = this.#file ?? {}; // what is too large is not sent
    const detail = size < 0 ? strings.required : size > this.#max && `${strings.tooLarge} ${this.#most}`;
    return detail ? [{ pointer: "", detail }] : [];
  }

  get answer() {
    const form = new FormData();
    form.append("file", /** @type {File} */ (this.#file));
    return form;
  }
}

/** As the server says it, too. */
export const size = (bytes = 0) => bytes < 1024 ? `${bytes} B`
  : bytes < 1048576 ? `${+(bytes / 1024).toFixed(1)} KiB` : `${+(bytes / 1048576).toFixed(1)} MiB`;
