"""The inbox over HTTP: what somebody may answer, and nothing of whose conversation it is from."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.web.agents import Pick, engine_of
from tests.web.serving import User, serve
from yourcall import Agent, Context, Engine, tool
from yourcall.testing import ScriptedModel, ScriptStep
from yourcall.web.inbox import PAGE

pytestmark = pytest.mark.anyio

SECRET = "the-customer-s-own-words"


@tool
def refund(ctx: Context, reason: str = "") -> str:
    """Have a colleague decide."""
    ask = Pick("Refund 40?", "yes", "no")
    ask.to = "role:refunds"
    return f"They said {ctx.ask(ask)}."


def engine_with_roles(*steps: ScriptStep) -> Engine[Any]:
    def may_answer(user: str) -> list[str]:
        return ["role:refunds"] if user in ("ruth", "rob") else []

    return Engine(Agent(ScriptedModel(steps), tools=[refund]), "sqlite://", may_answer=may_answer)


@pytest.fixture
async def users() -> AsyncIterator[dict[str, User]]:
    """Ada, in whose conversation a colleague was asked; Ruth and Rob, who may answer; Bob, who may not."""
    engine = engine_with_roles([("refund", {"reason": SECRET})], "It is done.")
    async with serve(engine) as served:
        yield {name: await served.user(name) for name in ("ada", "ruth", "rob", "bob")}


async def asked(user: User) -> str:
    """The conversation in which a colleague was asked."""
    conversation = await user.create()
    await user.say(conversation, SECRET)
    await user.settled(conversation)
    return conversation


async def inbox(user: User, **query: str) -> Any:
    response = await user.get("/interrupts", params=query)
    assert response.status_code == 200, response.text
    return response.json()


async def test_who_was_asked_sees_the_question_alone(users: dict[str, User]) -> None:
    """It can be drawn and answered, and nothing in it, nor in any other route, tells of the conversation."""
    conversation = await asked(users["ada"])
    listed = await users["ruth"].get("/interrupts")
    (question,) = listed.json()["interrupts"]
    assert question["message"] == "Refund 40?"
    assert question["metadata"]["yourcall"]["ask"]["options"] == ["yes", "no"]
    assert question["responseSchema"]["properties"]["pick"] == {"enum": ["yes", "no"]}
    assert listed.headers["cache-control"] == "no-store"
    for text in (SECRET, conversation, '"ada"', "role:refunds", '"refund"'):
        assert text not in listed.text
    for path in (f"/conversations/{conversation}", f"/conversations/{conversation}/events"):
        assert (await users["ruth"].get(path)).status_code == 404
    assert (await users["ruth"].get("/conversations")).json()["conversations"] == []


async def test_a_line_says_when_it_was_asked_and_whose_it_is(users: dict[str, User]) -> None:
    """One's own question names its conversation; one that somebody else asks does not."""
    await asked(users["ada"])
    (put,) = (await inbox(users["ruth"]))["interrupts"]
    theirs = put["metadata"]["yourcall"]
    assert theirs["conversation"] is None
    assert abs(datetime.now(UTC) - datetime.fromisoformat(theirs["askedAt"])) < timedelta(minutes=10)
    async with serve(engine_of([[("pick", {})], "Done."])) as served:
        bob = await served.user("bob")
        conversation = await bob.create()
        await bob.say(conversation, "Hello")
        await bob.settled(conversation)
        (own,) = (await inbox(bob))["interrupts"]
        assert own["metadata"]["yourcall"]["conversation"] == conversation


async def test_an_answer_from_the_inbox_goes_on_in_the_owner_s_conversation(users: dict[str, User]) -> None:
    """The run goes on for its owner; a colleague who comes too late is told how it closed."""
    conversation = await asked(users["ada"])
    (question,) = (await inbox(users["ruth"]))["interrupts"]
    digest = question["metadata"]["yourcall"]["digest"]
    answered = await users["ruth"].answer(question["id"], {"pick": "yes"}, **{"If-Match": f'"{digest}"'})
    assert answered.json() == {"id": question["id"], "ending": {"kind": "answered"}}
    messages = (await users["ada"].settled(conversation))["messages"]
    assert [m["content"] for m in messages if m["role"] == "tool"] == ["They said yes."]
    late = await users["rob"].answer(question["id"], {"pick": "no"})
    assert (late.status_code, late.json()["ending"]) == (409, {"kind": "answered", "answer": "yes"})
    assert (await inbox(users["rob"]))["interrupts"] == []
    closed = (await users["rob"].get(f"/interrupts/{question['id']}")).json()
    assert closed["metadata"]["yourcall"]["ending"] == {"kind": "answered", "answer": "yes"}


async def test_its_owner_sees_that_somebody_else_was_asked(users: dict[str, User]) -> None:
    """They read whom, and are refused in words; a question of their own has no such mark."""
    conversation = await asked(users["ada"])
    (question,) = await users["ada"].open(conversation)
    assert question["metadata"]["yourcall"]["to"] == "role:refunds"
    alone = (await users["ada"].get(f"/interrupts/{question['id']}")).json()
    assert alone["metadata"]["yourcall"]["to"] == "role:refunds"
    assert (await inbox(users["ada"]))["interrupts"] == []
    for response in (
        await users["ada"].answer(question["id"], {"pick": "yes"}),
        await users["ada"].post(f"/interrupts/{question['id']}/skip", json={}),
    ):
        assert response.status_code == 403
        assert response.json()["detail"] == "Somebody else was asked this."
        assert response.json()["type"].endswith("/not-asked")


async def test_for_everybody_else_it_is_not_there(users: dict[str, User]) -> None:
    """An unknown question and one that was put to others get the same 404, byte for byte."""
    await asked(users["ada"])
    (question,) = (await inbox(users["ruth"]))["interrupts"]
    assert (await inbox(users["bob"]))["interrupts"] == []
    for method, path, body in [
        ("GET", "/interrupts/{}", None),
        ("POST", "/interrupts/{}/answer", {"pick": "yes"}),
        ("POST", "/interrupts/{}/skip", {}),
    ]:
        foreign, unknown = [
            await users["bob"].request(method, path.format(id), json=body) for id in (question["id"], "0" * 32)
        ]
        assert (foreign.status_code, foreign.content) == (404, unknown.content)


async def test_an_inbox_comes_in_pages() -> None:
    """Each open question of one's own comes once, the latest first."""
    engine = engine_of([[("pick", {"title": f"No. {n}"})] for n in range(PAGE + 2)])
    async with serve(engine) as served:
        ada = await served.user("ada")
        for _ in range(PAGE + 2):
            await ada.settled(await asked_of(ada))
        first = await inbox(ada)
        second = await inbox(ada, before=first["next"])
        titles = [one["message"] for one in first["interrupts"] + second["interrupts"]]
        assert titles == [f"No. {n}" for n in reversed(range(PAGE + 2))]
        assert second["next"] is None
        refused = await ada.get("/interrupts", params={"before": "x"})
        assert refused.status_code == 422


async def asked_of(user: User) -> str:
    conversation = await user.create()
    await user.say(conversation, "go")
    return conversation
