"""Group C: calls left hanging by a message, a stop, a crash or a refresh."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.cases import crashing
from tests.scene import Process, Say, Scene
from tests.support import assert_well_formed, kinds, until
from yourcall import Agent, Context, Engine, ask_user, tool
from yourcall.entries import Asked, Result, User, dump, load
from yourcall.errors import Closed as ClosedError
from yourcall.events import Ended
from yourcall.log import INTERRUPTED, Done, Log, Waiting, phase
from yourcall.ports import Finished, ModelEvent, ModelRequest, TextDelta
from yourcall.store.sqlite import SQLiteStore

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[2]


@tool
def asks(ctx: Context) -> str:
    return ctx.ask(Say("Which?", "a", "b"))


@tool
def plain() -> str:
    return "plain"


QUESTIONS = [
    {"prompt": "Delete all?", "header": "Delete", "options": [{"label": "Yes"}, {"label": "No", "recommended": True}]},
    {"prompt": "And the copies?", "header": "Copies", "multi": True, "options": [{"label": "Old"}, {"label": "New"}]},
]


# --------------------------------------------------------------------------- C1


async def test_C1_typing_instead_of_clicking(scene: Scene) -> None:
    """A message supersedes the question: its call is closed, the model reads both, and a late click is told so."""
    async with scene.process(ask_user, steps=[[("ask_user", {"questions": QUESTIONS})]]) as p:
        assert isinstance(await p.say("Tidy up"), Waiting)
        question = await p.open()
        assert await p.say("No, I don't want that") == Done()

        log = await p.chat.log()
        assert_well_formed(log)
        assert (await p.transcript())[2:] == [
            'call_1_1: {"ok":false,"error":"Not answered: the user wrote a message instead. It follows."}',
            "user: No, I don't want that",
            "assistant: Done.",
        ]
        written = next(entry.seq for entry in log.entries if entry.body == User("No, I don't want that"))
        assert kinds(log.entries[written - 3 : written]) == ["closed", "result", "user"]
        assert len({entry.at for entry in log.entries[written - 3 : written]}) == 1
        assert await p.chat.interrupts() == ()
        with pytest.raises(ClosedError) as late:
            await p.chat.answer(question.id, {"answers": [{"selected": ["Yes"]}, {"selected": []}]})
        assert (late.value.status, late.value.ending) == (410, "superseded")
        assert await p.chat.log() == log


async def test_C1_every_open_question_is_closed(scene: Scene) -> None:
    """A step that asks twice leaves neither of its questions behind."""
    async with scene.process(asks, steps=[[("asks", {}), ("asks", {})]]) as p:
        await p.say()
        assert len(await p.chat.interrupts()) == 2
        assert await p.say("Neither") == Done()
        assert await p.chat.interrupts() == ()
        assert [result.status for result in await p.bodies(Result)] == ["superseded"] * 2
        assert_well_formed(await p.chat.log())


async def test_C1_in_a_new_process(scene: Scene) -> None:
    """So it is after a restart, with a question that this process never asked."""
    async with scene.process(asks) as p:
        await p.say()
    async with scene.process(asks) as p:
        assert await p.say("Something else") == Done()
        assert (await p.result()).status == "superseded"
        assert_well_formed(await p.chat.log())


# --------------------------------------------------------------------------- C3


@contextmanager
def child(path: Path, at: str) -> Iterator[subprocess.Popen[str]]:
    """The process that dies there; it is waited for."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    command = [sys.executable, "-m", "tests.cases.crashing", str(path), at]
    with subprocess.Popen(
        command, env=env, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def killed(path: Path, at: str) -> None:
    with child(path, at) as process:
        _, err = process.communicate(timeout=20)
        assert process.returncode == -signal.SIGKILL, err


async def goes_on(scene: Scene) -> list[str]:
    """A new process, when the lease of the dead one is over: the user writes, and the conversation goes on."""
    scene.pass_lease()
    async with scene.process(crashing.works, crashing.asks) as p:
        await p.rest()
        assert await p.say("hello?") == Done()
        assert_well_formed(await p.chat.log())
        return await p.transcript()


async def test_C3_killed_while_a_plain_tool_runs(scene: Scene) -> None:
    """SIGKILL from outside: the call gets an honest result, and is not run again."""
    with child(scene.path, "tool") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "in the tool\n"
        process.kill()
        process.wait(20)
    assert await goes_on(scene) == [
        "user: go",
        "assistant: call_1_1",
        f'call_1_1: {{"ok":false,"error":"{INTERRUPTED}"}}',
        "assistant: Done.",
        "user: hello?",
        "assistant: Done.",
    ]


@pytest.mark.parametrize(
    "statement", ["BEGIN", "UPDATE conversation", "INSERT INTO entry", "INSERT INTO inter", "COMMIT"]
)
async def test_C3_killed_while_a_question_is_stored(scene: Scene, statement: str) -> None:
    """At any statement: the question is not there at all, so it is asked again; then the message supersedes it."""
    killed(scene.path, statement)
    scene.pass_lease()
    async with scene.process(crashing.works, crashing.asks) as p:
        await until(p.chat.interrupts)
        assert await p.kinds() == "user run assistant began run began asked"
        assert await p.answer("a") == Done()
        assert_well_formed(await p.chat.log())
        assert len(await p.bodies(Asked)) == 1


async def test_C3_killed_right_after_a_question_was_stored(scene: Scene) -> None:
    """It is there, as it was asked; the message supersedes it."""
    killed(scene.path, "stored")
    assert (await goes_on(scene))[2] == (
        'call_1_1: {"ok":false,"error":"Not answered: the user wrote a message instead. It follows."}'
    )


# --------------------------------------------------------------------------- C4


@pytest.mark.parametrize("order", ["asks plain", "plain asks", "asks plain asks"])
async def test_C4_one_of_a_step_is_skipped(scene: Scene, order: str) -> None:
    """Each call has its own result: the skipped one says so, the plain one what it returned, in call order."""
    names = order.split()
    async with scene.process(asks, plain, steps=[[(name, {}) for name in names]]) as p:
        await p.say()
        for question in await p.chat.interrupts():
            assert len(p.model.requests) == 1
            await p.skip(question)
        assert await p.rest() == Done()
        assert_well_formed(await p.chat.log())
        assert len(p.model.requests) == 2
        statuses = {result.call: result.status for result in await p.bodies(Result)}
        assert statuses == {f"call_1_{n}": "skipped" if name == "asks" else "ok" for n, name in enumerate(names, 1)}


# --------------------------------------------------------------------------- C5


@tool
def asks_a_while(ctx: Context) -> str:
    return ctx.ask(Say("Which?"), expires_in=60)


async def _decline(scene: Scene, p: Process) -> None:
    question = await p.open()
    await p.engine.decline(question.id, user="ada")


async def _expire(scene: Scene, p: Process) -> None:
    scene.now += 60
    await p.engine.sweep()


WAYS: dict[str, tuple[Callable[[Scene, Process], Awaitable[object]], str]] = {
    "skipped": (lambda scene, p: p.skip(), "The user skipped this question and gave no answer."),
    "declined": (_decline, "The user declined. It was not done."),
    "expired": (_expire, "The question expired before the user answered. No answer was given."),
    "superseded": (lambda scene, p: p.say("else"), "Not answered: the user wrote a message instead. It follows."),
    "cancelled": (lambda scene, p: p.chat.cancel(), "Not answered: the user cancelled the run."),
}


@pytest.mark.parametrize("way", WAYS)
async def test_C5_each_way_to_hang_is_told_as_what_it_is(scene: Scene, way: str) -> None:
    """The model reads why there is no answer, in words of its own, and never that it went well."""
    how, words = WAYS[way]
    async with scene.process(asks_a_while) as p:
        await p.say()
        await how(scene, p)
        await p.say("and now?")
        assert_well_formed(await p.chat.log())
        result = await p.result()
        assert (result.status, result.content["ok"], result.content["error"]) == (way, False, words)


async def test_C5_what_a_crash_cut_off(scene: Scene) -> None:
    """That nobody knows is told as that, and as nothing that a user did."""
    reached, go = anyio.Event(), anyio.Event()

    @tool
    async def works() -> str:
        reached.set()
        await go.wait()
        return "done"

    async with scene.process(works) as p:
        await p.chat.post("go")
        await reached.wait()
        later = scene.crashed()
        go.set()
    async with later.process(works) as p:
        assert await p.rest() == Done()
        result = await p.result()
        assert (result.status, result.content["error"]) == ("interrupted", INTERRUPTED)
    assert len({INTERRUPTED, *(words for _, words in WAYS.values())}) == len(WAYS) + 1


# --------------------------------------------------------------------------- C6


class Typing:
    """A model that has written the beginning of a step, the arguments of its call not yet complete, and stops there."""

    def __init__(self) -> None:
        self.typing = anyio.Event()

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        if len(request.transcript) > 1:
            yield Finished("Done.")
            return
        yield TextDelta("Let me ask")
        self.typing.set()
        await anyio.sleep_forever()


async def test_C6_stopped_while_the_call_is_written(scene: Scene) -> None:
    """A call of which half has come is no call: nothing waits, and the next message finds a sound history."""
    model = Typing()
    async with Engine(Agent[Any](model, tools=[asks]), SQLiteStore(str(scene.path))) as engine:
        chat = engine.conversation("c", user="ada")
        await chat.post("go")
        await model.typing.wait()
        await chat.cancel()
        assert await chat.interrupts() == ()
        with anyio.fail_after(5):
            await engine.drain()
        assert kinds((await chat.log()).entries) == ["user", "run", "stopped"]
        engine.draining = False
        assert [event async for event in chat.say("again")][-1] == Ended(Done(), 6)
        assert_well_formed(await chat.log())


async def test_C6_stopped_when_it_asks(scene: Scene) -> None:
    """The question is closed as cancelled, what had ended keeps its result, and no tool runs a second time."""
    ran: list[str] = []

    @tool
    def counts() -> str:
        ran.append("x")
        return "counted"

    async with scene.process(counts, asks) as p:
        await p.say()
        await p.chat.cancel()
        assert await p.rest() == Done("cancelled")
        assert await p.say("again") == Done()
        assert_well_formed(await p.chat.log())
        assert await p.content("call_1_1") == "counted"
        assert (await p.result("call_1_2")).status == "cancelled"
    assert ran == ["x"]


# --------------------------------------------------------------------------- C7


async def test_C7_what_is_pending_is_in_the_messages(scene: Scene) -> None:
    """The entries alone, read as text in another process, hold every open question as its card draws it."""
    async with scene.process(ask_user, asks, steps=[[("ask_user", {"questions": QUESTIONS}), ("asks", {})]]) as p:
        await p.say()
        pending = await p.chat.interrupts()
        stored = [(e.seq, e.at, e.kind, dump(e)) for e in (await p.chat.log()).entries]
    again = Log(tuple(load(*row) for row in json.loads(json.dumps(stored))))
    assert again.interrupts == pending
    assert phase(again) == Waiting(pending)
    questions, say = pending
    assert [(one.kind, one.call_id) for one in pending] == [("questions", "call_1_1"), ("say", "call_1_2")]
    assert [question["prompt"] for question in questions.ask["questions"]] == ["Delete all?", "And the copies?"]
    assert [option["label"] for option in questions.ask["questions"][0]["options"]] == ["Yes", "No"]
    assert say.ask["options"] == ["a", "b"]
