"""What tests of the core share: a clock that is moved by hand, waits that end, a store that is looked at closely."""

from __future__ import annotations

import asyncio
import inspect
import os
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import anyio.to_thread

from yourcall.entries import Body, Entry, Json
from yourcall.log import AssistantMessage, Log, ToolMessage, transcript
from yourcall.ports import Key, Snapshot
from yourcall.store.sqlite import SQLiteStore

PATIENCE: float = 10
"""Seconds after which a wait has failed; none of them is waited for."""

Condition: TypeAlias = Callable[[], object]


# --------------------------------------------------------------------------- time


class Clock:
    """Unix seconds that pass when a test says so."""

    def __init__(self, now: float = 1_800_000_000.0) -> None:
        self.now = self.start = now

    def __call__(self) -> float:
        return self.now


class ClockLoop(asyncio.SelectorEventLoop):
    """An event loop for which an hour passes when a clock is moved by one: timers need not be waited for."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock

    def time(self) -> float:
        return super().time() + self._clock.now - self._clock.start


async def until(condition: Condition) -> Any:
    """Wait until it holds; what it returned then. It may be async. Fails after a while of real time."""
    deadline = time.monotonic() + PATIENCE
    while True:
        held = condition()
        if inspect.isawaitable(held):
            held = await held
        if held:
            return held
        assert time.monotonic() < deadline, f"in vain: {inspect.getsource(condition).strip()}"
        await anyio.to_thread.run_sync(time.sleep, 0.001)


# --------------------------------------------------------------------------- a store, looked at closely


class WatchedStore(SQLiteStore):
    """A store that keeps the text of every statement, values and all, and how many entries each load read.

    It calls `on_statement` before each statement, in the connection's thread.
    """

    def __init__(self, path: str | os.PathLike[str], *, clock: Callable[[], float] = time.time) -> None:
        super().__init__(os.fspath(path), clock=clock)
        self.statements: list[str] = []
        self.loaded: list[int] = []
        self.on_statement: Callable[[str], None] = lambda statement: None

    async def open(self) -> None:
        await super().open()
        await self.file._db.set_trace_callback(self._trace)

    async def load(self, key: Key, *, after: int | None = None) -> Snapshot:
        snapshot = await super().load(key, after=after)
        self.loaded.append(len(snapshot.entries))
        return snapshot

    def _trace(self, statement: str) -> None:
        self.statements.append(statement)
        self.on_statement(statement)

    async def pragma(self, name: str) -> Json:
        ((value,),) = await self.file._db.execute_fetchall(f"PRAGMA {name}")
        return value


def placed(head: int, *bodies: Body, at: float = 0.0) -> list[Entry]:
    """The bodies as the entries that follow `head`."""
    return [Entry(seq, at, body) for seq, body in enumerate(bodies, head + 1)]


# --------------------------------------------------------------------------- what came of it


def kinds(entries: Sequence[Entry]) -> list[str]:
    return [entry.kind for entry in entries]


def assert_well_formed(log: Log) -> None:
    """Entries without a gap; every call has its one result directly after its step, in call order."""
    assert [entry.seq for entry in log.entries] == list(range(1, log.head + 1))
    wanted: list[str] = []
    for message in transcript(log):
        if isinstance(message, ToolMessage):
            assert wanted, f"a result of no call: {message}"
            assert message.call_id == wanted.pop(0)
        else:
            assert not wanted, f"without a result: {wanted}"
            wanted = [call.id for call in message.calls] if isinstance(message, AssistantMessage) else []
    assert not wanted, f"without a result: {wanted}"
