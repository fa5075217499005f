"""Values in words: moments and sizes, as people say them."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, timezone

import pytest

from yourcall import Confirm
from yourcall.sizes import size
from yourcall.words import in_words

EAST = timezone(timedelta(hours=2))


@pytest.mark.parametrize(
    ("moment", "words"),
    [
        (datetime(2026, 3, 1, 18, 30, 0, 123456, UTC), "1 March 2026, 18:30 UTC"),
        (datetime(2026, 12, 24, 7, 5, 9), "24 December 2026, 07:05:09"),
        (datetime(2026, 12, 24, 0, 0, tzinfo=EAST), "24 December 2026, 00:00 UTC+02:00"),
        (date(2026, 1, 2), "2 January 2026"),
        (time(18, 30), "18:30"),
        ([date(2026, 1, 2), date(2026, 1, 3)], "2 January 2026, 3 January 2026"),
    ],
)
def test_a_moment_in_words(moment: object, words: str) -> None:
    """To the second, with its zone if it has one, and as no machine writes it."""
    assert in_words(moment) == words


def test_a_consent_carries_its_moments_for_the_card() -> None:
    """The words are for whoever has no card; the moment itself is for one that knows the user's language and zone."""
    at = datetime(2026, 3, 1, 18, 30, tzinfo=UTC)
    (row,) = Confirm("Go?", {"at": at}).payload()["shown"]
    assert row == {
        "title": "At", "text": "1 March 2026, 18:30 UTC", "format": "date-time", "value": "2026-03-01T18:30:00+00:00",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (0, "0 B"), (1023, "1023 B"), (1024, "1 KiB"), (200_000, "195.3 KiB"), ((1 << 20) - 1, "1024 KiB"),
        (1 << 20, "1 MiB"), (5 << 18, "1.3 MiB"), (10 << 20, "10 MiB"), (3 << 30, "3072 MiB"),
    ],
)  # fmt: skip
def test_a_size_in_words(count: int, words: str) -> None:
    """One way to say it, everywhere."""
    assert size(count) == words
