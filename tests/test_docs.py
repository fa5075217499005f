"""What the documentation says of the tests is so."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parent
SECURITY = (TESTS.parent / "docs" / "security.md").read_text(encoding="utf-8")


def test_every_promise_names_tests_that_are_there() -> None:
    """A test that is renamed or removed takes its promise along, or the page is mended."""
    named = re.findall(r"`([\w/]+\.py)::(\w+)`", SECURITY)
    assert len(named) > 30
    missing = [
        f"{file}::{test}"
        for file, test in named
        if not re.search(rf"^(?:async )?def {test}\(", (TESTS / file).read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert missing == []
