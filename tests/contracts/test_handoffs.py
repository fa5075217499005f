"""What every store keeps of users who are on their way to a provider and back."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from psycopg import AsyncConnection

from tests.postgres import Postgres
from tests.support import Clock, placed, until
from yourcall.entries import Answered, Asked, Interrupt
from yourcall.ports import MOST_UNDER_WAY, Appended, Handoff, Key, Row, Store
from yourcall.store.postgres import PostgresStore
from yourcall.store.sqlite import SQLiteStore

pytestmark = pytest.mark.anyio

ADA = Key("ada", "c")
LEFT = Handoff(ADA, "i", "google", "a browser", "https://desk.example/callback/google", "https://a.example", True)
WAY = ("google", "a browser", "ada")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["sqlite", "postgres"])
async def store(request: Any, tmp_path: Path, clock: Clock) -> AsyncGenerator[Store, None]:
    """With one open question of Ada's."""
    store: Store = SQLiteStore(str(tmp_path / "c.db"), clock=clock)
    if request.param == "postgres":
        store = PostgresStore(request.getfixturevalue("postgres_server").empty(), clock=clock)
    await store.open()
    asked = Asked(Interrupt("i", "call", "#1", "connect", {}, "d", channel="handoff"))
    assert await store.append(ADA, 0, placed(0, asked), Row()) == Appended.DONE
    yield store
    await store.close()


async def test_a_state_is_used_once_by_whoever_left(store: Store) -> None:
    """By the same user, browser and provider; what does not match changes nothing."""
    assert await store.handoffs.begin("s", LEFT, 600)
    for way in (("github", *WAY[1:]), ("google", "another", "ada"), ("google", "a browser", "bob")):
        assert await store.handoffs.use("s", *way) is None
        assert await store.handoffs.find("s", *way) is None
    assert await store.handoffs.use("t", *WAY) is None
    assert await store.handoffs.use("s", *WAY) == LEFT
    assert await store.handoffs.use("s", *WAY) is None
    assert await store.handoffs.find("s", *WAY) == LEFT


async def test_of_many_at_once_one_uses_it(store: Store) -> None:
    """Compare and swap: the database says who was first."""
    await store.handoffs.begin("s", LEFT, 600)
    used: list[Handoff | None] = []

    async def use() -> None:
        used.append(await store.handoffs.use("s", *WAY))

    async with anyio.create_task_group() as tasks:
        for _ in range(10):
            tasks.start_soon(use)
    assert [one for one in used if one] == [LEFT]


async def test_it_is_in_time_up_to_its_moment(store: Store, clock: Clock) -> None:
    """By the store's clock; several of one question do not disturb each other."""
    assert await store.handoffs.begin("s", LEFT, 600)
    clock.now += 300
    assert await store.handoffs.begin("t", LEFT, 600)
    clock.now += 300
    assert await store.handoffs.use("s", *WAY) is None
    assert await store.handoffs.use("t", *WAY) == LEFT


async def test_a_user_has_so_many_under_way(store: Store, clock: Clock) -> None:
    """The oldest make room, in all of the user's conversations, and nobody else's."""
    bob, other = Key("bob", "c"), Key("ada", "d")
    for key, id in ((bob, "b"), (other, "j")):
        asked = Asked(Interrupt(id, "call", "#1", "connect", {}, "d", channel="handoff"))
        await store.append(key, 0, placed(0, asked), Row())
    assert await store.handoffs.begin("bob's", replace(LEFT, key=bob, interrupt="b"), 600)
    for n in range(MOST_UNDER_WAY + 2):
        clock.now += 1
        assert await store.handoffs.begin(f"s{n}", LEFT if n % 2 else replace(LEFT, key=other, interrupt="j"), 600)
    found = [await store.handoffs.find(f"s{n}", *WAY) for n in range(MOST_UNDER_WAY + 2)]
    assert [n for n, one in enumerate(found) if one is None] == [0, 1]
    assert await store.handoffs.find("bob's", "google", "a browser", "bob")


async def test_nobody_leaves_for_what_is_being_deleted(postgres_server: Postgres) -> None:
    """It waits for the deletion, and then there is no such question; that is no fault of the database's."""
    store = PostgresStore(postgres_server.empty())
    await store.open()
    try:
        asked = Asked(Interrupt("i", "call", "#1", "connect", {}, "d", channel="handoff"))
        await store.append(ADA, 0, placed(0, asked), Row())
        begun: list[bool] = []

        async def begin() -> None:
            begun.append(await store.handoffs.begin("s", LEFT, 600))

        async def waits() -> bool:
            return bool(await store.pool.rows("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'", ()))

        async with anyio.create_task_group() as tasks, await AsyncConnection.connect(store.pool.url) as db:
            await db.execute("DELETE FROM conversation")
            tasks.start_soon(begin)
            await until(waits)
        assert begun == [False]
    finally:
        await store.close()


async def test_nobody_leaves_for_what_is_not_open(store: Store) -> None:
    """Not for another's question, an unknown one, one of another conversation, or one that is over."""
    for wrong in (
        replace(LEFT, key=Key("bob", "c")),
        replace(LEFT, key=Key("ada", "d")),
        replace(LEFT, interrupt="j"),
    ):
        assert not await store.handoffs.begin("s", wrong, 600)
    await store.append(ADA, 1, placed(1, Answered("i", "call", None, "p")), Row())
    assert not await store.handoffs.begin("s", LEFT, 600)
    assert await store.handoffs.find("s", *WAY) is None


async def test_it_goes_with_its_conversation_and_after_a_while(store: Store, clock: Clock) -> None:
    """What is long over is removed when somebody leaves; what is deleted takes its own along."""
    await store.handoffs.begin("s", LEFT, 600)
    clock.now += 600 + 3600
    await store.handoffs.begin("t", LEFT, 600)
    assert await store.handoffs.find("s", *WAY) is None
    assert await store.handoffs.find("t", *WAY) == LEFT
    await store.delete(ADA)
    assert await store.handoffs.find("t", *WAY) is None
