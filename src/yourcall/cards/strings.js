/**
 * Every word that the page itself says. To say them in another language, have a module that is imported before
 * `chat-define.js` (or `define.js`) replace them:
 *
 *     import { strings } from "./cards/strings.js";
 *     Object.assign(strings, { skip: "Überspringen", other: "Etwas anderes" });
 *
 * Only what is shown changes: the labels that an answer carries are always those of the question.
 */
export const strings = {
  // cards
  asks: "The assistant asks",
  elsewhere: "Somebody else was asked",
  answered: "Answered",
  closed: "Closed",
  answeredElsewhere: "Answered in another tab, or by somebody else.",
  open: "Open",
  away: "Waiting for you to come back from the other page.",
  send: "Send",
  skip: "Skip",
  skipQuestion: "Skip this question",
  skippedQuestion: "Skipped",
  other: "Other",
  otherHint: "Something else",
  note: "Add a note",
  noteLabel: "Note",
  yours: "Your answer",
  search: "Search",
  choose: "Choose an option.",
  decide: "Choose Yes or No.",
  reason: "Add a reason",
  approved: "This was approved.",
  edited: "Changed",
  chosen: "chosen",
  recommended: "Recommended",
  yes: "Yes",
  no: "No",
  none: "—",
  expires: "Open until",
  connect: "Connect",
  missing: "Choose an option, write your own, or skip this question.",
  missingOne: "Write your answer first, or choose an option.",
  optional: "optional",
  required: "Please fill this in.",
  fewest: "Choose more of them.",
  most: "Choose fewer of them.",
  tooLarge: "This file is too large.",
  atMost: "At most",
  sending: "Sending",
  attach: "Add files",
  files: "Files",
  added: "added",
  remove: "Remove",
  mostFiles: "Not more files at once than",
  notJson: "This is not valid JSON.",
  askedBy: "Asked by",
  sealing: "It is kept sealed: the assistant never sees it.",
  sealed: "Kept sealed. The assistant never saw it.",
  check: "Please check the marked answers.",
  unreachable: "The server could not be reached. Nothing is lost: try again.",
  /** @type {Record<string, string>} */
  endings: {
    skipped: "This was skipped.",
    declined: "This was declined.",
    expired: "This expired before it was answered.",
    superseded: "A message was written instead.",
    cancelled: "Stopped before it was answered.",
    unavailable: "This could not be asked.",
    changed: "A newer question took its place.",
  },

  // inbox
  nothing: "Nothing is waiting for you.",

  // chat
  conversation: "Conversation",
  greeting: "What is on your mind?",
  you: "You",
  assistant: "Assistant",
  message: "Message",
  placeholder: "Write a message",
  instead: "Or write a message instead",
  newChat: "New chat",
  chats: "Chats",
  noChats: "No chats yet.",
  waits: "Waits for your answer",
  stop: "Stop",
  stopped: "Stopped.",
  retry: "Try again",
  failed: "Something went wrong.",
  working: "Working",
  signIn: "You are signed out. Sign in, then come back here.",
  reconnecting: "Connection lost. Reconnecting…",
};
