"""Sweepers of one store share what is due."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.scene import Say
from tests.support import Clock
from yourcall import Agent, Context, Engine, tool
from yourcall.entries import Closed
from yourcall.ports import Appended, Key
from yourcall.store.sqlite import SQLiteStore
from yourcall.testing import ScriptedModel

pytestmark = pytest.mark.anyio

COUNT = 60


class Noting(SQLiteStore):
    """Notes in which order it is written to."""

    def __init__(self, path: str, clock: Clock) -> None:
        super().__init__(path, clock=clock)
        self.written: list[str] = []

    async def append(self, key: Key, head: int, *args: Any, **options: Any) -> Appended:
        self.written.append(key.id)
        return await super().append(key, head, *args, **options)


@tool
def asks(ctx: Context) -> str:
    return ctx.ask(Say("A"), expires_in=60)


async def test_sweepers_begin_with_different_conversations(tmp_path: Path) -> None:
    """Two that sweep as many due conversations do not go through them in the same order, each on the other's heels;
    what is due is all over afterwards."""
    clock, orders = Clock(), []
    for n in range(2):
        store = Noting(str(tmp_path / f"{n}.db"), clock)
        steps: list[Any] = [[("asks", {})]] * COUNT + ["So be it."] * COUNT
        async with Engine(Agent(ScriptedModel(steps), tools=[asks]), store, sweep_every=3600) as engine:
            chats = [engine.conversation(f"c{n:02}", user="ada") for n in range(COUNT)]
            for chat in chats:
                async for _ in chat.say("go"):
                    pass
            clock.now += 61
            store.written.clear()
            await engine.sweep()
            orders.append(list(dict.fromkeys(store.written)))
            for chat in chats:
                assert any(isinstance(entry.body, Closed) for entry in (await chat.log()).entries)
    assert sorted(orders[0]) == sorted(orders[1]) == [f"c{n:02}" for n in range(COUNT)]
    assert orders[0] != orders[1]
