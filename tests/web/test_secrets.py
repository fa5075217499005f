"""Secrets over HTTP: their own route, what it refuses, and that nothing of what was sent comes back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import repeat
from typing import Any

import httpx
import pytest

from tests.web.agents import engine_of
from tests.web.serving import User, serve
from yourcall import Context, Engine, Rejected, Secret, tool
from yourcall.log import Transcript, UserMessage
from yourcall.testing import Said
from yourcall.vault.keyring import new_key

pytestmark = pytest.mark.anyio

CANARY = "c4n4ry/7f3a"


async def accepts(key: str) -> None:
    """Refuses what does not begin with a c."""
    if not key.startswith("c"):
        raise Rejected(f"Hevy did not accept {key}.")


hevy_key = Secret("hevy", "Hevy API key", check=accepts)


@tool
def connect(ctx: Context) -> str:
    """Ask for the key."""
    return f"Set up {ctx.ask(hevy_key).name}."


def asks(transcript: Transcript) -> Said:
    return [("connect", {})] if isinstance(transcript[-1], UserMessage) else "Thanks."


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine[Any]:
    monkeypatch.setenv("YOURCALL_KEYS", new_key())
    return engine_of(repeat(asks), connect)


@pytest.fixture
async def users(engine: Engine[Any]) -> AsyncIterator[tuple[User, User]]:
    async with serve(engine) as served:
        yield await served.user("ada"), await served.user("bob")


@pytest.fixture
def ada(users: tuple[User, User]) -> User:
    return users[0]


async def question(user: User) -> dict[str, Any]:
    """The open question for a key, in a new conversation."""
    conversation = await user.create()
    await user.say(conversation, "Set it up")
    await user.settled(conversation)
    (interrupt,) = await user.open(conversation)
    return interrupt | {"conversation": conversation}


async def enter(user: User, id: str, value: Any = CANARY, **headers: str) -> httpx.Response:
    return await user.post(f"/interrupts/{id}/secret", json={"value": value}, headers=headers)


def problem(response: httpx.Response, status: int, slug: str) -> dict[str, Any]:
    body: dict[str, Any] = response.json()
    assert (response.status_code, body["type"].rpartition("/")[2]) == (status, slug), response.text
    assert response.headers["cache-control"] == "no-store"
    assert CANARY not in response.text
    return body


async def test_a_secret_is_entered_and_never_given_out(ada: User) -> None:
    """By its own route; no response, event or snapshot has it, and a client is told of no other way to send it."""
    asked = await question(ada)
    assert asked["metadata"]["yourcall"]["kind"] == "secret"
    assert asked.get("responseSchema") is None
    response = await enter(ada, asked["id"], **{"If-Match": f'"{asked["metadata"]["yourcall"]["digest"]}"'})
    assert response.status_code == 200
    assert response.json() == {"id": asked["id"], "ending": {"kind": "answered"}}
    assert response.headers["cache-control"] == "no-store"
    frames = await ada.events(asked["conversation"])
    snapshot = await ada.settled(asked["conversation"])
    assert "Set up hevy." in str(snapshot["messages"])
    assert CANARY not in f"{frames}{snapshot}"


@pytest.mark.parametrize(
    "body",
    [{}, [], CANARY, {"value": 1}, {"value": None}, {"value": [CANARY]}, {CANARY: ""}, {"value": "c", CANARY: 1}],
)
async def test_another_body_is_refused_without_a_word_of_it(ada: User, body: Any) -> None:
    """Not even the names of its members are repeated: a key may have been pasted there."""
    asked = await question(ada)
    refused = problem(await ada.post(f"/interrupts/{asked['id']}/secret", json=body), 422, "invalid-request")
    assert [error["pointer"] for error in refused["errors"]] == [""]
    assert await ada.open(asked["conversation"])


async def test_what_can_be_no_secret_is_refused(ada: User) -> None:
    """Blank, unstorable, endless, no JSON, or no JSON by its own word."""
    path = f"/interrupts/{(await question(ada))['id']}/secret"
    for text, slug in ((" ", "invalid-answer"), ("c\0", "invalid-text"), ("x" * 20_000, "invalid-answer")):
        problem(await ada.post(path, json={"value": CANARY + text if text.strip() else text}), 422, slug)
    problem(await ada.post(path, content=b'{"value": "\\ud800"}', headers={"Content-Type": "application/json"}), 422,
            "invalid-text")  # fmt: skip
    json_type = {"Content-Type": "application/json"}
    problem(await ada.post(path, content=f'{{"value": "{CANARY}"'.encode(), headers=json_type), 400, "malformed-json")
    problem(await ada.post(path, content=f'{{"value": "{CANARY}"}}'.encode(), headers={"Content-Type": "text/plain"}),
            415, "media-type")  # fmt: skip
    problem(await enter(ada, path.split("/")[2], CANARY * 30_000), 413, "too-large")


async def test_a_refused_key_is_told_without_it_and_the_sixth_waits(ada: User) -> None:
    """422 in the tool's words, and then 429 with the seconds to wait; the question stays open."""
    asked = await question(ada)
    for _ in range(5):
        refused = problem(await enter(ada, asked["id"], f"x{CANARY}"), 422, "rejected")
        assert refused["detail"] == "Hevy did not accept ***."
    response = await enter(ada, asked["id"])
    problem(response, 429, "too-many-attempts")
    assert 590 <= int(response.headers["retry-after"]) <= 600
    assert await ada.open(asked["conversation"])


async def test_a_secret_in_the_open_is_refused(ada: User) -> None:
    """On `/answer`, and as the payload of an AG-UI resume: the question stays open, and is returned with the reason."""
    asked = await question(ada)
    problem(await ada.answer(asked["id"], {"value": CANARY}), 409, "wrong-channel")
    resume = [{"interruptId": asked["id"], "status": "resolved", "payload": {"value": CANARY}}]
    frames = await ada.run(asked["conversation"], resume=resume)
    (still,) = frames[-1].event["outcome"]["interrupts"]
    assert still["id"] == asked["id"]
    assert still["metadata"]["yourcall"]["errors"][0]["type"] == "wrong-channel"
    assert still.get("responseSchema") is None
    assert CANARY not in str(frames)
    assert (await enter(ada, asked["id"])).status_code == 200


async def test_how_it_ended_is_told(ada: User) -> None:
    """The same again is harmless, another is 409, a changed question 412, a skipped one 410."""
    asked, other = await question(ada), await question(ada)
    problem(await enter(ada, asked["id"], **{"If-Match": '"0"'}), 412, "changed")
    assert (await enter(ada, asked["id"])).json() == (await enter(ada, asked["id"])).json()
    assert problem(await enter(ada, asked["id"], "c-other"), 409, "already-answered")["ending"]["kind"] == "answered"
    await ada.post(f"/interrupts/{other['id']}/skip")
    assert problem(await enter(ada, other["id"]), 410, "closed")["ending"]["kind"] == "skipped"


async def test_credentials_are_names_of_their_owner(users: tuple[User, User]) -> None:
    """Each sees and removes their own; what is another's is not there, and stays."""
    ada, bob = users
    asked = await question(ada)
    problem(await enter(bob, asked["id"]), 404, "not-found")
    await enter(ada, asked["id"])
    listed = {"credentials": [{"name": "hevy", "conversation": None}]}
    assert (await ada.get("/credentials")).json() == listed
    assert (await bob.get("/credentials")).json() == {"credentials": []}
    problem(await bob.delete("/credentials/hevy"), 404, "not-found")
    assert (await ada.get("/credentials")).json() == listed
    assert (await ada.delete("/credentials/hevy")).status_code == 204
    assert (await ada.get("/credentials")).json() == {"credentials": []}
    problem(await ada.delete("/credentials/hevy"), 404, "not-found")
