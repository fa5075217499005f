"""Steps outside over HTTP: who leaves, what completes a visit, and what does not."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import httpx
import pytest
from pydantic import BaseModel

from tests.web.agents import pick
from tests.web.serving import PREFIX, Served, User, serve
from yourcall import Agent, Context, Engine, Rejected, Visit, tool
from yourcall.testing import CallStep, ScriptedModel
from yourcall.vault import KeyRing
from yourcall.vault.keyring import new_key
from yourcall.visit import signature
from yourcall.visits import Links

pytestmark = pytest.mark.anyio

KEY = b"a key that the service shares"
LASTS = 3600.0


class Paid(BaseModel):
    order: int
    paid: bool = True


def _not_four(brought: Paid) -> None:
    if brought.order == 4:
        raise Rejected("Order 4 is somebody else's.")


@tool
def sign(ctx: Context, title: str = "Sign the lease") -> Any:
    """Send the user to sign something; they come back by the link."""
    return ctx.ask(Visit("https://sign.example/doc/7?lang=de", title, check=_noted))


@tool
def pay(ctx: Context) -> Any:
    """Send the user to pay; the service says when they did."""
    visit = Visit("https://pay.example/42", "Pay 40 euros", returns=Paid, back="hook", signed_by=KEY, check=_not_four)
    return ctx.ask(visit)


def _noted(brought: Any) -> None:
    if brought.get("status") == "refused":
        raise Rejected("It was not signed.")


@dataclass
class Stage:
    served: Served
    ada: User
    bob: User

    async def asked(self, user: User) -> dict[str, Any]:
        """A conversation of this user's, and the ids of its questions by their titles."""
        conversation = await user.create()
        await user.say(conversation, "go")
        await user.settled(conversation)
        return {"conversation": conversation, **{one["message"]: one["id"] for one in await user.open(conversation)}}

    async def leave(self, user: User, question: str) -> str:
        """Leave for the page outside; the link that it is handed."""
        response = await user.get(f"/interrupts/{question}/visit")
        assert response.status_code == 303, response.text
        query = parse_qs(urlsplit(response.headers["location"]).query)
        return (query.get("return_url") or query["hook"])[0]

    async def call(self, link: str, payload: Any, at: float | None = None, header: str | None = None) -> httpx.Response:
        """What the service sends: nobody's cookies, and a signature."""
        token, body = link.rsplit("/", 1)[1], json.dumps(payload).encode()
        if header is None:
            header = signature(KEY, token, body, time.time() if at is None else at)
        headers = {"Content-Type": "application/json", "Yourcall-Signature": header}
        async with httpx.AsyncClient() as service:
            return await service.post(link, content=body, headers=headers)

    async def result(self, user: User, conversation: str) -> list[str]:
        messages = (await user.settled(conversation))["messages"]
        return [message["content"] for message in messages if message["role"] == "tool"]

    async def is_open(self, user: User, question: str) -> bool:
        """Nothing that was tried has closed it."""
        found = (await user.get(f"/interrupts/{question}")).json()
        return found["metadata"]["yourcall"]["ending"] is None


def engine_of(*tools: Any) -> Engine[Any]:
    asks: list[CallStep] = [(one.name, {}) for one in tools]
    return Engine(Agent(ScriptedModel([asks]), tools=tools), "sqlite://", keys=KeyRing(new_key()))


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    engine = engine_of(sign, pay, pick)
    async with serve(engine, heartbeat=15, home="/desk") as served:
        engine.public_url = served.url
        yield Stage(served, await served.user("ada"), await served.user("bob"))


def returns(link: str, query: str = "") -> str:
    """Where the button of the page behind the link leads."""
    return link.replace("/visits/", "/returns/") + query


# --------------------------------------------------------------------------- coming back


async def test_who_comes_back_and_says_so_has_answered(stage: Stage) -> None:
    """The page outside gets a link in its own address; by it, and a button, its query becomes the tool's value."""
    asked = await stage.asked(stage.ada)
    left = await stage.ada.get(f"/interrupts/{asked['Sign the lease']}/visit")
    address = urlsplit(left.headers["location"])
    assert (address.scheme, address.netloc, address.path) == ("https", "sign.example", "/doc/7")
    assert [name for name, _ in parse_qsl(address.query)] == ["lang", "return_url"]
    assert left.headers["referrer-policy"] == "no-referrer"
    link = dict(parse_qsl(address.query))["return_url"]
    assert link.startswith(f"{stage.served.url}{PREFIX}/visits/")

    page = await stage.ada.get(link + "?status=signed&by=Ada")
    assert page.status_code == 200
    assert "You are back from sign.example" in page.text
    assert "?status=signed&amp;by=Ada" in page.text
    done = await stage.ada.post(returns(link, "?status=signed&by=Ada"))
    assert done.status_code == 303
    over = await stage.ada.get(link)
    assert "This step is done." in over.text
    found = (await stage.ada.get(f"/interrupts/{asked['Sign the lease']}")).json()
    assert found["metadata"]["yourcall"]["ending"] == {"kind": "answered", "answer": {"status": "signed", "by": "Ada"}}


async def test_to_open_a_link_completes_nothing(stage: Stage) -> None:
    """Scanners and previews open links: without the button nothing happens, whoever opens it."""
    asked = await stage.asked(stage.ada)
    link = await stage.leave(stage.ada, asked["Sign the lease"])
    for user in (stage.ada, stage.bob, await stage.served.user(None)):
        for method in ("GET", "HEAD", "OPTIONS"):
            await user.request(method, link)
            await user.request(method, returns(link))
    assert await stage.is_open(stage.ada, asked["Sign the lease"])


async def test_a_check_may_refuse_what_came_back(stage: Stage) -> None:
    """Its words are on the page, and the question is open: the user may leave once more."""
    asked = await stage.asked(stage.ada)
    link = await stage.leave(stage.ada, asked["Sign the lease"])
    refused = await stage.ada.post(returns(link, "?status=refused"))
    assert (refused.status_code, "It was not signed." in refused.text) == (422, True)
    assert await stage.is_open(stage.ada, asked["Sign the lease"])
    assert (await stage.ada.post(returns(link, "?status=signed"))).status_code == 303
    assert not await stage.is_open(stage.ada, asked["Sign the lease"])


async def test_a_link_is_of_use_once(stage: Stage) -> None:
    """Sent again it changes nothing; with something else, neither."""
    asked = await stage.asked(stage.ada)
    link = await stage.leave(stage.ada, asked["Sign the lease"])
    for status in ("signed", "signed", "forged"):
        again = await stage.ada.post(returns(link, f"?status={status}"))
        assert again.status_code == 303
    found = (await stage.ada.get(f"/interrupts/{asked['Sign the lease']}")).json()
    assert found["metadata"]["yourcall"]["ending"]["answer"] == {"status": "signed"}


async def test_only_who_was_asked_leaves_and_comes_back(stage: Stage) -> None:
    """T1: a link that was passed on is of no use to anybody else, nor in another browser of the same user."""
    asked = await stage.asked(stage.ada)
    question = asked["Sign the lease"]
    link = await stage.leave(stage.ada, question)
    assert (await stage.bob.get(f"/interrupts/{question}/visit")).status_code == 404
    elsewhere = await stage.served.user("ada")
    for user in (stage.bob, elsewhere):
        for response in (await user.get(link), await user.post(returns(link, "?status=signed"))):
            assert response.status_code == 403
            assert response.json()["type"].endswith("/handoff-invalid")
    nobody = await stage.served.user(None)
    assert (await nobody.post(returns(link))).status_code == 401
    assert await stage.is_open(stage.ada, question)
    assert (await stage.ada.post(returns(link, "?status=signed"))).status_code == 303


async def test_two_tabs_may_leave(stage: Stage) -> None:
    """Each leaving makes a link of its own, and leaving again does not spoil the one before."""
    asked = await stage.asked(stage.ada)
    first = await stage.leave(stage.ada, asked["Sign the lease"])
    await stage.leave(stage.ada, asked["Sign the lease"])
    assert (await stage.ada.post(returns(first))).status_code == 303
    assert not await stage.is_open(stage.ada, asked["Sign the lease"])


async def test_another_site_cannot_press_the_button(stage: Stage) -> None:
    """T9: a form of another page that posts to the link is refused, cookies and all."""
    asked = await stage.asked(stage.ada)
    link = await stage.leave(stage.ada, asked["Sign the lease"])
    for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Origin": "null"}):
        assert (await stage.ada.post(returns(link), headers=headers)).status_code == 403
    assert await stage.is_open(stage.ada, asked["Sign the lease"])


async def test_what_comes_back_is_bounded(stage: Stage) -> None:
    """Too much, the same name twice, or text that cannot be stored is refused and not taken in part."""
    asked = await stage.asked(stage.ada)
    link = await stage.leave(stage.ada, asked["Sign the lease"])
    for query in ("?a=1&a=2", f"?a={'x' * 9000}", "?a=%00"):
        assert (await stage.ada.post(returns(link, query))).status_code == 422
    assert await stage.is_open(stage.ada, asked["Sign the lease"])


# --------------------------------------------------------------------------- links that are not


async def test_a_forged_link_is_refused(stage: Stage) -> None:
    """Every part of a token is under the MAC: none can be changed, added or left out."""
    asked = await stage.asked(stage.ada)
    link = await stage.leave(stage.ada, asked["Sign the lease"])
    base, token = link.rsplit("/", 1)
    id, until, browser, mac = token.split(".")
    forged = [
        f"{asked['Pay 40 euros']}.{until}.{browser}.{mac}",
        f"{id}.{int(until) + 1}.{browser}.{mac}",
        f"{id}.{until}.{browser[::-1]}.{mac}",
        f"{id}.{until}.{browser}.{mac[::-1]}",
        f"{id}.{until}.{browser}",
        f"{id}.{until}.{browser}.{mac}.",
        f"{id}.{until}.{browser}.{mac.upper()}",
        "x",
        "0" * 32,
        id,
    ]
    for one in forged:
        for response in (
            await stage.ada.get(f"{base}/{one}"),
            await stage.ada.post(returns(f"{base}/{one}", "?status=signed")),
            await stage.call(f"{base}/{one}", {"order": 1}),
        ):
            assert response.status_code == 403, one
            assert response.json()["type"].endswith("/handoff-invalid")
    assert await stage.is_open(stage.ada, asked["Sign the lease"])
    assert await stage.is_open(stage.ada, asked["Pay 40 euros"])


async def test_a_link_of_another_engine_is_refused(stage: Stage) -> None:
    """Links of two installations are made under different keys."""
    asked = await stage.asked(stage.ada)
    other = engine_of(sign)
    async with other:
        token = Links(other.vault).make(asked["Sign the lease"], "b" * 43, LASTS)
    assert (await stage.ada.get(f"/visits/{token}")).status_code == 403


async def test_an_expired_link_is_refused_and_the_next_one_works(stage: Stage) -> None:
    """J3: it says what to do, the question stays open, and leaving once more makes a new link."""
    asked = await stage.asked(stage.ada)
    question = asked["Sign the lease"]
    await stage.leave(stage.ada, question)
    browser = stage.ada.cookies["yourcall-browser"]
    old = Links(stage.served.engine.vault, lambda: time.time() - LASTS - 1).make(question, browser, LASTS)
    for response in (await stage.ada.get(f"/visits/{old}"), await stage.ada.post(f"/returns/{old}")):
        assert (response.status_code, response.json()["detail"]) == (
            403,
            "This link is over. Leave from the question once more.",
        )
    assert (await stage.call(f"{stage.served.url}{PREFIX}/visits/{old}", {})).status_code == 403
    link = await stage.leave(stage.ada, question)
    assert (await stage.ada.post(returns(link))).status_code == 303


async def test_only_the_configured_address_leads_back(stage: Stage) -> None:
    """T5: what a request says of its host does not get into the link."""
    asked = await stage.asked(stage.ada)
    headers = {"Host": "evil.example", "X-Forwarded-Host": "evil.example", "Forwarded": "host=evil.example"}
    left = await stage.ada.get(f"/interrupts/{asked['Sign the lease']}/visit", headers=headers)
    assert "evil" not in left.headers["location"]


# --------------------------------------------------------------------------- the service calls


async def test_the_service_completes_it_by_a_signed_call(stage: Stage) -> None:
    """No browser and no session: the key is enough, and the value is the tool's own type."""
    asked = await stage.asked(stage.ada)
    link = await stage.leave(stage.ada, asked["Pay 40 euros"])
    called = await stage.call(link, {"order": 7})
    assert (called.status_code, called.json()["ending"]) == (200, {"kind": "answered"})
    found = (await stage.ada.get(f"/interrupts/{asked['Pay 40 euros']}")).json()
    assert found["metadata"]["yourcall"]["ending"]["answer"] == {"order": 7, "paid": True}


async def test_the_user_cannot_speak_for_the_service(stage: Stage) -> None:
    """What only the service may say is not said by coming back, whatever the link brings."""
    asked = await stage.asked(stage.ada)
    link = await stage.leave(stage.ada, asked["Pay 40 euros"])
    page = await stage.ada.get(link + "?order=7")
    assert "We wait for word from pay.example." in page.text
    assert "<form" not in page.text
    assert (await stage.ada.post(returns(link, "?order=7&paid=true"))).status_code == 409
    assert (await stage.ada.post(link, json={"order": 7})).status_code == 403
    assert await stage.is_open(stage.ada, asked["Pay 40 euros"])


async def test_a_service_cannot_speak_for_the_user(stage: Stage) -> None:
    """A visit that the user completes is not completed by a call, even by one with some key's signature."""
    asked = await stage.asked(stage.ada)
    link = await stage.leave(stage.ada, asked["Sign the lease"])
    assert (await stage.call(link, {"status": "signed"})).status_code == 409
    assert await stage.is_open(stage.ada, asked["Sign the lease"])


async def test_a_call_that_is_not_signed_so_is_refused(stage: Stage) -> None:
    """Another key, another body, another link, no signature, half a one, or one of another time."""
    asked = await stage.asked(stage.ada)
    link = await stage.leave(stage.ada, asked["Pay 40 euros"])
    other = await stage.leave(stage.ada, asked["Pay 40 euros"])
    token, now = link.rsplit("/", 1)[1], time.time()
    good = signature(KEY, token, b'{"order": 7}', now)
    for header in (
        signature(b"another key of some length", token, b'{"order": 7}', now),
        signature(KEY, token, b'{"order": 8}', now),
        signature(KEY, "x" + token, b'{"order": 7}', now),
        "", "t=1", good.replace("v1=", ""), good + "0", good.replace("t=", "t=+"), f"t={int(now)},v1={'0' * 64}",
        good.replace(f"t={int(now)}", f"t={int(now) + 1}"),
    ):  # fmt: skip
        refused = await stage.call(link, {"order": 7}, header=header)
        assert refused.status_code == 403, header
    for seconds in (-301, 3600):
        assert (await stage.call(link, {"order": 7}, at=now + seconds)).status_code == 403
    assert await stage.is_open(stage.ada, asked["Pay 40 euros"])
    assert (await stage.call(other, {"order": 7})).status_code == 200


async def test_a_call_that_is_sent_again_changes_nothing(stage: Stage) -> None:
    """The service may not have heard us and calls again: the same outcome. Something else is refused."""
    asked = await stage.asked(stage.ada)
    link = await stage.leave(stage.ada, asked["Pay 40 euros"])
    first, again = [await stage.call(link, {"order": 7}) for _ in range(2)]
    assert (first.status_code, first.json()) == (again.status_code, again.json())
    late = await stage.call(link, {"order": 8})
    assert (late.status_code, late.json()["type"].rsplit("/")[-1]) == (409, "already-answered")
    old = await stage.call(link, {"order": 7}, at=time.time() - 400)
    assert old.status_code == 403


async def test_a_call_with_a_wrong_payload_is_refused_in_words(stage: Stage) -> None:
    """It is told which field is wrong, and the question stays open; so it is with what a check refuses."""
    asked = await stage.asked(stage.ada)
    link = await stage.leave(stage.ada, asked["Pay 40 euros"])
    wrong = await stage.call(link, {"order": "seven", "paid": "maybe"})
    assert wrong.status_code == 422
    assert [one["pointer"] for one in wrong.json()["errors"]] == ["/order", "/paid"]
    assert (await stage.call(link, {"order": 4})).json()["detail"] == "Order 4 is somebody else's."
    assert await stage.is_open(stage.ada, asked["Pay 40 euros"])


async def test_an_answer_by_another_way_is_refused(stage: Stage) -> None:
    """A5: a visit takes no form's answer, and nothing else is left for or completed as a visit."""
    asked = await stage.asked(stage.ada)
    for question in (asked["Sign the lease"], asked["Pay 40 euros"]):
        refused = await stage.ada.answer(question, {"order": 7})
        assert (refused.status_code, refused.json()["type"].rsplit("/")[-1]) == (409, "wrong-channel")
        assert await stage.is_open(stage.ada, question)
    assert (await stage.ada.get(f"/interrupts/{asked['Which?']}/visit")).status_code == 409
    await stage.leave(stage.ada, asked["Sign the lease"])
    links, browser = Links(stage.served.engine.vault), stage.ada.cookies["yourcall-browser"]
    token = links.make(asked["Which?"], browser, LASTS)
    assert (await stage.ada.post(f"/returns/{token}?pick=red")).status_code == 409
    assert (await stage.call(f"{stage.served.url}{PREFIX}/visits/{token}", {"pick": "red"})).status_code == 409
    assert await stage.is_open(stage.ada, asked["Which?"])


async def test_what_is_over_says_so(stage: Stage) -> None:
    """L6: a page that ends, for a link that comes too late or again."""
    asked = await stage.asked(stage.ada)
    link = await stage.leave(stage.ada, asked["Sign the lease"])
    await stage.ada.post(f"/interrupts/{asked['Sign the lease']}/skip", json={})
    assert (await stage.ada.post(returns(link))).status_code == 303
    assert "This step is no longer open" in (await stage.ada.get(link)).text
    assert (await stage.ada.get(f"/interrupts/{asked['Sign the lease']}/visit")).status_code == 410


async def test_what_is_finished_too_late_is_lost_on_nobody(stage: Stage) -> None:
    """A message closes a visit that is under way: its user and the service are both told, and by which ending."""
    asked = await stage.asked(stage.ada)
    link, hook = [await stage.leave(stage.ada, asked[title]) for title in ("Sign the lease", "Pay 40 euros")]
    await stage.ada.say(asked["conversation"], "Is it safe there?")
    await stage.ada.settled(asked["conversation"])
    page = await stage.ada.get(link)
    assert "has not heard of what was done at sign.example" in page.text
    assert "say so in the chat" in page.text
    refused = await stage.call(hook, {"order": 1})
    assert (refused.status_code, refused.json()["ending"]) == (410, {"kind": "superseded"})


async def test_every_page_leads_back_to_the_chat(stage: Stage) -> None:
    """Also one that refuses what was brought, one of a link that is not ours, and one for whom nobody is signed in."""
    asked = await stage.asked(stage.ada)
    link, hook = [await stage.leave(stage.ada, asked[title]) for title in ("Sign the lease", "Pay 40 euros")]
    chat = f'<a href="/desk#{asked["conversation"]}">Back to the chat</a>'
    html = {"Accept": "text/html"}
    assert chat in (await stage.ada.get(link)).text
    assert chat in (await stage.ada.get(hook)).text
    refused = await stage.ada.post(returns(link, "?status=refused"))
    assert (refused.status_code, chat in refused.text) == (422, True)
    forged = await stage.ada.get(link[:-1] + ("0" if link[-1] != "0" else "1"), headers=html)
    assert (forged.status_code, '<a href="/desk">Back to the chat</a>' in forged.text) == (403, True)
    nobody = await (await stage.served.user(None)).get(link, headers=html)
    assert (nobody.status_code, '<a href="/desk">Back to the chat</a>' in nobody.text) == (401, True)


async def test_the_card_names_the_host_and_not_the_address(stage: Stage) -> None:
    """What is shown and kept of a visit is its title and where it leads; an address may hold what is secret."""
    asked = await stage.asked(stage.ada)
    snapshot = await stage.ada.snapshot(asked["conversation"])
    asks = [one["metadata"]["yourcall"]["ask"] for one in snapshot["interrupts"]]
    assert {"title": "Sign the lease", "host": "sign.example"} in asks
    assert {"title": "Pay 40 euros", "host": "pay.example", "signed": True} in asks
    assert "/doc/7" not in json.dumps(snapshot)
