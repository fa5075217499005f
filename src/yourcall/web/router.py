"""The endpoints, for any FastAPI app: `app.include_router(create_router(engine, user=current_user), prefix="/chat")`.

Nothing in this layer knows a rule of a conversation; what it adds to the engine is who asks, what may be asked,
and how the answer looks on the wire. What is somebody else's is not there: the owner is part of every key, so an
unknown id and a foreign one get the same answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from yourcall.engine import Engine
from yourcall.web import openapi
from yourcall.web.assets import Assets
from yourcall.web.connect import Connects
from yourcall.web.conversations import Conversations
from yourcall.web.credentials import Credentials
from yourcall.web.files import FileRoutes
from yourcall.web.inbox import Inbox
from yourcall.web.interrupts import Interrupts
from yourcall.web.origins import Origins
from yourcall.web.pages import page_route
from yourcall.web.problems import JsonResponse, Route
from yourcall.web.runs import Runs
from yourcall.web.secrets import Secrets
from yourcall.web.sse import HEARTBEAT
from yourcall.web.streams import MAX_STREAMS, Streams
from yourcall.web.users import signed_in
from yourcall.web.visits import Visits


def create_router(  # noqa: PLR0913  # all but one of them by name
    engine: Engine[Any],
    *,
    user: Callable[..., Any],
    allowed_origins: Iterable[str] = (),
    title: str = "",
    notice: str | None = None,
    suggestions: Sequence[str] = (),
    home: str | None = None,
    heartbeat: float = HEARTBEAT,
    max_streams: int = MAX_STREAMS,
) -> APIRouter:
    """The endpoints of an engine, to be included in an app.

    `user` is a dependency of the app that returns who is signed in, as a non-empty id; None is nobody, and so is a
    401 that it raises. `allowed_origins` are other sites whose pages may write here, such as "https://app.example";
    the app adds CORS headers itself. `title` names the agent, and `notice` says what people must know of it;
    `suggestions` are messages to begin with, offered on an empty page. `home` is the path of the page with the chat,
    to which all pages of steps outside link back. `heartbeat` is how many seconds a stream may be silent,
    and `max_streams` how many a user may have open at once.
    """
    streams = Streams(engine, heartbeat, max_streams)
    about = {"name": title, "standIn": notice, "suggestions": list(suggestions)}
    conversations, interrupts = Conversations(engine, streams, about), Interrupts(engine)
    inbox, visits = Inbox(engine), Visits(engine, home)
    secrets, credentials = Secrets(engine), Credentials(engine)
    files, runs, assets = FileRoutes(engine), Runs(engine, streams), Assets()
    connects = Connects(engine, title, home)

    async def tell(request: Request) -> Response:
        """Whom the user talks to, and which files may come along."""
        return JsonResponse({"agent": about, "files": files.taken()})

    async def card(name: str, request: Request) -> Response:
        return assets.response(name, request)

    router = APIRouter(route_class=Route, responses=openapi.PROBLEMS)
    require = [Depends(Origins(allowed_origins)), Depends(signed_in(user))]
    for method, path, endpoint, described in (
        ("POST", "/conversations", conversations.create, openapi.CREATE),
        ("GET", "/conversations", conversations.list, openapi.LIST),
        ("GET", "/conversations/{id}", conversations.read, openapi.SNAPSHOT),
        ("DELETE", "/conversations/{id}", conversations.delete, openapi.DELETE),
        ("POST", "/conversations/{id}/messages", conversations.say, openapi.MESSAGE),
        ("POST", "/conversations/{id}/resume", conversations.resume, openapi.NOTHING),
        ("POST", "/conversations/{id}/cancel", conversations.cancel, openapi.NOTHING),
        ("GET", "/conversations/{id}/events", conversations.events, openapi.EVENTS),
        ("GET", "/interrupts", inbox.list, openapi.INBOX),
        ("GET", "/interrupts/{id}", inbox.read, openapi.INTERRUPT),
        ("POST", "/interrupts/{id}/answer", interrupts.answer, openapi.ANSWER),
        ("POST", "/interrupts/{id}/skip", interrupts.skip, openapi.SKIP),
        ("POST", "/interrupts/{id}/secret", secrets.enter, openapi.SECRET),
        ("GET", "/credentials", credentials.list, openapi.CREDENTIALS),
        ("DELETE", "/credentials/{name}", credentials.delete, openapi.DELETE),
        ("POST", "/interrupts/{id}/files", files.answer, openapi.FILE_ANSWER),
        ("POST", "/files", files.send, openapi.FILE),
        ("GET", "/conversations/{id}/files/{file}", files.read, openapi.FILE_CONTENT),
        ("POST", "/agui", runs.run, openapi.AGUI),
        ("GET", "/about", tell, openapi.ABOUT),
    ):
        router.add_api_route(path, endpoint, methods=[method], dependencies=require, **described)
    page_class = page_route(home)
    for method, path, page in (
        ("GET", "/interrupts/{id}/visit", visits.leave),
        ("GET", "/visits/{token}", visits.page),
        ("POST", "/returns/{token}", visits.back),
        ("GET", "/connect/{id}", connects.page),
        ("POST", "/connect/{id}", connects.start),
        ("GET", "/callback/{provider}", connects.callback),
    ):
        router.add_api_route(
            path, page, methods=[method], dependencies=require, route_class_override=page_class, include_in_schema=False
        )
    # The service has no session: its signature is its word.
    router.add_api_route("/visits/{token}", visits.call, methods=["POST"], **openapi.CALL)
    router.add_api_route("/cards/{name:path}", card, methods=["GET"], include_in_schema=False)
    return router
