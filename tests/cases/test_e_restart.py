"""Group E: restart, redeploy, refresh. A process that comes later knows nothing but the file."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, closing
from typing import Any

import anyio
import pytest

from tests.scene import Process, Say, Scene
from tests.support import assert_well_formed, until
from yourcall import Agent, Context, Engine, Rejected, Tool, Unavailable, ask_user, tool
from yourcall.entries import Answered, Asked, Closed, Entry, Interrupt
from yourcall.errors import Changed, CheckFailed
from yourcall.errors import Closed as ClosedError
from yourcall.events import Ended
from yourcall.log import Done, Log, Phase, Waiting
from yourcall.ports import ModelEvent, ModelRequest, TextDelta
from yourcall.store.sqlite import SQLiteStore
from yourcall.testing import ScriptedModel

pytestmark = pytest.mark.anyio


@tool
def asks(ctx: Context) -> str:
    return ctx.ask(Say("Which?", "a", "b", help="The first is cheaper."))


@tool
def asks_twice(ctx: Context) -> str:
    return f"{ctx.ask(Say('First?'))} {ctx.ask(Say('Second?'))}"


QUESTIONS = [
    {"prompt": "Which day?", "header": "Day", "options": [{"label": "Mon", "description": "early"}, {"label": "Tue"}]}
]
CARD: Any = [("ask_user", {"questions": QUESTIONS})]


async def paused(scene: Scene, *tools: Tool[Any], steps: Any = None) -> tuple[Interrupt, ...]:
    """A process that asks, and ends: what was open."""
    async with scene.process(*tools, steps=steps) as p:
        assert isinstance(await p.say(), Waiting)
        return await p.chat.interrupts()


# --------------------------------------------------------------------------- E1, E2, E3, E6


async def test_E1_a_question_outlives_its_process(scene: Scene) -> None:
    """It is listed with its id, its text and its options, and the conversation says that it waits."""
    (question,) = await paused(scene, ask_user, steps=[CARD])
    async with scene.process(ask_user) as p:
        assert await p.chat.interrupts() == (question,)
        (shown,) = question.ask["questions"]
        assert (shown["prompt"], [option["label"] for option in shown["options"]]) == ("Which day?", ["Mon", "Tue"])
        assert (await p.chat.snapshot())[1] == Waiting((question,))
        assert [(one.id, one.phase) for one in await p.engine.conversations(user="ada")] == [("c", "waiting")]
        assert not p.model.requests


async def test_E2_it_can_be_answered_there(scene: Scene) -> None:
    """Its answer goes to the tool that asked, and the conversation goes on."""
    await paused(scene, ask_user, steps=[CARD])
    async with scene.process(ask_user) as p:
        assert await p.answer({"answers": [{"selected": ["Tue"]}]}) == Done()
        assert (await p.content())["answers"][0]["selected"] == ["Tue"]
        assert_well_formed(await p.chat.log())


ROUTES: dict[str, tuple[Callable[[Process, str], Awaitable[Answered | Closed]], str]] = {
    "the conversation's answer": (lambda p, id: p.chat.answer(id, "a"), "ok"),
    "the engine's answer": (lambda p, id: p.engine.answer(id, "a", user="ada"), "ok"),
    "the conversation's skip": (lambda p, id: p.chat.skip(id), "skipped"),
    "the engine's skip": (lambda p, id: p.engine.skip(id, user="ada", note="later"), "skipped"),
    "the engine's refusal": (lambda p, id: p.engine.decline(id, user="ada"), "declined"),
}


@pytest.mark.parametrize("route", ROUTES)
async def test_E3_every_way_to_answer_works_in_a_new_process(scene: Scene, route: str) -> None:
    """None of them needs anything that only the asking process had."""
    (question,) = await paused(scene, asks)
    answer, status = ROUTES[route]
    async with scene.process(asks) as p:
        recorded = await answer(p, question.id)
        assert await p.rest() == Done()
        assert (await p.engine.find(question.id, user="ada")).ending == recorded
        assert (await p.result()).status == status


async def test_E6_one_answer_is_enough(scene: Scene) -> None:
    """After each answer the process ends; each question is asked once, and takes exactly one answer."""
    await paused(scene, asks_twice)
    for answer, phase in (("x", Waiting), ("y", Done)):
        async with scene.process(asks_twice) as p:
            assert isinstance(await p.answer(answer), phase)
    async with scene.process(asks_twice) as p:
        assert await p.content() == "x y"
        assert len(await p.bodies(Asked)) == len(await p.bodies(Answered)) == 2
        assert not p.model.requests


async def test_E6_nothing_listens_while_it_waits(scene: Scene) -> None:
    """The stream ended with the question; the answer is given without one, and the rest can be read later."""
    async with scene.process(asks) as p:
        *_, last = [event async for event in p.chat.say("go")]
        assert isinstance(last, Ended)
        await p.chat.answer((await p.open()).id, "a")
        await p.engine.drain()
        events = [event async for event in p.chat.events(last.head)]
        seqs = [event.seq for event in events if isinstance(event, Entry)]
        assert seqs == list(range(last.head + 1, last.head + len(events)))
        assert events[-1] == Ended(Done(), seqs[-1])


# --------------------------------------------------------------------------- E5


async def state(p: Process) -> tuple[Log, Phase, tuple[Interrupt, ...]]:
    """All that a page shows after a reload."""
    return (*await p.chat.snapshot(), await p.chat.interrupts())


async def _mistaken(p: Process) -> None:
    with pytest.raises(Rejected):
        await p.answer("neither")


async def test_E5_a_refresh_between_all_steps_changes_nothing(scene: Scene) -> None:
    """Asked, answered wrongly, answered, asked again, answered: each process sees what the one before it saw."""
    steps: list[tuple[Callable[[Process], Awaitable[object]], int]] = [
        (lambda p: p.say(), 1),
        (_mistaken, 1),
        (lambda p: p.answer("a"), 1),
        (_mistaken, 1),
        (lambda p: p.answer("b"), 0),
    ]

    @tool
    def asks(ctx: Context) -> str:
        return ctx.ask(Say("First?", "a")) + ctx.ask(Say("Second?", "b"))

    seen = None
    for step, opened in steps:
        async with scene.process(asks) as p:
            assert seen is None or await state(p) == seen
            await step(p)
            seen = await state(p)
            assert len(seen[2]) == opened
    async with scene.process(asks) as p:
        assert await state(p) == seen
        assert await p.content() == "ab"


async def test_E5_a_refresh_while_the_model_speaks(scene: Scene) -> None:
    """Half a step is nothing that a reload shows, and nothing that a crash leaves: the step is made anew."""
    speaking = anyio.Event()

    class Speaking(ScriptedModel):
        async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
            yield TextDelta("Half a")
            speaking.set()
            await anyio.sleep_forever()

    store = SQLiteStore(str(scene.path), clock=lambda: scene.now)
    async with Engine(Agent[Any](Speaking()), store) as engine:
        await engine.conversation("c", user="ada").post("go")
        await speaking.wait()
        async with scene.process() as reloaded:
            assert await reloaded.kinds() == "user run"
            assert await state(reloaded) == await state(Process(engine, Speaking()))
        later = scene.crashed()
        await engine.conversation("c", user="ada").cancel()
    async with later.process() as p:
        assert await p.rest() == Done()
        assert await p.transcript() == ["user: go", "assistant: Done."]


# --------------------------------------------------------------------------- E7


async def _expired(scene: Scene, p: Process) -> None:
    scene.now += 60
    await p.engine.sweep()


async def _declined(scene: Scene, p: Process) -> None:
    await p.engine.decline((await p.open()).id, user="ada", note="Not now")


ENDINGS: dict[str, tuple[Callable[[Scene, Process], Awaitable[object]], str | None]] = {
    "expired": (_expired, None),
    "declined": (_declined, "Not now"),
    "skipped": (lambda scene, p: p.skip(note="Later"), "Later"),
    "superseded": (lambda scene, p: p.say("else"), None),
    "cancelled": (lambda scene, p: p.chat.cancel(), None),
}


@pytest.mark.parametrize("ending", ENDINGS)
async def test_E7_a_closed_question_still_says_what_was_asked(scene: Scene, ending: str) -> None:
    """In a later process the question, its options and why it was closed are there to read, by history and by id."""
    close, note = ENDINGS[ending]

    @tool
    def asks(ctx: Context) -> str:
        return ctx.ask(Say("Which?", "a", "b"), expires_in=60)

    async with scene.process(asks) as p:
        await p.say()
        question = await p.open()
        await close(scene, p)
    async with scene.process(asks) as p:
        await p.rest()
        (asked,) = await p.bodies(Asked)
        (closed,) = await p.bodies(Closed)
        assert asked.interrupt == question
        assert (question.message, question.ask["options"]) == ("Which?", ["a", "b"])
        assert (closed.interrupt, closed.ending, closed.note) == (question.id, ending, note)
        found = await p.engine.find(question.id, user="ada")
        assert (found.interrupt, found.ending) == (question, closed)


# --------------------------------------------------------------------------- E8


@tool(name="asks")
def with_more(ctx: Context, size: int = 1) -> str:
    """It has a parameter more, which the stored call does not name."""
    return ctx.ask(Say("Which?", "a", "b")) * size


@tool(name="asks")
def with_another(ctx: Context, size: int) -> str:
    """It has a parameter that the stored call would have had to name."""
    return ctx.ask(Say("Which?", "a", "b")) * size


@tool(name="asks")
def asking_else(ctx: Context) -> str:
    return ctx.ask(Say("Which of these?", "a", "b"))


@tool(name="asks")
def asking_nothing(ctx: Context) -> str:
    return "a"


@tool(name="asks")
def failing(ctx: Context) -> str:
    raise RuntimeError("canary")


@tool(name="renamed")
def renamed(ctx: Context) -> str:
    return ctx.ask(Say("Which?", "a", "b"))


TODAY: dict[str, list[Tool[Any]]] = {
    "removed": [],
    "renamed": [renamed],
    "one parameter more": [with_more],
    "a parameter that it cannot fill": [with_another],
    "another question": [asking_else],
    "no question": [asking_nothing],
    "broken": [failing],
}


@pytest.mark.parametrize("tools", TODAY)
async def test_E8_a_question_of_yesterdays_code_can_be_left_by_a_message(scene: Scene, tools: str) -> None:
    """Whatever became of its tool: it is listed as it was asked, and a message goes past it."""
    (question,) = await paused(scene, asks)
    async with scene.process(*TODAY[tools]) as p:
        assert await p.chat.interrupts() == (question,)
        assert await p.say("else") == Done()
        assert (await p.result()).status == "superseded"
        assert_well_formed(await p.chat.log())


@pytest.mark.parametrize("tools", ["a parameter that it cannot fill", "no question"])
async def test_E8_a_question_that_is_not_asked_any_more(scene: Scene, tools: str) -> None:
    """Answered once, nothing changes, since it may be a mistake of the moment; answered again, its call ends."""
    (question,) = await paused(scene, asks)
    async with scene.process(*TODAY[tools]) as p:
        with pytest.raises(Changed):
            await p.chat.answer(question.id, "a")
        assert await p.chat.interrupts() == (question,)
        with pytest.raises(Changed):
            await p.chat.answer(question.id, "a")
        assert await p.rest() == Done()
        assert (await p.result()).status == "failed"
        assert "did not ask what it had asked before" in await p.mistake()
        assert await p.say("on") == Done()
        assert_well_formed(await p.chat.log())


async def test_E8_a_tool_that_breaks_before_its_question(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    """That says nothing of the question: it stays open, however often, and is answered when the tool is mended."""
    (question,) = await paused(scene, asks)
    async with scene.process(failing) as p:
        for _ in range(3):
            with pytest.raises(CheckFailed):
                await p.chat.answer(question.id, "a")
        assert await p.chat.interrupts() == (question,)
    async with scene.process(asks) as p:
        assert await p.answer("a") == Done()
        assert await p.content() == "a"
    assert len(caplog.records) == 3


@pytest.mark.parametrize("tools", ["removed", "renamed"])
async def test_E8_a_question_whose_tool_is_gone(scene: Scene, tools: str) -> None:
    """The answer is told that the question is closed; its call has a clear error, and the conversation goes on."""
    (question,) = await paused(scene, asks)
    async with scene.process(*TODAY[tools]) as p:
        with pytest.raises(ClosedError) as closed:
            await p.chat.answer(question.id, "a")
        assert (closed.value.status, closed.value.ending) == (410, "unavailable")
        assert await p.rest() == Done()
        assert await p.error() == "The tool asks does not exist any more."
        assert await p.say("on") == Done()


async def test_E8_a_question_that_is_asked_differently(scene: Scene) -> None:
    """An answer to the old text is not taken for one to the new: the new question takes its place."""
    (old,) = await paused(scene, asks)
    async with scene.process(asking_else) as p:
        with pytest.raises(Changed):
            await p.chat.answer(old.id, "a")
        new = await p.open()
        assert (new.id != old.id, new.message) == (True, "Which of these?")
        with pytest.raises(Changed):
            await p.chat.answer(new.id, "a", digest=old.digest)
        assert await p.open() == new
        with pytest.raises(Changed):
            await p.chat.answer(old.id, "a")
        await p.chat.answer(new.id, "a", digest=new.digest)
        assert await p.rest() == Done()
        assert await p.content() == "a"


async def test_E8_a_tool_that_only_grew_still_takes_the_answer(scene: Scene) -> None:
    """A new parameter with a default is no reason to ask again."""
    await paused(scene, asks)
    async with scene.process(with_more) as p:
        assert await p.answer("b") == Done()
        assert await p.content() == "b"


async def test_E8_fields_of_a_later_release(scene: Scene) -> None:
    """A process of a release that knows more wrote fields into every entry: they are ignored, and nothing is lost."""
    (question,) = await paused(scene, asks)
    with closing(sqlite3.connect(scene.path)) as db, db:
        for where in ("$.added", "$.interrupt.added", "$.calls[0].added"):
            parent = where.rpartition(".")[0]
            known = f"json_type(body, '{parent}') = 'object'"
            changed = db.execute(f"UPDATE entry SET body = json_set(body, ?, json('[1]')) WHERE {known}", (where,))
            assert changed.rowcount > 0
    async with scene.process(asks) as p:
        assert await p.chat.interrupts() == (question,)
        assert await p.answer("a") == Done()
        assert_well_formed(await p.chat.log())


# --------------------------------------------------------------------------- E9, E10


async def test_E9_without_an_engine_nobody_is_asked() -> None:
    """Where no answer could be kept, an ask fails at once and says so, before any user has given one."""
    with pytest.raises(Unavailable, match="No user is available here"):
        asks(Context(user="ada"))
    with pytest.raises(Unavailable):
        Context(user="ada").interrupt("go?")


async def test_E9_a_store_in_memory_is_a_store(scene: Scene) -> None:
    """A chat that is not saved can be answered all the same, for as long as its process lives."""
    model = ScriptedModel([[("asks", {})], "Done."])
    async with Engine(Agent[Any](model, tools=[asks]), "sqlite://") as engine:
        p = Process(engine, model)
        await p.say()
        assert await p.answer("a") == Done()


async def test_E10_a_question_that_nobody_heard_does_no_harm(scene: Scene) -> None:
    """The stream is lost right before the question: it is there to be read, and a message goes past it as in C1."""
    async with scene.process(asks) as p:
        async with aclosing(p.chat.say("go")) as events:
            async for event in events:
                if isinstance(event, Entry) and event.kind == "assistant":
                    break
        question = await until(p.chat.interrupts)
        assert (await p.chat.snapshot())[1] == Waiting(question)
        assert await p.say("else") == Done()
        assert (await p.result()).status == "superseded"
        assert_well_formed(await p.chat.log())
