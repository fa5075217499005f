"""A stage for scenarios: one SQLite file, and processes on it that come and go.

A `Process` is an engine on the file; a new one knows nothing but what the file says. `Scene.crashed()` is the file
as a process leaves it that dies at this moment. The clock stands still unless a scenario moves it.
"""

from __future__ import annotations

import logging
import re
import sqlite3
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import aclosing, asynccontextmanager, closing, contextmanager
from itertools import chain, repeat
from pathlib import Path
from typing import Any, TypeVar

import anyio

from yourcall import Agent, Ask, Check, Conversation, Engine, Rejected, Tool
from yourcall.entries import Body, Entry, Interrupt, Json, Result
from yourcall.events import Ended
from yourcall.log import AssistantMessage, Message, Phase, ToolMessage, UserMessage, transcript
from yourcall.record import LEASE_SECONDS
from yourcall.store.sqlite import SQLiteStore
from yourcall.testing import ScriptedModel, ScriptStep

B = TypeVar("B")

DEADLINE = 10.0
"""Seconds after which a scenario that hangs has failed."""


class Say(Ask[str]):
    """Asks for a text, one of `options` if there are any. `help` may change while the question is open."""

    kind = "say"
    answer_type = str

    def __init__(self, title: str, *options: str, help: str = "", check: Check[str] | None = None) -> None:
        self.title, self.options, self.help, self.check = title, options, help, check

    def payload(self) -> Json:
        return {"title": self.title, "options": list(self.options), "help": self.help}

    def schema(self) -> Json:
        one_of = {"enum": list(self.options)} if self.options else {}
        return {"type": "string", "description": self.help, **one_of}

    def identity(self) -> Json:
        return [self.title]

    def parse(self, answer: Json) -> str:
        if not isinstance(answer, str) or (self.options and answer not in self.options):
            raise Rejected("Not one of the offered options.")
        return answer


class Process:
    """One engine on the file, and one user's conversation in it."""

    def __init__(self, engine: Engine[Any], model: ScriptedModel) -> None:
        self.engine, self.model = engine, model
        self.mistakes: list[str] = []
        self.chat: Conversation[Any] = engine.conversation("c", user="ada")

    async def say(self, text: str = "go") -> Phase:
        """Send a message, and wait until nothing runs."""
        await self.chat.post(text)
        return await self.rest()

    async def answer(self, payload: Json, interrupt: Interrupt | None = None) -> Phase:
        """Answer the interrupt, or the one that is open, and wait until nothing runs."""
        await self.chat.answer((interrupt or await self.open()).id, payload)
        return await self.rest()

    async def skip(self, interrupt: Interrupt | None = None, note: str | None = None) -> Phase:
        await self.chat.skip((interrupt or await self.open()).id, note)
        return await self.rest()

    async def rest(self) -> Phase:
        """Wait until nothing runs."""
        *_, last = [event async for event in self.chat.events(0)]
        assert isinstance(last, Ended)
        return last.phase

    async def open(self) -> Interrupt:
        """The one open interrupt."""
        (interrupt,) = await self.chat.interrupts()
        return interrupt

    async def bodies(self, *kinds: type[B]) -> list[B]:
        """What the log has of these kinds, in its order."""
        return [entry.body for entry in (await self.chat.log()).entries if isinstance(entry.body, kinds)]

    async def kinds(self) -> str:
        """The kinds of all entries, in one line."""
        return " ".join(entry.kind for entry in (await self.chat.log()).entries)

    async def until(self, kind: type[Body], count: int = 1) -> None:
        """Wait until the log has this many entries of a kind."""
        async with aclosing(self.chat.events(0)) as events:
            async for event in events:
                count -= isinstance(event, Entry) and isinstance(event.body, kind)
                if not count:
                    return
        raise AssertionError(f"The run ended without {kind.__name__}.")

    async def transcript(self) -> list[str]:
        """What the model reads: one line a message."""
        return [_line(message) for message in transcript(await self.chat.log())]

    async def result(self, call_id: str | None = None) -> Result:
        """The result of the call, or the only one there is."""
        results = [one for one in await self.bodies(Result) if call_id in (None, one.call)]
        (result,) = results
        return result

    async def content(self, call_id: str | None = None) -> Json:
        return (await self.result(call_id)).content

    async def mistake(self, call_id: str | None = None) -> str:
        """What the developer reads in the log of a mistake in a tool; the model and the user read none of it."""
        assert re.fullmatch(
            r"\S+ does not work: something in this app is wrong or missing\. .*", await self.error(call_id)
        )
        return self.mistakes[-1].partition(" does not work: ")[2]

    async def error(self, call_id: str | None = None) -> str:
        """The error text of a result that is not ok."""
        result = await self.result(call_id)
        assert result.status != "ok", result
        assert result.content["ok"] is False
        error: str = result.content["error"]
        return error


def _line(message: Message) -> str:
    match message:
        case UserMessage(text):
            return f"user: {text}"
        case AssistantMessage(text, calls):
            return f"assistant: {' '.join([text, *(call.id for call in calls)]).strip()}"
        case ToolMessage(call_id, _, text):
            return f"{call_id}: {text}"


@contextmanager
def _listening(mistakes: list[str]) -> Iterator[None]:
    """Take down what the server's log says of tools that do not work."""

    def take(record: logging.LogRecord) -> bool:
        if "does not work" in record.msg:
            mistakes.append(record.getMessage())
        return True

    log = logging.getLogger("yourcall")
    log.addFilter(take)
    try:
        yield
    finally:
        log.removeFilter(take)


class Scene:
    """A file, and the clock of its store."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "chat.db"
        self.now = 1_000_000.0

    @asynccontextmanager
    async def process(
        self,
        *tools: Tool[Any],
        steps: Iterable[ScriptStep] | None = None,
        deps: Any = None,
        may_answer: Any = None,
        **options: Any,
    ) -> AsyncIterator[Process]:
        """A process that opens the file: it has these tools, and its model says these steps, then "Done.".

        Without steps, the model of the first process calls each tool once, without arguments.
        """
        if steps is None:
            steps = [] if self.path.exists() else [[(tool.name, {}) for tool in tools]]
        model = ScriptedModel(chain(steps, repeat("Done.")))
        store = SQLiteStore(str(self.path), clock=lambda: self.now)
        agent = Agent[Any](model, tools=tools, **options)
        engine = Engine(agent, store, deps=deps, may_answer=may_answer, sweep_every=3600)
        with anyio.fail_after(DEADLINE):
            process = Process(engine, model)
            with _listening(process.mistakes):
                async with engine:
                    yield process

    def crashed(self) -> Scene:
        """The file as it is now, found by a process that comes when the lease of this one is over."""
        later = Scene(self.folder / "later")
        later.folder.mkdir()
        with closing(sqlite3.connect(self.path)) as source, closing(sqlite3.connect(later.path)) as target:
            source.backup(target)
        later.now = self.now + LEASE_SECONDS + 1
        return later

    def pass_lease(self) -> None:
        """So long that a lease which nobody renews is over."""
        self.now += LEASE_SECONDS + 1
