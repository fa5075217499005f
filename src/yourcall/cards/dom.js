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
  for (const child of children) if (child || child === "") element.append(child);
  return element;
}

/** An id that nothing else has, here or elsewhere: 128 random bits. On plain http there is no `crypto.randomUUID`. */
export const uid = () => `yc-${crypto.getRandomValues(new Uint32Array(4)).join("-")}`;

/** A tool's name as people write it. */
export const titled = (name = "") => name.replaceAll("_", " ").replace(/^./, (first) => first.toUpperCase());

/**
 * Whether an Enter belongs to an input method that is still composing, and must not send anything. Safari ends
 * the composition before the key event and leaves only the 229. @param {KeyboardEvent} event
 */
export const composing = (event) => event.isComposing || event.keyCode === 229;
