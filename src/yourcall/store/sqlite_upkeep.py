"""The upkeep of one SQLite file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from yourcall.ports import Key
from yourcall.store.sqlite_file import SQLiteFile, scripts
from yourcall.upkeep import Indexed

_KEYS: Final = "SELECT owner, id FROM conversation WHERE (owner, id) > (?, ?) ORDER BY owner, id LIMIT ?"
_INDEXED: Final = """
SELECT i.id, i.asked, i.ended, i.asked_at, i.owner, i.addressee
FROM interrupt i JOIN conversation c ON c.key = i.conversation WHERE c.owner = ? AND c.id = ?
"""
_IS_IDLE: Final = """
phase = 'done' AND updated_at < ?
    AND NOT EXISTS (SELECT 1 FROM interrupt WHERE conversation = conversation.key AND ended IS NULL)
"""
_IDLE: Final = f"""
SELECT owner, id FROM conversation WHERE (owner, id) > (?, ?) AND {_IS_IDLE} ORDER BY owner, id LIMIT ?
"""
_PRUNE: Final = f"DELETE FROM conversation WHERE owner = ? AND id = ? AND {_IS_IDLE} RETURNING key"


class SQLiteUpkeep:
    """An `Upkeep` of this file, which nobody else has opened yet."""

    def __init__(self, file: SQLiteFile) -> None:
        self._file = file

    async def open(self) -> None:
        await self._file.open(upgrade=False)

    async def close(self) -> None:
        await self._file.close()

    async def version(self) -> int:
        [(version,)] = await self._file.read("PRAGMA user_version", ())
        return int(version)

    async def upgrade(self) -> int:
        return await self._file.upgrade()

    @property
    def newest(self) -> int:
        return len(scripts())

    async def keys(self, limit: int, after: Key | None = None) -> Sequence[Key]:
        return [Key(*row) for row in await self._file.read(_KEYS, (*_behind(after), limit))]

    async def indexed(self, key: Key) -> Sequence[Indexed]:
        return [Indexed(*row) for row in await self._file.read(_INDEXED, (key.owner, key.id))]

    async def idle(self, seconds: float, limit: int, after: Key | None = None) -> Sequence[Key]:
        rows = await self._file.read(_IDLE, (*_behind(after), self._file.clock() - seconds, limit))
        return [Key(*row) for row in rows]

    async def prune(self, key: Key, seconds: float) -> bool:
        return bool(await self._file.write(_PRUNE, (key.owner, key.id, self._file.clock() - seconds)))


def _behind(after: Key | None) -> tuple[str, str]:
    return (after.owner, after.id) if after else ("", "")
