"""Cases D over HTTP: double clicks, two tabs, many at once; and C1."""

from __future__ import annotations

from collections import Counter
from functools import partial
from itertools import repeat
from typing import Any

import anyio
import httpx
import pytest

from tests.web.agents import Pick, asked, engine_of, model_of
from tests.web.serving import User, serve, until
from yourcall import Context, tool
from yourcall.log import AssistantMessage, ToolMessage, Transcript, UserMessage, transcript
from yourcall.testing import Said, ScriptStep

pytestmark = pytest.mark.anyio


@tool
def twice(ctx: Context) -> list[str]:
    """Ask two questions, one after the other."""
    return [ctx.ask(Pick("First?", "red", "blue")), ctx.ask(Pick("Second?", "red", "blue"))]


@tool
def approve(ctx: Context, what: str) -> str:
    """Ask for an approval; the wording is the same for everything."""
    return f"{what}: {ctx.ask(Pick('Go ahead?', 'red', 'blue'))}"


def approvals(*steps: str) -> list[ScriptStep]:
    """Steps that each ask for these approvals at once; then the model is done."""
    return [*([("approve", {"what": what}) for what in step] for step in steps), "Done."]


async def paused(user: User) -> tuple[str, list[str]]:
    """A conversation that waits, and the ids of its questions."""
    conversation = await user.create()
    await user.say(conversation, "Go")
    await user.settled(conversation)
    return conversation, [one["id"] for one in await user.open(conversation)]


async def at_once(*requests: partial[Any]) -> list[httpx.Response]:
    """All of these requests at the same moment."""
    responses: list[httpx.Response] = []
    start = anyio.Event()

    async def send(request: partial[Any]) -> None:
        await start.wait()
        responses.append(await request())

    async with anyio.create_task_group() as tasks:
        for request in requests:
            tasks.start_soon(send, request)
        start.set()
    return responses


async def test_D2_a_double_click_does_not_answer_the_next_question() -> None:
    """The second click still names the first question: the next one, under the pointer now, is untouched."""
    async with serve(engine_of([[("twice", {})], "Thanks."], twice)) as served:
        ada = await served.user("ada")
        conversation, [first] = await paused(ada)
        assert (await ada.answer(first, {"pick": "red"})).status_code == 200
        await ada.settled(conversation)
        [second] = await ada.open(conversation)
        again, other = await ada.answer(first, {"pick": "red"}), await ada.answer(first, {"pick": "blue"})
        assert (again.status_code, other.status_code) == (200, 409)
        assert [one["id"] for one in await ada.open(conversation)] == [second["id"]]
        assert asked(served.engine) == 1


async def test_D2_two_clicks_at_once_are_one_answer() -> None:
    """Both are told the same, and one answer is recorded."""
    async with serve(engine_of([[("twice", {})], "Thanks."], twice)) as served:
        ada = await served.user("ada")
        conversation, [first] = await paused(ada)
        responses = await at_once(*[partial(ada.answer, first, {"pick": "red"})] * 2)
        assert [response.status_code for response in responses] == [200, 200]
        await ada.settled(conversation)
        assert len(await ada.open(conversation)) == 1


async def test_D3_the_other_tab_cannot_approve_what_it_does_not_show() -> None:
    """Tab 2 still shows A, worded like B: its click is refused, B stays open, and the truth comes along."""
    async with serve(engine_of(approvals("A", "B"), approve)) as served:
        tab1, tab2 = await served.user("ada"), await served.user("ada")
        conversation, [a] = await paused(tab1)
        shown = (await tab2.open(conversation))[0]
        await tab1.answer(a, {"pick": "blue"})
        await tab1.settled(conversation)
        [b] = await tab1.open(conversation)
        digest = f'"{shown["metadata"]["yourcall"]["digest"]}"'
        late = await tab2.answer(a, {"pick": "red"}, **{"If-Match": digest})
        assert (late.status_code, late.json()["ending"]) == (409, {"kind": "answered", "answer": "blue"})
        assert [one["id"] for one in await tab2.open(conversation)] == [b["id"]]
        assert b["id"] != a


async def test_D4_answers_at_once_are_all_kept() -> None:
    """Three questions, three requests at the same moment: none is lost, and the turn goes on once."""
    async with serve(engine_of(approvals("ABC"), approve)) as served:
        ada = await served.user("ada")
        conversation, ids = await paused(ada)
        responses = await at_once(*(partial(ada.answer, id, {"pick": "red"}) for id in ids))
        assert [response.status_code for response in responses] == [200] * 3
        snapshot = await ada.settled(conversation)
        assert [m["content"] for m in snapshot["messages"] if m["role"] == "tool"] == ["A: red", "B: red", "C: red"]
        assert asked(served.engine) == 2


async def test_D5_the_turn_goes_on_after_the_last_answer() -> None:
    """Not after the first, and exactly once after the second."""
    async with serve(engine_of(approvals("AB"), approve)) as served:
        ada = await served.user("ada")
        conversation, [a, b] = await paused(ada)
        await ada.answer(a, {"pick": "red"})
        assert (await ada.settled(conversation))["phase"] == "waiting"
        assert asked(served.engine) == 1
        await ada.answer(b, {"pick": "red"})
        assert (await ada.settled(conversation))["phase"] == "done"
        assert asked(served.engine) == 2


async def test_D6_a_message_and_an_answer_at_once_are_put_in_order() -> None:
    """Whichever comes first, the other finds a log that is in order: no 500, and every call has one result."""

    def approves_once(messages: Transcript) -> Said:
        return [("approve", {"what": "A"})] if messages[-1] == UserMessage("Go") else "Done."

    async with serve(engine_of(repeat(approves_once), approve)) as served:
        ada = await served.user("ada")
        seen: Counter[tuple[int, ...]] = Counter()
        for n in range(20):
            conversation, [a] = await paused(ada)
            say = partial(ada.post, f"/conversations/{conversation}/messages", json={"text": "Wait", "id": f"m{n}"})
            answer = partial(ada.answer, a, {"pick": "red"})
            responses = await at_once(*((say, answer) if n % 2 else (answer, say)))
            seen[tuple(sorted(response.status_code for response in responses))] += 1
            await ada.settled(conversation)
            messages = transcript(await served.engine.conversation(conversation, user="ada").log())
            calls = [call.id for m in messages if isinstance(m, AssistantMessage) for call in m.calls]
            assert [m.call_id for m in messages if isinstance(m, ToolMessage)] == calls
            assert [m.text for m in messages if isinstance(m, UserMessage)] == ["Go", "Wait"]
        assert set(seen) <= {(200, 202), (202, 410)}, seen


async def test_one_of_many_answers_wins() -> None:
    """T10: 32 at once, half of them different: one is recorded, the identical ones are told so, the others 409."""
    async with serve(engine_of([[("approve", {"what": "A"})], "Done."], approve)) as served:
        ada = await served.user("ada")
        conversation, [a] = await paused(ada)
        picks = ["red", "blue"] * 16
        responses = await at_once(*(partial(ada.answer, a, {"pick": pick}) for pick in picks))
        assert Counter(response.status_code for response in responses) == {200: 16, 409: 16}
        snapshot = await ada.settled(conversation)
        assert len([m for m in snapshot["messages"] if m["role"] == "tool"]) == 1
        assert asked(served.engine) == 2


async def test_C1_typing_instead_of_clicking() -> None:
    """The card closes for every listener, the message is said, and the model reads both in order."""
    async with serve(engine_of([[("approve", {"what": "A"})], "As you like."], approve)) as served:
        ada = await served.user("ada")
        conversation, [a] = await paused(ada)
        head = (await ada.snapshot(conversation))["head"]
        await ada.say(conversation, "No, I don't want that")
        frames = await ada.events(conversation, after=head)
        closed = [f.event["value"] for f in frames if f.event.get("name") == "yourcall.closed"]
        assert closed == [{"id": a, "ending": {"kind": "superseded"}}]
        await until(lambda: asked(served.engine) == 2)
        _, _, result, said = model_of(served.engine).requests[1].transcript
        assert isinstance(result, ToolMessage)
        assert result.status == "superseded"
        assert said == UserMessage("No, I don't want that")
