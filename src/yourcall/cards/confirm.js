/**
 * `<yc-confirm>`: what is to happen, in words, with the fields that may be edited, and a Yes and a No of the same
 * weight. Neither is what Enter does: nobody approves by the way.
 */

/** @import { Interrupt, KindMembers } from "./wire.d.ts" */
/** @import { Field } from "./form.js" */
import { h } from "./dom.js";
import { faultsIn, fieldsOf, pairs, words } from "./form.js";
import { focusInside } from "./questions.js";
import { strings } from "./strings.js";

/** @typedef {Record<string, any>} Row */

/** @implements {KindMembers} */
export class YcConfirm extends HTMLElement {
  /** @type {Field[]} */
  #fields = [];
  /** What the fields held at first, as JSON. @type {string[]} */
  #before = [];
  #approved = false;

  /** @param {Interrupt} interrupt */
  set interrupt({ metadata: { yourcall: { ask, ending } } }) {
    /** @type {Row[]} */
    const shown = ask.shown;
    this.replaceChildren(h("p", { class: "yc-prompt", dir: "auto" }, ask.title));
    if (ending) {
      const edits = ending.answer?.edits ?? {};
      this.append(...inWords(shown.map((row) => (row.name ?? "") in edits
        ? { title: row.title, text: `${words(edits[row.name], ask.fields[row.name])} (${strings.edited})` } : row)));
      if (ending.answer) this.append(h("p", { class: "yc-aside" }, strings.approved));
      return;
    }
    this.#fields = fieldsOf({ type: "object", properties: ask.fields, required: ask.required }, "/edits");
    this.#before = this.#fields.map(({ read }) => JSON.stringify(read()));
    const reason = h("textarea", { rows: 2, "aria-label": strings.reason, dir: "auto", maxlength: 10_000 });
    const decline = () => {
      const detail = { approved: false, reason: reason.value.trim() || undefined };
      this.dispatchEvent(new CustomEvent("yc-answer", { detail }));
    };
    this.append(
      ...inWords(shown.filter(({ name }) => !name)),
      ...this.#fields.map(({ element }) => element),
      h("div", { class: "yc-actions", "data-actions": "all" },
        h("button", { type: "button", class: "yc-even", click: () => this.#approve() }, strings.yes),
        h("button", { type: "button", class: "yc-even", click: decline }, strings.no),
        h("details", { class: "yc-note", toggle: focusInside }, h("summary", {}, strings.reason), reason)));
  }

  get answer() {
    const edits = this.#fields.map(({ name, read }) => [name, read() ?? null]);
    const edited = edits.filter((_, n) => JSON.stringify(this.#fields[n]?.read()) !== this.#before[n]);
    return { approved: true, ...(edited.length && { edits: Object.fromEntries(edited) }) };
  }

  get faults() {
    return this.#approved ? faultsIn(this.#fields) : [{ pointer: "", detail: strings.decide }];
  }

  #approve() {
    this.#approved = true;
    this.closest("form")?.requestSubmit(); // by way of the card, which looks for faults
    this.#approved = false;
  }
}

/** The value itself, or its fields. @param {Row[]} rows @returns {HTMLElement[]} */
const inWords = ([first, ...rest]) => !first ? [] : first.title
  ? [pairs([first, ...rest].map((row) => [row.title, said(row)]))]
  : [h("p", { class: "yc-text", dir: "auto" }, said(first)), ...inWords(rest)];

/** @param {Row} row */
const said = (row) => words(row.value ?? row.text, row);
