"""Waiting conversations in great numbers: the rows of one real pause, again and again.

The pause is made by an engine. What it left is copied under other ids, and the questions get the ids that the library
would have given them, so that each can be answered; they are loaded in bulk, since a sync for each would take hours.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any, Final

import psycopg
from psycopg import sql

from bench.served import agent
from yourcall import Engine
from yourcall.entries import Asked, Entry, digested, dump
from yourcall.ports import Key, Snapshot
from yourcall.store.sqlite import SQLiteStore

EACH: Final = 10
"""Conversations of one user's."""

COLUMNS: Final = {
    "conversation": ("key", "owner", "id", "head", "tail", "phase", "updated_at"),
    "entry": ("conversation", "seq", "at", "kind", "ref", "body"),
    "interrupt": ("id", "conversation", "asked", "owner", "asked_at"),
}
FIRST: Final = 1_000_000
"""Keys of those that are made here, beyond those of the others."""


def fill(store: str, count: int) -> None:
    """Put so many waiting conversations into a store whose tables are there, `EACH` for each of `u0`, `u1`, ..."""
    pause = asyncio.run(_pause())
    if store.startswith("sqlite:///"):
        with closing(sqlite3.connect(store.removeprefix("sqlite:///"))) as file, file:
            _copied(pause, count, lambda table, rows: _insert(file, table, rows))
        return
    with psycopg.connect(store) as db:
        _copied(pause, count, lambda table, rows: _copy(db, table, rows))
        db.execute("SELECT setval(pg_get_serial_sequence('conversation', 'key'), %s)", (FIRST + count,))
    with psycopg.connect(store, autocommit=True) as db:
        db.execute("VACUUM ANALYZE")


async def _pause() -> Snapshot:
    store = SQLiteStore(":memory:")
    async with Engine(agent(), store) as engine:
        chat = engine.conversation("c", user="u")
        async for _ in chat.say("ask"):
            pass
        return await store.load(chat.key, after=0)


def _copied(pause: Snapshot, count: int, put: Callable[[str, Iterable[tuple[Any, ...]]], None]) -> None:
    numbers = range(count)
    put("conversation", (_conversation(pause, n) for n in numbers))
    put("entry", (row for n in numbers for row in _entries(pause, n)))
    put("interrupt", (row for n in numbers for row in _questions(pause, n)))


def _key(n: int) -> Key:
    return Key(f"u{n // EACH}", f"w{n}")


def _conversation(pause: Snapshot, n: int) -> tuple[Any, ...]:
    return FIRST + n, *_of(_key(n)), pause.head, pause.row.tail, pause.row.phase, pause.now + n * 1e-3


def _entries(pause: Snapshot, n: int) -> Iterator[tuple[Any, ...]]:
    for entry in _named(pause, n):
        yield FIRST + n, entry.seq, entry.at + n * 1e-3, entry.kind, entry.ref, dump(entry)


def _questions(pause: Snapshot, n: int) -> Iterator[tuple[Any, ...]]:
    for entry in _named(pause, n):
        if isinstance(entry.body, Asked):
            yield entry.body.interrupt.id, FIRST + n, entry.seq, _key(n).owner, entry.at + n * 1e-3


def _named(pause: Snapshot, n: int) -> Iterator[Entry]:
    """The entries, with the id that the question has there."""
    for entry in pause.entries:
        match entry.body:
            case Asked(asked):
                place = [*_of(_key(n)), asked.call_id, asked.key, asked.occurrence, asked.generation]
                yield replace(entry, body=Asked(replace(asked, id=digested(place))))
            case _:
                yield entry


def _of(key: Key) -> tuple[str, str]:
    return key.owner, key.id


def _insert(file: sqlite3.Connection, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
    columns = COLUMNS[table]
    file.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})", rows)


def _copy(db: psycopg.Connection[Any], table: str, rows: Iterable[tuple[Any, ...]]) -> None:
    columns = sql.SQL(", ").join(map(sql.Identifier, COLUMNS[table]))
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(table), columns)
    with db.cursor() as cursor, cursor.copy(statement) as copy:
        for row in rows:
            copy.write_row(row)
