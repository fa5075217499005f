"""The stand-alone app: the router with the chat page around it, for one computer or behind a sign-in of its own."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterable, Sequence
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urlsplit

from fastapi import FastAPI
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from yourcall import hosts
from yourcall.engine import Engine
from yourcall.errors import Refused
from yourcall.web.assets import Assets
from yourcall.web.problems import JsonResponse, ProblemResponse, WrongHost
from yourcall.web.router import create_router
from yourcall.web.visitors import Visitors, visitor

HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def create_app(
    engine: Engine[Any],
    *,
    user: Callable[..., Any] | None = None,
    title: str = "Yourcall",
    notice: str | None = None,
    suggestions: Sequence[str] = (),
    secret: bytes | None = None,
    allowed_origins: Iterable[str] = (),
) -> FastAPI:
    """A chat page with all it needs, ready for a server: `/`, `/inbox`, `/healthz`, `/readyz`, the router.

    Without `user`, each browser is somebody: fit for loopback addresses, and requests to other names are refused.
    `secret` signs the cookies by which browsers are known again; without one, a restart forgets them. `title` and
    `notice` are shown above the chat. The other arguments are those of `create_router`.
    """
    app = FastAPI(title=title, lifespan=engine.lifespan, docs_url=None, redoc_url=None)
    router = create_router(
        engine, user=user or visitor, title=title, notice=notice or None, suggestions=suggestions,
        allowed_origins=allowed_origins, home="/",
    )  # fmt: skip
    app.include_router(router)
    assets = Assets()

    @app.get("/", include_in_schema=False)
    async def page(request: Request) -> Response:
        return _by_another_name(request) or assets.response("index.html", request)

    @app.get("/inbox", include_in_schema=False)
    async def inbox(request: Request) -> Response:
        return _by_another_name(request) or assets.response("inbox.html", request)

    def _by_another_name(request: Request) -> Response | None:
        """A browser without an account that came as `localhost` is somebody else at the address to which a sign-in
        leads back: it goes there first."""
        if (
            user is not None
            or not engine.public_url
            or request.headers.get("host") == urlsplit(engine.public_url).netloc
        ):
            return None
        return RedirectResponse(f"{engine.public_url}{request.url.path}")

    @app.get("/healthz", include_in_schema=False)
    async def alive() -> Response:
        return JsonResponse({"status": "ok"})

    @app.get("/readyz", include_in_schema=False)
    async def ready() -> Response:
        if engine.draining:
            return JsonResponse({"status": "draining"}, 503, {"Retry-After": "2"})
        return JsonResponse({"status": "ready"})

    app.add_exception_handler(HTTPException, _refused)
    if user is None:
        app.add_middleware(Visitors, secret=secret or secrets.token_bytes(32))
        app.add_middleware(LoopbackOnly)
    app.add_middleware(SecurityHeaders)
    return app


async def _refused(request: Request, error: Exception) -> Response:
    """What the app itself refuses, or its `user`, looks like what the router refuses; its headers stay."""
    assert isinstance(error, HTTPException)
    refusal = Refused(str(error.detail))
    refusal.slug, refusal.status = _slug(error.status_code), error.status_code
    response = ProblemResponse(refusal)
    response.headers.update(error.headers or {})
    return response


def _slug(status: int) -> str:
    """The status in words, as a problem's type: `too-many-requests`."""
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:  # a status that only its server knows
        return "refused"
    return phrase.lower().replace("'", "").replace(" ", "-")


class SecurityHeaders:
    """ASGI middleware: scripts and frames are ours alone, and nothing tells other sites where the user was."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def guard(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)  # what a user sent comes with stricter ones
            await send(message)

        await self._app(scope, receive, guard)


class LoopbackOnly:
    """ASGI middleware: a page that rebinds its own name to this machine still sends that name as `Host`."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not is_loopback(HTTPConnection(scope).headers.get("host", "")):
            await ProblemResponse(WrongHost())(scope, receive, send)
            return
        await self._app(scope, receive, send)


def is_loopback(host: str) -> bool:
    """Whether a `Host` header names this machine by a loopback address or as localhost."""
    found = re.fullmatch(r"(?:\[([0-9a-f:.]+)\]|([^:@\[\]]+))(?::\d+)?", host.lower())
    return found is not None and hosts.is_loopback(found[1] or found[2])
