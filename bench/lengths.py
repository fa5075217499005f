"""What a pause costs by the length of the log before it, and what it reads and writes of the store's bodies."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from bench.pause_cost import Asking, pause_and_resume, pick, seed, timed
from yourcall import Agent, Engine
from yourcall.entries import Entry, dump
from yourcall.ports import Appended, Key, Row, Snapshot
from yourcall.store.sqlite import SQLiteStore

LENGTHS: Final = (10, 100, 1_000, 10_000)


class Counting(SQLiteStore):
    """Counts the bytes of the bodies that it reads and writes."""

    read = written = 0

    async def load(self, key: Key, *, after: int | None = None) -> Snapshot:
        snapshot = await super().load(key, after=after)
        self.read += _bytes(snapshot.entries)
        return snapshot

    async def append(self, key: Key, head: int, entries: Sequence[Entry], row: Row, **more: Any) -> Appended:
        self.written += _bytes(entries)
        return await super().append(key, head, entries, row, **more)


def _bytes(entries: Sequence[Entry]) -> int:
    return sum(len(dump(entry).encode()) for entry in entries)


async def measure(folder: Path, rounds: int) -> list[list[Any]]:
    """For each length CPU and wall milliseconds, medians, by the plain store; and KiB read and written by another."""
    agent = Agent(Asking(), tools=[pick])
    plain, counting = SQLiteStore(str(folder / "lengths.db")), Counting(str(folder / "counted.db"))
    async with Engine(agent, plain) as engine, Engine(agent, counting) as counted:
        await timed(engine, 10, rounds)  # warm
        return [[length, *await timed(engine, length, rounds), *await _kib(counted, length)] for length in LENGTHS]


async def _kib(engine: Engine[Any], length: int) -> tuple[float, float]:
    store = engine.store
    assert isinstance(store, Counting)
    await seed(engine, str(length), length)
    store.read = store.written = 0
    await pause_and_resume(engine, str(length))
    return store.read / 1024, store.written / 1024
