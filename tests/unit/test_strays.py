"""What comes out of other people's code and is no `Exception`: it ends what it came from, and nothing else."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.scene import Say, Scene
from yourcall import Agent, Context, Engine, tool
from yourcall.errors import CheckFailed
from yourcall.log import Done
from yourcall.testing import ScriptedModel

pytestmark = pytest.mark.anyio


async def waits_for_what_was_cancelled() -> None:
    inner = asyncio.ensure_future(asyncio.sleep(60))
    inner.cancel()
    await inner


STRAYS: list[BaseException] = [asyncio.CancelledError(), SystemExit(3), GeneratorExit()]


@pytest.mark.parametrize("stray", STRAYS, ids=lambda stray: type(stray).__name__)
async def test_a_model_that_strays_ends_its_step_only(scene: Scene, stray: BaseException) -> None:
    """The run stops and can be resumed; the engine and everybody else's conversations go on, after a restart too."""
    async with scene.process(steps=[stray, "Hello, Bob."]) as p:
        stopped = await p.say()
        assert isinstance(stopped, Done)
        assert (stopped.reason, stopped.retryable) == ("model-failed", True)
        events = [event async for event in p.engine.conversation("c", user="bob").say("hi")]
        assert events
    async with scene.process(steps=["Hello, Ada."]) as p:
        await p.chat.resume()
        assert await p.rest() == Done()


async def test_a_cancel_within_a_client_library_is_a_failure_of_the_model(scene: Scene) -> None:
    """Awaiting a task that was cancelled elsewhere looks like a cancel of our own, and is none."""

    class Model(ScriptedModel):
        async def stream(self, request: Any) -> Any:
            await waits_for_what_was_cancelled()
            yield None

    async with Engine(Agent(Model()), f"sqlite:///{scene.path}") as engine:
        async for _ in engine.conversation("c", user="ada").say("hi"):
            pass
        assert (await engine.conversation("c", user="ada").snapshot())[1] == Done(
            "model-failed", True, "The model failed. Try again."
        )


@pytest.mark.parametrize("stray", STRAYS, ids=lambda stray: type(stray).__name__)
async def test_deps_that_stray_end_their_run_only(tmp_path: Path, stray: BaseException) -> None:
    """The log says that something went wrong; nothing is tried again at every start."""

    def deps(user: str, conversation: str) -> None:
        raise stray

    agent: Agent[None] = Agent(ScriptedModel(["Hello."]))
    async with Engine(agent, f"sqlite:///{tmp_path}/c.db", deps=deps) as engine:
        chat = engine.conversation("c", user="ada")
        async for _ in chat.say("hi"):
            pass
        done = (await chat.snapshot())[1]
        assert isinstance(done, Done)
        assert done.reason == "internal"


@pytest.mark.parametrize("stray", STRAYS, ids=lambda stray: type(stray).__name__)
async def test_a_tool_in_a_thread_that_strays_fails(scene: Scene, stray: BaseException) -> None:
    """Its result says by which type, as that of an `async def` does."""

    @tool
    def t() -> str:
        raise stray

    async with scene.process(t) as p:
        await p.say()
        assert await p.error() == f"t failed ({type(stray).__name__})."


@pytest.mark.parametrize("check", [lambda answer: sys.exit(3), lambda answer: waits_for_what_was_cancelled()])
async def test_a_check_that_strays_keeps_the_question_open(
    scene: Scene, check: Callable[[str], Awaitable[None] | None]
) -> None:
    """Whoever answers hears that it could not be checked, and is neither cancelled nor ended."""

    @tool
    def t(ctx: Context) -> str:
        return ctx.ask(Say("A", "a", check=check))

    async with scene.process(t) as p:
        await p.say()
        open = await p.open()
        with pytest.raises(CheckFailed):
            await p.chat.answer(open.id, "a")
        assert await p.open() == open
