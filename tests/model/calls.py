"""What one call's body must do next, given the answers and effects that are recorded for it.

A body is deterministic in these, so there is only one thing that it may do. Everything here is written from the rules
alone; it shares the vocabulary of the entries with the engine and nothing else.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from tests.model.script import AskFor, Fail, Once, Planned, Raw, Work
from yourcall.entries import Answered, Call, Closed, Effect, Interrupt, Result


class Broken(AssertionError):
    """Something that no rule allows has happened."""

    def __init__(self, rule: str, what: str) -> None:
        super().__init__(f"{rule}: {what}")
        self.rule = rule


@dataclass
class CallState:
    """What has been recorded about one call."""

    call: Call
    planned: Planned
    number: int
    step: int
    result: Result | None = None
    asks: list[Interrupt] = field(default_factory=list)
    endings: dict[str, Answered | Closed] = field(default_factory=dict)
    effects: dict[str, Effect] = field(default_factory=dict)
    effect_runs: dict[str, int] = field(default_factory=dict)
    begun_in: int | None = None
    running: bool = False
    beginnings: int = 0
    answers: int = 0
    changed: Counter[tuple[str, int]] = field(default_factory=Counter)
    wording: dict[str, int] = field(default_factory=dict)
    tired: frozenset[str] = frozenset()

    @property
    def open(self) -> Interrupt | None:
        last = self.asks[-1] if self.asks else None
        return last if last is not None and last.id not in self.endings else None

    def moved(self) -> None:
        """The call got further than its last beginning."""
        self.beginnings = 0


@dataclass(frozen=True)
class AsksNext:
    """The body must ask this."""

    key: str | None
    occurrence: int
    expires_in: float | None
    kind: Literal["digit", "interrupt"]
    worded: bool


@dataclass(frozen=True)
class DoesNext:
    """The body must begin, finish or give up this effect."""

    once: Once


@dataclass(frozen=True)
class Returns:
    """The body must return this text."""

    text: str


@dataclass(frozen=True)
class Raises:
    """The body must raise, so that the result has this status."""

    status: str


Next: TypeAlias = AsksNext | DoesNext | Returns | Raises


def follow(state: CallState, release: int, tired: frozenset[str] = frozenset(), strict: bool = True) -> Next:
    """What the body of this release does when it runs now, on the answers and effects recorded for its call.

    `tired` names the raw asks that the user has skipped so often that another one fails without a pause. Only if
    `strict`, a question that was closed without an answer must have kept its text, too.
    """
    told: list[str] = []
    uses: Counter[str] = Counter()
    asked = iter(state.asks)
    for place, op in enumerate(state.planned.program):
        match op:
            case Work():
                continue
            case Fail():
                return Raises("failed")
            case Once():
                came = _effect(state, op)
                if not isinstance(came, str):
                    return came
                told.append(came)
            case Raw() | AskFor():
                again = True
                while again:
                    interrupt = next(asked, None)
                    if _reworded(state, op, interrupt, release, strict):
                        return Raises("failed")
                    given = _asked(state, op, interrupt, uses)
                    if isinstance(given, AsksNext) and given.key in tired:
                        return Raises("failed")
                    if not isinstance(given, _Given):
                        return given
                    told.append(f"{place}={given.text}")
                    again = given.again
    return Returns(";".join(told))


def _reworded(state: CallState, op: Raw | AskFor, interrupt: Interrupt | None, release: int, strict: bool) -> bool:
    """Whether a recorded ending belongs to another text than the one that this release asks."""
    if interrupt is None or isinstance(op, Raw) or not op.worded or state.wording[interrupt.id] == release:
        return False
    ending = state.endings.get(interrupt.id)
    return isinstance(ending, Answered) or (ending is not None and strict)


def _effect(state: CallState, op: Once) -> str | Next:
    effect = state.effects.get(op.name)
    if effect is None or effect.state == "begun":
        return DoesNext(op)
    if effect.state == "done":
        return f"{op.name}={effect.value!r}"
    return f"{op.name}={effect.state}" if op.catch else Raises("failed")


@dataclass(frozen=True)
class _Given:
    text: str
    again: bool = False


def _asked(
    state: CallState, op: Raw | AskFor, interrupt: Interrupt | None, uses: Counter[str]
) -> _Given | AsksNext | Raises:
    key = op.name if isinstance(op, Raw) else op.key
    if key is not None:
        uses[key] += 1
    if interrupt is None or interrupt.id not in state.endings:
        return AsksNext(
            key,
            uses[key] if key is not None else 1,
            op.expires_in if isinstance(op, AskFor) else None,
            "digit" if isinstance(op, AskFor) else "interrupt",
            isinstance(op, AskFor) and op.worded,
        )
    ending = state.endings[interrupt.id]
    if isinstance(op, Raw):
        if isinstance(ending, Closed) and ending.ending != "skipped":
            return Raises(ending.ending)
        return _Given(json.dumps(ending.value if isinstance(ending, Answered) else {"skipped": True}))
    if isinstance(ending, Answered):
        return _Given(str(ending.value), again=op.until and ending.value % 2 == 1)
    if op.unanswered == "otherwise" and ending.ending != "declined":  # never a decline
        return _Given("else")
    return _Given(ending.ending) if op.unanswered == "catch" else Raises(ending.ending)
