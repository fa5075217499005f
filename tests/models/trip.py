"""The agent of these tests, and its first process: it says a message to its model, and ends at the pause.

As a program: `trip.py FOLDER MODEL BASE_URL [FILE...]`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio

from yourcall import Agent, Context, Engine, tool
from yourcall.events import Ended
from yourcall.files import Put
from yourcall.log import Done, Waiting
from yourcall.models import provider
from yourcall.ports import Model
from yourcall.upload import Rules


@tool
def ask(ctx: Context[Path], what: str) -> str:
    """Ask the user for a value."""
    answer = ctx.interrupt(what)
    with (ctx.deps / "effects").open("a") as effects:
        effects.write(f"{what}={answer}\n")
    return f"{what}: {answer}"


@tool
def look(ctx: Context[Path]) -> str:
    """Look around; needs no one."""
    with (ctx.deps / "effects").open("a") as effects:
        effects.write("looked\n")
    return "nothing new"


def engine(folder: Path, model: Model, **options: Any) -> Engine[Path]:
    """The engine on the folder's store, as any process opens it."""
    agent = Agent[Path](model, tools=[ask, look], instructions="Ask first.", **options)
    return Engine(agent, f"sqlite:///{folder / 'chat.db'}", deps=folder)


def effects(folder: Path) -> list[str]:
    """What the tools did, each time they did it, sorted."""
    path = folder / "effects"
    return sorted(path.read_text().splitlines()) if path.exists() else []


async def say(
    folder: Path, model: Model, text: str = "hi", files: Sequence[Path] = (), **options: Any
) -> Waiting | Done:
    """One process: say it, wait until nothing runs, and leave."""
    async with engine(folder, model, **options) as opened:
        chat = opened.conversation("c", user="ada")
        return await followed(chat.say(text, files=[await _received(opened, path) for path in files]))


async def _received(opened: Engine[Path], path: Path) -> str:
    async def source(put: Put) -> str:
        await put(await anyio.Path(path).read_bytes())
        return path.name

    file, _ = await opened.files.receive("ada", source, Rules(["image/*", ".pdf", ".txt"]))
    return file.id


async def answer(folder: Path, model: Model, answers: dict[str, Any], **options: Any) -> Waiting | Done:
    """Another process: answer what is open, by what was asked, and wait until nothing runs."""
    async with engine(folder, model, **options) as opened:
        chat = opened.conversation("c", user="ada")
        for question in await chat.interrupts():
            if question.key in answers:
                await chat.answer(question.id, answers[question.key])
        return await followed(chat.events(0))


async def resume(folder: Path, model: Model, **options: Any) -> Waiting | Done:
    """Another process: try again."""
    async with engine(folder, model, **options) as opened:
        chat = opened.conversation("c", user="ada")
        await chat.resume()
        return await followed(chat.events(0))


async def followed(events: Any) -> Waiting | Done:
    last: Any = None
    with anyio.fail_after(60):
        async for event in events:
            last = event
    assert isinstance(last, Ended)
    return last.phase


def main() -> None:
    folder, name, base, *files = sys.argv[1:]
    phase = anyio.run(say, Path(folder), provider(name, base_url=base, api_key="sk-test"), "hi", [*map(Path, files)])
    print(json.dumps([i.ask for i in phase.interrupts] if isinstance(phase, Waiting) else repr(phase)))


if __name__ == "__main__":
    main()
