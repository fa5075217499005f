"""An authorization server that others wrote and that checks what it is sent, run for one test or several."""

from __future__ import annotations

import json
import re
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import httpx

ROOT = Path(__file__).parents[2]
DEADLINE = 180.0
"""Seconds after which a server that a test has left behind is ended."""


class Panva:
    """The running server, by its issuer."""

    def __init__(self, issuer: str) -> None:
        self.issuer = issuer
        self._before = 0

    def begin(self) -> None:
        """Count anew, and be as at first."""
        self._before += len(self.journal())
        self.set(seconds=3600, silent=False)

    def set(self, **settings: Any) -> None:
        """`seconds` that an access token lasts from now on; `silent` cuts token requests off."""
        httpx.post(f"{self.issuer}/__set", json=settings)

    def journal(self) -> list[str]:
        """What reached the token endpoint, and what came of it."""
        found: list[str] = httpx.get(f"{self.issuer}/__journal").json()
        return found[self._before :]

    def requests(self, path: str = "/token") -> int:
        """How many requests reached an endpoint."""
        return self.journal().count(path)

    def granted(self, kind: str) -> int:
        return self.journal().count(f"granted {kind}")

    async def sign_in(self, url: str, back: str, *, login: str = "ada", refuse: bool = False) -> str:
        """Do at its pages what a person does there; the address at which it sends the browser `back`."""
        async with httpx.AsyncClient(follow_redirects=False) as browser:
            response = await browser.get(url)
            while True:
                if response.is_redirect:
                    url = urljoin(str(response.url), response.headers["location"])
                    if url.startswith(back):
                        return url
                    response = await browser.get(url)
                    continue
                assert response.status_code == 200, response.text
                action = re.search(r'action="([^"]+)"', response.text)
                assert action, response.text
                if 'value="login"' in response.text:
                    form = {"prompt": "login", "login": login, "password": "any"}
                elif refuse:
                    response = await browser.get(action[1] + "/abort")
                    continue
                else:
                    form = {"prompt": "consent"}
                response = await browser.post(action[1], data=form)


@contextmanager
def panva(clients: Sequence[dict[str, Any]]) -> Iterator[Panva]:
    """Serve on a free port until the block ends."""
    command = ["node", "tests/oauth/provider.mjs", json.dumps(clients)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        watchdog = threading.Timer(DEADLINE, process.kill)
        watchdog.start()
        try:
            yield Panva(_issuer(process))
        finally:
            watchdog.cancel()
            process.kill()


def _issuer(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    said = []
    for line in process.stdout:
        said.append(line)
        if line.startswith("http://"):
            threading.Thread(target=process.stdout.read, daemon=True).start()
            return line.strip()
    raise AssertionError("".join(said))
