"""The way to a page outside and back.

A card links to a route of ours, which is for the user who was asked and sends them on, with a link that completes the
step. To open that link completes nothing: mail scanners and previews open links, too. The page behind it has a
button, for the same user in the same browser; or the service calls the link itself, and signs its call.
"""

from __future__ import annotations

import time
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from yourcall import agui
from yourcall.engine import Engine
from yourcall.entries import Answered
from yourcall.errors import (
    AlreadyAnswered,
    Closed,
    Fault,
    HandoffInvalid,
    NotFound,
    ProgrammingError,
    Rejected,
    WrongChannel,
)
from yourcall.faults import text_fault
from yourcall.ports import Found
from yourcall.visit import Visit, fresh
from yourcall.visits import ANOTHER, Called, CameBack, Link, Links
from yourcall.web.bodies import parse, read_bytes
from yourcall.web.browsers import Browsers
from yourcall.web.interrupts import require_id
from yourcall.web.pages import CLOSE, Page, el, see, way_back
from yourcall.web.problems import JsonResponse
from yourcall.web.users import user_of

CARDS = "../cards"
MISSED = (
    "This step is no longer open, and the assistant has not heard of what was done at {host}. If you finished it, "
    "say so in the chat."
)
QUERY = 8 << 10
"""Characters that a link may bring along."""


class Visits:
    """`home` is the page with the chat, if it is known, to which the last page links."""

    def __init__(self, engine: Engine[Any], home: str | None) -> None:
        self._engine, self._home = engine, home
        self._links, self._browsers = Links(engine.vault), Browsers(engine)

    async def leave(self, id: str, request: Request) -> Response:
        """On to the page outside."""
        user = user_of(request)
        require_id(id)
        found = await self._engine.find(id, user=user)
        if found.interrupt.kind != Visit.kind:
            raise WrongChannel(found.interrupt.channel)
        _, ask = await self._engine.answering.live(id, user=user)
        if not isinstance(ask, Visit):  # another of its name
            raise WrongChannel(ask.channel)
        if not self._engine.public_url:
            raise ProgrammingError("A Visit leads back here: say where that is, `Engine(public_url=)`.")
        response = see("")
        browser = self._browsers.known(request) or self._browsers.remember(response)
        token = self._links.make(id, browser, ask.lasts)
        base = request.url.path.rpartition("/interrupts/")[0]
        response.headers["Location"] = ask.address(f"{self._engine.public_url}{base}/visits/{token}")
        return response

    async def page(self, token: str, request: Request) -> Response:
        """Back from outside, with a button; or what became of the step."""
        link = self._links.read(token)
        found = await self._found(link, request)
        ask = found.interrupt.ask
        if found.ending is not None:
            return self._over(found)
        link.require_in_time()
        if ask.get("signed"):
            return self._page(found, ask["title"], el("p", f"We wait for word from {ask['host']}."), el("p", CLOSE))
        self._require_browser(link, request)
        query = f"?{request.url.query}" if request.url.query else ""
        form = el("form", el("button", "Done"), method="post", action=f"../returns/{token}{query}")
        return self._page(found, ask["title"], el("p", f"You are back from {ask['host']}. Are you done there?"), form)

    async def back(self, token: str, request: Request) -> Response:
        """The user says that they are done; what the link brought is the answer."""
        link = self._links.read(token)
        found = await self._found(link, request)
        self._require_browser(link, request)
        try:
            link.require_in_time()
            await self._engine.answering.take(link.interrupt, CameBack(_brought(request)), user=user_of(request))
        except (Closed, AlreadyAnswered):
            pass  # the page says what became of it
        except Rejected as error:
            parts = [el("p", str(error), dir="auto"), el("p", CLOSE)]
            return self._page(found, "This was not accepted", *parts, status=422)
        return see(f"../visits/{token}")

    async def call(self, token: str, request: Request) -> Response:
        """The service says that the step is done. `Yourcall-Signature` is made as `yourcall.visit.signature` does."""
        link, now = self._links.read(token), time.time()
        link.require_in_time()
        header = request.headers.get("yourcall-signature", "")
        if not fresh(header, now):
            raise HandoffInvalid("The call is not signed, or was signed more than five minutes ago.")
        body = await read_bytes(request) or b""
        owner = await self._engine.store.owner_of(link.interrupt)
        if owner is None:
            raise HandoffInvalid(ANOTHER)
        called = Called(token, parse(body), body, header, now)
        recorded = await self._engine.answering.take(link.interrupt, called, user=owner)
        return JsonResponse({"id": link.interrupt, "ending": agui.ending(recorded)})

    async def _found(self, link: Link, request: Request) -> Found:
        try:
            return await self._engine.find(link.interrupt, user=user_of(request))
        except NotFound:
            raise HandoffInvalid(ANOTHER) from None

    def _require_browser(self, link: Link, request: Request) -> None:
        if not link.left_from(self._browsers.known(request)):
            raise HandoffInvalid(ANOTHER)

    def _over(self, found: Found) -> Response:
        done, host = isinstance(found.ending, Answered), found.interrupt.ask["host"]
        text = "This step is done." if done else MISSED.format(host=host)
        return self._page(found, found.interrupt.ask["title"], el("p", text, role="status"), el("p", CLOSE))

    def _page(self, found: Found, title: str, *body: str, status: int = 200) -> Response:
        return Page(title, *body, *way_back(self._home, found.key.id), cards=CARDS, status=status)


def _brought(request: Request) -> dict[str, str]:
    """The link's query. Raises `Rejected` for what is too long, said twice, or cannot be stored."""
    pairs = request.query_params.multi_items()
    brought = dict(pairs)
    faults = [fault for name, text in pairs for part in (name, text) if (fault := text_fault(part))]
    if len(brought) != len(pairs) or len(request.url.query) > QUERY:
        faults.append(Fault("", "The link brings something twice, or too much."))
    if faults:
        raise Rejected(faults=faults)
    return brought
