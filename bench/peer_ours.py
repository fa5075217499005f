"""Yourcall in the peers' benchmark: public API only, the default store, nothing kept between two requests.

Run by `make bench BENCH_DIR=...`. The scenarios and the class `Peer` are the benchmark's; `common` is found through
PYTHONPATH, which the benchmark sets, or in BENCH_DIR.
"""

from __future__ import annotations

import time

T0 = time.perf_counter()

from yourcall import Agent, Engine, ask_user, tool
from yourcall.entries import Asked, Assistant, Call, Entry, User
from yourcall.events import Delta, Ended
from yourcall.log import ToolMessage
from yourcall.ports import Finished, Key, ModelRequest, Row, TextDelta

T1 = time.perf_counter()

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

try:
    from common import Peer, agui_request, main, plan
except ModuleNotFoundError:
    sys.path.insert(0, os.environ["BENCH_DIR"])
    from common import Peer, agui_request, main, plan

USER = "bench"


class Scripted:
    """The benchmark's model: what it says next depends on the last message alone.

    Our runs are detached from their readers, so before each delta it lets go of the event loop, as every provider
    does: else a whole reply is recorded before anybody could read a part of it. Over HTTP it takes `latency` seconds
    to the first word, so that the reader has joined; it costs no CPU time, but is in the wall time.
    """

    def __init__(self, latency: float = 0) -> None:
        self.latency = latency

    async def stream(self, request: ModelRequest) -> AsyncIterator[TextDelta | Finished]:
        last = request.transcript[-1]
        kind, items = plan("tool" if isinstance(last, ToolMessage) else "user", last.text)
        await asyncio.sleep(self.latency)
        if kind == "text":
            for piece in items:
                await asyncio.sleep(0)
                yield TextDelta(piece)
            yield Finished("".join(items))
        else:
            place = len(request.transcript)
            calls = (Call(f"call_{place}_{i}", name, arguments(args)) for i, (name, args) in enumerate(items))
            yield Finished(calls=tuple(calls))


def arguments(args: dict[str, Any]) -> str:
    """The benchmark's questions in our words: the text of a question is its prompt."""
    if "questions" in args:
        args = {"questions": [{**q, "prompt": q["question"]} for q in args["questions"]]}
        for question in args["questions"]:
            del question["question"]
    return json.dumps(args)


@tool
async def noop(n: int) -> dict[str, int]:
    """Does nothing."""
    return {"n": n}


class Ours(Peer):
    name = "ours"
    variants = {"sqlite": "the documented default store: sqlite WAL, synchronous=FULL"}
    stream_apis = ("say",)
    sse_apis = ("agui",)

    def __init__(self) -> None:
        self.serial = 0

    async def open(self, variant: str, directory: Path | None) -> None:
        store = f"sqlite:///{directory / 'ours.db'}" if directory else "sqlite://"
        self.engine = Engine(Agent(Scripted(), tools=[ask_user, noop]), store=store)
        await self.engine.__aenter__()

    async def close(self) -> None:
        await self.engine.__aexit__(None, None, None)

    async def seed(self, conv: str, messages: list[tuple[str, str]]) -> None:
        bodies = [
            User(text) if role == "user" else Assistant(run="seed", seen=seq - 1, text=text)
            for seq, (role, text) in enumerate(messages, 1)
        ]
        entries = [Entry(seq, time.time(), body) for seq, body in enumerate(bodies, 1)]
        if entries:
            await self.engine.store.append(Key(USER, conv), 0, entries, Row(tail=len(entries) - 1))

    async def chat(self, conv: str, text: str) -> str:
        return (await self._follow(self._say(conv, text)))[0]

    async def ask(self, conv: str, text: str) -> dict[str, Any]:
        _, asked, head = await self._follow(self._say(conv, text))
        assert asked is not None
        return {"id": asked, "head": head}

    async def answer(self, conv: str, token: dict[str, Any], answer: dict[str, Any]) -> str:
        chat = self.engine.conversation(conv, user=USER)
        await chat.answer(token["id"], answer)
        return (await self._follow(chat.events(after=token["head"])))[0]

    async def hold(self, conv: str, messages: list[tuple[str, str]]) -> tuple[Entry, ...]:
        """All that is needed to resume is the log; the engine keeps nothing of a waiting conversation."""
        await self.seed(conv, messages)
        await self.ask(conv, "ASK")
        chat = self.engine.conversation(conv, user=USER)
        entries = (await chat.log()).entries
        await chat.delete()
        return entries

    async def stream(self, api: str, n: int) -> int:
        seen = 0
        async for event in self._say(self._fresh(), f"STREAM {n}"):
            seen += isinstance(event, Delta)
        return seen

    async def tools_turn(self) -> str:
        return await self.chat(self._fresh(), "TOOLS")

    def asgi(self, api: str) -> Any:
        from fastapi import FastAPI

        from yourcall.web import create_router

        engine = Engine(Agent(Scripted(latency=0.05)), store="sqlite://")
        app = FastAPI()
        app.include_router(create_router(engine, user=lambda: USER))
        return Opened(app, engine)

    def sse_request(self, api: str, n: int) -> dict[str, Any]:
        request: dict[str, Any] = agui_request(n)
        return request | {"path": "/agui"}

    def _fresh(self) -> str:
        self.serial += 1
        return f"fresh-{self.serial}"

    def _say(self, conv: str, text: str) -> AsyncIterator[Any]:
        return self.engine.conversation(conv, user=USER).say(text)

    async def _follow(self, events: AsyncIterator[Any]) -> tuple[str, str | None, int]:
        """Read a run to its end: its last text, the question it waits with, and the head of the log."""
        text: list[str] = []
        asked, head = None, 0
        async for event in events:
            match event:
                case Delta(offset=0, text=piece):
                    text = [piece]
                case Delta(text=piece):
                    text.append(piece)
                case Entry(seq=seq, body=Asked(interrupt)):
                    asked, head = interrupt.id, seq
                case Entry(seq=seq):
                    head = seq
                case Ended():
                    break
        return "".join(text), asked, head


class Opened:
    """The benchmark serves without a lifespan: the engine is opened with the first request."""

    def __init__(self, app: Any, engine: Engine) -> None:
        self.app, self.engine = app, engine
        self.ready: asyncio.Event | None = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if self.ready is None:
            self.ready = asyncio.Event()
            self.task = asyncio.create_task(self._live(self.ready))
        await self.ready.wait()
        await self.app(scope, receive, send)

    async def _live(self, ready: asyncio.Event) -> None:
        async with self.engine:
            ready.set()
            await asyncio.Event().wait()


if __name__ == "__main__":
    main(Ours, T1 - T0)
