"""A process that kills itself in the middle of something: `python -m tests.unit.dying FOLDER WHERE`."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from datetime import date
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from tests.scene import Say, Scene
from yourcall import Context, OutcomeUnknown, tool
from yourcall.entries import Asked, Json

WHERE: dict[str, str] = {}
"""In the process that dies, `at` says where it does."""


class Visit(BaseModel):
    day: date
    tags: frozenset[str]


def die(at: str) -> None:
    """The process is killed here, with all that it has not written."""
    if WHERE.get("at") == at:
        os.kill(os.getpid(), signal.SIGKILL)


def noted(path: Path, what: str) -> None:
    with path.open("a") as file:
        file.write(what + "\n")


@tool
async def plain(path: Path) -> str:
    noted(path, "plain")
    die("plain")
    return "ran"


@tool
async def charges(ctx: Context, path: Path) -> str:
    async def charge() -> str:
        noted(path, "charge")
        die("charge")
        return "charged"

    try:
        return await ctx.once("charge", charge)
    except OutcomeUnknown as unknown:
        return str(unknown)


@tool
async def asks(ctx: Context, path: Path) -> Json:
    def plan() -> Visit:
        noted(path, "plan")
        return Visit(day=date(2026, 1, 2), tags=frozenset({"b", "a"}))

    visit = await ctx.once("plan", plan)
    answer = ctx.ask(Say("A"))
    noted(path, f"asked {type(visit).__name__} {visit.day:%d.%m.} {sorted(visit.tags)} {answer!r}")
    die("answered")
    return answer


TOOLS: tuple[Any, ...] = (plain, charges, asks)


async def main(folder: Path, at: str) -> None:
    scene, lines = Scene(folder), {"path": str(folder / "lines.txt")}
    name = {"plain": "plain", "charge": "charges"}.get(at, "asks")
    async with scene.process(*TOOLS, steps=[[(name, lines)]]) as p:
        WHERE["at"] = at
        await p.chat.post("go")
        if at == "waiting":
            await p.until(Asked)
            die("waiting")
        await p.rest()
        await p.answer("yes")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
