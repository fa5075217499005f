"""The upkeep of one PostgreSQL database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from yourcall.ports import Key
from yourcall.store.postgres_pool import NOW, PostgresPool, scripts
from yourcall.upkeep import Indexed

_KNOWN: Final = "SELECT to_regclass('yourcall_schema') IS NOT NULL"
_VERSION: Final = "SELECT coalesce(max(version), 0) FROM yourcall_schema"
_KEYS: Final = "SELECT owner, id FROM conversation WHERE (owner, id) > (%s, %s) ORDER BY owner, id LIMIT %s"
_INDEXED: Final = """
SELECT i.id, i.asked, i.ended, i.asked_at, i.owner, i.addressee
FROM interrupt i JOIN conversation c ON c.key = i.conversation WHERE c.owner = %s AND c.id = %s
"""
_IS_IDLE: Final = f"""
phase = 'done' AND updated_at < {NOW} - %(seconds)s
    AND NOT EXISTS (SELECT 1 FROM interrupt WHERE conversation = conversation.key AND ended IS NULL)
"""
_IDLE: Final = f"""
SELECT owner, id FROM conversation WHERE (owner, id) > (%(owner)s, %(id)s) AND {_IS_IDLE}
ORDER BY owner, id LIMIT %(limit)s
"""
_PRUNE: Final = f"DELETE FROM conversation WHERE owner = %(owner)s AND id = %(id)s AND {_IS_IDLE} RETURNING key"


class PostgresUpkeep:
    """An `Upkeep` of the database of this pool, which nobody else has opened yet."""

    def __init__(self, pool: PostgresPool) -> None:
        self._pool = pool

    async def open(self) -> None:
        await self._pool.open(upgrade=False)

    async def close(self) -> None:
        await self._pool.close()

    async def version(self) -> int:
        [(known,)] = await self._pool.rows(_KNOWN, ())
        [(version,)] = await self._pool.rows(_VERSION, ()) if known else [(0,)]
        return int(version)

    async def upgrade(self) -> int:
        return await self._pool.upgrade()

    @property
    def newest(self) -> int:
        return len(scripts())

    async def keys(self, limit: int, after: Key | None = None) -> Sequence[Key]:
        return [Key(*row) for row in await self._pool.rows(_KEYS, (*_behind(after), limit))]

    async def indexed(self, key: Key) -> Sequence[Indexed]:
        return [Indexed(*row) for row in await self._pool.rows(_INDEXED, (key.owner, key.id))]

    async def idle(self, seconds: float, limit: int, after: Key | None = None) -> Sequence[Key]:
        owner, id = _behind(after)
        values = {"now": self._pool.now, "owner": owner, "id": id, "seconds": seconds, "limit": limit}
        return [Key(*row) for row in await self._pool.rows(_IDLE, values)]

    async def prune(self, key: Key, seconds: float) -> bool:
        values = {"now": self._pool.now, "owner": key.owner, "id": key.id, "seconds": seconds}
        return bool(await self._pool.rows(_PRUNE, values))


def _behind(after: Key | None) -> tuple[str, str]:
    return (after.owner, after.id) if after else ("", "")
