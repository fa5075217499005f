"""A user's nights, by the Google Health API (https://developers.google.com/health)."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Final

import httpx2
from pydantic import AliasPath, BaseModel, Field

SLEEP_SCOPE: Final = "https://www.googleapis.com/auth/googlehealth.sleep.readonly"


class NoAccess(Exception):
    """Google does not accept this access, or not for sleep: it can be taken back, and given in part."""


class Night(BaseModel):
    """One night: when it began and ended, and how long of it was sleep."""

    start: datetime = Field(validation_alias=AliasPath("sleep", "interval", "startTime"))
    end: datetime = Field(validation_alias=AliasPath("sleep", "interval", "endTime"))
    minutes_asleep: int | None = Field(None, validation_alias=AliasPath("sleep", "summary", "minutesAsleep"))

    @property
    def minutes(self) -> int:
        """All of the night where Google does not say how much of it was sleep."""
        if self.minutes_asleep is not None:
            return self.minutes_asleep
        return int((self.end - self.start).total_seconds()) // 60

    def __str__(self) -> str:
        return f"{self.end:%a %d %b}: {spoken(self.minutes)} asleep"


def spoken(minutes: int) -> str:
    """A time as one would say it."""
    return f"{minutes // 60} h {minutes % 60:02} min"


class Nights(BaseModel):
    nights: list[Night] = Field([], validation_alias="dataPoints")


class GoogleHealth:
    """The API at `base`."""

    def __init__(self, base: str) -> None:
        self._base = base

    async def sleep(self, token: str, nights: int) -> list[Night]:
        """The last nights, the latest first. Raises `NoAccess`, or `httpx2.HTTPError` where Google fails."""
        since = date.today() - timedelta(days=nights)
        async with httpx2.AsyncClient(base_url=self._base, timeout=10) as client:
            response = await client.get(
                "/v4/users/me/dataTypes/sleep/dataPoints",
                params={"pageSize": min(nights, 25), "filter": f'sleep.interval.civil_end_time >= "{since}"'},
                headers={"Authorization": f"Bearer {token}"},
            )
        if response.status_code in (401, 403):
            raise NoAccess
        response.raise_for_status()
        return Nights.model_validate_json(response.content).nights
