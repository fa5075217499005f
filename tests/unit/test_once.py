"""`ctx.once`: an effect is begun once, ends once, and every execution sees the same of it."""

from __future__ import annotations

import asyncio
import functools
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from pydantic import BaseModel

from tests.scene import Process, Say, Scene
from yourcall import Context, OnceFailed, OutcomeUnknown, tool
from yourcall.entries import Effect, Result
from yourcall.errors import Changed, Closed, Paused
from yourcall.log import INTERRUPTED, Done, Waiting

pytestmark = pytest.mark.anyio


class Counter:
    """An effect whose repetition would show."""

    def __init__(self) -> None:
        self.seen: list[tuple[Any, ...]] = []

    async def __call__(self, *args: int) -> int:
        await anyio.lowlevel.checkpoint()
        self.seen.append(args)
        return len(self.seen)

    def awaitable(self, *args: int) -> Awaitable[int]:
        return self(*args)

    def sync(self, *args: int) -> int:
        self.seen.append(args)
        return len(self.seen)


# --------------------------------------------------------------------------- once


@pytest.mark.parametrize("flavour", ["async", "sync", "partial", "returns-awaitable"])
async def test_an_effect_happens_once_however_often_the_body_is_executed(scene: Scene, flavour: str) -> None:
    """Two pauses, probes and a new process later, it has happened once, and each execution saw its value."""
    counter, values = Counter(), []
    effects: dict[str, Callable[..., Any]] = {
        "async": counter,
        "sync": counter.sync,
        "partial": functools.partial(counter, 7),
        "returns-awaitable": counter.awaitable,
    }

    @tool
    async def t(ctx: Context) -> str:
        values.append(await ctx.once("count", effects[flavour], 7))
        return ctx.ask(Say("A")) + ctx.ask(Say("B"))

    async with scene.process(t) as p:
        await p.say()
        await p.answer("a")
    async with scene.process(t) as p:
        await p.answer("b")
        assert await p.content() == "ab"
        assert [one.state for one in await p.bodies(Effect)] == ["begun", "done"]
    assert len(counter.seen) == 1
    assert values == [1] * 5  # the first, the second after a probe, the third after another


async def test_an_effect_is_recorded_before_it_begins_and_after_it_ended(scene: Scene) -> None:
    """The log knows of it while it runs."""
    running, go = anyio.Event(), anyio.Event()

    async def effect() -> None:
        running.set()
        await go.wait()

    @tool
    async def t(ctx: Context) -> str:
        await ctx.once("x", effect)
        return "ok"

    async with scene.process(t) as p:
        await p.chat.post("go")
        await running.wait()
        assert [one.state for one in await p.bodies(Effect)] == ["begun"]
        go.set()
        await p.rest()
        assert [one.state for one in await p.bodies(Effect)] == ["begun", "done"]


class Weight(Enum):
    HEAVY = 3


class Lift(BaseModel):
    day: date
    weight: Weight


@dataclass(frozen=True)
class Plan:
    lifts: tuple[Lift, ...]
    price: Decimal


def plan() -> Plan:
    return Plan((Lift(day=date(2026, 1, 2), weight=Weight.HEAVY),), Decimal("9.90"))


async def test_a_value_keeps_its_type_on_the_first_run_and_in_a_new_process(scene: Scene) -> None:
    """The first execution sees the stored form, too: it equals the value, and is another object."""
    made, seen = [], []

    def effect() -> Plan:
        made.append(plan())
        return made[0]

    @tool
    async def t(ctx: Context) -> str:
        seen.append(await ctx.once("plan", effect))
        return ctx.ask(Say("A"))

    async with scene.process(t) as p:
        await p.say()
    async with scene.process(t) as p:
        await p.answer("a")
    assert seen == [plan(), plan(), plan()]
    assert all(type(one) is Plan and one.lifts[0].weight is Weight.HEAVY for one in seen)
    assert seen[0] is not made[0]


async def test_a_change_made_to_a_value_is_not_seen_by_the_next_execution(scene: Scene) -> None:
    """What the body does to the value it got stays its own."""
    seen = []

    @tool
    async def t(ctx: Context) -> str:
        value = await ctx.once("list", lambda: [1])
        value.append(2)
        seen.append(value)
        return ctx.ask(Say("A"))

    async with scene.process(t) as p:
        await p.say()
        await p.answer("a")
    assert seen == [[1, 2], [1, 2], [1, 2]]


def broken() -> None:
    raise ValueError("the card number 4242 is wrong")


def exits() -> None:
    sys.exit(3)


@pytest.mark.parametrize(("effect", "kind"), [(broken, "ValueError"), (exits, "SystemExit")])
async def test_a_failure_is_recorded_and_is_the_same_in_each_execution(
    scene: Scene, effect: Callable[[], Any], kind: str
) -> None:
    """It is raised as `OnceFailed` on the first run, too; its text, which may hold anything, is not kept."""
    runs, seen = [], []

    @tool
    async def t(ctx: Context) -> str:
        runs.append(1)
        try:
            await ctx.once("x", effect)
        except OnceFailed as failure:
            seen.append((failure.name, failure.kind, str(failure)))
        return ctx.ask(Say("A"))

    async with scene.process(t) as p:
        await p.say()
        await p.answer("a")
        assert await p.content() == "a"
        begun, failed = await p.bodies(Effect)
        assert (begun.state, failed.state, failed.error) == ("begun", "failed", kind)
    assert seen == [("x", kind, f"once('x') failed: {kind}")] * 3
    assert b"4242" not in scene.path.read_bytes()


@pytest.mark.parametrize("repeatable", [False, True], ids=["once", "repeatable"])
async def test_an_effect_that_was_cut_off_from_within_is_unknown(scene: Scene, repeatable: bool) -> None:
    """A cancel that came out of it says that it gave up half way. Only a repeatable one is tried again."""
    tries: list[int] = []
    reached, go = anyio.Event(), anyio.Event()

    async def effect() -> int:
        tries.append(1)
        if len(tries) == 1:
            raise asyncio.CancelledError
        return 7

    @tool
    async def t(ctx: Context) -> str:
        try:
            return f"{await ctx.once('x', effect, repeatable=repeatable)}"
        except OutcomeUnknown as unknown:
            reached.set()
            await go.wait()
            return str(unknown)

    async with scene.process(t) as p:
        await p.chat.post("go")
        await reached.wait()
        later = scene.crashed()
        go.set()
        await p.rest()
        assert "it may or may not have happened" in await p.content()
    async with later.process(t) as p:
        assert await p.rest() == Done()
        states = [one.state for one in await p.bodies(Effect)]
        assert states == ["begun", "done" if repeatable else "unknown"]
        assert (await p.content() == "7") is repeatable
    assert len(tries) == (2 if repeatable else 1)


async def test_a_failure_that_is_not_caught_is_the_result(scene: Scene) -> None:
    """The model reads which effect failed, and how."""

    @tool
    async def t(ctx: Context) -> str:
        await ctx.once("charge", broken)
        return "ok"

    async with scene.process(t) as p:
        await p.say()
        assert await p.error() == "once('charge') failed: ValueError"


async def test_a_value_that_cannot_be_stored_is_an_effect_that_was_done(scene: Scene) -> None:
    """It is recorded as done, raises in each execution and names what to mend; it does not happen again."""
    counter, seen = Counter(), []

    def effect() -> object:
        counter.sync()
        return {"to": [object()]}

    @tool
    async def t(ctx: Context) -> str:
        try:
            await ctx.once("x", effect)
        except Exception as error:
            seen.append(str(error))
        return ctx.ask(Say("A"))

    async with scene.process(t) as p:
        await p.say()
        await p.answer("a")
        assert [one.state for one in await p.bodies(Effect)] == ["begun", "done"]
    assert len(counter.seen) == 1
    assert len(set(seen)) == 1
    assert "The effect happened, but its value is lost." in seen[0]
    assert "once('x').to[0]: a value of type object" in seen[0]


# --------------------------------------------------------------------------- crashes


def dying(counter: Counter, running: anyio.Event, go: anyio.Event, *, repeatable: bool) -> Any:
    """A tool whose effect hangs the first time."""

    async def effect() -> int:
        count = await counter()
        running.set()
        await go.wait()
        return count

    @tool
    async def t(ctx: Context) -> str:
        try:
            return f"done {await ctx.once('charge', effect, repeatable=repeatable)}"
        except OutcomeUnknown as unknown:
            return str(unknown)

    return t


async def test_a_crash_in_an_effect_leaves_its_outcome_unknown(scene: Scene) -> None:
    """It is not done again; the log says that nobody knows, and every execution is told so."""
    counter, running, go = Counter(), anyio.Event(), anyio.Event()
    t = dying(counter, running, go, repeatable=False)
    async with scene.process(t) as p:
        await p.chat.post("go")
        await running.wait()
        later = scene.crashed()
        go.set()
    async with later.process(t) as p:
        assert await p.rest() == Done()
        assert await p.content() == "once('charge') was interrupted: it may or may not have happened"
        assert [one.state for one in await p.bodies(Effect)] == ["begun", "unknown"]
    assert len(counter.seen) == 1


async def test_an_unknown_outcome_stays_unknown(scene: Scene) -> None:
    """A later execution is told the same, though it may not be the one that found out."""
    running, go, seen = anyio.Event(), anyio.Event(), []

    async def effect() -> None:
        running.set()
        await go.wait()

    @tool
    async def t(ctx: Context) -> str:
        try:
            await ctx.once("x", effect)
        except OutcomeUnknown as unknown:
            seen.append(unknown.name)
        return ctx.ask(Say("It may have happened. Go on?"))

    async with scene.process(t) as p:
        await p.chat.post("go")
        await running.wait()
        later = scene.crashed()
        go.set()
    async with later.process(t) as p:
        await p.rest()
        await p.answer("yes")
        assert await p.content() == "yes"
    assert seen == ["x", "x", "x"]


async def test_a_repeatable_effect_runs_again_after_a_crash(scene: Scene) -> None:
    """Reads and idempotent effects say so; there is one beginning and one end in the log all the same."""
    counter, running, go = Counter(), anyio.Event(), anyio.Event()
    t = dying(counter, running, go, repeatable=True)
    async with scene.process(t) as p:
        await p.chat.post("go")
        await running.wait()
        later = scene.crashed()
        go.set()
    async with later.process(t) as p:
        assert await p.rest() == Done()
        assert await p.content() == "done 2"
        assert [one.state for one in await p.bodies(Effect)] == ["begun", "done"]


async def test_a_late_end_of_an_effect_is_refused(scene: Scene) -> None:
    """A process that lost its lease finishes its effect; the log has said *unknown* and stays with it."""
    counter, running, go = Counter(), anyio.Event(), anyio.Event()
    t = dying(counter, running, go, repeatable=False)
    async with scene.process(t) as old:
        await old.chat.post("go")
        await running.wait()
        scene.pass_lease()
        async with scene.process(t) as new:
            await new.rest()
            said = await new.bodies(Effect, Result)
            go.set()
            await old.engine.drain()
            assert await new.bodies(Effect, Result) == said
    assert [one.state for one in said if isinstance(one, Effect)] == ["begun", "unknown"]


async def test_an_effect_that_ended_before_the_crash_is_not_begun_again(scene: Scene) -> None:
    """The recorded value is what the new process sees."""
    counter, reached, go = Counter(), anyio.Event(), anyio.Event()

    @tool
    async def t(ctx: Context) -> str:
        count = await ctx.once("x", counter)
        reached.set()
        await go.wait()
        return f"{count}"

    async with scene.process(t) as p:
        await p.chat.post("go")
        await reached.wait()
        later = scene.crashed()
        go.set()
    async with later.process(t) as p:
        assert await p.rest() == Done()
        assert await p.content() == "1"
    assert len(counter.seen) == 1


# --------------------------------------------------------------------------- its rules


async def test_a_name_is_used_once_in_an_execution(scene: Scene) -> None:
    """The second would be taken for the first; it is refused, even if the body hides that."""
    counter = Counter()

    @tool
    async def t(ctx: Context) -> str:
        await ctx.once("x", counter)
        try:
            await ctx.once("x", counter)
        except Exception:
            return "all is well"
        return "ok"

    async with scene.process(t) as p:
        await p.say()
        assert "once('x') is used twice in one execution" in await p.mistake()
    assert len(counter.seen) == 1


async def test_two_calls_may_use_the_same_name(scene: Scene) -> None:
    """Names belong to their call; so do the keys to hand out."""
    counter, keys = Counter(), []

    @tool
    async def t(ctx: Context) -> str:
        keys.append(ctx.effect_key("x"))
        await ctx.once("x", counter)
        return ctx.ask(Say("A"))

    async with scene.process(t, steps=[[("t", {}), ("t", {})]]) as p:
        await p.say()
        for one in await p.chat.interrupts():
            await p.answer("a", one)
    assert len(counter.seen) == 2
    assert len(set(keys)) == 2
    assert len(keys) == 6


async def test_changed_arguments_end_the_call(scene: Scene) -> None:
    """What was charged was another amount: the recorded value is not passed off as this one's."""
    amount, counter = [10], Counter()

    @tool
    async def t(ctx: Context) -> str:
        ctx.ask(Say("A"))
        try:
            await ctx.once("charge", counter, amount[0])
        except Exception:
            return "all is well"
        return ctx.ask(Say("B"))

    async with scene.process(t) as p:
        await p.say()
        await p.answer("a")
        open = await p.open()
        amount[0] = 1000
        for _ in range(2):
            with pytest.raises(Changed):
                await p.chat.answer(open.id, "b")
        assert await p.rest() == Done()
    assert counter.seen == [(10,)]


async def test_changed_arguments_after_a_crash_are_named(scene: Scene) -> None:
    """The result says which effect was begun with other arguments, whatever the body makes of the error."""
    amount, reached, go, counter = [10], anyio.Event(), anyio.Event(), Counter()

    @tool
    async def t(ctx: Context) -> str:
        try:
            await ctx.once("charge", counter, amount[0])
        except Exception:
            return "all is well"
        reached.set()
        await go.wait()
        return "ok"

    async with scene.process(t) as p:
        await p.chat.post("go")
        await reached.wait()
        later = scene.crashed()
        go.set()
    amount[0] = 1000
    async with later.process(t) as p:
        await p.rest()
        assert "once('charge') was begun with other arguments" in await p.mistake()
    assert counter.seen == [(10,)]


@dataclass(frozen=True)
class Card:
    number: str
    tags: frozenset[str]


async def test_arguments_are_the_same_if_their_values_are(scene: Scene) -> None:
    """Equal arguments have one digest, in whatever order a set comes; they may be of the app's own classes."""
    seen = []

    def charge(card: Card, cents: int) -> str:
        seen.append(card)
        return card.number

    @tool
    async def t(ctx: Context) -> str:
        number = await ctx.once("charge", charge, Card("42", frozenset({"a", "b", "c"})), 10)
        return ctx.ask(Say(f"Charged {number}"))

    async with scene.process(t) as p:
        await p.say()
    async with scene.process(t) as p:
        assert await p.answer("a") == Done()
        assert await p.content() == "a"
    assert len(seen) == 1


async def test_an_argument_that_cannot_be_stored_is_refused_before_the_effect_begins(scene: Scene) -> None:
    """Nothing is recorded, nothing happens, and the argument is named without its value."""
    counter = Counter()

    @tool
    async def t(ctx: Context) -> str:
        await ctx.once("x", counter, object())  # type: ignore[arg-type]  # this is the mistake
        return "ok"

    async with scene.process(t) as p:
        await p.say()
        assert "once('x') argument 1: a value of type object cannot be stored" in await p.mistake()
        assert not await p.bodies(Effect)
    assert not counter.seen


async def test_a_def_tool_is_told_to_be_async(scene: Scene) -> None:
    """In a `def` tool `once` could not be awaited: it raises at once, and does not return a coroutine."""
    counter = Counter()

    @tool
    def t(ctx: Context) -> str:
        ctx.once("x", counter)
        return "ok"

    async with scene.process(t) as p:
        await p.say()
        assert "async def" in await p.mistake()
    assert not counter.seen


async def test_effects_may_run_side_by_side(scene: Scene) -> None:
    """Unlike asks, effects have names: they may be begun in tasks of the body."""
    counter = Counter()

    @tool
    async def t(ctx: Context) -> str:
        async with asyncio.TaskGroup() as tasks:
            parts = [tasks.create_task(_once(ctx, f"part {n}", counter)) for n in range(3)]
        ctx.ask(Say("A"))
        return f"{sorted(part.result() for part in parts)}"

    async with scene.process(t) as p:
        await p.say()
        await p.answer("a")
        assert await p.content() == "[1, 2, 3]"
    assert len(counter.seen) == 3


async def _once(ctx: Context, name: str, fn: Callable[[], Awaitable[Any]]) -> Any:
    return await ctx.once(name, fn)


# --------------------------------------------------------------------------- not cut off


class Slow:
    """An effect that takes its time, and notes whether it came to its end."""

    def __init__(self) -> None:
        self.running, self.go, self.ended = anyio.Event(), anyio.Event(), False

    async def __call__(self) -> str:
        self.running.set()
        await self.go.wait()
        self.ended = True
        return "value"


async def beside_a_group(ctx: Context, slow: Slow) -> str:
    async with asyncio.TaskGroup() as tasks:
        part = tasks.create_task(_once(ctx, "x", slow))
        await slow.running.wait()
        answer = ctx.ask(Say("A"))
    return f"{answer} {part.result()}"


async def beside_an_anyio_group(ctx: Context, slow: Slow) -> str:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_once, ctx, "x", slow)
        await slow.running.wait()
        answer = ctx.ask(Say("A"))
    return f"{answer} {await slow()}"


async def beside_a_task_that_nobody_awaits(ctx: Context, slow: Slow) -> str:
    part = asyncio.create_task(_once(ctx, "x", slow))
    await slow.running.wait()
    answer = ctx.ask(Say("A"))
    return f"{answer} {await part}"


@pytest.mark.parametrize("body", [beside_a_group, beside_an_anyio_group, beside_a_task_that_nobody_awaits])
async def test_a_pause_waits_for_effects_in_flight(
    scene: Scene, body: Callable[[Context, Slow], Awaitable[str]]
) -> None:
    """The question is recorded once the effect has ended; it is not cut off by what unwinds the body."""
    slow = Slow()

    @tool
    async def t(ctx: Context) -> str:
        return await body(ctx, slow)

    async with scene.process(t) as p:
        await p.chat.post("go")
        await slow.running.wait()
        for _ in range(10):
            await anyio.lowlevel.checkpoint()
        assert not await p.chat.interrupts()
        slow.go.set()
        assert isinstance(await p.rest(), Waiting)
        assert slow.ended
        assert (await p.kinds()).endswith("began effect effect asked")
        assert [one.state for one in await p.bodies(Effect)] == ["begun", "done"]
        await p.answer("a")
        assert await p.content() == "a value"


async def test_a_timeout_of_the_body_waits_for_the_effect(scene: Scene) -> None:
    """The time limit is told to the body only once the effect has ended and is recorded as what it was."""
    slow, seen = Slow(), []

    @tool
    async def t(ctx: Context) -> str:
        try:
            async with asyncio.timeout(0):
                await ctx.once("x", slow)
        except TimeoutError:
            seen.append("late")
        return ctx.ask(Say("A"))

    async with scene.process(t) as p:
        await p.chat.post("go")
        await slow.running.wait()
        for _ in range(10):  # the time limit is over by now
            await anyio.lowlevel.checkpoint()
        slow.go.set()
        await p.rest()
        assert [one.state for one in await p.bodies(Effect)] == ["begun", "done"]
    assert (slow.ended, seen) == (True, ["late"])


async def test_a_cancelled_run_lets_its_effect_come_to_its_end(scene: Scene) -> None:
    """The user cancels: the call is interrupted in the log at once, the effect itself is not cut in half."""
    slow = Slow()

    @tool
    async def t(ctx: Context) -> str:
        await ctx.once("x", slow)
        return "ok"

    async with scene.process(t) as p:
        await p.chat.post("go")
        await slow.running.wait()
        await p.chat.cancel()
        assert await p.rest() == Done("cancelled")
        assert await p.result() == Result("call_1_1", {"ok": False, "error": INTERRUPTED}, "interrupted")
        slow.go.set()
        await p.engine.drain()
        assert [one.state for one in await p.bodies(Effect)] == ["begun"]
    assert slow.ended


async def test_a_shutdown_lets_an_effect_come_to_its_end(scene: Scene) -> None:
    """An engine that is stopped at once still records how its effect ended; the next process has its value."""
    slow = Slow()

    @tool
    async def t(ctx: Context) -> str:
        value = await ctx.once("x", slow)
        await anyio.lowlevel.checkpoint()
        return value

    async def release(p: Process) -> None:
        while not p.engine.draining:
            await anyio.lowlevel.checkpoint()
        for _ in range(10):
            await anyio.lowlevel.checkpoint()
        slow.go.set()

    async def stopped() -> None:
        async with scene.process(t) as p:
            await p.chat.post("go")
            await slow.running.wait()
            tasks.start_soon(release, p)
            raise KeyError

    async with anyio.create_task_group() as tasks:
        with pytest.raises(KeyError):
            await stopped()
    assert slow.ended
    async with scene.process(t) as p:
        assert await p.rest() == Done()
        assert await p.content() == "value"
        assert [one.state for one in await p.bodies(Effect)] == ["begun", "done"]


async def test_a_task_left_behind_begins_no_effect_once_its_call_has_ended(scene: Scene) -> None:
    """The call has its result: what the body forgot to await is refused, and does not happen."""
    counter, go, tasks = Counter(), anyio.Event(), list[asyncio.Task[Any]]()

    @tool
    async def t(ctx: Context) -> str:
        async def later() -> None:
            await go.wait()
            await ctx.once("x", counter)

        tasks.append(asyncio.create_task(later()))
        return "ok"

    @tool
    async def slow() -> None:
        await asyncio.wait(tasks)

    async with scene.process(t, slow) as p:
        await p.chat.post("go")
        await p.until(Result)
        go.set()
        assert await p.rest() == Done()
        assert not await p.bodies(Effect)
    assert isinstance(tasks[0].exception(), Closed)
    assert not counter.seen


# --------------------------------------------------------------------------- keys to hand out


async def test_an_effect_key_is_the_same_in_every_execution_and_process(scene: Scene) -> None:
    """It may be handed to a provider as an idempotency key; two names have two; it can be had within the effect."""
    keys: list[tuple[str, str]] = []

    @tool
    async def t(ctx: Context) -> str:
        def effect() -> str:
            return ctx.effect_key("x")

        keys.append((await ctx.once("x", effect, repeatable=True), ctx.effect_key("y")))
        assert ctx.effect_key("x") == keys[-1][0]
        return ctx.ask(Say("A"))

    async with scene.process(t) as p:
        await p.say()
    async with scene.process(t) as p:
        await p.answer("a")
        assert await p.content() == "a"
    assert len(set(keys)) == 1
    assert keys[0][0] != keys[0][1]


async def test_a_body_that_swallowed_its_pause_gets_no_key(scene: Scene) -> None:
    """It must not go on to an effect outside `once`."""
    paused = []

    @tool
    async def t(ctx: Context) -> str:
        try:
            ctx.ask(Say("A"))
        except BaseException:
            try:
                ctx.effect_key("x")
            except Paused:
                paused.append(1)
        return "ok"

    async with scene.process(t) as p:
        assert isinstance(await p.say(), Waiting)
    assert paused == [1]
