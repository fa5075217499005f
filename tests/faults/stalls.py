"""F5: a server stops in the middle of a run, another takes the run over, and then the first one goes on."""

from __future__ import annotations

import random
import signal
from pathlib import Path

import anyio

from tests.faults.app import Cue
from tests.faults.checker import Facts, Kept, read, running
from tests.faults.load import PATIENCE, Client
from tests.faults.points import COMMITS, PROGRAM
from tests.faults.report import Outcome
from tests.faults.servers import Server, replicas

CUES = [
    Cue(point, after, signal=signal.SIGSTOP)
    for point in ("result", "effect done", "step", "effect begun", "ask", "reply")
    for after in (False, True)
    if (point, after) != ("reply", True)  # then nothing is left to take over
]


async def stop_and_go(count: int, store: str, folder: Path, outcome: Outcome) -> None:
    """Stop one of two servers so many times, each time at another commit."""
    for n in range(count):
        cue = CUES[n % len(CUES)]
        cue = Cue(cue.point, cue.after, 1 + n // len(CUES) % COMMITS[cue.point], cue.signal)
        await _stall(cue, f"c{n}", store, folder, outcome)


async def _stall(cue: Cue, conversation: str, store: str, folder: Path, outcome: Outcome) -> None:
    facts = Facts()
    with replicas(2, store, folder) as [old, new]:
        await old.start(cue)
        await new.start()
        async with (
            Client("ada", [old.url], facts, random.Random(1), skips=0).opened() as before,
            Client("ada", [new.url], facts, random.Random(2), skips=0).opened() as after,
        ):
            await after.sure("POST", "/conversations", {"id": conversation})
            with anyio.move_on_after(PATIENCE):
                await _talk_until_it_stops(before, conversation, old)
            outcome.count += 1
            outcome.hits += bool(running(store) & old.started_runs)
            await after.talk(conversation, "m", PROGRAM)
            left = _entries(store, conversation)
            old.go_on()
            while await before.sure("GET", "/going-on"):  # noqa: ASYNC110  # another process's
                await anyio.sleep(0.01)
            if _entries(store, conversation) != left:
                outcome.violations.append(f"I8 {cue}: the old runner wrote")
        outcome.check(store, facts, [old, new])


async def _talk_until_it_stops(client: Client, conversation: str, server: Server) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(client.talk, conversation, "m", PROGRAM)
        await server.stopped()
        tasks.cancel_scope.cancel()


def _entries(store: str, conversation: str) -> Kept:
    (kept,) = (kept for kept in read(store) if kept.place == ("ada", conversation))
    return kept
