"""Logs in one SQLite file: a dozen plain statements over aiosqlite."""

from __future__ import annotations

import math
import sqlite3
import time
from collections.abc import Callable, Sequence
from typing import Final

import aiosqlite

from yourcall.entries import Answered, Asked, Closed, Entry, compact, dump, load
from yourcall.ports import Appended, Draft, Found, Key, Lease, Listed, Open, Row, Snapshot
from yourcall.store import reading, sqlite_files, sqlite_sealed
from yourcall.store.sqlite_attempts import SQLiteAttempts
from yourcall.store.sqlite_file import SQLiteFile
from yourcall.store.sqlite_files import SQLiteFiles
from yourcall.store.sqlite_handoffs import SQLiteHandoffs
from yourcall.store.sqlite_sealed import SQLiteSealed

_LOAD: Final = """
SELECT c.key, c.head, c.tail, c.phase, c.expires_at, c.runner, c.lease_until, e.seq, e.at, e.kind, e.body
FROM conversation c LEFT JOIN entry e ON e.conversation = c.key AND e.seq > coalesce(?, c.tail - 1)
WHERE c.owner = ? AND c.id = ? ORDER BY e.seq
"""
_CREATE: Final = "INSERT INTO conversation (owner, id, updated_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
_ADVANCE: Final = """
UPDATE conversation SET head = ?, tail = ?, phase = ?, expires_at = ?, updated_at = ?,
    lease_until = CASE WHEN runner IS ? THEN lease_until ELSE ? END, runner = ?
WHERE owner = ? AND id = ? AND head = ? AND (? IS NULL OR key = ?)
    AND (? IS NULL OR runner IS ? OR runner IS NULL OR lease_until <= ?)
RETURNING key
"""
_INSERT: Final = "INSERT INTO entry (conversation, seq, at, kind, ref, body) VALUES "
_ASKED: Final = "INSERT INTO interrupt (id, conversation, asked, asked_at, owner, addressee) VALUES (?, ?, ?, ?, ?, ?)"
_ENDED: Final = "UPDATE interrupt SET ended = ? WHERE id = ? AND conversation = ?"
_FIND: Final = """
SELECT c.owner, c.id, a.seq, a.at, a.kind, a.body, e.seq, e.at, e.kind, e.body
FROM interrupt i JOIN conversation c ON c.key = i.conversation
JOIN entry a ON a.conversation = i.conversation AND a.seq = i.asked
LEFT JOIN entry e ON e.conversation = i.conversation AND e.seq = i.ended
WHERE i.id = ? AND (c.owner = ? OR i.addressee IN ({names}))
"""
# Of each name no more is read than is shown, however many questions are open.
_INBOX: Final = """
SELECT c.owner, c.id, i.asked_at, a.seq, a.at, a.kind, a.body FROM (
    SELECT * FROM (
        SELECT id, conversation, asked, asked_at FROM interrupt
        WHERE ended IS NULL AND addressee IS NULL AND owner = ?1 AND (asked_at, id) < (?3, ?4)
        ORDER BY asked_at DESC, id DESC LIMIT ?5)
    UNION ALL
    SELECT put.id, put.conversation, put.asked, put.asked_at
    FROM (SELECT DISTINCT value AS name FROM json_each(?2)) named CROSS JOIN interrupt put ON put.id IN (
        SELECT id FROM interrupt
        WHERE ended IS NULL AND addressee = named.name AND owner <> ?1 AND (asked_at, id) < (?3, ?4)
        ORDER BY asked_at DESC, id DESC LIMIT ?5)
) i JOIN conversation c ON c.key = i.conversation
JOIN entry a ON a.conversation = i.conversation AND a.seq = i.asked
ORDER BY i.asked_at DESC, i.id DESC LIMIT ?5
"""
_REPEATED: Final = """
SELECT 1 FROM entry e JOIN conversation c ON c.key = e.conversation
WHERE c.owner = ? AND c.id = ? AND e.kind = 'user' AND e.ref = ?
"""
_LIST: Final = """
SELECT id, phase, updated_at, coalesce((
    SELECT substr(json_extract(body, '$.text'), 1, 100) FROM entry
    WHERE conversation = c.key AND kind = 'user' ORDER BY seq LIMIT 1
), '') FROM conversation c WHERE owner = ? AND (updated_at, id) < (?, ?)
ORDER BY updated_at DESC, id DESC LIMIT ?
"""
# Its indexes are named, since the one of names, which has their order, would be read from end to end.
_DUE: Final = """
SELECT owner, id FROM conversation INDEXED BY conversation_expires WHERE expires_at <= ? AND (owner, id) > (?, ?)
UNION SELECT owner, id FROM conversation INDEXED BY conversation_runs
WHERE phase = 'run' AND (lease_until IS NULL OR lease_until <= ?) AND (owner, id) > (?, ?)
ORDER BY owner, id LIMIT ?
"""


class SQLiteStore:
    """A `Store` in the file at `path`, or in memory for `":memory:"`. `clock` returns Unix seconds."""

    def __init__(self, path: str, *, clock: Callable[[], float] = time.time) -> None:
        self.file = SQLiteFile(path, clock=clock)
        self.sealed = SQLiteSealed(self.file)
        self.files = SQLiteFiles(self.file)
        self.attempts = SQLiteAttempts(self.file)
        self.handoffs = SQLiteHandoffs(self.file)
        self._clock = clock

    async def open(self) -> None:
        await self.file.open()

    async def close(self) -> None:
        await self.file.close()

    async def load(self, key: Key, *, after: int | None = None) -> Snapshot:
        rows = await self.file.read(_LOAD, (after, key.owner, key.id))
        now = self._clock()
        if not rows:
            return Snapshot(now)
        place, head, tail, phase, expires_at, runner, until, *_ = rows[0]
        lease = None if runner is None else Lease(runner, until)
        entries = tuple(load(*row[7:]) for row in rows if row[7] is not None)
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
        try:
            async with self.file.transaction() as db:
                now = self._clock()
                if now >= until:
                    raise _Lost
                if head == 0:
                    await db.execute(_CREATE, (key.owner, key.id, now))
                guard = (key.owner, key.id, head, place, place)
                conversation = await self._advance(db, guard, head + len(entries), row, now)
                if conversation is None:
                    raise _Lost
                if entries:
                    await self._insert(db, key.owner, conversation, entries)
                for draft in keep:
                    await self._keep(db, key.owner, conversation, draft)
        except _Lost:
            return Appended.LOST
        except sqlite3.IntegrityError:
            if await self._repeats(key, entries):
                return Appended.DUPLICATE
            raise  # two results of a call, two endings of an interrupt: a bug of ours, and loud
        return Appended.DONE

    async def renew(self, key: Key, runner: str, seconds: float) -> bool:
        sql = """
            UPDATE conversation SET lease_until = ?
            WHERE owner = ? AND id = ? AND runner = ? AND lease_until > 0 RETURNING key
        """
        return bool(await self.file.write(sql, (self._clock() + seconds, key.owner, key.id, runner)))

    async def release(self, key: Key, runner: str) -> None:
        # Over, not gone: who read it before and keeps it in an append must not bring it back to life.
        sql = "UPDATE conversation SET lease_until = 0 WHERE owner = ? AND id = ? AND runner = ?"
        await self.file.write(sql, (key.owner, key.id, runner))

    async def find(self, owner: str, interrupt_id: str, names: Sequence[str] = ()) -> Found | None:
        rows = await self.file.read(_among(_FIND, names), (interrupt_id, owner, *names))
        return reading.found(rows[0]) if rows else None

    async def owner_of(self, interrupt_id: str) -> str | None:
        rows = await self.file.read("SELECT owner FROM interrupt WHERE id = ?", (interrupt_id,))
        return rows[0][0] if rows else None

    async def inbox(
        self, owner: str, names: Sequence[str] = (), limit: int = 100, *, before: tuple[float, str] | None = None
    ) -> Sequence[Open]:
        rows = await self.file.read(_INBOX, (owner, compact(list(names)), *(before or (math.inf, "")), limit))
        return reading.inbox(rows)

    async def due(self, limit: int, after: Key | None = None) -> Sequence[Key]:
        behind = (self._clock(), after.owner if after else "", after.id if after else "")
        rows = await self.file.read(_DUE, (*behind, *behind, limit))
        return [Key(owner, conversation) for owner, conversation in rows]

    async def conversations(
        self, owner: str, limit: int = 100, *, before: tuple[float, str] | None = None
    ) -> Sequence[Listed]:
        rows = await self.file.read(_LIST, (owner, *(before or (math.inf, "")), limit))
        return [Listed(*row) for row in rows]

    async def delete(self, key: Key) -> bool:
        sql = "DELETE FROM conversation WHERE owner = ? AND id = ? RETURNING key"
        return bool(await self.file.write(sql, (key.owner, key.id)))

    # ----------------------------------------------------------------- within a transaction

    async def _advance(
        self, db: aiosqlite.Connection, guard: tuple[str | int | None, ...], head: int, row: Row, now: float
    ) -> int | None:
        """Move the row on to `head`: the compare-and-swap that decides who was first."""
        runner, until = (row.lease.runner, row.lease.until) if row.lease else (None, None)
        values = (head, row.tail, row.phase, row.expires_at, now, runner, until, runner)
        rows = list(await db.execute_fetchall(_ADVANCE, (*values, *guard, runner, runner, now)))
        return rows[0][0] if rows else None

    async def _insert(self, db: aiosqlite.Connection, owner: str, conversation: int, entries: Sequence[Entry]) -> None:
        values = [v for e in entries for v in (conversation, e.seq, e.at, e.kind, e.ref, dump(e))]
        await db.execute(_INSERT + ", ".join(["(?, ?, ?, ?, ?, ?)"] * len(entries)), values)
        for entry in entries:
            match entry.body:
                case Asked(interrupt):
                    asked = (interrupt.id, conversation, entry.seq, entry.at, owner, interrupt.to)
                    await db.execute(_ASKED, asked)
                case Answered(interrupt=interrupt_id) | Closed(interrupt=interrupt_id):
                    await db.execute(_ENDED, (entry.seq, interrupt_id, conversation))

    async def _keep(self, db: aiosqlite.Connection, owner: str, conversation: int, draft: Draft) -> None:
        match draft.kind:
            case "sealed":
                await sqlite_sealed.keep(db, owner, conversation, draft.id)
            case "file":
                await sqlite_files.keep(db, owner, conversation, draft)

    async def _repeats(self, key: Key, entries: Sequence[Entry]) -> bool:
        """Whether a message of the same client's id is in the log."""
        ids = [entry.ref for entry in entries if entry.kind == "user" and entry.ref is not None]
        found = [await self.file.read(_REPEATED, (key.owner, key.id, id)) for id in ids]
        return any(found)


def _among(sql: str, names: Sequence[str]) -> str:
    return sql.format(names=", ".join("?" * len(names)))


class _Lost(Exception):
    pass
