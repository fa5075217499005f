"""Q4: what is stored grows with what is said, and with nothing else."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest

from tests.scene import Process, Say
from tests.support import WatchedStore
from yourcall import Agent, Context, Engine, tool
from yourcall.bus.local import LocalBus
from yourcall.entries import Asked
from yourcall.events import Ended
from yourcall.testing import ScriptedModel

pytestmark = pytest.mark.anyio


def stored(path: Path) -> int:
    """The bytes of the file, with nothing left in its write-ahead log."""
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path.stat().st_size


@pytest.mark.parametrize(("size", "pauses"), [(1_000_000, 12), (5_000, 200)], ids=["long results", "many pauses"])
async def test_Q4_the_file_grows_by_what_is_new(tmp_path: Path, size: int, pauses: int) -> None:
    """Each pause adds its own entries, and its result once; a resume reads the log once, for the model's request."""

    @tool
    def asks(ctx: Context) -> str:
        return ctx.ask(Say("Which?")) * size

    path, model, bus = tmp_path / "c.db", ScriptedModel(repeat([("asks", {})])), LocalBus()
    store = WatchedStore(path)
    growth, reads = list[float](), list[float]()
    async with Engine(Agent[Any](model, tools=[asks], max_steps=pauses + 2), store, bus=bus) as engine:
        p = Process(engine, model)
        await p.say()
        for _ in range(4):
            before = stored(path)
            for _ in range(pauses // 4):
                question = await p.open()
                store.loaded.clear()
                async with bus.listen(p.chat.key) as live:
                    await p.chat.answer(question.id, "x")
                    while not isinstance(await anext(live), Ended):
                        pass
            reads.append(sum(store.loaded) / (await store.load(p.chat.key)).head)
            growth.append((stored(path) - before) / (pauses // 4))
        assert len(await p.bodies(Asked)) == pauses + 1
    assert max(growth) < 1.25 * min(growth)  # by whole pages of the file
    assert max(growth) < 1.01 * size + 4_096
    assert max(reads) < 1.3
