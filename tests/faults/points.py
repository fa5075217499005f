"""F2: a server dies exactly before or after each kind of commit, and the next one carries on."""

from __future__ import annotations

import random
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import anyio

from tests.faults.app import POINTS, Cue
from tests.faults.checker import Facts, read
from tests.faults.load import Client
from tests.faults.report import Outcome
from tests.faults.servers import Server, replicas
from yourcall.entries import Effect

PROGRAM = "charges | asks asks_twice"
COMMITS = {
    **{"message": 1, "step": 2, "ask": 4, "answer": 4, "effect begun": 2, "effect done": 2},
    **{"result": 3, "reply": 1},
}
"""How often the program comes to each point."""
AT_ONCE = 3
"""Most of the time is spent waiting for the dead one's lease to be over."""

CUES = [Cue(point, after) for point in POINTS for after in (False, True)]


async def kill_at_each(times: int, store: Callable[[], str], folder: Path, outcome: Outcome) -> None:
    """Each cue so many times, each time in a store of its own; a later time at a later commit of its kind."""
    cues = [replace(cue, nth=1 + time % COMMITS[cue.point]) for time in range(times) for cue in CUES]
    slots = anyio.Semaphore(AT_ONCE)

    async def one(n: int, cue: Cue) -> None:
        async with slots:
            place = folder / str(n)
            place.mkdir()
            await kill_at(cue, store() or f"sqlite:///{place}/chat.db", place, outcome)

    async with anyio.create_task_group() as tasks:
        for n, cue in enumerate(cues):
            tasks.start_soon(one, n, cue)


async def kill_at(cue: Cue, store: str, folder: Path, outcome: Outcome) -> None:
    """One user has one conversation, in which the server dies once and is started again."""
    facts = Facts()
    with replicas(1, store, folder) as [server]:
        await server.start(cue)
        async with (
            Client("ada", [server.url], facts, random.Random(1), skips=0).opened() as ada,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(_reborn, server, cue, outcome)
            await ada.sure("POST", "/conversations", {"id": "c"})
            await ada.talk("c", "m", PROGRAM)
            tasks.cancel_scope.cancel()
        outcome.check(store, facts, [server])
    unknown = [effect for kept in read(store) for _, effect in kept.of(Effect) if effect.state == "unknown"]
    cut_off = (cue.point, cue.after) in (("effect begun", True), ("effect done", False))
    if len(unknown) != cut_off:
        outcome.violations.append(f"{cue}: {len(unknown)} effects are unknown")


async def _reborn(server: Server, cue: Cue, outcome: Outcome) -> None:
    status = await server.dead()
    outcome.count += 1
    outcome.hits += 1
    if status not in (None, -signal.SIGKILL):
        outcome.violations.append(f"{cue}: the server ended with {status}")
    await server.start()
