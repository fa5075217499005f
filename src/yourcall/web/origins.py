"""Whether a page of another site made the browser send a request.

A browser says where a request comes from: in `Sec-Fetch-Site`, or, where it is older, in `Origin`. What says
neither is not a browser, and a bearer token is never sent by a browser of its own accord. `Authorization: Basic`
is, so only Bearer is exempt. https://developer.mozilla.org/docs/Web/HTTP/Headers/Sec-Fetch-Site
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from starlette.requests import Request

from yourcall.web.problems import CrossOrigin

SAFE: Final = ("GET", "HEAD", "OPTIONS")


class Origins:
    """The sites whose pages may change something: our own, and exactly those that are `allowed`."""

    def __init__(self, allowed: Iterable[str] = ()) -> None:
        self._allowed = frozenset(allowed)

    async def __call__(self, request: Request) -> None:
        """Raises `CrossOrigin`. Reading needs no check: browsers keep what was read from other sites' pages."""
        if request.method not in SAFE and not self.admits(request):
            raise CrossOrigin

    def admits(self, request: Request) -> bool:
        if request.headers.get("authorization", "").lower().startswith("bearer "):
            return True
        origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
        if origin is not None and origin in self._allowed:
            return True
        if site is not None:
            return site in ("same-origin", "none")
        return origin is None or _authority(origin) == request.headers.get("host", "").lower()


def _authority(origin: str) -> str | None:
    """The host and port of an origin; None for "null", which is a page without one. The scheme is the proxy's."""
    scheme, separator, authority = origin.lower().partition("://")
    return authority if separator and scheme in ("http", "https") else None
