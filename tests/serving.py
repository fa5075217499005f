"""Runs the command `yourcall` as a process of its own and waits until it says where it answers."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

DEADLINE = 60.0
COMMAND = (sys.executable, "-m", "yourcall.cli")


class Serving:
    """A running command, and where it answers."""

    def __init__(self, process: subprocess.Popen[str], url: str) -> None:
        self.process, self.url = process, url

    def terminate(self) -> None:
        self.process.send_signal(signal.SIGTERM)

    def stop(self) -> str:
        """End it as a service manager does; returns what it printed since it said where it answers."""
        self.terminate()
        out, _ = self.process.communicate(timeout=DEADLINE)
        return out


@contextmanager
def serving(*arguments: str, cwd: Path, env: Mapping[str, str] | None = None) -> Iterator[Serving]:
    """`yourcall` with these arguments on a free port, in `cwd`; it is killed if it does not stop by itself."""
    command = [*COMMAND, *arguments, "--port", "0"]
    env = os.environ | {"PYTHONUNBUFFERED": "1"} | dict(env or {})
    with subprocess.Popen(
        command, cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        watchdog = threading.Timer(DEADLINE, process.kill)
        watchdog.start()
        try:
            yield Serving(process, _url(process))
        finally:
            watchdog.cancel()
            process.kill()


def _url(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    said = []
    for line in process.stdout:
        said.append(line)
        if found := re.search(r"http://\S+/", line):
            return found[0]
    raise AssertionError("".join(said))
