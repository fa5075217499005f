"""Requests that a page of another site makes the user's browser send."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from fastapi.routing import APIRoute

from tests.web.agents import engine_of
from tests.web.serving import User, current_user, serve
from yourcall.web import create_router

pytestmark = pytest.mark.anyio

FRIEND = "https://app.example"


@pytest.fixture(scope="module")
async def ada() -> AsyncIterator[User]:
    async with serve(engine_of(), allowed_origins=[FRIEND]) as served:
        yield await served.user("ada")


def own(user: User) -> str:
    return f"http://{user.base_url.netloc.decode()}"


REFUSED = [
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": ""},
    {"Origin": "https://app.example.evil.example"},
    {"Origin": "http://app.example"},
    {"Origin": "https://APP.example"},
    {"Origin": "https://app.example:444"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "cross-site", "Origin": "null"},
    {"Sec-Fetch-Site": "same-site", "Origin": "https://sibling.example"},
    {"Origin": "https://evil.example", "Authorization": "Basic YTpi"},
    {"Sec-Fetch-Site": "cross-site", "Authorization": "bearer"},
]

ADMITTED = [
    {},
    {"Sec-Fetch-Site": "same-origin"},
    {"Sec-Fetch-Site": "none"},
    {"Sec-Fetch-Site": "cross-site", "Origin": FRIEND},
    {"Origin": FRIEND},
    {"Origin": "https://evil.example", "Authorization": "Bearer token"},
    {"Sec-Fetch-Site": "cross-site", "Authorization": "Bearer token"},
]


@pytest.mark.parametrize("headers", REFUSED)
async def test_another_site_changes_nothing(ada: User, headers: dict[str, str]) -> None:
    """T9: whatever it is that would be changed, and whoever is signed in."""
    for method, path in (
        ("POST", "/conversations"),
        ("POST", "/conversations/c/messages"),
        ("POST", "/interrupts/i/answer"),
        ("POST", "/interrupts/i/skip"),
        ("POST", "/agui"),
        ("DELETE", "/conversations/c"),
    ):
        response = await ada.request(method, path, headers=headers, json={"text": "x"})
        assert response.status_code == 403
        assert response.json()["type"].endswith("/cross-origin")
        assert response.json()["detail"] == "This request came from another site."


@pytest.mark.parametrize("headers", REFUSED)
async def test_reading_is_the_browser_s_to_keep(ada: User, headers: dict[str, str]) -> None:
    """A GET changes nothing, and without CORS headers the other page cannot read it."""
    response = await ada.get("/conversations", headers=headers)
    assert response.status_code == 200
    assert not [name for name in response.headers if name.startswith("access-control")]


@pytest.mark.parametrize("headers", ADMITTED)
async def test_our_own_pages_and_other_programs_are_admitted(ada: User, headers: dict[str, str]) -> None:
    """The same origin, those on the list, exactly, and what no browser sends by itself."""
    assert (await ada.post("/conversations", headers=headers, json={})).status_code == 201


async def test_an_older_browser_says_only_its_origin(ada: User) -> None:
    """Without Sec-Fetch-Site, the origin must be the host that was asked; the scheme is the proxy's."""
    for origin in (own(ada), own(ada).replace("http:", "https:"), own(ada).upper()):
        assert (await ada.post("/conversations", headers={"Origin": origin}, json={})).status_code == 201
    other_port = own(ada)[:-1] + ("1" if own(ada)[-1] == "0" else "0")
    assert (await ada.post("/conversations", headers={"Origin": other_port}, json={})).status_code == 403


async def test_no_route_that_writes_is_open_to_other_sites() -> None:
    """T9: every route but those that read, also for the bodies that any page can have a form send: files are taken as
    multipart. A signed call needs no session, so there is none that a page could abuse."""
    engine = engine_of()
    routes = [route for route in create_router(engine, user=current_user).routes if isinstance(route, APIRoute)]
    writing = [(way, one.path) for one in routes for way in one.methods or () if way != "GET"]
    assert len(writing) > 10
    bodies: list[dict[str, Any]] = [
        {"json": {"text": "x", "value": "x"}},
        {"content": b'{"text": "x"}', "headers": {"Content-Type": "text/plain"}},
        {"data": {"text": "x"}},
        {"files": {"file": ("a.txt", b"x")}},
    ]
    async with serve(engine) as served:
        ada = await served.user("ada")
        for method, path in writing:
            if path == "/visits/{token}":
                continue
            for name in ("{id}", "{token}", "{name}"):
                path = path.replace(name, "x")  # noqa: PLW2901
            for body in bodies:
                headers = {**body.get("headers", {}), "Origin": "null", "Sec-Fetch-Site": "cross-site"}
                response = await ada.request(method, path, **{**body, "headers": headers})
                assert (response.status_code, response.json()["type"].rpartition("/")[2]) == (403, "cross-origin"), path
        assert (await ada.get("/conversations")).json()["conversations"] == []
