"""What the documentation says of the tests is so."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parent
DOCS = TESTS.parent / "docs"
SECURITY = (DOCS / "security.md").read_text(encoding="utf-8")


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


def test_links_lead_somewhere() -> None:
    """Files that a page names are in the repository, and so are the headings it names in them."""
    broken = []
    for page in DOCS.glob("*.md"):
        for link in re.findall(r"\]\(([^):]+)\)", page.read_text(encoding="utf-8")):
            path, _, heading = link.partition("#")
            target = (DOCS / path).resolve() if path else page
            if not target.exists() or (heading and heading not in _headings(target)):
                broken.append(f"{page.name}: {link}")
    assert broken == []


def _headings(page: Path) -> list[str]:
    """As GitHub names them in links."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return [re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles]
