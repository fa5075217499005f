"""F1: servers are killed at random moments, while users are at work."""

from __future__ import annotations

import random
from pathlib import Path

import anyio

from tests.faults.checker import Facts, Kept, entries_are_immutable, read, running
from tests.faults.load import users
from tests.faults.report import Outcome
from tests.faults.servers import replicas

USERS = 8
ROUND = 40
"""Kills after which a new store is begun: reading it after each kill shall stay cheap."""


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
                await anyio.sleep(chance.uniform(0.1, 0.6))
                await server.kill()
                outcome.count += 1
                outcome.hits += bool(running(store) & server.started_runs)
                now = read(store)
                outcome.violations += entries_are_immutable(before, now)
                before = now
                await server.start()
        outcome.violations += entries_are_immutable(before, read(store))
        outcome.check(store, facts, servers)
