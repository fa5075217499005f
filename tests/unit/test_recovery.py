"""What runs again after a crash, what does not, and what a process may still write that lost its lease."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from tests.scene import DEADLINE, Process, Say, Scene
from tests.unit.dying import TOOLS
from yourcall import Agent, Context, Engine, Tool, loop, tool
from yourcall.entries import Answered, Asked, Assistant, Began, Effect, Entry, Result, Run, Stopped
from yourcall.errors import Busy, StoreBusy
from yourcall.log import INTERRUPTED, MAX_BEGINNINGS, Done, Waiting
from yourcall.ports import Appended, Key
from yourcall.store.sqlite import SQLiteStore
from yourcall.testing import ScriptedModel, ScriptStep

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[2]


class Body:
    """A body that hangs until it is let go; `entered` counts its executions."""

    def __init__(self) -> None:
        self.entered = 0
        self.reached, self.go = anyio.Event(), anyio.Event()

    async def __call__(self) -> str:
        self.entered += 1
        self.reached.set()
        await self.go.wait()
        return "ended"


def kinds_of_tools(body: Body) -> dict[str, Tool[Any]]:
    @tool(name="t")
    async def plain() -> str:
        return await body()

    @tool(name="t", idempotent=True)
    async def idempotent() -> str:
        return await body()

    @tool(name="t")
    async def with_context(ctx: Context) -> str:
        return await body()

    return {"plain": plain, "idempotent": idempotent, "context": with_context}


async def crashed_in(scene: Scene, body: Body, made: Tool[Any], *more: Tool[Any]) -> Scene:
    """The file of a process that died in this body."""
    async with scene.process(made, *more) as p:
        await p.chat.post("go")
        await body.reached.wait()
        if more:
            await p.until(Result, len(more))
        later = scene.crashed()
        body.go.set()
    return later


# --------------------------------------------------------------------------- begun by another runner


@pytest.mark.parametrize("kind", ["plain", "idempotent", "context"])
async def test_a_call_that_a_crash_cut_off(scene: Scene, kind: str) -> None:
    """A tool that takes `ctx`, or says that it is idempotent, is executed again; any other is *interrupted*."""
    body = Body()
    made = kinds_of_tools(body)[kind]
    later = await crashed_in(scene, body, made)
    assert body.entered == 1
    async with later.process(made) as p:
        assert await p.rest() == Done()
        if kind == "plain":
            assert await p.result() == Result("call_1_1", {"ok": False, "error": INTERRUPTED}, "interrupted")
        else:
            assert await p.content() == "ended"
    assert body.entered == (1 if kind == "plain" else 2)


async def test_B1_a_plain_sibling_is_not_run_again(scene: Scene) -> None:
    """Its result is recorded; whatever happens to the batch afterwards, it has run once."""
    body, counted = Body(), list[str]()

    @tool
    def count() -> str:
        counted.append("line")
        return "counted"

    made = kinds_of_tools(body)["context"]
    later = await crashed_in(scene, body, made, count)
    async with later.process(made, count) as p:
        assert await p.rest() == Done()
        assert await p.transcript() == [
            *("user: go", "assistant: call_1_1 call_1_2", "call_1_1: ended", "call_1_2: counted", "assistant: Done.")
        ]
    assert counted == ["line"]


async def test_a_crash_while_waiting_executes_nothing(scene: Scene) -> None:
    """The question is open in the log; a new process has nothing to run until it is answered."""
    executions: list[str] = []

    @tool
    def t(ctx: Context) -> str:
        executions.append("x")
        return ctx.ask(Say("A"))

    async with scene.process(t) as p:
        await p.say()
        later = scene.crashed()
    async with later.process(t) as p:
        assert isinstance(await p.rest(), Waiting)
        await p.engine.sweep()
        assert len(executions) == 1
        assert len(await p.bodies(Run)) == 1


async def test_an_answer_that_was_recorded_survives_the_crash_that_follows(scene: Scene) -> None:
    """It is not asked for again: the new process carries the call on with it."""
    body = Body()

    @tool
    async def t(ctx: Context) -> str:
        answer = ctx.ask(Say("A"))
        return f"{answer} {await body()}"

    async with scene.process(t) as p:
        await p.say()
        await p.chat.answer((await p.open()).id, "a")
        await body.reached.wait()
        later = scene.crashed()
        body.go.set()
    async with later.process(t) as p:
        assert await p.rest() == Done()
        assert await p.content() == "a ended"
        assert len(await p.bodies(Answered)) == 1


# --------------------------------------------------------------------------- three beginnings


async def until_it_ends(scene: Scene, make: Callable[[Body], Tool[Any]]) -> tuple[list[Body], Result]:
    """Each process dies in the body; what the executions were, and the result that ends it."""
    bodies: list[Body] = []
    while True:
        bodies.append(body := Body())
        made = make(body)
        async with scene.process(made) as p:
            if len(bodies) == 1:
                await p.chat.post("go")
            async with asyncio.TaskGroup() as tasks:
                ended, reached = tasks.create_task(p.until(Result)), tasks.create_task(body.reached.wait())
                await asyncio.wait((ended, reached), return_when=asyncio.FIRST_COMPLETED)
                ended.cancel()
                reached.cancel()
            if results := await p.bodies(Result):
                return bodies[:-1], results[0]
            later = scene.crashed()
            body.go.set()
        scene = later
        assert len(bodies) < 10


async def test_a_call_that_kills_its_process_is_not_begun_for_ever(scene: Scene) -> None:
    """After three beginnings that came to nothing it is *interrupted*: it may be what kills the process."""
    bodies, result = await until_it_ends(scene, lambda body: kinds_of_tools(body)["context"])
    assert [body.entered for body in bodies] == [1] * MAX_BEGINNINGS
    assert result.status == "interrupted"


async def test_an_effect_is_a_sign_of_progress(scene: Scene) -> None:
    """Beginnings are counted from the last record of the call: here it gets one effect further, three times."""
    died: list[int] = []

    def make(body: Body) -> Tool[Any]:
        @tool
        async def t(ctx: Context) -> str:
            for number in range(min(len(died), 2) + 1):
                await ctx.once(f"part {number}", lambda: None)
            died.append(1)
            return await body()

        return t

    bodies, result = await until_it_ends(scene, make)
    assert len(bodies) == 3 + MAX_BEGINNINGS
    assert result.status == "interrupted"


async def test_a_question_is_a_sign_of_progress(scene: Scene) -> None:
    """Two deaths before the question and three after its answer: only those after it count in the end."""
    asked, executions = [False], list[str]()

    def make(body: Body) -> Tool[Any]:
        @tool
        async def t(ctx: Context) -> str:
            if asked[0]:
                ctx.ask(Say("A"))
            executions.append("x")
            return await body()

        return t

    for _ in range(MAX_BEGINNINGS - 1):
        body = Body()
        first = not scene.path.exists()
        async with scene.process(make(body)) as p:
            if first:
                await p.chat.post("go")
            await body.reached.wait()
            later = scene.crashed()
            body.go.set()
        scene = later
    asked[0] = True
    body = Body()
    async with scene.process(make(body)) as p:
        assert isinstance(await p.rest(), Waiting)
        await p.chat.answer((await p.open()).id, "a")
        await body.reached.wait()
        later = scene.crashed()
        body.go.set()
    async with later.process(make(second := Body())) as p:
        await second.reached.wait()
        second.go.set()
        assert await p.rest() == Done()
        assert await p.content() == "ended"
        assert [len(one.calls) for one in await p.bodies(Began)] == [1] * 5


# --------------------------------------------------------------------------- frozen on the call


async def test_what_a_crash_means_for_a_call_does_not_depend_on_todays_code(scene: Scene) -> None:
    """The plain tool of then takes a context today; but the body that was cut off had not accepted to run again."""
    body = Body()
    tools = kinds_of_tools(body)
    later = await crashed_in(scene, body, tools["plain"])
    async with later.process(tools["context"]) as p:
        assert await p.rest() == Done()
        assert (await p.result()).status == "interrupted"
    assert body.entered == 1


async def test_a_call_that_may_run_again_still_may_when_its_tool_became_plain(scene: Scene) -> None:
    """As above, the other way round."""
    body = Body()
    tools = kinds_of_tools(body)
    later = await crashed_in(scene, body, tools["idempotent"])
    async with later.process(tools["plain"]) as p:
        assert await p.rest() == Done()
        assert await p.content() == "ended"


@pytest.mark.parametrize("held", [True, False], ids=["held-then", "held-today"])
async def test_hold_is_what_it_was_when_the_call_was_made(scene: Scene, held: bool) -> None:
    """A call that waited keeps waiting, and one that did not is not held back, whatever the decorator says today."""
    body, runs = Body(), list[str]()
    slow = kinds_of_tools(body)["context"]

    def other(hold: bool) -> Tool[Any]:
        @tool(name="other", hold=hold)
        async def made(ctx: Context) -> str:
            runs.append("other")
            return ctx.ask(Say("A"))

        return made

    async with scene.process(slow, other(held)) as p:
        await p.chat.post("go")
        await body.reached.wait()
        if not held:
            await p.until(Asked)
        later = scene.crashed()
        body.go.set()
    runs.clear()
    again = Body()
    async with later.process(kinds_of_tools(again)["context"], other(not held)) as p:
        await again.reached.wait()
        if held:
            assert not await p.chat.interrupts()
            assert not runs
        else:
            assert (await p.open()).call_id == "call_1_2"
            await p.chat.answer((await p.open()).id, "a")
            await p.until(Result)
        again.go.set()
        assert isinstance(await p.rest(), Waiting if held else Done)


async def test_a_tool_that_was_renamed_fails_its_calls(scene: Scene) -> None:
    """The new name is another tool: the call says which one is gone, and is not given to a stranger."""
    body = Body()
    later = await crashed_in(scene, body, kinds_of_tools(body)["context"])

    @tool
    async def renamed(ctx: Context) -> str:
        return await body()

    async with later.process(renamed) as p:
        assert await p.rest() == Done()
        assert await p.error() == "The tool t does not exist any more."
    assert body.entered == 1


# --------------------------------------------------------------------------- the lease is lost


@pytest.mark.parametrize("kind", ["plain", "context"])
async def test_a_process_that_lost_its_lease_writes_no_more(scene: Scene, kind: str) -> None:
    """Its body comes to an end while the other's runs; its result is refused, and it begins nothing again."""
    old_body, new_body = Body(), Body()
    async with scene.process(kinds_of_tools(old_body)[kind], steps=[[("t", {})]]) as old:
        await old.chat.post("go")
        await old_body.reached.wait()
        scene.pass_lease()
        async with scene.process(kinds_of_tools(new_body)[kind]) as new:
            if kind == "plain":
                await new.rest()
            else:
                await new_body.reached.wait()
            before = await new.chat.log()
            old_body.go.set()
            await old.engine.drain()
            assert await new.chat.log() == before
            new_body.go.set()
            assert await new.rest() == Done()
            assert len(await new.bodies(Run)) == 2
            assert (await new.result()).status == ("interrupted" if kind == "plain" else "ok")
    assert old_body.entered == 1
    assert new_body.entered == (0 if kind == "plain" else 1)


async def test_a_body_that_a_shutdown_cuts_off_has_not_failed(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    """It has no result: the next process carries it on, without waiting for the lease."""
    body = Body()
    made = kinds_of_tools(body)["context"]

    async def stopped() -> None:
        async with scene.process(made) as p:
            await p.chat.post("go")
            await body.reached.wait()
            raise KeyError

    with pytest.raises(KeyError):
        await stopped()
    assert not caplog.records
    body.go.set()
    async with scene.process(made) as p:
        assert await p.rest() == Done()
        assert await p.content() == "ended"
    assert body.entered == 2


async def test_a_body_that_lost_its_lease_is_cut_off(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """The runner looks at the head now and then: it does not go on in vain, its `finally` blocks run."""
    monkeypatch.setattr(loop, "POLL_SECONDS", 0.01)
    cleaned, second = anyio.Event(), Body()
    entered: list[int] = []

    @tool
    async def t(ctx: Context) -> str:
        entered.append(1)
        if len(entered) > 1:
            return await second()
        try:
            await anyio.sleep_forever()
        finally:
            cleaned.set()
        return "never"

    async with scene.process(t) as old:
        await old.chat.post("go")
        await old.until(Began)
        scene.pass_lease()
        async with scene.process(t) as new:
            await cleaned.wait()
            second.go.set()
            assert await new.rest() == Done()
            assert await new.content() == "ended"


async def test_a_worker_thread_that_lost_its_lease_finishes_in_vain(scene: Scene) -> None:
    """A thread cannot be stopped: what it returns is refused, and its later calls of the context change nothing."""
    running, go, ended = threading.Event(), threading.Event(), threading.Event()
    executions: list[str] = []

    @tool
    def t(ctx: Context) -> str:
        executions.append("x")
        if len(executions) > 1:
            return "new"
        running.set()
        assert go.wait(10)
        try:
            return ctx.ask(Say("too late"))
        finally:
            ended.set()

    async with scene.process(t) as old:
        await old.chat.post("go")
        await anyio.to_thread.run_sync(running.wait, 5)
        scene.pass_lease()
        async with scene.process(t) as new:
            assert await new.rest() == Done()
            go.set()
            await anyio.to_thread.run_sync(ended.wait, 5)
            await old.engine.drain()
            assert await new.content() == "new"
            assert not await new.bodies(Asked)
    assert len(executions) == 2


# --------------------------------------------------------------------------- processes that are really killed


async def killed(folder: Path, at: str) -> Scene:
    """The file of a process that was killed there, to be opened when its lease is over."""
    command = [sys.executable, "-m", "tests.unit.dying", str(folder), at]
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    with anyio.fail_after(20):
        process = await anyio.run_process(command, check=False, cwd=ROOT, env={**os.environ, "PYTHONPATH": path})
    assert process.returncode == -signal.SIGKILL, process.stderr.decode()
    scene = Scene(folder)
    scene.pass_lease()
    return scene


async def test_a_killed_process_leaves_a_plain_call_interrupted(tmp_path: Path) -> None:
    """SIGKILL in a tool's body: it has run once, and the model is told that nobody knows."""
    scene = await killed(tmp_path, "plain")
    async with scene.process(*TOOLS) as p:
        assert await p.rest() == Done()
        assert await p.error() == INTERRUPTED
    assert (tmp_path / "lines.txt").read_text() == "plain\n"


async def test_a_killed_process_leaves_an_effect_unknown(tmp_path: Path) -> None:
    """SIGKILL in the function of `once`: it is not done again."""
    scene = await killed(tmp_path, "charge")
    async with scene.process(*TOOLS) as p:
        assert await p.rest() == Done()
        assert await p.content() == "once('charge') was interrupted: it may or may not have happened"
        assert [one.state for one in await p.bodies(Effect)] == ["begun", "unknown"]
    assert (tmp_path / "lines.txt").read_text() == "charge\n"


async def test_a_killed_process_leaves_its_question_to_be_answered(tmp_path: Path) -> None:
    """SIGKILL while it waits: the answer goes to another process, where all values have their types."""
    scene = await killed(tmp_path, "waiting")
    async with scene.process(*TOOLS) as p:
        assert await p.answer("yes") == Done()
        assert await p.content() == "yes"
    assert (tmp_path / "lines.txt").read_text() == "plan\nasked Visit 02.01. ['a', 'b'] 'yes'\n"


async def test_a_killed_process_leaves_the_answer_that_it_took(tmp_path: Path) -> None:
    """SIGKILL after the answer was taken: it is carried on with that answer, and nobody is asked again."""
    scene = await killed(tmp_path, "answered")
    async with scene.process(*TOOLS) as p:
        assert await p.rest() == Done()
        assert await p.content() == "yes"
        assert len(await p.bodies(Asked)) == 1
    assert (tmp_path / "lines.txt").read_text() == "plan\n" + 2 * "asked Visit 02.01. ['a', 'b'] 'yes'\n"


def beside_a_question(body: Body) -> tuple[tuple[Tool[Any], ...], list[ScriptStep]]:
    """A call that must not run again and one that asks, made in one step."""

    @tool
    def asks(ctx: Context) -> str:
        return ctx.ask(Say("A"))

    return (asks, kinds_of_tools(body)["plain"]), [[("asks", {}), ("t", {})], "Thanks."]


async def test_a_takeover_that_leaves_nothing_to_run_leaves_the_lease_free(scene: Scene) -> None:
    """All that a lost run left is a call that must not run again, beside a question: its answer goes on at once."""
    body = Body()
    tools, steps = beside_a_question(body)
    async with scene.process(*tools, steps=steps, on_message="keep") as lost:
        await lost.chat.post("go")
        await body.reached.wait()
        await lost.until(Asked, 1)
        later = scene.crashed()
        body.go.set()
    async with later.process(*tools, steps=["Thanks."], on_message="keep") as p:
        assert isinstance(await p.rest(), Waiting)
        lease = (await p.engine.store.load(p.chat.key)).row.lease
        assert lease is not None
        assert lease.until == 0
        await p.answer("a")
        assert await p.rest() == Done()


async def test_a_takeover_with_nothing_to_run_takes_no_lease_that_was_renewed(scene: Scene) -> None:
    """Whoever was late renews as the other one writes: it goes on, and nothing is said to be interrupted."""
    body = Body()
    tools, steps = beside_a_question(body)
    async with scene.process(*tools, steps=steps) as late:
        await late.chat.post("go")
        await body.reached.wait()
        await late.until(Asked, 1)
        scene.pass_lease()
        append = SQLiteStore.append

        async def overtaken(store: Any, key: Any, head: Any, *more: Any, **names: Any) -> Any:
            run = (await late.chat.log()).runner
            assert run is not None
            assert await late.engine.store.renew(key, run, 30)
            return await append(store, key, head, *more, **names)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(SQLiteStore, "append", overtaken)
            async with scene.process(*tools):  # it sweeps
                patch.undo()
                body.go.set()
                await late.until(Result)
        assert (await late.content("call_1_2")) == "ended"
        await late.answer("a")
        assert await late.rest() == Done()


class Doubtful(SQLiteStore):
    """Loses its word on an append: it was written, and nobody hears of it."""

    lost = False

    async def append(self, *args: Any, **options: Any) -> Appended:
        appended = await super().append(*args, **options)
        if self.lost:
            self.lost = False
            raise StoreBusy
        return appended


async def test_a_write_of_which_nobody_heard_holds_up_no_run(tmp_path: Path) -> None:
    """The lease that it took is of no run: the next sweep gives it back, and the answer is carried on at once."""

    @tool
    def t(ctx: Context) -> str:
        return ctx.ask(Say("Sure?"))

    store = Doubtful(str(tmp_path / "c.db"), clock=lambda: 1_000.0)
    with anyio.fail_after(DEADLINE):
        async with Engine(Agent(ScriptedModel([[("t", {})], "Done."]), tools=[t]), store, sweep_every=3600) as engine:
            p = Process(engine, engine.agent.model)  # type: ignore[arg-type]  # it is the one of above
            await p.say()
            question = await p.open()
            store.lost = True
            with pytest.raises(Busy):
                await p.chat.answer(question.id, "yes")
            assert (await p.chat.answer(question.id, "yes")).payload
            await engine.sweep()
            assert await p.rest() == Done()
            assert await p.content() == "yes"


class Away(SQLiteStore):
    """Takes no step of a model, so many times."""

    refusals = 0

    async def append(self, key: Key, head: int, entries: Sequence[Entry], *args: Any, **options: Any) -> Appended:
        if self.refusals and any(isinstance(entry.body, Assistant) for entry in entries):
            self.refusals -= 1
            raise StoreBusy
        return await super().append(key, head, entries, *args, **options)


async def test_a_store_that_was_away_for_long_stops_no_conversation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A run that could not record its step is no failure to be shown: it is carried on from what is recorded."""
    monkeypatch.setattr(loop, "PATIENCE_SECONDS", 0.0)
    store = Away(str(tmp_path / "c.db"))
    with anyio.fail_after(DEADLINE):
        async with Engine(Agent(ScriptedModel(["Lost.", "Done."])), store) as engine:
            p = Process(engine, engine.agent.model)  # type: ignore[arg-type]  # it is the one of above
            store.refusals = 1
            await p.chat.post("go")
            await p.until(Assistant)
            assert await p.rest() == Done()
            assert await p.bodies(Stopped) == []
            assert len(await p.bodies(Run)) == 2
    assert {record.levelname for record in caplog.records} == {"WARNING"}
