"""F6: what servers stand on goes away under load, and comes back."""

from __future__ import annotations

import random
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread

from tests.faults.checker import Facts
from tests.faults.load import users
from tests.faults.report import Outcome
from tests.faults.servers import replicas
from tests.faults.strict import StrictClient
from tests.postgres import Postgres
from tests.redis import Redis

USERS: Final = 6
AWAY: Final = (1.0, 7.0)
"""Seconds, by turns: a request waits for a while, and is refused then."""
HOW: Final = (signal.SIGINT, signal.SIGQUIT)
"""In order, and as a crash."""


async def database_goes_away(
    count: int, database: Postgres, folder: Path, outcome: Outcome, bus: str | None = None, seed: int = 1
) -> None:
    """PostgreSQL is stopped and started so many times."""
    ends = iter(HOW * count)
    await _goes_away(
        count, database.empty(), bus, folder, outcome, lambda: database.stop(next(ends)), database.start, seed
    )


async def bus_goes_away(count: int, store: str, bus: Redis, folder: Path, outcome: Outcome, seed: int = 1) -> None:
    """Redis is stopped and started so many times; what it held is gone then."""
    await _goes_away(count, store, bus.url, folder, outcome, bus.stop, bus.start, seed)


async def _goes_away(
    count: int,
    store: str,
    bus: str | None,
    folder: Path,
    outcome: Outcome,
    stop: Callable[[], None],
    start: Callable[[], None],
    seed: int,
) -> None:
    chance, facts = random.Random(seed), Facts()
    with replicas(2, store, folder, bus=bus) as servers:
        for server in servers:
            await server.start()
        async with users(USERS, [server.url for server in servers], facts, seed, StrictClient):
            for n in range(count):
                await anyio.sleep(chance.uniform(0.5, 1.0))
                await anyio.to_thread.run_sync(stop)
                await anyio.sleep(chance.uniform(0.8, 1.2) * AWAY[n % len(AWAY)])
                await anyio.to_thread.run_sync(start)
                outcome.count += 1
            await anyio.sleep(1.0)
        outcome.check(store, facts, servers)
