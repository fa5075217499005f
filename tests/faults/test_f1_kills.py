"""F1: kill -9 at random moments under load. Nothing acknowledged is lost, nothing happens twice, nothing is stuck."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.kills import kill_at_random
from tests.faults.report import Outcome
from tests.postgres import Postgres
from tests.redis import Redis

pytestmark = pytest.mark.anyio


async def test_f1_sqlite(tmp_path: Path) -> None:
    """One process on a file, killed and started again."""
    outcome = Outcome()
    await kill_at_random(30, f"sqlite:///{tmp_path}/chat.db", tmp_path, outcome)
    print(f"F1: {outcome.share:.0%} of {outcome.count} kills hit a run in progress")
    assert not outcome.violations
    assert outcome.share >= 0.5


async def test_f1_postgres(tmp_path: Path, postgres_server: Postgres, redis_server: Redis) -> None:
    """Two replicas on a database, with a bus between them; one of them is killed while the other goes on."""
    outcome = Outcome()
    await kill_at_random(5, postgres_server.empty(), tmp_path, outcome, replicas_=2, bus=redis_server.url)
    print(f"F1: {outcome.share:.0%} of {outcome.count} kills hit a run in progress")
    assert not outcome.violations
    assert outcome.share >= 0.5
