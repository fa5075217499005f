"""Q4 with two replicas: a conversation of large results grows by what is new, however long it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.report import Outcome
from tests.faults.sizes import grow, size_of_postgres, size_of_sqlite
from tests.postgres import Postgres

pytestmark = pytest.mark.anyio


async def test_q4_sqlite(tmp_path: Path) -> None:
    """Two processes' engines on a file; each result is written to its log and to its place, and never again."""
    outcome, path = Outcome(), tmp_path / "chat.db"
    await grow(10, f"sqlite:///{path}", outcome, lambda: size_of_sqlite(path))
    print(*outcome.notes)
    assert not outcome.violations
    assert outcome.count == 10


async def test_q4_postgres(postgres_server: Postgres) -> None:
    """The same on a database."""
    outcome, url = Outcome(), postgres_server.empty()
    await grow(10, url, outcome, lambda: size_of_postgres(url))
    print(*outcome.notes)
    assert not outcome.violations
    assert outcome.count == 10
