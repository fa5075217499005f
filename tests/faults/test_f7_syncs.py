"""F7: a word of success is one for what the disk has."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.report import Outcome
from tests.faults.syncs import fail_each_sync, sync_before_each_answer, unsynced

pytestmark = pytest.mark.anyio


async def test_f7_a_success_is_told_after_a_sync(tmp_path: Path) -> None:
    """Of whatever a user does: by the trace of the server's own calls, the response goes out last."""
    outcome = Outcome()
    await sync_before_each_answer(1, tmp_path, outcome)
    assert not outcome.violations
    assert outcome.count == 4


async def test_f7_a_sync_that_fails(tmp_path: Path) -> None:
    """Nothing was taken: it is a 503, the question is open in the next process, and the same is taken there."""
    outcome = Outcome()
    await fail_each_sync(1, tmp_path, outcome)
    assert not outcome.violations
    assert outcome.count == 4


@pytest.mark.parametrize(
    ("calls", "fault"),
    [
        (("write", "sync", "send"), None),
        (("sync", "write", "send"), "before it was synced"),
        (("write", "failed", "send"), "before it was synced"),
        (("begun", "write", "resumed", "send"), "before it was synced"),
        (("write", "begun", "resumed", "send"), None),
        (("write", "begun", "send", "resumed"), "before it was synced"),
        (("sync", "send"), "before it was written"),
        (("write", "sync"), "not answered"),
    ],
)
def test_f7_a_trace_is_read_as_what_it_says(calls: tuple[str, ...], fault: str | None) -> None:
    """Each order that is wrong is named."""
    said = {
        "write": '7 pwrite64(9</tmp/chat.db-wal>, "...number 42...", 4096, 56) = 4096',
        "sync": "7 fdatasync(9</tmp/chat.db-wal>) = 0",
        "failed": "7 fdatasync(9</tmp/chat.db-wal>) = -1 EIO (Input/output error) (INJECTED)",
        "begun": "7 fdatasync(9</tmp/chat.db-wal> <unfinished ...>",
        "resumed": "7 <... fdatasync resumed>) = 0",
        "send": '6 sendto(12<socket:[5]>, "HTTP/1.1 200 OK\\r\\n", 17, 0, NULL, 0) = 17',
    }
    found = list(unsynced("\n".join(said[call] for call in calls), "number 42"))
    assert [fault in text for text in found] == [True] if fault else not found
