"""The way to a provider and back: the honest one, and what others try, each before the honest one in the same test.

The provider is an authorization server of somebody else's making, which checks PKCE, codes and redirect URIs, and
whose token requests are counted.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest

from tests.oauth.panva import Panva
from tests.oauth.stage import Browser, Desk, altered, connecting, desk, leads_to, sleepy
from tests.support import Clock
from yourcall import Engine, ProgrammingError
from yourcall.store.sqlite import SQLiteStore

pytestmark = pytest.mark.anyio


@dataclass
class Scene:
    """Ada was asked to connect an account; Bob is somebody else who is signed in."""

    desk: Desk
    ada: Browser
    bob: Browser
    interrupt: str
    clock: Clock

    async def honest(self) -> None:
        """Ada goes all the way: one token request, and the tool knows her account."""
        back = await self.ada.come(await self.desk.come_back(self.ada, self.interrupt))
        assert (back.status_code, back.headers["location"]) == (303, f"/chat/connect/{self.interrupt}")
        assert await self.desk.result(self.ada.client) == (
            "Connected as ada@example.org for openid, email, offline_access, sleep."
        )
        assert self.desk.server.requests() == self.desk.server.granted("authorization_code") == 1
        assert await self.desk.tokens()

    async def untouched(self) -> None:
        """Nothing came of it: no token request, no token, and the question is open."""
        assert self.desk.server.requests() == 0
        assert await self.desk.is_open(self.ada.client)
        assert not await self.desk.tokens("sleepy", "ada")
        assert not await self.desk.tokens("sleepy", "bob")


@pytest.fixture
async def scene(server: Panva) -> AsyncIterator[Scene]:
    clock = Clock()
    async with desk(server, store=SQLiteStore(":memory:", clock=clock)) as running:
        ada, bob = await running.browser("ada"), await running.browser("bob")
        yield Scene(running, ada, bob, await running.asked(ada.client), clock)


def refused(response: httpx.Response) -> None:
    """As T1 to T3 have it, and without a word of what was sent."""
    assert response.status_code == 403, response.text
    problem = response.json()
    assert problem["type"].endswith("/handoff-invalid")
    assert problem["detail"] == "This sign-in link belongs to another session."


# --------------------------------------------------------------------------- the honest way


async def test_an_account_is_connected(scene: Scene) -> None:
    """From the card's link to the tool's account, by one redemption of one code."""
    await scene.honest()


async def test_our_page_says_who_asks_for_what_and_where(scene: Scene) -> None:
    """T1: before anybody leaves; and it holds neither a state nor anything of the user's."""
    page = await scene.ada.page(scene.interrupt)
    host = urlsplit(scene.desk.server.issuer).netloc
    for words in ("Connect Sleepy", "Coach would like to use your Sleepy account.", host, "offline_access", "sleep"):
        assert words in page.text
    assert "state" not in page.text
    assert page.headers["cache-control"] == "no-store"
    assert page.headers["referrer-policy"] == "no-referrer"
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    await scene.honest()


async def test_what_leaves_is_as_it_must_be(scene: Scene) -> None:
    """T4: a code, PKCE by S256, a nonce, a state of 256 bits, and our own redirect URI; never the same twice."""
    first, second = [dict(parse_qsl(urlsplit(await scene.ada.leave(scene.interrupt)).query)) for _ in "12"]
    assert first["response_type"] == "code"
    assert first["code_challenge_method"] == "S256"
    assert first["redirect_uri"] == f"{scene.desk.served.url}/chat/callback/sleepy"
    for name in ("state", "nonce", "code_challenge"):
        assert len(first[name]) == 43
        assert first[name] != second[name]
    await scene.honest()


async def test_the_store_has_neither_state_nor_verifier_nor_browser(scene: Scene) -> None:
    """T2, T4: whoever reads the database can finish nobody's sign-in."""
    url = await scene.ada.leave(scene.interrupt)
    sent = dict(parse_qsl(urlsplit(url).query))
    (row,) = await scene.desk.engine.store.file.read("SELECT * FROM handoff", ())  # type: ignore[attr-defined]  # SQLite
    stored = " ".join(map(str, row))
    cookie = scene.ada.client.cookies["yourcall-browser"]
    for secret in (sent["state"], sent["nonce"], sent["code_challenge"], cookie):
        assert secret not in stored
    await scene.honest()


async def test_the_last_page_can_be_closed_and_holds_nothing(scene: Scene) -> None:
    """L6: it is finite, says so, and its address has the question's id alone; also when it is loaded again."""
    url = await scene.desk.come_back(scene.ada, scene.interrupt)
    for _ in "12":
        back = await scene.ada.come(url)
        assert back.status_code == 303
        last = await scene.ada.client.get(f"/connect/{back.headers['location'].rpartition('/')[2]}")
        assert last.status_code == 200
        assert "Connected as ada@example.org." in last.text
        assert "You may close this page." in last.text
    assert scene.desk.server.requests() == 1


async def test_no_is_declined(scene: Scene) -> None:
    """`access_denied` with a valid state closes the question, in the tool's own words and not in the provider's."""
    back = await scene.ada.come(await scene.desk.come_back(scene.ada, scene.interrupt, refuse=True))
    assert back.status_code == 303
    assert "The user declined." in await scene.desk.result(scene.ada.client)
    assert "Nothing was connected." in (await scene.ada.page(scene.interrupt)).text
    assert scene.desk.server.requests() == 0


async def test_another_error_of_the_provider_leaves_the_question_open(scene: Scene) -> None:
    """The page says that it did not work, and nothing that the provider wrote."""
    sent = dict(parse_qsl(urlsplit(await scene.ada.leave(scene.interrupt)).query))
    url = altered(
        f"{sent['redirect_uri']}?", state=sent["state"], error="server_error", error_description="<b>canary-7f3a</b>",
        iss=scene.desk.server.issuer,
    )  # fmt: skip
    back = await scene.ada.come(url)
    assert back.headers["location"] == f"/chat/connect/{scene.interrupt}?again"
    page = await scene.ada.client.get(f"/connect/{scene.interrupt}?again")
    assert "That did not work" in page.text
    assert "canary" not in page.text + back.text
    await scene.untouched()
    await scene.honest()


async def test_two_tabs_at_once(scene: Scene) -> None:
    """Neither start spoils the other: whichever comes back first connects, and the other is told that it is done."""
    first, second = [await scene.ada.leave(scene.interrupt) for _ in "12"]
    urls = [await scene.desk.server.sign_in(url, scene.desk.served.url) for url in (second, first)]
    answers = [await scene.ada.come(url) for url in urls]
    assert [answer.headers["location"] for answer in answers] == [f"/chat/connect/{scene.interrupt}"] * 2
    assert scene.desk.server.requests() == 1
    assert "Connected as ada" in await scene.desk.result(scene.ada.client)


async def test_a_failing_provider_leaves_the_question_open(scene: Scene) -> None:
    """It is begun again by the same link, without the model."""
    scene.desk.server.set(silent=True)
    back = await scene.ada.come(await scene.desk.come_back(scene.ada, scene.interrupt))
    assert back.headers["location"].endswith("?again")
    assert await scene.desk.is_open(scene.ada.client)
    assert not await scene.desk.tokens()
    scene.desk.server.begin()
    await scene.honest()


# --------------------------------------------------------------------------- what others try


Attack = Callable[[Scene], Awaitable[None]]


async def link_opened_by_another(scene: Scene) -> None:
    """T1: Bob gets the link, and can neither read the page nor start."""
    refused(await scene.bob.page(scene.interrupt))
    refused(await scene.bob.press(scene.interrupt))


async def link_opened_by_nobody(scene: Scene) -> None:
    """Without a session of the app's there is no page."""
    nobody = await scene.desk.browser(None)
    assert (await nobody.page(scene.interrupt)).status_code == 401
    assert (await nobody.press(scene.interrupt)).status_code == 401


async def started_from_another_site(scene: Scene) -> None:
    """T9: a page of another site makes Ada's browser post."""
    await scene.ada.page(scene.interrupt)
    for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}, {"Origin": "null"}):
        response = await scene.ada.client.post(f"/connect/{scene.interrupt}", headers=headers)
        assert response.json()["type"].endswith("/cross-origin")


async def state_of_another_user(scene: Scene) -> None:
    """T1: Ada's way back is walked by Bob, who has a browser secret of his own, and by Bob in Ada's browser."""
    url = await scene.desk.come_back(scene.ada, scene.interrupt)
    theirs = await scene.desk.browser("bob")
    refused(await theirs.come(url))
    theirs.client.cookies = scene.ada.client.cookies
    refused(await theirs.come(url))


async def state_of_another_browser(scene: Scene) -> None:
    """T2: Ada herself, in another browser of hers, with a secret of its own and without one."""
    url = await scene.desk.come_back(scene.ada, scene.interrupt)
    elsewhere = await scene.desk.browser("ada")
    refused(await elsewhere.come(url))
    await elsewhere.page(scene.interrupt)
    refused(await elsewhere.come(url))


async def state_of_another_conversation(scene: Scene) -> None:
    """A state answers the question that it was made for, and no other of the same user's."""
    other = await scene.desk.asked(scene.ada.client, "other")
    url = await scene.desk.come_back(scene.ada, other)
    back = await scene.ada.come(url)
    assert back.headers["location"] == f"/chat/connect/{other}"
    assert await scene.desk.is_open(scene.ada.client)
    assert not await scene.desk.is_open(scene.ada.client, "other")
    await scene.desk.engine.accounts.forget("ada", sleepy(scene.desk.server))
    scene.desk.server.begin()


async def state_of_a_deleted_conversation(scene: Scene) -> None:
    """It went with its conversation; a new one of the same name, with calls of the same ids, asks another question."""
    url = await scene.desk.come_back(scene.ada, scene.interrupt)
    await scene.ada.client.delete("/conversations/c")
    before, scene.interrupt = scene.interrupt, await scene.desk.asked(scene.ada.client)
    assert scene.interrupt != before
    refused(await scene.ada.come(url))


async def no_state(scene: Scene) -> None:
    """L2: a code alone completes nothing."""
    url = await scene.desk.come_back(scene.ada, scene.interrupt)
    for state in (None, "", "x", "%00", "a" * 43):
        refused(await scene.ada.come(altered(url, state=state)))
    refused(await scene.ada.come(url + "&state=" + "a" * 43))


async def expired_state(scene: Scene) -> None:
    """T2: ten minutes are over."""
    url = await scene.desk.come_back(scene.ada, scene.interrupt)
    scene.clock.now += 600
    refused(await scene.ada.come(url))


async def replayed_state(scene: Scene) -> None:
    """T2: used once, for an error, it is used up: the code that comes with it later is not looked at."""
    url = await scene.desk.come_back(scene.ada, scene.interrupt)
    assert (await scene.ada.come(altered(url, code=None, error="server_error"))).status_code == 303
    refused(await scene.ada.come(url))


async def forged_error(scene: Scene) -> None:
    """T2: an error is believed of nobody whose state does not hold."""
    await scene.ada.leave(scene.interrupt)
    forged = f"{scene.desk.served.url}/chat/callback/sleepy?error=access_denied"
    for url in (forged, f"{forged}&state={'a' * 43}"):
        refused(await scene.ada.come(url))
    hers = await scene.desk.come_back(scene.ada, scene.interrupt)
    refused(await scene.bob.come(altered(hers, code=None, error="access_denied")))


async def missing_issuer(scene: Scene) -> None:
    """T3: the provider says that it always sends its name along (RFC 9207), and here it does not."""
    refused(await scene.ada.come(altered(await scene.desk.come_back(scene.ada, scene.interrupt), iss=None)))


async def wrong_issuer(scene: Scene) -> None:
    """T3: exactly the issuer's name, not one like it; also beside an error."""
    for iss in ("https://evil.example", scene.desk.server.issuer + "/", scene.desk.server.issuer.upper(), ""):
        refused(await scene.ada.come(altered(await scene.desk.come_back(scene.ada, scene.interrupt), iss=iss)))
    url = await scene.desk.come_back(scene.ada, scene.interrupt)
    refused(await scene.ada.come(altered(url, code=None, error="access_denied", iss="https://evil.example")))


async def path_of_another_provider(scene: Scene) -> None:
    """T3: the path is a part of what must match."""
    url = await scene.desk.come_back(scene.ada, scene.interrupt)
    refused(await scene.ada.come(url.replace("/callback/sleepy", "/callback/other")))


async def another_host(scene: Scene) -> None:
    """T5: what a request calls its host leads nowhere."""
    headers = {"Host": "evil.example", "X-Forwarded-Host": "evil.example", "Forwarded": "host=evil.example"}
    await scene.ada.page(scene.interrupt)
    page = await scene.ada.client.post(
        f"/connect/{scene.interrupt}?next=//evil.example", headers=headers | {"Sec-Fetch-Site": "same-origin"}
    )
    assert "evil" not in page.text
    url = await scene.desk.server.sign_in(leads_to(page), scene.desk.served.url)
    back = await scene.ada.client.get(altered(url, iss="x", next="//evil.example"), headers=headers)
    assert "evil" not in back.text + str(back.headers)


async def superseded(scene: Scene) -> None:
    """Ada wrote a message instead; the code is not redeemed. She is asked anew."""
    url = await scene.desk.come_back(scene.ada, scene.interrupt)
    await scene.ada.client.say("c", "never mind")
    await scene.ada.client.settled("c")
    back = await scene.ada.come(url)
    assert back.headers["location"] == f"/chat/connect/{scene.interrupt}"
    page = await scene.ada.page(scene.interrupt)
    assert (page.status_code, "no longer open" in page.text) == (200, True)
    assert (await scene.ada.press(scene.interrupt)).json()["type"].endswith("/closed")
    assert scene.desk.server.requests() == 0
    await scene.ada.client.delete("/conversations/c")
    scene.interrupt = await scene.desk.asked(scene.ada.client)


async def answered_in_the_open(scene: Scene) -> None:
    """A form's answer to a sign-in: 409, whatever it says."""
    for payload in ({}, {"subject": "eve", "label": "Eve", "scopes": []}, None):
        response = await scene.ada.client.answer(scene.interrupt, payload)
        assert (response.status_code, response.json()["detail"]) == (409, "Finish this step at the provider.")
    resume = [{"interruptId": scene.interrupt, "status": "resolved", "payload": {"subject": "eve"}}]
    await scene.ada.client.run("c", resume=resume)


ATTACKS: list[Attack] = [
    link_opened_by_another, link_opened_by_nobody, started_from_another_site, state_of_another_user,
    state_of_another_browser, state_of_another_conversation, state_of_a_deleted_conversation, no_state, expired_state,
    replayed_state, forged_error, missing_issuer, wrong_issuer, path_of_another_provider, another_host, superseded,
    answered_in_the_open,
]  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
async def test_an_attack_comes_to_nothing(scene: Scene, attack: Attack) -> None:
    """No token request, no token, the question still open, and then the honest way works."""
    await attack(scene)
    await scene.untouched()
    await scene.honest()


async def test_a_code_of_somebody_else_s_is_no_use(scene: Scene) -> None:
    """T4: Eve's code beside Ada's state: the provider refuses it, since the verifier is another. Nothing is kept."""
    eve = await scene.desk.browser("eve")
    hers = await scene.desk.asked(eve.client)
    stolen = dict(parse_qsl(urlsplit(await scene.desk.come_back(eve, hers, login="eve")).query))["code"]
    url = await scene.desk.come_back(scene.ada, scene.interrupt)
    back = await scene.ada.come(altered(url, code=stolen))
    assert back.headers["location"].endswith("?again")
    assert scene.desk.server.granted("authorization_code") == 0
    assert await scene.desk.is_open(scene.ada.client)
    assert not await scene.desk.tokens()


async def test_an_old_link_is_made_afresh(scene: Scene) -> None:
    """J3: after hours the same link leads to a new sign-in; the model is not asked."""
    first = await scene.ada.leave(scene.interrupt)
    scene.clock.now += 36_000
    refused(await scene.ada.come(await scene.desk.server.sign_in(first, scene.desk.served.url)))
    await scene.honest()
    assert [one["role"] for one in (await scene.ada.client.snapshot("c"))["messages"]].count("assistant") == 2


async def test_a_browser_is_told_in_words(scene: Scene) -> None:
    """Whoever asks for HTML reads a page, with the status that others get."""
    page = await scene.bob.client.get(f"/connect/{scene.interrupt}", headers={"Accept": "text/html"})
    assert page.status_code == 403
    assert page.headers["content-type"].startswith("text/html")
    assert "This sign-in link belongs to another session." in page.text
    assert "You may close this page." in page.text


async def test_a_title_is_only_text(server: Panva) -> None:
    """T12: what a tool writes is shown and never obeyed."""
    hostile = "</title><script>alert(1)</script>"
    async with desk(server, connecting(sleepy(server, title='"><img src=x>'), title=hostile)) as running:
        ada = await running.browser("ada")
        page = (await ada.page(await running.asked(ada.client))).text
        assert "<script>" not in page
        assert "<img" not in page
        assert page.count("</title>") == 1


async def test_without_an_address_of_ours_nobody_leaves(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    """T5: it is never guessed from a request; the log says what to configure. One without TLS is refused at once."""
    scene.desk.engine.public_url, kept = "", scene.desk.engine.public_url
    await scene.ada.page(scene.interrupt)
    assert (await scene.ada.press(scene.interrupt)).status_code == 500
    assert "Engine(public_url=)" in caplog.text
    scene.desk.engine.public_url = kept
    await scene.honest()
    with pytest.raises(ProgrammingError, match="https://"):
        Engine(scene.desk.engine.agent, "sqlite://", public_url="http://desk.example")
