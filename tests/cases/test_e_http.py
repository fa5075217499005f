"""Cases E over HTTP: restarts, refreshes, lost events; and C7."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.web.agents import Pick, asked, engine_of, free, pick, quick
from tests.web.serving import Served, User, serve
from yourcall import Context, tool
from yourcall.store.sqlite import SQLiteStore
from yourcall.testing import ScriptStep

pytestmark = pytest.mark.anyio


@tool
def hurry(ctx: Context) -> str:
    """Ask for a pick within a minute."""
    return str(ctx.ask(Pick("Quick, which?", "red", "blue"), expires_in=60))


Start = Callable[..., Any]


@pytest.fixture
def start(tmp_path: Path) -> Start:
    """Starts a server on the same file; each time, everything but the file is new."""

    @asynccontextmanager
    async def begin(steps: Iterable[ScriptStep] = ("Thanks.",), *, now: float = 0) -> AsyncIterator[Served]:
        store = SQLiteStore(str(tmp_path / "chat.db"), clock=lambda: time.time() + now)
        async with serve(engine_of(steps, pick, free, quick, hurry, store=store)) as served:
            yield served

    return begin


async def paused(served: Served, conversation: str = "c1") -> list[dict[str, Any]]:
    """Ada's conversation waits; its open questions."""
    ada = await served.user("ada")
    await ada.create(id=conversation)
    await ada.say(conversation, "Paint it", id="m1")
    await ada.settled(conversation)
    return await ada.open(conversation)


async def test_E1_a_question_outlives_its_process(start: Start) -> None:
    """After a restart it is listed with all that its card draws, under the same id."""
    async with start([[("pick", {"title": "Which wall?"})]]) as served:
        before = await paused(served)
    async with start() as served:
        assert await (await served.user("ada")).open("c1") == before
    assert before[0]["metadata"]["yourcall"]["ask"]["options"] == ["red", "blue"]


async def test_E2_and_can_be_answered_there(start: Start) -> None:
    """The new process takes the answer with the digest of the old one, and carries the turn on."""
    async with start([[("pick", {})]]) as served:
        [one] = await paused(served)
    async with start() as served:
        ada = await served.user("ada")
        digest = f'"{one["metadata"]["yourcall"]["digest"]}"'
        assert (await ada.answer(one["id"], {"pick": "red"}, **{"If-Match": digest})).status_code == 200
        snapshot = await ada.settled("c1")
        assert (snapshot["phase"], snapshot["messages"][-1]["content"]) == ("done", "Thanks.")


async def by_http(ada: User, served: Served, id: str) -> None:
    assert (await ada.answer(id, {"pick": "red"})).status_code == 200


async def by_skip(ada: User, served: Served, id: str) -> None:
    assert (await ada.post(f"/interrupts/{id}/skip")).status_code == 200


async def by_agui(ada: User, served: Served, id: str) -> None:
    await ada.run("c1", [], resume=[{"interruptId": id, "status": "resolved", "payload": {"pick": "red"}}])


async def by_engine(ada: User, served: Served, id: str) -> None:
    await served.engine.answer(id, {"pick": "red"}, user="ada")


async def by_conversation(ada: User, served: Served, id: str) -> None:
    await served.engine.conversation("c1", user="ada").answer(id, {"pick": "red"})


@pytest.mark.parametrize("way", [by_http, by_skip, by_agui, by_engine, by_conversation])
async def test_E3_every_way_to_answer_works_in_a_new_process(start: Start, way: Any) -> None:
    """None of them looks into the memory of the process that asked."""
    async with start([[("pick", {})]]) as served:
        [one] = await paused(served)
    async with start() as served:
        ada = await served.user("ada")
        await way(ada, served, one["id"])
        assert (await ada.settled("c1"))["phase"] == "done"
        assert asked(served.engine) == 1


async def test_E5_a_refresh_at_any_moment_shows_the_same(start: Start) -> None:
    """While it runs, while it waits, half answered, answered: every reload agrees with what came before."""
    async with start([[("pick", {}), ("free", {})], "Thanks."]) as served:
        one, two = await paused(served)
        states = []
        for step in (None, (one["id"], {"pick": "red"}), (two["id"], "stars")):
            if step:
                assert (await (await served.user("ada")).answer(*step)).status_code == 200
            first, second = await served.user("ada"), await served.user("ada")
            await first.settled("c1")
            states.append(await first.snapshot("c1"))
            assert await second.snapshot("c1") == states[-1]
        waiting, half, done = states
        asks = [{i["id"]: i["metadata"]["yourcall"]["ask"] for i in state["interrupts"]} for state in states]
        assert asks[0] == asks[1] == asks[2]
        assert [state["phase"] for state in (waiting, half, done)] == ["waiting", "waiting", "done"]
        endings = {i["id"]: i["metadata"]["yourcall"]["ending"] for i in half["interrupts"]}
        assert endings == {one["id"]: {"kind": "answered", "answer": "red"}, two["id"]: None}


async def test_E6_one_answer_is_enough(start: Start) -> None:
    """Every connection and worker was gone for a while: the first answer is the one that counts."""
    async with start([[("pick", {})]]) as served:
        [one] = await paused(served)
    async with start():
        pass
    async with start(["Thanks."]) as served:
        ada = await served.user("ada")
        response = await ada.answer(one["id"], {"pick": "red"})
        assert (response.status_code, response.json()["ending"]) == (200, {"kind": "answered"})
        assert (await ada.settled("c1"))["messages"][-1]["content"] == "Thanks."


async def test_E7_a_closed_question_still_says_what_was_asked(start: Start) -> None:
    """Expired over night, or superseded: the question, its options and the reason are in the history."""
    async with start([[("hurry", {})]]) as served:
        await paused(served)
    async with start(["It expired.", [("pick", {})], "As you like."], now=3600) as served:
        ada = await served.user("ada")
        await served.engine.sweep()
        await ada.settled("c1")
        await ada.say("c1", "Again")
        await ada.settled("c1")
        await ada.say("c1", "Never mind")
        snapshot = await ada.settled("c1")
        assert [i["metadata"]["yourcall"]["ending"]["kind"] for i in snapshot["interrupts"]] == [
            "expired",
            "superseded",
        ]
        for interrupt in snapshot["interrupts"]:
            assert interrupt["metadata"]["yourcall"]["ask"]["options"] == ["red", "blue"]
            assert interrupt["message"]


async def test_E10_a_missed_question_does_no_harm(start: Start) -> None:
    """The stream is lost just before the pause: the question is there by GET, and a message closes it."""
    async with start([[("pick", {})], "As you like."]) as served:
        ada = await served.user("ada")
        await ada.create(id="c1")
        await ada.say("c1", "Paint it")
        async with ada.follow("c1") as reader:
            await reader.comments(1)
        with anyio.fail_after(10):
            while not (open := await ada.open("c1")):
                await anyio.lowlevel.checkpoint()
        await ada.say("c1", "Never mind")
        snapshot = await ada.settled("c1")
        assert [i["id"] for i in snapshot["interrupts"]] == [open[0]["id"]]
        assert snapshot["interrupts"][0]["metadata"]["yourcall"]["ending"] == {"kind": "superseded"}
        assert snapshot["messages"][-1]["content"] == "As you like."


async def test_C7_what_is_pending_can_be_read_from_public_history(start: Start) -> None:
    """A new process, one GET: the pending calls, and for each its question with id, texts, options and kind."""
    async with start([[("pick", {"title": "Which wall?"}), ("free", {})]]) as served:
        before = await paused(served)
    async with start() as served:
        snapshot = await (await served.user("ada")).snapshot("c1")
        calls = [call["id"] for m in snapshot["messages"] for call in m.get("toolCalls", ())]
        answered = {m["toolCallId"] for m in snapshot["messages"] if m["role"] == "tool"}
        pending = [call for call in calls if call not in answered]
        assert [i["toolCallId"] for i in before] == pending
        assert sorted(snapshot["interrupts"], key=before.index) == before
        assert [i["metadata"]["yourcall"]["kind"] for i in before] == ["pick", "interrupt"]
        assert [i["metadata"]["yourcall"]["tool"] for i in before] == ["pick", "free"]
        json.dumps(snapshot, allow_nan=False)
