"""What a request may bring is bounded, and so is what comes back of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from itertools import repeat
from typing import Any

import httpx
import pytest

from tests.web.agents import engine_of
from tests.web.serving import User, serve

pytestmark = pytest.mark.anyio

LONG = "long" * 1_250
"""More than anybody would read, and less than a request may bring."""


@pytest.fixture(scope="module")
async def ada() -> AsyncIterator[User]:
    """A user of a server whose model asks for whatever comes to mind."""
    async with serve(engine_of(repeat([("free", {})]))) as served:
        yield await served.user("ada")


def faults(response: httpx.Response) -> list[tuple[str, str]]:
    """Where a refused request is wrong; nothing of its text comes back."""
    assert response.status_code == 422, response.text
    assert LONG not in response.text
    return [(one["pointer"], one["detail"]) for one in response.json()["errors"]]


async def test_a_key_that_is_endless_does_not_come_back(ada: User) -> None:
    """Its place is enough, whichever rule it breaks; of many such keys, the first few are told."""
    response = await ada.post("/conversations", json={LONG: 1})
    assert faults(response) == [("", "Unexpected field.")]
    assert len(faults(await ada.post("/conversations", json=dict.fromkeys(map(str, range(1_000)), 1)))) == 8
    headers = {"Content-Type": "application/json"}
    response = await ada.post("/conversations", content=f'{{"a": {{"{LONG}": "\\ud800"}}}}', headers=headers)
    assert faults(response) == [("/a", "Text contains characters that cannot be stored.")]


async def test_a_key_is_escaped_in_a_pointer(ada: User) -> None:
    """RFC 6901, wherever a pointer comes from."""
    assert faults(await ada.post("/conversations", json={"a/b~c": 1})) == [("/a~1b~0c", "Unexpected field.")]
    headers = {"Content-Type": "application/json"}
    response = await ada.post("/conversations", content=b'{"a/b~c": "\\ud800"}', headers=headers)
    assert [pointer for pointer, _ in faults(response)] == ["/a~1b~0c"]


async def test_the_note_of_a_skip_is_as_long_as_a_note(ada: User) -> None:
    """10,000 characters, as beside an answer; one more, and the question stays open."""
    conversation = await ada.create()
    await ada.say(conversation, "Ask me")
    await ada.settled(conversation)
    [one] = await ada.open(conversation)
    path = f"/interrupts/{one['id']}/skip"
    refused = await ada.post(path, json={"note": "x" * 10_001})
    assert faults(refused) == [("/note", "At most 10,000 characters.")]
    assert await ada.open(conversation) == [one]
    assert (await ada.post(path, json={"note": "x" * 10_000})).status_code == 200


@pytest.mark.parametrize("action", ["answer", "skip"])
async def test_no_question_has_such_an_id(ada: User, action: str) -> None:
    """It is not looked for, and it does not come back."""
    for id in ("x" * 201, "a%0Ab"):
        response = await ada.post(f"/interrupts/{id}/{action}", json={})
        assert (response.status_code, response.json()["detail"]) == (404, "No such question.")
        assert id not in response.text


@pytest.mark.parametrize(
    ("more", "pointer", "detail"),
    [
        (
            {"resume": [{"interruptId": f"i{n}", "status": "resolved"} for n in range(50_000)]},
            "/resume",
            "At most 100 answers can be sent at once.",
        ),
        (
            {"messages": [{"id": f"m{n}", "role": "user", "content": "x"} for n in range(101)]},
            "/messages",
            "At most 100 new messages can be sent at once.",
        ),
        (
            {"runId": LONG},
            "/runId",
            "Expected up to 200 printable characters without a slash.",
        ),
    ],
)
async def test_an_agui_request_brings_only_so_much(ada: User, more: dict[str, Any], pointer: str, detail: str) -> None:
    """Each answer and each message is a write of its own: whoever sends thousands of them is told not to."""
    response = await ada.post("/agui", json={"threadId": "c1", "runId": "r", "messages": [], **more})
    assert faults(response) == [(pointer, detail)]
    assert response.json()["detail"] == detail


async def test_every_conversation_can_be_reached(ada: User) -> None:
    """The list comes in pages of a hundred; each conversation is on one of them, with when it was last written to."""
    ids = {f"listed-{n:03}" for n in range(205)}
    for id in sorted(ids):
        await ada.create(id=id)
    found: list[dict[str, Any]] = []
    cursor: str | None = ""
    while cursor is not None:
        page = (await ada.get("/conversations", params={"before": cursor} if cursor else {})).json()
        assert len(page["conversations"]) == 100 or page["next"] is None
        found += page["conversations"]
        cursor = page["next"]
    listed = [one["id"] for one in found if one["id"] in ids]
    assert listed == sorted(ids, reverse=True)
    assert all(datetime.fromisoformat(one["updatedAt"]).tzinfo == UTC for one in found)


@pytest.mark.parametrize("cursor", ["", "x", "é", "bnVsbA==", "WzEsIDJd", "W05hTiwgImEiXQ==", "W10=", "/w=="])
async def test_a_cursor_is_one_of_ours(ada: User, cursor: str) -> None:
    """Whatever else stands there is refused, and does not reach the store."""
    response = await ada.get("/conversations", params={"before": cursor})
    assert faults(response) == [("/before", "Expected the `next` of a list.")]
