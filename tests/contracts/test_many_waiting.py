"""What one look costs does not grow with how many conversations wait: in steps of SQLite, in pages of PostgreSQL."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

import pytest

from tests.postgres import Postgres
from tests.support import placed
from yourcall.entries import Asked, Interrupt, User
from yourcall.ports import Appended, Key, Row, Store
from yourcall.store.postgres import PostgresStore
from yourcall.store.sqlite import SQLiteStore

pytestmark = pytest.mark.anyio

FEW, MANY, SHOWN = 100, 1_000, 10
Look: TypeAlias = Callable[[Store], Awaitable[Any]]
Cost: TypeAlias = Callable[[Look], Awaitable[int]]

LOOKS: dict[str, Look] = {
    "one's own inbox": lambda store: store.inbox("ada", ["ada"], SHOWN),
    "a role's inbox": lambda store: store.inbox("bo", ["bo", "desk", "desk", "nobody"], SHOWN),
    "a later page": lambda store: store.inbox("ada", ["desk"], SHOWN, before=(50.0, "")),
    "the list": lambda store: store.conversations("ada", SHOWN),
    "opening one": lambda store: store.load(Key("ada", "c7"), after=0),
    "finding a question": lambda store: store.find("bo", "desk-7", ["bo", "desk"]),
    "what is due": lambda store: store.due(SHOWN),
}


@asynccontextmanager
async def in_sqlite() -> AsyncIterator[tuple[Store, Cost]]:
    store = SQLiteStore(":memory:")
    await store.open()

    async def cost(look: Look) -> int:
        """Tens of steps of its virtual machine."""
        steps = list[None]()
        await store.file._db.set_progress_handler(lambda: steps.append(None), 10)
        await look(store)
        await store.file._db.set_progress_handler(lambda: None, 0)
        return len(steps)

    yield store, cost
    await store.close()


@asynccontextmanager
async def in_postgres(url: str) -> AsyncIterator[tuple[Store, Cost]]:
    # Tables as small as these would be read and joined as a whole; it is large ones that are asked after.
    small = "".join(f"%20-cenable_{way}%3Doff" for way in ("seqscan", "mergejoin", "hashjoin"))
    store = PostgresStore(url + small)
    await store.open()
    plain = store.pool.rows

    async def cost(look: Look) -> int:
        """Pages that its statement looks at, by the database's own count."""
        pages = list[int]()

        async def rows(statement: Any, values: Any) -> Any:
            ((plans,),) = await plain(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement}", values)
            plan = (json.loads(plans) if isinstance(plans, str) else plans)[0]["Plan"]
            pages.append(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])
            return await plain(statement, values)

        await store.pool.run(lambda db: db.execute("ANALYZE conversation, entry, interrupt"))
        vars(store.pool)["rows"] = rows
        await look(store)
        del vars(store.pool)["rows"]
        return sum(pages)

    yield store, cost
    await store.close()


@pytest.fixture(params=["sqlite", "postgres"])
async def opened(request: pytest.FixtureRequest) -> AsyncIterator[tuple[Store, Cost]]:
    if request.param == "sqlite":
        async with in_sqlite() as opened:
            yield opened
    else:
        server: Postgres = request.getfixturevalue("postgres_server")
        async with in_postgres(server.empty()) as opened:
            yield opened


async def wait(store: Store, n: int) -> None:
    """One more conversation of ada's that waits for her, and one of somebody else's that waits for the desk."""
    for owner, name, to in (("ada", "ada", None), (f"o{n}", "desk", "desk")):
        asked = Interrupt(f"{name}-{n}", "k", "#1", "pick", {}, "digest", to=to)
        entries = placed(0, User("Go"), Asked(asked), at=float(n))
        done = await store.append(Key(owner, f"c{n}"), 0, entries, Row(phase="waiting", expires_at=9e9))
        assert done is Appended.DONE


async def test_ten_times_as_many_waiting_cost_a_look_no_more(opened: tuple[Store, Cost]) -> None:
    """Also for the one user, and the one role, whose questions they all are."""
    store, cost = opened
    for n in range(FEW):
        await wait(store, n)
    before = {name: await cost(look) for name, look in LOOKS.items()}
    for n in range(FEW, MANY):
        await wait(store, n)
    after = {name: await cost(look) for name, look in LOOKS.items()}
    assert {name: (before[name], after[name]) for name in LOOKS if after[name] > 1.5 * before[name] + 3} == {}


async def test_an_inbox_of_many_names_is_the_latest_of_all(opened: tuple[Store, Cost]) -> None:
    """In pages, across one's own questions and those put to several names, each once."""
    store, _ = opened
    for n in range(7):
        await wait(store, n)
    seen, before = list[str](), None
    while page := await store.inbox("ada", ["desk", "ada", "desk"], 3, before=before):
        seen += [one.interrupt.id for one in page]
        before = (page[-1].asked_at, page[-1].interrupt.id)
    assert seen == [f"{name}-{n}" for n in reversed(range(7)) for name in ("desk", "ada")]
