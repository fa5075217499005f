"""The agent whose servers are killed: its model does what the message says, its tools ask, and have effects.

A message is `TOKEN: TOOL TOOL | TOOL`: a step that calls two tools, then one that calls one, then a word in the end.
The token is the message's own, and makes the ids of its calls. Effects are lines in a file, synced one by one: what is
there has happened, whatever the log says.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import anyio
from pydantic import BaseModel
from pydantic_core import to_json

from yourcall import Agent, Context, Form, OutcomeUnknown, Tool, tool
from yourcall.entries import Call, Json
from yourcall.log import AssistantMessage, Transcript, UserMessage
from yourcall.ports import Finished, ModelEvent, ModelRequest, TextDelta

UNKNOWN = "unknown"
"""What a tool says in place of a receipt, where nobody knows whether the effect happened."""

BRIEF = 0.5
"""How long a question of `asks_briefly` waits, in seconds."""


class Number(BaseModel):
    number: int


class ProgramModel:
    """A `Model` without a memory: what comes next is in the transcript. `pace` is in seconds before each piece."""

    def __init__(self, pace: float) -> None:
        self.pace = pace

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        token, steps, done = _program(request.transcript)
        await anyio.sleep(self.pace)
        if done < len(steps):
            calls = ((f"{token}-{done}-{n}", name) for n, name in enumerate(steps[done].split()))
            yield Finished(calls=tuple(Call(id, name, to_json({"token": id}).decode()) for id, name in calls))
            return
        words = ["That ", "was ", f"{token}."]
        for word in words:
            yield TextDelta(word)
            await anyio.sleep(self.pace)
        yield Finished(text="".join(words))


def _program(transcript: Transcript) -> tuple[str, list[str], int]:
    """The last message's token and steps, and how many of them are made."""
    last = max(n for n, message in enumerate(transcript) if isinstance(message, UserMessage))
    message = transcript[last]
    assert isinstance(message, UserMessage)
    token, _, steps = message.text.partition(": ")
    made = [one for one in transcript[last:] if isinstance(one, AssistantMessage)]
    return token, steps.split(" | ") if steps else [], len(made)


def agent(effects: Path, pace: float) -> Agent[Any]:
    """The agent; its tools note in the file `effects` what they do."""

    def happen(name: str, token: str) -> str:
        receipt = secrets.token_hex(4)  # another one each time: a repetition cannot look like the first
        _note(effects, f"{name} {token} {receipt}")
        return receipt

    async def slowly(name: str, token: str) -> str:
        await anyio.sleep(pace)
        receipt = await anyio.to_thread.run_sync(happen, name, token)
        await anyio.sleep(pace)
        return receipt

    @tool
    async def asks(ctx: Context, token: str) -> Json:
        """Ask once."""
        await anyio.sleep(pace)
        return {"got": [_number(ctx, token)]}

    @tool
    async def asks_twice(ctx: Context, token: str) -> Json:
        """Ask, and then ask something else."""
        return {"got": [_number(ctx, token), _number(ctx, f"{token}, again")]}

    @tool
    async def asks_briefly(ctx: Context, token: str) -> Json:
        """Ask something that is over in a moment."""
        return {"got": [ctx.ask(Form(Number, title=token), expires_in=BRIEF).number]}

    @tool
    async def charges(ctx: Context, token: str) -> Json:
        """An effect, a question that shows what came of it, and another effect."""
        charge = await _receipt(ctx, "charge", slowly, token)
        number = _number(ctx, f"{token} for {charge}")
        send = await _receipt(ctx, "send", slowly, token)
        return {"got": [number], "effects": {"charge": charge, "send": send}}

    @tool
    async def counts(token: str) -> Json:
        """A plain tool, which must not be executed again."""
        return {"counted": await slowly("count", token)}

    tools: list[Tool[Any]] = [asks, asks_twice, asks_briefly, charges, counts]
    return Agent(ProgramModel(pace), tools=tools)


def _number(ctx: Context, title: str) -> int:
    return ctx.ask(Form(Number, title=title)).number


async def _receipt(ctx: Context, name: str, fn: Callable[[str, str], Awaitable[str]], token: str) -> str:
    try:
        return await ctx.once(name, partial(fn, name), token)
    except OutcomeUnknown:
        return UNKNOWN


def _note(path: Path, line: str) -> None:
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(file, f"{line}\n".encode())
        os.fsync(file)
    finally:
        os.close(file)
