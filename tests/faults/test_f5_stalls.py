"""F5: a server that was stopped for longer than its lease, and goes on as if nothing had been."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from tests.faults.report import Outcome
from tests.faults.stalls import stop_and_go
from tests.postgres import Postgres
from tests.support import placed, until
from yourcall.entries import User
from yourcall.errors import Busy
from yourcall.ports import Appended, Key, Row
from yourcall.store import postgres_pool
from yourcall.store.postgres import PostgresStore
from yourcall.store.postgres_pool import Connection

pytestmark = pytest.mark.anyio


async def test_f5_the_old_runner_writes_nothing(tmp_path: Path, postgres_server: Postgres) -> None:
    """It stands before the append of a result; another takes over and comes to the end; its append is refused."""
    outcome = Outcome()
    await stop_and_go(1, postgres_server.empty(), tmp_path, outcome)
    assert not outcome.violations
    assert (outcome.count, outcome.hits) == (1, 1)


async def test_f5_in_the_middle_of_a_commit(postgres_server: Postgres, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever stops there holds a lock; the database gives it up, others go on, and the one that wakes up is busy."""
    monkeypatch.setattr(postgres_pool, "PATIENCE", 0.5)
    url, key = postgres_server.empty(), Key("ada", "c")
    old, new = PostgresStore(url), PostgresStore(url)
    locked, awake = anyio.Event(), anyio.Event()

    async def stop(db: Connection) -> None:
        async with db.transaction():
            await db.execute("INSERT INTO conversation (owner, id, updated_at) VALUES ('ada', 'c', 0)")
            locked.set()
            await awake.wait()
            await db.execute("SELECT 1")

    async def refused() -> None:
        with pytest.raises(Busy):
            await old.pool.run(stop)

    async def taken() -> bool:
        try:
            return await new.append(key, 0, placed(0, User("go")), Row(phase="run")) is Appended.DONE
        except Busy:
            return False

    await old.open()
    await new.open()
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(refused)
            await locked.wait()
            await until(taken)
            awake.set()
        assert (await old.load(key)).head == 1
    finally:
        await old.close()
        await new.close()
