/**
 * `<yc-form>`: a form drawn from the JSON Schema of a flat object, and the fallback for every kind without an
 * element of its own. A schema that is no object becomes one field, whose value is the answer; no schema at all
 * becomes a text area, and the answer is its text.
 */

/** @import { Fault, Interrupt, KindMembers } from "./wire.d.ts" */
import { h, uid } from "./dom.js";
import { strings } from "./strings.js";

/**
 * @typedef {Record<string, any>} Schema
 * @typedef {object} Field One property. `read` gives its value, or `undefined` where nothing was entered.
 * @property {string} pointer
 * @property {Schema} schema
 * @property {boolean} required
 * @property {HTMLElement} element
 * @property {() => any} read
 */

/** The inputs that a string's format has; all of them native. @type {Record<string, string>} */
const INPUTS = { email: "email", uri: "url", date: "date", "date-time": "datetime-local", time: "time" };

const FEW = 6; // that many choices are shown at once, more of them fold into a list

/** @implements {KindMembers} */
export class YcForm extends HTMLElement {
  /** @type {Interrupt | undefined} */
  #interrupt;
  /** @type {Schema} */
  #schema = {};
  /** @type {Field[]} */
  #fields = [];

  get interrupt() {
    return /** @type {Interrupt} */ (this.#interrupt);
  }

  set interrupt(interrupt) {
    this.#interrupt = interrupt;
    const { ask, ending } = interrupt.metadata.yourcall;
    const root = ask?.schema ?? interrupt.responseSchema ?? {};
    this.#schema = plain(root, root);
    const heading = h("p", { class: "yc-prompt", dir: "auto" }, ask?.title ?? interrupt.message ?? ask?.name);
    const fields = properties(this.#schema, root);
    if (ending) this.replaceChildren(heading, ...explained(ask), answered(fields, ending.answer));
    else {
      this.#fields = fields.map(({ pointer, schema, required, name }) => {
        const [element, read] = field(schema, required, pointer === "" ? strings.yours : (schema.title ?? name));
        element.dataset.pointer = pointer;
        return { pointer, schema, required, element, read };
      });
      this.replaceChildren(heading, ...explained(ask), ...this.#fields.map(({ element }) => element));
    }
  }

  get answer() {
    const values = this.#fields.map(({ pointer, read }) => [pointer, read()]);
    if (this.#schema.type !== "object") return values[0]?.[1];
    return Object.fromEntries(values.filter(([, value]) => value !== undefined).map(([pointer, value]) => [named(pointer), value]));
  }

  /** @returns {Fault[]} */
  get faults() {
    return this.#fields.flatMap(({ pointer, schema, required, element, read }) => {
      const detail = native(element) || amiss(schema, required, read);
      return detail ? [{ pointer, detail }] : [];
    });
  }
}

/** Resolve what pydantic writes for enums and optional fields. @param {Schema} schema @param {Schema} root @returns {Schema} */
function plain(schema, root) {
  const { $ref, anyOf, allOf, ...rest } = schema;
  const target = $ref?.startsWith("#/") && $ref.slice(2).split("/").reduce((/** @type {any} */ at, /** @type {string} */ key) => at?.[key], root);
  const inner = target || allOf?.[0] || anyOf?.find((/** @type {Schema} */ one) => one.type !== "null" && !("const" in one));
  const whole = inner ? { ...plain(inner, root), ...rest } : schema;
  return whole.items ? { ...whole, items: plain(whole.items, root) } : whole;
}

/** @param {Schema} schema @param {Schema} root */
function properties(schema, root) {
  if (schema.type !== "object") return [{ name: "", pointer: "", schema, required: true }];
  return Object.entries(schema.properties ?? {}).map(([name, property]) => ({
    name,
    pointer: `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`,
    schema: plain(/** @type {Schema} */ (property), root),
    required: schema.required?.includes(name) ?? false,
  }));
}

/** @param {string} pointer */
const named = (pointer) => pointer.slice(1).replaceAll("~1", "/").replaceAll("~0", "~");

/** The choices of a schema, as value and title. @param {Schema} schema @returns {{ value: any, title: string }[] | undefined} */
function choices(schema) {
  const consts = schema.oneOf ?? schema.anyOf;
  if (consts?.every((/** @type {Schema} */ one) => "const" in one)) {
    return consts.map((/** @type {Schema} */ one) => ({ value: one.const, title: String(one.title ?? one.const) }));
  }
  return schema.enum?.map((/** @type {any} */ value) => ({ value, title: String(value) }));
}

/**
 * The control of one field and how to read it.
 *
 * @param {Schema} schema @param {boolean} required @param {string} label
 * @returns {[HTMLElement, () => any]}
 */
function field(schema, required, label) {
  const hint = schema.description && h("span", { class: "yc-description", id: uid(), dir: "auto" }, schema.description);
  const common = { required, "aria-describedby": hint && hint.id };
  const several = schema.type === "array" && schema.items && choices(schema.items);
  const one = choices(schema);
  if (several || (one && one.length <= FEW)) {
    const picked = several ? (schema.default ?? []) : [schema.default];
    return group(several || one || [], picked, Boolean(several), required, label, hint);
  }
  if (one) {
    const options = one.map(({ value, title }, n) => h("option", { value: n, selected: value === schema.default }, title));
    const select = h("select", common, h("option", { value: "" }), ...options);
    return [labelled(label, required, select, hint), () => (select.value === "" ? undefined : one[Number(select.value)]?.value)];
  }
  if (schema.type === "boolean") {
    const box = h("input", { type: "checkbox", checked: schema.default === true, "aria-describedby": hint && hint.id });
    return [h("div", { class: "yc-field" }, h("label", { class: "yc-option" }, box, h("span", { class: "yc-label", dir: "auto" }, label), hint)), () => box.checked];
  }
  if (schema.type === "number" || schema.type === "integer") {
    const { minimum, maximum, multipleOf } = schema;
    const step = multipleOf ?? (schema.type === "integer" ? 1 : "any");
    const input = h("input", { ...common, type: "number", min: minimum, max: maximum, step, value: schema.default });
    return [labelled(label, required, input, hint), () => (input.value === "" ? undefined : input.valueAsNumber)];
  }
  const free = schema.type !== undefined && schema.type !== "string"; // nothing native fits: JSON, as a last resort
  const { minLength, maxLength, pattern } = schema;
  const limits = { ...common, minlength: minLength, maxlength: maxLength, dir: "auto" };
  const long = free || schema.type === undefined || maxLength > 200;
  const text = long
    ? h("textarea", { ...limits, rows: 3 }, free && schema.default !== undefined ? JSON.stringify(schema.default) : schema.default)
    : h("input", { ...limits, pattern, type: INPUTS[schema.format] ?? "text", value: schema.default });
  return [labelled(label, required, text, hint), () => {
    if (text.value === "") return undefined;
    if (free) return fromJson(text.value);
    return schema.format === "date-time" ? new Date(text.value).toISOString() : text.value;
  }];
}

/** @param {string} label @param {boolean} required */
const titled = (label, required) => [
  h("span", { class: "yc-label", dir: "auto" }, label), !required && h("span", { class: "yc-optional" }, strings.optional),
];

/** @param {string} label @param {boolean} required @param {HTMLElement} control @param {HTMLElement | undefined} hint */
const labelled = (label, required, control, hint) =>
  h("div", { class: "yc-field" }, h("label", {}, ...titled(label, required), control), hint);

/**
 * @param {{ value: any, title: string }[]} offers @param {any[]} picked @param {boolean} several
 * @param {boolean} required @param {string} label @param {HTMLElement | undefined} hint
 * @returns {[HTMLElement, () => any]}
 */
function group(offers, picked, several, required, label, hint) {
  const name = uid();
  const ticks = offers.map(({ value }) => h("input", {
    type: several ? "checkbox" : "radio", name, required: required && !several, checked: picked.includes(value),
  }));
  const options = offers.map(({ title }, n) =>
    h("label", { class: "yc-option" }, ticks[n], h("span", { class: "yc-label", dir: "auto" }, title)));
  const element = h("fieldset", { class: "yc-field" },
    h("legend", {}, ...titled(label, required)), hint, h("div", { class: "yc-options" }, ...options));
  return [element, () => {
    const values = offers.filter((_, n) => ticks[n]?.checked).map(({ value }) => value);
    return several ? (values.length || required ? values : undefined) : values[0];
  }];
}

const BROKEN = Symbol("text that is no JSON");

/** @param {string} text */
function fromJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return BROKEN;
  }
}

/** What the browser itself finds, in the user's language. @param {HTMLElement} element */
function native(element) {
  const controls = /** @type {NodeListOf<HTMLInputElement>} */ (element.querySelectorAll("input, textarea, select"));
  return [...controls].find((control) => !control.checkValidity())?.validationMessage;
}

/** What no native control can find. @param {Schema} schema @param {boolean} required @param {() => any} read */
function amiss(schema, required, read) {
  const value = read();
  if (value === BROKEN) return strings.notJson;
  if (required && value === undefined) return strings.required;
  if (Array.isArray(value) && value.length < (schema.minItems ?? 0)) return strings.fewest;
  if (Array.isArray(value) && value.length > (schema.maxItems ?? Infinity)) return strings.most;
  return undefined;
}

/** What a raw interrupt gives as its reason, as text for people. @param {any} ask */
function explained(ask) {
  const reason = ask?.reason;
  if (reason === null || reason === undefined) return [];
  if (typeof reason !== "object") return [h("p", { class: "yc-text", dir: "auto" }, String(reason))];
  return [pairs(Object.entries(reason).map(([name, value]) => [name, shown(value)]))];
}

/** @param {[string, string][]} rows */
const pairs = (rows) => h("dl", { class: "yc-pairs" }, ...rows.map(([name, value]) =>
  h("div", {}, h("dt", { dir: "auto" }, name), h("dd", { dir: "auto" }, value))));

/** @param {any} value @returns {string} */
const shown = (value) => (typeof value === "string" ? value : JSON.stringify(value));

/** @param {ReturnType<typeof properties>} fields @param {any} answer */
function answered(fields, answer) {
  if (answer === undefined || answer === null) return "";
  return pairs(fields.map(({ name, pointer, schema }) => {
    const value = pointer === "" ? answer : answer[name];
    return [pointer === "" ? strings.yours : (schema.title ?? name), words(value, schema)];
  }));
}

/** @param {any} value @param {Schema} schema @returns {string} */
function words(value, schema) {
  if (Array.isArray(value)) return value.map((one) => words(one, schema.items ?? {})).join(", ");
  if (value === undefined || value === null) return strings.none;
  if (typeof value === "boolean") return value ? strings.yes : strings.no;
  return choices(schema)?.find((choice) => choice.value === value)?.title ?? shown(value);
}
