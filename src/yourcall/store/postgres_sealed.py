"""Sealed values in the PostgreSQL database of the logs: plain rows, which mean nothing here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from yourcall.errors import DraftGone, NotFound
from yourcall.ports import DRAFT_SECONDS, Sealed, Slot
from yourcall.store.postgres_pool import NOW, Connection, PostgresPool
from yourcall.store.reading import SCOPE, SEALED, sealed

_SLOT: Final = f"kept = 1 AND owner = %(owner)s AND name = %(name)s AND {SCOPE} = %(conversation)s"
_PLACE: Final = "SELECT key FROM conversation WHERE owner = %(owner)s AND id = %(conversation)s FOR KEY SHARE"
_ALONE: Final = "SELECT pg_advisory_xact_lock(hashtextextended(%(owner)s || chr(10) || %(name)s, 0))"
"""Held while a slot gets a value: two of them at once must not both find it empty."""

_INSERT: Final = f"""
INSERT INTO sealed (id, owner, name, conversation, kept, made_at, wrapped_by, wrapped, value)
VALUES (%(version)s, %(owner)s, %(name)s, %(place)s, %(kept)s, {NOW}, %(key)s, %(wrapped)s, %(value)s)
ON CONFLICT DO NOTHING RETURNING id
"""
_CLAIM: Final = f"""
UPDATE sealed SET claimed_until = {NOW} + %(seconds)s
WHERE id = %(version)s AND {_SLOT} AND (claimed_until IS NULL OR claimed_until <= {NOW}) RETURNING id
"""
_SWEEP: Final = f"DELETE FROM sealed WHERE kept = 0 AND made_at <= {NOW} - %(age)s RETURNING id"
_DRAFT: Final = """
SELECT name, conversation FROM sealed
WHERE id = %(version)s AND kept = 0 AND owner = %(owner)s AND (conversation IS NULL OR conversation = %(place)s)
"""
_KEEP: Final = "UPDATE sealed SET kept = 1 WHERE id = %(version)s AND kept = 0 RETURNING id"
_BEFORE: Final = """
DELETE FROM sealed WHERE kept = 1 AND owner = %(owner)s AND name = %(name)s
    AND conversation IS NOT DISTINCT FROM %(place)s::bigint
"""


class PostgresSealed:
    """The `SealedRows` of a `PostgresStore`, in its database."""

    def __init__(self, pool: PostgresPool) -> None:
        self._pool = pool

    async def draft(self, row: Sealed) -> None:
        async def draft(db: Connection) -> None:
            async with db.transaction():
                await self._insert(db, row, await _place(db, row.slot), kept=False)

        await self._pool.run(draft)

    async def kept(self, slot: Slot) -> Sealed | None:
        rows = await self._pool.rows(f"SELECT {SEALED} FROM sealed WHERE {_SLOT}", _values(slot))
        return sealed(rows[0]) if rows else None

    async def replace(self, row: Sealed, version: str | None) -> bool:
        async def replace(db: Connection) -> bool:
            async with db.transaction():
                place, values = await _place(db, row.slot), _values(row.slot) | {"version": version}
                await db.execute(_ALONE, values)
                if version is not None:
                    sql = f"DELETE FROM sealed WHERE id = %(version)s AND {_SLOT} RETURNING id"
                    if not await (await db.execute(sql, values)).fetchall():
                        return False
                return await self._insert(db, row, place, kept=True)

        return await self._pool.run(replace)

    async def claim(self, slot: Slot, version: str, seconds: float) -> bool:
        values = _values(slot) | {"version": version, "seconds": seconds, "now": self._pool.now}
        return bool(await self._pool.rows(_CLAIM, values))

    async def slots(self, owner: str) -> Sequence[Slot]:
        sql: Final = f"SELECT owner, name, {SCOPE} AS scope FROM sealed WHERE kept = 1 AND owner = %s"
        rows = await self._pool.rows(sql, (owner,))
        return sorted((Slot(*row) for row in rows), key=lambda slot: (slot.name, slot.conversation))

    async def delete(self, slot: Slot, version: str | None = None) -> bool:
        sql: Final = (
            f"DELETE FROM sealed WHERE {_SLOT} AND (%(version)s::text IS NULL OR id = %(version)s) RETURNING id"
        )
        values = _values(slot) | {"version": version}

        async def delete(db: Connection) -> bool:
            async with db.transaction():
                # Or it would not see the value that is just taking the old one's place.
                await db.execute(_ALONE, values)
                return bool(await (await db.execute(sql, values)).fetchall())

        return await self._pool.run(delete)

    async def sweep(self) -> int:
        return len(await self._pool.rows(_SWEEP, {"now": self._pool.now, "age": DRAFT_SECONDS}))

    async def keys(self) -> Mapping[str, int]:
        rows = await self._pool.rows("SELECT wrapped_by, count(*) FROM sealed GROUP BY wrapped_by", ())
        return {row[0]: row[1] for row in rows}

    async def under(self, key: str, limit: int, after: str = "") -> Sequence[Sealed]:
        sql: Final = f"SELECT {SEALED} FROM sealed WHERE wrapped_by = %s AND id > %s ORDER BY id LIMIT %s"
        return [sealed(row) for row in await self._pool.rows(sql, (key, after, limit))]

    async def rewrap(self, row: Sealed, key: str, wrapped: bytes) -> bool:
        sql: Final = "UPDATE sealed SET wrapped_by = %s, wrapped = %s WHERE id = %s AND wrapped_by = %s RETURNING id"
        return bool(await self._pool.rows(sql, (key, wrapped, row.version, row.key)))

    async def _insert(self, db: Connection, row: Sealed, place: int | None, *, kept: bool) -> bool:
        values = _values(row.slot) | {
            "version": row.version, "place": place, "kept": int(kept), "now": self._pool.now,
            "key": row.key, "wrapped": row.wrapped, "value": row.value,
        }  # fmt: skip
        return bool(await (await db.execute(_INSERT, values)).fetchall())


async def keep(db: Connection, owner: str, conversation: int, version: str) -> None:
    """Within the append to this conversation: the draft becomes its slot's value, and the one before it goes."""
    values: dict[str, Any] = {"owner": owner, "place": conversation, "version": version}
    found = await (await db.execute(_DRAFT, values)).fetchone()
    if found:
        values |= {"name": found[0], "place": found[1]}
        await db.execute(_ALONE, values)
        await db.execute(_BEFORE, values)
    if not found or not await (await db.execute(_KEEP, values)).fetchall():
        raise DraftGone(version)


async def _place(db: Connection, slot: Slot) -> int | None:
    """The slot's conversation, which stays until the transaction is over; None for all of the owner's."""
    if slot.conversation == "*":
        return None
    found = await (await db.execute(_PLACE, _values(slot))).fetchone()
    if not found:
        raise NotFound("conversation")
    place: int = found[0]
    return place


def _values(slot: Slot) -> dict[str, Any]:
    return {"owner": slot.owner, "name": slot.name, "conversation": slot.conversation}
