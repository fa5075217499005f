"""Users at work over real HTTP. They remember all that a server has told them, and try again what it did not.

What a request brings is a fact only if its response came: after a connection that broke, nobody knows, and the same
request is sent again, which must be harmless.
"""

from __future__ import annotations

import json
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import anyio
import httpx

from tests.faults.checker import Facts, Place
from yourcall.entries import Json

PATIENCE = 60.0
"""Seconds after which a conversation that does not move is stuck."""
PROGRAMS = (
    "asks",
    "asks asks counts",
    "charges",
    "asks_twice | counts",
    "charges asks | asks",
    "counts counts | charges charges",
)


class Stuck(Exception):
    """Nobody answered for too long, or a conversation does not come to its end."""


@dataclass
class Client:
    """A user's client, which knows several servers, some of which may be dead."""

    name: str
    urls: Sequence[str]
    facts: Facts
    random: random.Random
    skips: float = 0.1
    """How many of the questions are skipped."""
    http: httpx.AsyncClient = field(init=False)

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Client]:
        async with httpx.AsyncClient(headers={"X-User": self.name}, timeout=PATIENCE) as self.http:
            yield self

    async def sure(self, method: str, path: str, body: Json = None, wanted: Sequence[int] = (200, 201, 202)) -> Any:
        """Send it until there is a response. One that is neither wanted nor a 503 is broken."""
        with anyio.move_on_after(PATIENCE):
            while True:
                try:
                    response = await self.http.request(method, self.random.choice(self.urls) + path, json=body)
                except httpx.TransportError:
                    await anyio.sleep(0.02)
                    continue
                if response.status_code == HTTPStatus.SERVICE_UNAVAILABLE and "retry-after" in response.headers:
                    await anyio.sleep(0.05)
                    continue
                if response.status_code not in wanted:
                    self.facts.broken.append(f"{method} {path}: {response.status_code} {response.text}")
                return response.json() if response.content else None
        raise Stuck(f"{method} {path}")

    # ----------------------------------------------------------------- what a user does

    async def say(self, conversation: str, message_id: str, text: str) -> None:
        await self.sure("POST", f"/conversations/{conversation}/messages", {"text": text, "id": message_id})
        self.facts.said[self._place(conversation), message_id] = text

    async def answer(self, conversation: str, interrupt: str, number: int) -> None:
        await self.sure("POST", f"/interrupts/{interrupt}/answer", {"number": number})
        self.facts.answered[self._place(conversation), interrupt] = number

    async def skip(self, conversation: str, interrupt: str) -> None:
        await self.sure("POST", f"/interrupts/{interrupt}/skip", {})
        self.facts.answered[self._place(conversation), interrupt] = None

    async def follow(self, conversation: str) -> None:
        """Watch the run to its end, or until the stream breaks."""
        url = f"{self.random.choice(self.urls)}/conversations/{conversation}/events"
        try:
            async with self.http.stream("GET", url) as response:
                async for line in response.aiter_lines():
                    if line.startswith("data: "):
                        self._shown(conversation, json.loads(line.removeprefix("data: ")))
        except httpx.TransportError:
            await anyio.sleep(0.01)

    def _shown(self, conversation: str, event: dict[str, Any]) -> None:
        place = self._place(conversation)
        match event:
            case {"type": "TOOL_CALL_RESULT", "toolCallId": call, "content": content}:
                self.facts.shown[place, call] = content
            case {"type": "RUN_FINISHED", "outcome": {"type": "interrupt", "interrupts": interrupts}}:
                self.facts.asked.update((place, one["id"]) for one in interrupts)
            case {"type": "RUN_ERROR"}:
                self.facts.broken.append(f"{conversation}: {event}")

    async def open(self, conversation: str) -> list[str] | None:
        """The open questions once nothing runs; None if it is over."""
        with anyio.move_on_after(PATIENCE):
            while True:
                snapshot = await self.sure("GET", f"/conversations/{conversation}")
                match snapshot:
                    case {"phase": "done"}:
                        return None
                    case {"phase": "waiting", "interrupts": interrupts}:
                        found = [one["id"] for one in interrupts if one["metadata"]["yourcall"]["ending"] is None]
                        self.facts.asked.update((self._place(conversation), id) for id in found)
                        return found
                await self.follow(conversation)
        raise Stuck(f"conversation {conversation} still runs")

    async def talk(self, conversation: str, message_id: str, program: str) -> None:
        """Say something, and answer whatever is asked, until it is over."""
        await self.say(conversation, message_id, f"{conversation}-{message_id}: {program}")
        while (interrupts := await self.open(conversation)) is not None:
            for interrupt in interrupts:
                if self.random.random() < self.skips:
                    await self.skip(conversation, interrupt)
                else:
                    await self.answer(conversation, interrupt, self.random.randrange(1_000_000))

    async def live(self, over: anyio.Event) -> None:
        """Have one conversation after the other, until it is over; the last one is brought to its end."""
        n = 0
        while not over.is_set():
            n += 1
            conversation = f"{self.name}-{n}"
            await self.sure("POST", "/conversations", {"id": conversation})
            for message in range(self.random.choice((1, 2))):
                await self.talk(conversation, f"m{message}", self.random.choice(PROGRAMS))

    def _place(self, conversation: str) -> Place:
        return self.name, conversation


@asynccontextmanager
async def users(
    count: int, urls: Sequence[str], facts: Facts, seed: int, client: type[Client] = Client
) -> AsyncIterator[None]:
    """So many users at work, each with such a client, while the block lasts; it ends when their conversations have."""
    over = anyio.Event()

    async def live(n: int) -> None:
        try:
            async with client(f"u{n}", urls, facts, random.Random(f"{seed} {n}")).opened() as user:
                await user.live(over)
        except Stuck as stuck:
            facts.broken.append(f"stuck: {stuck}")

    async with anyio.create_task_group() as tasks:
        for n in range(count):
            tasks.start_soon(live, n)
        yield
        over.set()
