/**
 * `<yc-form>`: a form drawn from the JSON Schema of a flat object, and the fallback for every kind without an
 * element of its own. A schema that is no object becomes one field, whose value is the answer; no schema at all
 * becomes a text area, and the answer is its text.
 */

/** @import { Fault, Interrupt, KindMembers } from "./wire.d.ts" */
import { h, uid, when } from "./dom.js";
import { strings } from "./strings.js";

/**
 * @typedef {Record<string, any>} Schema
 * @typedef {{ name: string, pointer: string, schema: Schema, required: boolean }} Property
 * @typedef {Property & { element: HTMLElement, read: () => any }} Field
 * @typedef {[element: HTMLElement, read: () => any]} Drawn A field and its value, `undefined` where there is none.
 * @typedef {{ value: any, title: string }} Choice
 */

/** The inputs that formats of text have, all of them native. @type {Record<string, string>} */
const INPUTS = { email: "email", uri: "url", date: "date", "date-time": "datetime-local", time: "time" };

const FEW = 6; // that many choices are shown at once, more of them fold into a list
const BROKEN = Symbol("text that is no JSON");

/** @implements {KindMembers} */
export class YcForm extends HTMLElement {
  /** @type {Field[]} */
  #fields = [];

  /** @param {Interrupt} interrupt */
  set interrupt(interrupt) {
    const { ask, ending } = interrupt.metadata.yourcall;
    const fields = properties(interrupt.responseSchema ?? {});
    const title = ask?.title || interrupt.message || ask?.name;
    const heading = title ? [h("p", { class: "yc-prompt", dir: "auto" }, title)] : [];
    this.replaceChildren(...heading, ...explained(ask?.reason));
    if (ending) this.append(...answered(fields, ending.answer));
    else {
      this.#fields = drawnFields(fields);
      this.append(...this.#fields.map(({ element }) => element));
    }
  }

  get answer() {
    const values = this.#fields.map(({ name, read }) => [name, read()]);
    if (this.#fields[0]?.pointer === "") return values[0]?.[1];
    return Object.fromEntries(values.filter(([, value]) => value !== undefined));
  }

  /** @returns {Fault[]} */
  get faults() {
    return faultsIn(this.#fields);
  }
}

/** @param {Property[]} fields @returns {Field[]} */
function drawnFields(fields) {
  return fields.map((property) => {
    const [element, read] = drawn(property);
    element.dataset.pointer = property.pointer;
    return { ...property, element, read };
  });
}

/** The fields of an object within an answer, drawn. @param {Schema} schema @returns {Field[]} */
export const fieldsOf = (schema, under = "") =>
  drawnFields(properties(schema).map((one) => ({ ...one, pointer: under + one.pointer })));

/** @param {Field[]} fields @returns {Fault[]} */
export function faultsIn(fields) {
  return fields.flatMap(({ pointer, schema, required, element, read }) => {
    const detail = native(element) || amiss(schema, required, read());
    return detail ? [{ pointer, detail }] : [];
  });
}

// --------------------------------------------------------------------------- reading the schema

/** The fields that a schema asks for. @param {Schema} root @returns {Property[]} */
function properties(root) {
  const whole = plain(root, root);
  if (whole.type !== "object") return [{ name: strings.yours, pointer: "", schema: whole, required: true }];
  return Object.entries(whole.properties ?? {}).map(([name, property]) => ({
    name,
    pointer: `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`,
    schema: plain(/** @type {Schema} */ (property), root),
    required: whole.required?.includes(name) ?? false,
  }));
}

/**
 * Without the references and the nulls that pydantic writes for enums and optional fields.
 *
 * @param {Schema} schema @param {Schema} root @returns {Schema}
 */
function plain(schema, root) {
  const { $ref, anyOf, allOf, ...rest } = schema;
  const steps = $ref?.slice(2).split("/");
  const target = steps?.reduce((/** @type {any} */ at, /** @type {string} */ step) => at?.[step], root);
  const some = anyOf?.find((/** @type {Schema} */ one) => one.type !== "null" && !("const" in one));
  const inner = target ?? allOf?.[0] ?? some;
  const whole = inner ? { ...plain(inner, root), ...rest } : schema;
  return whole.items ? { ...whole, items: plain(whole.items, root) } : whole;
}

/** What there is to choose from, if anything. @param {Schema} schema @returns {Choice[] | undefined} */
function choices(schema) {
  const consts = schema.oneOf ?? schema.anyOf;
  if (consts?.every((/** @type {Schema} */ one) => "const" in one)) {
    return consts.map((/** @type {Schema} */ one) => ({ value: one.const, title: String(one.title ?? one.const) }));
  }
  if (schema.type === "boolean" && typeof schema.default !== "boolean") { // an empty box would be a silent no
    return [{ value: true, title: strings.yes }, { value: false, title: strings.no }];
  }
  return schema.enum?.map((/** @type {any} */ value) => ({ value, title: String(value) }));
}

// --------------------------------------------------------------------------- drawing

/** @param {Property} property @returns {Drawn} */
function drawn(property) {
  const { schema } = property;
  const several = schema.type === "array" && choices(schema.items ?? {});
  if (several) return ticks(property, several, "checkbox");
  const one = choices(schema);
  if (one) return one.length > FEW ? list(property, one) : ticks(property, one, "radio");
  if (schema.type === "boolean") return box(property);
  if (schema.type === "number" || schema.type === "integer") return number(property);
  return text(property);
}

/** @param {Property} property @param {Choice[]} offers @param {"radio" | "checkbox"} type @returns {Drawn} */
function ticks({ name, schema, required }, offers, type) {
  const group = uid();
  const single = type === "radio";
  const preset = single ? [schema.default] : (schema.default ?? []);
  const controls = offers.map(({ value }) =>
    h("input", { type, name: group, required: required && single, checked: preset.includes(value) }));
  const [hint, described] = hinted(schema);
  const options = offers.map(({ title }, n) => h("label", { class: "yc-option" }, controls[n], label(title)));
  const element = h("fieldset", { class: "yc-field", ...described },
    h("legend", {}, ...labelled(name, schema, required)), hint, h("div", { class: "yc-options" }, ...options));
  return [element, () => {
    const values = offers.filter((_, n) => controls[n]?.checked).map(({ value }) => value);
    return single ? values[0] : values.length || required ? values : undefined;
  }];
}

/** @param {Property} property @param {Choice[]} offers @returns {Drawn} */
function list(property, offers) {
  const preset = property.schema.default;
  const options = offers.map(({ value, title }, n) => h("option", { value: n, selected: value === preset }, title));
  const [element, select] = control(property, "select", {}, h("option", { value: "" }), ...options);
  return [element, () => (select.value === "" ? undefined : offers[Number(select.value)]?.value)];
}

/** @param {Property} property @returns {Drawn} */
function box({ name, schema }) {
  const [hint, described] = hinted(schema);
  const input = h("input", { type: "checkbox", checked: schema.default, ...described });
  const option = h("label", { class: "yc-option" }, input, label(schema.title ?? name));
  return [h("div", { class: "yc-field" }, option, hint), () => input.checked];
}

/** @param {Property} property @returns {Drawn} */
function number(property) {
  const { minimum: min, maximum: max, multipleOf, type, default: value } = property.schema;
  const step = multipleOf ?? (type === "integer" ? 1 : "any");
  const [element, input] = control(property, "input", { type: "number", min, max, step, value });
  return [element, () => (input.value === "" ? undefined : input.valueAsNumber)];
}

/** Text, and as a last resort JSON, where nothing native fits. @param {Property} property @returns {Drawn} */
function text(property) {
  const { type, format, pattern, minLength: minlength, maxLength: maxlength } = property.schema;
  const isMoment = format === "date-time";
  const preset = isMoment ? local(property.schema.default) : property.schema.default;
  const isJson = type !== undefined && type !== "string";
  const limits = { minlength, maxlength, dir: "auto" };
  const value = isJson && preset !== undefined ? JSON.stringify(preset) : preset;
  const [element, input] = isJson || type === undefined || maxlength > 200
    ? control(property, "textarea", { ...limits, rows: maxlength < 10_000 ? 3 : 1 }, value)
    : control(property, "input", { ...limits, pattern, type: INPUTS[format] ?? "text", value });
  return [element, () => {
    if (input.value === "") return undefined;
    if (isJson) return fromJson(input.value);
    return isMoment ? new Date(input.value).toISOString() : input.value;
  }];
}

/** A moment as its input takes it: in the user's own time. @param {string | undefined} moment */
function local(moment) {
  const date = new Date(moment ?? "");
  return isNaN(date.valueOf()) ? "" : new Date(date.valueOf() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/**
 * A control with its label and hint.
 *
 * @template {"input" | "textarea" | "select"} K
 * @param {Property} property @param {K} tag @param {Record<string, unknown>} attributes
 * @param {...(Node | string)} children
 * @returns {[HTMLElement, HTMLElementTagNameMap[K]]}
 */
function control({ name, schema, required }, tag, attributes, ...children) {
  const [hint, described] = hinted(schema);
  const made = h(tag, { ...attributes, ...described, required }, ...children);
  const named = h("label", {}, ...labelled(name, schema, required), made);
  return [h("div", { class: "yc-field" }, named, hint), made];
}

/** @param {string} title */
const label = (title) => h("span", { class: "yc-label", dir: "auto" }, title);

/** The label, and whether it may stay empty; what has a default does not look empty. @param {Schema} schema */
const labelled = (name = "", schema, required = false) => [
  label(schema.title ?? name),
  !required && (schema.default ?? "") === "" && h("span", { class: "yc-optional" }, strings.optional),
];

/**
 * The description, and the attribute by which a control names it.
 *
 * @param {Schema} schema @returns {[HTMLElement | undefined, { "aria-describedby"?: string }]}
 */
function hinted({ description }) {
  if (!description) return [undefined, {}];
  const hint = h("span", { class: "yc-description", id: uid(), dir: "auto" }, description);
  return [hint, { "aria-describedby": hint.id }];
}

// --------------------------------------------------------------------------- what is wrong

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

/** What no native control can find. @param {Schema} schema @param {boolean} required @param {any} value */
function amiss({ minItems = 0, maxItems = Infinity }, required, value) {
  if (value === BROKEN) return strings.notJson;
  if (required && value === undefined) return strings.required;
  if (!Array.isArray(value)) return undefined;
  if (value.length < minItems) return strings.fewest;
  return value.length > maxItems ? strings.most : undefined;
}

// --------------------------------------------------------------------------- what was

/** JSON without a schema, such as a raw interrupt's reason. @param {any} reason */
function explained(reason) {
  if (reason === null || reason === undefined) return [];
  if (typeof reason !== "object") return [h("p", { class: "yc-text", dir: "auto" }, String(reason))];
  return [pairs(Object.entries(reason).map(([name, value]) => [name, shown(value)]))];
}

/**
 * By the fields, if it has no others: what a kind of one's own keeps may differ from what it takes.
 *
 * @param {Property[]} fields @param {any} answer
 */
function answered(fields, answer) {
  if (answer === undefined || answer === null) return [];
  const isObject = typeof answer === "object" && !Array.isArray(answer);
  const fits = isObject && Object.keys(answer).every((key) => fields.some(({ name }) => name === key));
  if (!fits && fields[0]?.pointer !== "") return explained(answer);
  return [pairs(fields.map(({ name, pointer, schema }) =>
    [schema.title ?? name, words(pointer === "" ? answer : answer[name], schema)]))];
}

/** @param {[string, string][]} rows */
export const pairs = (rows) => h("dl", { class: "yc-pairs" }, ...rows.map(([name, value]) =>
  h("div", {}, h("dt", { dir: "auto" }, name), h("dd", { dir: "auto" }, value))));

/** @param {any} value @param {Schema} raw @returns {string} */
export function words(value, raw) {
  const schema = plain(raw, raw);
  if (Array.isArray(value)) return value.map((one) => words(one, schema.items ?? {})).join(", ");
  if ((value ?? "") === "") return strings.none;
  if (typeof value === "boolean") return value ? strings.yes : strings.no;
  return choices(schema)?.find((choice) => choice.value === value)?.title ?? moment(value, schema.format) ?? shown(value);
}

/** As it was entered. @param {any} value @param {string} format */
function moment(value, format) {
  if (format === "date") return when(`${value}T00:00`, { dateStyle: "medium" });
  if (format === "time") return when(`2000-01-01T${value}`, { timeStyle: "short" });
  return format === "date-time" ? when(value) : undefined;
}

/** @param {any} value @returns {string} */
const shown = (value) => (typeof value === "string" ? value : JSON.stringify(value));
