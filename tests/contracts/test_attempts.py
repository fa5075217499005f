"""What `Attempts` keep: so many tries at a question in so many seconds, whoever counts them, however many at once."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import anyio
import pytest

from tests.postgres import Postgres
from tests.support import Clock, placed
from yourcall.entries import Asked, Interrupt
from yourcall.errors import NotFound, TooManyAttempts
from yourcall.ports import ATTEMPT_SECONDS, MAX_ATTEMPTS, Key, Row, Store
from yourcall.store.postgres import PostgresStore
from yourcall.store.sqlite import SQLiteStore

pytestmark = pytest.mark.anyio

CHAT = Key("ada", "c1")


@pytest.fixture
def clock() -> Clock:
    return Clock(1_000.0)


@pytest.fixture(params=["sqlite", "postgres"])
async def stores(
    request: pytest.FixtureRequest, tmp_path: Path, clock: Clock
) -> AsyncGenerator[tuple[Store, Store], None]:
    """Two processes on the same logs, which hold two questions."""
    make: Callable[[], Store] = lambda: SQLiteStore(str(tmp_path / "c.db"), clock=clock)  # noqa: E731  # one of two
    if request.param == "postgres":
        server: Postgres = request.getfixturevalue("postgres_server")
        url = server.empty()
        make = lambda: PostgresStore(url, clock=clock)  # noqa: E731  # the other
    one, other = make(), make()
    await one.open()
    await other.open()
    asks = [Asked(Interrupt(id, id, "#1", "secret", {}, "d")) for id in ("q1", "q2")]
    await one.append(CHAT, 0, placed(0, *asks), Row())
    yield one, other
    await one.close()
    await other.close()


async def test_each_question_has_so_many_tries(stores: tuple[Store, Store], clock: Clock) -> None:
    """In so many seconds, counted in all processes; then one comes free as the oldest is over."""
    for n in range(MAX_ATTEMPTS):
        clock.now += 1
        await stores[n % 2].attempts.begin("q1")
    for store in stores:
        with pytest.raises(TooManyAttempts) as refused:
            await store.attempts.begin("q1")
        assert refused.value.after == ATTEMPT_SECONDS - MAX_ATTEMPTS + 1
        await store.attempts.begin("q2")
    clock.now += ATTEMPT_SECONDS - MAX_ATTEMPTS + 1
    await stores[1].attempts.begin("q1")
    with pytest.raises(TooManyAttempts):
        await stores[0].attempts.begin("q1")


async def test_what_was_deleted_meanwhile_is_not_there(stores: tuple[Store, Store]) -> None:
    """As any question that never was; that is no fault of the database's."""
    await stores[0].delete(CHAT)
    with pytest.raises(NotFound):
        await stores[1].attempts.begin("q1")


async def test_one_that_is_forgiven_counts_no_more(stores: tuple[Store, Store]) -> None:
    """Also if it is forgiven twice, or by another process."""
    one, other = stores
    for _ in range(2 * MAX_ATTEMPTS):
        attempt = await one.attempts.begin("q1")
        await other.attempts.forgive(attempt)
        await one.attempts.forgive(attempt)


async def test_of_many_at_once_so_many_begin(stores: tuple[Store, Store]) -> None:
    """None of them overlooks another."""
    begun: list[str] = []

    async def begin(store: Store, question: str) -> None:
        with contextlib.suppress(TooManyAttempts):
            await store.attempts.begin(question)
            begun.append(question)

    for question in ("q1", "q2"):  # by the second, all connections are there
        async with anyio.create_task_group() as tasks:
            for n in range(20):
                tasks.start_soon(begin, stores[n % 2], question)
    assert sorted(begun) == ["q1"] * MAX_ATTEMPTS + ["q2"] * MAX_ATTEMPTS


async def test_they_go_with_their_conversation(stores: tuple[Store, Store]) -> None:
    """Deleting it is not kept from happening by tries at its questions."""
    await stores[0].attempts.begin("q1")
    assert await stores[1].delete(CHAT)
