"""The fault tests in great numbers, `python -m tests.faults [F1 ...] [--part 0.1]`: a table of what they came to.

`hits` are the faults that met a run in progress; in F9 the requests that were taken, in F12 the questions that expired.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

import anyio
import anyio.to_thread

from tests.faults import cuts
from tests.faults.chats import play
from tests.faults.expiry import sweep_under_a_fast_clock
from tests.faults.inputs import fuzz
from tests.faults.kills import kill_at_random
from tests.faults.outages import bus_goes_away, database_goes_away
from tests.faults.points import CUES, kill_at_each
from tests.faults.races import one_continuation, one_of_many_wins
from tests.faults.report import Outcome
from tests.faults.sizes import grow, size_of_postgres, size_of_sqlite
from tests.faults.stalls import stop_and_go
from tests.faults.syncs import fail_each_sync, sync_before_each_answer
from tests.faults.terms import stop_under_load
from tests.postgres import Postgres, postgres
from tests.redis import Redis, redis
from tests.web.serving import serve
from yourcall import Engine
from yourcall.store.postgres import PostgresStore
from yourcall.store.sqlite import SQLiteStore

KILLS_A_STORE = 40
"""It is read after each kill, and shall not grow too long for that."""
STORIES_A_STORE = 40
"""Likewise."""


@dataclass(frozen=True)
class Ground:
    """Where the tests take place."""

    folder: Path
    postgres: Postgres
    redis: Redis

    def new(self) -> Path:
        return Path(tempfile.mkdtemp(dir=self.folder))


Test: TypeAlias = Callable[[int, Ground, Outcome], Awaitable[None]]


async def _f1_sqlite(count: int, ground: Ground, outcome: Outcome) -> None:
    for begun in range(0, count, KILLS_A_STORE):
        folder = ground.new()
        kills = min(KILLS_A_STORE, count - begun)
        await kill_at_random(kills, f"sqlite:///{folder}/chat.db", folder, outcome, seed=begun)


async def _f1_postgres(count: int, ground: Ground, outcome: Outcome) -> None:
    for begun in range(0, count, KILLS_A_STORE):
        kills, store = min(KILLS_A_STORE, count - begun), ground.postgres.empty()
        await kill_at_random(kills, store, ground.new(), outcome, replicas_=2, bus=ground.redis.url, seed=begun)


async def _f2_sqlite(count: int, ground: Ground, outcome: Outcome) -> None:
    await kill_at_each(count, lambda: "", ground.new(), outcome)


async def _f2_postgres(count: int, ground: Ground, outcome: Outcome) -> None:
    await kill_at_each(count, ground.postgres.empty, ground.new(), outcome)


async def _f3(count: int, ground: Ground, outcome: Outcome) -> None:
    await one_of_many_wins(count, ground.postgres.empty(), ground.new(), outcome, ground.redis.url)


async def _f4(count: int, ground: Ground, outcome: Outcome) -> None:
    await one_continuation(count, ground.postgres.empty(), ground.new(), outcome)


async def _f5(count: int, ground: Ground, outcome: Outcome) -> None:
    await stop_and_go(count, ground.postgres.empty(), ground.new(), outcome)


async def _f6_postgres(count: int, ground: Ground, outcome: Outcome) -> None:
    await database_goes_away(count, ground.postgres, ground.new(), outcome, ground.redis.url)


async def _f6_redis(count: int, ground: Ground, outcome: Outcome) -> None:
    await bus_goes_away(count, ground.postgres.empty(), ground.redis, ground.new(), outcome)


async def _f7_synced(count: int, ground: Ground, outcome: Outcome) -> None:
    await sync_before_each_answer(count, ground.new(), outcome)


async def _f7_failing(count: int, ground: Ground, outcome: Outcome) -> None:
    await fail_each_sync(count, ground.new(), outcome)


async def _f8(count: int, ground: Ground, outcome: Outcome) -> None:
    for begun in range(0, count, STORIES_A_STORE):
        stories, folder = min(STORIES_A_STORE, count - begun), ground.new()
        try:
            await anyio.to_thread.run_sync(partial(play, stories, 50, folder, outcome, seed=begun))
        except Exception as broken:  # an assertion, or a group of them, with the story that leads there
            outcome.violations.append(f"the stories from {begun}: {broken}")


async def _f9_sqlite(count: int, ground: Ground, outcome: Outcome) -> None:
    await fuzz(count, f"sqlite:///{ground.new()}/chat.db", outcome)


async def _f9_postgres(count: int, ground: Ground, outcome: Outcome) -> None:
    await fuzz(count, ground.postgres.empty(), outcome, blobs=str(ground.new()), seed=2)


async def _f10(count: int, ground: Ground, outcome: Outcome) -> None:
    store = ground.postgres.empty()
    engines = [Engine(cuts.agent(), store, bus=ground.redis.url) for _ in range(2)]
    async with serve(engines[0]) as one, serve(engines[1]) as other:
        await cuts.cut_everywhere(count, [one, other], outcome)


async def _f11(count: int, ground: Ground, outcome: Outcome) -> None:
    await stop_under_load(count, ground.postgres.empty(), ground.new(), outcome, replicas_=2, bus=ground.redis.url)


async def _f12_sqlite(count: int, ground: Ground, outcome: Outcome) -> None:
    path = f"{ground.new()}/chat.db"
    await sweep_under_a_fast_clock(count, f"sqlite:///{path}", lambda clock: SQLiteStore(path, clock=clock), outcome)


async def _f12_postgres(count: int, ground: Ground, outcome: Outcome) -> None:
    url = ground.postgres.empty()
    await sweep_under_a_fast_clock(count, url, lambda clock: PostgresStore(url, clock=clock), outcome)


async def _q4_sqlite(count: int, ground: Ground, outcome: Outcome) -> None:
    path = ground.new() / "chat.db"
    await grow(count, f"sqlite:///{path}", outcome, lambda: size_of_sqlite(path))


async def _q4_postgres(count: int, ground: Ground, outcome: Outcome) -> None:
    url = ground.postgres.empty()
    await grow(count, url, outcome, lambda: size_of_postgres(url))


TESTS: dict[str, tuple[int, str, Test]] = {
    "F1 sqlite": (1_000, "kill -9 at random under load", _f1_sqlite),
    "F1 postgres": (200, "the same, two replicas", _f1_postgres),
    "F2 sqlite": (50, f"kill at each commit point (x{len(CUES)})", _f2_sqlite),
    "F2 postgres": (50, f"kill at each commit point (x{len(CUES)})", _f2_postgres),
    "F3 postgres": (100, "32 answers at once, two replicas", _f3),
    "F4 postgres": (200, "2-4 questions, each answered twice at once", _f4),
    "F5 postgres": (50, "stopped past the lease, and gone on", _f5),
    "F6 postgres": (60, "PostgreSQL stopped and started under load", _f6_postgres),
    "F6 redis": (60, "Redis stopped and started under load", _f6_redis),
    "F7 trace": (50, "answered after a sync, by trace (x4)", _f7_synced),
    "F7 sync": (50, "a sync that fails, then kill -9 (x4)", _f7_failing),
    "F8 sqlite": (1_000, "stories of 50 steps; restarts are counted", _f8),
    "F9 sqlite": (5_500, "requests by Schemathesis, and bad inputs", _f9_sqlite),
    "F9 postgres": (1_000, "requests by Schemathesis, and bad inputs", _f9_postgres),
    "F10 redis": (200, "streams cut and resumed, two replicas", _f10),
    "F11 postgres": (20, "SIGTERM under load, two replicas", _f11),
    "F12 sqlite": (10_000, "mixed expiry, three sweepers", _f12_sqlite),
    "F12 postgres": (1_000, "mixed expiry, three sweepers", _f12_postgres),
    "Q4 sqlite": (200, "pauses with results of 1 MB, two engines", _q4_sqlite),
    "Q4 postgres": (200, "pauses with results of 1 MB, two engines", _q4_postgres),
}
"""By name: how often it is done, what it is, and how it is done."""

COLUMNS = "{:<13}{:<44}{:>7}{:>9}{:>9}{:>8}{:>12}{:>7}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description="The fault tests in great numbers.")
    parser.add_argument("names", nargs="*", metavar="TEST", help=f"some of: {', '.join(TESTS)}; F1 is both of F1")
    parser.add_argument("--part", type=float, default=1.0, help="of the full counts")
    args = parser.parse_args()
    chosen = [name for name in TESTS if not args.names or {name, name.split()[0]} & set(args.names)]
    print(COLUMNS.format("test", "", "count", "hits", "entries", "facts", "violations", "s"), flush=True)
    with tempfile.TemporaryDirectory() as folder, postgres("fsync=off") as database, redis() as bus:
        ground = Ground(Path(folder), database, bus)
        found = [_one(name, args.part, ground) for name in chosen]
    for violation in [text for outcome in found for text in outcome.violations]:
        print(violation, file=sys.stderr)
    return any(outcome.violations for outcome in found)


def _one(name: str, part: float, ground: Ground) -> Outcome:
    count, what, test = TESTS[name]
    outcome, began = Outcome(), time.monotonic()
    anyio.run(test, max(1, round(count * part)), ground, outcome)
    seconds = f"{time.monotonic() - began:.0f}"
    share = f"{outcome.share:.0%}" if outcome.hits else "-"
    columns = (name, what, outcome.count, share, outcome.entries, outcome.facts, len(outcome.violations), seconds)
    print("\n".join([COLUMNS.format(*columns), *outcome.notes]), flush=True)
    return outcome


if __name__ == "__main__":
    sys.exit(main())
