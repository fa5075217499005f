/**
 * What goes over the wire, and what the elements are to each other. Types only: no browser ever loads this file.
 */

/** How a question closed. `answer` is what the log has of it, as far as possible as it was sent. */
export interface Ending {
  kind: string;
  note?: string | null;
  answer?: any;
  files?: Sent[];
}

/** A question as AG-UI carries it. An `ending` of null says that it is open. */
export interface Interrupt {
  id: string;
  toolCallId?: string;
  message?: string | null;
  responseSchema?: any;
  expiresAt?: string | null;
  /** `to` is whom it was put to, where that is not who reads it. */
  metadata: {
    yourcall: { kind: string; ask: any; digest: string; tool?: string; to?: string; ending?: Ending | null };
  };
}

/** Whom the user talks to. `standIn` is what people must know where no model of a provider answers. */
export interface Agent {
  name?: string;
  standIn?: string | null;
  /** Messages to begin with. */
  suggestions?: string[];
}

/** Which files may be sent ahead, in what a picker accepts, and how many of them may come at once. */
export interface Taken {
  accept: string[];
  maxBytes: number;
  most: number;
}

export interface About {
  agent: Agent;
  files?: Taken | null;
}

/** A file; one without an `id` is not sent yet. */
export interface Sent {
  id?: string;
  name: string;
  size: number;
  type?: string;
}

/** A line of the list of conversations; `opening` is how the first message begins. */
export interface Listed {
  id: string;
  phase: Snapshot["phase"];
  updatedAt: string;
  opening: string;
}

export interface Message {
  id: string;
  role: string;
  content?: any;
  toolCalls?: { id: string; function: { name: string } }[] | null;
  toolCallId?: string;
  metadata?: any;
}

export interface Snapshot {
  id: string;
  head: number;
  phase: "run" | "waiting" | "done";
  done: { reason: string; retryable: boolean; message: string } | null;
  agent?: Agent;
  messages: Message[];
  interrupts: Interrupt[];
}

/** One thing wrong with an answer, with a JSON pointer (RFC 6901) into it. */
export interface Fault {
  pointer: string;
  detail: string;
  type?: string;
}

export interface AgUiEvent {
  type: string;
  [name: string]: any;
}

/** `seq` comes with the last event of each entry of the log: whoever has it misses nothing before it. */
export type OnEvent = (event: AgUiEvent, seq: number | undefined) => void;

/** Ends a wait before its time. */
export type Wake = (value?: unknown) => void;

export interface Patience {
  signal?: AbortSignal;
  /** The connection is lost; it is tried again after a while, or at once by `retry`. */
  onCut?: (retry: Wake) => void;
}

/**
 * The element `yc-KIND`, as its card knows it. Its controls are ordinary form controls, and what stands in an
 * element with `data-pointer` is marked when an error has that JSON pointer. A `yc-answer` event, whose detail is
 * the answer, sends at once; otherwise the card's button sends `answer`. A kind that has its own way to send has an
 * element with `data-actions`: the card puts Skip there, and shows no button of its own; if it is "all", not even Skip.
 */
export interface KindMembers {
  /** Set once, before the element is shown; with an ending it draws what was. */
  interrupt: Interrupt;
  /** The answer as it stands. */
  readonly answer: any;
  /** The route of the interrupt that takes the answer, where it is another than `answer`. */
  readonly way?: string;
  /** The answer never comes from this card, but from a page outside. */
  readonly outside?: boolean;
  /** What the user has to mend first. */
  readonly faults?: Fault[];
  /** What the user wrote beside the answer: a skip takes it along. */
  readonly note?: string | undefined;
}

export type Kind = HTMLElement & KindMembers;
