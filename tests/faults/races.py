"""F3, F4: the same questions are answered at the same moment, through two replicas."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from tests.faults.checker import Facts, read
from tests.faults.load import Client
from tests.faults.report import Outcome
from tests.faults.servers import replicas
from yourcall.entries import Assistant

MANY = 32


@asynccontextmanager
async def two_replicas(store: str, folder: Path, outcome: Outcome, bus: str | None) -> AsyncIterator[Client]:
    """A user who knows two servers; what became of the store is checked in the end."""
    facts = Facts()
    with replicas(2, store, folder, bus=bus, pace=0.0) as servers:
        for server in servers:
            await server.start()
        async with Client("ada", [s.url for s in servers], facts, random.Random(1)).opened() as ada:
            yield ada
        outcome.check(store, facts, servers)


async def one_of_many_wins(count: int, store: str, folder: Path, outcome: Outcome, bus: str | None = None) -> None:
    """F3: 32 different answers to one question; one is recorded, 31 are told 409."""
    async with two_replicas(store, folder, outcome, bus) as ada:
        for n in range(count):
            (interrupt,) = await _asked(ada, f"c{n}", "asks")
            said = await at_once(ada, f"c{n}", [(interrupt, number) for number in range(MANY)])
            if Counter(said) != {200: 1, 409: MANY - 1}:
                outcome.violations.append(f"{MANY} answers at once: {Counter(said)}")
            await _to_the_end(ada, f"c{n}")
            outcome.count += 1


async def one_continuation(count: int, store: str, folder: Path, outcome: Outcome, bus: str | None = None) -> None:
    """F4: two to four questions of a step, each answered twice, by turns with the same and with another number."""
    async with two_replicas(store, folder, outcome, bus) as ada:
        for n in range(count):
            asks = 2 + n % 3
            interrupts = await _asked(ada, f"c{n}", " ".join(["asks"] * asks))
            same = n % 2 == 0
            said = await at_once(ada, f"c{n}", [(id, 0 if same else k) for id in interrupts for k in range(2)])
            wanted = {200: 2 * asks} if same else {200: asks, 409: asks}
            if Counter(said) != wanted:
                outcome.violations.append(f"each of {asks} answered twice ({same=}): {Counter(said)}")
            await _to_the_end(ada, f"c{n}")
            outcome.count += 1
    for kept in read(store):
        steps = len(list(kept.of(Assistant)))
        if steps != 2:
            outcome.violations.append(f"I3 {kept.place}: {steps} steps")


async def _asked(ada: Client, conversation: str, program: str) -> Sequence[str]:
    await ada.sure("POST", "/conversations", {"id": conversation})
    await ada.say(conversation, "m", f"{conversation}: {program}")
    interrupts = await ada.open(conversation)
    assert interrupts
    return interrupts


async def at_once(ada: Client, conversation: str, answers: Sequence[tuple[str, int]]) -> list[int]:
    """Send all of these at the same moment, to the servers in turn; the statuses that came back."""
    said: list[int] = []

    async def send(url: str, interrupt: str, number: int) -> None:
        response = await ada.http.post(f"{url}/interrupts/{interrupt}/answer", json={"number": number})
        said.append(response.status_code)
        if response.status_code == 200:
            ada.facts.answered[(ada.name, conversation), interrupt] = number

    async with anyio.create_task_group() as tasks:
        for url, (interrupt, number) in zip(itertools.cycle(ada.urls), answers, strict=False):
            tasks.start_soon(send, url, interrupt, number)
    return said


async def _to_the_end(ada: Client, conversation: str) -> None:
    if left := await ada.open(conversation):
        ada.facts.broken.append(f"{conversation}: {left} are open after their answers")
