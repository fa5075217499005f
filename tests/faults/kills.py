"""F1: servers are killed at random moments, while users are at work."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import anyio

from tests.faults.checker import Facts, Kept, entries_are_immutable, read, running
from tests.faults.load import PATIENCE, Stuck, users
from tests.faults.report import Outcome
from tests.faults.servers import Server, replicas

USERS = 8


async def kill_at_random(
    count: int, store: str, folder: Path, outcome: Outcome, *, replicas_: int = 1, bus: str | None = None, seed: int = 1
) -> None:
    """Kill one of the servers so many times, each time start it again, and look at the store in between.

    Three of four kills wait until there is a run to hit; the fourth may hit a server that is just starting.
    """
    chance = random.Random(seed)
    facts, before = Facts(), list[Kept]()
    with replicas(replicas_, store, folder, bus=bus) as servers:
        for server in servers:
            await server.start()
            await server.ready()
        async with users(USERS, [server.url for server in servers], facts, seed):
            for n in range(count):
                await anyio.sleep(chance.uniform(0.0, 0.5))
                server = chance.choice(servers) if n % 4 == 3 else await _at_work(servers, store, chance)
                await server.kill()
                outcome.count += 1
                outcome.hits += bool(running(store) & server.started_runs)
                now = read(store)
                outcome.violations += entries_are_immutable(before, now)
                before = now
                await server.start()
        outcome.violations += entries_are_immutable(before, read(store))
        outcome.check(store, facts, servers)


async def _at_work(servers: Sequence[Server], store: str, chance: random.Random) -> Server:
    """One that has a run in progress, as soon as there is one."""
    with anyio.move_on_after(PATIENCE):
        while True:
            held = running(store)
            if busy := [server for server in servers if held & server.started_runs]:
                return chance.choice(busy)
            await anyio.sleep(0.005)
    raise Stuck("nobody has anything to do")
