"""A desk that asks its users to connect an account, and browsers of people who were asked, or were not."""

from __future__ import annotations

import html
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import repeat
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import httpx

from tests.oauth.panva import Panva
from tests.web.serving import PREFIX, Served, User, serve
from yourcall import Agent, Context, Engine, Tool, tool
from yourcall.connect import Account, Connect, OAuthProvider
from yourcall.log import UserMessage
from yourcall.testing import ScriptedModel, ScriptStep
from yourcall.vault.keyring import KeyRing, new_key

SECRET = "a secret / of the desk's %"
CLIENT: dict[str, Any] = {
    "client_id": "desk",
    "client_secret": SECRET,
    "application_type": "native",  # whose loopback redirect URIs may have any port (RFC 8252, section 7.3)
    "redirect_uris": ["http://127.0.0.1/chat/callback/sleepy", "http://127.0.0.1/callback/sleepy"],
    "grant_types": ["authorization_code", "refresh_token"],
    "response_types": ["code"],
}


def sleepy(server: Panva, **options: Any) -> OAuthProvider:
    """The provider that the server is, for the client that it knows."""
    given: dict[str, Any] = {
        "issuer": server.issuer,
        "client_id": "desk",
        "client_secret": SECRET,
        "scopes": ["email", "offline_access", "sleep"],
        "parameters": {"prompt": "consent"},
    }
    return OAuthProvider("sleepy", **(given | options))


def connecting(provider: OAuthProvider, **options: Any) -> Tool[Any]:
    """A tool that asks for an account."""

    @tool
    def connect(ctx: Context) -> str:
        """Ask the user to connect an account."""
        account = ctx.ask(Connect(provider, **options))
        assert isinstance(account, Account)
        return f"Connected as {account.label} for {', '.join(account.scopes)}."

    return connect


@dataclass
class Browser:
    """A browser of somebody who is signed in at the desk, or of nobody."""

    client: User

    async def page(self, interrupt: str) -> httpx.Response:
        return await self.client.get(f"/connect/{interrupt}")

    async def press(self, interrupt: str) -> httpx.Response:
        return await self.client.post(f"/connect/{interrupt}", headers={"Sec-Fetch-Site": "same-origin"})

    async def leave(self, interrupt: str) -> str:
        """Open the card's link and start; the address of the provider's page."""
        page = await self.page(interrupt)
        assert page.status_code == 200, page.text
        return leads_to(await self.press(interrupt))

    async def come(self, url: str) -> httpx.Response:
        """Be sent back to this address."""
        return await self.client.get(url)


def leads_to(response: httpx.Response) -> str:
    """Where a page sends the browser on to."""
    assert response.status_code == 200, response.text
    found = re.search(r'content="0;url=([^"]+)"', response.text)
    assert found, response.text
    return html.unescape(found[1])


def altered(url: str, **changes: str | None) -> str:
    """The address with other parameters; None leaves one out."""
    parts = urlsplit(url)
    query = {name: value for name, value in {**dict(parse_qsl(parts.query)), **changes}.items() if value is not None}
    return parts._replace(query=urlencode(query)).geturl()


@dataclass
class Desk:
    """The running app, with one question open for ada."""

    server: Panva
    served: Served
    engine: Engine[Any]

    async def browser(self, name: str | None) -> Browser:
        return Browser(await self.served.user(name))

    async def asked(self, user: User, conversation: str = "c") -> str:
        """The id of a question that is open."""
        await user.create(id=conversation)
        await user.say(conversation, "go")
        await user.events(conversation)
        (interrupt,) = await user.open(conversation)
        interrupt_id: str = interrupt["id"]
        return interrupt_id

    async def is_open(self, user: User, conversation: str = "c") -> bool:
        return len(await user.open(conversation)) == 1

    async def come_back(self, browser: Browser, interrupt: str, **person: Any) -> str:
        """All of the way but its end: the address at which the provider sends the browser back."""
        return await self.server.sign_in(await browser.leave(interrupt), self.served.url, **person)

    async def result(self, user: User, conversation: str = "c") -> str:
        """What the tool returned."""
        messages = (await user.settled(conversation))["messages"]
        content: str = next(one["content"] for one in messages if one["role"] == "tool")
        return content

    async def tokens(self, name: str = "sleepy", user: str = "ada") -> bool:
        from yourcall.ports import Slot

        return await self.engine.vault.holds(Slot(user, name))


@asynccontextmanager
async def desk(
    server: Panva,
    *tools: Tool[Any],
    steps: Sequence[ScriptStep] | None = None,
    store: Any = "sqlite://",
    **options: Any,
) -> AsyncIterator[Desk]:
    """The app, whose model calls the first tool in every conversation."""
    tools = tools or (connecting(sleepy(server)),)
    play: ScriptStep = lambda said: [(tools[0].name, {}, "call")] if isinstance(said[-1], UserMessage) else "Done."  # noqa: E731
    engine = Engine(
        Agent(ScriptedModel(repeat(play) if steps is None else steps), tools=tools),
        store,
        keys=KeyRing(new_key()),
        **options,
    )
    async with serve(engine, title="Coach") as served:
        engine.public_url = engine.public_url or served.url
        yield Desk(server, served, engine)


__all__ = ["CLIENT", "PREFIX", "Browser", "Desk", "altered", "connecting", "desk", "leads_to", "sleepy"]
