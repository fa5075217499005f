"""A process that is killed at a chosen moment: `python -m tests.cases.crashing FILE AT`.

`AT` is "tool", to print a line and hang in a plain tool's body until the parent kills it, or the beginning of a
statement by which the question would be stored, at which it kills itself, or "stored", right after that.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from typing import Any

from tests.scene import Say
from tests.support import WatchedStore
from yourcall import Agent, Context, Engine, tool
from yourcall.testing import ScriptedModel

STARTED = 1_000_000.0
"""The store's time, at which the process lives and dies."""


@tool
def works() -> str:
    """A plain tool."""
    print("in the tool", flush=True)
    time.sleep(60)
    return "done"


@tool
def asks(ctx: Context) -> str:
    return ctx.ask(Say("Which?", "a", "b"))


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


async def main(path: str, at: str) -> None:
    store = WatchedStore(path, clock=lambda: STARTED)
    name = "works" if at == "tool" else "asks"

    def watch(statement: str) -> None:
        """Of the log's transactions the first records the message, the second the step, the third the question."""
        before = [text.strip() for text in store.statements[:-1]]
        log = next((n for n, text in enumerate(before) if text.startswith("INSERT INTO entry")), len(before))
        if before[log:].count("COMMIT") == 2 and statement.strip().startswith(at):
            die()

    store.on_statement = watch
    async with Engine(Agent[Any](ScriptedModel([[(name, {})]]), tools=[works, asks]), store) as engine:
        async for _ in engine.conversation("c", user="ada").say("go"):
            pass
        die()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
