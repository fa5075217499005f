"""The rules that nothing works without, each with what shows that it is missing.

A mutant takes one rule out of the engine. `patch` does that, by replacing as little as possible. `scenarios` names
directed scenarios at least one of which must break, and `situation` is the mark of the generated examples in which the
rule decides something.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import anyio
import pytest

from yourcall import context, effects, log, loop, record, runs, tools
from yourcall.entries import Body, Closed, Effect, Json, Result, Stopped, User
from yourcall.errors import Stale
from yourcall.ports import Key
from yourcall.scrub import Hidden

Patch: TypeAlias = Callable[[pytest.MonkeyPatch], None]


@dataclass(frozen=True)
class Mutant:
    """One rule, and the engine without it."""

    name: str
    rule: str
    shows: str
    situation: str
    scenarios: tuple[str, ...]
    patch: Patch

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


def _ids_repeat(monkeypatch: pytest.MonkeyPatch) -> None:
    swap(monkeypatch, loop._distinct, lambda call_id, taken: call_id)


def _stale_runner_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    right = log.admit
    swap(monkeypatch, right, lambda whole, body, now, runner: right(whole, body, now, None))

    async def watch(run: loop.Run[Any]) -> None:
        """Reads what others write, and does not mind whose run it is."""
        while True:
            await run._changed.wait()
            run._changed = anyio.Event()
            await run.record.refresh()
            run._stir.set()

    async def renew(of: runs.Runs[Any], key: Key, runner: str) -> None:
        await anyio.sleep_forever()

    monkeypatch.setattr(loop.Run, "_watch", watch)
    monkeypatch.setattr(runs.Runs, "_renew", renew)


def _release_without_look(monkeypatch: pytest.MonkeyPatch) -> None:
    right = loop.Run._step

    async def step(run: loop.Run[Any]) -> None:
        """After a step without calls the run is over, whatever the log says."""
        await right(run)
        if run.record.log.step and not run.record.log.step.calls:
            raise Stale

    monkeypatch.setattr(loop.Run, "_step", step)


def _plain_runs_again(monkeypatch: pytest.MonkeyPatch) -> None:
    right = log._verdict

    def verdict(step: log.Step, one: log.CallLog) -> Result | None:
        return right(step, replace(one, call=replace(one.call, rerun=True)))

    swap(monkeypatch, right, verdict)


def _once_shows_the_original(monkeypatch: pytest.MonkeyPatch) -> None:
    perform, stored = effects.perform, effects.outcome
    originals: dict[int, tuple[Effect, Any, BaseException | None]] = {}

    async def run(
        begun: Effect, fn: Callable[..., Any], args: tuple[Any, ...], hints: dict[str, Any], hidden: Hidden
    ) -> Effect:
        outcome: list[Any] = [None, None]

        async def watched(*given: Any) -> Any:
            try:
                outcome[0] = fn(*given)
                if inspect.isawaitable(outcome[0]):
                    outcome[0] = await outcome[0]
            except Exception as error:
                outcome[1] = error
                raise
            return outcome[0]

        ended: Effect = await perform(begun, watched, args, hints, hidden)
        originals[id(ended)] = (ended, outcome[0], outcome[1])
        return ended

    def original(effect: Effect, hints: dict[str, Any]) -> Any:
        if id(effect) not in originals:
            return stored(effect, hints)
        _, value, error = originals[id(effect)]
        if error is not None:
            raise error
        return value

    monkeypatch.setattr(effects, "perform", run)
    monkeypatch.setattr(effects, "outcome", original)


def _pauses_can_be_swallowed(monkeypatch: pytest.MonkeyPatch) -> None:
    enter, invoke = context.Context._enter, tools.Tool.invoke

    def entered(ctx: context.Context[Any], what: str, *, at_home: bool = False) -> None:
        ctx.pending = None
        enter(ctx, what, at_home=at_home)

    async def invoked(tool: tools.Tool[Any], ctx: context.Context[Any], arguments: dict[str, Any]) -> Json:
        returned = await invoke(tool, ctx, arguments)
        ctx.pending = None
        return returned

    monkeypatch.setattr(context.Context, "_enter", entered)
    monkeypatch.setattr(tools.Tool, "invoke", invoked)


def _closing_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    right = record.Record.write

    async def write(self: record.Record, decide: record.Decide, **kwargs: Any) -> record.Written:
        rest: list[Body] | None = None

        def endings(whole: log.Log, now: float) -> list[Body]:
            nonlocal rest
            bodies = list(decide(whole, now))
            cut: list[Body] = [b for b in bodies if isinstance(b, Closed) and b.ending in ("superseded", "cancelled")]
            rest = [b for b in bodies if b not in cut] if cut else None
            return cut

        await right(self, endings, runner=kwargs.get("runner"))
        return await right(self, decide if rest is None else lambda whole, now: rest or [], **kwargs)

    monkeypatch.setattr(record.Record, "write", write)


def _unseen_message_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    def unseen(whole: log.Log) -> bool:
        newest = whole.step.seq if whole.step else 0
        return any(isinstance(entry.body, User) for entry in whole.after(newest))

    monkeypatch.setattr(log.Log, "unseen", property(unseen))


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
        patch=_ids_repeat,
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
        patch=_stale_runner_writes,
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
        patch=_release_without_look,
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
        patch=_plain_runs_again,
    ),
    Mutant(
        "once-shows-the-original",
        "Every execution, the first too, gets an effect's value or failure in its stored form.",
        "The first execution sees the app's own object, or exception, and goes another way than its replay (I12).",
        situation="effect seen again",
        scenarios=("an effect before a question", "an effect that fails"),
        patch=_once_shows_the_original,
    ),
    Mutant(
        "pauses-can-be-swallowed",
        "A body that returns in spite of its pause is paused all the same, and each later use of its context pauses.",
        "A call whose question is open gets a result, or goes on to its next effect or ask (`pauses`, I12).",
        situation="swallowed pause",
        scenarios=("a swallowed pause", "a swallowed pause, and on"),
        patch=_pauses_can_be_swallowed,
    ),
    Mutant(
        "closing-in-pieces",
        "Superseding and cancelling write the endings, the results and what follows from them in one write.",
        "A write closes a question without its call's result, or stops a run with calls left open (`endings`).",
        situation="supersede",
        scenarios=("a message closes two questions", "a cancel closes two questions"),
        patch=_closing_in_pieces,
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
        patch=_unseen_message_forgotten,
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
