"""The checker finds nothing wrong with a good store, and each kind of breakage in one that is doctored."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from tests.faults.checker import Facts, Kept, entries_are_immutable, violations
from tests.support import placed
from yourcall.entries import (
    Answered,
    Asked,
    Assistant,
    Began,
    Body,
    Call,
    Closed,
    Effect,
    Interrupt,
    Json,
    Result,
    Run,
    Stopped,
    User,
)
from yourcall.log import Log

PLACE = ("ada", "c")
CALL, OTHER = Call("t-0-0", "charges", rerun=True), Call("t-0-1", "counts")
QUESTION = Interrupt("i", CALL.id, "#1", "form", {}, "d", "t-0-0 for aa", expires_at=50.0)
GOT: Json = {"got": [7], "effects": {"charge": "aa", "send": "bb"}}


def good() -> list[Body]:
    """A message; a step with two calls; an effect, a question, its answer, an effect; a reply."""
    return [
        User("t: charges counts", "m"),
        Run("r1"),
        Assistant("r1", 2, calls=(CALL, OTHER)),
        Began((CALL.id, OTHER.id)),
        Effect(CALL.id, "charge", "x", "begun"),
        Effect(CALL.id, "charge", "x", "done", "aa"),
        Result(OTHER.id, {"counted": "cc"}),
        Asked(QUESTION),
        Answered("i", CALL.id, {"number": 7}, "p"),
        Run("r2"),
        Began((CALL.id,)),
        Effect(CALL.id, "send", "x", "begun"),
        Effect(CALL.id, "send", "x", "done", "bb"),
        Result(CALL.id, GOT),
        Assistant("r2", 14, "Done."),
    ]


@dataclass
class Story:
    """A log, what clients know of it, and what happened."""

    bodies: list[Body] = field(default_factory=good)
    facts: Facts = field(
        default_factory=lambda: Facts(
            said={(PLACE, "m"): "t: charges counts"},
            answered={(PLACE, "i"): 7},
            shown={(PLACE, OTHER.id): '{"counted":"cc"}'},
            asked={(PLACE, "i")},
        )
    )
    effects: list[str] = field(default_factory=lambda: ["charge t-0-0 aa", "send t-0-0 bb", "count t-0-1 cc"])
    row: dict[str, Any] = field(default_factory=dict)

    @property
    def kept(self) -> Kept:
        log = Log(tuple(placed(0, *self.bodies)))
        index: dict[str, tuple[int, int | None]] = {}
        for entry in log.entries:
            match entry.body:
                case Asked(interrupt):
                    index[interrupt.id] = entry.seq, None
                case Answered(interrupt=id) | Closed(interrupt=id) if id in index:
                    index[id] = index[id][0], entry.seq
        kept = Kept(PLACE, log.head, log.seen + 1, "done", None, log.entries, index)
        return replace(kept, **self.row)

    def violations(self) -> list[str]:
        return violations([self.kept], self.facts, self.effects)


def test_a_good_store_breaks_nothing() -> None:
    """Neither with an effect of which nobody knows whether it happened."""
    story = Story()
    assert not story.violations()
    story.bodies[12] = Effect(CALL.id, "send", "x", "unknown")
    story.bodies[13] = Result(CALL.id, {"got": [7], "effects": {"charge": "aa", "send": "unknown"}})
    assert not story.violations()
    del story.effects[1]
    assert not story.violations()


def late(entry: int, at: float) -> Callable[[Story], None]:
    def doctor(story: Story) -> None:
        entries = list(story.kept.entries)
        entries[entry] = replace(entries[entry], at=at)
        story.row["entries"] = tuple(entries)

    return doctor


def body(at: int, new: Body) -> Callable[[Story], None]:
    return lambda story: story.bodies.__setitem__(at, new)


def also(at: int, *new: Body) -> Callable[[Story], None]:
    return lambda story: story.bodies.__setitem__(slice(at, at), new)


def without(at: int) -> Callable[[Story], None]:
    return lambda story: story.bodies.__delitem__(at)


DOCTORED: dict[str, tuple[str, Callable[[Story], None]]] = {
    "a call without a result": ("I1", without(6)),
    "two results of a call": ("I1", also(14, Result(CALL.id, GOT))),
    "a result of no call": ("I1", also(14, Result("nobody's", {}))),
    "a result after the next step": ("I1", lambda s: s.bodies.append(s.bodies.pop(6))),
    "a call id twice": ("I1", body(14, Assistant("r2", 14, calls=(CALL,)))),
    "two answers": ("I2", also(9, Answered("i", CALL.id, {"number": 7}, "p"))),
    "closed after its answer": ("I2", also(9, Closed("i", CALL.id, "skipped"))),
    "an answer to nothing": ("I2", without(7)),
    "two open questions of a call": ("I2", also(8, Asked(replace(QUESTION, id="j")))),
    "asked again under its id": ("I2", also(9, Asked(QUESTION))),
    "two continuations": ("I3", lambda s: s.bodies.append(Assistant("r2", 15, "Done."))),
    "two at once": ("I3", lambda s: s.bodies.append(Assistant("r2", 14, "Done."))),
    "a step before the results": ("I4", body(14, Assistant("r2", 12, "Done."))),
    "a gap": ("I7", lambda s: s.row.update(entries=s.kept.entries[:4] + s.kept.entries[5:])),
    "another head": ("I7", lambda s: s.row.update(head=16)),
    "a step of a stale run": ("I8", body(14, Assistant("r1", 14, "Done."))),
    "an effect that began twice": ("I9", also(5, Effect(CALL.id, "charge", "x", "begun"))),
    "an effect that ended twice": ("I9", also(6, Effect(CALL.id, "charge", "x", "done", "aa"))),
    "an effect that never ended": ("I9", without(12)),
    "an effect that happened twice": ("I9", lambda s: s.effects.append("charge t-0-0 dd")),
    "an effect that did not happen": ("I9", lambda s: s.effects.remove("send t-0-0 bb")),
    "an effect that was not begun": ("I9", lambda s: s.effects.append("other t-0-0 dd")),
    "a plain tool that ran twice": ("I9", lambda s: s.effects.append("count t-0-1 dd")),
    "a plain tool that did not run": ("I9", lambda s: s.effects.remove("count t-0-1 cc")),
    "answered after its time": ("I10", late(8, 60.0)),
    "expired before its time": ("I10", body(8, Closed("i", CALL.id, "expired"))),
    "a result with another answer": ("I12", body(13, Result(CALL.id, {**GOT, "got": [8]}))),
    "a result with another receipt": ("I12", body(13, Result(CALL.id, {"got": [7], "effects": {"charge": "aa"}}))),
    "a question about another receipt": ("I12", body(7, Asked(replace(QUESTION, message="t-0-0 for zz")))),
    "a row of another phase": ("row", lambda s: s.row.update(phase="run")),
    "a row with another tail": ("row", lambda s: s.row.update(tail=1)),
    "an interrupt that is open in the index": ("row", lambda s: s.row.update(index={"i": (8, None)})),
    "stuck": ("stuck", lambda s: s.row.update(phase="waiting")),
    "stopped": ("stuck", lambda s: s.bodies.append(Stopped("internal", True))),
    "a message that is lost": ("I5", lambda s: s.facts.said.update({(PLACE, "n"): "hello"})),
    "a message with another text": ("I5", body(0, User("t: charges", "m"))),
    "an answer that is lost": ("I5", lambda s: s.facts.answered.update({(PLACE, "j"): 7})),
    "an answer that is recorded as another": ("I5", body(8, Answered("i", CALL.id, {"number": 8}, "p"))),
    "a skip that is recorded as an answer": ("I5", lambda s: s.facts.answered.update({(PLACE, "i"): None})),
    "a result that was shown": ("I5/I6", lambda s: s.facts.shown.update({(PLACE, CALL.id): "other"})),
    "a question that was shown": ("I5/I6", lambda s: s.facts.asked.add((PLACE, "j"))),
    "a server that broke": ("5xx", lambda s: s.facts.broken.append("GET /: 500")),
}


@pytest.mark.parametrize("doctored", DOCTORED)
def test_what_is_doctored_is_found(doctored: str) -> None:
    """It is named by the invariant that it breaks."""
    rule, doctor = DOCTORED[doctored]
    story = Story()
    doctor(story)
    found = story.violations()
    assert any(text.startswith(rule) for text in found), found


def test_an_entry_that_changed_is_found() -> None:
    """By whoever read the store before; one that only grew has not changed."""
    story = Story()
    before = story.kept
    story.bodies.append(User("more", "n"))
    assert not list(entries_are_immutable([before], [story.kept]))
    story.bodies = copy.copy(story.bodies)
    story.bodies[0] = User("t: else", "m")
    assert list(entries_are_immutable([before], [story.kept]))
    assert list(entries_are_immutable([before], []))
