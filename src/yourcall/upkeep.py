"""What is done to a store as a whole, by whoever operates it: its schema, its keys, and what nobody needs any more.

Servers may be at work meanwhile, of this release or of the one before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from yourcall.ports import Key


@dataclass(frozen=True, slots=True)
class Indexed:
    """What the index of interrupts says of one: where it was asked and ended in its log, whose it is, who is asked."""

    id: str
    asked: int
    ended: int | None
    asked_at: float
    owner: str
    addressee: str | None


class Upkeep(Protocol):
    """A store, opened as it is: only `upgrade` changes its schema, and before that it may be an older one's."""

    async def open(self) -> None:
        """Connect."""

    async def close(self) -> None:
        """Let go of everything; idempotent."""

    async def version(self) -> int:
        """The version of its schema; 0 if it has none."""

    async def upgrade(self) -> int:
        """Bring the schema up to date, one who does so at a time; returns the version that it had before."""

    @property
    def newest(self) -> int:
        """The version of the schema that this release brings."""

    async def keys(self, limit: int, after: Key | None = None) -> Sequence[Key]:
        """Conversations in the order of their keys, those behind `after`."""

    async def indexed(self, key: Key) -> Sequence[Indexed]:
        """What the index says of a conversation's interrupts."""

    async def idle(self, seconds: float, limit: int, after: Key | None = None) -> Sequence[Key]:
        """Of `keys`, those that are done, have no open question, and were not touched for so long."""

    async def prune(self, key: Key, seconds: float) -> bool:
        """Remove a conversation with all that belongs to it, if it still is one of `idle`."""
