"""The stand-alone app: a page, its files, its health, and visitors that nobody signed in."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from fastapi import HTTPException
from httpx import AsyncClient

from tests.web.agents import engine_of
from tests.web.serving import Served, User, serve_app
from yourcall.web import create_app
from yourcall.web.app import is_loopback
from yourcall.web.assets import CARDS

pytestmark = pytest.mark.anyio

SECRET = b"a secret of the tests"


@pytest.fixture
async def served() -> AsyncIterator[Served]:
    engine = engine_of([[("pick", {})], "Thanks."])
    app = create_app(engine, title="Coach", notice="A scripted stand-in answers.", suggestions=["Hello"], secret=SECRET)
    async with serve_app(app, engine) as served:
        yield served


async def browser(served: Served) -> User:
    """A browser that has opened the page."""
    client = await served.client(served.url)
    assert (await client.get("/")).status_code == 200
    return client


# --------------------------------------------------------------------------- the page


async def test_the_page_and_its_files_are_served(served: Served) -> None:
    """Each file of the front end, with the type that a browser insists on for modules and styles."""
    ada = await browser(served)
    page = await ada.get("/")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    files = [path for path in CARDS.rglob("*") if path.suffix in (".js", ".css")]
    assert files
    for path in files:
        response = await ada.get(f"/cards/{path.relative_to(CARDS).as_posix()}")
        assert response.content == path.read_bytes()
        kind = {".js": "text/javascript", ".css": "text/css"}[path.suffix]
        assert response.headers["content-type"] == f"{kind}; charset=utf-8"
        assert "set-cookie" not in response.headers


async def test_a_visitor_by_another_name_goes_where_a_sign_in_leads_back_to(served: Served) -> None:
    """`localhost` and `127.0.0.1` have a cookie each: the page is only at the address that the engine says it has."""
    served.engine.public_url = f"http://localhost:{served.url.rpartition(':')[2].strip('/')}"
    client = await served.client(served.url)
    for path in ("/", "/inbox"):
        response = await client.get(path)
        assert (response.status_code, response.headers["location"]) == (307, f"{served.engine.public_url}{path}")
        headers = {"Host": served.engine.public_url.removeprefix("http://")}
        assert (await client.get(path, headers=headers)).status_code == 200


async def test_a_file_is_sent_once(served: Served) -> None:
    """A browser asks each time and is told that it has it; no release mixes with another's modules."""
    ada = await browser(served)
    first = await ada.get("/cards/client.js")
    assert first.headers["cache-control"] == "no-cache"
    again = await ada.get("/cards/client.js", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    other = await ada.get("/cards/client.js", headers={"If-None-Match": '"another"'})
    assert other.status_code == 200


@pytest.mark.parametrize(
    "name", ["nothing.js", "../web/app.py", "%2e%2e/web/app.py", "..%2f..%2fpyproject.toml", "/etc/passwd", ""]
)
async def test_nothing_else_is_a_file(served: Served, name: str) -> None:
    """A name is looked up among the files that there are; no path is ever made of it."""
    response = await (await browser(served)).get(f"/cards/{name}")
    assert response.status_code == 404
    assert response.json()["type"].endswith("/not-found")


async def test_every_response_is_guarded(served: Served) -> None:
    """T9: no frames, no foreign scripts, no sniffing, no address told to other sites."""
    ada = await browser(served)
    for path in ("/", "/conversations", "/cards/client.js", "/healthz", "/nowhere"):
        headers = (await ada.get(path)).headers
        assert "default-src 'self'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"


async def test_only_the_front_end_is_kept_by_caches(served: Served) -> None:
    """T17: what belongs to a user is in no cache."""
    ada = await browser(served)
    conversation = await ada.create()
    for path in ("/conversations", f"/conversations/{conversation}", f"/conversations/{conversation}/events", "/about"):
        assert "no-store" in (await ada.get(path)).headers["cache-control"]


async def test_the_page_says_whom_one_talks_to(served: Served) -> None:
    """Before there is a conversation, and in each of them."""
    ada = await browser(served)
    agent = {"name": "Coach", "standIn": "A scripted stand-in answers.", "suggestions": ["Hello"]}
    about = (await ada.get("/about")).json()
    assert about["agent"] == agent
    assert about["files"]["maxBytes"] == 10 << 20
    assert about["files"]["most"] == 10
    assert ".pdf" in about["files"]["accept"]
    assert (await ada.snapshot(await ada.create()))["agent"] == agent


async def test_a_route_that_is_none_is_a_problem_too(served: Served) -> None:
    """The app is ours, so all of its refusals look alike."""
    ada = await browser(served)
    missing, wrong = await ada.get("/nowhere"), await ada.put("/conversations")
    assert (missing.status_code, missing.json()["type"]) == (404, "urn:yourcall:problem/not-found")
    assert (wrong.status_code, wrong.json()["type"]) == (405, "urn:yourcall:problem/method-not-allowed")


@pytest.mark.parametrize(
    ("status", "slug", "headers"),
    [
        (403, "forbidden", {}),
        (429, "too-many-requests", {"Retry-After": "30"}),
        (407, "proxy-authentication-required", {"Proxy-Authenticate": "Basic"}),
        (418, "im-a-teapot", {}),
        (499, "refused", {}),
    ],
)
async def test_what_the_app_refuses_keeps_its_name_and_its_headers(
    status: int, slug: str, headers: dict[str, str]
) -> None:
    """A dependency of the app's own may refuse for its own reasons: none of them is "not found"."""

    async def nobody() -> str:
        raise HTTPException(status, "Not now.", headers)

    engine = engine_of()
    async with serve_app(create_app(engine, user=nobody), engine) as served:
        response = await (await served.client(served.url)).get("/conversations")
    assert (response.status_code, response.headers["content-type"]) == (status, "application/problem+json")
    body = response.json()
    assert (body["type"], body["detail"]) == (f"urn:yourcall:problem/{slug}", "Not now.")
    assert {name: response.headers[name] for name in headers} == headers


async def test_the_endpoints_are_described(served: Served) -> None:
    """OpenAPI names every route, what it takes and how it refuses."""
    described = (await (await browser(served)).get("/openapi.json")).json()["paths"]
    assert {f"{method.upper()} {path}" for path, methods in described.items() for method in methods} == {
        "POST /conversations",
        "GET /conversations",
        "GET /conversations/{id}",
        "DELETE /conversations/{id}",
        "POST /conversations/{id}/messages",
        "POST /conversations/{id}/resume",
        "POST /conversations/{id}/cancel",
        "GET /conversations/{id}/events",
        "GET /interrupts",
        "GET /interrupts/{id}",
        "POST /interrupts/{id}/answer",
        "POST /interrupts/{id}/skip",
        "POST /interrupts/{id}/secret",
        "GET /credentials",
        "DELETE /credentials/{name}",
        "POST /interrupts/{id}/files",
        "POST /visits/{token}",
        "POST /files",
        "GET /conversations/{id}/files/{file}",
        "POST /agui",
        "GET /about",
    }
    message = described["/conversations/{id}/messages"]["post"]
    assert "text" in message["requestBody"]["content"]["application/json"]["schema"]["properties"]
    assert "application/problem+json" in message["responses"]["4XX"]["content"]
    assert message["description"].startswith("Write a message")


# --------------------------------------------------------------------------- health


async def test_a_draining_server_is_alive_and_not_ready(served: Served) -> None:
    """A balancer sends nothing more to it; nobody restarts it for that."""
    ada = await browser(served)
    assert (await ada.get("/readyz")).status_code == 200
    served.engine.draining = True
    assert (await ada.get("/healthz")).status_code == 200
    response = await ada.get("/readyz")
    assert (response.status_code, response.json()) == (503, {"status": "draining"})
    assert "retry-after" in response.headers
    served.engine.draining = False


# --------------------------------------------------------------------------- visitors


async def test_each_browser_is_somebody(served: Served) -> None:
    """Known again by its cookie, and a stranger to every other browser."""
    ada, bob = await browser(served), await browser(served)
    conversation = await ada.create()
    await ada.snapshot(conversation)
    assert (await bob.get(f"/conversations/{conversation}")).status_code == 404
    again = await served.client(served.url)
    again.cookies.update(ada.cookies)
    assert (await again.snapshot(conversation))["id"] == conversation


async def test_the_cookie_is_ours_alone(served: Served) -> None:
    """Scripts cannot read it, other sites do not bring it, and it is set once."""
    first = await (await served.client(served.url)).get("/")
    cookie = first.headers["set-cookie"]
    assert re.match(r"yourcall=[0-9a-f]{32}\.[\w-]+; ", cookie)
    assert {"HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=31536000"} <= set(cookie.split("; "))
    assert "Secure" not in cookie
    ada = await browser(served)
    assert "set-cookie" not in (await ada.get("/conversations")).headers


async def test_on_https_the_cookie_is_bound_to_the_host(served: Served) -> None:
    """`__Host-`: neither a sibling domain nor plain http can set it."""
    nobody = await served.client(served.url, **{"X-Forwarded-Proto": "https"})
    cookie = (await nobody.get("/")).headers["set-cookie"]
    assert cookie.startswith("__Host-yourcall=")
    assert cookie.endswith("; Secure")


@pytest.mark.parametrize("forged", ["", "x", "0" * 32, "0" * 32 + ".AAAA", "é", "."])
async def test_a_forged_cookie_is_nobody_s(served: Served, forged: str) -> None:
    """A visitor that did not get its cookie from us is a new one."""
    async with AsyncClient(base_url=served.url) as client:
        response = await client.get("/", headers=[(b"Cookie", f"yourcall={forged}".encode())])
        assert response.status_code == 200
        visitor = re.match(r"yourcall=([0-9a-f]{32})\.", response.headers["set-cookie"])
        assert visitor
        assert visitor[1] != "0" * 32


async def test_another_key_knows_no_cookie_of_ours(served: Served) -> None:
    """The signature is what makes it somebody; the key comes from whoever serves the app."""
    ada, engine = await browser(served), engine_of()
    async with serve_app(create_app(engine, secret=b"another"), engine) as elsewhere:
        stranger = await elsewhere.client(elsewhere.url)
        stranger.cookies.update(ada.cookies)
        assert "set-cookie" in (await stranger.get("/conversations")).headers


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "localhost.evil.example", "10.0.0.1", ""]
)
async def test_a_rebound_name_is_refused(served: Served, host: str) -> None:
    """A page whose name was made to point at this machine still sends that name: nothing is served to it."""
    ada = await served.client(served.url)
    for path in ("/", "/conversations", "/cards/client.js"):
        response = await ada.get(path, headers={"Host": host})
        assert response.status_code == 421
        assert "set-cookie" not in response.headers


def test_loopback_has_several_names() -> None:
    """With a port and without, in both families."""
    good = "localhost localhost:8000 LOCALHOST 127.0.0.1 127.0.0.1:80 127.9.9.9 [::1] [::1]:8000".split()
    assert [host for host in good if not is_loopback(host)] == []
    bad = ["", "[::2]", "[", "0.0.0.0", "192.168.0.1", "localhost.", "a.localhost", "127.0.0.1@evil", "[::1", "::1"]
    assert [host for host in bad if is_loopback(host)] == []


async def test_an_app_with_users_of_its_own_answers_to_any_name() -> None:
    """With `user=`, it is served behind a name, and no visitor's cookie is set."""

    async def root() -> str:
        return "root"

    engine = engine_of()
    async with serve_app(create_app(engine, user=root), engine) as served:
        client = await served.client(served.url, Host="coach.example")
        response = await client.get("/conversations")
        assert response.status_code == 200
        assert "set-cookie" not in response.headers


def test_the_front_end_is_in_the_package() -> None:
    """The folder that is served."""
    assert (CARDS / "index.html").is_file()
    assert Path(__file__).parents[2] in CARDS.parents
