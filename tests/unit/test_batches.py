"""The calls of one step together, and what the user writes meanwhile."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from tests.scene import Process, Say, Scene
from yourcall import Context, ModelFailed, Tool, loop, tool
from yourcall.decisions import CANCELLED, NOT_BEGUN, SUPERSEDED
from yourcall.entries import Answered, Asked, Assistant, Began, Closed, Effect, Result, Run, Stopped, User
from yourcall.errors import Waiting as WaitingError
from yourcall.events import Delta, Event, Retracted
from yourcall.log import INTERRUPTED, Done, Waiting
from yourcall.ports import Finished, ModelEvent, ModelRequest, TextDelta
from yourcall.testing import CallStep, ScriptStep

pytestmark = pytest.mark.anyio


class Gate:
    """A tool that says when it is running, and ends when it is let go."""

    def __init__(self, name: str = "slow", **options: Any) -> None:
        self.running, self.go, self.runs = anyio.Event(), anyio.Event(), 0

        @tool(name=name, **options)
        async def made() -> str:
            self.runs += 1
            self.running.set()
            await self.go.wait()
            return name

        self.tool: Tool[Any] = made


def asker(name: str = "asks", **options: Any) -> Tool[Any]:
    @tool(name=name, **options)
    async def made(ctx: Context) -> str:
        return ctx.ask(Say(name))

    return made


def counter(runs: list[str], name: str = "count", **options: Any) -> Tool[Any]:
    @tool(name=name, **options)
    async def made() -> str:
        await anyio.lowlevel.checkpoint()
        runs.append(name)
        return name

    return made


# --------------------------------------------------------------------------- side by side


async def test_calls_run_side_by_side_and_are_read_in_call_order(scene: Scene) -> None:
    """Each result is recorded as it lands; the model reads them as it called, once all are there."""
    one, two, three = Gate("one"), Gate("two"), Gate("three")
    async with scene.process(one.tool, two.tool, three.tool) as p:
        await p.chat.post("go")
        for gate in (one, two, three):
            await gate.running.wait()
        for number, gate in enumerate((three, one, two), 1):
            assert len(p.model.requests) == 1
            gate.go.set()
            await p.until(Result, number)
        await p.rest()
        assert [one.call for one in await p.bodies(Result)] == ["call_1_3", "call_1_1", "call_1_2"]
        assert await p.transcript() == [
            "user: go",
            "assistant: call_1_1 call_1_2 call_1_3",
            "call_1_1: one",
            "call_1_2: two",
            "call_1_3: three",
            "assistant: Done.",
        ]


async def test_bodies_begin_with_the_record_of_what_they_follow(scene: Scene) -> None:
    """A step, or an answer that starts a run, is written together with the beginning of its calls."""
    appended: list[str] = []

    async with scene.process(asker()) as p:
        append = p.engine.store.append

        async def watched(key: Any, head: Any, entries: Any, *more: Any, **names: Any) -> Any:
            appended.append(" ".join(entry.kind for entry in entries))
            return await append(key, head, entries, *more, **names)

        p.engine.store.append = watched  # type: ignore[method-assign]  # a look at what is written together
        await p.say()
        await p.answer("a")
    assert appended == ["user run", "assistant began", "asked", "answered run began", "result", "assistant"]


class Slow:
    """Looks at what is appended together; the first result is not written before it is let go."""

    def __init__(self, p: Process) -> None:
        self.appended: list[str] = []
        self.writing, self.go = anyio.Event(), anyio.Event()
        append = p.engine.store.append

        async def slow(key: Any, head: Any, entries: Any, *more: Any, **names: Any) -> Any:
            kinds = " ".join(entry.kind for entry in entries)
            self.appended.append(kinds)
            if kinds == "result":
                self.writing.set()
                await self.go.wait()
            return await append(key, head, entries, *more, **names)

        p.engine.store.append = slow  # type: ignore[method-assign]


async def test_what_lands_while_the_store_writes_is_recorded_together(scene: Scene) -> None:
    """A result waits for no other one; those that land during an append share the next one, questions too."""
    first, others, asks = Gate("first"), [Gate(f"other{n}") for n in range(6)], Gate("asks_now")

    @tool
    async def asking(ctx: Context) -> str:
        await asks.go.wait()
        return ctx.ask(Say("A"))

    async with scene.process(first.tool, *(gate.tool for gate in others), asking) as p:
        slow = Slow(p)
        await p.chat.post("go")
        first.go.set()
        await slow.writing.wait()
        for gate in (*others, asks):
            gate.go.set()
        await anyio.wait_all_tasks_blocked()
        slow.go.set()
        assert isinstance(await p.rest(), Waiting)
        await p.answer("a")
        assert await p.rest() == Done()
        assert len(await p.bodies(Result)) == 8
    began = "user run", "assistant began"
    assert slow.appended == [*began, "result", "result " * 6 + "asked", "answered run began", "result", "assistant"]


async def test_one_call_that_was_closed_meanwhile_keeps_no_other_from_landing(scene: Scene) -> None:
    """What lands together is recorded without the one that comes too late."""
    first, late, other = Gate("first"), Gate("late"), Gate("other")
    async with scene.process(first.tool, late.tool, other.tool) as p:
        await p.chat.post("go")
        for gate in (first, late, other):
            await gate.running.wait()
        closed = Result("call_1_2", "closed", "cancelled")
        await p.engine.write(p.engine.record(p.chat.key), lambda log, now: [closed])
        slow = Slow(p)
        first.go.set()
        await slow.writing.wait()
        late.go.set()
        other.go.set()
        await anyio.wait_all_tasks_blocked()
        slow.go.set()
        assert await p.rest() == Done()
        assert [one.content for one in await p.bodies(Result)] == ["closed", "first", "other"]
        assert [gate.runs for gate in (first, late, other)] == [1, 1, 1]


async def test_an_answered_call_goes_on_while_a_slow_sibling_runs(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody waits for the slow one but the model; the run is told of the answer, and need not look for it."""
    monkeypatch.setattr(loop, "POLL_SECONDS", 3600.0)
    slow = Gate()
    async with scene.process(asker(), slow.tool) as p:
        await p.chat.post("go")
        await p.until(Asked)
        await p.chat.answer((await p.open()).id, "a")
        await p.until(Result)
        assert (await p.result()).call == "call_1_1"
        assert len(p.model.requests) == 1
        slow.go.set()
        assert await p.rest() == Done()
        assert slow.runs == 1


async def test_an_answer_from_another_process_is_seen_by_the_run(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """The runner looks at the head now and then; the process that took the answer starts no second run."""
    monkeypatch.setattr(loop, "POLL_SECONDS", 0.01)
    slow = Gate()
    async with scene.process(asker(), slow.tool) as runner, scene.process(asker(), slow.tool) as other:
        await runner.chat.post("go")
        await runner.until(Asked)
        await other.chat.answer((await other.open()).id, "a")
        await runner.until(Result)
        slow.go.set()
        assert await runner.rest() == Done()
        assert len(await runner.bodies(Run)) == 1
        assert slow.runs == 1


# --------------------------------------------------------------------------- hold


async def test_a_held_call_waits_for_all_others(scene: Scene) -> None:
    """It begins when every other call of its step has its result, wherever it stands among them."""
    slow, runs = Gate(), list[str]()
    async with scene.process(counter(runs, hold=True), slow.tool) as p:
        await p.chat.post("go")
        await slow.running.wait()
        assert [one.calls for one in await p.bodies(Began)] == [("call_1_2",)]
        assert not runs
        slow.go.set()
        await p.rest()
        assert runs == ["count"]
        assert await p.content("call_1_1") == "count"


async def test_a_held_asker_is_not_asked_if_a_sibling_asked(scene: Scene) -> None:
    """Its own question counts as running it: the user is not asked to confirm what was planned before the answer."""
    async with scene.process(asker(), asker("confirm", hold=True)) as p:
        await p.say()
        assert await p.answer("a") == Done()
        assert [one.interrupt.message for one in await p.bodies(Asked)] == ["asks"]
        assert (await p.result("call_1_2")).status == "held"


async def test_held_calls_run_one_by_one_in_call_order(scene: Scene) -> None:
    """Never two at a time; a plain sibling goes first."""
    first, second, runs = Gate("first", hold=True), Gate("second", hold=True), list[str]()
    async with scene.process(first.tool, second.tool, counter(runs)) as p:
        await p.chat.post("go")
        await first.running.wait()
        assert runs == ["count"]
        assert not second.runs
        first.go.set()
        await second.running.wait()
        second.go.set()
        assert await p.rest() == Done()
        assert [one.calls for one in await p.bodies(Began)] == [("call_1_3",), ("call_1_1",), ("call_1_2",)]


async def test_a_held_call_that_asked_holds_the_later_ones_back(scene: Scene) -> None:
    """Those before it have run; it goes on with its answer; those after it are not run."""
    runs: list[str] = []
    before, after = counter(runs, "before", hold=True), counter(runs, "after", hold=True)
    async with scene.process(before, asker(hold=True), after) as p:
        assert isinstance(await p.say(), Waiting)
        assert runs == ["before"]
        assert await p.answer("a") == Done()
        assert await p.content("call_1_2") == "a"
        assert (await p.result("call_1_3")).status == "held"
    assert runs == ["before"]


async def test_a_held_call_runs_if_its_siblings_only_failed(scene: Scene) -> None:
    """A failure, an unknown tool and a question that was not asked are no questions."""
    runs: list[str] = []

    @tool
    def fails(ctx: Context) -> str:
        raise ValueError

    call: CallStep = ("asks", {})
    held: CallStep = ("count", {})
    steps: list[list[CallStep]] = [[call], [call], [("fails", {}), ("nothing", {}), call, held]]
    async with scene.process(fails, asker(), counter(runs, hold=True), steps=steps) as p:
        await p.say()
        await p.skip()
        assert await p.skip() == Done()
        assert [one.status for one in (await p.bodies(Result))[2:]] == ["failed", "failed", "failed", "ok"]
    assert runs == ["count"]


async def test_a_held_call_survives_a_crash_in_between(scene: Scene) -> None:
    """The new process knows from the log that the others have ended, and whether one of them asked."""
    runs: list[str] = []
    tools = (asker(), counter(runs, hold=True), asker("confirm", hold=True))
    steps: list[list[CallStep]] = [[("count", {}), ("confirm", {})]]
    async with scene.process(*tools, steps=steps) as p:
        await p.say()
        later = scene.crashed()
    async with later.process(*tools) as p:
        assert (await p.open()).message == "confirm"
        assert await p.answer("a") == Done()
        assert await p.content("call_1_2") == "a"
    assert runs == ["count"]


async def test_a_crash_before_a_held_call_began_lets_it_begin(scene: Scene) -> None:
    """It did not begin, so it is not interrupted, though its tool must not run twice."""
    slow, runs = Gate("slow", idempotent=True), list[str]()
    tools = (counter(runs, hold=True), slow.tool)
    async with scene.process(*tools) as p:
        await p.chat.post("go")
        await slow.running.wait()
        later = scene.crashed()
        slow.go.set()
    runs.clear()
    async with later.process(*tools) as p:
        assert await p.rest() == Done()
        assert await p.content("call_1_1") == "count"
    assert runs == ["count"]


# --------------------------------------------------------------------------- messages


async def test_supersede_closes_every_open_question_in_the_write_of_the_message(scene: Scene) -> None:
    """Endings, results and message are one write; the model reads the results first, then what the user wrote."""
    async with scene.process(asker("x"), asker("y")) as p:
        await p.say()
        head = (await p.chat.log()).head
        await p.chat.post("never mind")
        bodies = [entry.body for entry in (await p.chat.log()).after(head)]
        assert [type(one) for one in bodies[:6]] == [Closed, Result, Closed, Result, User, Run]
        assert await p.rest() == Done()
        assert {one.ending for one in await p.bodies(Closed)} == {"superseded"}
        assert (await p.transcript())[2:] == [
            f'call_1_1: {{"ok":false,"error":"{SUPERSEDED}"}}',
            f'call_1_2: {{"ok":false,"error":"{SUPERSEDED}"}}',
            "user: never mind",
            "assistant: Done.",
        ]


async def test_reject_refuses_a_message_only_while_a_question_is_open(scene: Scene) -> None:
    """409 while there is one, whatever else still runs; taken before that and after."""
    slow, late = Gate(), Gate("late")
    tools = (asker(), slow.tool, late.tool)
    steps: list[ScriptStep] = [[("late", {})], [("asks", {}), ("slow", {})]]
    async with scene.process(*tools, steps=steps, on_message="reject") as p:
        await p.chat.post("go")
        await late.running.wait()
        await p.chat.post("before")
        late.go.set()
        await p.until(Asked)
        for running in (True, False):
            before = [one.text for one in await p.bodies(User)]
            with pytest.raises(WaitingError):
                await p.chat.post("while it is open")
            assert [one.text for one in await p.bodies(User)] == before
            if running:
                slow.go.set()
                await p.rest()
        await p.answer("a")
        assert await p.say("after") == Done()
        assert [one.text for one in await p.bodies(User)] == ["go", "before", "after"]


@pytest.mark.parametrize("policy", ["supersede", "reject", "keep"])
async def test_a_message_sent_again_is_harmless_under_every_policy(scene: Scene, policy: str) -> None:
    """The retry of the message that led to a question gets its number, and changes nothing."""
    async with scene.process(asker(), on_message=policy) as p:
        seq = await p.chat.post("go", id="m1")
        await p.rest()
        before = await p.chat.log()
        assert await p.chat.post("go", id="m1") == seq
        assert await p.chat.log() == before
        assert isinstance(await p.rest(), Waiting)


async def test_keep_records_a_message_for_later(scene: Scene) -> None:
    """The question stays open, the model is not called; it reads the message after that step's results."""
    async with scene.process(asker(), on_message="keep") as p:
        await p.say()
        assert isinstance(await p.say("by the way"), Waiting)
        assert len(p.model.requests) == 1
        assert await p.answer("a") == Done()
        assert await p.transcript() == [
            "user: go",
            "assistant: call_1_1",
            "call_1_1: a",
            "user: by the way",
            "assistant: Done.",
        ]


@pytest.mark.parametrize("policy", ["supersede", "reject", "keep"])
async def test_a_question_asked_after_an_unseen_message(scene: Scene, policy: str) -> None:
    """Superseded: it is closed in the write that records it, so nobody answers a question that is out of date."""
    reached, go = anyio.Event(), anyio.Event()

    @tool
    async def t(ctx: Context) -> str:
        reached.set()
        await go.wait()
        return ctx.ask(Say("A"))

    async with scene.process(t, on_message=policy) as p:
        await p.chat.post("go")
        await reached.wait()
        await p.chat.post("wait")
        go.set()
        phase = await p.rest()
        if policy == "supersede":
            assert phase == Done()
            assert (await p.kinds()).endswith("user asked closed result assistant")
            assert (await p.result()).status == "superseded"
        else:
            assert isinstance(phase, Waiting)
            await p.answer("a")
            assert await p.content() == "a"
        assert (await p.transcript())[-2] == "user: wait"


async def test_a_message_while_a_slow_sibling_runs(scene: Scene) -> None:
    """The open question is superseded, the sibling goes on; the model reads both results, then the message."""
    slow = Gate()
    async with scene.process(asker(), slow.tool) as p:
        await p.chat.post("go")
        await p.until(Asked)
        await p.chat.post("never mind")
        assert not await p.chat.interrupts()
        assert len(p.model.requests) == 1
        slow.go.set()
        assert await p.rest() == Done()
        assert await p.content("call_1_2") == "slow"
        lines = await p.transcript()
        assert [line.split(":")[0] for line in lines] == [
            *("user", "assistant", "call_1_1", "call_1_2", "user", "assistant")
        ]


async def test_a_message_while_the_model_speaks_leads_to_another_step(scene: Scene) -> None:
    """The step that was under way has not seen it; the transcript places it after that step."""
    speaking, go = anyio.Event(), anyio.Event()

    class Model:
        async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
            first = not speaking.is_set()
            speaking.set()
            if first:
                await go.wait()
            yield Finished("first" if first else "second")

    async with scene.process() as p:
        object.__setattr__(p.engine.agent, "model", Model())
        await p.chat.post("one")
        await speaking.wait()
        await p.chat.post("two")
        go.set()
        assert await p.rest() == Done()
        assert await p.transcript() == ["user: one", "assistant: first", "user: two", "assistant: second"]
        assert [one.step for one in await p.bodies(Assistant)] == [1, 1]


# --------------------------------------------------------------------------- stopping


async def test_a_cancel_tells_each_call_its_own_truth(scene: Scene) -> None:
    """Open, running, held back, and ended calls: each has the result that is true of it, in one write."""
    slow, runs = Gate(), list[str]()
    tools = (asker(), slow.tool, counter(runs, "ended"), counter(runs, "held", hold=True))
    async with scene.process(*tools) as p:
        await p.chat.post("go")
        await slow.running.wait()
        await p.until(Asked)
        await p.until(Result)
        await p.chat.cancel()
        assert await p.rest() == Done("cancelled")
        head = await p.chat.log()
        slow.go.set()
        texts = {one.call: (one.status, one.text) for one in await p.bodies(Result)}
        assert texts == {
            "call_1_1": ("cancelled", f'{{"ok":false,"error":"{CANCELLED}"}}'),
            "call_1_2": ("interrupted", f'{{"ok":false,"error":"{INTERRUPTED}"}}'),
            "call_1_3": ("ok", "ended"),
            "call_1_4": ("cancelled", f'{{"ok":false,"error":"{NOT_BEGUN}"}}'),
        }
        await p.chat.cancel()
        await p.engine.drain()
        assert await p.chat.log() == head
    assert runs == ["ended"]


async def test_a_cancel_does_not_say_not_run_of_a_body_that_had_asked(scene: Scene) -> None:
    """Its question was answered and the body not executed again yet; but it ran up to there, and did things."""
    charged: list[int] = []
    slow = Gate()

    @tool
    async def t(ctx: Context) -> str:
        charged.append(1)
        return ctx.ask(Say("A"))

    async with scene.process(t, slow.tool) as runner, scene.process(t, slow.tool) as other:
        await runner.chat.post("go")
        await runner.until(Asked)
        await other.chat.answer((await other.open()).id, "a")
        await other.chat.cancel()  # before the runner, which holds the lease, has seen the answer
        assert await other.error("call_1_1") == INTERRUPTED
        slow.go.set()
    assert charged == [1, 1]  # the run's execution, and the answer's look at it


async def test_a_late_result_after_a_cancel_is_refused(scene: Scene) -> None:
    """The body of a worker thread cannot be stopped: what it returns comes too late, and changes nothing."""
    running, go, ended = threading.Event(), threading.Event(), threading.Event()

    @tool
    def t() -> str:
        running.set()
        assert go.wait(10)
        ended.set()
        return "too late"

    async with scene.process(t) as p:
        await p.chat.post("go")
        await anyio.to_thread.run_sync(running.wait, 5)
        await p.chat.cancel()
        before = await p.chat.log()
        go.set()
        await anyio.to_thread.run_sync(ended.wait, 5)
        assert await p.say("and now?") == Done()
        assert (await p.result()).status == "interrupted"
        assert (await p.chat.log()).entries[: before.head] == before.entries


async def test_a_cancel_cuts_off_a_body_that_can_be_cut_off(scene: Scene) -> None:
    """It does not go on in vain: an async body is cancelled where it waits, its `finally` blocks run."""
    running, cleaned = anyio.Event(), anyio.Event()

    @tool
    async def t(ctx: Context) -> str:
        try:
            running.set()
            await anyio.sleep_forever()
        finally:
            cleaned.set()
        return "never"

    async with scene.process(t) as p:
        await p.chat.post("go")
        await running.wait()
        await p.chat.cancel()
        await cleaned.wait()
        assert await p.rest() == Done("cancelled")


async def test_a_run_that_was_cancelled_writes_no_more(scene: Scene) -> None:
    """Another process cancels; before the runner has seen it, its model fails: the run was cancelled, not failed."""
    speaking, go = anyio.Event(), anyio.Event()

    class Model:
        async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
            yield TextDelta("I")
            speaking.set()
            await go.wait()
            raise ModelFailed("Down.")

    async with scene.process() as runner, scene.process() as other:
        object.__setattr__(runner.engine.agent, "model", Model())
        await runner.chat.post("go")
        await speaking.wait()
        await other.chat.cancel()
        go.set()
        await runner.engine.drain()
        assert await other.rest() == Done("cancelled")
        assert len(await other.bodies(Stopped)) == 1


async def test_the_step_limit_counts_since_the_last_message(scene: Scene) -> None:
    """The run stops with a reason; a new message begins a new count."""
    runs: list[str] = []
    call: list[CallStep] = [("count", {})]
    async with scene.process(counter(runs), steps=[call] * 10, max_steps=3) as p:
        phase = await p.say()
        assert isinstance(phase, Done)
        assert (phase.reason, len(runs)) == ("step-limit", 3)
        assert await p.say("go on") == phase
        assert len(runs) == 6


async def test_a_failed_model_call_stops_the_run_until_it_is_resumed(scene: Scene) -> None:
    """What was shown is taken back, nothing of the step is recorded; `resume` makes the same request again."""
    steps: list[ScriptStep] = [[("count", {})], ModelFailed("Too many requests."), "Done."]
    runs: list[str] = []
    async with scene.process(counter(runs), steps=steps) as p:
        assert await p.say() == Done("model-failed", True, "Too many requests.")
        assert (await p.kinds()).endswith("result stopped")
        await p.chat.resume()
        assert await p.rest() == Done()
        assert p.model.requests[1] == p.model.requests[2]
    assert runs == ["count"]


async def test_a_run_that_is_not_the_latest_any_more_asks_its_model_nothing(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process cancelled it and begins anew, just as it was to begin a call: it does not go on with that run."""
    monkeypatch.setattr(loop, "POLL_SECONDS", 3600.0)
    model = Breaks(None)
    runs: list[str] = []
    tools = counter(runs), counter(runs, "held", hold=True)
    async with scene.process(*tools) as old, scene.process(*tools) as new:
        object.__setattr__(new.engine.agent, "model", model)
        append = old.engine.store.append

        async def overtaken(key: Any, head: Any, entries: Any, *more: Any, **names: Any) -> Any:
            if [entry.kind for entry in entries] == ["began"]:
                await new.chat.cancel()
                await new.chat.post("something else")
            return await append(key, head, entries, *more, **names)

        old.engine.store.append = overtaken  # type: ignore[method-assign]
        await old.chat.post("go")
        await old.until(User, 2)
        await old.engine.drain()
        assert len(old.model.requests) == 1
        assert runs == ["count"]
        model.go.set()


class Breaks:
    """A model that says something and then does not finish."""

    def __init__(self, how: BaseException | None) -> None:
        self.how, self.go = how, anyio.Event()

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        await self.go.wait()
        yield TextDelta("I shall now del")
        if self.how:
            raise self.how


@pytest.mark.parametrize("how", [None, ConnectionError("4242"), ModelFailed("Down.")], ids=["ends", "breaks", "fails"])
async def test_a_step_that_did_not_finish_was_never_said(scene: Scene, how: BaseException | None) -> None:
    """Its text was shown and is taken back; it is not in the log; the error's own text is not shown."""
    events: list[Event] = []
    async with scene.process() as p:
        model = Breaks(how)
        object.__setattr__(p.engine.agent, "model", model)
        async for event in p.chat.say("go"):
            model.go.set()
            events.append(event)
        (stopped,) = await p.bodies(Stopped)
        assert (stopped.reason, stopped.retryable) == ("model-failed", True)
        assert "4242" not in stopped.message
        assert not await p.bodies(Assistant)
    (delta,) = [event for event in events if isinstance(event, Delta)]
    (retracted,) = [event for event in events if isinstance(event, Retracted)]
    assert (delta.text, retracted.message_id) == ("I shall now del", delta.message_id)


# --------------------------------------------------------------------------- call ids


async def test_call_ids_that_are_empty_or_repeated_become_distinct(scene: Scene) -> None:
    """In the call and in its result; ids that are fine stay as they are; a later step may repeat one, too."""
    seen: list[str] = []

    @tool
    async def t(ctx: Context) -> str:
        seen.append(ctx.call_id)
        return ctx.call_id

    steps: list[list[CallStep]] = [
        [("t", {}, "x"), ("t", {}, "x"), ("t", {}, ""), ("t", {}, ""), ("t", {}, "x-2")],
        [("t", {}, "x"), ("t", {}, "y")],
    ]
    async with scene.process(t, steps=steps) as p:
        assert await p.say() == Done()
        ids = [call.id for step in await p.bodies(Assistant) for call in step.calls]
        assert ids[:2] == ["x", "x-2"]
        assert ids[6] == "y"
        assert len(set(ids)) == 7
        assert all(ids)
        assert sorted(seen) == sorted(ids)
        assert {one.call: one.content for one in await p.bodies(Result)} == {name: name for name in ids}


# --------------------------------------------------------------------------- a store that does not answer


@asynccontextmanager
async def locked(scene: Scene) -> AsyncIterator[None]:
    """Another program holds the file, and the process does not wait long for it."""
    with pytest.MonkeyPatch.context() as patch, closing(sqlite3.connect(scene.path, isolation_level=None)) as other:
        patch.setattr("yourcall.store.sqlite_file.BUSY_MS", 1)
        patch.setattr(loop, "PATIENCE_SECONDS", 0.05, raising=False)
        other.execute("BEGIN IMMEDIATE")
        yield


async def test_a_result_that_cannot_be_recorded_ends_the_run(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    """The body is not executed again for that: when the store answers, the call is *interrupted*."""
    slow = Gate()
    async with scene.process(slow.tool) as p:
        await p.chat.post("go")
        await slow.running.wait()
        async with locked(scene):
            slow.go.set()
            await p.engine.drain()
        assert slow.runs == 1
        assert "the run is carried on later" in caplog.text
    scene.pass_lease()
    async with scene.process(slow.tool) as p:
        assert await p.rest() == Done()
        assert (await p.result()).status == "interrupted"
    assert slow.runs == 1


@pytest.mark.parametrize("hidden", [False, True], ids=["raised", "swallowed"])
async def test_an_effect_that_cannot_be_recorded_ends_the_run(
    scene: Scene, caplog: pytest.LogCaptureFixture, hidden: bool
) -> None:
    """It is no failure of the tool, whatever the body makes of it: nobody is told that it did not happen. The run is
    carried on by itself, and the body learns that nobody knows."""
    running, go, refused, again = (anyio.Event() for _ in range(4))
    happened: list[int] = []

    async def effect() -> None:
        happened.append(1)
        running.set()
        await go.wait()

    @tool
    async def t(ctx: Context) -> str:
        try:
            await ctx.once("charge", effect)
        except Exception as error:
            return type(error).__name__
        except BaseException:
            refused.set()
            await again.wait()  # the store answers again before the body ends
            if not hidden:
                raise
            with suppress(BaseException):
                await ctx.once("more", lambda: happened.append(2))
        return "all is well"

    async with scene.process(t) as p:
        await p.chat.post("go")
        await running.wait()
        async with locked(scene):
            go.set()
            await refused.wait()
        again.set()
        assert await p.rest() == Done()
        assert "the run is carried on later" in caplog.text
        assert await p.content() == "OutcomeUnknown"
        assert [one.state for one in await p.bodies(Effect)] == ["begun", "unknown"]
    assert happened == [1]


async def test_entries_of_a_whole_conversation_read_as_a_story(scene: Scene) -> None:
    """One run, from a message over a question to the last word, and nothing besides."""
    async with scene.process(asker()) as p:
        await p.say()
        await p.answer("a")
        assert await p.kinds() == "user run assistant began asked answered run began result assistant"
        (answered,) = await p.bodies(Answered)
        assert answered.value == "a"
