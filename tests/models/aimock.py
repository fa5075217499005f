"""An independent server that speaks the providers' protocols, run for one test, and its journal of requests."""

from __future__ import annotations

import json
import subprocess
import threading
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from yourcall.models import provider
from yourcall.ports import Model

ROOT = Path(__file__).parents[2]
DEADLINE = 180.0
"""Seconds after which a server that a test has left behind is ended."""


class Aimock:
    """The running server."""

    def __init__(self, url: str) -> None:
        self.url = url

    def model(self, name: str, **options: Any) -> Model:
        """A model of a provider that this server plays."""
        return provider(name, base_url=self.base(name), api_key="sk-test", **options)

    def base(self, name: str) -> str:
        """What the provider's SDK takes as its base URL."""
        return self.url + ("/v1" if name.startswith("openai") else "")

    def requests(self) -> list[dict[str, Any]]:
        """The bodies of all requests, as they came."""
        with urllib.request.urlopen(f"{self.url}/__aimock/journal", timeout=DEADLINE) as response:
            return [entry["body"] for entry in json.load(response) if entry["method"] == "POST"]


@contextmanager
def aimock(folder: Path, fixtures: Sequence[Any]) -> Iterator[Aimock]:
    """Serve these fixtures on a free port, until the block ends."""
    (folder / "fixtures.json").write_text(json.dumps({"fixtures": list(fixtures)}))
    command = ["node", ROOT / "node_modules/@copilotkit/aimock/dist/cli.js", "-p", "0", "-f", folder / "fixtures.json"]
    with subprocess.Popen(
        [*map(str, command), "--strict", "--validate-on-load"],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    ) as process:  # fmt: skip
        watchdog = threading.Timer(DEADLINE, process.kill)
        watchdog.start()
        try:
            yield Aimock(_url(process))
        finally:
            watchdog.cancel()
            process.kill()


def _url(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    said = []
    for line in process.stdout:
        said.append(line)
        for word in line.split():
            if word.startswith("http://127.0.0.1"):
                threading.Thread(target=process.stdout.read, daemon=True).start()
                return word.rstrip("/.")
    raise AssertionError("".join(said))
