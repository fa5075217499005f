"""What scenarios are told with: a question, a clock moved by hand, waits that end, a reading of what was recorded."""

from __future__ import annotations

import asyncio
import inspect
import os
import time
from collections.abc import AsyncIterable, Awaitable, Callable, Sequence
from typing import Any, TypeAlias

import anyio.to_thread

from yourcall import Ask, Conversation, Rejected
from yourcall.entries import Body, Entry, Json, Result
from yourcall.events import Ended, Event
from yourcall.log import AssistantMessage, Done, Log, ToolMessage, Waiting, transcript
from yourcall.ports import Appended, Key, Row
from yourcall.store.sqlite import SQLiteStore

PATIENCE: float = 10
"""Seconds after which a wait has failed; none of them is waited for."""

Condition: TypeAlias = Callable[[], object]


class Pick(Ask[str]):
    """One of a few options."""

    kind = "pick"
    answer_type = str

    def __init__(self, title: str, *options: str, check: Callable[[str], Awaitable[None] | None] | None = None) -> None:
        self.title, self.options, self.check = title, options, check

    def payload(self) -> Json:
        return {"title": self.title, "options": list(self.options)}

    def schema(self) -> Json:
        return {"enum": list(self.options)}

    def identity(self) -> Json:
        return self.title

    def parse(self, answer: Json) -> str:
        if not isinstance(answer, str) or answer not in self.options:
            raise Rejected("Not one of the offered options.")
        return answer


# --------------------------------------------------------------------------- time


class Clock:
    """Unix seconds that pass when a test says so."""

    def __init__(self, now: float = 1_800_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


class ClockLoop(asyncio.SelectorEventLoop):
    """An event loop whose timers go by a clock that a test moves: an hour passes in no time, and not before."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock

    def time(self) -> float:
        return self._clock.now


async def until(condition: Condition) -> Any:
    """Wait until it holds; what it returned then. It may be async. Fails after a while of real time."""
    deadline = time.monotonic() + PATIENCE
    while True:
        held = condition()
        if inspect.isawaitable(held):
            held = await held
        if held:
            return held
        assert time.monotonic() < deadline, f"in vain: {inspect.getsource(condition).strip()}"
        await anyio.to_thread.run_sync(time.sleep, 0.001)


# --------------------------------------------------------------------------- a store, looked at closely


class WatchedStore(SQLiteStore):
    """A store that keeps the text of every statement, values and all, and calls `on_statement` before each."""

    def __init__(self, path: str | os.PathLike[str], *, clock: Callable[[], float] = time.time) -> None:
        super().__init__(os.fspath(path), clock=clock)
        self.statements: list[str] = []
        self.on_statement: Callable[[str], None] = lambda statement: None

    async def open(self) -> None:
        await super().open()
        await self._db.set_trace_callback(self._trace)

    def _trace(self, statement: str) -> None:
        self.statements.append(statement)
        self.on_statement(statement)

    async def pragma(self, name: str) -> Json:
        ((value,),) = await self._db.execute_fetchall(f"PRAGMA {name}")
        return value


def placed(head: int, *bodies: Body, at: float = 0.0) -> list[Entry]:
    """The bodies as the entries that follow `head`."""
    return [Entry(seq, at, body) for seq, body in enumerate(bodies, head + 1)]


async def put(store: SQLiteStore, key: Key, *bodies: Body, row: Row | None = None) -> int:
    """Append at the head, whatever it is; the new head."""
    head = (await store.load(key)).head
    assert await store.append(key, head, placed(head, *bodies), row or Row()) is Appended.DONE
    return head + len(bodies)


# --------------------------------------------------------------------------- what came of it


async def ending(events: AsyncIterable[Event]) -> Waiting | Done:
    """Follow to the end; how it ended."""
    last: Event | None = None
    with anyio.fail_after(PATIENCE):
        async for event in events:
            last = event
    assert isinstance(last, Ended)
    return last.phase


async def say(chat: Conversation[Any], text: str) -> Waiting | Done:
    """Write a message and follow its run to the end."""
    return await ending(chat.say(text))


async def settled(chat: Conversation[Any]) -> Waiting | Done:
    """Wait until nothing runs."""
    return await ending(chat.events())


def results(log: Log) -> dict[str, Result]:
    """What the model reads for each call."""
    found = [entry.body for entry in log.entries if isinstance(entry.body, Result)]
    assert len({result.call for result in found}) == len(found)
    return {result.call: result for result in found}


def kinds(entries: Sequence[Entry]) -> list[str]:
    return [entry.kind for entry in entries]


def assert_well_formed(log: Log) -> None:
    """Entries without a gap; every call has its one result directly after its step, in call order."""
    assert [entry.seq for entry in log.entries] == list(range(1, log.head + 1))
    wanted: list[str] = []
    for message in transcript(log):
        if isinstance(message, ToolMessage):
            assert wanted, f"a result of no call: {message}"
            assert message.call_id == wanted.pop(0)
        else:
            assert not wanted, f"without a result: {wanted}"
            wanted = [call.id for call in message.calls] if isinstance(message, AssistantMessage) else []
    assert not wanted, f"without a result: {wanted}"
