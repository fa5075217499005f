"""The rules of pausing, written a second time: what a log may say, and what a user may be told.

It shares the vocabulary of the entries with the engine and nothing else. It is fed every write in the order in which
writes took effect, and raises `Broken` at the first that no rule allows. Nothing here does I/O or knows of tasks.

What a call's body must do next is in `calls.py`; who may write it, and when, is for `Conversation` to judge.
"""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from tests.model.calls import AsksNext, Broken, CallState, DoesNext, Next, Raises, Returns, follow
from tests.model.script import Policy, Scenario
from yourcall.entries import (
    Answered,
    Asked,
    Assistant,
    Began,
    Closed,
    Effect,
    Entry,
    Interrupt,
    Result,
    Run,
    Stopped,
    User,
)

BEGINNINGS = 3
"""So often a call may begin without getting any further; instead of a fourth time it is called interrupted."""


Phase: TypeAlias = Literal["model", "tools", "waiting", "done"]
Line: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True)
class Writer:
    """Who wrote: a process, what its users want of it at this moment, the true time, and the app's release."""

    host: str
    wants: frozenset[str]
    clock: float
    release: int = 0


@dataclass
class _Write:
    """What one write has to hold together."""

    bodies: list[Any]

    def has(self, test: Callable[[Any], bool]) -> bool:
        return any(test(body) for body in self.bodies)

    def closes(self, call_id: str, ending: str) -> bool:
        return self.has(lambda b: isinstance(b, Closed) and (b.call, b.ending) == (call_id, ending))

    def ends(self, call_id: str, status: str) -> bool:
        return self.has(lambda b: isinstance(b, Result) and (b.call, b.status) == (call_id, status))


class Conversation:
    """The state that a log has come to."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.entries: list[Entry] = []
        self.calls: dict[str, CallState] = {}
        self.steps: list[Assistant] = []
        self.users: list[Entry] = []
        self.interrupts: dict[str, Interrupt] = {}
        self.endings: dict[str, Answered | Closed] = {}
        self.stopped: Stopped | None = None
        self.before: Phase = "done"
        self.run: int = 0
        self.run_host: str | None = None
        self.requests: set[tuple[Line, ...]] = set()

    # what it says now

    @property
    def head(self) -> int:
        return len(self.entries)

    @property
    def policy(self) -> Policy:
        return self.scenario.on_message

    @property
    def open(self) -> list[Interrupt]:
        return [i for i in self.interrupts.values() if i.id not in self.endings]

    @property
    def batch(self) -> list[CallState]:
        """The calls of the last step, in order."""
        return [c for c in self.calls.values() if c.step == len(self.steps)]

    @property
    def pending(self) -> list[CallState]:
        return [c for c in self.batch if c.result is None]

    @property
    def unseen(self) -> bool:
        """Whether the user wrote something that the last step's request did not have."""
        seen = self.steps[-1].seen if self.steps else 0
        return any(user.seq > seen for user in self.users)

    @property
    def phase(self) -> Phase:
        if self.stopped is not None:
            return "done"
        if any(not c.open and not self.blocked(c) for c in self.pending):
            return "tools"
        if self.pending:
            return "waiting"
        return "model" if self.unseen or self.batch else "done"

    @property
    def stored_phase(self) -> str:
        return "run" if self.phase in ("model", "tools") else self.phase

    def blocked(self, call: CallState) -> bool:
        """A held call waits for every other call of its batch, and for the held ones before it."""
        if not call.planned.held:
            return False
        before = True
        for other in self.batch:
            before = before and other is not call
            if other is not call and other.result is None and (before or not other.planned.held):
                return True
        return False

    def asked_before(self, call: CallState) -> bool:
        """Whether another call of the batch, or an earlier held one, asked the user."""
        before = True
        for other in self.batch:
            before = before and other is not call
            if other is not call and other.asks and (before or not other.planned.held):
                return True
        return False

    @property
    def tired(self) -> frozenset[str]:
        """The raw asks that were skipped twice, or declined, since the steps that the user's last message led to.

        All of one name are the same ask. A message that the last step has not seen changes nothing yet.
        """
        seen = self.steps[-1].seen if self.steps else 0
        last = max((user.seq for user in self.users if user.seq <= seen), default=0)
        since = next((number for number, step in enumerate(self.steps, 1) if step.seen >= last), 0)
        skips = Counter(
            (self.interrupts[closed.interrupt].key, closed.ending)
            for closed in self.endings.values()
            if isinstance(closed, Closed) and closed.ending in ("skipped", "declined")
            if self.interrupts[closed.interrupt].kind == "interrupt" and self.calls[closed.call].step >= since
        )
        return frozenset(key for (key, _), count in skips.items() if count >= 2)

    def nexts(self, call: CallState, release: int) -> list[Next]:
        """What the body does next: it may know of the skips since it began, or not."""
        return [follow(call, release, tired, strict) for tired in {call.tired, self.tired} for strict in (False, True)]

    def transcript(self, head: int | None = None) -> tuple[Line, ...]:
        """What a request built at this head must say: each step, its results in call order, then newer messages."""
        entries = self.entries if head is None else self.entries[:head]
        results = {e.body.call: e.body for e in entries if isinstance(e.body, Result)}
        steps = [e.body for e in entries if isinstance(e.body, Assistant)]
        lines: list[Line] = []
        last = 0
        for step in [*steps, None]:
            upto = len(entries) if step is None else step.seen
            lines += [("user", e.body.text) for e in entries if isinstance(e.body, User) and last < e.seq <= upto]
            last = upto
            if step is not None:
                lines.append(("assistant", step.text, tuple((c.id, c.tool, c.args) for c in step.calls)))
                lines += [
                    ("tool", c.id, c.tool, results[c.id].status, spoken(results[c.id].content))
                    for c in step.calls
                    if c.id in results
                ]
        return tuple(lines)

    # what a user may be told

    def answer(
        self, interrupt_id: str, payload: Any, *, good: bool, changed: bool, clock: float, release: int
    ) -> set[str]:
        """Every outcome of an answer that is decided now."""
        interrupt = self.interrupts.get(interrupt_id)
        if interrupt is None:
            return {"not-found"}
        ending = self.endings.get(interrupt_id)
        if isinstance(ending, Answered):
            return {"ok"} if self.given(ending) == payload else {"alreadyanswered"}
        if ending is not None:
            return {"changed" if ending.ending == "changed" else f"closed:{ending.ending}"}
        over = _over(interrupt, clock)
        if changed or self.probe(interrupt_id, release) != "same":
            return {"changed", "closed:expired"} if over else {"changed"}
        refused = set() if good else {"rejected"}
        if over:
            return {"closed:expired"} | refused
        return refused or {"ok"}

    def close(self, interrupt_id: str, how: str, clock: float) -> set[str]:
        """Every outcome of a skip or a decline that is decided now. The same again is a retry, and is told the same."""
        interrupt = self.interrupts.get(interrupt_id)
        if interrupt is None:
            return {"not-found"}
        ending = self.endings.get(interrupt_id)
        if isinstance(ending, Answered):
            return {"alreadyanswered"}
        if ending is not None:
            if ending.ending == "changed":
                return {"changed"}
            return {"ok"} if ending.ending == how else {f"closed:{ending.ending}"}
        over = _over(interrupt, clock)
        return {"closed:expired"} if over else {"ok"}

    def message(self, client_id: str | None) -> set[str]:
        """Every outcome of a message that is decided now."""
        if client_id is not None and any(u.body.id == client_id for u in self.users if isinstance(u.body, User)):
            return {"ok"}
        return {"waiting"} if self.policy == "reject" and self.open else {"ok"}

    def given(self, ending: Answered) -> Any:
        """What the client sent for this answer: the asks of the scenarios take their values as they are."""
        return ending.value

    # what may be written

    def write(self, entries: Sequence[Entry], by: Writer) -> None:
        """Take one write in. Raises `Broken` if no rule allows it here."""
        whole = _Write([e.body for e in entries])
        self.before = self.phase
        for entry in entries:
            if entry.seq != self.head + 1:
                raise Broken("I7", f"entry {entry.seq} follows {self.head}")
            self._entry(entry, whole, by)
        self._together(whole)
        if self.phase == "model":
            self.requests.add(self.transcript())

    def _entry(self, entry: Entry, whole: _Write, by: Writer) -> None:
        match entry.body:
            case User() as user:
                self._user(user, by)
                self.users.append(entry)
                self.stopped = None
            case Run():
                self._run(by)
                self.run, self.run_host, self.stopped = entry.seq, by.host, None
                for call in self.calls.values():
                    call.running = False
            case Assistant() as assistant:
                self._assistant(assistant, by)
            case Began(calls=calls):
                for call_id in calls:
                    self._began(self._pending(call_id), by)
            case Asked(interrupt=interrupt):
                self._asked(interrupt, whole, by)
            case Answered() as answered:
                self._answered(answered, by)
            case Closed() as closed:
                self._closed(closed, whole, by)
            case Effect() as effect:
                self._effect(effect, by)
            case Result() as result:
                self._result(result, whole, by)
            case Stopped() as stopped:
                self._stopped(stopped, by)
        self.entries.append(entry)

    def _pending(self, call_id: str) -> CallState:
        call = self.calls.get(call_id)
        if call is None or call.step != len(self.steps):
            raise Broken("I1", f"{call_id} is no call of the last step")
        if call.result is not None:
            raise Broken("I1", f"{call_id} has its result already")
        return call

    def _runner(self, by: Writer, what: str) -> None:
        if by.host != self.run_host:
            raise Broken("I8", f"{what} written by {by.host} while {self.run_host} runs")
        if self.stopped is not None:
            raise Broken("stopping", f"{what} written after the run was stopped ({self.stopped.reason})")

    def _running(self, call: CallState, by: Writer, what: str) -> None:
        self._runner(by, f"{what} of {call.call.id}")
        if not call.running:
            raise Broken("began", f"{what} of {call.call.id}, which this run has not begun")

    def _user(self, user: User, by: Writer) -> None:
        if "post" not in by.wants:
            raise Broken("messages", f"nobody wrote {user.text!r}")
        if self.policy == "reject" and self.open:
            raise Broken("messages", f"{user.text!r} was recorded while a question is open")
        if user.id is not None and any(u.body.id == user.id for u in self.users if isinstance(u.body, User)):
            raise Broken("messages", f"{user.id} was recorded twice")

    def _run(self, by: Writer) -> None:
        if self.stopped is not None and "resume" in by.wants:
            return
        if self.phase in ("waiting", "done"):
            raise Broken("who runs", f"{by.host} took the lease of a conversation that is {self.phase}")

    def _assistant(self, step: Assistant, by: Writer) -> None:
        self._runner(by, "a step")
        if self.phase != "model":
            raise Broken("I3/I4", f"a step was recorded in phase {self.phase}")
        if step.seen > self.head:
            raise Broken("messages", "a step has seen entries that are not there")
        if any(call.id in self.calls for call in step.calls):
            raise Broken("identity", "a call id was recorded twice")
        if len({call.id for call in step.calls}) != len(step.calls):
            raise Broken("identity", "two calls of a step share their id")
        self._as_planned(step)
        self.steps.append(step)
        for place, call in enumerate(step.calls):
            planned = self.scenario.steps[len(self.steps) - 1][place]
            if (call.hold, call.rerun) != (planned.held, planned.rerun) and not planned.refused:
                raise Broken("batches", f"{call.id} is not frozen as what its tool was")
            self.calls[call.id] = CallState(call, planned, (len(self.steps) - 1) * 10 + place, len(self.steps))

    def _as_planned(self, step: Assistant) -> None:
        number = len(self.steps)
        planned = self.scenario.steps[number] if number < len(self.scenario.steps) else ()
        if len(planned) != len(step.calls):
            raise Broken("I3", f"step {number} is not what the model said")
        for call, said in zip(step.calls, planned, strict=True):
            if not call.id.startswith(said.id):
                raise Broken("identity", f"the model called it {said.id}, the log {call.id}")
        before = set(self.calls)
        for call, said in zip(step.calls, planned, strict=True):
            if said.id not in before and call.id != said.id:
                raise Broken("identity", f"{said.id} was not used before, yet it was renamed to {call.id}")
            before.add(said.id)

    def _began(self, call: CallState, by: Writer) -> None:
        self._runner(by, f"the beginning of {call.call.id}")
        if call.open or call.running:
            raise Broken("began", f"{call.call.id} began while it waits or runs")
        if call.planned.sort == "unknown":
            raise Broken("batches", f"{call.call.id} has no tool, and began")
        if self.blocked(call) or (call.planned.held and self.asked_before(call)):
            raise Broken("hold", f"{call.call.id} began though it is held")
        if call.begun_in is not None and call.begun_in != self.run and not call.planned.rerun:
            raise Broken("what re-runs", f"{call.call.id} may have happened, and began again")
        if call.beginnings >= BEGINNINGS:
            raise Broken("what re-runs", f"{call.call.id} began {call.beginnings + 1} times without getting further")
        call.begun_in, call.running, call.tired = self.run, True, self.tired
        call.beginnings += 1

    def _asked(self, interrupt: Interrupt, whole: _Write, by: Writer) -> None:
        call = self._pending(interrupt.call_id)
        if not whole.closes(call.call.id, "changed"):
            self._running(call, by, "an ask")
        nexts = self.nexts(call, by.release)
        expected = next((e for e in nexts if isinstance(e, AsksNext)), None)
        if expected is None:
            raise Broken("I12", f"{call.call.id} asked, but should {nexts}")
        self._identity(interrupt, expected, call)
        if expected.expires_in is None:
            if interrupt.expires_at is not None:
                raise Broken("expiry", "an ask without a time limit got one")
        elif interrupt.expires_at != by.clock + expected.expires_in:
            raise Broken(
                "expiry", f"{interrupt.expires_at} is not {expected.expires_in} s after the append at {by.clock}"
            )
        call.asks.append(interrupt)
        call.wording[interrupt.id] = by.release
        call.running = False
        call.moved()
        self.interrupts[interrupt.id] = interrupt

    def _identity(self, interrupt: Interrupt, expected: AsksNext, call: CallState) -> None:
        if interrupt.kind != expected.kind:
            raise Broken("identity", f"{call.call.id} asked a {interrupt.kind}, not a {expected.kind}")
        if expected.key is not None and interrupt.key != expected.key:
            raise Broken("identity", f"the key is {interrupt.key}, not {expected.key}")
        generation = call.changed[interrupt.key, interrupt.occurrence]
        if interrupt.occurrence != expected.occurrence or interrupt.generation != generation:
            raise Broken("identity", f"{interrupt.key} is asked as {interrupt.occurrence}/{interrupt.generation}")
        if interrupt.id in self.interrupts or any(identity(i) == identity(interrupt) for i in self.interrupts.values()):
            raise Broken("identity", f"{identity(interrupt)} was asked before")

    def _end(self, interrupt_id: str, call_id: str, ending: Answered | Closed) -> CallState:
        interrupt = self.interrupts.get(interrupt_id)
        if interrupt is None or interrupt.call_id != call_id:
            raise Broken("identity", f"an ending of {interrupt_id}, which was never asked there")
        if interrupt_id in self.endings:
            raise Broken("I2/I11", f"{interrupt_id} was closed before")
        call = self._pending(call_id)
        self.endings[interrupt_id] = call.endings[interrupt_id] = ending
        call.moved()
        return call

    def _answered(self, answered: Answered, by: Writer) -> None:
        if "answer" not in by.wants:
            raise Broken("answering", f"nobody answered {answered.interrupt}")
        self._end(answered.interrupt, answered.call, answered)
        interrupt = self.interrupts[answered.interrupt]
        if _over(interrupt, by.clock):
            raise Broken("I10", f"{answered.interrupt} was answered at {by.clock}, after {interrupt.expires_at}")
        if interrupt.kind == "digit" and answered.value not in range(10):
            raise Broken("answering", "a wrong answer was taken")
        self.stopped = None

    def _closed(self, closed: Closed, whole: _Write, by: Writer) -> None:
        probe = self.probe(closed.interrupt, by.release) if closed.interrupt in self.interrupts else "same"
        call = self._end(closed.interrupt, closed.call, closed)
        interrupt = self.interrupts[closed.interrupt]
        match closed.ending:
            case "skipped" | "declined":
                if closed.ending not in by.wants:
                    raise Broken("endings", f"nobody wanted {interrupt.id} to be {closed.ending}")
                if _over(interrupt, by.clock):
                    raise Broken("I10", f"{interrupt.id} was {closed.ending} after its time")
                self.stopped = None
            case "expired":
                if not _over(interrupt, by.clock):
                    raise Broken("I10", f"{interrupt.id} expired at {by.clock}, before {interrupt.expires_at}")
            case "superseded" | "cancelled":
                self._closed_outside(closed, whole)
            case "changed" if "answer" in by.wants and probe != "same":
                self._changed(interrupt, call, whole, anew=probe == "other")
            case _:
                raise Broken("endings", f"{interrupt.id} was closed as {closed.ending}")

    def _closed_outside(self, closed: Closed, whole: _Write) -> None:
        """A question closed by a message or a cancel: its call never runs again."""
        if closed.ending == "cancelled":
            if not whole.has(_cancel):
                raise Broken("endings", "cancelled without the run's stop in the same write")
        elif self.policy != "supersede":
            raise Broken("messages", f"superseded, but the policy is {self.policy}")
        elif not self.unseen and not whole.has(lambda b: isinstance(b, User)):
            raise Broken("messages", "superseded without a message")
        if not whole.ends(closed.call, closed.ending):
            raise Broken("endings", f"{closed.interrupt} was {closed.ending}; its call's result is not in that write")

    def _changed(self, interrupt: Interrupt, call: CallState, whole: _Write, *, anew: bool) -> None:
        """A question that this release words otherwise is asked anew; one that it does not ask ends its call."""
        if not anew:
            if not whole.ends(call.call.id, "failed"):
                raise Broken("answering", f"{interrupt.id} was closed, as it is asked no more; its call was not")
            return
        again = dataclasses.replace(interrupt, generation=interrupt.generation + 1)
        if not whole.has(lambda b: isinstance(b, Asked) and identity(b.interrupt) == identity(again)):
            raise Broken("identity", f"{interrupt.id} was closed as changed and not asked anew in that write")
        call.asks.remove(interrupt)
        call.changed[interrupt.key, interrupt.occurrence] += 1

    def probe(self, interrupt_id: str, release: int) -> Literal["same", "other", "none"]:
        """What this release's body asks where the open question was asked."""
        call = self.calls[self.interrupts[interrupt_id].call_id]
        expected = follow(call, release, strict=False)
        if not isinstance(expected, AsksNext):
            return "none"
        return "other" if expected.worded and call.wording[interrupt_id] != release else "same"

    def _effect(self, effect: Effect, by: Writer) -> None:
        call = self._pending(effect.call)
        self._running(call, by, f"effect {effect.name} ({effect.state})")
        expected = next((e for e in self.nexts(call, by.release) if isinstance(e, DoesNext)), None)
        if expected is None or expected.once.name != effect.name:
            raise Broken("I12", f"{effect.call} does {effect.name}, but should {self.nexts(call, by.release)}")
        before = call.effects.get(effect.name)
        earlier = before is not None and call.effect_runs[effect.name] != self.run
        match effect.state:
            case "begun":
                allowed = before is None or (earlier and expected.once.repeatable)
            case "unknown":
                allowed = earlier and not expected.once.repeatable
            case _:
                mine = not earlier or expected.once.repeatable
                allowed = before is not None and mine and expected.once.fails == (effect.state == "failed")
        if not allowed:
            raise Broken("I9", f"{effect.name} of {effect.call} became {effect.state} after {before}")
        call.effects[effect.name], call.effect_runs[effect.name] = effect, self.run
        call.moved()

    def _result(self, result: Result, whole: _Write, by: Writer) -> None:
        call = self._pending(result.call)
        match result.status:
            case "superseded" | "cancelled" if _closing(whole):
                self._closing(result, call, whole)
            case "interrupted" if whole.has(_cancel):  # with a message it is the takeover that says so
                self._closing(result, call, whole)
            case "held":
                if by.host != self.run_host and not _closing(whole):
                    raise Broken("I8", f"{by.host} held {result.call} back")
                if not call.planned.held or call.begun_in is not None or not self.asked_before(call):
                    raise Broken("hold", f"{result.call} was held back, though nobody was asked before it")
            case "interrupted":
                self._runner(by, f"the result of {result.call}")
                lost = call.begun_in is not None and call.begun_in != self.run and not call.planned.rerun
                if call.running or call.open or not (lost or call.beginnings >= BEGINNINGS):
                    raise Broken("what re-runs", f"{result.call} was called interrupted")
            case "failed" if self._given_up(call, whole):
                pass
            case "failed" if call.planned.refused:
                self._runner(by, f"the result of {result.call}")
            case _:
                self._running(call, by, f"the result ({result.status})")
                self._predicted(result, self.nexts(call, by.release))
        call.result, call.running = result, False

    def _given_up(self, call: CallState, whole: _Write) -> bool:
        """Whether this write ends a call because its open question is not asked any more; the first time is free."""
        closed = whole.closes(call.call.id, "changed")
        if closed and call.answers < 2:
            raise Broken("answering", f"{call.call.id} was given up at the first answer that found no question")
        return closed

    def _predicted(self, result: Result, expected: list[Next]) -> None:
        for one in expected:
            match one:
                case Raises(status=status) if status == result.status:
                    return
                case Returns(text=text) if result.status == "ok" and result.content["told"] == text:
                    return
        rule = "pauses" if isinstance(expected[0], AsksNext) else "I12"
        raise Broken(rule, f"{result.call} got {result.status} {result.content!r}, but should {expected}")

    def _closing(self, result: Result, call: CallState, whole: _Write) -> None:
        """A result that comes from outside, with a message or a cancel."""
        waits = whole.closes(result.call, "cancelled")
        if not whole.has(_cancel):
            if result.status != "superseded" or not whole.closes(result.call, "superseded"):
                raise Broken("endings", f"{result.call} is called {result.status}; its question was not superseded")
            return
        if waits and result.status != "cancelled":
            raise Broken("endings", f"{result.call} waited, was cancelled and is called {result.status}")
        if call.begun_in is None and result.status != "cancelled":
            raise Broken("endings", f"{result.call} never began and is called {result.status}")
        if call.running and result.status != "interrupted":
            raise Broken("endings", f"{result.call} was running, was cancelled and is called {result.status}")

    def _stopped(self, stopped: Stopped, by: Writer) -> None:
        match stopped.reason:
            case "cancelled":
                if "cancel" not in by.wants:
                    raise Broken("stopping", "nobody cancelled")
                if self.before == "done":
                    raise Broken("stopping", "cancelled, though nothing ran or waited")
            case "step-limit":
                self._runner(by, "the step limit")
                since = max((u.seq for u in self.users), default=0)
                steps = sum(1 for e in self.entries if e.seq > since and isinstance(e.body, Assistant))
                if self.phase != "model" or steps < self.scenario.max_steps:
                    raise Broken("stopping", f"the step limit after {steps} steps, in phase {self.phase}")
            case "model-failed":
                self._runner(by, "the model's failure")
                if self.phase != "model":
                    raise Broken("stopping", f"the model failed in phase {self.phase}")
            case reason:
                raise Broken("stopping", f"the run stopped because of {reason}: {stopped.message}")
        self.stopped = stopped

    def _together(self, whole: _Write) -> None:
        """What has to stand in one write."""
        if whole.has(_cancel) and (self.pending or self.open):
            raise Broken("endings", "a cancel left calls without a result, or questions open")
        if self.policy == "supersede" and self.open and self.unseen:
            raise Broken("messages", f"{self.open[0].id} is open beside a message that the model has not seen")
        if whole.has(lambda b: isinstance(b, Assistant)):
            for call in self.pending:
                if not call.running and not call.planned.held and not call.planned.refused and not call.open:
                    raise Broken("what re-runs", f"{call.call.id} does not begin in the write of its step")


def _over(interrupt: Interrupt, clock: float) -> bool:
    return interrupt.expires_at is not None and clock >= interrupt.expires_at


def identity(interrupt: Interrupt) -> tuple[object, ...]:
    """What an interrupt's id is a function of, beside the conversation."""
    return interrupt.call_id, interrupt.key, interrupt.occurrence, interrupt.generation


def _cancel(body: object) -> bool:
    return isinstance(body, Stopped) and body.reason == "cancelled"


def _closing(whole: _Write) -> bool:
    """Whether this is one of the writes that end questions and calls from outside."""
    return whole.has(_cancel) or whole.has(lambda b: isinstance(b, Closed) and b.ending == "superseded")


def spoken(content: Any) -> str:
    """A result as the model reads it."""
    return content if isinstance(content, str) else json.dumps(content, separators=(",", ":"))


def well_formed(lines: Iterable[Line]) -> bool:
    """Whether every step is followed at once by one result for each of its calls, in their order, and no others."""
    owed: list[str] = []
    for line in lines:
        if line[0] == "tool":
            if not owed or owed.pop(0) != line[1]:
                return False
        elif owed:
            return False
        elif line[0] == "assistant":
            owed = [call[0] for call in line[2]]
    return not owed
