"""A PostgreSQL server of the tests' own: on a free loopback port, gone with them."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import psycopg

BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin")) or [Path(shutil.which("postgres") or "/nowhere").parent]


class Postgres:
    """The server's address, and databases in it that are empty. It can be stopped, and started again."""

    def __init__(self, folder: Path, port: int, command: Sequence[str | Path]) -> None:
        self.url = f"postgresql://postgres@127.0.0.1:{port}/postgres"
        self._folder, self._command, self._made = folder, command, 0
        self._server: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with open(self._folder / "log", "a") as log:
            self._server = subprocess.Popen(self._command, stderr=log, cwd=self._folder)
        while self._server.poll() is None:
            with contextlib.suppress(psycopg.OperationalError), psycopg.connect(self.url):
                return
            time.sleep(0.02)
        raise RuntimeError(f"PostgreSQL did not start:\n{(self._folder / 'log').read_text()}")

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """By default a fast stop: connections that are open are closed. SIGQUIT is as a crash."""
        if self._server is not None:
            self._server.send_signal(how)
            self._server.wait()
            self._server = None

    @contextlib.contextmanager
    def frozen(self) -> Iterator[None]:
        """Within this block its processes are there, keep their connections, and do nothing."""
        assert self._server is not None
        processes = [self._server.pid, *_children(self._server.pid)]
        for process in processes:
            os.kill(process, signal.SIGSTOP)
        try:
            yield
        finally:
            for process in processes:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGCONT)

    def empty(self) -> str:
        """The address of a schema of its own, with nothing in it."""
        self._made += 1
        with psycopg.connect(self.url, autocommit=True) as db:
            db.execute(f"CREATE SCHEMA t{self._made}".encode())
        return f"{self.url}?options=-csearch_path%3Dt{self._made}"


@contextlib.contextmanager
def postgres(*settings: str) -> Iterator[Postgres]:
    """A server while the context lasts. It refuses to be root's: then it is the system user's of its name."""
    folder = Path(tempfile.mkdtemp(prefix="yourcall-pg-"))
    as_user: list[str | Path] = []
    if os.getuid() == 0:
        user = pwd.getpwnam("postgres")
        os.chown(folder, user.pw_uid, user.pw_gid)
        as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"]
    try:
        binaries, data = BINARIES[-1], folder / "data"
        initdb: list[str | Path] = [
            *as_user,
            binaries / "initdb",
            "-D",
            data,
            "-A",
            "trust",
            "-U",
            "postgres",
            "--no-sync",
        ]
        subprocess.run([*initdb, "--encoding=UTF8"], check=True, stdout=subprocess.DEVNULL, cwd=folder)
        port = _free_port()
        options = ["listen_addresses=127.0.0.1", f"unix_socket_directories={folder}", f"port={port}", *settings]
        command: list[str | Path] = [
            *as_user,
            binaries / "postgres",
            "-D",
            data,
            *(part for one in options for part in ("-c", one)),
        ]
        server = Postgres(folder, port, command)
        try:
            server.start()
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _children(process: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port
