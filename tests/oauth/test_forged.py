"""A provider that lies, breaks, or bounces the browser to another one: nothing is connected, the question is open."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator, Callable
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import httpx
import pytest
from starlette.responses import JSONResponse, PlainTextResponse, Response

from tests.oauth.forger import Claims, Forger, forging
from tests.oauth.panva import Panva
from tests.oauth.stage import CLIENT, Browser, Desk, connecting, desk
from yourcall import tool
from yourcall.connect import Account, Connect, OAuthProvider
from yourcall.context import Context
from yourcall.errors import ProgrammingError, Rejected

pytestmark = pytest.mark.anyio


@pytest.fixture
async def forger() -> AsyncIterator[Forger]:
    async with forging() as server:
        yield server


async def sent_back(running: Desk, ada: Browser, forger: Forger, **more: str) -> tuple[str, httpx.Response]:
    """Ada leaves for the forger, and it sends her back with a code."""
    interrupt = (await ada.client.open("c"))[0]["id"]
    left = dict(parse_qsl(urlsplit(await ada.leave(interrupt)).query))
    forger.nonce = left.get("nonce", "")
    back = urlencode({"code": "a-code", "state": left["state"], "iss": forger.issuer, **more})
    return interrupt, await ada.come(f"{left['redirect_uri']}?{back}")


def unsigned(claims: Claims) -> str:
    parts = [{"alg": "none"}, claims]
    return ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts) + "."


FORGERIES: dict[str, Callable[[Forger, Claims], Any]] = {
    "none at all": lambda f, c: None,
    "no text": lambda f, c: {"sub": "ada"},
    "unsigned": lambda f, c: unsigned(c),
    "under the client's secret": lambda f, c: f.mac(c),
    "under another key": lambda f, c: f.signed(c, key=f.other),
    "of another issuer": lambda f, c: f.signed(c | {"iss": "https://evil.example"}),
    "for another client": lambda f, c: f.signed(c | {"aud": "other"}),
    "for several, issued to another": lambda f, c: f.signed(c | {"aud": ["desk", "other"], "azp": "other"}),
    "for several, issued to nobody": lambda f, c: f.signed(c | {"aud": ["desk", "other"]}),
    "over": lambda f, c: f.signed(c | {"exp": c["iat"] - 120}),
    "without an end": lambda f, c: f.signed({k: v for k, v in c.items() if k != "exp"}),
    "from the future": lambda f, c: f.signed(c | {"iat": c["iat"] + 900, "exp": c["iat"] + 1800}),
    "of another sign-in": lambda f, c: f.signed(c | {"nonce": "another"}),
    "of many sign-ins": lambda f, c: f.signed(c | {"nonce": [c["nonce"]]}),
    "of no sign-in": lambda f, c: f.signed({k: v for k, v in c.items() if k != "nonce"}),
    "of nobody": lambda f, c: f.signed({k: v for k, v in c.items() if k != "sub"}),
}


@pytest.mark.parametrize("forgery", FORGERIES.values(), ids=FORGERIES)
async def test_a_forged_id_token_connects_nobody(
    server: Panva, forger: Forger, forgery: Callable[[Forger, Claims], Any]
) -> None:
    """OpenID Connect Core 1.0, section 3.1.3.7. The right one, from the same server, does."""
    async with desk(server, connecting(forger.provider())) as running:
        ada = await running.browser("ada")
        await running.asked(ada.client)
        forger.token = lambda claims: forgery(forger, claims)
        interrupt, back = await sent_back(running, ada, forger)
        assert back.headers["location"] == f"/chat/connect/{interrupt}?again"
        assert await running.is_open(ada.client)
        assert not await running.tokens("forged")
        forger.token = forger.signed
        _, back = await sent_back(running, ada, forger)
        assert back.headers["location"] == f"/chat/connect/{interrupt}"
        assert await running.result(ada.client) == "Connected as ada for openid."


ANSWERS: dict[str, Response] = {
    "an error with words": JSONResponse({"error": "invalid_grant", "error_description": "canary-7f3a"}, 400),
    "a page": PlainTextResponse("<h1>canary-7f3a</h1>", 200),
    "another kind of token": JSONResponse({"access_token": "t", "token_type": "mac"}),
    "no token": JSONResponse({"token_type": "Bearer"}),
    "a list": JSONResponse(["access_token"]),
    "odd times": JSONResponse({"access_token": "t", "token_type": "Bearer", "expires_in": "soon"}),
    "more than a mebibyte": PlainTextResponse("x" * (1 << 20) + "x"),
    "something packed": PlainTextResponse(b"\x1f\x8b", headers={"Content-Encoding": "gzip"}),
    "a way to elsewhere": PlainTextResponse("", 307, headers={"Location": "https://evil.example/token"}),
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
async def test_a_token_endpoint_may_say_anything(
    server: Panva, forger: Forger, answer: Response, caplog: pytest.LogCaptureFixture
) -> None:
    """What it says goes nowhere: neither to the page, nor to the model, nor into a log; nor does the code."""
    caplog.set_level("DEBUG")
    forger.answer = answer
    async with desk(server, connecting(forger.provider())) as running:
        ada = await running.browser("ada")
        await running.asked(ada.client)
        interrupt, back = await sent_back(running, ada, forger)
        assert back.headers["location"] == f"/chat/connect/{interrupt}?again"
        page = await ada.client.get(f"/connect/{interrupt}?again")
        said = back.text + page.text + str(await ada.client.snapshot("c"))
        ours = [one for one in caplog.records if one.name.partition(".")[0] not in ("httpx", "httpcore")]  # Ada's own
        said += " ".join(one.getMessage() + str(one.exc_info) for one in ours)
        assert any(one.name == "httpx2" for one in ours)
        assert "canary" not in said
        assert "a-code" not in said
        assert len(forger.requests) == 1
        assert await running.is_open(ada.client)


@pytest.mark.parametrize(
    "lie",
    [
        {"issuer": "https://evil.example"}, {"token_endpoint": "http://evil.example/token"}, {"jwks_uri": None},
        {"authorization_endpoint": "javascript:alert(1)"}, {"authorization_endpoint": "https://a@evil.example/"},
    ],
)  # fmt: skip
async def test_metadata_that_lies_is_not_followed(server: Panva, forger: Forger, lie: Claims) -> None:
    """T3, T5: it must be the issuer that was configured, with addresses at which nobody listens in."""
    forger.metadata = lie
    async with desk(server, connecting(forger.provider())) as running:
        ada = await running.browser("ada")
        interrupt = await running.asked(ada.client)
        await ada.page(interrupt)
        assert (await ada.press(interrupt)).status_code == 502
        assert await running.is_open(ada.client)
        forger.metadata = {}
        forger.token = forger.signed
        await sent_back(running, ada, forger)
        assert await running.tokens("forged")


async def test_an_evil_server_that_bounces_to_the_honest_one_gets_no_code(server: Panva, forger: Forger) -> None:
    """T3, mix-up: the victim thinks to sign in at the evil server, which sends the browser to the honest one with the
    state that it was given. The honest code comes back by the honest path, where this state is unknown."""
    async with desk(server, connecting(forger.provider("evil"))) as running:
        honest = dict(CLIENT, redirect_uri=f"{running.served.url}/chat/callback/sleepy")
        forger.bounce = f"{server.issuer}/auth?" + urlencode(
            {
                "client_id": "desk", "response_type": "code", "scope": "openid", "code_challenge_method": "S256",
                "redirect_uri": honest["redirect_uri"], "code_challenge": "x" * 43,
            }
        )  # fmt: skip
        ada = await running.browser("ada")
        interrupt = await running.asked(ada.client)
        url = await server.sign_in(await ada.leave(interrupt), running.served.url)
        for back in (url, url.replace("/callback/sleepy", "/callback/evil")):  # as it is, and if paths were confused
            response = await ada.come(back)
            assert response.status_code == 403
        assert forger.requests == []
        assert server.requests() == 0
        assert await running.is_open(ada.client)


async def test_a_service_without_discovery(server: Panva, forger: Forger) -> None:
    """As GitHub is one: its endpoints are given, and the app finds out by the token whose account it is."""

    async def whose(token: str) -> Account:
        assert token == "gho_1"
        return Account("583231", "octocat", ("repo",))

    def known(account: Account) -> None:
        if not account.scopes:
            raise Rejected("Allow access to your repositories.")

    hub = OAuthProvider(
        "hub",
        title="GitHub",
        client_id="desk",
        client_secret="shared",
        scopes=["repo"],
        authorization_endpoint=f"{forger.issuer}/login/oauth/authorize?allow_signup=false",
        token_endpoint=f"{forger.issuer}/token",
        account=whose,
    )
    forger.answer = JSONResponse({"access_token": "gho_1", "token_type": "bearer", "scope": "repo,gist"})

    @tool
    def connect(ctx: Context) -> str:
        """Connect it."""
        return ctx.ask(Connect(hub, check=known)).label

    async with desk(server, connect) as running:
        ada = await running.browser("ada")
        await running.asked(ada.client)
        interrupt, back = await sent_back(running, ada, forger)
        assert back.headers["location"] == f"/chat/connect/{interrupt}"
        assert await running.result(ada.client) == "octocat"
        assert "code_verifier" in forger.requests[0]


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("Not a path", {"issuer": "https://a.example"}, "part of a URL"),
        ("a", {}, "give the issuer"),
        ("a", {"authorization_endpoint": "https://a.example", "token_endpoint": "https://a.example"}, "account"),
        ("a", {"issuer": "http://a.example"}, "https://"),
        ("a", {"issuer": "javascript:alert(1)"}, "https://"),
        ("a", {"issuer": "https://a@b.example"}, "https://"),
        ("a", {"issuer": "https://a.example", "scopes": "email"}, "list"),
        ("a", {"issuer": "https://a.example", "parameters": {"state": "mine"}}, "state"),
    ],
)
def test_a_provider_that_could_never_work_is_refused(name: str, options: dict[str, Any], words: str) -> None:
    """Where it is made, in words that say what to change; its secret is not shown."""
    with pytest.raises(ProgrammingError, match=words):
        OAuthProvider(name, client_id="desk", client_secret="canary-7f3a", **options)
    good = OAuthProvider("a", client_id="desk", client_secret="canary-7f3a", issuer="http://[::1]:9/")
    assert "canary" not in repr(good)
