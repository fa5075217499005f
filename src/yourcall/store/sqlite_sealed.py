"""Sealed values in the SQLite file of the logs: plain rows, which mean nothing here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import aiosqlite

from yourcall.errors import DraftGone, NotFound
from yourcall.ports import DRAFT_SECONDS, Sealed, Slot
from yourcall.store.reading import SCOPE, SEALED, sealed
from yourcall.store.sqlite_file import SQLiteFile

_SLOT: Final = f"kept = 1 AND owner = ? AND name = ? AND {SCOPE} = ?"
_OLD: Final = "sealed WHERE kept = 0 AND made_at <= ?"
_INSERT: Final = """
INSERT INTO sealed (id, owner, name, conversation, kept, made_at, wrapped_by, wrapped, value)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING id
"""
_DRAFT: Final = """
SELECT name, conversation FROM sealed
WHERE id = ? AND kept = 0 AND owner = ? AND (conversation IS NULL OR conversation = ?)
"""
_BEFORE: Final = """
DELETE FROM sealed WHERE kept = 1 AND owner = ? AND name = ? AND coalesce(conversation, 0) = coalesce(?, 0)
"""


class SQLiteSealed:
    """The `SealedRows` of an `SQLiteStore`, in its file."""

    def __init__(self, file: SQLiteFile) -> None:
        self._file = file

    async def draft(self, row: Sealed) -> None:
        async with self._file.transaction() as db:
            await self._insert(db, row, kept=False)

    async def kept(self, slot: Slot) -> Sealed | None:
        rows = await self._file.read(f"SELECT {SEALED} FROM sealed WHERE {_SLOT}", _values(slot))
        return sealed(rows[0]) if rows else None

    async def replace(self, row: Sealed, version: str | None) -> bool:
        async with self._file.transaction() as db:
            if version is not None:
                sql = f"DELETE FROM sealed WHERE id = ? AND {_SLOT} RETURNING id"
                if not await db.execute_fetchall(sql, (version, *_values(row.slot))):
                    return False
            return await self._insert(db, row, kept=True)

    async def claim(self, slot: Slot, version: str, seconds: float) -> bool:
        now = self._file.clock()
        sql = f"""
            UPDATE sealed SET claimed_until = ?
            WHERE id = ? AND {_SLOT} AND (claimed_until IS NULL OR claimed_until <= ?) RETURNING id
        """
        return bool(await self._file.write(sql, (now + seconds, version, *_values(slot), now)))

    async def slots(self, owner: str) -> Sequence[Slot]:
        sql = f"SELECT owner, name, {SCOPE} AS scope FROM sealed WHERE kept = 1 AND owner = ? ORDER BY name, scope"
        return [Slot(*row) for row in await self._file.read(sql, (owner,))]

    async def delete(self, slot: Slot, version: str | None = None) -> bool:
        sql = f"DELETE FROM sealed WHERE {_SLOT} AND (? IS NULL OR id = ?) RETURNING id"
        return bool(await self._file.write(sql, (*_values(slot), version, version)))

    async def sweep(self) -> int:
        before = self._file.clock() - DRAFT_SECONDS
        if not await self._file.read(f"SELECT 1 FROM {_OLD} LIMIT 1", (before,)):
            return 0  # as nearly always: then nothing is written
        return len(await self._file.write(f"DELETE FROM {_OLD} RETURNING id", (before,)))

    async def keys(self) -> Mapping[str, int]:
        return dict(await self._file.read("SELECT wrapped_by, count(*) FROM sealed GROUP BY wrapped_by", ()))

    async def under(self, key: str, limit: int, after: str = "") -> Sequence[Sealed]:
        sql = f"SELECT {SEALED} FROM sealed WHERE wrapped_by = ? AND id > ? ORDER BY id LIMIT ?"
        return [sealed(row) for row in await self._file.read(sql, (key, after, limit))]

    async def rewrap(self, row: Sealed, key: str, wrapped: bytes) -> bool:
        sql = "UPDATE sealed SET wrapped_by = ?, wrapped = ? WHERE id = ? AND wrapped_by = ? RETURNING id"
        return bool(await self._file.write(sql, (key, wrapped, row.version, row.key)))

    async def _insert(self, db: aiosqlite.Connection, row: Sealed, *, kept: bool) -> bool:
        slot, conversation = row.slot, None
        if slot.conversation != "*":
            sql = "SELECT key FROM conversation WHERE owner = ? AND id = ?"
            found = list(await db.execute_fetchall(sql, (slot.owner, slot.conversation)))
            if not found:
                raise NotFound("conversation")
            (conversation,) = found[0]
        values = (slot.owner, slot.name, conversation, int(kept), self._file.clock(), row.key, row.wrapped, row.value)
        return bool(await db.execute_fetchall(_INSERT, (row.version, *values)))


async def keep(db: aiosqlite.Connection, owner: str, conversation: int, version: str) -> None:
    """Within the append to this conversation: the draft becomes its slot's value, and the one before it goes."""
    found = list(await db.execute_fetchall(_DRAFT, (version, owner, conversation)))
    if not found:
        raise DraftGone(version)
    await db.execute(_BEFORE, (owner, *found[0]))
    await db.execute("UPDATE sealed SET kept = 1 WHERE id = ?", (version,))


def _values(slot: Slot) -> tuple[str, str, str]:
    return slot.owner, slot.name, slot.conversation
