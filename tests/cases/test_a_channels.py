"""Case A5 over HTTP: an answer filed under the wrong kind. Every kind of ask, by every way that is not its own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import httpx
import pytest
from fastapi.routing import APIRoute
from pydantic import BaseModel

import yourcall
from tests.web.serving import User, current_user, serve
from yourcall import Agent, Ask, Choose, Confirm, Context, Engine, Form, Questions, Secret, Upload, Visit, tool
from yourcall.asks import Raw
from yourcall.connect import Connect, OAuthProvider
from yourcall.questions import Option, Question
from yourcall.testing import ScriptedModel
from yourcall.vault import KeyRing
from yourcall.vault.keyring import new_key
from yourcall.visits import Links
from yourcall.web import create_router

pytestmark = pytest.mark.anyio


class Table(BaseModel):
    people: int = 2


SLEEPY = OAuthProvider("sleepy", issuer="https://sleepy.example", client_id="desk")
ASKS: dict[str, Callable[[], Ask[Any]]] = {
    "connect": lambda: Connect(SLEEPY),
    "questions": lambda: Questions([Question("Which?", options=[Option("a"), Option("b")])]),
    "form": lambda: Form(Table, title="Your table"),
    "choose": lambda: Choose(["a", "b"], "Which?"),
    "confirm": lambda: Confirm("Pay?"),
    "interrupt": lambda: Raw("anything"),
    "secret": lambda: Secret("key"),
    "upload": lambda: Upload(["image/*"]),
    "visit": lambda: Visit("https://pay.example/", "Pay"),
}
"""One of each kind."""


async def _answer(user: User, id: str, engine: Engine[Any]) -> list[httpx.Response]:
    """JSON in the open: what other ways take, and what every raw question takes."""
    payloads: list[Any] = [{}, "a", {"value": "sk-forged"}, {"approved": True}, {"id": "f" * 32}, {"files": ["../x"]}]
    return [await user.answer(id, payload) for payload in payloads]


async def _secret(user: User, id: str, engine: Engine[Any]) -> list[httpx.Response]:
    return [await user.post(f"/interrupts/{id}/secret", json={"value": "sk-forged"})]


async def _files(user: User, id: str, engine: Engine[Any]) -> list[httpx.Response]:
    return [await user.post(f"/interrupts/{id}/files", files={"file": ("a.txt", b"text", "text/plain")})]


async def _visit(user: User, id: str, engine: Engine[Any]) -> list[httpx.Response]:
    """Leave for it, and come back by a link that is well made, but of another kind's question."""
    browser = "b" * 43
    user.cookies.set("yourcall-browser", browser)
    token = Links(engine.vault).make(id, browser, 60)
    return [await user.get(f"/interrupts/{id}/visit"), await user.post(f"/returns/{token}?people=2")]


async def _connect(user: User, id: str, engine: Engine[Any]) -> list[httpx.Response]:
    """Look at our page before a provider's, and leave for that."""
    return [await user.get(f"/connect/{id}"), await user.post(f"/connect/{id}")]


WAYS: dict[str, tuple[str, Callable[[User, str, Engine[Any]], Awaitable[list[httpx.Response]]]]] = {
    "answer": ("form", _answer),
    "secret": ("secret", _secret),
    "files": ("upload", _files),
    "visit": ("visit", _visit),
    "connect": ("connect", _connect),
}
"""By the route's own word: which answers come by it, as a channel or, of the handoffs, as a kind."""


@tool
def asking(ctx: Context, kind: str) -> str:
    """Ask for something of this kind."""
    return repr(ctx.ask(ASKS[kind](), key=kind))


@pytest.mark.parametrize("kind", ASKS)
async def test_a5_an_answer_by_another_way_is_refused(kind: str) -> None:
    """It is a 409 that says which way is right; the question is open, and nothing was executed."""
    model = ScriptedModel([[("asking", {"kind": kind})], "Done."])
    engine = Engine(
        Agent(model, tools=[asking]),
        "sqlite://",
        keys=KeyRing(new_key()),
        public_url="http://localhost",
    )
    async with serve(engine) as served:
        ada = await served.user("ada")
        conversation = await ada.create()
        await ada.say(conversation, "go")
        await ada.settled(conversation)
        (question,) = await ada.open(conversation)
        own = {ASKS[kind]().channel, kind}
        for way, (whose, send) in WAYS.items():
            if whose in own:
                continue
            for response in await send(ada, question["id"], engine):
                assert response.status_code == 409, (way, response.text)
                assert response.json()["type"].endswith("/wrong-channel")
        assert await ada.open(conversation) == [question]
        assert len(model.requests) == 1


def kinds_of(base: type[Ask[Any]]) -> Iterator[str]:
    for one in base.__subclasses__():
        if one.__module__.startswith("yourcall."):
            yield one.kind
        yield from kinds_of(one)


def test_no_kind_and_no_way_is_forgotten() -> None:
    """A new kind of ask, or a new route for answers, is tried above or this fails."""
    assert all(getattr(yourcall, name) for name in yourcall.__all__)  # and so every kind is imported
    assert set(kinds_of(Ask)) == set(ASKS)
    assert {kind for kind, make in ASKS.items() if make().kind != kind} == set()
    router = create_router(Engine(Agent(ScriptedModel([])), "sqlite://"), user=current_user)
    paths = {route.path for route in router.routes if isinstance(route, APIRoute)}
    ways = {path.removeprefix("/interrupts/{id}/") for path in paths if path.startswith("/interrupts/{id}/")}
    ways |= {path.removesuffix("/{id}").strip("/") for path in paths if path.endswith("/{id}")}
    assert ways - {"skip", "interrupts", "conversations"} == set(WAYS)
