"""F2: a server killed at each commit point, before it and after it. What was committed counts, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults.points import CUES, kill_at_each
from tests.faults.report import Outcome
from tests.postgres import Postgres

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
async def test_f2_the_next_one_carries_on(kind: str, tmp_path: Path, postgres_server: Postgres) -> None:
    """Each effect is known, or unknown where it was cut off; no answer is lost; the conversation comes to its end."""
    store: Callable[[], str] = postgres_server.empty if kind == "postgres" else lambda: ""
    outcome = Outcome()
    await kill_at_each(1, store, tmp_path, outcome)
    assert not outcome.violations
    assert outcome.count == len(CUES)
