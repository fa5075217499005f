"""The workouts that a user keeps at Hevy, by its public API (https://api.hevyapp.com/docs)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

import httpx2
from pydantic import BaseModel

PAGE: Final = 10
"""The most workouts that Hevy gives at once."""
PAGES: Final = 20


class KeyRefused(Exception):
    """Hevy does not accept this key, or does not any more."""


class Set(BaseModel):
    weight_kg: float | None = None
    reps: int | None = None


class Exercise(BaseModel):
    title: str
    sets: list[Set] = []

    def __str__(self) -> str:
        heaviest = max(self.sets, key=lambda one: one.weight_kg or 0, default=Set())
        best = f", up to {heaviest.weight_kg:g} kg" if heaviest.weight_kg else ""
        return f"{self.title}: {len(self.sets)} x {heaviest.reps or '?'}{best}"


class HevyWorkout(BaseModel):
    """One workout, as far as the coach looks at it."""

    title: str
    start_time: datetime
    exercises: list[Exercise] = []

    def __str__(self) -> str:
        return f"{self.start_time:%a %d %b}, {self.title}: {'; '.join(map(str, self.exercises))}"


class Page(BaseModel):
    page_count: int = 1
    workouts: list[HevyWorkout] = []


class Hevy:
    """The API at `base`. Methods take the user's key; raise `KeyRefused`, and `httpx2.HTTPError` where Hevy fails."""

    def __init__(self, base: str) -> None:
        self._base = base

    async def accepts(self, key: str) -> bool:
        """Whether the key is one of Hevy's."""
        try:
            await self._page(key, 1)
        except KeyRefused:
            return False
        return True

    async def workouts(self, key: str, weeks: int) -> list[HevyWorkout]:
        """The workouts of the last weeks, the latest first."""
        since = datetime.now(UTC) - timedelta(weeks=weeks)
        found: list[HevyWorkout] = []
        for number in range(1, PAGES + 1):
            page = await self._page(key, number)
            found += [workout for workout in page.workouts if workout.start_time >= since]
            if len(page.workouts) < PAGE or number >= page.page_count or page.workouts[-1].start_time < since:
                break
        return found

    async def _page(self, key: str, number: int) -> Page:
        if not ((key := key.strip()).isascii() and key.isprintable()):  # no header can carry it
            raise KeyRefused
        async with httpx2.AsyncClient(base_url=self._base, timeout=10) as client:
            asked = {"page": number, "pageSize": PAGE}
            response = await client.get("/v1/workouts", params=asked, headers={"api-key": key})
        if response.status_code in (401, 403):
            raise KeyRefused
        response.raise_for_status()
        return Page.model_validate_json(response.content)
