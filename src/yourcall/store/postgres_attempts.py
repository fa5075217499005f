"""Tries at questions, in the PostgreSQL database of the logs."""

from __future__ import annotations

from typing import Final

from yourcall.errors import NotFound, TooManyAttempts
from yourcall.ports import ATTEMPT_SECONDS, MAX_ATTEMPTS
from yourcall.store.postgres_pool import NOW, Connection, PostgresPool

_ALONE: Final = "SELECT id FROM interrupt WHERE id = %(interrupt)s FOR UPDATE"
"""One try after the other: of two at once, the second counts the first."""
_OVER: Final = f"DELETE FROM attempt WHERE interrupt = %(interrupt)s AND at <= {NOW} - %(seconds)s"
_MADE: Final = f"SELECT at + %(seconds)s - {NOW} FROM attempt WHERE interrupt = %(interrupt)s ORDER BY at"
_BEGIN: Final = f"INSERT INTO attempt (interrupt, at) VALUES (%(interrupt)s, {NOW}) RETURNING id"


class PostgresAttempts:
    """The `Attempts` of a `PostgresStore`, in its database."""

    def __init__(self, pool: PostgresPool) -> None:
        self._pool = pool

    async def begin(self, interrupt_id: str) -> int:
        values = {"interrupt": interrupt_id, "seconds": ATTEMPT_SECONDS, "now": self._pool.now}

        async def begin(db: Connection) -> int:
            async with db.transaction():
                if not await (await db.execute(_ALONE, values)).fetchall():
                    raise NotFound  # its conversation was deleted meanwhile
                await db.execute(_OVER, values)
                made = await (await db.execute(_MADE, values)).fetchall()
                if len(made) >= MAX_ATTEMPTS:
                    raise TooManyAttempts(made[0][0])
                ((attempt,),) = await (await db.execute(_BEGIN, values)).fetchall()
                return int(attempt)

        return await self._pool.run(begin)

    async def forgive(self, attempt: int) -> None:
        await self._pool.rows("DELETE FROM attempt WHERE id = %s RETURNING id", (attempt,))
