"""F5: a server that was stopped for longer than its lease, and goes on as if nothing had been."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.report import Outcome
from tests.faults.stalls import stop_and_go
from tests.postgres import Postgres

pytestmark = pytest.mark.anyio


async def test_f5_the_old_runner_writes_nothing(tmp_path: Path, postgres_server: Postgres) -> None:
    """It stands before the append of a result; another takes over and comes to the end; its append is refused."""
    outcome = Outcome()
    await stop_and_go(1, postgres_server.empty(), tmp_path, outcome)
    assert not outcome.violations
    assert (outcome.count, outcome.hits) == (1, 1)
