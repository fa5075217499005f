/**
 * `<yc-chat base=".">`: a whole chat. The conversation's id is in the URL's fragment or in `conversation="id"`.
 *
 * One loop keeps it true: read the snapshot, follow the events until the run ends, read the snapshot again, wait
 * for a reason to look (an action here, another tab, a few seconds), follow again. Where nothing runs
 * `/events` ends at once, so that to look is to follow.
 */

/** @import { YcCard } from "./card.js" */
/** @import { AgUiEvent, Interrupt, Patience, Snapshot, Wake } from "./wire.d.ts" */
import { attach, attached, idsOf } from "./attach.js";
import { Client } from "./client.js";
import { composing, h, titled, uid } from "./dom.js";
import { persist } from "./persist.js";
import { strings } from "./strings.js";

const LOOK_MS = 4_000;
const SLOW_MS = 250; // what streams for longer follows a run
const REASONS = ["hashchange", "focus", "online", "visibilitychange"]; // to look

export class YcChat extends HTMLElement {
  /** @type {Client | undefined} */
  #client;
  /** @type {string | undefined} */
  #id;
  #head = 0;
  /** @type {Map<string, HTMLElement>} What is drawn, by what it is: `m` a message, `t` a tool call, `c` a card. */
  #drawn = new Map();
  /** The message whose text is provisional: recorded or taken back in the end. */
  #writing = "";
  /** Ends the loop's wait for a reason. @type {Wake} */
  #news = () => {};
  /** Ends its wait for the server. @type {Wake} */
  #retry = () => {};
  #leave = () => {};
  /** @type {BroadcastChannel | undefined} */
  #tabs;
  /** The last message: sent again it has the same id. */
  #last = { id: "", all: "" };
  #sending = false;
  /** Why the last try was refused. */
  #kept = "";
  #atEnd = true;
  #top = 0;

  #name = h("strong", { dir: "auto" });
  #notice = h("p", { class: "yc-notice", dir: "auto" });
  #list = h("div", { class: "yc-list" });
  #thinking = h("p", { class: "yc-thinking", hidden: true }, h("span", { class: "yc-sr" }, strings.working));
  #failure = h("div", { class: "yc-failure" });
  #greeting = h("div", { class: "yc-greeting" });
  #column = h("div", { class: "yc-column" },
    this.#notice, this.#greeting, this.#list, this.#thinking, this.#failure);
  #scroller = h("div", {
    class: "yc-scroller", tabindex: 0, role: "region", "aria-label": strings.conversation,
    scroll: () => this.#scrolled(),
  }, this.#column);
  #status = h("p", { class: "yc-status", role: "status" });
  #spoken = h("div", { class: "yc-sr", "aria-live": "polite" });
  #input = h("textarea", {
    rows: 1, "aria-label": strings.message, dir: "auto",
    keydown: (/** @type {KeyboardEvent} */ event) => this.#typed(event),
  });
  #attach = attach();
  #stop = h("button", {
    type: "button", class: "yc-stop", hidden: true, click: () => this.#act((id) => this.client.cancel(id)),
  }, strings.stop);
  #composer = h("form", {
    class: "yc-composer", submit: (/** @type {Event} */ event) => (event.preventDefault(), this.#say()),
  }, this.#attach, this.#input, this.#stop,
    h("button", { class: "yc-primary yc-send" }, h("span", { class: "yc-sr" }, strings.send)));

  /** Before the element is connected, one of your own may be set. */
  get client() {
    return (this.#client ??= new Client(this.getAttribute("base") ?? "."));
  }

  set client(client) {
    this.#client = client;
  }

  connectedCallback() {
    if (!this.firstChild) this.#build();
    this.#tabs = new BroadcastChannel("yourcall");
    this.#tabs.onmessage = ({ data }) => data === this.#id && this.#look();
    for (const type of REASONS) addEventListener(type, this.#arrive);
    this.#arrive();
  }

  disconnectedCallback() {
    this.#tabs?.close();
    for (const type of REASONS) removeEventListener(type, this.#arrive);
    this.#leave();
    this.#id = undefined;
  }

  #build() {
    const others = !this.hasAttribute("conversation") &&
      Object.assign(document.createElement("yc-chats"), { client: this.client });
    this.append( // no element to which a page may give a look
      h("div", { class: "yc-top" }, this.#name, others), this.#scroller,
      h("div", { class: "yc-bottom" }, this.#status, this.#composer), this.#spoken);
    this.addEventListener("yc-closed", () => (this.#touched(), this.#focus()));
    this.addEventListener("yc-outdated", () => this.#look());
    new ResizeObserver(() => this.#atEnd && this.#toEnd()).observe(this.#column);
  }

  #meet() {
    this.client.about().then(({ agent }) => {
      this.#name.textContent = agent.name ?? "";
      this.#notice.textContent = agent.standIn ?? "";
      this.#greeting.replaceChildren(h("p", {}, strings.greeting), ...(agent.suggestions ?? []).map((text) =>
        h("button", { type: "button", dir: "auto", click: () => this.#say(text) }, text)));
      this.#heard();
    }, (error) => this.#refused(error));
  }

  // ------------------------------------------------------------------------- following

  /** Show the conversation that the URL names; without a name, an empty page. @param {Event} [event] */
  #arrive = (event) => {
    const id = this.getAttribute("conversation") ?? location.hash.slice(1);
    if (!this.#greeting.firstChild) this.#meet();
    if (id === this.#id) return this.#look();
    this.#leave();
    [this.#id, this.#head, this.#writing, this.#atEnd] = [id, 0, "", true];
    this.#drawn.clear();
    this.#list.replaceChildren();
    this.#failure.replaceChildren();
    this.#tell((this.#kept = ""));
    this.#run();
    if (id) this.#keepTrue(id);
    else if (event || this.hasAttribute("autofocus")) this.#focus(false);
  };

  async #keepTrue(id = "", isNew = false) {
    const over = new AbortController();
    const { signal } = over;
    this.#leave = () => (over.abort(), this.#look());
    let slow = 0;
    /** @type {Patience} */
    const patience = { signal, onCut: (retry) => {
      clearTimeout(slow);
      this.#retry = retry;
      this.#tell(strings.reconnecting);
    } };
    const read = () => persist(async () => this.#draw(await this.client.snapshot(id, signal)), patience);
    try {
      if (!isNew) await read();
      for (;;) {
        const before = this.#head;
        const news = new Promise((resolve) => (this.#news = resolve)); // from here on: following takes its time
        await this.client.follow(id, before, (event, seq) => {
          slow ||= setTimeout(() => this.#run(true), SLOW_MS);
          this.#take(event, seq);
        }, patience);
        clearTimeout(slow);
        slow = 0;
        for (const card of this.#cards) card.reached();
        this.#run();
        if (this.#head > before) await read();
        const timer = setInterval(() => document.hidden || this.#look(), LOOK_MS);
        await news;
        clearInterval(timer);
      }
    } catch (error) {
      clearTimeout(slow);
      if (signal.aborted) return;
      this.#run();
      this.#refused(error);
      this.#id = undefined; // the next reason to look begins anew
    }
  }

  #look() {
    this.#news();
    this.#retry();
  }

  /** Something was written here: the other tabs look, too. */
  #touched() {
    this.#kept = "";
    this.#tabs?.postMessage(this.#id);
    this.#look();
  }

  // ------------------------------------------------------------------------- drawing

  /** @param {Snapshot} snapshot */
  #draw({ head, phase, done, messages, interrupts }) {
    this.#head = head;
    this.#writing = "";
    const cards = interrupts.map((one) => this.#card(one));
    /** @type {Set<HTMLElement>} */ const wanted = new Set();
    for (const { id, role, content, toolCalls, metadata } of messages) {
      const files = metadata?.yourcall.files;
      if ((content || files) && role !== "tool") wanted.add(this.#message(id, role, content, files));
      for (const call of toolCalls ?? []) {
        wanted.add(this.#tool(call.id, call.function.name, messages.find((one) => one.toolCallId === call.id)));
        for (const card of cards) if (card.call === call.id) wanted.add(card);
      }
    }
    for (const card of cards) wanted.add(card); // those that nested calls asked
    for (const [key, node] of this.#drawn) if (!wanted.has(node) && !("pending" in node.dataset)) this.#drop(key);
    [...wanted].forEach((node, n) => {
      const there = this.#list.children[n];
      if (there !== node) this.#list.insertBefore(node, there ?? null); // moving loses the focus
    });
    this.#heard();
    this.#run(phase === "run");
    this.#fail(phase === "done" ? done : null);
  }

  /** What comes twice, after a cut, draws the same. @param {AgUiEvent} event @param {number} [seq] */
  #take(event, seq) {
    const { type, messageId, toolCallId, value } = event;
    this.#head = seq ?? this.#head;
    this.#heard();
    switch (type === "CUSTOM" ? event.name : type) {
      case "TEXT_MESSAGE_START":
        this.#drop(this.#writing);
        this.#drop((this.#writing = `m${messageId}`)); // begins anew after a cut
        this.#message(messageId, "assistant");
        break;
      case "TEXT_MESSAGE_CONTENT":
        return this.#message(messageId, "assistant").lastElementChild?.append(event.delta);
      case "TEXT_MESSAGE_END":
        if (seq !== undefined) this.#recorded(messageId);
        break;
      case "TOOL_CALL_START":
        this.#recorded(event.parentMessageId);
        this.#tool(toolCallId, event.toolCallName);
        break;
      case "TOOL_CALL_RESULT":
        this.#tool(toolCallId, "", event);
        break;
      case "yourcall.retracted":
        this.#drop(`m${value.messageId}`);
        break;
      case "yourcall.user":
        delete this.#message(value.id, "user", value.text, value.files).dataset.pending;
        break;
      case "yourcall.interrupt":
        this.#speak(`${strings.asks}: ${this.#card(value).label}`);
        break;
      case "yourcall.closed":
        for (const card of this.#cards) {
          if (card.interrupt?.id === value.id) this.#change(card, () => card.close(value.ending));
        }
        break;
      default:
        return;
    }
    this.#run(true);
  }

  /** @param {string} key @param {() => HTMLElement} make @param {Element} [after] */
  #node(key, make, after) {
    const known = this.#drawn.get(key);
    if (known) return known;
    const node = make();
    this.#drawn.set(key, node);
    if (after) after.after(node);
    else this.#list.append(node);
    return node;
  }

  #drop(key = "") {
    this.#drawn.get(key)?.remove();
    this.#drawn.delete(key);
  }

  /** @param {any} [files] */
  #message(id = "", role = "", text = "", files) {
    return attached(this.#node(`m${id}`, () =>
      h("div", { class: `yc-${role}` },
        h("span", { class: "yc-sr" }, role === "user" ? strings.you : strings.assistant),
        h("p", { class: "yc-text", dir: "auto" }, text))), files, this.client, this.#id);
  }

  /** A quiet line for a tool at work. @param {any} [result] */
  #tool(id = "", name = "", result) {
    const node = this.#node(`t${id}`, () => h("p", { class: "yc-tool", dir: "auto" }, titled(name)));
    if (result) node.dataset.status = result.metadata?.yourcall?.status ?? "ok";
    return node;
  }

  /** @param {Interrupt} interrupt */
  #card(interrupt) {
    const others = this.#cards.filter((card) => card.call === interrupt.toolCallId);
    const after = others.pop() ?? this.#drawn.get(`t${interrupt.toolCallId}`); // in order
    const make = () => Object.assign(document.createElement("yc-card"), { client: this.client });
    const card = /** @type {YcCard} */ (this.#node(`c${interrupt.id}`, make, after));
    this.#change(card, () => (card.interrupt = interrupt));
    return card;
  }

  get #cards() {
    return [.../** @type {NodeListOf<YcCard>} */ (this.#list.querySelectorAll("yc-card"))];
  }

  /** A card that closes hands the focus back. @param {YcCard} card @param {() => void} change */
  #change(card, change) {
    const focused = card.contains(document.activeElement);
    change();
    if (focused && !card.open) this.#focus();
    if (this.#atEnd) this.#toEnd(); // a shorter page moves by itself
  }

  #recorded(id = "") {
    if (this.#writing !== `m${id}`) return;
    this.#writing = "";
    this.#speak(this.#drawn.get(`m${id}`)?.lastElementChild?.textContent ?? "");
  }

  /** @param {Snapshot["done"]} done */
  #fail(done) {
    this.#failure.replaceChildren();
    if (!done || done.reason === "success") return;
    const text = done.reason === "cancelled" ? strings.stopped : done.message || strings.failed;
    const again = () => this.#act((id) => this.client.resume(id));
    this.#failure.append(h("p", { role: "alert", dir: "auto" }, text));
    if (done.retryable) this.#failure.append(h("button", { type: "button", click: again }, strings.retry));
  }

  #run(running = false) {
    const cards = this.#cards;
    let busy = this.#drawn.has(this.#writing);
    for (const [key, node] of this.#drawn) {
      if (key[0] !== "t") continue;
      // a card tells more than its tool's name
      const own = cards.filter(({ call }) => `t${call}` === key);
      const working = node.dataset.status === undefined && !own.some((card) => card.open);
      node.hidden = own.length > 0 && !working;
      busy ||= working;
    }
    const others = cards.some((card) => card.open && !card.querySelector("form"));
    this.#stop.hidden = !running && !others;
    this.#thinking.hidden = !running || busy;
    if (running) this.#failure.replaceChildren();
    this.#input.placeholder = !others && cards.some((card) => card.open) ? strings.instead : strings.placeholder;
    this.toggleAttribute("data-empty", this.#drawn.size === 0);
  }

  // ------------------------------------------------------------------------- acting

  /** @param {(conversation: string) => Promise<unknown>} request @returns {Promise<boolean>} Whether it was done. */
  async #act(request) {
    this.#tell((this.#kept = ""));
    try {
      await request(this.#id ?? "");
    } catch (error) {
      this.#kept = this.#refused(error);
      return false;
    }
    this.#touched();
    return true;
  }

  /** @param {KeyboardEvent} event */
  #typed(event) {
    if (event.key !== "Enter" || event.shiftKey) return;
    event.preventDefault();
    if (!event.repeat && !composing(event)) this.#say(); // no key that is still held down
  }

  /** If it fails, the text is where one writes. */
  async #say(suggested = "") {
    const text = suggested || this.#input.value.trim();
    if (this.#sending || !(text || this.#attach.files.length)) return;
    this.#sending = true;
    const files = this.#attach.take();
    const all = text + files;
    if (this.#last.all !== all) this.#last = { id: uid(), all };
    const { id } = this.#last;
    if (!suggested) this.#input.value = "";
    const node = this.#message(id, "user", text, files);
    node.dataset.pending = "";
    this.#run(true);
    this.#atEnd = true;
    this.#toEnd();
    const first = !this.#id;
    const sent = await this.#act(async (conversation) => {
      this.#id = conversation || (await this.client.create()).id;
      if (first) history.replaceState(null, "", `#${this.#id}`);
      await this.client.say(this.#id, text, id, await idsOf(files));
    });
    this.#sending = false;
    delete node.dataset.pending;
    if (sent) this.#last.all = "";
    else {
      this.#drop(`m${id}`);
      this.#input.value = `${text}\n${this.#input.value}`.trim();
      this.#attach.put(files);
      this.#run();
    }
    if (first && this.#id) this.#keepTrue(this.#id, true);
  }

  #tell(text = this.#kept) {
    if (this.#status.textContent !== text) this.#status.textContent = text;
  }

  /** The server is there, and knows the user. */
  #heard() {
    this.#composer.inert = false;
    this.#tell();
  }

  /** Says why; what is returned stands until the next try. @param {any} error */
  #refused({ status, message }) {
    this.#composer.inert = status === 401;
    const lasts = status && status !== 401;
    this.#tell(lasts ? message : status ? strings.signIn : strings.unreachable);
    return lasts ? message : "";
  }

  /** For those who listen; nobody comes across it afterwards. */
  #speak(text = "") {
    this.#spoken.textContent = text;
    setTimeout(() => this.#spoken.textContent === text && this.#spoken.replaceChildren(), 3_000);
  }

  /** Back to writing; where that opens an on-screen keyboard, only out of what is gone. */
  #focus(gone = true) {
    const touch = matchMedia("(pointer: coarse)").matches;
    if (gone || !touch) (touch ? this.#scroller : this.#input).focus({ preventScroll: true });
  }

  #scrolled() {
    const { scrollHeight, scrollTop, clientHeight } = this.#scroller;
    if (scrollTop !== this.#top) this.#atEnd = scrollHeight - scrollTop - clientHeight < 60; // it was the user
  }

  /** Down to the newest, but not past a question that waits and the last lines before it. */
  #toEnd() {
    const waits = this.#cards.find((card) => card.open);
    const { scrollHeight, scrollTop, clientHeight } = this.#scroller;
    const top = waits ? waits.offsetTop - clientHeight / 4 : Infinity;
    this.#scroller.scrollTop = Math.max(scrollTop, Math.min(scrollHeight, top));
    this.#top = this.#scroller.scrollTop;
  }
}
