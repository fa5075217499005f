"""One server of the fault tests: an engine with the agent of `agent.py`, behind real HTTP, that dies on its cue."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastapi import Header

from tests.faults.agent import agent
from yourcall import Engine, record, runs
from yourcall.entries import Answered, Asked, Assistant, Body, Effect, Entry, Result, Run, User
from yourcall.ports import Appended, Key, Row
from yourcall.serve import run
from yourcall.store.postgres import PostgresStore
from yourcall.store.sqlite import SQLiteStore
from yourcall.web import create_app

POINTS = ("message", "step", "ask", "answer", "effect begun", "effect done", "result", "reply")
"""What is committed, by which a server can be told when to die, or to stop."""


@dataclass(frozen=True)
class Cue:
    """Before or after the nth append that holds such an entry: then the process sends itself this signal."""

    point: str
    after: bool
    nth: int = 1
    signal: signal.Signals = signal.SIGKILL


@dataclass(frozen=True)
class Settings:
    """What a server needs to know. `lease` and `sweep` are in seconds, `pace` is that of its model and its tools."""

    port: int
    store: str
    folder: Path
    bus: str | None = None
    lease: float = 1.0
    sweep: float = 0.2
    pace: float = 0.02
    cue: Cue | None = None

    @property
    def effects(self) -> Path:
        return self.folder / "effects"

    @property
    def log(self) -> Path:
        """What the server writes when something goes wrong."""
        return self.folder / f"server-{self.port}.log"

    @property
    def runs(self) -> Path:
        """The ids of the runs that were started by this port's servers."""
        return self.folder / f"runs-{self.port}"


def serve(settings: Settings) -> None:
    """Serve until a signal comes. To be called in a process of its own."""
    log = os.open(settings.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    for module in (record, runs):
        vars(module)["LEASE_SECONDS"] = settings.lease
    told = agent(settings.effects, settings.pace)
    engine = Engine(told, _store(settings), bus=settings.bus, sweep_every=settings.sweep)
    app = create_app(engine, user=_user)

    @app.get("/going-on")
    async def going_on() -> bool:
        """Whether a run goes on in this process."""
        return bool(engine._runs.going_on)

    with socket.create_server(("127.0.0.1", settings.port), backlog=1024) as listener:
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        run(app, listener, engine.drain)


async def _user(x_user: str | None = Header(default=None)) -> str | None:
    return x_user


def _store(settings: Settings) -> WatchedSQLite | WatchedPostgres:
    if settings.store.startswith("sqlite:///"):
        store: Any = WatchedSQLite(settings.store.removeprefix("sqlite:///"))
    else:
        store = WatchedPostgres(settings.store)
    store.settings = settings
    return store  # type: ignore[no-any-return]  # one of the two


class Watched:
    """Notes which runs this process starts, and kills or stops it on its cue."""

    settings: Settings
    _met: int = 0

    async def append(self, key: Key, head: int, entries: Sequence[Entry], row: Row, **more: Any) -> Appended:
        cue = self.settings.cue
        meant = cue if cue and cue.point in map(point, entries) else None
        if meant and not meant.after:
            self._meet(meant)
        appended: Appended = await super().append(key, head, entries, row, **more)  # type: ignore[misc]  # the store's
        if appended is Appended.DONE:
            if meant and meant.after:
                self._meet(meant)
            self._note(entry.body.runner for entry in entries if isinstance(entry.body, Run))
        return appended

    def _meet(self, cue: Cue) -> None:
        self._met += 1
        if self._met == cue.nth:
            os.kill(os.getpid(), cue.signal)

    def _note(self, runners: Iterator[str]) -> None:
        if lines := "".join(f"{runner}\n" for runner in runners):
            with open(self.settings.runs, "a", encoding="ascii") as file:
                file.write(lines)


class WatchedSQLite(Watched, SQLiteStore):
    pass


class WatchedPostgres(Watched, PostgresStore):
    pass


def point(entry: Entry) -> str | None:
    """Which of `POINTS` an entry is."""
    body: Body = entry.body
    match body:
        case User():
            return "message"
        case Assistant(calls=calls):
            return "step" if calls else "reply"
        case Asked():
            return "ask"
        case Answered():
            return "answer"
        case Effect(state=state):
            return f"effect {state}"
        case Result():
            return "result"
        case _:
            return None
