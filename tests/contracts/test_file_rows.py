"""What every store knows of files: whose they are, whether they count, and which are to be removed."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from tests.postgres import Postgres
from tests.support import Clock, placed
from yourcall.entries import File, User
from yourcall.errors import Busy
from yourcall.ports import LEAST_FILE, Appended, Draft, Key, Row, Store
from yourcall.store.postgres import PostgresStore
from yourcall.store.sqlite import SQLiteStore

pytestmark = pytest.mark.anyio

ADA, BOB = Key("ada", "c1"), Key("bob", "c1")
ONE = File("1" * 32, "größe.png", "image/png", 10_000, "ab" * 32)
TWO = replace(ONE, id="2" * 32)
MUCH = 1 << 40


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["sqlite-file", "sqlite-memory", "postgres"])
async def store(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> AsyncGenerator[Store, None]:
    store: Store
    if request.param == "postgres":
        server: Postgres = request.getfixturevalue("postgres_server")
        store = PostgresStore(server.empty(), clock=clock)
    else:
        store = SQLiteStore(str(tmp_path / "c.db") if request.param == "sqlite-file" else ":memory:", clock=clock)
    await store.open()
    yield store
    await store.close()


async def keep(store: Store, key: Key, *ids: str) -> Appended:
    head = (await store.load(key)).head
    return await store.append(key, head, placed(head, User("see")), Row(), keep=[Draft("file", id) for id in ids])


async def test_a_draft_counts_once_an_append_keeps_it(store: Store) -> None:
    """Then it is one of that conversation's, in the order of adding, and as it was."""
    for file in (ONE, TWO):
        assert await store.files.add("ada", file, MUCH)
    assert await store.files.kept(ADA) == []
    assert await keep(store, ADA, TWO.id, ONE.id) is Appended.DONE
    assert await store.files.kept(ADA) == [ONE, TWO]
    assert await store.files.find("ada", [TWO.id, "0" * 32, ONE.id]) == [TWO, ONE]


async def test_an_append_without_its_draft_is_none(store: Store) -> None:
    """Swept, kept already, somebody else's, or never there: nothing is appended, and what is kept stays where it is."""
    await store.files.add("ada", ONE, MUCH)
    await store.files.add("ada", TWO, MUCH)
    await store.files.drop("ada", TWO.id)
    await keep(store, ADA)
    for key, id in ((ADA, TWO.id), (BOB, ONE.id), (ADA, "0" * 32)):
        with pytest.raises(Busy, match="again"):
            await keep(store, key, id)
    await keep(store, ADA, ONE.id)
    with pytest.raises(Busy):
        await keep(store, Key("ada", "c2"), ONE.id)
    assert (await store.load(ADA)).head == 2
    assert not (await store.load(BOB)).exists
    assert await store.files.kept(ADA) == [ONE]


async def test_what_somebody_else_gives_is_the_owner_s(store: Store) -> None:
    """Bob answers what Ada's conversation put to him: his draft becomes hers, and nobody else's does."""
    await store.files.add("bob", ONE, MUCH)
    await store.files.add("eve", TWO, MUCH)
    for draft in (Draft("file", TWO.id, "bob"), Draft("file", TWO.id)):
        with pytest.raises(Busy):
            await store.append(ADA, 0, placed(0, User("see")), Row(), keep=[draft])
    await store.append(ADA, 0, placed(0, User("see")), Row(), keep=[Draft("file", ONE.id, "bob")])
    assert await store.files.kept(ADA) == [ONE]
    assert await store.files.find("ada", [ONE.id]) == [ONE]
    assert await store.files.find("bob", [ONE.id]) == []


async def test_every_method_sees_one_owner(store: Store) -> None:
    """Bob neither finds nor drops what is Ada's."""
    await store.files.add("ada", ONE, MUCH)
    await store.files.drop("bob", ONE.id)
    assert await store.files.find("bob", [ONE.id]) == []
    assert await store.files.find("ada", [ONE.id]) == [ONE]
    await keep(store, ADA, ONE.id)
    assert await store.files.kept(BOB) == []


async def test_what_is_kept_is_never_doomed_while_its_conversation_is_there(store: Store, clock: Clock) -> None:
    """Neither by age nor by dropping; deleting the conversation dooms it at once, and so it stays until removed."""
    await store.files.add("ada", ONE, MUCH)
    await keep(store, ADA, ONE.id)
    clock.now += 1e6
    await store.files.drop("ada", ONE.id)
    assert await store.files.doomed(3600, 9) == []
    await store.delete(ADA)
    assert await store.files.find("ada", [ONE.id]) == []
    for _ in range(2):
        assert await store.files.doomed(3600, 9) == [ONE.id]
    await store.files.remove([ONE.id])
    assert await store.files.doomed(3600, 9) == []


async def test_a_draft_is_doomed_when_it_is_old(store: Store, clock: Clock) -> None:
    """By the store's clock; once it is doomed, no append keeps it: its bytes may be gone."""
    await store.files.add("ada", ONE, MUCH)
    clock.now += 3600
    await store.files.add("ada", TWO, MUCH)
    assert await store.files.doomed(3600, 9) == []
    clock.now += 1
    assert await store.files.doomed(3600, 9) == [ONE.id]
    with pytest.raises(Busy):
        await keep(store, ADA, ONE.id)
    assert await keep(store, ADA, TWO.id) is Appended.DONE


async def test_only_the_doomed_are_removed(store: Store) -> None:
    """Whatever is asked for: a draft and a kept one stay."""
    for file in (ONE, TWO):
        await store.files.add("ada", file, MUCH)
    await keep(store, ADA, ONE.id)
    await store.files.remove([ONE.id, TWO.id])
    assert await store.files.find("ada", [ONE.id, TWO.id]) == [ONE, TWO]


async def test_a_quota_is_not_overrun_by_many_at_once(store: Store) -> None:
    """Twenty at once, room for five: five are in. What has been removed makes room again."""
    added = []

    async def add(n: int) -> None:
        added.append(await store.files.add("ada", replace(ONE, id=f"{n:032}"), 5 * ONE.size))

    async with anyio.create_task_group() as tasks:
        for n in range(20):
            tasks.start_soon(add, n)
    assert added.count(True) == 5
    assert await store.files.add("bob", ONE, ONE.size)
    small = replace(TWO, size=1)
    assert not await store.files.add("cy", small, LEAST_FILE - 1)
    assert await store.files.add("cy", small, LEAST_FILE)
    await store.files.drop("cy", small.id)
    await store.files.remove(await store.files.doomed(3600, 99))
    assert await store.files.add("cy", small, LEAST_FILE)
