"""Q4: a long conversation with large results, on two replicas that take turns: what a pause adds, and what it costs."""

from __future__ import annotations

import base64
import random
import sqlite3
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, closing
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from statistics import median
from typing import Any

import psycopg

from tests.faults.agent import Number
from tests.faults.checker import Facts
from tests.faults.report import Outcome
from yourcall import Agent, Context, Engine, Form, tool
from yourcall.entries import Call
from yourcall.ports import Finished, ModelEvent, ModelRequest

SIZE = 1_000_000
"""Characters of each result. They are random, or a database would make them small."""
STORED, WRITTEN = 1.2, 2.6
"""How much may be stored and be written for each byte of the results. What is written goes into the write-ahead log
first, and from there to its place."""


@dataclass(frozen=True)
class Size:
    """In bytes: of what is stored now, and of all that was ever written for it."""

    stored: int
    written: int


class Asks:
    """A model that has the tool called, step by step, as many times as there are answers to come."""

    def __init__(self, times: int) -> None:
        self._times = times

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        made = len(request.transcript) // 2
        done = made >= self._times
        yield Finished(text="Thanks.") if done else Finished(calls=(Call(f"call-{made}", "reports", "{}"),))


@tool
def reports(ctx: Context) -> Any:
    """Ask for a number, and report at length."""
    number = ctx.ask(Form(Number, title="A number")).number
    return {"got": [number], "report": base64.b64encode(random.Random(number).randbytes(SIZE * 3 // 4)).decode()}


async def grow(count: int, store: str, outcome: Outcome, size: Callable[[], Size]) -> None:
    """So many pauses and resumes; each is answered at the other replica than the one before."""
    agent, took = Agent[Any](Asks(count), tools=[reports], max_steps=count + 2), list[float]()
    async with AsyncExitStack() as stack:
        engines = [await stack.enter_async_context(Engine(agent, store)) for _ in range(2)]
        chats = [engine.conversation("c", user="ada") for engine in engines]
        async for _ in chats[0].say("Go"):
            pass
        before = size()
        for n, (engine, chat) in zip(range(count), cycle(zip(engines, chats, strict=True)), strict=False):
            record, began = engine.record(chat.key), time.perf_counter()
            await record.refresh()
            (question,) = record.log.interrupts
            await chat.answer(question.id, {"number": n})
            async for _ in chat.events(after=record.log.head):
                pass
            took.append(time.perf_counter() - began)
            outcome.count += 1
        after = size()
    outcome.check(store, Facts())
    stored, written = (after.stored - before.stored) / count / SIZE, (after.written - before.written) / count / SIZE
    few = max(1, count // 10)
    outcome.notes.append(
        f"Q4: {count} results of {SIZE:,} bytes; for each byte of them {stored:.2f} are stored, and {written:.2f} were "
        f"written; a pause and its resume took {median(took[:few]):.2f} s at first, {median(took[-few:]):.2f} s at last"
    )
    if stored > STORED or written > WRITTEN:
        outcome.violations.append(outcome.notes[-1])


def size_of_sqlite(path: Path) -> Size:
    """Of a file with nothing left in its write-ahead log; what was written is all that this process wrote to files."""
    with closing(sqlite3.connect(path)) as file:
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    lines = Path("/proc/self/io").read_text().splitlines()
    written = next(int(line.split()[1]) for line in lines if line.startswith("write_bytes"))
    return Size(path.stat().st_size, written)


def size_of_postgres(url: str) -> Size:
    """Of its largest table, and of what went into the write-ahead log; from there it goes to its place once more."""
    with psycopg.connect(url) as database:
        (row,) = database.execute(
            "SELECT pg_total_relation_size('entry')::bigint, (pg_current_wal_lsn() - '0/0')::bigint"
        ).fetchall()
    stored, logged = row
    return Size(stored, stored + logged)
