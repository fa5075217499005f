"""Processes that can be stopped at every operation and can die: what the scheduler holds in its hands.

A `Host` stands for one process: an engine, its own connection to the shared file, and every task they start. Its store,
its model and its tools' bodies wait at gates until the scheduler lets them pass, one at a time. Nothing sleeps: the
loop's time and the store's clock are one number that the scheduler moves.
"""

from __future__ import annotations

import asyncio
import contextvars
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import anyio.to_thread

from yourcall.entries import Entry
from yourcall.ports import Appended, Draft, Key, Model, ModelEvent, ModelRequest, Row, Store

T = TypeVar("T")

HOST: contextvars.ContextVar[Host] = contextvars.ContextVar("HOST")
"""The process that a task belongs to; tasks hand it on to the tasks they start."""


class Crash(BaseException):
    """The process is gone; what it was about to do never happens."""


class Clock:
    """The only clock there is."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


class Loop(asyncio.SelectorEventLoop):
    """An event loop whose timers go by the clock, and that can say whether anything is left to do at this moment."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock

    def time(self) -> float:
        return self._clock()

    @property
    def idle(self) -> bool:
        ready: Sequence[object] = self._ready  # type: ignore[attr-defined]  # asyncio has no public word for it
        return not ready


@dataclass(eq=False)
class Turn:
    """One operation that waits for its turn. `gone` says that it is to fail once it took effect."""

    host: Host
    label: str
    round: int
    passed: asyncio.Future[None]
    append: bool = False
    gone: bool = False


class Stage(Protocol):
    """What a host's operations tell the world."""

    def wrote(self, host: Host, entries: Sequence[Entry], row: Row) -> None: ...
    def renewed(self, runner: str, seconds: float) -> None: ...
    def released(self, runner: str) -> None: ...
    def requested(self, host: Host, request: ModelRequest) -> None: ...


@dataclass(eq=False)
class Gates:
    """All operations that wait, over all hosts. `open` lets everything pass; only `fine` gates stop what reads."""

    clock: Clock
    fine: bool
    open: bool = False
    round: int = 0
    busy: int = 0
    waiting: list[Turn] = field(default_factory=list)
    calm: asyncio.Event = field(default_factory=asyncio.Event)

    async def wait(self, label: str, *, reads: bool = False, append: bool = False) -> Turn | None:
        """Wait for a turn. Raises `Crash` if the process dies before it comes."""
        host = HOST.get()
        host.survives()
        if self.open or (reads and not self.fine):
            return None
        turn = Turn(host, label, self.round, asyncio.get_running_loop().create_future(), append)
        self.waiting.append(turn)
        self.waiting.sort(key=lambda t: (t.round, t.host.name, t.label))
        try:
            await turn.passed
        finally:
            if turn in self.waiting:
                self.waiting.remove(turn)
        return turn

    def release(self, turn: Turn) -> None:
        self.waiting.remove(turn)
        turn.passed.set_result(None)

    async def real(self, call: Awaitable[T]) -> T:
        """Wait for something outside the loop, while the scheduler waits too."""
        self.busy += 1
        try:
            return await call
        finally:
            self.busy -= 1
            self.calm.set()

    async def settle(self) -> None:
        """Return once nothing can go on without the scheduler."""
        loop = asyncio.get_running_loop()
        assert isinstance(loop, Loop)
        threads = anyio.to_thread.current_default_thread_limiter()
        quiet = 0
        while quiet < 2:
            if self.busy:
                self.calm.clear()
                await self.calm.wait()
            await asyncio.sleep(0)
            quiet = quiet + 1 if loop.idle and not self.busy and not threads.borrowed_tokens else 0
        self.round += 1


class GatedStore:
    """A store whose every operation waits for its turn, and whose process may die before or after it."""

    def __init__(self, real: Store, gates: Gates, stage: Stage) -> None:
        self._real = real
        self._gates = gates
        self._stage = stage

    async def open(self) -> None:
        await self._gates.real(self._real.open())

    async def close(self) -> None:
        await self._gates.real(self._real.close())

    @property
    def sealed(self) -> Any:
        return Ungated(self._real.sealed, self._gates)

    @property
    def files(self) -> Any:
        return Ungated(self._real.files, self._gates)

    @property
    def attempts(self) -> Any:
        return Ungated(self._real.attempts, self._gates)

    @property
    def handoffs(self) -> Any:
        return Ungated(self._real.handoffs, self._gates)

    async def leave(self) -> None:
        """What the system does for a process that has ended: its connection is closed."""
        await self._gates.real(self._real.close())

    async def _pass(self, label: str, call: Callable[[], Awaitable[T]], *, reads: bool = False) -> T:
        host = HOST.get()
        turn = await self._gates.wait(label, reads=reads)
        outcome = await self._gates.real(call())
        host.survives(turn)
        return outcome

    async def load(self, *args: Any, **kwargs: Any) -> Any:
        return await self._pass("load", lambda: self._real.load(*args, **kwargs), reads=True)

    async def append(
        self,
        key: Key,
        head: int,
        entries: Sequence[Entry],
        row: Row,
        *,
        place: int | None = None,
        until: float = math.inf,
        keep: Sequence[Draft] = (),
    ) -> Appended:
        host = HOST.get()
        label = "append " + "+".join(e.kind for e in entries)
        turn = await self._gates.wait(label, append=True)
        outcome = await self._gates.real(
            self._real.append(key, head, entries, row, place=place, until=until, keep=keep)
        )
        if outcome is Appended.DONE:
            self._stage.wrote(host, entries, row)
        host.survives(turn)
        return outcome

    async def renew(self, key: Key, runner: str, seconds: float) -> bool:
        held = await self._pass("renew", lambda: self._real.renew(key, runner, seconds))
        if held:
            self._stage.renewed(runner, seconds)
        return held

    async def release(self, key: Key, runner: str) -> None:
        await self._pass("release", lambda: self._real.release(key, runner))
        self._stage.released(runner)

    async def find(self, *args: Any, **kwargs: Any) -> Any:
        return await self._pass("find", lambda: self._real.find(*args, **kwargs), reads=True)

    async def owner_of(self, *args: Any, **kwargs: Any) -> Any:
        return await self._pass("owner_of", lambda: self._real.owner_of(*args, **kwargs), reads=True)

    async def inbox(self, *args: Any, **kwargs: Any) -> Any:
        return await self._pass("inbox", lambda: self._real.inbox(*args, **kwargs), reads=True)

    async def due(self, *args: Any, **kwargs: Any) -> Any:
        return await self._pass("due", lambda: self._real.due(*args, **kwargs), reads=True)

    async def conversations(self, *args: Any, **kwargs: Any) -> Any:
        return await self._pass("conversations", lambda: self._real.conversations(*args, **kwargs), reads=True)

    async def delete(self, *args: Any, **kwargs: Any) -> Any:
        return await self._pass("delete", lambda: self._real.delete(*args, **kwargs))


class Ungated:
    """Rows that no scenario is about: the scheduler waits for what is done with them, and does not choose when."""

    def __init__(self, real: object, gates: Gates) -> None:
        self._real = real
        self._gates = gates

    def __getattr__(self, name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        async def call(*args: Any) -> Any:
            return await self._gates.real(getattr(self._real, name)(*args))

        return call


class GatedModel:
    """A model whose every step waits for its turn."""

    def __init__(self, real: Model, gates: Gates, stage: Stage) -> None:
        self._real = real
        self._gates = gates
        self._stage = stage

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        self._stage.requested(HOST.get(), request)
        await self._gates.wait("model")
        async for event in self._real.stream(request):
            yield event


class Host:
    """One process."""

    def __init__(self, name: str, gates: Gates, release: int = 0) -> None:
        self.name = name
        self.release = release
        self.gates = gates
        self.dead = False
        self.doomed: tuple[int, bool] | None = None
        self.tasks: list[asyncio.Task[Any]] = []
        self.up = asyncio.Event()
        self.down = asyncio.Event()

    def __repr__(self) -> str:
        return self.name

    def start(self, work: Coroutine[Any, Any, T], name: str) -> asyncio.Task[T]:
        """Start a task in this process."""
        context = contextvars.copy_context()
        context.run(HOST.set, self)
        return asyncio.get_running_loop().create_task(work, name=name, context=context)

    def survives(self, turn: Turn | None = None) -> None:
        """Nothing if the process still lives; its end, if that was to come right after this turn."""
        self.dead = self.dead or (turn is not None and turn.gone)
        if self.dead:
            raise Crash

    def kill(self) -> None:
        """End the process here: what waits at a gate never happens, nothing that is left can reach the file."""
        self.dead = True
        for task in self.left:
            task.cancel()

    @property
    def left(self) -> list[asyncio.Task[Any]]:
        for task in self.tasks:
            if task.done() and not task.cancelled():
                task.exception()  # looked at: a dead process's last words are no warning
        self.tasks = [task for task in self.tasks if not task.done()]
        return self.tasks


def tracked(loop: asyncio.AbstractEventLoop, coro: Any, **kwargs: Any) -> asyncio.Task[Any]:
    """A task factory that lets each host know its tasks."""
    task = asyncio.Task(coro, loop=loop, **kwargs)
    context: contextvars.Context | None = kwargs.get("context")
    host = context.get(HOST) if context is not None else HOST.get(None)
    if host is not None:
        host.tasks.append(task)
    return task
