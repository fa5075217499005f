"""F6: the database, then Redis, stop under load. Whoever asks is told when to come back; what was recorded is there
afterwards, what was open is open, and all goes on by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.outages import bus_goes_away, database_goes_away
from tests.faults.report import Outcome
from tests.postgres import Postgres, postgres
from tests.redis import Redis, redis

pytestmark = pytest.mark.anyio


async def test_f6_postgres(tmp_path: Path, redis_server: Redis) -> None:
    """Stopped once in order and once as by a crash, with two replicas at work."""
    outcome = Outcome()
    with postgres() as database:
        await database_goes_away(2, database, tmp_path, outcome, redis_server.url)
    assert not outcome.violations
    assert outcome.count == 2


async def test_f6_redis(tmp_path: Path, postgres_server: Postgres) -> None:
    """Nobody notices, but that the words of another replica come late."""
    outcome = Outcome()
    with redis() as bus:
        await bus_goes_away(1, postgres_server.empty(), bus, tmp_path, outcome)
    assert not outcome.violations
    assert outcome.count == 1
