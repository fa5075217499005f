"""Users on their way to a provider and back, in a table of the store's file."""

from __future__ import annotations

from typing import Final

from yourcall.ports import MOST_UNDER_WAY, OVER_SECONDS, Handoff, Key
from yourcall.store.sqlite_file import SQLiteFile

_BEGIN: Final = """
INSERT INTO handoff (state, conversation, interrupt, provider, browser, redirect_uri, issuer, names_issuer, expires_at)
SELECT ?, c.key, i.id, ?, ?, ?, ?, ?, ? FROM interrupt i JOIN conversation c ON c.key = i.conversation
WHERE i.id = ? AND i.ended IS NULL AND c.owner = ? AND c.id = ?
RETURNING state
"""
_OLDEST: Final = """
DELETE FROM handoff WHERE state IN (
    SELECT h.state FROM conversation c JOIN handoff h ON h.conversation = c.key WHERE c.owner = ?
    ORDER BY h.expires_at DESC, h.state LIMIT -1 OFFSET ?)
"""
_MINE: Final = """
state = ? AND provider = ? AND browser = ?
    AND conversation IN (SELECT key FROM conversation WHERE owner = ?)
"""
_USE: Final = f"UPDATE handoff SET used_at = ? WHERE {_MINE} AND used_at IS NULL AND expires_at > ? RETURNING state"
_READ: Final = f"""
SELECT c.id, h.interrupt, h.redirect_uri, h.issuer, h.names_issuer
FROM handoff h JOIN conversation c ON c.key = h.conversation WHERE {_MINE}
"""


class SQLiteHandoffs:
    """`HandoffRows` in an opened file."""

    def __init__(self, file: SQLiteFile) -> None:
        self._file = file

    async def begin(self, state: str, handoff: Handoff, seconds: float) -> bool:
        now = self._file.clock()
        one = handoff
        values = (state, one.provider, one.browser, one.redirect_uri, one.issuer, one.names_issuer, now + seconds)
        async with self._file.transaction() as db:
            await db.execute("DELETE FROM handoff WHERE expires_at <= ?", (now - OVER_SECONDS,))
            where = (one.interrupt, one.key.owner, one.key.id)
            begun = list(await db.execute_fetchall(_BEGIN, (*values, *where)))
            await db.execute(_OLDEST, (one.key.owner, MOST_UNDER_WAY))
            return bool(begun)

    async def use(self, state: str, provider: str, browser: str, owner: str) -> Handoff | None:
        mine, now = (state, provider, browser, owner), self._file.clock()
        if not await self._file.write(_USE, (now, *mine, now)):
            return None
        return await self.find(*mine)

    async def find(self, state: str, provider: str, browser: str, owner: str) -> Handoff | None:
        for id, interrupt, redirect_uri, issuer, names_issuer in await self._file.read(
            _READ, (state, provider, browser, owner)
        ):
            return Handoff(Key(owner, id), interrupt, provider, browser, redirect_uri, issuer, bool(names_issuer))
        return None
