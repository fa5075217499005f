"""F12: many that wait, each for a time of its own, and three sweepers at once under a fast clock."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.expiry import sweep_under_a_fast_clock
from tests.faults.report import Outcome
from yourcall.store.sqlite import SQLiteStore

pytestmark = pytest.mark.anyio


async def test_f12_each_expires_once_and_at_its_time(tmp_path: Path) -> None:
    """What had no limit still waits, what was answered in time is answered, and all the rest has expired, once."""
    path, outcome = f"{tmp_path}/chat.db", Outcome()
    await sweep_under_a_fast_clock(500, f"sqlite:///{path}", lambda clock: SQLiteStore(path, clock=clock), outcome)
    assert not outcome.violations
    assert outcome.hits > 200
