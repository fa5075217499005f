"""One SQLite file: WAL, every commit synced, one writer at a time.

The connection belongs to one thread, so a lock keeps each transaction's statements together; it is shielded, so that
a cancelled request never leaves one half done.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Any, Final

import aiosqlite
import anyio

from yourcall.errors import Busy, NewerLog

BUSY_MS: Final = 5_000


class SQLiteFile:
    """The file at `path`, or one in memory for `":memory:"`. `clock` returns Unix seconds."""

    def __init__(self, path: str, *, clock: Callable[[], float] = time.time) -> None:
        self.path, self.clock = path, clock
        self._lock = anyio.Lock()
        self._opened: aiosqlite.Connection | None = None

    async def open(self) -> None:
        """Connect and bring the schema up to date. Raises `Busy` if the file stays locked."""
        db = await aiosqlite.connect(self.path, isolation_level=None)
        self._opened = db
        try:
            await db.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
            await self._log_ahead(db)
            await db.execute("PRAGMA synchronous = FULL")
            await db.execute("PRAGMA foreign_keys = ON")
            await self._upgrade()
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        db, self._opened = self._opened, None
        if db is not None:
            with anyio.CancelScope(shield=True):
                await db.close()

    async def read(self, sql: str, values: Sequence[Any]) -> list[Any]:
        """The rows of one statement."""
        async with self._lock:
            return list(await self._db.execute_fetchall(sql, values))

    async def write(self, sql: str, values: Sequence[Any]) -> list[Any]:
        """The rows that one statement in a transaction of its own returns."""
        async with self.transaction() as db:
            return list(await db.execute_fetchall(sql, values))

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[aiosqlite.Connection]:
        """Statements that are written together or not at all. Raises `Busy` if the file stays locked."""
        async with self._lock:
            with anyio.CancelScope(shield=True):
                db = self._db
                try:
                    await self._begin(db)
                    yield db
                    await db.execute("COMMIT")
                except BaseException:
                    # After whatever is still on its way to the connection's thread; nothing if that has ended it.
                    await db.rollback()
                    raise

    async def _log_ahead(self, db: aiosqlite.Connection) -> None:
        """Switch to a write-ahead log. Two who do so at once on a new file are refused, not made to wait."""
        with anyio.move_on_after(BUSY_MS / 1000):
            while True:
                try:
                    await db.execute("PRAGMA journal_mode = WAL")
                    return
                except sqlite3.OperationalError as error:
                    if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                        raise
                await anyio.sleep(0.01)
        raise Busy("The store is busy. Try again in a moment.")

    async def _begin(self, db: aiosqlite.Connection) -> None:
        try:
            await db.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise
            raise Busy("The store is busy. Try again in a moment.") from error

    @property
    def _db(self) -> aiosqlite.Connection:
        if self._opened is None:
            raise Busy("The store is closed.")
        return self._opened

    async def _upgrade(self) -> None:
        """Run the schema's files that this database has not seen, in order, each in one transaction."""
        scripts = sorted(files("yourcall.store").joinpath("schema").iterdir(), key=lambda script: script.name)
        async with self.transaction() as db:
            (version,) = next(iter(await db.execute_fetchall("PRAGMA user_version")))
            if version > len(scripts):
                raise NewerLog(version, len(scripts))
            for number, script in enumerate(scripts[version:], version + 1):
                for statement in script.read_text().split(";\n"):
                    await db.execute(statement)
                await db.execute(f"PRAGMA user_version = {number}")
