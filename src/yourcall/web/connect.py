"""The way to a provider and back, as pages: ours, which says what is asked; the provider's; ours again.

A card links to our page and nowhere else. It is for the user who was asked, says who asks for what and where they
will sign in, and a button starts. The same user and browser must come back before the code is looked at. Each way
ends at the page where it began, whose address holds nothing but the question's id.
"""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from yourcall import agui
from yourcall.connect import Connect
from yourcall.engine import Engine
from yourcall.entries import Answered
from yourcall.errors import (
    AlreadyAnswered,
    Changed,
    CheckFailed,
    Closed,
    HandoffInvalid,
    NotFound,
    ProgrammingError,
    ProviderFailed,
    Rejected,
    WrongChannel,
)
from yourcall.oauth import Denied, Discovery, SignIns
from yourcall.ports import Found
from yourcall.web.browsers import Browsers
from yourcall.web.interrupts import require_id
from yourcall.web.pages import CLOSE, Page, el, see, way_back
from yourcall.web.users import user_of

CARDS: Final = "../cards"
AGAIN: Final = "again"
"""The one thing that our page's query may say: the last try came to nothing."""

ENDINGS: Final = {
    "declined": "You declined. Nothing was connected.",
    "skipped": "You skipped this. Nothing was connected.",
    "expired": "This question has expired.",
}


class Connects:
    """`title` is who asks; `home` is the page with the chat, if it is known, to which the last page links."""

    def __init__(self, engine: Engine[Any], title: str, home: str | None) -> None:
        self._engine, self._title, self._home = engine, title, home
        self._browsers = Browsers(engine)
        self._sign_ins = SignIns(engine.store.handoffs, engine.vault, Discovery())

    async def page(self, id: str, request: Request) -> Response:
        """What is asked, or what became of it."""
        found = await self._found(id, user_of(request))
        response = self._open(found, request) if found.ending is None else self._over(found)
        if found.ending is None and not self._browsers.known(request):
            self._browsers.remember(response)
        return response

    async def start(self, id: str, request: Request) -> Response:
        """Leave for the provider. By a page that refreshes: a form's redirects are subject to the app's CSP."""
        user, browser = user_of(request), self._browsers.known(request)
        await self._found(id, user)
        if not browser:
            raise HandoffInvalid
        found, ask = await self._engine.answering.live(id, user=user)
        if not isinstance(ask, Connect):
            raise Changed
        if not self._engine.public_url:
            raise ProgrammingError("A provider leads back here: say where that is, `Engine(public_url=)`.")
        provider = ask.provider
        redirect_uri = self._redirect_uri(request.url.path.rsplit("/connect/", 1)[0], provider.name)
        url = await self._sign_ins.leave(found.key, id, provider, browser=browser, redirect_uri=redirect_uri)
        if url is None:
            raise Closed("superseded")
        host = urlsplit(url).netloc
        refresh = el("meta", http_equiv="refresh", content=f"0;url={url}")
        link = el("a", f"Continue to {host}", href=url, rel="noreferrer")
        return Page(f"On to {host}", el("p", link), *way_back(self._home, found.key.id), cards=CARDS, head=refresh)

    async def callback(self, provider: str, request: Request) -> Response:
        """Back from the provider."""
        user, browser = user_of(request), self._browsers.known(request) or ""
        query = request.query_params.multi_items()
        base = request.url.path.rsplit("/callback/", 1)[0]
        try:
            came = await self._sign_ins.come_back(
                user, provider, query, browser=browser, redirect_uri=self._redirect_uri(base, provider)
            )
        except HandoffInvalid:
            before = await self._sign_ins.where(user, provider, query, browser=browser)
            if before is None or (await self._engine.find(before.interrupt, user=user)).ending is None:
                raise
            return see(f"{base}/connect/{before.interrupt}")
        back = f"{base}/connect/{came.interrupt}"
        try:
            if not isinstance(came, Denied):
                await self._engine.answering.take(came.interrupt, came, user=user)
            elif came.by_user:
                await self._engine.decline(came.interrupt, user=user)
            else:
                return see(f"{back}?{AGAIN}")
        except (Closed, AlreadyAnswered):
            pass  # the page says what became of it
        except Rejected as error:
            return self._page("This was not accepted", el("p", str(error), dir="auto"), back=back)
        except (ProviderFailed, CheckFailed, Changed):
            return see(f"{back}?{AGAIN}")
        return see(back)

    # ----------------------------------------------------------------- who, and where

    async def _found(self, id: str, user: str) -> Found:
        """The sign-in that this user was asked for. Another user's link is told from one that never was."""
        require_id(id)
        try:
            found = await self._engine.find(id, user=user)
        except NotFound:
            await self._refuse_another_s(id)
            raise
        if found.interrupt.kind != Connect.kind:
            raise WrongChannel(found.interrupt.channel)
        return found

    async def _refuse_another_s(self, id: str) -> None:
        store = self._engine.store
        owner = await store.owner_of(id)
        found = await store.find(owner, id) if owner is not None else None
        if found is not None and found.interrupt.kind == Connect.kind:
            raise HandoffInvalid

    def _redirect_uri(self, base: str, provider: str) -> str:
        """Of what is configured and of the route's own path; never of what a request calls its host."""
        return f"{self._engine.public_url}{base}/callback/{provider}"

    # ----------------------------------------------------------------- pages

    def _open(self, found: Found, request: Request) -> Response:
        ask = found.interrupt.ask
        who, called, host = self._title or "This app", ask["called"], ask["host"]
        scopes = [el("li", el("code", scope, dir="auto")) for scope in ask["scopes"]]
        wanted = [el("p", f"{who} asks {called} for:"), el("ul", *scopes)] if scopes else []
        return self._page(
            ask["title"],
            *(
                [el("p", "That did not work, and nothing was connected. Try again.", role="alert")]
                * (AGAIN in request.query_params)
            ),
            el(
                "p",
                f"{who} would like to use your {called} account. You sign in at ",
                el("strong", host),
                ", not here.",
            ),
            *wanted,
            el("p", "The assistant never sees your password, nor the access that you give."),
            el("form", el("button", f"Continue to {host}"), method="post"),
            el("p", "To refuse, say no there, or close this page and skip the question.", class_="yc-quiet"),
            *way_back(self._home, found.key.id),
        )

    def _over(self, found: Found) -> Response:
        title, ending = found.interrupt.ask["called"], found.ending
        if isinstance(ending, Answered):
            text = f"Connected as {agui.ending(ending, found.interrupt)['answer']['label']}."
        else:
            text = ENDINGS.get(ending.ending if ending else "", "This question is no longer open.")
        links = way_back(self._home, found.key.id)
        return self._page(title, el("p", text, dir="auto", role="status"), el("p", CLOSE), *links)

    def _page(self, title: str, *body: str, back: str | None = None) -> Response:
        links = [el("p", el("a", "Back", href=back)), *way_back(self._home)] if back else []
        return Page(title, *body, *links, cards=CARDS)
