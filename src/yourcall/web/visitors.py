"""Who somebody is where nobody signs in: a browser is known again by a signed cookie, and that is all.

It tells the people of one computer apart. The cookie's signature keeps a visitor from naming another one; on
https its name starts with `__Host-`, so that no sibling domain can set it.
"""

from __future__ import annotations

from typing import Final
from uuid import uuid4

from itsdangerous import BadSignature, Signer
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE: Final = "yourcall"
YEAR: Final = 365 * 24 * 3600


class Visitors:
    """ASGI middleware: `request.state.visitor` is the id of the browser, a new one where it brings none of ours."""

    def __init__(self, app: ASGIApp, secret: bytes) -> None:
        self._app = app
        self._signer = Signer(secret, salt="yourcall.visitor")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        secure = scope["scheme"] == "https"
        name = f"__Host-{COOKIE}" if secure else COOKIE
        known = self._known(HTTPConnection(scope).cookies.get(name, ""))
        visitor = known or uuid4().hex
        scope.setdefault("state", {})["visitor"] = visitor

        async def introduce(message: Message) -> None:
            if message["type"] == "http.response.start":
                cookie = f"{name}={self._signer.sign(visitor).decode()}; Max-Age={YEAR}; Path=/; HttpOnly; SameSite=Lax"
                MutableHeaders(scope=message).append("Set-Cookie", cookie + "; Secure" * secure)
            await send(message)

        await self._app(scope, receive, send if known else introduce)

    def _known(self, cookie: str) -> str | None:
        try:
            return self._signer.unsign(cookie).decode()
        except (BadSignature, UnicodeError):
            return None


async def visitor(request: Request) -> str:
    """The dependency that goes with the middleware."""
    found: str = request.state.visitor
    return found
