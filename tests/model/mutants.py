"""The rules that nothing works without, each with what shows that it is missing.

A mutant takes one rule out of the engine. `patch` does that, by replacing as little as possible; where it is None it
is still to be written, and its tests are expected to fail. `scenarios` names directed scenarios at least one of which
must break, and `situation` is the mark of the generated examples in which the rule decides something.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import pytest

from yourcall import log
from yourcall.entries import Stopped

Patch: TypeAlias = Callable[[pytest.MonkeyPatch], None]


@dataclass(frozen=True)
class Mutant:
    """One rule, and the engine without it."""

    name: str
    rule: str
    shows: str
    situation: str
    scenarios: tuple[str, ...]
    patch: Patch | None = None

    def __str__(self) -> str:
        return self.name


def swap(monkeypatch: pytest.MonkeyPatch, original: Callable[..., object], other: Callable[..., object]) -> None:
    """Put another function in the place of one, in every module of ours that knows it by its name."""
    name = original.__name__
    places = [
        module
        for path, module in list(sys.modules.items())
        if path.startswith("yourcall") and getattr(module, name, None) is original
    ]
    assert places, f"no module knows {name}"
    for module in places:
        monkeypatch.setattr(module, name, other)


def _held_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log.Step, "asked_before", lambda step, held: False)


def _stops_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    right = log.phase

    def phase(whole: log.Log) -> log.Phase:
        return right(log.Log(tuple(entry for entry in whole.entries if not isinstance(entry.body, Stopped))))

    swap(monkeypatch, right, phase)


MUTANTS = (
    Mutant(
        "ids-repeat",
        "A call id that the model used before is made distinct, in the call and in its result.",
        "Two calls share their id: one answer or result would serve both (`identity`, or a request that is not I1).",
        situation="repeated call id",
        scenarios=("a call id twice in a step", "a call id again in a later step"),
        patch=None,  # FILL IN: keep the model's ids as they are
    ),
    Mutant(
        "stale-runner-writes",
        "What a runner writes is admitted only while the latest `run` is its own.",
        "A process that was given up records a result, an ask or a step in its successor's run (I8, `began`, I3).",
        situation="takeover from a process that lives",
        scenarios=(
            "a process comes back after another took over",
            "a process comes back with a result of the model",
            "a process comes back with an ask",
        ),
        patch=None,  # FILL IN: admit a runner's entries whatever the latest run is
    ),
    Mutant(
        "release-without-look",
        "Who gives a lease back looks at the head once more, and goes on if there is work.",
        "A message that came while the lease was held stays unanswered, though nothing crashed (`who runs`: stuck).",
        situation="news for a runner at work",
        scenarios=(
            "a message just before the last step is recorded",
            "a message just after the last step is recorded",
            "a message while the lease is given back",
        ),
        patch=None,  # FILL IN: end the run, or give the lease back, without looking at what came meanwhile
    ),
    Mutant(
        "held-runs-anyway",
        "A held call is not run if another call of its batch asked the user.",
        "The held call begins after its sibling's question, on whatever answer that got (`hold`).",
        situation="held back",
        scenarios=("a held call behind a question", "a held call that asks before another"),
        patch=_held_runs,
    ),
    Mutant(
        "plain-runs-again",
        "A call that another runner began is not run again unless its tool accepted that.",
        "After a crash a plain tool's body runs a second time (`what re-runs`), and nobody says that it may have.",
        situation="may have happened",
        scenarios=("a crash within a plain body",),
        patch=None,  # FILL IN: treat every call as one that may be run again
    ),
    Mutant(
        "once-shows-the-original",
        "Every execution, the first too, gets an effect's value or failure in its stored form.",
        "The first execution sees the app's own object, or exception, and goes another way than its replay (I12).",
        situation="effect seen again",
        scenarios=("an effect before a question", "an effect that fails"),
        patch=None,  # FILL IN: hand out what the function returned or raised, right after it ran
    ),
    Mutant(
        "pauses-can-be-swallowed",
        "A body that returns in spite of its pause is paused all the same, and each later use of its context pauses.",
        "A call whose question is open gets a result, or goes on to its next effect or ask (`pauses`, I12).",
        situation="swallowed pause",
        scenarios=("a swallowed pause", "a swallowed pause, and on"),
        patch=None,  # FILL IN: forget the pause once it has been raised
    ),
    Mutant(
        "closing-in-pieces",
        "Superseding and cancelling write the endings, the results and what follows from them in one write.",
        "A write closes a question without its call's result, or stops a run with calls left open (`endings`).",
        situation="supersede",
        scenarios=("a message closes two questions", "a cancel closes two questions"),
        patch=None,  # FILL IN: split such a write in two: first the endings, then the rest
    ),
    Mutant(
        "unseen-message-forgotten",
        "A message that the last step's request did not have makes another request, in which it follows that step.",
        "The run ends with the message unanswered (`phase`), or a request shows it before those results (I1, I4).",
        situation="message during a step",
        scenarios=(
            "a message while the model thinks",
            "a message that is kept",
            "a message just before the last step is recorded",
        ),
        patch=None,  # FILL IN: take a message for seen once a newer step stands in the log
    ),
    Mutant(
        "stops-are-forgotten",
        "After a stop the conversation is done until a message, an answer or `resume`, and its runner writes no more.",
        "A sweep calls the model again after a failure or a cancel, or the stopped runner goes on (`stopping`).",
        situation="stop",
        scenarios=("a sweep after a failed step", "a cancel while the model thinks"),
        patch=_stops_forgotten,
    ),
)
