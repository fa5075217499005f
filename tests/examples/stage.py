"""The coach, and a user in front of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from coach import Services, build
from coach.profile import Profiles
from coach.tools import Coach
from yourcall import Engine
from yourcall.entries import Assistant, Call, Entry, Interrupt, Result
from yourcall.events import Delta
from yourcall.log import Waiting


@dataclass
class Reply:
    """What came back on one action of the user."""

    text: str = ""
    streamed: str = ""
    calls: list[Call] = field(default_factory=list)
    results: list[str] = field(default_factory=list)
    cards: tuple[Interrupt, ...] = ()

    @property
    def card(self) -> Interrupt:
        assert len(self.cards) == 1, self
        return self.cards[0]

    @property
    def shown(self) -> str:
        """All that the user can read of it."""
        rows = (row for card in self.cards for row in card.ask.get("shown", ()))
        titles = (card.message for card in self.cards)
        return "\n".join([self.text, *titles, *(f"{row['title']}: {row['text']}" for row in rows)])

    @property
    def tools(self) -> list[str]:
        return [call.tool for call in self.calls]


NOWHERE = Services("http://127.0.0.1:9", "http://127.0.0.1:9", "http://127.0.0.1:9", "coach", "coach")
"""For what connects nothing: nobody listens there."""

Answer: TypeAlias = dict[str, Any]


class Chat:
    """A user in front of the coach."""

    def __init__(self, engine: Engine[Coach], user: str = "ada", conversation: str = "c1") -> None:
        self._engine, self._user = engine, user
        self._chat = engine.conversation(conversation, user=user)

    async def say(self, text: str) -> Reply:
        return await self._reply(await self._chat.post(text))

    async def click(self, card: Interrupt, *labels: str) -> Reply:
        """Answer a card of one question."""
        return await self.answer(card, {"answers": [{"selected": list(labels)}]})

    async def answer(self, card: Interrupt, payload: Answer) -> Reply:
        head = (await self._chat.log()).head
        await self._chat.answer(card.id, payload)
        return await self._reply(head)

    async def approve(self, reply: Reply, **edits: str) -> Reply:
        """Say yes to what the card shows, with these changes."""
        assert reply.card.kind == "confirm"
        return await self.answer(reply.card, {"approved": True} | ({"edits": edits} if edits else {}))

    async def secret(self, card: Interrupt, value: str) -> Reply:
        """Enter a key on its card."""
        head = (await self._chat.log()).head
        await self._engine.answer_secret(card.id, value, user=self._user)
        return await self._reply(head)

    async def skip(self, card: Interrupt) -> Reply:
        head = (await self._chat.log()).head
        await self._chat.skip(card.id)
        return await self._reply(head)

    async def cancel(self) -> None:
        await self._chat.cancel()

    async def open(self) -> tuple[Interrupt, ...]:
        return await self._chat.interrupts()

    async def _reply(self, after: int) -> Reply:
        reply = Reply()
        async with asyncio.timeout(20):
            async for event in self._chat.events(after):
                match event:
                    case Delta(text=text):
                        reply.streamed += text
                    case Entry(body=Assistant(text=text, calls=calls)):
                        reply.text = "\n\n".join(part for part in (reply.text, text) if part)
                        reply.calls += calls
                    case Entry(body=Result() as result):
                        reply.results.append(result.text)
        _, now = await self._chat.snapshot()
        reply.cards = now.interrupts if isinstance(now, Waiting) else ()
        return reply


@asynccontextmanager
async def coach(folder: Path, services: Services = NOWHERE, **options: str) -> AsyncIterator[Engine[Coach]]:
    async with build(folder, services, pace=0, **options) as engine:
        yield engine


def labels(card: Interrupt, question: int = 0) -> list[str]:
    return [option["label"] for option in card.ask["questions"][question]["options"]]


def answers(*selected: list[str] | str | None) -> Answer:
    """One answer a question: labels, words of one's own, or None for a skipped one."""
    forms: list[Answer] = []
    for one in selected:
        forms.append(
            {"skipped": True} if one is None else {"other": one} if isinstance(one, str) else {"selected": one}
        )
    return {"answers": forms}


PLANNED = answers(["Get stronger"], ["Monday", "Thursday"], ["Dumbbells"])


def profiles(folder: Path) -> Profiles:
    """What the coach has kept, read beside it."""
    return Profiles(folder / "profiles.db")
