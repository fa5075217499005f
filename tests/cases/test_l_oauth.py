"""Group L, and J3: what went wrong where a tool sends its user to a provider and waits for them to come back."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from tests.oauth.panva import Panva, panva
from tests.oauth.stage import CLIENT, Browser, Desk, altered, desk
from tests.support import Clock
from yourcall.store.sqlite import SQLiteStore

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def provider() -> Iterator[Panva]:
    with panva([CLIENT]) as server:
        yield server


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def place(provider: Panva, clock: Clock) -> AsyncIterator[Desk]:
    provider.begin()
    async with desk(provider, store=SQLiteStore(":memory:", clock=clock)) as running:
        yield running


@pytest.fixture
async def ada(place: Desk) -> Browser:
    return await place.browser("ada")


async def test_L2_a_code_completes_the_flow_that_its_state_belongs_to(place: Desk, ada: Browser) -> None:
    """While two wait: without a state, and with one that nobody was given, neither; with one's state, that one."""
    first, second = await place.asked(ada.client, "1"), await place.asked(ada.client, "2")
    urls = [await place.come_back(ada, one) for one in (first, second)]
    for url in urls:
        for state in (None, "x" * 43):
            assert (await ada.come(altered(url, state=state))).status_code == 403
    assert await place.is_open(ada.client, "1")
    assert await place.is_open(ada.client, "2")
    assert (await ada.come(urls[1])).headers["location"].endswith(second)
    assert await place.is_open(ada.client, "1")
    assert not await place.is_open(ada.client, "2")


async def test_L3_a_callback_that_comes_twice_is_redeemed_once(place: Desk, ada: Browser) -> None:
    """The second is shown what the first has done. (That later tools redeem nothing: tests/oauth/test_tokens.py.)"""
    url = await place.come_back(ada, await place.asked(ada.client))
    places = {(await ada.come(url)).headers["location"] for _ in range(3)}
    assert len(places) == 1
    assert place.server.requests() == 1


async def test_L5_junk_does_not_spoil_a_good_flow(place: Desk, ada: Browser) -> None:
    """Whatever is thrown at the callback before, and by whomever, the genuine one succeeds."""
    interrupt = await place.asked(ada.client)
    url = await place.come_back(ada, interrupt)
    eve = await place.browser("eve")
    for junk in ("", "?code=x", "?state=x&code=y", "?error=access_denied", "?state=" + "x" * 5_000, "?state=%ff%00"):
        for browser in (ada, eve):
            assert (await browser.client.get(f"/callback/sleepy{junk}")).status_code == 403
    assert (await eve.come(url)).status_code == 403
    assert (await ada.come(url)).headers["location"].endswith(interrupt)
    assert "Connected as ada" in await place.result(ada.client)


async def test_L6_every_way_ends_at_a_page_that_may_be_closed(place: Desk, ada: Browser) -> None:
    """After success, on repeat and after a refusal; a finite page, without a code or a token in it or its address."""
    html = {"Accept": "text/html"}
    interrupt = await place.asked(ada.client)
    url = await place.come_back(ada, interrupt)
    for _ in "12":
        back = await ada.client.get(url, headers=html)
        last = await ada.client.get(f"/connect/{back.headers['location'].rpartition('/')[2]}", headers=html)
        assert last.status_code == 200
        assert "may close this page" in last.text
        assert "?" not in str(last.url)
    refused = await ada.client.get(altered(url, state="x"), headers=html)
    assert (refused.status_code, "may close this page" in refused.text) == (403, True)
    assert (await ada.client.get(url.replace("state=", "x="), headers=html)).status_code == 403


async def test_J3_a_link_that_was_left_lying_is_made_afresh(place: Desk, ada: Browser, clock: Clock) -> None:
    """Hours after the state is over: the same card leads to a new one, and the model is not asked again."""
    interrupt = await place.asked(ada.client)
    stale = await ada.leave(interrupt)
    asked = len(place.engine.agent.model.requests)  # type: ignore[union-attr]  # a scripted one
    clock.now += 10 * 3600
    late = await ada.come(await place.server.sign_in(stale, place.served.url))
    assert late.status_code == 403
    assert len(place.engine.agent.model.requests) == asked  # type: ignore[union-attr]  # a scripted one
    await ada.come(await place.come_back(ada, interrupt))
    assert "Connected as ada" in await place.result(ada.client)
