"""Connections to one PostgreSQL database, and its schema.

Every statement runs on a connection of the pool; one that stands alone is a transaction of its own. Nobody waits
without an end: a database that keeps silent is hung up on, and what was asked of it is refused. The schema is
brought up to date under an advisory lock, so that replicas may start together.
"""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.resources import files
from importlib.resources.abc import Traversable
from socket import SHUT_RDWR, socket
from typing import Any, Final, LiteralString, TypeAlias, TypeVar

import anyio
from psycopg import AsyncConnection, OperationalError
from psycopg.conninfo import conninfo_to_dict
from psycopg.errors import IdleInTransactionSessionTimeout
from psycopg_pool import AsyncConnectionPool, PoolClosed, PoolTimeout

from yourcall.errors import NewerLog, StoreBusy, StoreClosed
from yourcall.tasks import to_the_end

T = TypeVar("T")

CONNECTIONS: Final = 10
PATIENCE: Final = 5.0
"""Seconds to wait for a connection of the pool, for a lock, or for the next statement of a transaction."""
AGAIN: Final = 1.0
"""Seconds after which a connection that could not be made is tried once more; after that, when somebody needs one."""
GOING: Final = 1.0
"""Seconds that a pool which closes waits for what it still does: it may be connecting to a database that is silent."""
LONGEST: Final = 10.0
"""Seconds that work on a connection may take; with the wait for one, that is what a request waits at most."""
UPGRADE: Final = 0x59_6F_75_72_63_61_6C_6C
"""The advisory lock under which the schema is changed."""

NOW: Final = "coalesce(%(now)s::float8, extract(epoch FROM clock_timestamp())::float8)"
"""In a statement's values, `now` is the pool's."""

Connection: TypeAlias = AsyncConnection[tuple[Any, ...]]


class PostgresPool:
    """The database at `url` (`postgresql://...`).

    `clock` returns Unix seconds; without one, time is the database's.
    """

    def __init__(self, url: str, *, clock: Callable[[], float] | None = None, connections: int = CONNECTIONS) -> None:
        self.url, self._clock, self._connections = url, clock, connections
        self._pool: AsyncConnectionPool[Connection] | None = None

    @property
    def now(self) -> float | None:
        """What statements take as their time; None for the database's own."""
        return self._clock() if self._clock else None

    async def open(self, *, upgrade: bool = True) -> None:
        """Connect and bring the schema up to date. Raises `Busy` if the database does not answer."""
        # tcp_user_timeout, in milliseconds: a database that has gone without a word is given up
        options = {"autocommit": True, "tcp_user_timeout": int(LONGEST * 1_000), "connect_timeout": int(PATIENCE)}
        pool: AsyncConnectionPool[Connection] = AsyncConnectionPool(
            self.url, kwargs=options, configure=_configure, timeout=PATIENCE, max_size=self._connections, min_size=1,
            reconnect_timeout=AGAIN, open=False,
        )  # fmt: skip
        self._pool = pool
        try:
            await pool.open()
            await self._reach()
            if upgrade:
                await self.upgrade()
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            with anyio.CancelScope(shield=True):
                await pool.close(timeout=GOING)

    async def rows(
        self, sql: LiteralString, values: Sequence[Any] | Mapping[str, Any], patience: float | None = None
    ) -> list[tuple[Any, ...]]:
        """The rows of one statement, which is a transaction of its own. `patience`: seconds to wait for a connection,
        if it is not to be the usual."""

        async def execute(db: Connection) -> list[tuple[Any, ...]]:
            return await (await db.execute(sql, values)).fetchall()

        return await self.run(execute, patience)

    async def run(self, work: Callable[[Connection], Awaitable[T]], patience: float | None = None) -> T:
        """Work on a connection, to its end, whoever is cancelled meanwhile. Raises `Busy` for what may pass, also where
        the database keeps silent for too long."""
        return await to_the_end(lambda: self._run(work, LONGEST, patience))

    async def _run(
        self, work: Callable[[Connection], Awaitable[T]], longest: float, patience: float | None = None
    ) -> T:
        if self._pool is None:
            raise StoreClosed
        try:
            async with self._pool.connection(patience) as db:
                with _hung_up_on(db, longest):
                    return await work(db)
        except (OperationalError, IdleInTransactionSessionTimeout, PoolTimeout, PoolClosed) as error:
            raise StoreBusy from error

    async def _reach(self) -> None:
        """Raises `Busy`, naming the database and where to look, if it does not answer."""
        try:
            await self.rows("SELECT 1", ())
        except StoreBusy as error:
            parts = conninfo_to_dict(self.url)  # never all of it: a password may be among them
            where = f"{parts.get('host') or 'its socket'}, port {parts.get('port') or 5432}"
            raise StoreBusy(
                f"The database {parts.get('dbname') or ''!r} at {where}, could not be reached. Is it running, and may "
                "this user sign in there? What it said stands in the log, in the warnings of psycopg.pool."
            ) from error

    async def upgrade(self) -> int:
        """Run the schema's files that this database has not seen, in order, in one transaction.

        Returns the version that it had before; 0 for a new one.
        """
        versions = scripts()

        async def upgrade(db: Connection) -> int:
            async with db.transaction():
                await db.execute("SET LOCAL statement_timeout = 0")
                await db.execute("SELECT pg_advisory_xact_lock(%s)", (UPGRADE,))
                await db.execute("CREATE TABLE IF NOT EXISTS yourcall_schema (version integer NOT NULL)")
                found = await (await db.execute("SELECT max(version) FROM yourcall_schema")).fetchone()
                known = (found and found[0]) or 0
                if known > len(versions):
                    raise NewerLog(known, len(versions))
                for number, script in enumerate(versions[known:], known + 1):
                    await db.execute(script.read_bytes())
                    await db.execute("INSERT INTO yourcall_schema VALUES (%s)", (number,))
            return known

        return await to_the_end(lambda: self._run(upgrade, math.inf))  # a large database takes its time


def scripts() -> Sequence[Traversable]:
    """The schema's files, in order; the version of a schema is how many of them made it."""
    return sorted(files("yourcall.store").joinpath("postgres_schema").iterdir(), key=lambda script: script.name)


async def _configure(db: Connection) -> None:
    """Whatever the server's defaults are: a commit is on disk, and nobody waits for a lock for ever.

    Nor for one who has stopped in the middle of a transaction, or is not heard of any more.
    """
    limits = {"lock_timeout": PATIENCE, "idle_in_transaction_session_timeout": PATIENCE, "statement_timeout": LONGEST}
    settings = "".join(f"; SET {name} = '{seconds:g}s'" for name, seconds in limits.items())
    with _hung_up_on(db, PATIENCE):
        await db.execute(f"SET synchronous_commit = on{settings}".encode())


@contextmanager
def _hung_up_on(db: Connection, seconds: float) -> Iterator[None]:
    """Whoever waits for the database longer than that reads that the connection has ended.

    A cancel would not do: psycopg then asks the database to end the statement, and waits for that. Nor would closing
    the socket, which somebody waits for.
    """

    def hang_up() -> None:
        with suppress(OSError, OperationalError), socket(fileno=os.dup(db.fileno())) as line:
            line.shutdown(SHUT_RDWR)

    if math.isinf(seconds):
        yield
        return
    timer = asyncio.get_running_loop().call_later(seconds, hang_up)
    try:
        yield
    finally:
        timer.cancel()
