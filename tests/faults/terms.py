"""F11: servers are told to stop by SIGTERM, while users are at work."""

from __future__ import annotations

import random
import signal
from pathlib import Path
from typing import Final

import anyio

from tests.faults.checker import Facts, running
from tests.faults.load import users
from tests.faults.report import Outcome
from tests.faults.servers import Server, replicas
from tests.faults.strict import StrictClient

USERS: Final = 4
LIMIT: Final = 25.0
"""Seconds that a server has to end."""


async def stop_under_load(
    count: int, store: str, folder: Path, outcome: Outcome, *, replicas_: int = 1, bus: str | None = None, seed: int = 1
) -> None:
    """Stop one of the servers so many times, each time in the middle of a run, and start it again."""
    chance, facts = random.Random(seed), Facts()
    with replicas(replicas_, store, folder, bus=bus) as servers:
        for server in servers:
            await server.start()
        async with users(USERS, [server.url for server in servers], facts, seed, StrictClient):
            for _ in range(count):
                await anyio.sleep(chance.uniform(0.3, 0.8))
                server = chance.choice(servers)
                while not running(store) & server.started_runs:  # noqa: ASYNC110  # another process's
                    await anyio.sleep(0.01)
                await stop(server, outcome)
                outcome.count += 1
                await server.start()
        outcome.check(store, facts, servers)


async def stop(server: Server, outcome: Outcome) -> float:
    """Stop it; how long that took, in seconds."""
    began = anyio.current_time()
    server.terminate()
    status = await server.dead()
    took = anyio.current_time() - began
    if status not in (None, 0, -signal.SIGTERM):
        outcome.violations.append(f"a server that was told to stop ended with {status}")
    if took > LIMIT:
        outcome.violations.append(f"a server took {took:.1f} s to stop")
    return took
