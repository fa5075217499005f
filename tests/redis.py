"""A Redis of the tests' own: on a free loopback port, gone with them."""

from __future__ import annotations

import contextlib
import signal
import socket
import subprocess
import time
from collections.abc import Iterator


class Redis:
    """A server that can be stopped and started again; what it held is gone then."""

    def __init__(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self.port: int = listener.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--daemonize", "no"]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        while True:
            assert self._process.poll() is None, "redis-server did not start"
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port)):
                return
            time.sleep(0.01)

    def clear(self) -> None:
        with socket.create_connection(("127.0.0.1", self.port)) as connection:
            connection.sendall(b"FLUSHALL\r\n")
            assert connection.recv(16) == b"+OK\r\n"

    @contextlib.contextmanager
    def frozen(self) -> Iterator[None]:
        """Within this block it is there, keeps its connections, and does nothing."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


@contextlib.contextmanager
def redis() -> Iterator[Redis]:
    """A server while the context lasts."""
    server = Redis()
    server.start()
    try:
        yield server
    finally:
        server.stop()
