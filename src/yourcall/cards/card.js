/**
 * `<yc-card>`: one question of a tool, from the moment it opens until long after it closed.
 *
 * The card owns what all kinds share: who asks, submit and skip, errors on their fields, the ending. What is asked
 * is drawn by the element `yc-KIND`; a kind that the page does not know is drawn as a form from its schema. Such an
 * element needs little (see `Kind` in wire.d.ts), so a kind of your own is a class and a `customElements.define`.
 */

/** @import { Client } from "./client.js" */
/** @import { Ending, Fault, Interrupt, Kind } from "./wire.d.ts" */
import { attach, attached, idsOf } from "./attach.js";
import { Problem } from "./client.js";
import { composing, h, uid, when } from "./dom.js";
import { strings } from "./strings.js";

/** So long a new card takes no input: the second half of a double click belongs to what was there before. */
const FRESH_MS = 500;

export class YcCard extends HTMLElement {
  /** @type {Client | undefined} Where answers go. */
  client;
  /** @type {Interrupt | undefined} */
  #interrupt;
  /** @type {Kind | undefined} */
  #kind;
  /** @type {HTMLFieldSetElement | undefined} */
  #fields;
  /** @type {ReturnType<typeof attach> | false} */
  #attach = false;
  #alert = h("p", { class: "yc-error", role: "alert" });
  /** Whether it was answered, but not here. */
  #elsewhere = false;

  get interrupt() {
    return this.#interrupt;
  }

  /** Draws the question. The same open question again changes nothing: what was typed stays. */
  set interrupt(next) {
    const before = this.#interrupt;
    // what is closed stays closed, whatever an older reading says
    if (!next || (before?.id === next.id && (isOpen(next) || alike(before, next)))) return;
    this.#interrupt = next;
    this.#elsewhere ||= this.#fields?.disabled === false; // not by this card
    if (isOpen(next)) this.#drawOpen(next);
    else this.#drawClosed(next);
  }

  get open() {
    return this.#interrupt !== undefined && isOpen(this.#interrupt);
  }

  /** The id of the tool call that asks. */
  get call() {
    return this.#interrupt?.toolCallId;
  }

  /** What is asked, in a few words. */
  get label() {
    const ask = this.#interrupt?.metadata.yourcall.ask;
    return this.#interrupt?.message || ask?.title || ask?.questions?.[0]?.prompt || "";
  }

  /** Show how it ended. @param {Ending} ending */
  close(ending) {
    const interrupt = this.#interrupt;
    if (!interrupt) return;
    this.interrupt = { ...interrupt, metadata: { yourcall: { ...interrupt.metadata.yourcall, ending } } };
  }

  /** The server is there again. */
  reached() {
    if (this.#alert.textContent === strings.unreachable) this.#alert.textContent = "";
  }

  /** @param {Interrupt} interrupt */
  #drawOpen(interrupt) {
    if (interrupt.metadata.yourcall.to) return this.#drawWaiting(interrupt);
    const kind = (this.#kind = makeKind(interrupt));
    const send = h("button", { class: "yc-primary" }, strings.send);
    const skip = h("button", { class: "yc-quiet", type: "button", click: () => this.#skip() }, strings.skip);
    const own = kind.querySelector("[data-actions]");
    if (!own?.matches("[data-actions=all]")) own?.append(skip);
    const actions = !own && h("div", { class: "yc-actions" }, send, skip);
    this.#attach = interrupt.metadata.yourcall.ask?.attachments === true && attach();
    this.#fields = h("fieldset", { class: "yc-fields" }, kind, this.#attach, this.#alert, actions);
    const heading = h("p", { class: "yc-eyebrow", id: uid() }, strings.asks, until(interrupt.expiresAt));
    const form = h("form", { novalidate: true, "aria-labelledby": heading.id }, heading, this.#fields);
    form.addEventListener("submit", (event) => (event.preventDefault(), this.#submit()));
    form.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && composing(event)) event.preventDefault();
    });
    form.addEventListener("input", ({ target }) => {
      unmark(/** @type {Element} */ (target).closest("[data-pointer]"));
      drafts.keep(interrupt.id, form);
    });
    kind.addEventListener("yc-answer", (event) => this.#submit(/** @type {CustomEvent} */ (event).detail));
    this.replaceChildren(form);
    this.removeAttribute("data-ending");
    drafts.restore(interrupt.id, form);
    form.inert = true;
    setTimeout(() => (form.inert = false), FRESH_MS);
  }

  /** Somebody else was asked. @param {Interrupt} interrupt */
  #drawWaiting(interrupt) {
    const heading = h("p", { class: "yc-eyebrow", id: uid() }, strings.elsewhere, until(interrupt.expiresAt));
    const asked = h("p", { class: "yc-prompt", dir: "auto" }, this.label);
    this.replaceChildren(h("div", { class: "yc-was", role: "group", "aria-labelledby": heading.id }, heading, asked));
  }

  /** @param {Interrupt} interrupt */
  #drawClosed(interrupt) {
    const { kind, note, files } = /** @type {Ending} */ (interrupt.metadata.yourcall.ending);
    const answered = kind === "answered";
    drafts.forget(interrupt.id);
    const heading = h("summary", { class: "yc-eyebrow" }, answered ? strings.answered : strings.closed,
      h("span", { class: "yc-gist", dir: "auto" }, this.label));
    const open = !matchMedia("(max-width: 30rem)").matches; // else one quiet line
    this.replaceChildren(h("details", { class: "yc-was", open }, heading, h("div", {},
      makeKind(interrupt),
      files && attached(h("div"), files),
      note && h("p", { class: "yc-said", dir: "auto" }, note),
      !answered && h("p", { class: "yc-aside" }, strings.endings[kind] ?? kind),
      answered && this.#elsewhere && !this.#kind?.outside && h("p", { class: "yc-aside" }, strings.answeredElsewhere),
    )));
    this.dataset.ending = kind;
    this.#kind = this.#fields = undefined;
  }

  /** Send what the kind holds, or what it handed over. @param {any} [handed] */
  #submit(handed) {
    const kind = this.#kind;
    if (!kind) return;
    const faults = handed === undefined ? (kind.faults ?? []) : [];
    if (faults.length) return this.#mark(faults);
    const answer = handed === undefined ? kind.answer : handed;
    return this.#send(async (client, interrupt) => {
      const files = await idsOf(this.#attach ? this.#attach.files : []);
      return client.answer(interrupt, files.length ? { ...answer, files } : answer, kind.way);
    });
  }

  #skip() {
    const note = this.#kind?.note;
    return this.#send((client, interrupt) => client.skip(interrupt, note));
  }

  /**
   * One request at a time; the ending that is shown is the one that was recorded.
   *
   * @param {(client: Client, interrupt: Interrupt) => Promise<{ ending: Ending }>} request
   */
  async #send(request) {
    const [client, interrupt, fields] = [this.client, this.#interrupt, this.#fields];
    if (!client || !interrupt || !fields || fields.disabled) return;
    this.#mark([]);
    const focused = document.activeElement;
    fields.disabled = true;
    try {
      this.close((await request(client, interrupt)).ending);
      this.#tell("yc-closed");
    } catch (error) {
      fields.disabled = false;
      if (focused instanceof HTMLElement) focused.focus();
      this.#refused(error);
    }
  }

  /** @param {unknown} error */
  #refused(error) {
    if (this.#interrupt && !this.open) { // the news was faster than the refusal
      this.#elsewhere = true;
      return this.#drawClosed(this.#interrupt);
    }
    if (!(error instanceof Problem)) return this.#mark([{ pointer: "", detail: strings.unreachable }]);
    this.#mark(error.errors.length ? error.errors : [{ pointer: "", detail: error.message }]);
    if ([404, 409, 410, 412].includes(error.status)) this.#tell("yc-outdated");
  }

  /** @param {string} type */
  #tell(type) {
    this.dispatchEvent(new CustomEvent(type, { bubbles: true, detail: this.#interrupt }));
  }

  /**
   * Put each error on its field and go to the first; an error without a field stands above the buttons.
   *
   * @param {Fault[]} faults
   */
  #mark(faults) {
    this.querySelectorAll("[data-pointer]").forEach(unmark);
    const placed = faults.map((fault) => ({ fault, field: this.#field(fault.pointer) }));
    for (const { fault, field } of placed) if (field) mark(field, fault.detail);
    const loose = placed.filter(({ field }) => !field).map(({ fault }) => fault.detail);
    this.#alert.textContent = loose.join(" ") || (faults.length ? strings.check : "");
    const first = placed.find(({ field }) => field)?.field;
    if (first) controls(first)[0]?.focus();
  }

  /** The field with the longest pointer that leads to this place. @param {string} pointer */
  #field(pointer) {
    const fields = [.../** @type {NodeListOf<HTMLElement>} */ (this.querySelectorAll("[data-pointer]"))];
    const leads = fields.filter(({ dataset }) => `${pointer}/`.startsWith(`${dataset.pointer}/`));
    return leads.sort((a, b) => (b.dataset.pointer ?? "").length - (a.dataset.pointer ?? "").length)[0];
  }
}

/** @param {Interrupt} interrupt */
const isOpen = (interrupt) => !interrupt.metadata.yourcall.ending;

/** @param {Interrupt} a @param {Interrupt} b */
const alike = (a, b) => JSON.stringify(a.metadata.yourcall.ending) === JSON.stringify(b.metadata.yourcall.ending);

/** @param {Interrupt} interrupt @returns {Kind} */
function makeKind(interrupt) {
  const { kind, ask } = interrupt.metadata.yourcall;
  const asksQuestions = kind === "interrupt" && Array.isArray(ask?.reason?.questions);
  const tag = asksQuestions ? "yc-questions" : `yc-${kind}`;
  const element = /** @type {Kind} */ (document.createElement(customElements.get(tag) ? tag : "yc-form"));
  element.interrupt = interrupt;
  return element;
}

/** @param {string | null | undefined} moment */
function until(moment) {
  return moment && h("time", { datetime: moment }, `${strings.expires} ${when(moment)}`);
}

/** @param {Element} field */
const controls = (field) =>
  /** @type {NodeListOf<HTMLElement>} */ (field.querySelectorAll("input, textarea, select, button"));

/** @param {Element} field @param {string} text */
function mark(field, text) {
  const error = h("p", { class: "yc-error", id: uid() }, text);
  const legend = field.querySelector(":scope > legend");
  if (legend) legend.after(error); // where the first choice is, and so the focus
  else field.append(error);
  field.toggleAttribute("data-invalid", true);
  for (const control of controls(field)) {
    if (control.matches("button")) continue;
    if (!control.matches("[type=radio]")) control.setAttribute("aria-invalid", "true"); // not for the role radio
    describe(control, error.id, true);
  }
}

/** @param {Element | null} field */
function unmark(field) {
  if (!field?.hasAttribute("data-invalid")) return;
  field.removeAttribute("data-invalid");
  for (const error of field.querySelectorAll(":scope > .yc-error")) {
    for (const control of controls(field)) describe(control, error.id, false);
    error.remove();
  }
  for (const control of controls(field)) control.removeAttribute("aria-invalid");
}

/** Add an id to what describes a control, or take it away. @param {Element} control */
function describe(control, id = "", add = false) {
  const ids = (control.getAttribute("aria-describedby") ?? "").split(" ").filter((one) => one && one !== id);
  if (add) ids.push(id);
  if (ids.length) control.setAttribute("aria-describedby", ids.join(" "));
  else control.removeAttribute("aria-describedby");
}

/** What is typed survives a reload of this tab: the same question draws the same controls. */
const drafts = {
  /** @param {HTMLFormElement} form */
  controls(form) {
    const all = /** @type {NodeListOf<HTMLInputElement>} */ (form.querySelectorAll("input, textarea, select"));
    return [...all].filter(({ type }) => !["password", "file", "search"].includes(type));
  },

  /** @param {string} id @param {HTMLFormElement} form */
  keep(id, form) {
    const values = drafts.controls(form).map((c) => (isTick(c) ? c.checked : c.value));
    try {
      sessionStorage.setItem(`yourcall:${id}`, JSON.stringify(values));
    } catch {} // no storage, no draft
  },

  /** @param {string} id @param {HTMLFormElement} form */
  restore(id, form) {
    try {
      const values = JSON.parse(sessionStorage.getItem(`yourcall:${id}`) ?? "[]");
      drafts.controls(form).forEach((control, n) => {
        if (typeof values[n] === "boolean") control.checked = values[n];
        else if (values[n]) control.value = values[n];
        const folded = control.closest("details");
        if (folded && values[n]) folded.open = true;
      });
    } catch {}
  },

  /** @param {string} id */
  forget(id) {
    try {
      sessionStorage.removeItem(`yourcall:${id}`);
    } catch {}
  },
};

/** @param {HTMLInputElement} control */
const isTick = ({ type }) => type === "checkbox" || type === "radio";
