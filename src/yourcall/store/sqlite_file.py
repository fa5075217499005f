"""One SQLite file: WAL, every commit synced, one writer at a time.

The connection belongs to one thread, so a lock keeps each transaction's statements together; it is shielded, so that
a cancelled request never leaves one half done. Who waits for a file that another process has locked lets others read
meanwhile, and nobody waits longer than that for a turn: however many come, each hears soon that the store is busy.
"""

from __future__ import annotations

import logging
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, Final

import aiosqlite
import anyio

from yourcall.errors import NewerLog, StoreBusy, StoreClosed

BUSY_MS: Final = 5_000
TRY_MS: Final = 20
"""How long one try at a locked file keeps the connection from others."""
PASSING: Final = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
FAILING: Final = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
"""What is wrong with the disk, and not with a statement: nothing was committed, and it may be mended."""

log = logging.getLogger("yourcall")


class SQLiteFile:
    """The file at `path`, or one in memory for `":memory:"`. `clock` returns Unix seconds."""

    def __init__(self, path: str, *, clock: Callable[[], float] = time.time) -> None:
        self.path, self.clock = path, clock
        self._lock = anyio.Lock()
        self._writer = anyio.Lock()
        self._opened: aiosqlite.Connection | None = None

    async def open(self, *, upgrade: bool = True) -> None:
        """Connect and bring the schema up to date. Raises `Busy` if the file stays locked."""
        db = await aiosqlite.connect(self.path, isolation_level=None)
        self._opened = db
        try:
            await db.execute(f"PRAGMA busy_timeout = {TRY_MS}")
            await self._log_ahead(db)
            await db.execute("PRAGMA synchronous = FULL")
            await db.execute("PRAGMA foreign_keys = ON")
            if upgrade:
                await self.upgrade()
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        db, self._opened = self._opened, None
        if db is not None:
            with anyio.CancelScope(shield=True):
                await db.close()

    async def read(self, sql: str, values: Sequence[Any]) -> list[Any]:
        """The rows of one statement. Raises `Busy` if the file stays locked, or cannot be read."""
        deadline = _deadline()
        while True:
            async with _turn(self._lock, deadline):
                try:
                    return list(await self._db.execute_fetchall(sql, values))
                except sqlite3.OperationalError as error:
                    _judge(error, deadline)
            await anyio.sleep(TRY_MS / 1000)

    async def write(self, sql: str, values: Sequence[Any]) -> list[Any]:
        """The rows that one statement in a transaction of its own returns."""
        async with self.transaction() as db:
            return list(await db.execute_fetchall(sql, values))

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[aiosqlite.Connection]:
        """Statements that are written together or not at all. Raises `Busy` if the file stays locked, or cannot be
        written."""
        deadline = _deadline()
        async with _turn(self._writer, deadline):
            while True:
                async with _turn(self._lock, deadline):
                    with anyio.CancelScope(shield=True):
                        async with _undone_if_it_fails(self._db) as db:
                            if await self._begin(db, deadline):
                                yield db
                                await db.execute("COMMIT")
                                return
                await anyio.sleep(TRY_MS / 1000)

    async def _begin(self, db: aiosqlite.Connection, deadline: float) -> bool:
        """Begin to write, unless the file is locked at this moment."""
        try:
            await db.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            _judge(error, deadline)
            return False
        return True

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
        raise StoreBusy

    @property
    def _db(self) -> aiosqlite.Connection:
        if self._opened is None:
            raise StoreClosed
        return self._opened

    async def upgrade(self) -> int:
        """Run the schema's files that this database has not seen, in order, in one transaction.

        Returns the version that it had before; 0 for a new one.
        """
        known = scripts()
        async with self.transaction() as db:
            (version,) = next(iter(await db.execute_fetchall("PRAGMA user_version")))
            if version > len(known):
                raise NewerLog(version, len(known))
            for number, script in enumerate(known[version:], version + 1):
                for statement in script.read_text().split(";\n"):
                    await db.execute(statement)
                await db.execute(f"PRAGMA user_version = {number}")
        return int(version)


def scripts() -> Sequence[Traversable]:
    """The schema's files, in order; the version of a schema is how many of them made it."""
    return sorted(files("yourcall.store").joinpath("schema").iterdir(), key=lambda script: script.name)


def _deadline() -> float:
    return time.monotonic() + BUSY_MS / 1000


@asynccontextmanager
async def _turn(lock: anyio.Lock, deadline: float) -> AsyncIterator[None]:
    """Hold this lock. Raises `Busy` if the deadline comes first."""
    mine = False
    while not mine:
        left = deadline - time.monotonic()
        if left <= 0:
            raise StoreBusy
        with anyio.move_on_after(left):
            await lock.acquire()
            mine = True
    try:
        yield
    finally:
        lock.release()


@asynccontextmanager
async def _undone_if_it_fails(db: aiosqlite.Connection) -> AsyncIterator[aiosqlite.Connection]:
    try:
        yield db
    except BaseException as error:
        # After whatever is still on its way to the connection's thread; nothing if that has ended it.
        await db.rollback()
        if isinstance(error, sqlite3.OperationalError):
            if error.sqlite_errorcode == sqlite3.SQLITE_IOERR_FSYNC:
                await _bury(db)
            _judge(error)
        raise


async def _bury(db: aiosqlite.Connection) -> None:
    """Write over what a commit that could not be synced has left in the write-ahead log: it is whole but for the sync,
    so that after a crash the next process would take for committed what nobody was promised."""
    with suppress(sqlite3.OperationalError):  # it cannot be synced either
        (version,) = next(iter(await db.execute_fetchall("PRAGMA user_version")))
        await db.execute(f"PRAGMA user_version = {version}")


def _judge(error: sqlite3.OperationalError, deadline: float = 0.0) -> None:
    """Return if this may pass before the deadline; raise `Busy` for what may pass later, and what is a bug of ours."""
    code = error.sqlite_errorcode & 0xFF
    if code in FAILING:
        log.error("The disk fails the store: %s", error)
    elif code not in PASSING:
        raise error
    elif time.monotonic() < deadline:
        return
    raise StoreBusy from error
