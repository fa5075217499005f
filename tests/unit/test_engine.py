"""Who runs, until when, and at what cost: leases, sweeps, time limits, starting, draining."""

from __future__ import annotations

import asyncio
import gc
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from itertools import repeat
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest

from tests.scene import Process, Say, Scene
from tests.support import Clock, ClockLoop, WatchedStore, kinds, placed, until
from yourcall import Agent, Ask, Context, Conversation, Engine, Expired, Tool, tool
from yourcall.bus.local import LocalBus
from yourcall.entries import Answered, Asked, Assistant, Body, Closed, Entry, Result, Run, User
from yourcall.errors import Busy, CheckFailed, ProgrammingError
from yourcall.errors import Closed as ClosedError
from yourcall.events import Ended
from yourcall.log import Done, Log, Transcript, Waiting
from yourcall.loop import Run as LoopRun
from yourcall.ports import Appended, Finished, Key, Lease, Model, ModelEvent, ModelRequest, Row, Store, TextDelta
from yourcall.record import LEASE_SECONDS, Record
from yourcall.store.sqlite import SQLiteStore
from yourcall.testing import ScriptedModel

pytestmark = pytest.mark.anyio

KEY = Key("ada", "c")


class Gate:
    """A place in a body where it waits until it is let go."""

    def __init__(self) -> None:
        self.entered = 0
        self.reached, self.go = anyio.Event(), anyio.Event()

    async def __call__(self) -> str:
        self.entered += 1
        self.reached.set()
        await self.go.wait()
        return "ended"


def working(gate: Gate) -> Tool[Any]:
    """A tool that may run again after a crash."""

    @tool(idempotent=True)
    async def work() -> str:
        return await gate()

    return work


def asking(limit: float | None = None) -> Tool[Any]:
    @tool
    def asks(ctx: Context) -> str:
        return ctx.ask(Say("Which?"), expires_in=limit)

    return asks


async def leave_behind(store: Store, id: str, lease: Lease | None = None) -> None:
    """A conversation as a process leaves it that dies right after it took a message."""
    await store.append(Key("ada", id), 0, placed(0, User("go"), Run("dead")), Row(1, "run", None, lease))


async def row(process: Process) -> Row:
    return (await process.engine.store.load(KEY)).row


async def phases(store: Store) -> set[str]:
    return {listed.phase for listed in await store.conversations("ada", limit=1000)}


# --------------------------------------------------------------------------- as time passes


class TestInTime:
    """One clock is the store's and the loop's. It leaps."""

    @pytest.fixture
    def clock(self) -> Clock:
        return Clock()

    @pytest.fixture
    def anyio_backend(self, clock: Clock) -> tuple[str, dict[str, Any]]:
        return "asyncio", {"loop_factory": lambda: ClockLoop(clock)}

    @pytest.fixture
    def store(self, tmp_path: Path, clock: Clock) -> SQLiteStore:
        return SQLiteStore(str(tmp_path / "c.db"), clock=clock)

    @asynccontextmanager
    async def process(
        self, store: Store, *tools: Tool[Any], model: ScriptedModel | None = None
    ) -> AsyncIterator[Process]:
        model = model or ScriptedModel([[(tool.name, {}) for tool in tools], *["Done."] * 9])
        async with Engine(Agent[Any](model, tools=tools), store) as engine:
            yield Process(engine, model)

    async def test_a_lease_is_renewed_while_its_run_goes_on(self, store: SQLiteStore, clock: Clock) -> None:
        """A tool that works for a minute keeps its run: no sweep of another process takes it over."""
        gate, second = Gate(), SQLiteStore(store.file.path, clock=clock)
        async with self.process(store, working(gate)) as p, self.process(second) as other:
            await p.chat.post("go")
            await gate.reached.wait()
            for _ in range(12):
                clock.now += 5
                await until(lambda: _leased_for(store, LEASE_SECONDS - 10))
                await other.engine.sweep()
            gate.go.set()
            assert await p.rest() == Done()
            assert len(await p.bodies(Run)) == 1
        assert gate.entered == 1
        assert not other.model.requests

    async def test_a_renewal_that_fails_is_tried_again(
        self, tmp_path: Path, clock: Clock, caplog: pytest.LogCaptureFixture
    ) -> None:
        """A store that is busy for a moment costs no run: a lease outlasts one renewal that is missed."""
        failing: list[Exception] = []

        class Flaky(SQLiteStore):
            async def renew(self, key: Key, runner: str, seconds: float) -> bool:
                if failing:
                    raise failing.pop()
                return await super().renew(key, runner, seconds)

        gate, store = Gate(), Flaky(str(tmp_path / "c.db"), clock=clock)
        async with self.process(store, working(gate)) as p:
            await p.chat.post("go")
            await gate.reached.wait()
            failing.append(Busy())
            clock.now += 10
            await until(lambda: not failing)
            clock.now += 10
            await until(lambda: _leased_for(store, LEASE_SECONDS))
            gate.go.set()
            assert await p.rest() == Done()
        assert len(caplog.records) == 1

    async def test_a_run_whose_lease_was_taken_stops(self, store: SQLiteStore, clock: Clock) -> None:
        """It learns of it at the latest when it renews, and lets go of its body."""
        gate = Gate()
        async with self.process(store, working(gate)) as p:
            await p.chat.post("go")
            await gate.reached.wait()
            head = (await store.load(KEY)).head
            clock.now += LEASE_SECONDS
            lease = Lease("other", clock.now + LEASE_SECONDS)
            taken = await store.append(KEY, head, placed(head, Run("other")), Row(1, "run", None, lease))
            assert taken.value == "done"
            clock.now += 10
            await p.engine.drain()
            assert kinds((await p.chat.log()).entries)[head:] == ["run"]
            assert (await row(p)).lease == lease

    async def test_the_sweep_comes_by_itself(self, store: SQLiteStore, clock: Clock) -> None:
        """Every few seconds: what expired is closed, what nobody runs is carried on, without anybody's request."""
        async with self.process(store, asking(8)) as p:
            assert isinstance(await p.say(), Waiting)
            await leave_behind(store, "left", Lease("dead", clock.now + 9))
            clock.now += 7.5
            await p.engine.sweep()
            assert len(await p.chat.interrupts()) == 1
            assert await phases(store) == {"waiting", "run"}
            clock.now += 5
            await until(lambda: _all_are(store, "done"))
            assert (await p.result()).status == "expired"

    async def test_a_sweep_that_fails_is_not_the_last(
        self, tmp_path: Path, clock: Clock, caplog: pytest.LogCaptureFixture
    ) -> None:
        """A store that does not answer for a while is asked again."""
        sweeps: list[Exception | None] = [None, OSError("disk"), Busy(), None]

        class Flaky(SQLiteStore):
            async def due(self, limit: int, after: Key | None = None) -> Sequence[Key]:
                if sweeps and (error := sweeps.pop(0)):
                    raise error
                return await super().due(limit, after)

        store = Flaky(str(tmp_path / "c.db"), clock=clock)
        async with self.process(store):
            await leave_behind(store, "left")
            for left in (2, 1, 0):
                clock.now += 5
                await until(lambda left=left: len(sweeps) == left)  # type: ignore[misc]
            await until(lambda: _all_are(store, "done"))
        assert len(caplog.records) == 2

    async def test_closing_waits_for_runs_that_end(self, store: SQLiteStore) -> None:
        """A run that is at its end when the engine closes is recorded to its end."""
        gate = Gate()
        async with self.process(store, working(gate)) as p, anyio.create_task_group() as tasks:
            await p.chat.post("go")
            await gate.reached.wait()
            tasks.start_soon(p.engine.drain)
            await until(lambda: p.engine.draining)
            gate.go.set()
        async with self.process(store) as later:
            assert await later.kinds() == "user run assistant began result assistant"
            assert not later.model.requests

    async def test_closing_waits_no_longer_than_its_grace(
        self, store: SQLiteStore, clock: Clock, caplog: pytest.LogCaptureFixture
    ) -> None:
        """A run that does not end is cut off, its lease given back: the next process carries it on at once."""
        gate, closing, closed = Gate(), anyio.Event(), anyio.Event()
        engine = Engine(Agent[Any](ScriptedModel([[("work", {})]]), tools=[working(gate)]), store)

        async def life() -> None:
            async with engine:
                await engine.conversation("c", user="ada").post("go")
                await closing.wait()
            closed.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(life)
            await gate.reached.wait()
            closing.set()
            await until(lambda: engine.draining)
            clock.now += 14
            for _ in range(50):
                await anyio.lowlevel.checkpoint()
            assert not closed.is_set()
            clock.now += 2
            await until(closed.is_set)
        gate.go.set()
        async with self.process(store, working(gate), model=ScriptedModel(["Done."])) as later:
            assert await later.rest() == Done()
            assert await later.kinds() == "user run assistant began run began result assistant"
        assert gate.entered == 2
        assert not caplog.records

    async def test_what_is_refused_while_draining(self, store: SQLiteStore) -> None:
        """Nothing is taken that could not be carried on, and clients are told to come again; reading goes on."""
        gate = Gate()
        async with self.process(store, working(gate), asking()) as p, anyio.create_task_group() as tasks:
            await p.chat.post("go")
            await gate.reached.wait()
            (question,) = await until(p.chat.interrupts)
            tasks.start_soon(p.engine.drain)
            await until(lambda: p.engine.draining)
            before = await p.chat.log()
            attempts: list[Callable[[], Awaitable[object]]] = [
                lambda: p.chat.post("more"),
                lambda: p.chat.answer(question.id, "a"),
                lambda: p.chat.skip(question.id),
                p.chat.cancel,
                p.chat.resume,
                lambda: p.engine.conversation("new", user="ada").post("hi"),
            ]
            for attempt in attempts:
                with pytest.raises(Busy) as refused:
                    await attempt()
                assert refused.value.status == 503
            assert await p.chat.interrupts() == (question,)
            assert await p.chat.log() == before
            assert len(await p.engine.conversations(user="ada")) == 1
            gate.go.set()
        async with self.process(store, working(gate), asking(), model=ScriptedModel(["Done."])) as later:
            assert await later.answer("a") == Done()


async def _leased_for(store: Store, seconds: float) -> bool:
    snapshot = await store.load(KEY)
    return snapshot.row.lease is not None and snapshot.row.lease.until - snapshot.now >= seconds - 0.5


async def _all_are(store: Store, phase: str) -> bool:
    return await phases(store) == {phase}


# --------------------------------------------------------------------------- starting


async def test_a_start_carries_on_what_was_left(scene: Scene) -> None:
    """What a dead process was at is taken up before anybody asks, once its lease is over; not a moment earlier."""
    gate = Gate()
    async with scene.process(working(gate)) as p:
        await p.chat.post("go")
        await gate.reached.wait()
        early = scene.crashed()
        gate.go.set()
    early.now = scene.now + LEASE_SECONDS - 1
    async with early.process(working(gate)) as other:
        await other.engine.sweep()
        assert await other.kinds() == "user run assistant began"
    early.now += 1
    async with early.process(working(gate)) as later:
        assert await later.rest() == Done()
        assert await later.kinds() == "user run assistant began run began result assistant"


async def test_a_start_carries_on_all_that_was_left(scene: Scene) -> None:
    """However many runs a crash has cut off, and whatever stands in between: one pass takes them all."""
    store = SQLiteStore(str(scene.path), clock=lambda: scene.now)
    await store.open()
    for n in range(130):
        lease = Lease("elsewhere", scene.now + 20) if n % 10 == 0 else None
        await leave_behind(store, str(n), lease)
    await store.close()
    async with scene.process() as p:
        await p.engine.drain()
        listed = await p.engine.store.conversations("ada", limit=1000)
        assert sorted(one.id for one in listed if one.phase == "run") == sorted(str(n) for n in range(0, 130, 10))
        assert len(p.model.requests) == 117


async def test_one_conversation_that_cannot_be_read_hinders_no_other(
    scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    """Of a newer release, or damaged: the engine starts, sweeps the others, and says which it could not."""
    store = SQLiteStore(str(scene.path), clock=lambda: scene.now)
    await store.open()
    for id in ("damaged", "lost", "newer", "whole"):
        await leave_behind(store, id)
    await store.close()
    with sqlite3.connect(scene.path) as db:
        for id, body in {"damaged": "{", "lost": "{}", "newer": '{"v":9,"text":""}'}.items():
            where = "conversation = (SELECT key FROM conversation WHERE id = ?) AND seq = 1"
            db.execute(f"UPDATE entry SET body = ? WHERE {where}", (body, id))
    db.close()
    async with scene.process() as p:
        whole = p.engine.conversation("whole", user="ada")
        await until(lambda: _is_done(whole))
        await p.engine.sweep()
        assert await p.say() == Done()
    assert len(caplog.records) == 6


async def _is_done(chat: Conversation[Any]) -> bool:
    return (await chat.snapshot())[1] == Done()


async def test_an_engine_is_opened_again(scene: Scene) -> None:
    """Closed and opened once more, it serves as before, on the same file."""
    model = ScriptedModel(["One.", "Two."])
    engine = Engine(Agent[Any](model), SQLiteStore(str(scene.path)))
    for text in ("a", "b"):
        async with engine:
            assert await Process(engine, model).say(text) == Done()
    async with engine:
        assert kinds((await engine.conversation("c", user="ada").log()).entries).count("user") == 2


async def test_an_engine_that_could_not_start_can_be_opened_later(scene: Scene) -> None:
    """A store that fails at the start fails it, and leaves nothing open; the app may try again."""
    failing = [OSError("disk")]

    class Flaky(SQLiteStore):
        async def due(self, limit: int, after: Key | None = None) -> Sequence[Key]:
            if failing:
                raise failing.pop()
            return await super().due(limit, after)

    model = ScriptedModel(["Done."])
    engine = Engine(Agent[Any](model), Flaky(str(scene.path)))
    with pytest.raises(ExceptionGroup, match="unhandled errors"):
        async with engine:
            raise AssertionError("It must not start.")
    with pytest.raises(ProgrammingError, match="Open the engine"):
        await engine.conversation("c", user="ada").post("hi")
    async with engine:
        assert await Process(engine, model).say("hi") == Done()


# --------------------------------------------------------------------------- a run that is not the latest


@pytest.mark.parametrize("lands", ["result", "question", "effect"])
async def test_a_stale_run_writes_nothing(scene: Scene, lands: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock leaps while a body works, and another process is at the same call: what the first brings is refused."""
    monkeypatch.setattr("yourcall.loop.POLL_SECONDS", 3600.0)  # it learns of the other one as it writes

    def working(gate: Gate, mine: str) -> Tool[Any]:
        @tool
        async def work(ctx: Context) -> str:
            await gate()
            if lands == "question":
                return ctx.ask(Say(f"{mine}?"))
            return await ctx.once("pay", _paid) + mine if lands == "effect" else mine

        return work

    old_gate, new_gate = Gate(), Gate()
    async with scene.process(working(old_gate, "old"), steps=[[("work", {})]]) as old:
        await old.chat.post("go")
        await old_gate.reached.wait()
        scene.pass_lease()
        async with scene.process(working(new_gate, "new")) as new:
            await new_gate.reached.wait()
            before = await new.chat.log()
            old_gate.go.set()
            await old.engine.drain()
            assert await new.chat.log() == before
            new_gate.go.set()
            if lands == "question":
                await new.rest()
                assert (await new.open()).message == "new?"
            else:
                assert await new.rest() == Done()
                assert (await new.content()).endswith("new")


async def _paid() -> str:
    return "paid "


class Slow:
    """A model that speaks when it is let."""

    def __init__(self, text: str) -> None:
        self.text, self.gate = text, Gate()

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        yield TextDelta(self.text)
        await self.gate()
        yield Finished(self.text)


async def test_a_stale_run_records_no_step(scene: Scene) -> None:
    """Nor does what its model says at last; the conversation has the other one's answer only."""
    old, new = Slow("old"), Slow("new")
    new.gate.go.set()

    def engine(model: Model) -> Engine[Any]:
        store = SQLiteStore(str(scene.path), clock=lambda: scene.now)
        return Engine(Agent[Any](model), store, sweep_every=3600)

    async with engine(old) as first:
        await first.conversation("c", user="ada").post("go")
        await old.gate.reached.wait()
        scene.pass_lease()
        async with engine(new) as second:
            chat = second.conversation("c", user="ada")
            await until(lambda: _is_done(chat))
            old.gate.go.set()
            await first.drain()
            texts = [e.body.text for e in (await chat.log()).entries if isinstance(e.body, Assistant)]
            assert texts == ["new"]


@pytest.mark.parametrize("lands", ["result", "question"])
async def test_a_deleted_conversations_run_writes_nothing_into_its_successor(scene: Scene, lands: str) -> None:
    """Another process deletes it and uses its id anew, while a body here still works: nothing of it gets over."""
    gate = Gate()

    @tool
    async def work(ctx: Context) -> str:
        await gate()
        return ctx.ask(Say("Old?")) if lands == "question" else "old"

    async with scene.process(work, steps=[[("work", {}, "old")]]) as old:
        await old.chat.post("old")
        await gate.reached.wait()
        async with scene.process(asking(), steps=[[("asks", {}, "new")]]) as new:
            assert await new.chat.delete()
            assert isinstance(await new.say("new"), Waiting)
            before = await new.chat.log()
            gate.go.set()
            await old.engine.drain()
            assert await new.chat.log() == before
            assert await new.answer("a") == Done()


async def test_a_run_that_cannot_even_fail_is_carried_on(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    """The store refuses a step and then the word that the run has failed; when it is well, another run goes on."""
    failing: list[Exception] = []

    class Flaky(SQLiteStore):
        async def append(self, *args: Any, **kwargs: Any) -> Appended:
            if failing:
                raise failing.pop()
            return await super().append(*args, **kwargs)

    def speak(transcript: Transcript) -> str:
        if not caplog.records:
            failing.extend([OSError("disk"), OSError("disk")])
        return "Done."

    model = ScriptedModel([speak, "Again."])
    async with Engine(Agent[Any](model), Flaky(str(scene.path)), sweep_every=3600) as engine:
        p = Process(engine, model)
        await p.chat.post("go")
        assert await p.rest() == Done()
        assert await p.kinds() == "user run run assistant"
    assert len(caplog.records) == 2


# --------------------------------------------------------------------------- deps


@tool
def shows(ctx: Context) -> str:
    return repr(ctx.deps)


class Service:
    def for_user(self, user: str, conversation_id: str) -> str:
        return f"method {user} {conversation_id}"


async def _deps_of(user: str, conversation_id: str) -> str:
    await anyio.lowlevel.checkpoint()
    return f"async {user} {conversation_id}"


DEPS: dict[str, tuple[Any, Any]] = {
    "a value": ({"n": 1}, {"n": 1}),
    "nothing": (None, None),
    "a falsy value": (0, 0),
    "a function": (lambda user, conversation_id: f"sync {user} {conversation_id}", "sync ada c"),
    "an async function": (_deps_of, "async ada c"),
    "a method": (Service().for_user, "method ada c"),
    "a class is a value": (Service, Service),
}


@pytest.mark.parametrize("name", DEPS)
async def test_what_tools_find_as_deps(scene: Scene, name: str) -> None:
    """A value as it is; a function is called with the user and the conversation, whoever's request it was."""
    deps, expected = DEPS[name]
    async with scene.process(shows, deps=deps) as p:
        await p.say()
        assert await p.content() == repr(expected)


async def test_deps_are_made_anew_for_each_run_and_each_answer(scene: Scene) -> None:
    """Recovery has no request: a run's are made when it starts, an answer's when it is checked."""
    made: list[tuple[str, str]] = []

    def deps(user: str, conversation_id: str) -> int:
        made.append((user, conversation_id))
        return len(made)

    @tool
    def asks(ctx: Context) -> str:
        return f"{ctx.deps} {ctx.ask(Say('Which?'))}"

    async with scene.process(asks, deps=deps) as p:
        await p.say()
        await p.answer("a")
        assert await p.content() == "3 a"
    assert made == [("ada", "c")] * 3


async def test_deps_that_cannot_be_made_end_the_run(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    """The run ends as one to try again, without the exception's words; when they can be made, it goes on."""
    broken = [OSError("password=canary")]

    def deps(user: str, conversation_id: str) -> str:
        if broken:
            raise broken[0]
        return "deps"

    async with scene.process(shows, deps=deps) as p:
        assert await p.say() == Done("internal", True, "Something went wrong on the server. Try again.")
        assert "canary" not in repr(await p.chat.log())
        broken.clear()
        await p.chat.resume()
        assert await p.rest() == Done()
        assert await p.content() == "'deps'"
    assert len(caplog.records) == 1


async def test_deps_that_cannot_be_made_leave_the_question_open(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    """An answer that cannot be checked just now is not taken, and not lost either: the user can give it again."""
    broken: list[Exception] = []

    async def deps(user: str, conversation_id: str) -> str:
        if broken:
            raise broken[0]
        return "deps"

    async with scene.process(asking(), deps=deps) as p:
        await p.say()
        broken.append(OSError("password=canary"))
        with pytest.raises(CheckFailed):
            await p.answer("a")
        broken.clear()
        assert await p.answer("a") == Done()
    assert len(caplog.records) == 1


# --------------------------------------------------------------------------- time limits


async def test_a_limit_counts_from_the_record_of_the_question(scene: Scene) -> None:
    """However long the body took to unwind: a question is not born with a part of its time gone."""

    @tool
    def asks(ctx: Context) -> str:
        try:
            return ctx.ask(Say("Which?"), expires_in=10)
        finally:
            scene.now += 100

    async with scene.process(asks) as p:
        await p.say()
        entry = next(entry for entry in (await p.chat.log()).entries if isinstance(entry.body, Asked))
        assert entry.at == scene.now
        assert (await p.open()).expires_at == scene.now + 10


@pytest.mark.parametrize("ends", ["answered", "skipped"])
async def test_what_was_in_time_when_it_was_decided_may_be_too_late(scene: Scene, ends: str) -> None:
    """The store was slow: by its clock the limit passed before the write. It is decided again, and it is 410."""
    async with scene.process(asking(10)) as p:
        await p.say()
        question = await p.open()
        _slow_to_write(scene, p, 10, Answered, Closed)
        with pytest.raises(ClosedError) as refused:
            await (p.chat.answer(question.id, "a") if ends == "answered" else p.chat.skip(question.id))
        assert refused.value.ending == "expired"
        assert await p.rest() == Done()
        assert (await p.result()).status == "expired"


async def test_a_limit_is_counted_anew_where_the_record_took_long(scene: Scene) -> None:
    """The store was slow to take the question: the user has the whole time all the same."""
    async with scene.process(asking(10)) as p:
        _slow_to_write(scene, p, 5, Asked)
        await p.say()
        assert (await p.open()).expires_at == 1_000_015.0 == scene.now + 10


def _slow_to_write(scene: Scene, p: Process, seconds: float, *kinds: type[Body]) -> None:
    """The next write of such an entry: so much time passes between its decision and the store's taking it."""
    append = p.engine.store.append

    async def slow(key: Key, head: int, entries: Sequence[Entry], *more: Any, **names: Any) -> Any:
        if any(isinstance(entry.body, kinds) for entry in entries):
            p.engine.store.append = append  # type: ignore[method-assign]  # only once
            scene.now += seconds
        return await append(key, head, entries, *more, **names)

    p.engine.store.append = slow  # type: ignore[method-assign]  # the real one, later


async def test_an_answer_in_time_and_one_too_late(scene: Scene) -> None:
    """By the store's clock, at the write: up to the last moment it is taken; from then on it is 410."""
    for late, moment in ((False, 9.99), (True, 10.0), (True, 5000.0)):
        chat = Scene(scene.folder / f"{moment}")
        chat.folder.mkdir()
        async with chat.process(asking(10)) as p:
            await p.say()
            question = await p.open()
            chat.now += moment
            if late:
                for attempt in (p.chat.answer(question.id, "a"), p.chat.skip(question.id)):
                    with pytest.raises(ClosedError) as refused:
                        await attempt
                    assert (refused.value.status, refused.value.ending) == (410, "expired")
                found = await p.engine.find(question.id, user="ada")
                assert found.ending == Closed(question.id, question.call_id, "expired")
                assert await p.rest() == Done()
                assert (await p.result()).status == "expired"
            else:
                assert await p.answer("a") == Done()
                assert await p.content() == "a"


async def test_while_draining_a_sweep_leaves_what_is_due(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    """It is the next process's, and no fault: nothing is complained of for each conversation that waits."""

    @tool
    def asks(ctx: Context) -> str:
        return ctx.ask(Say("Which?"), expires_in=10)

    async with scene.process(asks) as p:
        await p.say()
        await p.engine.drain()
        scene.now += 10
        await p.engine.sweep()
        assert len(await p.chat.interrupts()) == 1
        assert not caplog.records
    async with scene.process(asks) as p:
        assert await p.rest() == Done()
        assert (await p.result()).status == "expired"


async def test_a_sweep_closes_what_is_over_and_no_more(scene: Scene) -> None:
    """Three questions with limits of their own, and one without: each is closed at its time, a sibling runs on."""
    gate = Gate()

    @tool
    def asks(ctx: Context, seconds: float | None) -> str:
        try:
            return ctx.ask(Say("Which?"), expires_in=seconds)
        except Expired:
            return "over"

    steps = [[*(("asks", {"seconds": seconds}) for seconds in (30, 10, 20, None)), ("work", {})]]
    async with scene.process(asks, working(gate), steps=steps) as p:
        await p.chat.post("go")
        await gate.reached.wait()
        await until(lambda: _open_are(p, 4))
        for passed, left in ((9.9, 4), (10, 3), (25, 2), (30, 1), (10 * 365 * 86_400, 1)):
            scene.now = 1_000_000.0 + passed
            await p.engine.sweep()
            assert len(await p.chat.interrupts()) == left
        await until(lambda: _results_are(p, 3))
        gate.go.set()
        assert isinstance(await p.rest(), Waiting)
        assert await p.answer("a") == Done()
        assert {result.call: result.content for result in await p.bodies(Result)} == {
            "call_1_1": "over",
            "call_1_2": "over",
            "call_1_3": "over",
            "call_1_4": "a",
            "call_1_5": "ended",
        }


async def _open_are(p: Process, count: int) -> bool:
    return len(await p.chat.interrupts()) == count


async def _results_are(p: Process, count: int) -> bool:
    return len(await p.bodies(Result)) == count


async def test_a_question_that_expired_while_nobody_was_there(scene: Scene) -> None:
    """No process ran at its moment: the next one closes it as it starts, and the call goes on."""
    async with scene.process(asking(10)) as p:
        await p.say()
    scene.now += 11
    async with scene.process(asking(10)) as p:
        await until(lambda: _is_done(p.chat))
        assert (await p.result()).status == "expired"


# --------------------------------------------------------------------------- what waiting costs


def remembered(thing: object, path: str = "engine", above: tuple[object, ...] = ()) -> list[str]:
    """The containers in an engine and its parts that have something in them."""
    found = []
    for name, value in vars(thing).items() if thing not in above else ():
        if isinstance(value, dict | set | list) and value:
            found.append(f"{path}.{name}")
        if type(value).__module__.startswith("yourcall") and hasattr(value, "__dict__"):
            found += remembered(value, f"{path}.{name}", (*above, thing)) if not isinstance(value, Agent) else []
    return found


HELD = (Record, LoopRun, Context, Ask, Log)
"""What a run is made of."""


def alive(*types: type[object]) -> list[object]:
    gc.collect()
    return [thing for thing in gc.get_objects() if isinstance(thing, types)]


async def test_waiting_holds_nothing(scene: Scene) -> None:
    """200 conversations wait: no task, no thread, no lock, no object of theirs is kept; each can be answered."""
    async with scene.process(asking(), steps=repeat([("asks", {})])) as p:
        before = alive(*HELD)  # of tests that failed, for instance
        tasks, threads = len(asyncio.all_tasks()), anyio.to_thread.current_default_thread_limiter()
        for n in range(200):
            await p.engine.conversation(str(n), user="ada").post("go")
        await until(lambda: _all_are(p.engine.store, "waiting"))
        await p.engine.drain()
        assert len(asyncio.all_tasks()) == tasks
        assert threads.borrowed_tokens == 0
        assert remembered(p.engine) == []
        assert {id(thing) for thing in alive(*HELD)} <= {id(thing) for thing in before}
    async with scene.process(asking()) as p:
        p.chat = p.engine.conversation("117", user="ada")
        assert await p.answer("a") == Done()
        await p.engine.drain()
        assert remembered(p.engine) == []


def cost(store: WatchedStore) -> tuple[int, int, int, list[int]]:
    """Statements, commits, bytes written, and the entries of each load, since this was last asked."""
    texts = [text.strip() for text in store.statements]
    written = sum(len(text) for text in texts if text.startswith(("INSERT", "UPDATE")))
    loaded, store.loaded, store.statements = store.loaded, [], []
    return len(texts), texts.count("COMMIT"), written, loaded


async def test_a_pause_costs_the_same_in_a_long_log(tmp_path: Path) -> None:
    """From the 5th pause to the 60th: as many statements, syncs and bytes written; one load is of the whole log."""
    store, bus = WatchedStore(tmp_path / "c.db"), LocalBus()
    model = ScriptedModel(repeat([("asks", {})]))
    agent = Agent[Any](model, tools=[asking()], max_steps=1000)
    costs = []
    async with Engine(agent, store, bus=bus, sweep_every=3600) as engine:
        p = Process(engine, model)
        await p.say()
        for n in range(60):
            question = await p.open()
            cost(store)
            async with bus.listen(KEY) as live:
                await p.chat.answer(question.id, f"{n:04}")
                while not isinstance(await anext(live), Ended):
                    pass
            costs.append(cost(store))
    for statements, commits, written, loaded in costs[5:]:
        assert statements < costs[5][0] + 4  # a look at the log more or less, as it is told of what is written
        assert commits == 4  # the answer with its run, the result, the next step with its call, the question
        assert written < 1.05 * costs[5][2]
        assert loaded[0] < 5  # to judge an answer, the last step is enough
        assert sum(entries > 5 for entries in loaded) == 1, loaded
