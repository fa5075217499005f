"""A browser for all of these tests, a server for most of them, and for each a user whom nobody knows yet."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.browser.stage import DEADLINE, Server, User


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The system's Chromium where there is one, else the build that Playwright brings."""
    expect.set_options(timeout=DEADLINE * 1000 / 2)
    chromium = shutil.which("chromium")
    with sync_playwright() as playwright, playwright.chromium.launch(executable_path=chromium) as browser:
        yield browser


@pytest.fixture(scope="session")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for all tests that leave it alone."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    server = Server(tmp_path_factory.mktemp("shared"), port)
    with server:
        yield server


@pytest.fixture
def server(tmp_path: Path, free_port: Callable[[], int]) -> Iterator[Server]:
    """A server of the test's own, to be killed and started again."""
    server = Server(tmp_path, free_port())
    with server:
        yield server


@pytest.fixture
def new_user(browser: Browser, shared_server: Server) -> Iterator[Callable[..., User]]:
    """Makes users, each in a browser profile of their own. None may have met an error or left the site."""
    users: list[User] = []

    def make(url: str = shared_server.url, *, breaks: bool = False, **options: Any) -> User:
        context = browser.new_context(**options)
        context.set_default_timeout(DEADLINE * 1000 / 2)
        user = User(context.new_page(), url, breaks=breaks)
        users.append(user)
        return user

    yield make
    for user in users:
        user.page.context.close()
    for user in users:
        assert user.foreign() == []
        assert user.breaks or user.errors == []


@pytest.fixture
def user(new_user: Callable[..., User]) -> User:
    """Somebody with an empty page in front of them."""
    user = new_user()
    user.visit()
    return user
