/**
 * The only way in which the cards make elements. Text becomes text nodes and never markup, so whatever a model
 * writes stays inert; attributes take values of ours, never of the model.
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
  element.append(.../** @type {(Node | string)[]} */ (children.filter((child) => child !== null && child !== undefined && child !== false)));
  return element;
}

let last = 0;

/** An id that is new in this page. */
export const uid = () => `yc-${++last}`;

/**
 * Whether an Enter belongs to an input method that is still composing, and must not send anything. Safari ends
 * the composition before the key event and leaves only the 229. @param {KeyboardEvent} event
 */
export const composing = (event) => event.isComposing || event.keyCode === 229;
