"""What the rows of both databases mean: their statements differ, what comes back does not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from yourcall.entries import Answered, Asked, Closed, load
from yourcall.ports import Found, Key, Open, Sealed, Slot

SCOPE: Final = """
CASE WHEN conversation IS NULL THEN '*' ELSE
    (SELECT c.id FROM conversation c WHERE c.key = sealed.conversation AND c.owner = sealed.owner) END
"""
"""The conversation of a sealed value's slot."""
SEALED: Final = f"id, owner, name, {SCOPE} AS scope, wrapped_by, wrapped, value"
"""The columns of a sealed value, as `sealed` reads them."""


def found(row: Sequence[Any]) -> Found:
    """A question: its owner, its conversation, and the columns of its entry and of its ending's."""
    owner, conversation, *stored = row
    asked = load(*stored[:4]).body
    ending = load(*stored[4:]).body if stored[4] is not None else None
    assert isinstance(asked, Asked)
    assert ending is None or isinstance(ending, Answered | Closed)
    return Found(Key(owner, conversation), asked.interrupt, ending)


def inbox(rows: Iterable[Sequence[Any]]) -> list[Open]:
    """Open questions: the owner and the conversation of each, when it was asked, and the columns of its entry."""
    asked = [(Key(owner, id), asked_at, load(*stored).body) for owner, id, asked_at, *stored in rows]
    return [Open(key, body.interrupt, asked_at) for key, asked_at, body in asked if isinstance(body, Asked)]


def sealed(row: Sequence[Any]) -> Sealed:
    """A sealed value, from the columns `SEALED`."""
    version, owner, name, conversation, key, wrapped, value = row
    return Sealed(version, Slot(owner, name, conversation), key, wrapped, value)
