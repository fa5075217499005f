"""What the coach knows about a user: one profile each, the workouts they logged, and their progress photos.

It is kept in a small SQLite file of the coach's own, apart from the conversations: forgetting a profile leaves
the chat alone, and a new chat finds the profile again. Every operation opens its own connection, so there is
nothing to close at exit.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import date
from pathlib import Path
from typing import Literal, TypeAlias

import aiosqlite
from pydantic import BaseModel, ConfigDict

Unit: TypeAlias = Literal["kg", "lb"]
Goal: TypeAlias = Literal["strength", "muscle", "fat loss", "fitness"]
Day: TypeAlias = Literal["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
Equipment: TypeAlias = Literal["gym", "dumbbells", "bands", "body weight"]
Level: TypeAlias = Literal["beginner", "intermediate", "advanced"]

WEEK: tuple[Day, ...] = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class Profile(BaseModel):
    """One user. A field that is None or empty is not known yet."""

    model_config = ConfigDict(frozen=True)

    unit: Unit | None = None
    goal: Goal | None = None
    days: tuple[Day, ...] = ()
    equipment: tuple[Equipment, ...] = ()
    level: Level | None = None
    injuries: tuple[str, ...] = ()
    plan: str | None = None

    @property
    def plannable(self) -> bool:
        """Whether a week can be planned without asking anything."""
        return bool(self.goal and self.days and self.equipment)


class Workout(BaseModel):
    """One exercise as it was done: sets of a weight, or minutes and kilometres."""

    model_config = ConfigDict(frozen=True)

    exercise: str
    day: date | None = None
    sets: int | None = None
    reps: int | None = None
    weight: float | None = None
    unit: Unit | None = None
    minutes: float | None = None
    km: float | None = None
    note: str | None = None

    def __str__(self) -> str:
        parts = []
        if self.sets and self.reps:
            parts.append(f"{self.sets} x {self.reps}")
        if self.weight:
            parts.append(f"{self.weight:g} {self.unit or 'kg'}")
        if self.km:
            parts.append(f"{self.km:g} km")
        if self.minutes:
            parts.append(f"{self.minutes:g} min")
        text = f"{self.exercise}, {', '.join(parts)}" if parts else self.exercise
        return f"{text} ({self.note})" if self.note else text


class Profiles:
    """Profiles, workouts and photos in one SQLite file; every method is one transaction."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def load(self, user: str) -> Profile:
        """The user's profile; an empty one for somebody new."""
        async with self._open() as db:
            return await _read(db, user)

    async def update(self, user: str, changes: dict[str, object]) -> Profile:
        """Change some fields and keep the others."""
        async with self._open() as db:
            known = (await _read(db, user)).model_dump()
            profile = Profile.model_validate(known | changes)
            await db.execute("INSERT OR REPLACE INTO profile VALUES (?, ?)", (user, profile.model_dump_json()))
            return profile

    async def forget(self, user: str) -> None:
        """Remove the profile, every workout and every photo."""
        async with self._open() as db:
            for table in ("profile", "workout", "photo"):
                await db.execute(f"DELETE FROM {table} WHERE user = ?", (user,))

    async def log(self, user: str, workout: Workout) -> float | None:
        """Keep a workout, as of today if it has no day.

        Returns the heaviest weight logged before for this exercise in this unit, if there is one.
        """
        async with self._open() as db:
            before = (known for _, known in await _workouts(db, user))
            best = max((w.weight for w in before if _alike(w, workout) and w.weight), default=None)
            dated = workout.model_copy(update={"day": workout.day or date.today()})
            await db.execute("INSERT INTO workout (user, body) VALUES (?, ?)", (user, dated.model_dump_json()))
            return best

    async def latest(self, user: str, exercise: str | None = None) -> Workout | None:
        """The workout that was logged last, of this exercise if one is named."""
        async with self._open() as db:
            _, workout = await _latest(db, user, exercise)
            return workout

    async def correct(self, user: str, exercise: str | None, corrected: Workout) -> None:
        """Put another in the place of the latest workout, of this exercise if one is named."""
        async with self._open() as db:
            place, _ = await _latest(db, user, exercise)
            await db.execute("UPDATE workout SET body = ? WHERE id = ?", (corrected.model_dump_json(), place))

    async def undo(self, user: str, exercise: str | None = None) -> Workout | None:
        """Take back the workout that was logged last, of this exercise if one is named."""
        async with self._open() as db:
            place, workout = await _latest(db, user, exercise)
            await db.execute("DELETE FROM workout WHERE id = ?", (place,))
            return workout

    async def workouts(self, user: str) -> list[Workout]:
        """Every workout, in the order in which they were logged."""
        async with self._open() as db:
            return [workout for _, workout in await _workouts(db, user)]

    async def keep_photo(self, user: str, type: str, content: bytes) -> int:
        """Keep a photo, as of today; returns how many there are."""
        async with self._open() as db:
            new = (user, date.today().isoformat(), type, content)
            await db.execute("INSERT INTO photo (user, day, type, content) VALUES (?, ?, ?, ?)", new)
            return len(await _photos(db, user))

    async def photos(self, user: str) -> list[date]:
        """The days of the user's photos, the first one first."""
        async with self._open() as db:
            return await _photos(db, user)

    @asynccontextmanager
    async def _open(self) -> AsyncIterator[aiosqlite.Connection]:
        async with aiosqlite.connect(self._path, isolation_level=None) as db:
            await db.execute("PRAGMA busy_timeout = 5000")
            await db.execute("CREATE TABLE IF NOT EXISTS profile (user TEXT PRIMARY KEY, body TEXT NOT NULL)")
            await db.execute(
                "CREATE TABLE IF NOT EXISTS workout (id INTEGER PRIMARY KEY, user TEXT NOT NULL, body TEXT NOT NULL)"
            )
            await db.execute(
                "CREATE TABLE IF NOT EXISTS photo (id INTEGER PRIMARY KEY, user TEXT NOT NULL, day TEXT NOT NULL, "
                "type TEXT NOT NULL, content BLOB NOT NULL)"
            )
            await db.execute("BEGIN IMMEDIATE")  # reads and writes of one operation see the same profile
            try:
                yield db
            except BaseException:
                await db.rollback()
                raise
            await db.commit()


def _alike(one: Workout, other: Workout) -> bool:
    return one.exercise == other.exercise and one.unit == other.unit


async def _read(db: aiosqlite.Connection, user: str) -> Profile:
    row = await _first(db, "SELECT body FROM profile WHERE user = ?", user)
    return Profile.model_validate_json(row[0]) if row else Profile()


async def _first(db: aiosqlite.Connection, query: str, user: str) -> sqlite3.Row | None:
    async with db.execute(query, (user,)) as cursor:
        return await cursor.fetchone()


async def _workouts(db: aiosqlite.Connection, user: str) -> list[tuple[int, Workout]]:
    """Every workout with its place, the first one first."""
    async with db.execute("SELECT id, body FROM workout WHERE user = ? ORDER BY id", (user,)) as cursor:
        return [(place, Workout.model_validate_json(body)) async for place, body in cursor]


async def _latest(db: aiosqlite.Connection, user: str, exercise: str | None) -> tuple[int, Workout | None]:
    logged = await _workouts(db, user)
    return next((one for one in reversed(logged) if exercise in (None, one[1].exercise)), (0, None))


async def _photos(db: aiosqlite.Connection, user: str) -> list[date]:
    async with db.execute("SELECT day FROM photo WHERE user = ? ORDER BY id", (user,)) as cursor:
        return [date.fromisoformat(day) async for (day,) in cursor]
