"""F12: conversations that wait, some of them not for ever, under a clock that runs; three engines sweep them."""

from __future__ import annotations

import math
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial
from typing import Any

import anyio
import anyio.to_thread

from tests.faults.agent import Number
from tests.faults.checker import Facts, Kept, read, violations
from tests.faults.load import PATIENCE
from tests.faults.report import Outcome
from tests.support import Clock
from yourcall import Agent, Context, Engine, Form, tool
from yourcall.entries import Asked, Call, Closed, Json
from yourcall.errors import Busy
from yourcall.errors import Closed as ClosedError
from yourcall.log import UserMessage
from yourcall.ports import Finished, ModelEvent, ModelRequest, Store

SWEEPERS = 3
SPAN = 60
"""Seconds within which what has a limit expires; a third has none."""
ANSWERED = 0.25
"""How many are answered, at a moment near their limit."""
RATE = 100
"""Questions that are over in a second, by the clock's pace."""
TICK = 0.5
AT_ONCE = 16
"""Users who do something. The clock waits for them: a machine may be slow."""


class Waits:
    """A model that has one tool called, with what the message says, and then is content."""

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        match request.transcript[-1]:
            case UserMessage(text):
                n, _, seconds = text.partition(" ")
                yield Finished(calls=(Call(f"call-{n}", "waits", f'{{"seconds": {seconds}}}'),))
            case _:
                yield Finished(text="So be it.")


@tool
def waits(ctx: Context, seconds: float) -> Json:
    """Ask, for so many seconds, or for ever."""
    return {"got": [ctx.ask(Form(Number, title="A number"), expires_in=seconds or None).number]}


async def sweep_under_a_fast_clock(
    count: int, store: str, open_store: Callable[[Clock], Store], outcome: Outcome, seed: int = 1
) -> None:
    """So many conversations; each question is answered, or expires at its time, or is open in the end."""
    clock, chance, facts = Clock(), random.Random(seed), Facts()
    limits = [0 if n % 3 == 0 else chance.randint(1, SPAN) for n in range(count)]
    async with AsyncExitStack() as stack:
        agent = Agent[Any](Waits(), tools=[waits])
        engines = [Engine(agent, open_store(clock), sweep_every=0.05) for _ in range(SWEEPERS)]
        for engine in engines:
            await stack.enter_async_context(engine)
        await _all_wait(engines, store, limits)
        began = clock.now
        answers = [
            (began + (limit or SPAN) + chance.choice((-1, 0, 0.5)), n, chance.choice(engines))
            for n, limit in enumerate(limits)
            if chance.random() < ANSWERED
        ]
        answers.sort(key=lambda answer: answer[0], reverse=True)
        slots = anyio.Semaphore(AT_ONCE)
        async with anyio.create_task_group() as tasks:
            while clock.now < began + SPAN + 2:
                clock.now += TICK
                while answers and answers[-1][0] <= clock.now:
                    _, n, engine = answers.pop()
                    await slots.acquire()
                    tasks.start_soon(_answer, engine, n, facts, slots)
                await anyio.sleep(TICK * count / (SPAN * RATE))
            await _none_is_due(store, clock)
        _check_times(read(store), clock, outcome)
        await _answer_the_rest(engines, store, facts)
        await _none_is_due(store, clock)
    outcome.count += count
    kept = read(store)
    outcome.violations += violations(kept, facts)
    outcome.entries += sum(len(one.entries) for one in kept)
    outcome.facts += len(facts.answered)


async def _all_wait(engines: list[Engine[Any]], store: str, limits: list[int]) -> None:
    """Let all of them be asked, by all engines at once."""
    slots = anyio.Semaphore(AT_ONCE)

    async def ask(n: int, limit: int) -> None:
        async with slots:
            chat = engines[n % len(engines)].conversation(f"c{n}", user="ada")
            await _unless_busy(partial(chat.post, f"{n} {limit}", id="m"))
            async for _ in chat.events(after=0):
                pass

    async with anyio.create_task_group() as tasks:
        for n, limit in enumerate(limits):
            tasks.start_soon(ask, n, limit)
    assert all(kept.phase == "waiting" for kept in read(store))


async def _answer(engine: Engine[Any], number: int, facts: Facts, slots: anyio.Semaphore) -> None:
    """Answer what is open there, and give the place back; too late is no fault."""
    try:
        await _answered(engine, number, facts)
    finally:
        slots.release()


async def _answered(engine: Engine[Any], number: int, facts: Facts) -> None:
    id = f"c{number}"
    chat = engine.conversation(id, user="ada")
    for interrupt in await chat.interrupts():
        try:
            await _unless_busy(partial(chat.answer, interrupt.id, {"number": number}))
        except ClosedError as closed:
            if closed.ending != "expired":
                facts.broken.append(f"the answer to {id} was refused: {closed.ending}")
        else:
            facts.answered[("ada", id), interrupt.id] = number


async def _unless_busy(answer: Callable[[], Awaitable[object]]) -> None:
    """Try again as long as the store says so."""
    while True:
        try:
            await answer()
            return
        except Busy:
            await anyio.sleep(0.1)


async def _none_is_due(store: str, clock: Clock) -> None:
    """Wait until the sweepers have done their work, as long as there is less and less of it.

    The clock goes on, and what leases hold is over in time. The store is read in a thread: they share this loop.
    """
    least, moment = math.inf, time.monotonic()
    while time.monotonic() < moment + PATIENCE:
        due = sum(_is_due(kept, clock) for kept in await anyio.to_thread.run_sync(read, store))
        if due == 0:
            return
        if due < least:
            least, moment = due, time.monotonic()
        await anyio.sleep(0.05)
        clock.now += TICK


def _is_due(kept: Kept, clock: Clock) -> bool:
    return kept.phase == "run" or (kept.expires_at is not None and kept.expires_at <= clock.now)


def _check_times(store: list[Kept], clock: Clock, outcome: Outcome) -> None:
    """What has no limit waits, or was answered; what had one is over."""
    for kept in store:
        if _is_due(kept, clock):
            outcome.violations.append(f"{kept.place} is over since {kept.expires_at}, and nobody closed it")
        limits = {asked.interrupt.id: asked.interrupt.expires_at for _, asked in kept.of(Asked)}
        for _, closed in kept.of(Closed):
            outcome.hits += closed.ending == "expired"
            if limits[closed.interrupt] is None:
                outcome.violations.append(f"{kept.place} had no limit, and is {closed.ending}")


async def _answer_the_rest(engines: list[Engine[Any]], store: str, facts: Facts) -> None:
    """A question without a limit waits for ever, and is answered then."""
    for n, kept in enumerate(read(store)):
        if kept.phase == "waiting" and kept.expires_at is None:
            chat = engines[n % SWEEPERS].conversation(kept.place[1], user="ada")
            (interrupt,) = await chat.interrupts()
            await _unless_busy(partial(chat.answer, interrupt.id, {"number": n}))
            facts.answered[kept.place, interrupt.id] = n
