"""F1: servers are killed at random moments, while users are at work."""

from __future__ import annotations

import random
from pathlib import Path

import anyio

from tests.faults.checker import Facts, Kept, entries_are_immutable, read, running
from tests.faults.load import users
from tests.faults.report import Outcome
from tests.faults.servers import Server, replicas

USERS = 8
AT_WORK = 0.75
"""How many of the kills wait until there is something to hit; the others also hit servers that are starting."""


async def kill_at_random(
    count: int, store: str, folder: Path, outcome: Outcome, *, replicas_: int = 1, bus: str | None = None, seed: int = 1
) -> None:
    """Kill one of the servers so many times, each time start it again, and look at the store in between."""
    chance = random.Random(seed)
    facts, before = Facts(), list[Kept]()
    with replicas(replicas_, store, folder, bus=bus) as servers:
        for server in servers:
            await server.start()
        async with users(USERS, [server.url for server in servers], facts, seed):
            for _ in range(count):
                server = chance.choice(servers)
                await anyio.sleep(chance.uniform(0.0, 0.5))
                if chance.random() < AT_WORK:
                    await _at_work(server, store)
                    await anyio.sleep(chance.uniform(0.0, 0.1))
                await server.kill()
                outcome.count += 1
                outcome.hits += bool(running(store) & server.started_runs)
                now = read(store)
                outcome.violations += entries_are_immutable(before, now)
                before = now
                await server.start()
        outcome.violations += entries_are_immutable(before, read(store))
        outcome.check(store, facts, servers)


async def _at_work(server: Server, store: str) -> None:
    """Wait until the server has a run in progress; not for long, since its sibling may have them all."""
    with anyio.move_on_after(2):
        while not running(store) & server.started_runs:  # noqa: ASYNC110  # another process's
            await anyio.sleep(0.005)
