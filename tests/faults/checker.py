"""What must be true of a store once all is over, whatever was killed meanwhile. It reads the tables themselves.

Each rule is a function that names what breaks it; `test_checker.py` shows it each kind of breakage.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import psycopg

from tests.faults.agent import UNKNOWN
from yourcall.entries import (
    Answered,
    Asked,
    Assistant,
    Call,
    Closed,
    Effect,
    Entry,
    Interrupt,
    Json,
    Result,
    Run,
    Stopped,
    User,
    load,
)
from yourcall.log import Log, phase
from yourcall.record import row_phase
from yourcall.values import plain

Place: TypeAlias = tuple[str, str]
"""A conversation: its owner, and its id."""


@dataclass(frozen=True)
class Kept:
    """A conversation as it is stored. `index` has of each interrupt where it was asked, and where it ended."""

    place: Place
    head: int
    tail: int
    phase: str
    expires_at: float | None
    entries: tuple[Entry, ...]
    index: Mapping[str, tuple[int, int | None]] = field(default_factory=dict)

    def of(self, kind: type[Any]) -> Iterator[tuple[int, Any]]:
        return ((entry.seq, entry.body) for entry in self.entries if isinstance(entry.body, kind))

    @property
    def calls(self) -> dict[str, Call]:
        return {call.id: call for _, step in self.of(Assistant) for call in step.calls}


@dataclass
class Facts:
    """What clients were told, which so must be true: what was acknowledged, and what they were shown."""

    said: dict[tuple[Place, str], str] = field(default_factory=dict)
    """By conversation and message id: a text."""
    answered: dict[tuple[Place, str], int | None] = field(default_factory=dict)
    """By conversation and interrupt: the number, or None for a skip."""
    shown: dict[tuple[Place, str], str] = field(default_factory=dict)
    """By conversation and call: a result."""
    asked: set[tuple[Place, str]] = field(default_factory=set)
    """Interrupts that were shown."""
    broken: list[str] = field(default_factory=list)
    """What no server may ever say."""


# --------------------------------------------------------------------------- reading


_CONVERSATIONS = "SELECT key, owner, id, head, tail, phase, expires_at FROM conversation ORDER BY key"
_ENTRIES = "SELECT conversation, seq, at, kind, body FROM entry ORDER BY conversation, seq"
_INTERRUPTS = "SELECT conversation, id, asked, ended FROM interrupt"


def read(store: str) -> list[Kept]:
    """All conversations of a store, by its name, at one moment."""
    conversations, entries, interrupts = _rows(store, _CONVERSATIONS, _ENTRIES, _INTERRUPTS)
    logs: dict[int, list[Entry]] = {row[0]: [] for row in conversations}
    for key, *stored in entries:
        logs[key].append(load(*stored))
    index: dict[int, dict[str, tuple[int, int | None]]] = {row[0]: {} for row in conversations}
    for key, id, asked, ended in interrupts:
        index[key][id] = asked, ended
    return [
        Kept((owner, id), head, tail, phase, expires_at, tuple(logs[key]), index[key])
        for key, owner, id, head, tail, phase, expires_at in conversations
    ]


def running(store: str) -> set[str]:
    """The runs that have something to do, and have not given it up."""
    (rows,) = _rows(store, "SELECT runner FROM conversation WHERE phase = 'run' AND lease_until > 0")
    return {runner for (runner,) in rows}


def _rows(store: str, *queries: str) -> list[list[Any]]:
    if store.startswith("sqlite:///"):
        with closing(sqlite3.connect(store.removeprefix("sqlite:///"), isolation_level=None)) as file:
            file.execute("BEGIN")
            return [file.execute(query).fetchall() for query in queries]
    with psycopg.connect(store) as database:
        database.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        return [database.execute(query.encode()).fetchall() for query in queries]


# --------------------------------------------------------------------------- rules of one conversation


def one_result_a_call(kept: Kept) -> Iterator[str]:
    """I1: each call has one result, and the transcript is well-formed."""
    counts = Counter(result.call for _, result in kept.of(Result))
    steps = list(kept.of(Assistant))
    for n, (seq, step) in enumerate(steps):
        end = steps[n + 1][0] if n + 1 < len(steps) else kept.head + 1
        for call in step.calls:
            where = [at for at, result in kept.of(Result) if result.call == call.id]
            if len(where) != 1:
                yield f"call {call.id} has {len(where)} results"
            elif not seq < where[0] < end:
                yield f"the result of {call.id} is not within its step"
    for call_id in counts.keys() - kept.calls.keys():
        yield f"a result of {call_id}, which nobody called"
    called = Counter(call.id for _, step in steps for call in step.calls)
    yield from (f"two calls {call_id}" for call_id, count in called.items() if count > 1)


def one_ending_an_interrupt(kept: Kept) -> Iterator[str]:
    """I2, I11: an interrupt ends once, after it was asked; a call has one open at a time."""
    asked: dict[str, Interrupt] = {}
    ended: set[str] = set()
    for entry in kept.entries:
        match entry.body:
            case Asked(interrupt):
                others = {id for id, one in asked.items() if one.call_id == interrupt.call_id}
                if interrupt.id in asked or others - ended:
                    yield f"interrupt {interrupt.id} is asked beside another, or again"
                asked[interrupt.id] = interrupt
            case Answered(interrupt=id) | Closed(interrupt=id):
                if id not in asked or id in ended:
                    yield f"interrupt {id} is ended without being open"
                ended.add(id)


def one_continuation(kept: Kept) -> Iterator[str]:
    """I3: a step of the model has a reason of its own: a message, or a step whose calls are all done."""
    last, last_seq = None, 0
    for seq, step in kept.of(Assistant):
        new_message = any((last.seen if last else 0) < at <= step.seen for at, _ in kept.of(User))
        if not new_message and not (last and last.calls):
            yield f"the step at {seq} continues nothing"
        if step.seen < last_seq:
            yield f"the steps at {last_seq} and {seq} continue the same"
        last, last_seq = step, seq


def no_step_without_results(kept: Kept) -> Iterator[str]:
    """I4: the model is asked when every result is there, and reads it."""
    results = {result.call: seq for seq, result in kept.of(Result)}
    before: list[str] = []
    for seq, step in kept.of(Assistant):
        yield from (f"the step at {seq} came before {id}" for id in before if results.get(id, seq) > step.seen)
        before = [call.id for call in step.calls]


def gapless(kept: Kept) -> Iterator[str]:
    """I7: seq counts up from 1 to the head."""
    seqs = [entry.seq for entry in kept.entries]
    if seqs != list(range(1, kept.head + 1)):
        yield f"the entries are {seqs}, the head is {kept.head}"


def of_the_run(kept: Kept) -> Iterator[str]:
    """I8: a step is written by the run that holds the lease."""
    runner = None
    for entry in kept.entries:
        match entry.body:
            case Run(holder):
                runner = holder
            case Assistant(run=author) if author != runner:
                yield f"the step at {entry.seq} is of {author}, while {runner} ran"


def effects_follow(kept: Kept) -> Iterator[str]:
    """I9, in the log: an effect begins once and ends once, or its call says that it may or may not have happened."""
    interrupted = {result.call for _, result in kept.of(Result) if result.status == "interrupted"}
    states: dict[tuple[str, str], list[str]] = {}
    for _, effect in kept.of(Effect):
        states.setdefault((effect.call, effect.name), []).append(effect.state)
    for (call, name), seen in states.items():
        if seen not in (["begun", "done"], ["begun", "unknown"]) and not (seen == ["begun"] and call in interrupted):
            yield f"the effect {name} of {call} went {seen}"


def expiry_is_decided_at_the_append(kept: Kept) -> Iterator[str]:
    """I10: expired is what is over by then, and nothing else."""
    limits = {asked.interrupt.id: asked.interrupt.expires_at for _, asked in kept.of(Asked)}
    for entry in kept.entries:
        match entry.body:
            case Closed(interrupt=id, ending="expired"):
                if (limits.get(id) or float("inf")) > entry.at:
                    yield f"interrupt {id} expired before its time"
            case Answered(interrupt=id) | Closed(interrupt=id, ending="skipped" | "declined"):
                if (limits.get(id) or float("inf")) <= entry.at:
                    yield f"interrupt {id} was answered after its time"


def results_say_what_is_recorded(kept: Kept) -> Iterator[str]:
    """I12: a body had the recorded answers, and of each effect the recorded value, in whatever process it ended."""
    asked = {seq.interrupt.id: seq.interrupt for _, seq in kept.of(Asked)}
    answers: dict[str, list[int]] = {}
    for _, answered in kept.of(Answered):
        answers.setdefault(answered.call, []).append(_number(answered.value))
    values: dict[str, dict[str, str]] = {}
    for _, effect in kept.of(Effect):
        if effect.state != "begun":
            values.setdefault(effect.call, {})[effect.name] = effect.value if effect.state == "done" else UNKNOWN
    for _, result in kept.of(Result):
        if result.status != "ok" or "counted" in result.content:
            continue
        if result.content.get("got") != answers.get(result.call, []):
            yield f"{result.call} got {result.content.get('got')}, recorded is {answers.get(result.call)}"
        if result.content.get("effects", {}) != values.get(result.call, {}):
            yield f"{result.call} had {result.content.get('effects')}, recorded is {values.get(result.call)}"
    for interrupt in asked.values():
        _, _, shown = interrupt.message.partition(" for ")
        if shown and shown != values.get(interrupt.call_id, {}).get("charge"):
            yield f"interrupt {interrupt.id} shows another receipt than is recorded"


def agrees_with_its_row(kept: Kept) -> Iterator[str]:
    """What is stored beside the log follows from it."""
    log = Log(kept.entries)
    expires_at = min((i.expires_at for i in log.interrupts if i.expires_at is not None), default=None)
    wanted = (log.seen + 1, row_phase(phase(log)), expires_at)
    if wanted != (kept.tail, kept.phase, kept.expires_at):
        yield f"the row says {(kept.tail, kept.phase, kept.expires_at)}, the log {wanted}"
    index: dict[str, tuple[int, int | None]] = {one.interrupt.id: (seq, None) for seq, one in kept.of(Asked)}
    for entry in kept.entries:
        match entry.body:
            case Answered(interrupt=id) | Closed(interrupt=id) if id in index:
                index[id] = index[id][0], entry.seq
    if index != kept.index:
        yield "the index of interrupts is not that of the log"


def came_to_its_end(kept: Kept) -> Iterator[str]:
    """No conversation is stuck: all that was asked is answered, and nothing went wrong on the server."""
    if kept.phase != "done":
        yield f"it is stuck in the phase {kept.phase!r}, after {kept.entries[-1].kind if kept.entries else 'nothing'}"
    yield from (f"it stopped: {stopped.reason}" for _, stopped in kept.of(Stopped) if stopped.reason != "cancelled")


RULES: Mapping[str, Callable[[Kept], Iterator[str]]] = {
    "I1": one_result_a_call,
    "I2": one_ending_an_interrupt,
    "I3": one_continuation,
    "I4": no_step_without_results,
    "I7": gapless,
    "I8": of_the_run,
    "I9": effects_follow,
    "I10": expiry_is_decided_at_the_append,
    "I12": results_say_what_is_recorded,
    "row": agrees_with_its_row,
    "stuck": came_to_its_end,
}


# --------------------------------------------------------------------------- rules of what came out of it


def facts_are_kept(store: Sequence[Kept], facts: Facts) -> Iterator[str]:
    """I5, I6: what was acknowledged is in the log as it was sent, and so is what was shown."""
    said = {(kept.place, one.id): one.text for kept in store for _, one in kept.of(User)}
    ended: dict[tuple[Place, str], int | None] = {}
    for kept in store:
        ended |= {(kept.place, one.interrupt): _number(one.value) for _, one in kept.of(Answered)}
        ended |= {(kept.place, one.interrupt): None for _, one in kept.of(Closed) if one.ending == "skipped"}
    results = {(kept.place, one.call): one.text for kept in store for _, one in kept.of(Result)}
    asked = {(kept.place, one.interrupt.id) for kept in store for _, one in kept.of(Asked)}
    yield from (f"message {at} is lost" for at, text in facts.said.items() if said.get(at) != text)
    for at, number in facts.answered.items():
        if at not in ended or ended[at] != number:
            yield f"the answer {number} to {at} is lost, recorded is {ended.get(at)}"
    unrecorded = (at for at, text in facts.shown.items() if results.get(at) != text)
    yield from (f"the result of {at} was shown and is not recorded" for at in unrecorded)
    yield from (f"the interrupt {at} was shown and is not recorded" for at in facts.asked - asked)


def effects_happened_once(store: Sequence[Kept], effects: Iterable[str]) -> Iterator[str]:
    """I9: what happened, by the file of effects, happened once at most, and as recorded."""
    happened: dict[tuple[str, str], list[str]] = {}
    for line in effects:
        name, call, receipt = line.split()
        happened.setdefault((call, name), []).append(receipt)
    for at, receipts in happened.items():
        if len(receipts) > 1:
            yield f"the effect {at} happened {len(receipts)} times"
    begun = set[tuple[str, str]]()
    for kept in store:
        for _, effect in kept.of(Effect):
            begun.add((effect.call, effect.name))
            if effect.state == "done" and happened.get((effect.call, effect.name)) != [effect.value]:
                yield f"the effect {effect.name} of {effect.call} is recorded as done, and is not what happened"
        counted = ((one.call, one.content) for _, one in kept.of(Result) if one.status == "ok")
        for call, content in counted:
            if "counted" in content and happened.get((call, "count")) != [content["counted"]]:
                yield f"the plain tool's call {call} is recorded, and is not what happened"
    yield from (f"the effect {at} happened, and never began" for at in happened.keys() - begun if at[1] != "count")


def entries_are_immutable(before: Sequence[Kept], after: Sequence[Kept]) -> Iterator[str]:
    """I7: what was there once is there for ever."""
    now = {kept.place: kept.entries for kept in after}
    for kept in before:
        if now.get(kept.place, ())[: len(kept.entries)] != kept.entries:
            yield f"I7 {kept.place}: entries have changed"


def violations(store: Sequence[Kept], facts: Facts, effects: Iterable[str] = ()) -> list[str]:
    """All that is wrong, by invariant."""
    found = [f"{name} {kept.place}: {text}" for kept in store for name, rule in RULES.items() for text in rule(kept)]
    found += [f"I5/I6: {text}" for text in facts_are_kept(store, facts)]
    found += [f"I9: {text}" for text in effects_happened_once(store, effects)]
    return found + [f"5xx/4xx: {text}" for text in facts.broken]


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def _number(value: Json) -> int:
    number: int = plain(value)["number"]
    return number
