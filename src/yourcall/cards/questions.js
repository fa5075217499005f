/**
 * `<yc-questions>`: one to a few questions, each with options, always with room for words of one's own.
 *
 * One question with one choice is answered by one click on an option. Otherwise all questions stand one below the
 * other with radio buttons or boxes, and one button sends them. Labels go back exactly as they came.
 */

/** @import { Fault, Interrupt, KindMembers } from "./wire.d.ts" */
import { h, uid } from "./dom.js";
import { strings } from "./strings.js";

/**
 * @typedef {{ label: string, description?: string | null, recommended?: boolean }} Option
 * @typedef {{ prompt: string, header?: string | null, multi?: boolean, options: Option[] }} Question
 * @typedef {{ selected: string[], other?: string, note?: string, skipped?: boolean }} Answer
 * @typedef {object} Field The controls of one question.
 * @property {Question} question
 * @property {HTMLInputElement[]} ticks
 * @property {HTMLInputElement} other
 * @property {HTMLTextAreaElement} note
 * @property {HTMLInputElement} [skip]
 */

const MAX = 10_000; // characters that the server takes as words of one's own

/** @implements {KindMembers} */
export class YcQuestions extends HTMLElement {
  /** @type {Field[]} */
  #fields = [];
  #oneClick = false;

  /** @param {Interrupt} interrupt */
  set interrupt({ metadata: { yourcall: { ask, ending } } }) {
    /** @type {Question[]} */
    const questions = (ask.questions ?? ask.reason.questions).map(normal);
    if (ending) {
      this.replaceChildren(...questions.map((question, n) => drawn(question, ending.answer?.answers?.[n])));
    } else {
      this.#oneClick = questions.length === 1 && !questions[0]?.multi && !ask.attachments;
      this.replaceChildren(...questions.map((question, n) => this.#draw(question, n, questions.length)));
    }
  }

  get answer() {
    return { answers: this.#fields.map((field) => answerOf(field)) };
  }

  get note() {
    return this.#fields.map(({ note }) => note.value.trim()).filter(Boolean).join("\n") || undefined;
  }

  /** @returns {Fault[]} */
  get faults() {
    const [detail, place] = this.#oneClick ? [strings.missingOne, "/other"] : [strings.missing, ""];
    return this.answer.answers.flatMap(({ selected, other, skipped }, n) =>
      selected.length || other || skipped ? [] : [{ pointer: `/answers/${n}${place}`, detail }]);
  }

  /** @param {Question} question @param {number} n @param {number} count */
  #draw(question, n, count) {
    const name = uid();
    const other = h("input", { type: "text", placeholder: strings.otherHint, dir: "auto", maxlength: MAX });
    const note = h("textarea", { rows: 2, "aria-label": strings.noteLabel, dir: "auto", maxlength: MAX });
    /** @type {Field} */
    const field = { question, ticks: [], other, note };
    this.#fields[n] = field;

    const options = this.#oneClick
      ? question.options.map((option) => this.#button(option, field))
      : question.options.map((option) => ticked(tick(field, name, option.label), option));
    if (count > 1) field.skip = h("input", { type: "checkbox", class: "yc-skip" });

    const set = h("fieldset", { class: "yc-question", "data-pointer": `/answers/${n}` },
      h("legend", {}, ...asked(question)),
      h("div", { class: "yc-options" }, ...options,
        h("div", { class: "yc-own", "data-pointer": this.#oneClick && `/answers/${n}/other` },
          h("label", {}, h("span", {}, strings.other), other),
          this.#oneClick && h("button", { class: "yc-primary" }, strings.send))),
      h("div", { class: "yc-extras", "data-actions": this.#oneClick },
        h("details", { class: "yc-note", toggle: focusInside }, h("summary", {}, strings.note), note),
        field.skip && h("label", {}, field.skip, strings.skipQuestion)),
    );
    set.addEventListener("input", ({ target }) => {
      const instead = target === other && !question.multi && other.value.trim();
      if (instead) for (const one of field.ticks) one.checked = false;
      // to choose is not to skip
      if (field.skip && target !== field.skip && target !== note) field.skip.checked = false;
    });
    return set;
  }

  /** One click answers, with whatever else was typed. @param {Option} option @param {Field} field */
  #button(option, field) {
    const button = h("button", { type: "button", class: "yc-option" }, ...offered(option));
    button.addEventListener("click", (event) => {
      if (event.detail > 1) return; // half a double click
      this.querySelector(".yc-picked")?.classList.remove("yc-picked");
      button.classList.add("yc-picked");
      const detail = { answers: [{ ...answerOf(field), selected: [option.label] }] };
      this.dispatchEvent(new CustomEvent("yc-answer", { detail }));
    });
    return button;
  }
}

/** A raw interrupt may write its questions more loosely. @param {any} raw @returns {Question} */
function normal(raw) {
  const { prompt, question, options, ...rest } = typeof raw === "object" && raw ? raw : { prompt: String(raw) };
  const offers = (Array.isArray(options) ? options : []).map((one) => (typeof one === "string" ? { label: one } : one));
  return { ...rest, prompt: prompt ?? question ?? "", options: offers };
}

/** @param {Field} field @returns {Answer} */
function answerOf({ ticks, other, note, skip }) {
  const remark = note.value.trim() || undefined;
  if (skip?.checked) return { selected: [], skipped: true, note: remark };
  const selected = ticks.filter((one) => one.checked).map((one) => one.value);
  return { selected, other: other.value.trim() || undefined, note: remark };
}

/** @param {Field} field @param {string} name @param {string} value */
function tick({ question, ticks }, name, value) {
  const one = h("input", { type: question.multi ? "checkbox" : "radio", name, value });
  ticks.push(one);
  return one;
}

/** @param {HTMLInputElement} control @param {Option} option */
const ticked = (control, option) => h("label", { class: "yc-option" }, control, ...offered(option));

/** @param {Question} question */
const asked = ({ header, prompt }) => [
  header && h("span", { class: "yc-header", dir: "auto" }, header),
  h("span", { class: `yc-prompt ${prompt.length > 200 ? "yc-long" : ""}`, dir: "auto" }, prompt),
];

/** @param {Option} option */
const offered = ({ label, description, recommended }) => [
  h("span", { class: "yc-label", dir: "auto" }, label),
  recommended && h("span", { class: "yc-tag" }, strings.recommended),
  description && h("span", { class: "yc-description", dir: "auto" }, description),
];

/**
 * A closed question: what was asked, all that was offered, and what was chosen.
 *
 * @param {Question} question @param {Answer} [answer]
 */
function drawn(question, answer) {
  const selected = [answer?.selected ?? []].flat(); // what answers a raw interrupt may be anything
  return h("div", { class: "yc-question" },
    h("p", {}, ...asked(question)),
    offers(question.options.map(({ label }) => label), selected),
    answer?.other && h("p", { class: "yc-said", dir: "auto" }, answer.other),
    answer?.note && h("p", { class: "yc-aside", dir: "auto" }, `${strings.noteLabel}: ${answer.note}`),
    answer?.skipped && h("p", { class: "yc-aside" }, strings.skippedQuestion),
  );
}

/** What could be chosen, and what was. @param {string[]} labels @param {string[]} selected */
export const offers = (labels, selected) => h("ul", { class: "yc-offers" }, ...labels.map((label) => {
  const chosen = selected.includes(label);
  const remark = chosen && h("span", { class: "yc-sr" }, ` (${strings.chosen})`);
  return h("li", { class: chosen && "yc-chosen", dir: "auto" }, label, remark);
}));

/** @param {Event} event */
export function focusInside({ currentTarget }) {
  const details = /** @type {HTMLDetailsElement} */ (currentTarget);
  if (details.open && details.contains(document.activeElement)) details.querySelector("textarea")?.focus();
}
