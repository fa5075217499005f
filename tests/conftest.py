"""What all tests share. A test that is skipped has not shown its property, so here it fails."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.postgres import Postgres
    from tests.redis import Redis
    from tests.scene import Scene


def pytest_configure() -> None:
    """What clients and processes would do anew each time, and which takes longer than what tests do with them.

    Nobody is trusted: no test speaks TLS, and the authorities would be read for each client. Processes that tests start
    keep what they compile of the libraries, as Python does unless it is told not to.
    """
    os.environ.pop("SSL_CERT_FILE", None)
    os.environ["SSL_CERT_DIR"] = str(Path(__file__).parent)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """The one event loop that yourcall supports: aiosqlite and uvicorn need asyncio."""
    return "asyncio"


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    """A real file in which one process after another finds what the last one left."""
    from tests.scene import Scene

    return Scene(tmp_path)


@pytest.fixture(scope="session")
def postgres_server() -> Generator[Postgres, None, None]:
    """A server for all tests; each takes an empty schema of it."""
    from tests.postgres import postgres

    with postgres("fsync=off") as server:
        yield server


@pytest.fixture(scope="session")
def redis_server() -> Generator[Redis, None, None]:
    """A server for all tests; conversations of different tests have different names."""
    from tests.redis import redis

    with redis() as server:
        yield server


@pytest.fixture
def free_port() -> Callable[[], int]:
    """Makes a loopback port that nobody listened on a moment ago; each call gives another one."""
    given: set[int] = set()

    def take() -> int:
        while True:
            with socket.create_server(("127.0.0.1", 0)) as listener:
                port: int = listener.getsockname()[1]
            if port not in given:
                given.add(port)
                return port

    return take


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests with a browser come last: once used, Playwright's sync API runs an event loop in this thread."""
    items.sort(key=lambda item: "browser" in getattr(item, "fixturenames", ()))


def _refuse_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    if report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"No test may be skipped. {reason}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    _refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _refuse_skip(report)
    return report
