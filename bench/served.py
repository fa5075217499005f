"""One replica to be measured: an agent whose model and tool cost next to nothing, behind real HTTP.

A message `ask` makes a question; `say N` makes N words, and so does an answer. Each word is the moment at which the
model let go of it, in nanoseconds of the machine's monotonic clock: whoever reads it knows how long it took.
"""

from __future__ import annotations

import argparse
import socket
import time
from collections.abc import AsyncIterator
from typing import Any, Final

import anyio
from fastapi import FastAPI, Header
from pydantic import BaseModel

from yourcall import Agent, Context, Engine, Form, tool
from yourcall.entries import Call
from yourcall.log import ToolMessage
from yourcall.ports import Finished, ModelEvent, ModelRequest, TextDelta
from yourcall.serve import run
from yourcall.web import create_router

WORDS: Final = 20
"""What follows an answer."""


class Units(BaseModel):
    unit: str


@tool
def pick(ctx: Context) -> str:
    """Ask for a unit."""
    return ctx.ask(Form(Units, title="How do you weigh your lifts?")).unit


class Speaking:
    """A `Model` without a memory. `think` is in seconds before the first word of `say`, `pace` before each other."""

    def __init__(self, think: float, pace: float) -> None:
        self._think, self._pace = think, pace

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        last = request.transcript[-1]
        if isinstance(last, ToolMessage):
            said = self._say(WORDS, 0, 0)
        elif last.text.startswith("say "):
            said = self._say(int(last.text.removeprefix("say ")), self._think, self._pace)
        else:
            yield Finished(calls=(Call(f"call-{len(request.transcript)}", "pick"),))
            return
        async for event in said:
            yield event

    async def _say(self, count: int, think: float, pace: float) -> AsyncIterator[ModelEvent]:
        await anyio.sleep(think)
        words = []
        for _ in range(count):
            words.append(f"{time.monotonic_ns()} ")
            yield TextDelta(words[-1])
            await anyio.sleep(pace)
        yield Finished("".join(words))


def agent(think: float = 0, pace: float = 0) -> Agent[Any]:
    return Agent(Speaking(think, pace), tools=[pick])


async def _user(x_user: str | None = Header(default=None)) -> str | None:
    return x_user


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("store")
    parser.add_argument("--bus")
    parser.add_argument("--think", type=float, default=0)
    parser.add_argument("--pace", type=float, default=0)
    asked = parser.parse_args()
    engine = Engine(agent(asked.think, asked.pace), asked.store, bus=asked.bus)
    app = FastAPI(lifespan=engine.lifespan)
    app.include_router(create_router(engine, user=_user, max_streams=10_000))
    with socket.create_server(("127.0.0.1", asked.port), backlog=1024) as listener:
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        run(app, listener, engine.drain)


if __name__ == "__main__":
    main()
