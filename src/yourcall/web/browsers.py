"""The secret by which a browser is known again when it comes back from a step outside."""

from __future__ import annotations

import secrets
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from yourcall.engine import Engine

COOKIE: Final = "yourcall-browser"


class Browsers:
    """Whoever leaves and whoever comes back must have the same one. Whether it is https is configured, not asked."""

    def __init__(self, engine: Engine[Any]) -> None:
        self._engine = engine

    @property
    def _secure(self) -> bool:
        return self._engine.public_url.startswith("https:")

    @property
    def _cookie(self) -> str:
        return f"__Host-{COOKIE}" if self._secure else COOKIE

    def known(self, request: Request) -> str | None:
        """The secret that this browser brings."""
        value = request.cookies.get(self._cookie, "")
        return value if len(value) >= 43 else None

    def remember(self, response: Response) -> str:
        """A new secret, until the browser is closed. Lax: the way back begins at another site."""
        secret = secrets.token_urlsafe(32)
        response.set_cookie(self._cookie, secret, path="/", secure=self._secure, httponly=True, samesite="lax")
        return secret
