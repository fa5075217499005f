"""F8: a server that is killed and stopped at any time, and users who do whatever there is to do."""

from __future__ import annotations

from pathlib import Path

from tests.faults.chats import play
from tests.faults.report import Outcome


def test_f8_whatever_users_do(tmp_path: Path) -> None:
    """What was acknowledged stays, what has ended stays so, each is told the truth, and nothing is stuck."""
    outcome = Outcome()
    play(30, 20, tmp_path, outcome)
    print(f"F8: {outcome.count} kills and stops, {outcome.share:.0%} hit a run; {outcome.facts} facts")
    assert outcome.count > 20
    assert outcome.facts > 100
