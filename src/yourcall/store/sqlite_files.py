"""What is known of files, in the store's own SQLite file: an append keeps them in its transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import aiosqlite

from yourcall.entries import File
from yourcall.errors import DraftGone
from yourcall.ports import LEAST_FILE, Draft, Key
from yourcall.store.sqlite_file import SQLiteFile

_ADD: Final = f"""
INSERT INTO file (id, owner, at, name, type, size, sha256) SELECT ?, ?, ?, ?, ?, ?, ?
WHERE (SELECT coalesce(sum(max(size, {LEAST_FILE})), 0) FROM file WHERE owner = ?) + max(?, {LEAST_FILE}) <= ?
RETURNING id
"""
_FIND: Final = """
SELECT id, name, type, size, sha256 FROM file WHERE id = ? AND owner = ? AND (draft OR conversation IS NOT NULL)
"""
_KEPT: Final = """
SELECT f.id, f.name, f.type, f.size, f.sha256 FROM file f JOIN conversation c ON c.key = f.conversation
WHERE c.owner = ? AND c.id = ? ORDER BY f.at, f.rowid
"""
_KEEP: Final = (
    "UPDATE file SET draft = 0, conversation = ?, owner = ? WHERE id = ? AND owner = ? AND draft RETURNING id"
)
_DOOM: Final = "UPDATE file SET draft = 0 WHERE conversation IS NULL AND draft AND at < ?"
_DOOMED: Final = "SELECT id FROM file WHERE conversation IS NULL AND (NOT draft OR at < ?) ORDER BY at LIMIT ?"


class SQLiteFiles:
    """`FileRows` in this file; it is the store's to open and to close."""

    def __init__(self, file: SQLiteFile) -> None:
        self._file = file

    async def add(self, owner: str, file: File, quota: int) -> bool:
        row = (file.id, owner, self._file.clock(), file.name, file.type, file.size, file.sha256)
        return bool(await self._file.write(_ADD, (*row, owner, file.size, quota)))

    async def find(self, owner: str, ids: Sequence[str]) -> Sequence[File]:
        return [File(*row) for id in ids for row in await self._file.read(_FIND, (id, owner))]

    async def kept(self, key: Key) -> Sequence[File]:
        return [File(*row) for row in await self._file.read(_KEPT, (key.owner, key.id))]

    async def drop(self, owner: str, id: str) -> None:
        await self._file.write("UPDATE file SET draft = 0 WHERE id = ? AND owner = ? AND draft", (id, owner))

    async def doomed(self, age: float, limit: int) -> Sequence[str]:
        before = self._file.clock() - age
        if not await self._file.read(_DOOMED, (before, 1)):
            return []  # as nearly always: then nothing is written
        async with self._file.transaction() as db:
            await db.execute(_DOOM, (before,))
            return [id for (id,) in await db.execute_fetchall(_DOOMED, (before, limit))]

    async def remove(self, ids: Sequence[str]) -> None:
        async with self._file.transaction() as db:
            await db.executemany(
                "DELETE FROM file WHERE id = ? AND conversation IS NULL AND NOT draft", [(id,) for id in ids]
            )


async def keep(db: aiosqlite.Connection, owner: str, conversation: int, draft: Draft) -> None:
    """Within the append to this conversation: the draft is one of its files."""
    if not list(await db.execute_fetchall(_KEEP, (conversation, owner, draft.id, draft.giver or owner))):
        raise DraftGone(draft.id)
