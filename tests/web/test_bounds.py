"""What one process takes on at once is bounded, and what is beyond is refused in time: nothing of it is lost."""

from __future__ import annotations

from contextlib import AsyncExitStack
from itertools import repeat

import anyio
import httpx
import pytest

from tests.web.agents import free, pick, quick
from tests.web.serving import Served, User, serve, until
from yourcall import Agent, Context, Engine, tool
from yourcall.entries import User as Message
from yourcall.log import Waiting
from yourcall.testing import ScriptedModel, ScriptStep

pytestmark = pytest.mark.anyio


def refused(response: httpx.Response, status: int, slug: str) -> None:
    """A problem that says when to come back."""
    assert (response.status_code, response.json()["type"]) == (status, f"urn:yourcall:problem/{slug}"), response.text
    assert int(response.headers["retry-after"]) > 0


async def test_more_runs_than_there_is_room_for_wait_outside() -> None:
    """503, nothing recorded, the questions stay open; as soon as a run has ended there is room again."""
    go = anyio.Event()

    @tool
    async def slow(ctx: Context) -> str:
        """Takes its time."""
        await go.wait()
        return "done"

    model = ScriptedModel([[("free", {})], [("slow", {})], "Slow.", "Thanks."])
    async with serve(Engine(Agent(model, tools=(free, slow)), "sqlite://", max_runs=1)) as served:
        ada, bob = await served.user("ada"), await served.user("bob")
        asking, working = await ada.create(), await bob.create()
        await ada.say(asking, "Ask me")
        await ada.settled(asking)
        [question] = await ada.open(asking)
        await bob.say(working, "Work")
        head = (await ada.snapshot(asking))["head"]

        refused(await ada.answer(question["id"], "red"), 503, "busy")
        refused(await ada.post(f"/interrupts/{question['id']}/skip", json={}), 503, "busy")
        refused(await ada.post(f"/conversations/{asking}/messages", json={"text": "Hello?"}), 503, "busy")
        message = {"id": "m", "role": "user", "content": "Hello?"}
        refused(await ada.post("/agui", json={"threadId": asking, "runId": "r", "messages": [message]}), 503, "busy")
        assert await ada.open(asking) == [question]
        assert (await ada.snapshot(asking))["head"] == head

        go.set()
        await bob.settled(working)
        assert (await ada.answer(question["id"], "red")).status_code == 200
        await ada.settled(asking)


async def test_a_run_that_could_not_begin_here_begins_when_there_is_room() -> None:
    """What a sweep finds while all places are taken stays runnable, for another process or a later sweep."""
    go = anyio.Event()

    @tool
    async def slow(ctx: Context) -> str:
        """Takes its time."""
        await go.wait()
        return "done"

    model = ScriptedModel([[("slow", {})], "Slow.", "Late."])
    engine = Engine(Agent(model, tools=(slow,)), "sqlite://", max_runs=1, sweep_every=0.05)
    async with serve(engine) as served:
        bob = await served.user("bob")
        await bob.say(working := await bob.create(), "Work")
        late = engine.conversation("late", user="bob")
        await engine.record(late.key).write(lambda log, now: [Message("Left by a process that died")])
        await engine.sweep()
        assert (await bob.snapshot("late"))["phase"] == "run"
        assert engine._runs.going_on.count == 1
        go.set()
        await bob.settled(working)
        assert (await bob.settled("late"))["phase"] == "done"


async def followed(served: Served, stack: AsyncExitStack, user: User, conversation: str, count: int) -> None:
    for _ in range(count):
        await stack.enter_async_context(user.follow(conversation))


async def test_a_user_has_so_many_streams_and_not_more() -> None:
    """429 for the next one, by either way, and nothing of it is taken; others are not concerned."""
    go = anyio.Event()

    @tool
    async def slow(ctx: Context) -> str:
        """Takes its time."""
        await go.wait()
        return "done"

    engine = Engine(Agent(ScriptedModel(repeat([("slow", {})])), tools=(slow, quick), max_steps=1), "sqlite://")
    async with serve(engine, max_streams=3) as served, AsyncExitStack() as streams:
        ada, bob = await served.user("ada"), await served.user("bob")
        chat, other = await ada.create(), await bob.create()
        await ada.say(chat, "Work")
        await bob.say(other, "Work")
        await followed(served, streams, ada, chat, 3)
        head = (await ada.snapshot(chat))["head"]
        refused(await ada.get(f"/conversations/{chat}/events"), 429, "too-many-streams")
        message = {"id": "m", "role": "user", "content": "And this"}
        body = {"threadId": chat, "runId": "r", "messages": [message]}
        refused(await ada.post("/agui", json=body), 429, "too-many-streams")
        assert (await ada.snapshot(chat))["head"] == head
        async with bob.follow(other) as reader:
            go.set()
            await reader.read()
        await streams.aclose()
        await ada.settled(chat)


async def test_streams_that_have_ended_are_not_counted() -> None:
    """Whether they came to their end, were refused or were left: nothing of them stays."""
    engine = Engine(Agent(ScriptedModel([[("pick", {})]]), tools=(pick,)), "sqlite://")
    async with serve(engine, max_streams=1) as served:
        ada = await served.user("ada")
        chat = await ada.create()
        await ada.say(chat, "Ask me")
        for _ in range(5):
            await ada.events(chat)
            assert (await ada.get("/conversations/unknown/events")).status_code == 404
        assert isinstance((await engine.conversation(chat, user="ada").snapshot())[1], Waiting)


async def test_a_reader_that_stands_still_holds_up_no_run() -> None:
    """It is given what there is later; the run has ended long before, and so has everybody else's stream."""
    words = [" ".join(f"{n}-{w}" for w in range(20_000)) for n in range(4)]
    steps: list[ScriptStep] = [[("quick", {"word": words[0]})], [("quick", {"word": words[1]})], "The end."]
    engine = Engine(Agent(ScriptedModel(steps), tools=(quick,)), "sqlite://")
    async with serve(engine) as served:
        ada, again = await served.user("ada"), await served.user("ada")
        chat = await ada.create()
        await ada.say(chat, "Work")
        async with ada.follow(chat) as still:
            assert (await again.settled(chat))["phase"] == "done"
            await until(lambda: not engine._runs.going_on)
            frames = await still.read()
        assert frames[-1].type == "RUN_FINISHED"
        assert "".join(f.event["content"] for f in frames if f.type == "TOOL_CALL_RESULT").count("-19999") == 2
