"""F7: the store is there and does not do what it is asked. Each request is told so in time; the question stays open."""

from __future__ import annotations

import resource
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import anyio
import httpx
import pytest

from tests.postgres import Postgres
from tests.web.agents import engine_of
from tests.web.serving import User, serve
from yourcall.store.postgres import PostgresStore
from yourcall.store.postgres_pool import PATIENCE
from yourcall.store.sqlite_file import BUSY_MS
from yourcall.testing import ScriptStep

pytestmark = pytest.mark.anyio

MANY = 60
ASKING: list[ScriptStep] = [[("free", {})], "Thanks."]


def busy(response: httpx.Response) -> bool:
    return response.status_code == 503 and int(response.headers["retry-after"]) > 0


async def asked(ada: User) -> tuple[str, str]:
    """A conversation, and the question that is open in it."""
    conversation = await ada.create()
    await ada.say(conversation, "Ask me")
    await ada.settled(conversation)
    [question] = await ada.open(conversation)
    return conversation, question["id"]


async def still_open(ada: User, conversation: str, question: str) -> None:
    """It is, and an answer is taken once all is well."""
    assert [one["id"] for one in await ada.open(conversation)] == [question]
    assert (await ada.answer(question, "red")).status_code == 200
    assert (await ada.settled(conversation))["phase"] == "done"


async def test_f7_a_locked_file(tmp_path: Path) -> None:
    """However many come, each hears within the same few seconds; whoever only reads is served meanwhile."""
    path = tmp_path / "chat.db"
    async with serve(engine_of(ASKING, store=f"sqlite:///{path}")) as served:
        ada = await served.user("ada")
        ada.timeout = httpx.Timeout(60)
        conversation, question = await asked(ada)
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            said: list[httpx.Response] = []

            async def answer() -> None:
                said.append(await ada.answer(question, "red"))

            async def skip() -> None:
                said.append(await ada.post(f"/interrupts/{question}/skip", json={}))

            began = time.monotonic()
            async with anyio.create_task_group() as tasks:
                for _ in range(MANY // 2):
                    tasks.start_soon(answer)
                    tasks.start_soon(skip)
                await anyio.sleep(0.5)
                for _ in range(5):
                    assert (await ada.snapshot(conversation))["phase"] == "waiting"
                assert not said, "they were read while all the others wait"
            took = time.monotonic() - began
            other.execute("ROLLBACK")
        assert len(said) == MANY
        assert all(map(busy, said))
        assert took < 4 * BUSY_MS / 1000, "they do not wait one after the other"
        await still_open(ada, conversation, question)


@contextmanager
def full(path: Path) -> Iterator[None]:
    """No file of this process grows beyond what its log has now: as on a disk without room."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (Path(f"{path}-wal").stat().st_size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_f7_a_full_disk(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Nothing is taken while nothing can be written; the operator reads why."""
    path = tmp_path / "chat.db"
    async with serve(engine_of(ASKING, store=f"sqlite:///{path}")) as served:
        ada = await served.user("ada")
        conversation, question = await asked(ada)
        with full(path):
            assert busy(await ada.answer(question, "red"))
            assert busy(await ada.post(f"/conversations/{conversation}/messages", json={"text": "Hello?"}))
        assert "The disk fails the store" in caplog.text
        await still_open(ada, conversation, question)


async def test_f7_no_connection_is_free(postgres_server: Postgres) -> None:
    """All connections of the pool are taken for too long."""
    store = PostgresStore(postgres_server.empty())
    async with serve(engine_of(ASKING, store=store)) as served:
        ada = await served.user("ada")
        ada.timeout = httpx.Timeout(60)
        conversation, question = await asked(ada)
        pool = store.pool._pool
        assert pool is not None
        taken = [await pool.getconn() for _ in range(pool.max_size)]
        began = time.monotonic()
        assert busy(await ada.answer(question, "red"))
        assert time.monotonic() - began < 2 * PATIENCE
        for connection in taken:
            await pool.putconn(connection)
        await still_open(ada, conversation, question)
