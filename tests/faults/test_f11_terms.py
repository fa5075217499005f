"""F11: SIGTERM under load. Nothing is answered but with what was done or a 503; nothing is lost; it ends in time."""

from __future__ import annotations

import random
from pathlib import Path

import anyio
import httpx
import pytest

from tests.faults.checker import Facts
from tests.faults.report import Outcome
from tests.faults.servers import replicas
from tests.faults.strict import StrictClient
from tests.faults.terms import LIMIT, stop, stop_under_load
from tests.postgres import Postgres
from tests.redis import Redis

pytestmark = pytest.mark.anyio


async def test_f11_sqlite(tmp_path: Path) -> None:
    """One process on a file; nobody's connection breaks, and whoever comes back goes on where they were."""
    outcome = Outcome()
    await stop_under_load(1, f"sqlite:///{tmp_path}/chat.db", tmp_path, outcome)
    assert not outcome.violations
    assert outcome.count == 1


async def test_f11_postgres(tmp_path: Path, postgres_server: Postgres, redis_server: Redis) -> None:
    """Two replicas, one of which is stopped and started: users are served all the time."""
    outcome = Outcome()
    await stop_under_load(1, postgres_server.empty(), tmp_path, outcome, replicas_=2, bus=redis_server.url)
    assert not outcome.violations


async def test_f11_a_run_that_does_not_end(tmp_path: Path) -> None:
    """It is cut off after its time. Meanwhile what is recorded can be read, new work is refused with a word on when to
    come back, and streams end properly. The next process carries the run on."""
    outcome, facts, store = Outcome(), Facts(), f"sqlite:///{tmp_path}/chat.db"
    with replicas(1, store, tmp_path, pace=3600.0) as [slow]:
        await slow.start()
        async with StrictClient("ada", [slow.url], facts, random.Random(1)).opened() as ada:
            await ada.sure("POST", "/conversations", {"id": "c"})
            await ada.say("c", "m", "c: asks")
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(ada.follow, "c")
                tasks.start_soon(_ask_while_it_stops, ada.http, slow.url, facts)
                took = await stop(slow, outcome)
    assert took < LIMIT
    with replicas(1, store, tmp_path) as [next_one]:
        await next_one.start()
        async with StrictClient(
            "ada",
            [next_one.url],
            facts,
            random.Random(2),
        ).opened() as ada:
            for interrupt in await ada.open("c") or ():
                await ada.answer("c", interrupt, 7)
            assert await ada.open("c") is None
        outcome.check(store, facts, [next_one])
    assert not outcome.violations


async def _ask_while_it_stops(http: httpx.AsyncClient, url: str, facts: Facts) -> None:
    """Ask one thing after another until nobody is there."""
    told: set[tuple[str, int]] = set()
    while True:
        try:
            ready = await http.get(f"{url}/readyz")
            alive = await http.get(f"{url}/healthz")
            read = await http.get(f"{url}/conversations/c")
            new = await http.post(f"{url}/conversations/c/messages", json={"text": "more"})
        except httpx.ConnectError:
            break
        if ready.status_code != 200:
            told |= {("alive", alive.status_code), ("read", read.status_code), ("new", new.status_code)}
            facts.broken += [] if "retry-after" in new.headers else ["no word on when to come back"]
            await anyio.sleep(0.5)
    if told != {("alive", 200), ("read", 200), ("new", 503)}:
        facts.broken.append(f"while it stops: {told}")
