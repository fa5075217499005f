"""Tries at questions, in the SQLite file of the logs."""

from __future__ import annotations

from yourcall.errors import NotFound, TooManyAttempts
from yourcall.ports import ATTEMPT_SECONDS, MAX_ATTEMPTS
from yourcall.store.sqlite_file import SQLiteFile


class SQLiteAttempts:
    """The `Attempts` of an `SQLiteStore`, in its file."""

    def __init__(self, file: SQLiteFile) -> None:
        self._file = file

    async def begin(self, interrupt_id: str) -> int:
        async with self._file.transaction() as db:
            now = self._file.clock()
            sql = "DELETE FROM attempt WHERE interrupt = ? AND at <= ?"
            await db.execute(sql, (interrupt_id, now - ATTEMPT_SECONDS))
            sql = "SELECT at FROM attempt WHERE interrupt = ? ORDER BY at"
            made = list(await db.execute_fetchall(sql, (interrupt_id,)))
            if len(made) >= MAX_ATTEMPTS:
                raise TooManyAttempts(made[0][0] + ATTEMPT_SECONDS - now)
            sql = "INSERT INTO attempt (interrupt, at) SELECT id, ? FROM interrupt WHERE id = ? RETURNING id"
            for (attempt,) in await db.execute_fetchall(sql, (now, interrupt_id)):
                return int(attempt)
        raise NotFound  # its conversation was deleted meanwhile

    async def forgive(self, attempt: int) -> None:
        await self._file.write("DELETE FROM attempt WHERE id = ?", (attempt,))
