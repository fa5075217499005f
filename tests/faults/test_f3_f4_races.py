"""F3, F4: answers that race, through two processes on one store."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.races import one_continuation, one_of_many_wins
from tests.faults.report import Outcome
from tests.postgres import Postgres
from tests.redis import Redis

pytestmark = pytest.mark.anyio


async def test_f3_one_of_many_answers_wins(tmp_path: Path, postgres_server: Postgres, redis_server: Redis) -> None:
    """D: 32 different answers at the same moment: one is recorded, 31 get 409."""
    outcome = Outcome()
    await one_of_many_wins(3, postgres_server.empty(), tmp_path, outcome, redis_server.url)
    assert not outcome.violations
    assert outcome.count == 3


async def test_f3_also_on_a_file(tmp_path: Path) -> None:
    """Two processes on one SQLite file are two replicas as well."""
    outcome = Outcome()
    await one_of_many_wins(1, f"sqlite:///{tmp_path}/chat.db", tmp_path, outcome)
    assert not outcome.violations


async def test_f4_one_continuation(tmp_path: Path, postgres_server: Postgres) -> None:
    """However many answers complete a step at the same moment, in whichever process: the model is asked once."""
    outcome = Outcome()
    await one_continuation(5, postgres_server.empty(), tmp_path, outcome)
    assert not outcome.violations
    assert outcome.count == 5
