"""The services that the coach works with: the real ones where the environment names them, else stand-ins.

HEVY_URL=https://api.hevyapp.com        Hevy itself; each user gives a key of their own
GOOGLE_CLIENT_ID, GOOGLE_CLIENT_SECRET  Google itself, through an OAuth client of yours
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

GOOGLE: Final = "https://accounts.google.com"
GOOGLE_HEALTH: Final = "https://health.googleapis.com"


@dataclass(frozen=True, slots=True)
class Services:
    """Where they are. `stand_ins` names those that are not the real ones, as people call them."""

    hevy: str
    health: str
    issuer: str
    client_id: str
    client_secret: str
    stand_ins: tuple[str, ...] = ()

    def called(self, name: str) -> str:
        """The service as it is named on the page: a stand-in as one."""
        return f"{name} (a stand-in)" if name.split(maxsplit=1)[0] in self.stand_ins else name

    @staticmethod
    @contextmanager
    def opened(folder: Path, environ: Mapping[str, str]) -> Iterator[Services]:
        """The services for as long as the context lasts; stand-ins listen on a loopback port, the same each time."""
        hevy, client = environ.get("HEVY_URL"), environ.get("GOOGLE_CLIENT_ID")
        google = (GOOGLE_HEALTH, GOOGLE, client, environ.get("GOOGLE_CLIENT_SECRET", "")) if client else None
        if hevy and google:
            yield Services(hevy, *google)
            return
        from .stand_in_services import serving

        with serving(folder / "stand-ins-port") as url:
            names = (*(() if hevy else ("Hevy",)), *(() if google else ("Google",)))
            yield Services(hevy or url, *(google or (url, url, "coach", "coach")), stand_ins=names)
