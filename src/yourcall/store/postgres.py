"""Logs in PostgreSQL: a dozen plain statements over psycopg. An append is one statement, and one round trip."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

from psycopg import Rollback
from psycopg.errors import UniqueViolation

from yourcall.entries import Answered, Asked, Closed, Entry, dump, load
from yourcall.ports import Appended, Draft, Found, Key, Lease, Listed, Open, Row, Snapshot
from yourcall.store import postgres_files, postgres_sealed, reading
from yourcall.store.postgres_attempts import PostgresAttempts
from yourcall.store.postgres_files import PostgresFiles
from yourcall.store.postgres_handoffs import PostgresHandoffs
from yourcall.store.postgres_pool import CONNECTIONS, NOW, Connection, PostgresPool
from yourcall.store.postgres_sealed import PostgresSealed

_LOAD: Final = f"""
SELECT {NOW}, c.key, c.head, c.tail, c.phase, c.expires_at, c.runner, c.lease_until, e.seq, e.at, e.kind, e.body
FROM (VALUES (%(owner)s, %(id)s)) AS wanted (owner, id)
LEFT JOIN conversation c ON c.owner = wanted.owner AND c.id = wanted.id
LEFT JOIN entry e ON e.conversation = c.key AND e.seq > coalesce(%(after)s::integer, c.tail - 1)
ORDER BY e.seq
"""
_CREATE: Final = f"""
INSERT INTO conversation (owner, id, updated_at) VALUES (%(owner)s, %(id)s, {NOW}) ON CONFLICT DO NOTHING
"""
_APPEND: Final = f"""
WITH moved AS (
    UPDATE conversation SET head = %(to)s, tail = %(tail)s, phase = %(phase)s, expires_at = %(expires_at)s,
        updated_at = {NOW},
        lease_until = CASE WHEN runner IS NOT DISTINCT FROM %(runner)s THEN lease_until ELSE %(lease_until)s END,
        runner = %(runner)s
    WHERE owner = %(owner)s AND id = %(id)s AND head = %(head)s AND {NOW} < %(until)s
        AND (%(place)s::bigint IS NULL OR key = %(place)s)
        AND (%(runner)s::text IS NULL OR runner IS NULL OR runner = %(runner)s OR lease_until <= {NOW})
    RETURNING key
), entries AS (
    INSERT INTO entry (conversation, seq, at, kind, ref, body)
    SELECT moved.key, new.* FROM moved, unnest(
        %(seqs)s::integer[], %(ats)s::float8[], %(kinds)s::text[], %(refs)s::text[], %(bodies)s::text[]) AS new
), asked AS (
    INSERT INTO interrupt (conversation, owner, id, asked, ended, asked_at, addressee)
    SELECT moved.key, %(owner)s, new.* FROM moved, unnest(
        %(asked_ids)s::text[], %(asked)s::integer[], %(asked_ended)s::integer[], %(asked_ats)s::float8[],
        %(asked_to)s::text[]) AS new
), ended AS (
    UPDATE interrupt SET ended = new.seq
    FROM moved, unnest(%(ended_ids)s::text[], %(ended)s::integer[]) AS new (id, seq)
    WHERE interrupt.id = new.id AND interrupt.conversation = moved.key
)
SELECT key FROM moved
"""
_FIND: Final = """
SELECT c.owner, c.id, a.seq, a.at, a.kind, a.body, e.seq, e.at, e.kind, e.body
FROM interrupt i JOIN conversation c ON c.key = i.conversation
JOIN entry a ON a.conversation = i.conversation AND a.seq = i.asked
LEFT JOIN entry e ON e.conversation = i.conversation AND e.seq = i.ended
WHERE i.id = %s AND (c.owner = %s OR i.addressee = ANY (%s))
"""
# Of each name no more is read than is shown, however many questions are open.
_INBOX: Final = """
SELECT c.owner, c.id, i.asked_at, a.seq, a.at, a.kind, a.body FROM (
    (SELECT id, conversation, asked, asked_at FROM interrupt
    WHERE ended IS NULL AND addressee IS NULL AND owner = %(owner)s AND (asked_at, id) < (%(moment)s, %(last)s)
    ORDER BY asked_at DESC, id DESC LIMIT %(limit)s)
    UNION ALL
    SELECT put.* FROM (SELECT DISTINCT unnest(%(names)s::text[]) AS name) named CROSS JOIN LATERAL (
        SELECT id, conversation, asked, asked_at FROM interrupt
        WHERE ended IS NULL AND addressee IS NOT NULL AND addressee = named.name COLLATE "C" AND owner <> %(owner)s
            AND (asked_at, id) < (%(moment)s, %(last)s)
        ORDER BY asked_at DESC, id DESC LIMIT %(limit)s) put
) i JOIN conversation c ON c.key = i.conversation
JOIN entry a ON a.conversation = i.conversation AND a.seq = i.asked
ORDER BY i.asked_at DESC, i.id DESC LIMIT %(limit)s
"""
_REPEATED: Final = """
SELECT 1 FROM entry e JOIN conversation c ON c.key = e.conversation
WHERE c.owner = %s AND c.id = %s AND e.kind = 'user' AND e.ref = ANY (%s)
"""
_RENEW: Final = f"""
UPDATE conversation SET lease_until = {NOW} + %(seconds)s
WHERE owner = %(owner)s AND id = %(id)s AND runner = %(runner)s AND lease_until > 0 RETURNING key
"""
# Over, not gone: who read it before and keeps it in an append must not bring it back to life.
_RELEASE: Final = "UPDATE conversation SET lease_until = 0 WHERE owner = %s AND id = %s AND runner = %s RETURNING key"
_LIST: Final = """
SELECT id, phase, updated_at, coalesce((
    SELECT CASE WHEN strpos(body, '\\u0000') = 0 THEN left(body::json ->> 'text', 100) END FROM entry
    WHERE conversation = c.key AND kind = 'user' ORDER BY seq LIMIT 1
), '') FROM conversation c WHERE owner = %s AND (updated_at, id) < (%s, %s)
ORDER BY updated_at DESC, id DESC LIMIT %s
"""
# A clock is volatile, and no index is read by it; what a query of its own has returned is a value.
_DUE: Final = f"""
SELECT owner, id FROM conversation WHERE expires_at <= (SELECT {NOW}) AND (owner, id) > (%(owner)s, %(id)s)
UNION SELECT owner, id FROM conversation
WHERE phase = 'run' AND (lease_until IS NULL OR lease_until <= (SELECT {NOW})) AND (owner, id) > (%(owner)s, %(id)s)
ORDER BY owner, id LIMIT %(limit)s
"""
_DELETE: Final = "DELETE FROM conversation WHERE owner = %s AND id = %s RETURNING key"
_LAST: Final = "\U0010ffff"


class PostgresStore:
    """A `Store` in the database at `url` (`postgresql://...`). Without a `clock`, time is the database's."""

    def __init__(self, url: str, *, clock: Callable[[], float] | None = None, connections: int = CONNECTIONS) -> None:
        self.pool = PostgresPool(url, clock=clock, connections=connections)
        self.sealed = PostgresSealed(self.pool)
        self.files = PostgresFiles(self.pool)
        self.attempts = PostgresAttempts(self.pool)
        self.handoffs = PostgresHandoffs(self.pool)

    async def open(self) -> None:
        await self.pool.open()

    async def close(self) -> None:
        await self.pool.close()

    async def load(self, key: Key, *, after: int | None = None) -> Snapshot:
        values = {"now": self.pool.now, "owner": key.owner, "id": key.id, "after": after}
        rows = await self.pool.rows(_LOAD, values)
        now, place, head, tail, phase, expires_at, runner, until, *_ = rows[0]
        if place is None:
            return Snapshot(now)
        lease = None if runner is None else Lease(runner, until)
        entries = tuple(load(*row[8:]) for row in rows if row[8] is not None)
        return Snapshot(now, place, head, Row(tail, phase, expires_at, lease), entries)

    async def append(
        self,
        key: Key,
        head: int,
        entries: Sequence[Entry],
        row: Row,
        *,
        place: int | None = None,
        until: float = math.inf,
        keep: Sequence[Draft] = (),
    ) -> Appended:
        values = _values(key, head, entries, row, place, until) | {"now": self.pool.now}
        try:
            moved = (
                await self.pool.run(lambda db: _together(db, values, keep))
                if head == 0 or keep
                else (await self.pool.rows(_APPEND, values))
            )
        except UniqueViolation:
            if await self._repeats(key, entries):
                return Appended.DUPLICATE
            raise  # two results of a call, two endings of an interrupt: a bug of ours, and loud
        return Appended.DONE if moved else Appended.LOST

    async def renew(self, key: Key, runner: str, seconds: float) -> bool:
        values = {"now": self.pool.now, "owner": key.owner, "id": key.id, "runner": runner, "seconds": seconds}
        return bool(await self.pool.rows(_RENEW, values))

    async def release(self, key: Key, runner: str) -> None:
        # Not for long: it ends by itself, and who gives it back may be a process that is to stop soon.
        await self.pool.rows(_RELEASE, (key.owner, key.id, runner), patience=1.0)

    async def find(self, owner: str, interrupt_id: str, names: Sequence[str] = ()) -> Found | None:
        rows = await self.pool.rows(_FIND, (interrupt_id, owner, list(names)))
        return reading.found(rows[0]) if rows else None

    async def owner_of(self, interrupt_id: str) -> str | None:
        rows = await self.pool.rows("SELECT owner FROM interrupt WHERE id = %s", (interrupt_id,))
        return rows[0][0] if rows else None

    async def inbox(
        self, owner: str, names: Sequence[str] = (), limit: int = 100, *, before: tuple[float, str] | None = None
    ) -> Sequence[Open]:
        moment, last = before or (math.inf, _LAST)
        values = {"owner": owner, "names": list(names), "moment": moment, "last": last, "limit": limit}
        rows = await self.pool.rows(_INBOX, values)
        return reading.inbox(rows)

    async def due(self, limit: int, after: Key | None = None) -> Sequence[Key]:
        owner, id = (after.owner, after.id) if after else ("", "")
        values = {"now": self.pool.now, "owner": owner, "id": id, "limit": limit}
        return [Key(*row) for row in await self.pool.rows(_DUE, values)]

    async def conversations(
        self, owner: str, limit: int = 100, *, before: tuple[float, str] | None = None
    ) -> Sequence[Listed]:
        rows = await self.pool.rows(_LIST, (owner, *(before or (math.inf, _LAST)), limit))
        return [Listed(*row) for row in rows]

    async def delete(self, key: Key) -> bool:
        return bool(await self.pool.rows(_DELETE, (key.owner, key.id)))

    async def _repeats(self, key: Key, entries: Sequence[Entry]) -> bool:
        """Whether a message of the same client's id is in the log."""
        ids = [entry.ref for entry in entries if entry.kind == "user" and entry.ref is not None]
        return bool(await self.pool.rows(_REPEATED, (key.owner, key.id, ids)))


async def _together(db: Connection, values: dict[str, Any], keep: Sequence[Draft]) -> Sequence[Any]:
    """An append with the row that the first one needs, and with the drafts that it keeps; none without the others."""
    moved: list[Any] = []
    async with db.transaction() as transaction:
        if values["head"] == 0:
            await db.execute(_CREATE, values)
        moved = await (await db.execute(_APPEND, values)).fetchall()
        if not moved:
            raise Rollback(transaction)
        for draft in keep:
            await _keep(db, values["owner"], moved[0][0], draft)
    return moved


async def _keep(db: Connection, owner: str, conversation: int, draft: Draft) -> None:
    match draft.kind:
        case "sealed":
            await postgres_sealed.keep(db, owner, conversation, draft.id)
        case "file":
            await postgres_files.keep(db, owner, conversation, draft)


def _values(key: Key, head: int, entries: Sequence[Entry], row: Row, place: int | None, until: float) -> dict[str, Any]:
    """The parameters of `_APPEND`. What is asked and ended in one append is written as ended: its parts see
    the tables as they were before."""
    ends = {e.body.interrupt: e.seq for e in entries if isinstance(e.body, Answered | Closed)}
    asked = [(e, e.body.interrupt) for e in entries if isinstance(e.body, Asked)]
    asks = {interrupt.id: e.seq for e, interrupt in asked}
    later = {id: seq for id, seq in ends.items() if id not in asks}
    return {
        "owner": key.owner, "id": key.id, "head": head, "to": head + len(entries), "place": place, "until": until,
        "tail": row.tail, "phase": row.phase, "expires_at": row.expires_at,
        "runner": row.lease.runner if row.lease else None, "lease_until": row.lease.until if row.lease else None,
        "seqs": [e.seq for e in entries], "ats": [e.at for e in entries], "kinds": [e.kind for e in entries],
        "refs": [e.ref for e in entries], "bodies": [dump(e) for e in entries],
        "asked_ids": list(asks), "asked": list(asks.values()), "asked_ended": [ends.get(id) for id in asks],
        "asked_ats": [e.at for e, _ in asked], "asked_to": [interrupt.to for _, interrupt in asked],
        "ended_ids": list(later), "ended": list(later.values()),
    }  # fmt: skip
