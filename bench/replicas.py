"""`make bench-replicas`: what one machine does, as the figures of docs/scaling.md.

    python -m bench.replicas                        all parts, some minutes
    python -m bench.replicas waiting --scale 0.01   one of them, with small numbers

Its own PostgreSQL, Redis and nginx (as `deploy/nginx.conf` says) are started for it; servers and clients are
processes of their own, on the same cores. The model costs nothing, so what is left is ours.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import psycopg
import redis as redis_client

from bench import lengths, machine, served, waiting
from bench.machine import Replica, part, replicas
from tests.nginx import nginx
from tests.postgres import Postgres, postgres
from tests.redis import Redis, redis

CLIENTS: Final = (1, 16, 64)
ANSWERS: Final = 320
WAITING: Final = (1_000, 100_000)
SAMPLE: Final = 100
LISTENERS: Final = 500
WORDS: Final = 100
THINK: Final = "8"
PACE: Final = "0.1"


@dataclass(frozen=True)
class Ground:
    """Where it is measured. `scale` makes the numbers smaller, and with them the time that it takes."""

    folder: Path
    postgres: Postgres
    redis: Redis
    scale: float

    def some(self, count: int, least: int = 1) -> int:
        return max(least, round(count * self.scale))

    @contextmanager
    def serving(self, count: int, *more: str) -> Iterator[tuple[str, list[Replica]]]:
        """One replica on SQLite for 0, else so many behind nginx on PostgreSQL and Redis; and where they are."""
        if not count:
            with replicas(1, self.file(), *more) as (one,):
                yield one.url, [one]
            return
        shared = ("--bus", self.redis.url, *more)
        with replicas(count, self.postgres.empty(), *shared) as started, self._nginx(started) as url:
            yield url, started

    def file(self) -> str:
        return f"sqlite:///{tempfile.mkdtemp(dir=self.folder)}/bench.db"

    @contextmanager
    def _nginx(self, started: list[Replica]) -> Iterator[str]:
        with nginx(Path(tempfile.mkdtemp(dir=self.folder)), [one.port for one in started]) as url:
            yield url


def _kind(count: int) -> str:
    return f"PostgreSQL, Redis, nginx, {count} replica{'s' * (count > 1)}" if count else "SQLite, 1 process"


# ----------------------------------------------------------------- answers


def answers(ground: Ground) -> None:
    """Answers to questions that wait already, and what follows them, which is heard to its end."""
    heads = ("stores and replicas", "clients", "answers/s", "first word p50 ms", "p99 ms", "server CPU ms an answer")
    machine.table("Answers", heads, _answers(ground))
    print(f"\nRedis: {_redis_bytes(ground.redis):,.0f} bytes a run of {served.WORDS} words, for ten minutes.")


def _answers(ground: Ground) -> Iterator[list[Any]]:
    for count in (0, 1, 2, 3):
        with ground.serving(count) as (url, started):
            _answered(url, started, 4, 5)  # warm
            for clients in CLIENTS:
                each = ground.some(ANSWERS) // clients or 1
                yield [_kind(count), clients, *_answered(url, started, clients, each)]


def _answered(url: str, started: list[Replica], number: int, each: int) -> list[float]:
    clients = machine.Clients("answers", url, number, each)
    clients.next()
    before = sum(one.cpu for one in started)
    clients.go()
    found = clients.next()
    used = sum(one.cpu for one in started) - before
    clients.end()
    firsts, count = found["firsts"], number * each
    return [count / found["seconds"], part(firsts, 0.5) * 1e3, part(firsts, 0.99) * 1e3, used * 1e3 / count]


def _redis_bytes(server: Redis) -> float:
    """What the stream of one conversation takes."""
    with redis_client.Redis.from_url(server.url) as client:
        sizes: list[Any] = [client.memory_usage(name, samples=0) for name in client.scan_iter(_type="stream")]
    return float(statistics.median(sizes))


# ----------------------------------------------------------------- waiting


def wait(ground: Ground) -> None:
    """A server on a store where nothing waits, on one where some do, and on one where very many do."""
    heads = (
        *("store", "waiting", "server MiB", "open p50 ms", "p99", "inbox p50 ms", "p99", "list p50 ms"),
        *("first word p50 ms", "bytes each"),
    )
    machine.table("Waiting conversations", heads, _waiting(ground))


def _waiting(ground: Ground) -> Iterator[list[Any]]:
    for name, make in (("SQLite", ground.file), ("PostgreSQL", ground.postgres.empty)):
        for count in (0, *WAITING):
            store = make()
            with replicas(1, store):
                pass  # which makes its tables
            number = ground.some(count, SAMPLE * waiting.EACH) if count else 0
            idle = _disk(store)
            waiting.fill(store, number)
            each = (_disk(store) - idle) / number if number else 0.0
            yield [name, number, *_looked(store, number), each]


def _looked(store: str, number: int) -> list[Any]:
    with replicas(1, store) as (one,):
        if not number:
            _answered(one.url, [one], 1, SAMPLE)
            return [one.resident, *[""] * 6]
        found = machine.seen("look", one.url, number // waiting.EACH, SAMPLE)
        opened, inbox = found["open"], found["inbox"]
        shown = [
            *(part(opened, 0.5), part(opened, 0.99), part(inbox, 0.5), part(inbox, 0.99)),
            *(part(found["list"], 0.5), part(found["answer"], 0.5)),
        ]
        return [one.resident, *(value * 1e3 for value in shown)]


def _disk(store: str) -> int:
    """Bytes of the log and of all that is derived from it, with their indexes."""
    if store.startswith("sqlite:///"):
        path = Path(store.removeprefix("sqlite:///"))
        return sum(file.stat().st_size for file in path.parent.glob(f"{path.name}*"))
    with psycopg.connect(store) as db:
        return sum(size for _, size in _sizes(db))


def _sizes(db: psycopg.Connection[Any]) -> list[tuple[str, int]]:
    """Every table and every index of its own."""
    return db.execute(
        """
        SELECT c.relname, pg_total_relation_size(c.oid) - pg_indexes_size(c.oid) FROM pg_class c
        JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = current_schema() AND c.relkind = 'r'
        UNION ALL
        SELECT c.relname, pg_relation_size(c.oid) FROM pg_class c
        JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = current_schema() AND c.relkind = 'i'
        """
    ).fetchall()


# ----------------------------------------------------------------- disk


def disk(ground: Ground) -> None:
    """What a waiting conversation takes in PostgreSQL, by table and index."""
    store, number = ground.postgres.empty(), ground.some(WAITING[1] // 5, 1_000)
    with replicas(1, store):
        pass
    with psycopg.connect(store) as db:
        before = dict(_sizes(db))
    waiting.fill(store, number)
    with psycopg.connect(store) as db:
        rows = [(name, (size - before[name]) / number) for name, size in _sizes(db) if size > before[name]]
    heads = (f"table or index, {number:,} waiting in PostgreSQL", "bytes each")
    machine.table("Disk", heads, [*sorted(rows, key=lambda row: -row[1]), ("all", sum(size for _, size in rows))])


# ----------------------------------------------------------------- listeners


def listeners(ground: Ground) -> None:
    """Many listeners on one run; the clients fail unless each hears every word once, in order."""
    heads = (
        *("stores and replicas", "listeners", "words", "server CPU us a word and listener"),
        *("to the first p50 ms", "to the last p50 ms", "to the last p99 ms", "came late"),
    )
    machine.table("Listeners of one run, none lost, none doubled", heads, _listeners(ground))


def _listeners(ground: Ground) -> Iterator[list[Any]]:
    for count in (0, 3):
        number = ground.some(LISTENERS)
        with ground.serving(count, "--think", THINK, "--pace", PACE) as (url, started):
            clients = machine.Clients("listen", url, number, WORDS)
            clients.next()
            before = sum(one.cpu for one in started)
            found = clients.next()
            used = sum(one.cpu for one in started) - before
            clients.end()
            first, last = found["first"], found["last"]
            yield [
                *(_kind(count), number, WORDS, used * 1e6 / number / WORDS),
                *(part(first, 0.5) * 1e3, part(last, 0.5) * 1e3, part(last, 0.99) * 1e3, found["late"]),
            ]


# ----------------------------------------------------------------- lengths


def length(ground: Ground) -> None:
    """A pause, its answer and the end of the run, in logs of various lengths."""
    heads = ("entries before", "CPU ms", "wall ms", "KiB read", "KiB written")
    rows = asyncio.run(lengths.measure(ground.folder, ground.some(10, 3)))
    machine.table("Pause, answer and reply by length of the log, SQLite", heads, rows)


PARTS: Final[dict[str, Callable[[Ground], None]]] = {
    "answers": answers,
    "waiting": wait,
    "disk": disk,
    "listeners": listeners,
    "length": length,
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure one machine.")
    parser.add_argument("parts", nargs="*", help=f"by default all of: {', '.join(PARTS)}")
    parser.add_argument("--scale", type=float, default=1, help="of the numbers, 0.05 for a first look")
    asked = parser.parse_args()
    if unknown := set(asked.parts) - set(PARTS):
        parser.error(f"there is no part {', '.join(unknown)}")
    print(machine.about(), flush=True)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.chmod(0o755)  # nginx gives its privileges up
        ground = Ground(folder, stack.enter_context(postgres()), stack.enter_context(redis()), asked.scale)
        for name in asked.parts or PARTS:
            PARTS[name](ground)


if __name__ == "__main__":
    main()
