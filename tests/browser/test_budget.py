"""What the front end weighs: it is served as it is written, so its comments count as well."""

from __future__ import annotations

import gzip

from tests.browser.stage import ROOT

CARDS = ROOT / "src" / "yourcall" / "cards"
CHAT = {"chat.js", "client.js"}
PAGES = {"chat-define.js", "chats.js", "inbox.js", "persist.js"}
"""What a page needs around its cards: the script that names the chat, lists of chats and of questions, to try again."""
FILES = {"attach.js", "attach.css"}
"""What adds files to messages and answers, with its look."""


def weight(*names: str) -> int:
    """Bytes of these files, gzipped together."""
    return len(gzip.compress(b"".join((CARDS / name).read_bytes() for name in sorted(names))))


def test_the_chat_is_small() -> None:
    """The chat with its client stays under 8 kB."""
    assert weight(*CHAT) < 8_000


def test_the_cards_are_small() -> None:
    """All cards together, their words included, stay under 15 kB."""
    assert weight(*sorted(path.name for path in CARDS.glob("*.js") if path.name not in CHAT | PAGES | FILES)) < 15_000


def test_the_pages_are_small() -> None:
    """The lists of chats and of questions stay under 3 kB."""
    assert weight(*PAGES) < 3_000


def test_the_files_are_small() -> None:
    """To add files to what is written, and to show those that came, stays under 4 kB."""
    assert weight(*FILES) < 4_000


def test_the_theme_is_small() -> None:
    """The look of both stays under 4 kB."""
    assert weight("theme.css") < 4_000
