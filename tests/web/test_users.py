"""Who asks, and what is theirs: two users, every route, every id."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest
from fastapi import Cookie, FastAPI, Header, HTTPException
from fastapi.routing import APIRoute

from tests.web.agents import engine_of
from tests.web.serving import PREFIX, User, current_user, serve, serve_app
from yourcall import Engine
from yourcall.web import create_router

pytestmark = pytest.mark.anyio

ROUTES: list[tuple[str, str, Any]] = [
    ("GET", "/conversations/{conversation}", None),
    ("DELETE", "/conversations/{conversation}", None),
    ("POST", "/conversations/{conversation}/messages", {"text": "Hi"}),
    ("POST", "/conversations/{conversation}/resume", {}),
    ("POST", "/conversations/{conversation}/cancel", {}),
    ("GET", "/conversations/{conversation}/events", None),
    ("GET", "/conversations/{conversation}/events?after=1", None),
    ("GET", "/interrupts/{interrupt}", None),
    ("POST", "/interrupts/{interrupt}/answer", {"pick": "red"}),
    ("POST", "/interrupts/{interrupt}/answer", {"pick": "never offered"}),
    ("POST", "/interrupts/{interrupt}/skip", {"note": "forged"}),
    ("POST", "/interrupts/{interrupt}/secret", {"value": "forged"}),
    ("DELETE", "/credentials/{credential}", None),
    ("POST", "/interrupts/{interrupt}/files", {}),
    ("GET", "/interrupts/{interrupt}/visit", None),
    ("GET", "/conversations/{conversation}/files/1", None),
    ("GET", "/connect/{interrupt}", None),
    ("POST", "/connect/{interrupt}", None),
]
"""Every route that names something that is somebody's."""

OTHERS: list[tuple[str, str, Any]] = [
    ("POST", "/conversations", {}),
    ("GET", "/conversations", None),
    ("GET", "/interrupts", None),
    ("POST", "/files", {}),
    ("GET", "/visits/x", None),
    ("POST", "/returns/x", {}),
    ("GET", "/credentials", None),
    ("GET", "/about", None),
    ("POST", "/agui", {"threadId": "t", "runId": "r", "messages": []}),
    ("GET", "/callback/{provider}", None),  # whose state is somebody's: see tests/oauth
]


@pytest.fixture
def engine() -> Engine[Any]:
    return engine_of([[("pick", {})], "Thanks."])


@pytest.fixture
async def users(engine: Engine[Any]) -> AsyncIterator[tuple[User, User]]:
    """Ada, whose conversation waits for her, and Bob."""
    async with serve(engine) as served:
        yield await served.user("ada"), await served.user("bob")


async def waiting(user: User) -> dict[str, str]:
    """The ids of a conversation that waits."""
    conversation = await user.create()
    await user.say(conversation, "Paint it")
    await user.settled(conversation)
    interrupt = (await user.open(conversation))[0]["id"]
    return {"conversation": conversation, "interrupt": interrupt, "credential": "hevy"}


NOBODYS: list[tuple[str, str]] = [("GET", "/cards/{name:path}"), ("POST", "/visits/x")]
"""Routes that need no session: what is the same for all, and a call that is signed (see test_visits)."""


def test_no_route_is_forgotten(engine: Engine[Any]) -> None:
    """T8: whoever adds a route says here whose it is, and with that it is in the tests of two users below."""
    listed = [(method, path.partition("?")[0]) for method, path, _ in ROUTES + OTHERS] + NOBODYS
    router = create_router(engine, user=current_user)
    routes = [route for route in router.routes if isinstance(route, APIRoute)]
    assert len(routes) == len(router.routes), "a route of another class than ours"
    served = {(method, _named(route.path)) for route in routes for method in route.methods or ()}
    assert served == set(listed)


def _named(path: str) -> str:
    """The route's path, with what is named in it as the tables above call it."""
    for ours, theirs in (
        ("/conversations/{id}", "/conversations/{conversation}"),
        ("/interrupts/{id}", "/interrupts/{interrupt}"),
        ("/connect/{id}", "/connect/{interrupt}"),
        ("/files/{file}", "/files/1"),
        ("/{token}", "/x"),
        ("/credentials/{name}", "/credentials/{credential}"),
    ):
        path = path.replace(ours, theirs)
    return path


async def test_what_is_somebody_else_s_is_not_there(users: tuple[User, User]) -> None:
    """T8: an unknown and a foreign id get the same 404, byte for byte, and nothing of Ada's changes."""
    ada, bob = users
    hers = await waiting(ada)
    before = await ada.snapshot(hers["conversation"])
    unknown = dict.fromkeys(hers, "0" * 32)
    for method, path, body in ROUTES:
        answers = [await bob.request(method, path.format(**ids), json=body) for ids in (hers, unknown)]
        foreign, nowhere = answers
        assert (foreign.status_code, nowhere.status_code) == (404, 404), path
        assert foreign.content == nowhere.content, path
        assert sorted(foreign.headers) == sorted(nowhere.headers), path
        assert foreign.json()["type"].endswith("/not-found")
        if "interrupts" in path:
            assert foreign.json()["detail"] == "No such question."
    assert await ada.snapshot(hers["conversation"]) == before
    assert (await bob.get("/conversations")).json() == {"conversations": [], "next": None}


async def test_the_owner_finds_what_is_theirs(users: tuple[User, User]) -> None:
    """The routes of the test above do exist."""
    ada, _ = users
    hers = await waiting(ada)
    assert [one["id"] for one in (await ada.get("/conversations")).json()["conversations"]] == [hers["conversation"]]
    answered = await ada.answer(hers["interrupt"], {"pick": "red"})
    assert answered.status_code == 200
    await ada.settled(hers["conversation"])
    for verb in ("resume", "cancel"):
        assert (await ada.post(f"/conversations/{hers['conversation']}/{verb}")).status_code == 202
    assert (await ada.delete(f"/conversations/{hers['conversation']}")).status_code == 204
    assert (await ada.delete(f"/conversations/{hers['conversation']}")).status_code == 404


async def test_ids_that_clients_choose_are_their_own(users: tuple[User, User]) -> None:
    """Two users may have a conversation of the same id; neither sees the other's."""
    ada, bob = users
    assert await ada.create(id="shared") == await bob.create(id="shared") == "shared"
    await ada.say("shared", "Paint it")
    await ada.settled("shared")
    assert (await bob.snapshot("shared"))["messages"] == []
    assert [m["role"] for m in (await ada.snapshot("shared"))["messages"]] == ["user", "assistant"]


@pytest.mark.parametrize("id", ["%00", "a%00b", "%0a", "x" * 300, "%ED%A0%80", "..%2f..%2fetc", "%2e%2e"])
async def test_an_id_that_cannot_be_one_is_not_there(users: tuple[User, User], engine: Engine[Any], id: str) -> None:
    """What no client can have been given is unknown and asked of no database."""
    ada, _ = users
    for odd in ("\x00", "a\x00b", "\n", "x" * 300):
        await engine.conversation(odd, user="ada").create()
    for method, path, body in ROUTES:
        response = await ada.request(method, path.format(conversation=id, interrupt=id, credential=id), json=body)
        assert response.status_code in (404, 405), (path, response.text)


@pytest.mark.parametrize(("method", "path", "body"), ROUTES + OTHERS)
async def test_nobody_gets_nothing(users: tuple[User, User], method: str, path: str, body: Any) -> None:
    """Not signed in: 401, and how to do it."""
    ada, _ = users
    async with httpx.AsyncClient(base_url=ada.base_url) as nobody:
        ids = {"conversation": "x", "interrupt": "x", "credential": "x", "provider": "x"}
        response = await nobody.request(method, path.format(**ids), json=body)
    assert response.status_code == 401
    assert response.headers["www-authenticate"] == "Bearer"
    assert response.json() == {
        "type": "urn:yourcall:problem/unauthenticated",
        "title": "Unauthenticated",
        "status": 401,
        "detail": "Sign in to answer.",
    }


# --------------------------------------------------------------------------- the app's own dependency


async def refuses() -> str:
    raise HTTPException(401, "no", headers={"WWW-Authenticate": 'Basic realm="x"'})


async def wants_a_number(x_number: int = Header()) -> str:
    return str(x_number)


async def wants_a_cookie(session: str = Cookie()) -> str:
    return session


def empty() -> str:
    return ""


async def answer_of(user: Callable[..., Any], **headers: str) -> httpx.Response:
    """What a router whose users this dependency knows says to a request with these headers."""
    engine = engine_of()
    app = FastAPI(lifespan=engine.lifespan)
    app.include_router(create_router(engine, user=user), prefix=PREFIX)
    async with serve_app(app, engine) as served:
        return await (await served.user(None)).get("/conversations", headers=headers)


@pytest.mark.parametrize(
    ("user", "headers", "challenge"),
    [
        (refuses, {}, 'Basic realm="x"'),
        (empty, {}, "Bearer"),
        (wants_a_number, {}, "Bearer"),
        (wants_a_number, {"X-Number": "canary-7f3a"}, "Bearer"),
        (wants_a_cookie, {}, "Bearer"),
        (current_user, {}, "Bearer"),
    ],
)
async def test_however_the_app_says_no_it_is_401(
    user: Callable[..., Any], headers: dict[str, str], challenge: str
) -> None:
    """It raises, returns nothing, or finds its own parameters malformed: never an echo of what was sent."""
    response = await answer_of(user, **headers)
    assert response.status_code == 401
    assert response.headers["www-authenticate"] == challenge
    assert response.json()["type"].endswith("/unauthenticated")
    assert "canary" not in response.text


async def test_another_refusal_of_the_app_is_the_app_s_own() -> None:
    """A 403 of the app, or a redirect to its sign-in page, goes through as it is."""

    async def moved() -> str:
        raise HTTPException(303, headers={"Location": "/login"})

    response = await answer_of(moved)
    assert (response.status_code, response.headers["location"]) == (303, "/login")


async def test_a_user_that_is_no_text_is_a_mistake_of_the_app(caplog: pytest.LogCaptureFixture) -> None:
    """An object would become part of keys as whatever its `str` is."""

    async def number() -> int:
        return 7

    response = await answer_of(number)
    assert response.status_code == 500
    assert "must return the user's id as a str, not int" in caplog.text
    caplog.clear()
