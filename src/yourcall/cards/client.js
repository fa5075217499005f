/**
 * The way to the server: a method for each route, typed errors, and a stream of events that survives cuts. A run
 * ends with RUN_FINISHED or RUN_ERROR; a stream that stops without either was cut, and is opened again.
 */

/** @import { About, Ending, Fault, Interrupt, Listed, OnEvent, Patience, Snapshot } from "./wire.d.ts" */
import { persist } from "./persist.js";

const LIMIT = 8 << 20; // characters of one frame
const SILENCE = 45_000; // the server sends a comment every 15 s
const TERMINAL = ["RUN_FINISHED", "RUN_ERROR"];

/** A request that the server refused (RFC 9457); `message` is its detail, a sentence for people. */
export class Problem extends Error {
  /** @param {number} status @param {any} body */
  constructor(status, body) {
    super(body?.detail ?? `HTTP ${status}`);
    this.status = status;
    /** @type {string | undefined} */
    this.slug = body?.type?.split("/").pop();
    /** @type {Ending | undefined} How the question had closed before. */
    this.ending = body?.ending;
    /** @type {Fault[]} */
    this.errors = body?.errors ?? [];
  }

  /** Whether the same request may do better a little later. */
  get transient() {
    return this.status >= 500 || this.status === 429;
  }
}

/** A stream that broke, or was never one. Opening it again is the cure. */
export class StreamError extends Error {}

/**
 * A parser of server-sent events (WHATWG HTML, 9.2.6): feed it decoded text in any pieces, with any line ends. An
 * `id` comes only with the frame that set it.
 *
 * @param {(frame: { id: string | undefined, data: string }) => void} emit
 * @returns {(text: string) => void} Throws `StreamError` where a frame outgrows `limit`.
 */
export function parser(emit, limit = LIMIT) {
  /** @type {string[]} */ let data = [];
  /** @type {string | undefined} */ let id;
  let rest = "";
  let held = 0;
  let afterCR = false;

  /** @param {string} line */
  function take(line) {
    if (line === "") {
      if (data.length) emit({ id, data: data.join("\n") });
      [data, id, held] = [[], undefined, 0];
      return;
    }
    const [, field, value = ""] = line.match(/^([^:]*):? ?(.*)$/s) ?? [];
    if (field === "data") held += data.push(value) && value.length;
    if (field === "id" && !value.includes("\0")) id = value;
  }

  return (text) => {
    if (afterCR && text[0] === "\n") text = text.slice(1);
    if (text) afterCR = text.endsWith("\r");
    rest += text;
    if (/[\r\n]/.test(text)) {
      const lines = rest.split(/\r\n|\r|\n/);
      rest = lines.pop() ?? "";
      lines.forEach(take);
    }
    if (rest.length + held > limit) throw new StreamError("A frame is too long.");
  };
}

const at = (id = "", last = "", of = "conversations") => `${of}/${encodeURIComponent(id)}${last && `/${last}`}`;

/** The routes under `base`; `init` goes into every request, with a token in its headers for instance. */
export class Client {
  /** @param {RequestInit} [init] */
  constructor(base = ".", init = {}) {
    this.base = base.replace(/\/$/, "");
    this.init = init;
  }

  /** Whom the user talks to. @returns {Promise<About>} */
  about() {
    return this.json("GET", "about");
  }

  /** The latest conversations. @returns {Promise<{ conversations: Listed[] }>} */
  list() {
    return this.json("GET", "conversations");
  }

  /** @returns {Promise<{ id: string }>} */
  create() {
    return this.json("POST", "conversations", {});
  }

  /** @param {string} id @param {AbortSignal} [signal] @returns {Promise<Snapshot>} */
  snapshot(id, signal) {
    return this.json("GET", at(id), undefined, { signal });
  }

  /** Send a message; the same `id` again is harmless. @param {string[]} [files] */
  say(conversation = "", text = "", id = "", files) {
    return this.json("POST", at(conversation, "messages"), { text, id, files });
  }

  /** Let a stopped run go on. */
  resume(conversation = "") {
    return this.json("POST", at(conversation, "resume"), {});
  }

  /** Stop the run. */
  cancel(conversation = "") {
    return this.json("POST", at(conversation, "cancel"), {});
  }

  /** @param {Interrupt} interrupt @param {any} answer @returns {Promise<{ id: string, ending: Ending }>} */
  answer({ id, metadata }, answer, way = "answer") {
    const headers = { "If-Match": `"${metadata.yourcall.digest}"` }; // the question that was read, and no other
    return this.json("POST", at(id, way, "interrupts"), answer, { headers });
  }

  /** @param {Interrupt} interrupt @returns {Promise<{ id: string, ending: Ending }>} */
  skip({ id }, note = "") {
    return this.json("POST", at(id, "skip", "interrupts"), note ? { note } : {});
  }

  /**
   * Hand over a conversation's events newer than `after` until its run has ended: at once, if nothing runs.
   *
   * @param {string} conversation @param {number} after @param {OnEvent} onEvent @param {Patience} [options]
   */
  follow(conversation, after, onEvent, options) {
    return persist(async () => {
      const headers = { Accept: "text/event-stream", "Last-Event-ID": String(after) };
      const response = await this.#request("GET", at(conversation, "events"), { headers, signal: options?.signal });
      const isStream = response.headers.get("Content-Type")?.startsWith("text/event-stream");
      if (!response.body || !isStream) throw new StreamError("This is no stream.");
      let ended = false;
      const feed = parser(({ id, data }) => {
        const event = JSON.parse(data);
        ended ||= TERMINAL.includes(event.type);
        if (id) after = Number(id);
        onEvent(event, id ? after : undefined);
      });
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      while (!ended) {
        const silent = setTimeout(() => reader.cancel(), SILENCE);
        const { done, value } = await reader.read().finally(() => clearTimeout(silent));
        if (done) throw new StreamError("The stream was cut.");
        feed(value);
      }
      await reader.cancel();
    }, options);
  }

  /** Any route. @param {unknown} [body] @param {RequestInit} [init] */
  async json(method = "", path = "", body, init) {
    const form = body instanceof FormData && body; // whose type the browser says
    const headers = { ...init?.headers, ...(body !== undefined && !form && { "Content-Type": "application/json" }) };
    const response = await this.#request(method, path, { ...init, headers, body: form || JSON.stringify(body) });
    return response.json();
  }

  /** @param {RequestInit} init */
  async #request(method = "", path = "", init) {
    const headers = { ...Object.fromEntries(new Headers(this.init.headers)), ...init.headers };
    const response = await fetch(`${this.base}/${path}`, { ...this.init, ...init, method, headers });
    if (response.ok) return response;
    throw new Problem(response.status, await response.json().catch(() => null));
  }
}
