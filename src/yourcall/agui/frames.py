"""The frames of one listener's stream."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from ag_ui import core

from yourcall import entries
from yourcall.agui.wire import Known, ending, file, messages, result_id, status_of, user_id
from yourcall.entries import Answered, Asked, Assistant, Closed, Entry, Json, Result, User
from yourcall.events import Delta, Ended, Event, Retracted
from yourcall.log import Done, Log, Waiting

Errors: TypeAlias = Mapping[str, Sequence[Json]]
"""By interrupt: what was wrong with the answers that this request brought."""

_quote = json.encoder.encode_basestring
"""JSON's form of a string. A delta's frame is a template around it: 0.2 us, where a model takes 6."""


def _frame(event: core.BaseEvent, seq: int | None = None) -> bytes:
    """One server-sent event. Lines end with LF: AG-UI's own client does not read CRLF."""
    mark = "" if seq is None else f"id: {seq}\n"
    return f"{mark}data: {event.model_dump_json(by_alias=True)}\n\n".encode()


def _frames(events: Sequence[core.BaseEvent], seq: int) -> bytes:
    """The frames of one entry; its `id` is on the last, so that a cut between them repeats them all."""
    last = len(events) - 1
    return b"".join(_frame(event, seq if i == last else None) for i, event in enumerate(events))


def _start(message_id: str) -> bytes:
    return f'data: {{"type":"TEXT_MESSAGE_START","messageId":{_quote(message_id)},"role":"assistant"}}\n\n'.encode()


def _content(message_id: str, text: str) -> bytes:
    # a provider may cut a surrogate pair in two; the recorded text, which follows, has it whole
    return (
        f'data: {{"type":"TEXT_MESSAGE_CONTENT","messageId":{_quote(message_id)},"delta":{_quote(text)}}}\n\n'
    ).encode("utf-8", "replace")


def _end(message_id: str, seq: int | None = None) -> bytes:
    return _frame(core.TextMessageEndEvent(message_id=message_id), seq)


def _custom(name: str, value: Json, seq: int | None = None) -> bytes:
    return _frame(core.CustomEvent(name=f"yourcall.{name}", value=value), seq)


class Frames:
    """Encoded entries of late, shared by all listeners: an entry is encoded once, however many there are.

    An entry is the same object for every listener that hears of it live; the key is its identity, and holding it
    keeps that identity from being given away. Deltas are not kept: looking one up costs what encoding it does.
    """

    def __init__(self, limit: int = 1 << 20) -> None:
        self._limit, self._size = limit, 0
        self._kept: dict[int, tuple[Entry, bytes]] = {}

    def of(self, entry: Entry, encode: Callable[[], bytes]) -> bytes:
        if kept := self._kept.get(id(entry)):
            return kept[1]
        frames = encode()
        self._kept[id(entry)] = entry, frames
        self._size += len(frames)
        while self._size > self._limit:
            oldest = next(iter(self._kept))
            self._size -= len(self._kept.pop(oldest)[1])
        return frames


class Encoder:
    """One listener's stream: what it has been shown, and so what an event means for it.

    `log` is the conversation as the listener finds it, of which it has the entries up to `after`: by default, all.
    `errors` go with the questions that stay open because this request's answer to them was wrong.
    """

    def __init__(
        self,
        thread: str,
        run: str,
        log: Log,
        *,
        after: int | None = None,
        frames: Frames | None = None,
        errors: Errors | None = None,
    ) -> None:
        self._thread, self._run = thread, run
        self._known, self._head = Known(log), log.head
        self._frames = frames or Frames()
        self._errors = errors or {}
        self._shown: dict[str, int] = {}
        self.seq = log.head if after is None else after
        """The last entry that the listener has been shown."""
        self.ended = False
        """The terminal event is out."""

    def start(self, snapshot: Log | None = None, warnings: Iterable[Json] = ()) -> bytes:
        """The stream's first frames. A `snapshot` replaces what the client believes of the conversation."""
        opening = core.RunStartedEvent(thread_id=self._thread, run_id=self._run, protocol_version=core.PROTOCOL_VERSION)
        shown = b"" if snapshot is None else self.snapshot(snapshot)
        return _frame(opening) + shown + b"".join(_custom("warning", warning) for warning in warnings)

    def snapshot(self, log: Log) -> bytes:
        """The messages that this listener has been shown by now, as they are recorded."""
        shown = Log(tuple(entry for entry in log.entries if entry.seq <= self.seq))
        return _frame(core.MessagesSnapshotEvent(messages=messages(shown)), self.seq or None)

    def encode(self, event: Event) -> bytes:
        """The frames of an event for this listener; none where it is not for its eyes, or was shown before."""
        if self.ended:
            return b""
        match event:
            case Delta():
                return self._delta(event)
            case Retracted(message_id):
                return self._retract(message_id)
            case Ended(phase):
                return self._end(phase)
            case Entry() if event.seq > self.seq:
                self.seq = event.seq
                self._known.take(event)
                return self._entry(event)
        return b""

    def fail(self, message: str, code: str) -> bytes:
        """The stream itself cannot go on; the conversation may."""
        if self.ended:
            return b""
        self.ended = True
        return _frame(core.RunErrorEvent(message=message, code=code))

    # ----------------------------------------------------------------- text

    def _delta(self, delta: Delta) -> bytes:
        shown = self._shown.get(delta.message_id)
        if not delta.text or delta.offset != (shown or 0):
            return b""  # a part was missed: the whole text comes with its entry
        self._shown[delta.message_id] = delta.offset + len(delta.text)
        opening = _start(delta.message_id) if shown is None else b""
        return opening + _content(delta.message_id, delta.text)

    def _retract(self, message_id: str) -> bytes:
        if self._shown.pop(message_id, None) is None:
            return b""
        return _end(message_id) + _custom("retracted", {"messageId": message_id})

    def _said(self, step: Assistant, seq: int | None) -> bytes:
        """What is left to show of a step's text, now that it is recorded."""
        shown = self._shown.pop(step.message_id, None)
        rest = step.text[shown or 0 :]
        if shown is None and not rest:
            return b""
        opening = _start(step.message_id) if shown is None else b""
        content = _content(step.message_id, rest) if rest else b""
        return opening + content + _end(step.message_id, seq)

    # ----------------------------------------------------------------- entries

    def _entry(self, entry: Entry) -> bytes:
        match entry:
            case Entry(body=Assistant() as step, scope=()):
                return self._said(step, None if step.calls else entry.seq) + self._once(entry)
            case Entry(scope=()) | Entry(body=Asked() | Answered() | Closed()):
                return self._once(entry)  # of what happens inside a call, only its questions are shown
        return b""

    def _once(self, entry: Entry) -> bytes:
        if entry.seq <= self._head:  # a replay reads its own copies: nobody else will ask for them
            return self._shared(entry)
        return self._frames.of(entry, lambda: self._shared(entry))

    def _shared(self, entry: Entry) -> bytes:
        """The frames that are the same for every listener."""
        match entry.body:
            case Assistant(calls=calls) as step:
                return _frames([event for call in calls for event in _announced(call, step.message_id)], entry.seq)
            case User(text) as said:
                about: Json = {"id": user_id(said, entry.seq), "text": text}
                about |= {"files": [file(one) for one in said.files]} if said.files else {}
                return _custom("user", about, entry.seq)
            case Asked(ask):
                return _custom("interrupt", self._known.interrupt(ask).model_dump(by_alias=True), entry.seq)
            case Answered() | Closed() as body:
                how = ending(body, self._known.asks.get(body.interrupt))
                return _custom("closed", {"id": body.interrupt, "ending": how}, entry.seq)
            case Result() as result:
                return _frame(_landed(result), entry.seq)
        return b""

    # ----------------------------------------------------------------- the end

    def _close(self) -> bytes:
        """Whatever is still open was never recorded."""
        return b"".join(map(self._retract, tuple(self._shown)))

    def _end(self, phase: Waiting | Done) -> bytes:
        closing = self._close()
        self.ended = True
        return closing + _frame(self._terminal(phase))

    def _terminal(self, phase: Waiting | Done) -> core.BaseEvent:
        outcome: core.RunFinishedOutcome
        match phase:
            case Waiting(open_):
                asks = [self._known.interrupt(ask, errors=self._errors.get(ask.id, ())) for ask in open_]
                outcome = core.RunFinishedInterruptOutcome(interrupts=asks)
            case Done("success"):
                outcome = core.RunFinishedSuccessOutcome()
            case Done("cancelled"):
                outcome = core.RunFinishedCancelledOutcome()
            case Done(reason, retryable, message):
                return core.RunErrorEvent(
                    message=message or "The run stopped before it was done.",
                    code=reason,
                    usage=self._known.usage,
                    metadata={"yourcall": {"retryable": retryable}},
                )
        return core.RunFinishedEvent(thread_id=self._thread, run_id=self._run, outcome=outcome, usage=self._known.usage)


def _announced(call: entries.Call, parent: str) -> list[core.BaseEvent]:
    return [
        core.ToolCallStartEvent(tool_call_id=call.id, tool_call_name=call.tool, parent_message_id=parent),
        core.ToolCallArgsEvent(tool_call_id=call.id, delta=call.args),
        core.ToolCallEndEvent(tool_call_id=call.id),
    ]


def _landed(result: Result) -> core.BaseEvent:
    return core.ToolCallResultEvent(
        message_id=result_id(result.call),
        tool_call_id=result.call,
        content=result.text,
        role="tool",
        metadata=status_of(result),
    )
