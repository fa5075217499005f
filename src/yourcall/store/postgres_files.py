"""What is known of files, in the store's own PostgreSQL database: an append keeps them in its transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from yourcall.entries import File
from yourcall.errors import DraftGone
from yourcall.ports import LEAST_FILE, Draft, Key
from yourcall.store.postgres_pool import NOW, Connection, PostgresPool

_ALONE: Final = "SELECT pg_advisory_xact_lock(hashtextextended('yourcall file ' || %(owner)s, 0))"
"""One file of an owner after the other: the quota counts what another transaction is about to add."""
_ADD: Final = f"""
INSERT INTO file (id, owner, at, name, type, size, sha256)
SELECT %(id)s, %(owner)s, {NOW}, %(name)s, %(type)s, %(size)s, %(sha256)s
WHERE (SELECT coalesce(sum(greatest(size, %(least)s)), 0) FROM file WHERE owner = %(owner)s)
    + greatest(%(size)s::bigint, %(least)s) <= %(quota)s
RETURNING id
"""
_FIND: Final = """
SELECT id, name, type, size, sha256 FROM file
WHERE id = ANY(%s) AND owner = %s AND (draft OR conversation IS NOT NULL)
"""
_KEPT: Final = """
SELECT f.id, f.name, f.type, f.size, f.sha256 FROM file f JOIN conversation c ON c.key = f.conversation
WHERE c.owner = %s AND c.id = %s ORDER BY f.at, f.id
"""
_KEEP: Final = """
UPDATE file SET draft = false, conversation = %s, owner = %s WHERE id = %s AND owner = %s AND draft RETURNING id
"""
_DROP: Final = "UPDATE file SET draft = false WHERE id = %s AND owner = %s AND draft RETURNING id"
_DOOM: Final = (
    f"UPDATE file SET draft = false WHERE conversation IS NULL AND draft AND at < {NOW} - %(age)s RETURNING id"
)
_DOOMED: Final = "SELECT id FROM file WHERE conversation IS NULL AND NOT draft ORDER BY at LIMIT %s"
_REMOVE: Final = "DELETE FROM file WHERE id = ANY(%s) AND conversation IS NULL AND NOT draft RETURNING id"


class PostgresFiles:
    """The `FileRows` of a `PostgresStore`, in its database."""

    def __init__(self, pool: PostgresPool) -> None:
        self._pool = pool

    async def add(self, owner: str, file: File, quota: int) -> bool:
        values: dict[str, Any] = {
            "id": file.id, "owner": owner, "now": self._pool.now, "name": file.name, "type": file.type,
            "size": file.size, "sha256": file.sha256, "least": LEAST_FILE, "quota": quota,
        }  # fmt: skip

        async def add(db: Connection) -> bool:
            async with db.transaction():
                await db.execute(_ALONE, values)
                return bool(await (await db.execute(_ADD, values)).fetchall())

        return await self._pool.run(add)

    async def find(self, owner: str, ids: Sequence[str]) -> Sequence[File]:
        found = {row[0]: File(*row) for row in await self._pool.rows(_FIND, (list(ids), owner))}
        return [found[id] for id in ids if id in found]

    async def kept(self, key: Key) -> Sequence[File]:
        return [File(*row) for row in await self._pool.rows(_KEPT, (key.owner, key.id))]

    async def drop(self, owner: str, id: str) -> None:
        await self._pool.rows(_DROP, (id, owner))

    async def doomed(self, age: float, limit: int) -> Sequence[str]:
        await self._pool.rows(_DOOM, {"now": self._pool.now, "age": age})
        return [id for (id,) in await self._pool.rows(_DOOMED, (limit,))]

    async def remove(self, ids: Sequence[str]) -> None:
        await self._pool.rows(_REMOVE, (list(ids),))


async def keep(db: Connection, owner: str, conversation: int, draft: Draft) -> None:
    """Within the append to this conversation: the draft is one of its files."""
    values = (conversation, owner, draft.id, draft.giver or owner)
    if not await (await db.execute(_KEEP, values)).fetchall():
        raise DraftGone(draft.id)
