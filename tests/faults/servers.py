"""Server processes that are started, killed, stopped and started again.

They are forked from one process that has imported everything, so that a start takes a fraction of a second.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import httpx

from tests.faults.app import Cue, Settings, serve

LATE = (
    *("uvicorn.lifespan.on", "uvicorn.loops.auto", "uvicorn.protocols.http.auto", "uvicorn.protocols.websockets.auto"),
    *("yourcall.open", "yourcall.vault", "yourcall.blobs.folder", "yourcall.bus.local", "yourcall.bus.redis"),
    *("anyio._backends._asyncio", "encodings.idna", "importlib.readers", "pytest"),
)
"""What a server would import only when it starts."""

_forks = multiprocessing.get_context("forkserver")
_forks.set_forkserver_preload(["tests.faults.app", *LATE])


PATIENCE = 60.0
"""Seconds within which a server has started."""


class Server:
    """One replica, on a port that it keeps."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.url = f"http://127.0.0.1:{settings.port}"
        self._process: ForkServerProcess | None = None

    async def start(self, cue: Cue | None = None) -> None:
        """Start it, and wait until it takes connections."""
        self._process = _forks.Process(target=serve, args=(replace(self.settings, cue=cue),), daemon=True)
        self._process.start()
        while not await self._listens():
            assert self._process.is_alive(), self.settings.log.read_text()
            await anyio.sleep(0.005)

    async def _listens(self) -> bool:
        try:
            await (await anyio.connect_tcp("127.0.0.1", self.settings.port)).aclose()
        except OSError:
            return False
        return True

    async def ready(self) -> None:
        """Wait until its engine is open: it takes connections before, and a new store has no tables yet."""
        async with httpx.AsyncClient(base_url=self.url, timeout=PATIENCE) as http:
            (await http.get("/readyz")).raise_for_status()

    async def kill(self) -> None:
        """kill -9."""
        self._signal(signal.SIGKILL)
        await self.dead()

    async def dead(self) -> int | None:
        """Wait until its process has ended; its exit status, negative for a signal; None if nobody knows it.

        Starting a process looks after all the others, too: when that and this wait learn of an end at the same moment,
        only one of them is told the status, and the other has 255 in its place.
        """
        process, self._process = self._process, None
        assert process is not None
        await anyio.to_thread.run_sync(process.join)
        status = process.exitcode
        process.close()
        return None if status == 255 else status

    async def stopped(self) -> None:
        """Wait until its process is stopped by a signal."""
        while self._state() != "T":  # noqa: ASYNC110  # another process's
            await anyio.sleep(0.01)

    @property
    def pid(self) -> int:
        assert self._process is not None
        assert self._process.pid is not None
        return self._process.pid

    def _state(self) -> str:
        return Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0]

    def go_on(self) -> None:
        self._signal(signal.SIGCONT)

    def terminate(self) -> None:
        self._signal(signal.SIGTERM)

    def _signal(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def close(self) -> None:
        """Whatever state it is in, it is gone."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process.close()
            self._process = None

    @property
    def started_runs(self) -> set[str]:
        return set(self.settings.runs.read_text().split()) if self.settings.runs.exists() else set()


@contextmanager
def replicas(count: int, store: str, folder: Path, **more: Any) -> Iterator[list[Server]]:
    """Servers on one store, not started yet; gone when the block ends. `more` is of `Settings`."""
    servers = [Server(Settings(port, store, folder, **more)) for port in _ports(count)]
    try:
        yield servers
    finally:
        for server in servers:
            server.close()


def _ports(count: int) -> list[int]:
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports: list[int] = [listener.getsockname()[1] for listener in listeners]
    for listener in listeners:
        listener.close()
    return ports
