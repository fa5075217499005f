/**
 * The only way in which the cards make elements: text becomes text nodes, so whatever a model writes stays inert;
 * attributes are never the model's.
 */

/**
 * Make an element: a function is a listener, `true` an empty attribute, and what is null or false is left out.
 *
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, unknown> | null} [attributes]
 * @param {...(Node | string | null | undefined | false)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (typeof value === "function") element.addEventListener(name, /** @type {EventListener} */ (value));
    else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  for (const child of children) if (child || child === "") element.append(child);
  return element;
}

/** 128 random bits: on plain http there is no `crypto.randomUUID`. */
export const uid = () => `yc-${crypto.getRandomValues(new Uint32Array(4)).join("-")}`;

/** A tool's name as people write it. */
export const titled = (name = "") => name.replaceAll("_", " ").replace(/^./, (first) => first.toUpperCase());

/**
 * Whether an Enter belongs to an input method that is still composing, and must not send anything. Safari ends
 * the composition before the key event and leaves only the 229. @param {KeyboardEvent} event
 */
export const composing = (event) => event.isComposing || event.keyCode === 229;

/**
 * A moment in the user's own words and time, `undefined` if it is none.
 *
 * @param {string} moment @param {Intl.DateTimeFormatOptions} [style]
 */
export function when(moment, style = { dateStyle: "medium", timeStyle: "short" }) {
  const date = new Date(moment);
  return isNaN(date.valueOf()) ? undefined : date.toLocaleString([], style);
}
