"""What a listener gets: each entry once, in order, without a gap, whoever wrote it and however slow it reads."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager, closing
from pathlib import Path
from typing import Any, TypeAlias

import anyio
import anyio.lowlevel
import pytest

from tests.scene import Say, Scene
from tests.support import Clock, ClockLoop, kinds, until
from yourcall import Agent, Context, Engine, tool
from yourcall.bus.local import BUFFER, LocalBus
from yourcall.entries import Asked, Assistant, Body, Call, Entry, Interrupt, Result, Run, Stopped, User
from yourcall.errors import StoreClosed
from yourcall.events import Delta, Ended, Event, Retracted
from yourcall.follow import follow
from yourcall.log import Done, Waiting
from yourcall.ports import Finished, Key, ModelEvent, ModelRequest, Restarted, Snapshot, TextDelta
from yourcall.record import Record
from yourcall.store.sqlite import SQLiteStore

pytestmark = pytest.mark.anyio

KEY = Key("ada", "c1")
HI, RUN = User("hi"), Run("r1")
K1 = Call("k1", "ask", rerun=True)
ASKED = Asked(Interrupt("i1", "k1", "#1", "pick", None, "d"))

Write: TypeAlias = Callable[..., Any]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def anyio_backend(clock: Clock) -> tuple[str, dict[str, Any]]:
    """A loop whose timers are over when the clock is moved."""
    return "asyncio", {"loop_factory": lambda: ClockLoop(clock)}


class Room:
    """A conversation, those who write in it and those who listen."""

    def __init__(self, store: SQLiteStore) -> None:
        self.store, self.bus = store, LocalBus()
        self._near = Record(store, KEY, self.bus.publish)
        self._far = Record(store, KEY, lambda key, events: None)

    async def here(self, *bodies: Body) -> None:
        """A writer in this process: its entries are published."""
        await self._near.write(lambda log, now: bodies)

    async def elsewhere(self, *bodies: Body) -> None:
        """A writer in another process: what it wrote is in the log, and nobody is told."""
        await self._far.write(lambda log, now: bodies)

    def show(self, *events: Event) -> None:
        self.bus.publish(KEY, events)

    def listen(self, after: Any = 0) -> AsyncGenerator[Event, None]:
        return follow(self.store, self.bus, KEY, after)


@pytest.fixture
async def room() -> AsyncIterator[Room]:
    store = SQLiteStore(":memory:")
    await store.open()
    yield Room(store)
    await store.close()


class Listener:
    """Somebody who listens to the end, in a task of its own."""

    def __init__(self, events: AsyncGenerator[Event, None]) -> None:
        self.events, self.heard = events, list[Event]()

    async def __call__(self) -> None:
        async with aclosing(self.events):
            async for event in self.events:
                self.heard.append(event)

    @property
    def entries(self) -> list[Entry]:
        return [event for event in self.heard if isinstance(event, Entry)]

    @property
    def seqs(self) -> list[int]:
        return [entry.seq for entry in self.entries]

    @property
    def ended(self) -> Waiting | Done | None:
        """How it ended, once it has: by one event, the last."""
        ends = [event for event in self.heard if isinstance(event, Ended)]
        assert ends in ([], self.heard[-1:])
        return ends[0].phase if ends else None


async def heard(events: AsyncGenerator[Event, None]) -> list[Event]:
    """All of a stream that ends by itself."""
    listener = Listener(events)
    with anyio.fail_after(10):
        await listener()
    return listener.heard


def step(seen: int, *calls: Call, text: str = "So") -> Assistant:
    return Assistant("r1", seen, text, calls)


# --------------------------------------------------------------------------- from where, and until when

ENDS: dict[str, tuple[list[Body], Waiting | Done]] = {
    "nothing": ([], Done()),
    "an answer": ([HI, RUN, step(2)], Done()),
    "a question": ([HI, RUN, step(2, K1), ASKED], Waiting((ASKED.interrupt,))),
    "a failure": ([HI, RUN, Stopped("model-failed", True, "Try.")], Done("model-failed", True, "Try.")),
}


@pytest.mark.parametrize("name", ENDS)
async def test_it_ends_at_once_where_nothing_runs(room: Room, name: str) -> None:
    """What is there, and how it ended: nobody is kept listening to a conversation that waits or is done."""
    bodies, phase = ENDS[name]
    await room.here(*bodies)
    *entries, ended = await heard(room.listen(0))
    assert [entry.body for entry in entries if isinstance(entry, Entry)] == bodies
    assert ended == Ended(phase, len(bodies))
    assert await heard(room.listen(None)) == [ended]


@pytest.mark.parametrize(("after", "seqs"), [(0, [1, 2, 3]), (1, [2, 3]), (3, []), (99, []), (None, [])])
async def test_only_what_is_newer(room: Room, after: int | None, seqs: list[int]) -> None:
    """A listener that returns gets what it has not had; one that has more than there is, nothing."""
    await room.here(HI, RUN, step(2))
    *entries, ended = await heard(room.listen(after))
    assert [entry.seq for entry in entries if isinstance(entry, Entry)] == seqs
    assert ended == Ended(Done(), 3)


async def test_it_ends_with_the_run(room: Room) -> None:
    """As a run goes on its listener stays; the end comes after the last entry, and is the last event."""
    await room.here(HI, RUN)
    listener = Listener(room.listen(0))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listener)
        await until(lambda: listener.seqs == [1, 2])
        await room.here(step(2, K1))
        await until(lambda: listener.seqs == [1, 2, 3])
        await room.here(ASKED)
    assert listener.seqs == [1, 2, 3, 4]
    assert listener.ended == Waiting((ASKED.interrupt,))


async def test_an_end_that_is_over_ends_nothing(room: Room) -> None:
    """The end of the run before, heard late by who listens to this one, is not taken for this one's."""
    await room.here(HI, RUN, step(2))
    late = Ended(Done(), 3)

    async def written() -> int:
        await room.here(HI)
        room.show(late)
        return 3

    listener = Listener(room.listen(written))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listener)
        await until(lambda: listener.seqs == [4])
        room.show(late)
        await room.here(Run("r2"), Assistant("r2", 5))
    assert listener.seqs == [4, 5, 6]
    assert listener.heard[-1] == Ended(Done(), 6)


async def test_a_run_that_begins_as_the_last_one_ends_is_followed(tmp_path: Path, clock: Clock) -> None:
    """The log goes on between the two looks that tell how a run ended: the listener stays."""

    class Meddling(SQLiteStore):
        async def load(self, key: Key, *, after: int | None = None) -> Snapshot:
            snapshot = await super().load(key, after=after)
            if todo:
                await todo.pop()
            return snapshot

    store = Meddling(str(tmp_path / "c.db"))
    await store.open()
    room, todo = Room(store), list[Awaitable[None]]()
    await room.here(HI, RUN, step(2))
    todo.append(room.elsewhere(HI, Run("r2"), Assistant("r2", 4)))
    listener = Listener(room.listen(0))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listener)
        await until(lambda: _pass(clock, lambda: listener.ended))
    await store.close()
    assert listener.seqs == [1, 2, 3, 4, 5, 6]
    assert listener.heard[-1] == Ended(Done(), 6)


async def test_a_conversation_that_was_deleted_ends(room: Room, clock: Clock) -> None:
    """Whoever still listens is let go."""
    await room.here(HI, RUN)
    listener = Listener(room.listen(0))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listener)
        await until(lambda: listener.seqs == [1, 2])
        await room.store.delete(KEY)
        clock.now += 2
    assert listener.ended == Done("deleted", message="This conversation was deleted.")


# --------------------------------------------------------------------------- each entry once, in order


async def test_a_store_that_is_closed_ends_the_stream(tmp_path: Path) -> None:
    """Whoever listens is told, and waits no longer for what nobody will open again."""
    async with engine_on(tmp_path / "c.db", Slow("never let")) as engine:
        events = engine.conversation("c", user="ada").say("go")
        await anext(events)
    with pytest.raises(StoreClosed):
        async for _ in events:
            pass


async def test_what_another_process_wrote_is_found(room: Room, clock: Clock) -> None:
    """Nobody is told of it here: the listener looks at the log now and then, and ends with it."""
    await room.here(HI, RUN)
    listener = Listener(room.listen(0))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listener)
        await until(lambda: listener.seqs == [1, 2])
        await room.elsewhere(step(2, K1))
        clock.now += 2
        await until(lambda: listener.seqs == [1, 2, 3])
        await room.elsewhere(ASKED)
        clock.now += 2
    assert listener.seqs == [1, 2, 3, 4]
    assert listener.ended == Waiting((ASKED.interrupt,))


async def test_a_message_is_written_once(room: Room) -> None:
    """`say` writes when its listener is there; a gap makes it read the log again, and not write again."""
    written: list[int] = []

    async def write() -> int:
        await room.here(HI)
        written.append(1)
        return 0

    listener = Listener(room.listen(write))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listener)
        await until(lambda: listener.seqs == [1])
        await room.elsewhere(RUN)
        await room.here(step(2))
    assert listener.seqs == [1, 2, 3]
    assert written == [1]


async def test_a_gap_is_filled_at_once(room: Room) -> None:
    """An entry from here that follows on others from elsewhere is shown after them, without a wait."""
    await room.here(HI, RUN)
    listener = Listener(room.listen(0))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listener)
        await until(lambda: listener.seqs == [1, 2])
        await room.elsewhere(step(2, K1), HI)
        await room.here(HI)
        await until(lambda: listener.seqs == [1, 2, 3, 4, 5])
        await room.elsewhere(HI)
        await room.here(ASKED)
    assert listener.seqs == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize("seed", range(12))
async def test_whatever_a_bus_does(room: Room, clock: Clock, seed: int) -> None:
    """Entries are written here and elsewhere, told late, twice, out of order or not at all: each is shown once."""
    dice = random.Random(seed)
    await room.here(HI, RUN)
    listeners = [Listener(room.listen(0)) for _ in range(3)]
    async with anyio.create_task_group() as tasks:
        for n in range(12):
            if n in (0, 4, 8):
                tasks.start_soon(listeners[n // 4])
            match dice.choice(["here", "elsewhere", "again", "look", "yield"]):
                case "here":
                    await room.here(*[HI] * dice.randint(1, 3))
                case "elsewhere":
                    await room.elsewhere(*[HI] * dice.randint(1, 3))
                case "again":
                    entries = list((await room.store.load(KEY, after=0)).entries)
                    room.show(
                        *dice.sample(entries, dice.randint(1, len(entries))), Ended(Done(), dice.choice([0, 1, 99]))
                    )
                case "look":
                    clock.now += 1
                case _:
                    await anyio.lowlevel.checkpoint()
        head = (await room.store.load(KEY)).head
        await room.elsewhere(step(head))
        await until(lambda: _pass(clock, lambda: all(listener.ended for listener in listeners)))
    for listener in listeners:
        assert listener.seqs == list(range(1, head + 2))


async def test_a_slow_listener_is_dropped_and_catches_up(room: Room) -> None:
    """It reads one event and sleeps, while the model writes a book: it misses pieces of text, and no entry."""
    await room.here(HI, RUN)
    async with aclosing(room.listen(0)) as events:
        first = await anext(events)
        for n in range(BUFFER // 100):
            room.show(*(Delta("r1-2", 100 * n + i, "x") for i in range(100)))
        await room.here(step(2, K1, text="x" * BUFFER))
        room.show(*(Delta("r1-9", i, "y") for i in range(BUFFER)))
        await room.here(Result("k1", "ok"))
        await room.here(Assistant("r1", 4))
        rest = await heard(events)
    entries = [event for event in [first, *rest] if isinstance(event, Entry)]
    assert [entry.seq for entry in entries] == [1, 2, 3, 4, 5]
    assert rest[-1] == Ended(Done(), 5)


# --------------------------------------------------------------------------- text that is not recorded yet


async def test_pieces_come_before_their_whole(room: Room) -> None:
    """Live pieces are shown as they come, in their place between the entries."""
    await room.here(HI, RUN)
    listener = Listener(room.listen(2))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listener)
        await until(lambda: room.bus._listeners)
        pieces = [Delta("r1-2", 0, "S"), Delta("r1-2", 1, "o")]
        room.show(*pieces)
        await room.here(step(2))
    assert listener.heard[:2] == pieces
    assert listener.seqs == [3]


async def test_pieces_of_what_is_recorded_are_not_shown_again(room: Room) -> None:
    """Who begins to listen in the middle may find a step in the log whose pieces are still on their way."""

    async def written() -> int:
        await room.here(HI, RUN)
        room.show(Delta("r1-2", 0, "So"))
        await room.here(step(2, K1))
        room.show(Delta("r1-9", 0, "next"))
        return 0

    async with aclosing(room.listen(written)) as events:
        shown = [await anext(events) for _ in range(4)]
    assert [event.seq for event in shown if isinstance(event, Entry)] == [1, 2, 3]
    assert shown[-1] == Delta("r1-9", 0, "next")


@pytest.mark.parametrize("end", [[Stopped("cancelled")], [Run("r2"), Assistant("r2", 4)]], ids=["cancel", "take-over"])
async def test_pieces_of_what_is_never_recorded_are_taken_back(room: Room, end: list[Body]) -> None:
    """The user cancels, or the runner is lost: what was shown of its step was never said, and that is told in time."""
    await room.here(HI, RUN)
    listener = Listener(room.listen(0))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listener)
        await until(lambda: listener.seqs == [1, 2])
        room.show(Delta("r1-2", 0, "So"))
        await room.here(*end)
    assert listener.heard.count(Retracted("r1-2")) == 1
    said = next((i for i, e in enumerate(listener.heard) if isinstance(e, Entry) and e.kind == "assistant"), -1)
    assert 0 <= listener.heard.index(Retracted("r1-2")) < said or said == -1
    assert isinstance(listener.heard[-1], Ended)


async def test_what_was_recorded_or_taken_back_is_not_taken_back_again(room: Room) -> None:
    """A step that was said stays said; a failed one is withdrawn once."""
    await room.here(HI, RUN)
    listener = Listener(room.listen(0))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listener)
        await until(lambda: listener.seqs == [1, 2])
        room.show(Delta("r1-2", 0, "So"))
        await room.here(step(2, K1), Result("k1", "ok"))
        room.show(Delta("r1-4", 0, "An"), Retracted("r1-4"))
        await room.here(Stopped("model-failed"))
    assert [event for event in listener.heard if isinstance(event, Retracted)] == [Retracted("r1-4")]


# --------------------------------------------------------------------------- with engines


class Slow:
    """A model that writes a word whenever it is let."""

    def __init__(self, *words: str) -> None:
        self.words = words
        self.go = [anyio.Event() for _ in words]
        self.requests = 0

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        self.requests += 1
        for word, go in zip(self.words, self.go, strict=True):
            await go.wait()
            yield TextDelta(word)
        yield Finished("".join(self.words))


@asynccontextmanager
async def engine_on(path: Path, model: Any, *tools: Any) -> AsyncIterator[Engine[Any]]:
    async with Engine(Agent[Any](model, tools=tools), SQLiteStore(str(path)), sweep_every=3600) as engine:
        yield engine


async def test_leaving_does_not_stop_the_run(tmp_path: Path) -> None:
    """A run belongs to no listener: the loop around `say` is left at its first event, and the run ends all the same."""
    model = Slow("So", " be", " it")
    async with engine_on(tmp_path / "c.db", model) as engine:
        chat = engine.conversation("c1", user="ada")
        async for _ in chat.say("hi"):
            break
        await until(lambda: model.requests)
        for go in model.go:
            go.set()
        *_, ended = await heard(chat.events())
        assert ended == Ended(Done(), 3)
        assert kinds((await chat.log()).entries) == ["user", "run", "assistant"]


async def test_nothing_is_shown_before_it_is_recorded(tmp_path: Path) -> None:
    """As an entry is heard, another connection to the file finds it there: question, answer, result and all."""

    @tool
    def asks(ctx: Context) -> str:
        return ctx.ask(Say("Which?"))

    scene, heard = Scene(tmp_path), list[str]()
    async with scene.process(asks) as p:
        with closing(sqlite3.connect(scene.path)) as file:
            for answer in (None, "a"):
                if answer:
                    await p.chat.answer((await p.open()).id, answer)
                async for event in p.chat.say("go") if not answer else p.chat.events(5):
                    if isinstance(event, Entry):
                        heard.append(event.kind)
                        assert (
                            file.execute("SELECT kind FROM entry WHERE seq = ?", (event.seq,)).fetchone()[0]
                            == event.kind
                        )
    assert heard == "user run assistant began asked answered run began result assistant".split()


async def test_a_listener_that_comes_later_gets_the_rest(tmp_path: Path) -> None:
    """Two listeners of one run, from different places in it: both end with the whole."""
    model = Slow("So", " be", " it")
    async with engine_on(tmp_path / "c.db", model) as engine, anyio.create_task_group() as tasks:
        chat = engine.conversation("c1", user="ada")
        first, second = Listener(chat.say("hi")), Listener(chat.events(1))
        tasks.start_soon(first)
        await until(lambda: model.requests)
        model.go[0].set()
        await until(lambda: any(isinstance(event, Delta) for event in first.heard))
        tasks.start_soon(second)
        await until(lambda: second.seqs == [2])
        model.go[1].set()
        model.go[2].set()
    message = next(event for event in first.heard if isinstance(event, Delta)).message_id
    assert [e for e in first.heard if isinstance(e, Delta)] == [
        Delta(message, 0, "So"),
        Delta(message, 2, " be"),
        Delta(message, 5, " it"),
    ]
    assert first.seqs == [1, 2, 3]
    assert second.seqs == [2, 3]
    last = second.entries[-1].body
    assert isinstance(last, Assistant)
    assert (last.message_id, last.text) == (message, "So be it")
    assert first.ended == second.ended == Done()


async def test_two_engines_on_one_file(tmp_path: Path, clock: Clock) -> None:
    """The run is one process's, the listener another's: it hears every entry, and the end."""
    model = Slow("So")
    async with engine_on(tmp_path / "c.db", model) as one, engine_on(tmp_path / "c.db", Slow()) as other:
        await one.conversation("c1", user="ada").post("hi")
        listener = Listener(other.conversation("c1", user="ada").events(0))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listener)
            await until(lambda: listener.seqs == [1, 2])
            model.go[0].set()
            await until(lambda: _pass(clock, lambda: listener.ended))
        assert listener.seqs == [1, 2, 3]


def _pass(clock: Clock, condition: Callable[[], object]) -> object:
    clock.now += 0.25
    return condition()


async def test_what_it_ends_with_is_what_is_open(tmp_path: Path) -> None:
    """The end of a run that waits carries the questions, as they can be listed and answered."""

    @tool
    def asks(ctx: Context, title: str) -> str:
        return ctx.ask(Say(title))

    scene = Scene(tmp_path)
    steps = [[("asks", {"title": "a"}), ("asks", {"title": "b"})]]
    async with scene.process(asks, steps=steps) as p:
        phase = await p.say()
        assert isinstance(phase, Waiting)
        assert phase.interrupts == await p.chat.interrupts()
        assert [interrupt.message for interrupt in phase.interrupts] == ["a", "b"]


async def test_nothing_is_left_of_listeners(tmp_path: Path) -> None:
    """Left early, cancelled, or ended: no subscription stays behind."""
    model = Slow("So")
    bus = LocalBus()
    store = SQLiteStore(str(tmp_path / "c.db"))
    async with Engine(Agent[Any](model), store, bus=bus) as engine:
        chat = engine.conversation("c1", user="ada")
        async with aclosing(chat.say("hi")) as events:
            await anext(events)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(Listener(chat.events(0)))
            await until(lambda: bus._listeners)
            tasks.cancel_scope.cancel()
        model.go[0].set()
        await heard(chat.events(0))
        assert not bus._listeners


async def test_who_comes_late_reads_what_is_written_so_far(tmp_path: Path) -> None:
    """Somebody who begins to listen in the middle of a step gets its words so far, then the rest as it comes."""
    half, go = anyio.Event(), anyio.Event()

    class Slow:
        async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
            yield TextDelta("one ")
            yield TextDelta("two ")
            half.set()
            await go.wait()
            yield TextDelta("three")
            yield Finished("one two three")

    async with Engine(Agent(Slow()), SQLiteStore(str(tmp_path / "c.db"))) as engine:
        chat = engine.conversation("c", user="ada")
        await chat.post("count")
        await half.wait()
        pieces: list[tuple[int, str]] = []
        async for event in chat.events(after=0):
            if isinstance(event, Delta):
                pieces.append((event.offset, event.text))
                go.set()
    assert pieces == [(0, "one two "), (8, "three")]


async def test_who_comes_late_does_not_read_what_was_taken_back(tmp_path: Path) -> None:
    """A step that began anew is told as it stands now: the words of the attempt that failed were never said."""
    half, go = anyio.Event(), anyio.Event()

    class Anew:
        async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
            yield TextDelta("a long false start ")
            yield Restarted()
            yield TextDelta("one ")
            half.set()
            await go.wait()
            yield TextDelta("two")
            yield Finished("one two")

    async with Engine(Agent(Anew()), SQLiteStore(str(tmp_path / "c.db"))) as engine:
        chat = engine.conversation("c", user="ada")
        await chat.post("count")
        await half.wait()
        pieces: list[tuple[int, str]] = []
        async for event in chat.events(after=0):
            if isinstance(event, Delta):
                pieces.append((event.offset, event.text))
                go.set()
    assert pieces == [(0, "one "), (4, "two")]
