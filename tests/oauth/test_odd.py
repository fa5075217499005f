"""Providers and apps that are odd: tokens that are over at once, an app that fails with the token in its words."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from starlette.responses import JSONResponse, Response

from tests.oauth.forger import Forger, forging
from tests.oauth.panva import Panva
from tests.oauth.stage import connecting, desk
from tests.oauth.test_forged import sent_back
from yourcall import Rejected
from yourcall.connect import Account, Identify, OAuthProvider
from yourcall.errors import ProviderFailed
from yourcall.oauth.id_tokens import claims_of
from yourcall.oauth.metadata import Discovery

pytestmark = pytest.mark.anyio

CANARY = "gho-canary-7f3a"


@pytest.fixture
async def forger() -> AsyncIterator[Forger]:
    async with forging() as server:
        yield server


def hub_of(forger: Forger, account: Identify) -> OAuthProvider:
    """A service without discovery, of which the app finds out whose account it is."""
    return OAuthProvider(
        "hub",
        client_id="desk",
        authorization_endpoint=f"{forger.issuer}/authorize",
        token_endpoint=f"{forger.issuer}/token",
        account=account,
    )


async def fails_with_it(token: str) -> Account:
    """As an HTTP client does, whose error names the URL that a token is a part of."""
    raise ValueError(f"404 for https://api.example/me?access_token={token}")


async def returns_no_text(token: str) -> Account:
    """As with a service whose ids are numbers."""
    return Account(583231, "ada")  # type: ignore[arg-type]  # which is what is tried


@pytest.mark.parametrize("account", [fails_with_it, returns_no_text])
async def test_an_app_that_fails_with_the_token_leaves_it_nowhere(
    server: Panva, forger: Forger, caplog: pytest.LogCaptureFixture, account: Identify
) -> None:
    """T7: what `account=` raises is in the log without the token; the question is open, and the page says so."""
    hub = hub_of(forger, account)
    forger.answer = JSONResponse({"access_token": CANARY, "refresh_token": "r-canary", "token_type": "bearer"})
    async with desk(server, connecting(hub)) as running:
        ada = await running.browser("ada")
        await running.asked(ada.client)
        interrupt, back = await sent_back(running, ada, forger)
        assert back.headers.get("location") == f"/chat/connect/{interrupt}?again", back.text
        assert await running.is_open(ada.client)
        assert not await running.tokens("hub")
    assert "whose account at hub" in caplog.text  # the app's author finds out
    assert "canary" not in caplog.text


async def knows_her(token: str) -> Account:
    return Account("1", "ada")


async def turns_away(token: str) -> Account:
    raise Rejected(f"Not an account of the team's: {token}")


async def test_an_app_may_turn_an_account_away(server: Panva, forger: Forger) -> None:
    """In its own words on the page, without the token; the question is open, and nothing is kept."""
    forger.answer = JSONResponse({"access_token": CANARY, "token_type": "bearer"})
    async with desk(server, connecting(hub_of(forger, turns_away))) as running:
        ada = await running.browser("ada")
        await running.asked(ada.client)
        _, back = await sent_back(running, ada, forger)
        assert "Not an account of the team" in back.text
        assert "canary" not in back.text
        assert await running.is_open(ada.client)
        assert not await running.tokens("hub")


async def test_two_clients_of_one_issuer_are_two(forger: Forger) -> None:
    """What the issuer says of itself is read once; how a client makes itself known is each one's own."""
    discovery = Discovery()
    confidential = forger.provider("one")
    public = OAuthProvider("two", issuer=forger.issuer, client_id="other", revocation_endpoint="https://a.example/r")
    for _ in range(2):
        assert (await discovery.metadata(confidential)).auth_method == "client_secret_basic"
        assert (await discovery.metadata(public)).auth_method == "none"
        assert (await discovery.metadata(public)).revocation_endpoint == "https://a.example/r"


async def test_keys_that_a_provider_took_back_are_not_believed_for_ever(
    forger: Forger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was read is kept for an hour, keys too: a token under a key that is not published any more is refused."""
    discovery = Discovery()
    metadata = await discovery.metadata(forger.provider())
    claims = {"iss": forger.issuer, "aud": "desk", "sub": "ada", "nonce": "n", "iat": 1, "exp": 1 << 40}

    async def claimed() -> str:
        found = await claims_of(token, client_id="desk", nonce="n", metadata=metadata, discovery=discovery)
        return str(found["sub"])

    token = forger.signed(claims)
    assert await claimed() == "ada"
    forger.key = forger.other
    assert await claimed() == "ada"
    monkeypatch.setattr("yourcall.oauth.metadata.HOUR", 0.0)  # and it is over
    with pytest.raises(ProviderFailed):
        await claimed()


@pytest.mark.parametrize("lasts", ["0", "-1"])
async def test_a_token_that_is_over_at_once_is_refreshed_once(server: Panva, forger: Forger, lasts: str) -> None:
    """A new one is as good as they get: it is handed out, and the provider is not asked in a loop."""
    hub = hub_of(forger, knows_her)
    tokens = f'{{"access_token": "t", "refresh_token": "r", "token_type": "bearer", "expires_in": {lasts}}}'
    forger.answer = Response(tokens, media_type="application/json")
    async with desk(server, connecting(hub)) as running:
        ada = await running.browser("ada")
        await running.asked(ada.client)
        await sent_back(running, ada, forger)
        assert len(forger.requests) == 1
        assert await running.engine.accounts.token("ada", hub) == "t"
        assert len(forger.requests) == 2
