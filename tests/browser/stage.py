"""A real server that can be killed and started again, and a user in front of a real browser."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import httpx
from playwright.sync_api import ConsoleMessage, Locator, Page, Request, expect

DEADLINE = 30.0
"""Seconds after which whatever a test waits for is not going to come."""

ROOT = Path(__file__).parents[2]


@dataclass
class Server:
    """`yourcall serve` on one port and one folder, whatever becomes of the process."""

    folder: Path
    port: int
    process: subprocess.Popen[bytes] | None = None
    engine: str = "tests.browser.app:engine"
    env: Mapping[str, str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.kill()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self.kill()

    def start(self) -> None:
        command = [sys.executable, "-m", "yourcall.cli", "serve", self.engine]
        env = os.environ | {"YOURCALL_SCENE": str(self.folder), "YOURCALL_SCENE_URL": self.url} | dict(self.env)
        with (self.folder / "server.log").open("ab") as output:
            self.process = subprocess.Popen(
                [*command, "--port", str(self.port), "--data", str(self.folder)],
                cwd=ROOT, env=env, stdout=output, stderr=output,
            )  # fmt: skip
        until(self._is_ready)

    def _is_ready(self) -> bool:
        assert self.process
        assert self.process.poll() is None, (self.folder / "server.log").read_text()
        try:
            return httpx.get(self.url + "readyz").is_success
        except httpx.TransportError:
            return False

    def kill(self) -> None:
        """`kill -9`: it gets to say and to save nothing."""
        if self.process:
            self.process.kill()
            self.process.wait(DEADLINE)

    def open(self, gate: str) -> None:
        """Let what waits for this gate go on."""
        (self.folder / gate).touch()


def until(holds: Callable[[], Any]) -> None:
    """Wait for what another process brings about."""
    deadline = time.monotonic() + DEADLINE
    while not holds():
        assert time.monotonic() < deadline, "It did not come in time."
        time.sleep(0.01)


@dataclass
class User:
    """Somebody in front of a tab. What the page sent, and what went wrong in it, is kept."""

    page: Page
    url: str
    requests: list[Request] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    breaks: bool = False
    """Errors belong to what the test shows."""

    def __post_init__(self) -> None:
        self.page.on("request", self._asked)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", self._heard)
        self.page.on("dialog", lambda dialog: self.errors.append(f"dialog: {dialog.message}"))

    def _asked(self, request: Request) -> None:
        self.requests.append(request)

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.errors.append(f"{message.text} ({message.location['url']})")

    # ----------------------------------------------------------------- what the user sees

    @property
    def composer(self) -> Locator:
        return self.page.get_by_role("textbox", name="Message", exact=True)

    @property
    def cards(self) -> Locator:
        return self.page.locator("yc-card")

    @property
    def card(self) -> Locator:
        """The one open card, once it takes input."""
        card = self.page.locator("yc-card:not([data-ending])")
        expect(card).to_have_count(1)
        expect(card.locator("form:not([inert])")).to_be_attached()
        return card

    @property
    def closed(self) -> Locator:
        return self.page.locator("yc-card[data-ending]")

    def reads(self, text: str) -> None:
        """The assistant's last message is this."""
        expect(self.page.locator(".yc-assistant .yc-text").last).to_have_text(text)

    # ----------------------------------------------------------------- what the user does

    def visit(self) -> None:
        self.page.goto(self.url)
        expect(self.composer).to_be_focused()

    def say(self, text: str) -> None:
        self.composer.fill(text)
        self.composer.press("Enter")

    def option(self, label: str) -> Locator:
        return self.card.get_by_role("button", name=label)

    def send(self) -> None:
        self.card.get_by_role("button", name="Send", exact=True).click()

    def question(self, text: str) -> Locator:
        return self.card.get_by_role("group", name=text)

    # ----------------------------------------------------------------- what left the page

    def sent(self, ending: str = "/answer") -> list[Any]:
        """The bodies that were posted to routes with this ending."""
        return [
            request.post_data_json
            for request in self.requests
            if request.method == "POST" and urlsplit(request.url).path.endswith(ending)
        ]

    def foreign(self) -> list[str]:
        """Where the page went besides its own server."""
        return [request.url for request in self.requests if not request.url.startswith(self.url)]


def scrolls_sideways(page: Page) -> list[str]:
    """What is wider than its place: elements that can be scrolled sideways, or stand out of the window."""
    found: list[str] = page.evaluate(
        """() => [...document.querySelectorAll("*")].filter((element) => {
          const box = element.getBoundingClientRect();
          const scrolls = element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0
            && !element.matches(".yc-sr, h1, textarea, input") && getComputedStyle(element).display !== "inline";
          return scrolls || (box.right > innerWidth + 1 && box.width > 1);
        }).map((element) => `${element.localName}.${element.className}`)"""
    )
    return found
