"""The conversation's log, and the pure functions that read it: no I/O, no clock, no async.

The log is the only checkpoint. A pause is an `Asked` without an ending, on a call without a `Result`; `phase`
says what must happen next, and starting, resuming after an answer and recovering from a crash are the same
question asked of the same log. `admit` holds every condition under which an entry may be appended.

A `Log` may be a tail: it reaches back at least to what the last step's request had `seen`, which is all that
`phase` and `admit` look at. Only `transcript` needs the whole.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, TypeAlias

from yourcall import errors
from yourcall.entries import (
    Answered,
    Asked,
    Assistant,
    Began,
    Body,
    Call,
    Closed,
    Effect,
    Entry,
    File,
    Interrupt,
    Json,
    Result,
    Run,
    Status,
    Stopped,
    User,
)

MAX_BEGINNINGS: Final = 3
"""A call that began this often without a sign of progress is not begun again: it may be what kills the process."""

LIMIT_SLACK: Final = 1.0
"""Seconds that a question with a time limit may take to be appended before its limit is counted anew; at each
further attempt twice as many, or a slow store would never take it."""

INTERRUPTED: Final = "This call was interrupted. It may or may not have happened."
HELD: Final = "Not run: the user was asked something first, in the same step. Call it again if it is still wanted."


# --------------------------------------------------------------------------- the log


@dataclass(frozen=True)
class Log:
    """Entries in order, ending at the head. Immutable: `plus` returns a longer one."""

    entries: tuple[Entry, ...] = ()

    @property
    def head(self) -> int:
        return self.entries[-1].seq if self.entries else 0

    @property
    def complete(self) -> bool:
        return not self.entries or self.entries[0].seq == 1

    def plus(self, bodies: Iterable[Body], at: float) -> Log:
        new = tuple(Entry(self.head + n, at, body) for n, body in enumerate(bodies, 1))
        return Log(self.entries + new)

    def after(self, seq: int) -> tuple[Entry, ...]:
        """The entries newer than `seq`."""
        count = min(len(self.entries), max(0, self.head - seq))
        return self.entries[len(self.entries) - count :]

    @cached_property
    def step(self) -> Step | None:
        """The last step of the model with all that has happened to its calls since."""
        for back, entry in enumerate(reversed(self.entries), 1):
            if isinstance(entry.body, Assistant):
                return Step.read(entry.body, entry.seq, self.entries[len(self.entries) - back + 1 :])
        return None

    @cached_property
    def runner(self) -> str | None:
        """Who holds the right to append a run's entries."""
        for entry in reversed(self.entries):
            match entry.body:
                case Run(runner) | Assistant(run=runner):
                    return runner
        return None

    @cached_property
    def stopped(self) -> Stopped | None:
        """The stop that is in force: nothing runs until a message, an answer or a new run."""
        for entry in reversed(self.entries):
            match entry.body:
                case Stopped() as stopped:
                    return stopped
                case User() | Run() | Answered() | Assistant():
                    return None
        return None

    @property
    def seen(self) -> int:
        """The head that the last step's request was built from; 0 before the first step."""
        return self.step.assistant.seen if self.step else 0

    @cached_property
    def unseen(self) -> bool:
        """Whether the user wrote something that no request has carried yet."""
        return any(isinstance(entry.body, User) for entry in self.after(self.seen))

    def open(self, interrupt_id: str) -> Interrupt | None:
        """The interrupt, if it is open."""
        return next((i for i in self.interrupts if i.id == interrupt_id), None)

    @property
    def interrupts(self) -> tuple[Interrupt, ...]:
        """All open interrupts, in the order of their calls."""
        return tuple(c.open for c in self.step.calls.values() if c.open) if self.step else ()

    def call(self, call_id: str) -> CallLog | None:
        return self.step.calls.get(call_id) if self.step else None


@dataclass(slots=True)
class CallLog:
    """What the log says about one call of the last step."""

    call: Call
    step: str = ""
    """Identifies its step: in a conversation that is deleted and begun anew, a call of the same id is another."""
    asks: list[Interrupt] = field(default_factory=list)
    endings: dict[str, Answered | Closed] = field(default_factory=dict)
    effects: dict[str, Effect] = field(default_factory=dict)
    result: Result | None = None
    beginnings: int = 0
    begun_by: str | None = None

    @property
    def open(self) -> Interrupt | None:
        last = self.asks[-1] if self.asks else None
        return last if last and last.id not in self.endings else None

    def progressed(self) -> None:
        self.beginnings, self.begun_by = 0, None


@dataclass(slots=True)
class Step:
    """One finished step of the model and what became of its calls."""

    assistant: Assistant
    seq: int
    calls: dict[str, CallLog]

    @classmethod
    def read(cls, assistant: Assistant, seq: int, entries: Sequence[Entry]) -> Step:
        step = cls(assistant, seq, {call.id: CallLog(call, assistant.message_id) for call in assistant.calls})
        runner = assistant.run
        for entry in entries:
            if isinstance(entry.body, Run):
                runner = entry.body.runner
            elif not entry.scope:
                step._take(entry.body, runner)
        return step

    def _take(self, body: Body, runner: str) -> None:
        match body:
            case Began(calls):
                for begun in (self.calls[call_id] for call_id in calls if call_id in self.calls):
                    begun.beginnings, begun.begun_by = begun.beginnings + 1, runner
            case Asked(interrupt) if one := self.calls.get(interrupt.call_id):
                one.asks.append(interrupt)
                one.progressed()
            case (Answered(call=call_id) | Closed(call=call_id)) as ending if one := self.calls.get(call_id):
                one.endings[ending.interrupt] = ending
                one.progressed()
            case Effect(call=call_id) as effect if one := self.calls.get(call_id):
                one.effects[effect.name] = effect
                one.beginnings = 0
            case Result(call=call_id) as result if one := self.calls.get(call_id):
                one.result = result

    @property
    def ready(self) -> tuple[CallLog, ...]:
        """The calls whose bodies may run now. Held calls wait for all others, then go one by one, in call order."""
        unfinished = [one for one in self.calls.values() if one.result is None]
        free = [one for one in unfinished if not one.call.hold]
        if free:
            return tuple(one for one in free if not one.open)
        return tuple(one for one in unfinished[:1] if not one.open)

    def asked_before(self, held: CallLog) -> bool:
        """Whether another call of the batch, or an earlier held one, asked the user."""
        for one in self.calls.values():
            if one is held:
                continue
            if one.asks and (not one.call.hold or self._order(one) < self._order(held)):
                return True
        return False

    def _order(self, one: CallLog) -> int:
        return list(self.calls).index(one.call.id)


# --------------------------------------------------------------------------- what happens next


@dataclass(frozen=True, slots=True)
class CallModel:
    """Every result is there, or the user wrote: the model is next."""


@dataclass(frozen=True, slots=True)
class RunTools:
    """These calls' bodies may run; some of them may be running."""

    calls: tuple[CallLog, ...]


@dataclass(frozen=True, slots=True)
class Waiting:
    """Nothing can go on before the user answers one of these."""

    interrupts: tuple[Interrupt, ...]


@dataclass(frozen=True, slots=True)
class Done:
    """The run is over: `reason` is "success", or the slug of what stopped it."""

    reason: str = "success"
    retryable: bool = False
    message: str = ""


Phase: TypeAlias = CallModel | RunTools | Waiting | Done


def phase(log: Log) -> Phase:
    """What must happen next, from the last step alone."""
    if stopped := log.stopped:
        return Done(stopped.reason, stopped.retryable, stopped.message)
    step = log.step
    if step is None:
        return CallModel() if log.unseen else Done()
    if ready := step.ready:
        return RunTools(ready)
    if interrupts := log.interrupts:
        return Waiting(interrupts)
    if step.calls or log.unseen:
        return CallModel()
    return Done()


def runnable(log: Log) -> bool:
    """Whether a runner has something to do."""
    return isinstance(phase(log), CallModel | RunTools)


def openings(log: Log, runner: str, in_flight: Iterable[str] = ()) -> list[Body]:
    """What must be written before the ready calls' bodies start: their `Began`, or the result of one not run."""
    now = phase(log)
    if not isinstance(now, RunTools) or log.step is None:
        return []
    fresh = [c for c in now.calls if c.call.id not in in_flight and c.begun_by != runner]
    verdicts = [(one, _verdict(log.step, one)) for one in fresh]
    began = tuple(one.call.id for one, verdict in verdicts if verdict is None)
    results: list[Body] = [verdict for _, verdict in verdicts if verdict]
    return [Began(began), *results] if began else results


def _verdict(step: Step, one: CallLog) -> Result | None:
    """The result of a call that must not run, or None where it may."""
    call = one.call
    if call.error is not None:
        return Result(call.id, {"ok": False, "error": call.error}, "failed")
    if call.hold and not one.asks and step.asked_before(one):
        return Result(call.id, {"ok": False, "error": HELD}, "held")
    cut_off = one.begun_by is not None and not call.rerun
    if cut_off or one.beginnings >= MAX_BEGINNINGS:
        return Result(call.id, {"ok": False, "error": INTERRUPTED}, "interrupted")
    return None


# --------------------------------------------------------------------------- what may be written


def admit(log: Log, body: Body, now: float, runner: str | None) -> errors.Refused | errors.Stale | None:
    """Why this entry may not be appended to this log now; None if it may.

    `runner` is the run on whose behalf it is written, None for the user's side and the sweep.
    """
    if runner is not None and (log.runner != runner or log.stopped):
        return errors.Stale()
    match body:
        case Answered(interrupt=interrupt_id):
            interrupt = log.open(interrupt_id)
            if interrupt is None:
                return _closed(log, body)
            if interrupt.expires_at is not None and now >= interrupt.expires_at:
                return errors.Closed("expired")
        case Closed(interrupt=interrupt_id, ending=ending):
            interrupt = log.open(interrupt_id)
            if interrupt is None:
                return _closed(log, body)
            due = interrupt.expires_at is not None and now >= interrupt.expires_at
            if (ending == "expired") != due and ending in ("expired", "skipped", "declined"):
                return errors.Closed("expired") if due else errors.Refused("This question has not expired.")
        case Asked(interrupt) if not _unfinished(log, interrupt.call_id):
            return errors.Closed("superseded")
        case Effect(call=call_id) if not _follows(log.call(call_id), body):
            return errors.Closed("superseded")
        case Result(call=call_id) if not _unfinished(log, call_id):
            return errors.Closed("superseded")
        case Began(calls) if not all(_unfinished(log, call_id) for call_id in calls):
            return errors.Closed("superseded")
        case Assistant() if not isinstance(phase(log), CallModel):
            return errors.Stale()
    return None


def holds_until(log: Log, bodies: Iterable[Body], now: float, attempt: int) -> float:
    """The moment from which on it would be decided otherwise: an answer comes too late, a time limit began later."""
    moments = [math.inf]
    for body in bodies:
        match body:
            case Answered(interrupt=interrupt_id) | Closed(interrupt=interrupt_id, ending="skipped" | "declined"):
                interrupt = log.open(interrupt_id)
                if interrupt and interrupt.expires_at is not None:
                    moments.append(interrupt.expires_at)
            case Asked(Interrupt(expires_at=float())):
                moments.append(now + LIMIT_SLACK * 2**attempt)
    return min(moments)


def _unfinished(log: Log, call_id: str) -> bool:
    one = log.call(call_id)
    return one is not None and one.result is None and one.open is None


def _follows(one: CallLog | None, effect: Effect) -> bool:
    """An effect begins once, and ends once after that; a call with a result has no more of them."""
    if one is None or one.result:
        return False
    before = one.effects.get(effect.name)
    return before is None if effect.state == "begun" else before is not None and before.state == "begun"


def _closed(log: Log, body: Answered | Closed) -> errors.Refused:
    one = log.call(body.call)
    ending = one.endings.get(body.interrupt) if one else None
    return refusal(ending) if ending else errors.NotFound()


def refusal(ending: Answered | Closed) -> errors.Refused:
    """What whoever comes too late with another ending is told."""
    match ending:
        case Answered():
            return errors.AlreadyAnswered()
        case Closed(ending="changed"):
            return errors.Changed()
        case Closed(ending=how):
            return errors.Closed(how)


# --------------------------------------------------------------------------- what the model reads


@dataclass(frozen=True, slots=True)
class UserMessage:
    text: str
    files: tuple[File, ...] = ()


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    text: str
    calls: tuple[Call, ...] = ()
    blob: Json = None


@dataclass(frozen=True, slots=True)
class ToolMessage:
    call_id: str
    tool: str
    text: str
    status: Status = "ok"


Message: TypeAlias = UserMessage | AssistantMessage | ToolMessage
Transcript: TypeAlias = tuple[Message, ...]


def transcript(log: Log) -> Transcript:
    """The provider-shaped view of a complete log.

    A call of the last step that has no result yet has no message of its own; a model is asked only when `phase` is
    `CallModel`, and then there is none.
    """
    tools: dict[str, str] = {}
    messages: list[Message] = []
    for entry in as_read(log):
        match entry.body:
            case User(text, files=files):
                messages.append(UserMessage(text, files))
            case Assistant(text=text, calls=calls, blob=blob):
                tools.update((call.id, call.tool) for call in calls)
                messages.append(AssistantMessage(text, calls, blob))
            case Result(call=call_id, status=status) as result:
                messages.append(ToolMessage(call_id, tools[call_id], result.text, status))
    return tuple(messages)


def as_read(log: Log) -> Iterator[Entry]:
    """What was said, in the order in which the model reads it: each step is followed by its results, in call order.

    A message that the user wrote while a step was under way comes after that step's results: the order of the log
    and this one differ.
    """
    own = [entry for entry in log.entries if not entry.scope]
    results = {entry.body.call: entry for entry in own if isinstance(entry.body, Result)}
    users = deque(entry for entry in own if isinstance(entry.body, User))
    for entry in own:
        if not isinstance(entry.body, Assistant):
            continue
        while users and users[0].seq <= entry.body.seen:
            yield users.popleft()
        yield entry
        yield from (results[call.id] for call in entry.body.calls if call.id in results)
    yield from users
