"""Sweepers of one store share what is due."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.scene import Say
from tests.support import Clock
from yourcall import Agent, Context, Engine, tool
from yourcall.entries import Closed
from yourcall.errors import StoreBusy
from yourcall.ports import Appended, Key
from yourcall.store.sqlite import SQLiteStore
from yourcall.testing import ScriptedModel

pytestmark = pytest.mark.anyio

COUNT = 60
IDS = [f"c{n:02}" for n in range(COUNT)]


class Noting(SQLiteStore):
    """Notes in which order it is written to; `room` is for how many writes it still has time."""

    def __init__(self, path: str, clock: Clock) -> None:
        super().__init__(path, clock=clock)
        self.written: list[str] = []
        self.room = math.inf

    async def append(self, key: Key, head: int, *args: Any, **options: Any) -> Appended:
        self.written.append(key.id)
        if len(self.written) > self.room:
            raise StoreBusy
        return await super().append(key, head, *args, **options)


@asynccontextmanager
async def all_due(store: Noting, clock: Clock) -> AsyncIterator[Engine[Any]]:
    """An engine on this store, with conversations whose questions are over."""
    steps: list[Any] = [[("asks", {})]] * COUNT + ["So be it."] * COUNT
    async with Engine(Agent(ScriptedModel(steps), tools=[asks]), store, sweep_every=3600) as engine:
        for id in IDS:
            async for _ in engine.conversation(id, user="ada").say("go"):
                pass
        clock.now += 61
        store.written.clear()
        yield engine


async def closed(engine: Engine[Any]) -> int:
    logs = [await engine.conversation(id, user="ada").log() for id in IDS]
    return sum(any(isinstance(entry.body, Closed) for entry in log.entries) for log in logs)


@tool
def asks(ctx: Context) -> str:
    return ctx.ask(Say("A"), expires_in=60)


async def test_sweepers_begin_with_different_conversations(tmp_path: Path) -> None:
    """Two that sweep as many due conversations do not go through them in the same order, each on the other's heels;
    what is due is all over afterwards."""
    clock, orders = Clock(), []
    for n in range(2):
        store = Noting(str(tmp_path / f"{n}.db"), clock)
        async with all_due(store, clock) as engine:
            await engine.sweep()
            orders.append(list(dict.fromkeys(store.written)))
            assert await closed(engine) == COUNT
    assert sorted(orders[0]) == sorted(orders[1]) == IDS
    assert orders[0] != orders[1]


async def test_a_sweep_leaves_a_busy_store_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """It asks no more of it for now, says so once, and does the rest in a later pass."""
    clock = Clock()
    store = Noting(str(tmp_path / "c.db"), clock)
    async with all_due(store, clock) as engine:
        store.room = 0
        await engine.sweep()
        assert len(store.written) == 1
        assert [record.levelname for record in caplog.records] == ["WARNING"]
        store.room = math.inf
        await engine.sweep()
        assert await closed(engine) == COUNT
