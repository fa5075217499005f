"""What measurements stand on: the processes, what they have used, and the table that says on which machine it was."""

from __future__ import annotations

import json
import os
import platform
import shutil
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from tests.nginx import BINARY
from tests.postgres import BINARIES

ROOT: Final = Path(__file__).resolve().parent.parent
TICK: Final = os.sysconf("SC_CLK_TCK")


class Replica:
    """A process of `bench.served`."""

    def __init__(self, store: str, *more: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self.port: int = listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        command = [sys.executable, "-m", "bench.served", str(self.port), store, *more]
        self._process = subprocess.Popen(command, cwd=ROOT)

    def wait(self) -> None:
        """Until it takes requests."""
        while True:
            if self._process.poll() is not None:
                raise RuntimeError("A replica did not start.")
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port)) as connection:
                connection.sendall(b"GET /about HTTP/1.0\r\n\r\n")
                if connection.recv(16):
                    return
            time.sleep(0.02)

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait()

    @property
    def cpu(self) -> float:
        """Seconds that it has computed so far."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    @property
    def resident(self) -> float:
        """MiB of memory that it has."""
        lines = Path(f"/proc/{self._process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:")) / 1024


@contextmanager
def replicas(count: int, store: str, *more: str) -> Iterator[list[Replica]]:
    with ExitStack() as stack:
        started = []
        for _ in range(count):
            started.append(Replica(store, *more))
            stack.callback(started[-1].stop)
        for one in started:
            one.wait()
        yield started


class Clients:
    """A process of `bench.clients`, which says a word for each line that it prints."""

    def __init__(self, what: str, url: str, *numbers: int) -> None:
        command = [sys.executable, "-m", "bench.clients", what, url, *map(str, numbers)]
        self._process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def next(self) -> Any:
        """What it prints next. Raises if it failed."""
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("The clients failed.")
        return json.loads(line)

    def go(self) -> None:
        assert self._process.stdin
        print(file=self._process.stdin, flush=True)

    def end(self) -> None:
        self._process.communicate()


def seen(what: str, url: str, *numbers: int) -> Any:
    """All that they see in one go."""
    clients = Clients(what, url, *numbers)
    try:
        return clients.next()
    finally:
        clients.end()


# ----------------------------------------------------------------- what is printed


def about() -> str:
    """The machine, as one line."""
    nginx = subprocess.run([BINARY, "-v"], capture_output=True, text=True, check=True).stderr.split("/")[-1].strip()
    parts = [
        time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before",
        f"Python {platform.python_version()}",
        f"yourcall {version_of('yourcall')}",
        f"SQLite {sqlite3.sqlite_version}",
        f"PostgreSQL {_said(BINARIES[-1] / 'postgres', '--version').split()[2]}",
        f"Redis {_said(shutil.which('redis-server') or '', '--version').split('v=')[1].split()[0]}",
        f"nginx {nginx}",
    ]
    return "; ".join(parts)


def version_of(name: str) -> str:
    with suppress(LookupError, ImportError):
        return version(name)
    return "from source"


def _said(*command: str | Path) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def table(title: str, heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """As Markdown, row by row as they come."""
    print(f"\n**{title}**\n\n| {' | '.join(heads)} |\n|{'---|' * len(heads)}", flush=True)
    for row in rows:
        print(f"| {' | '.join(map(_shown, row))} |", flush=True)


def _shown(value: Any) -> str:
    if not isinstance(value, float):
        return f"{value:,}" if isinstance(value, int) else str(value)
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def part(values: Sequence[float], share: float) -> float:
    """The value below which this share of them is."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]
