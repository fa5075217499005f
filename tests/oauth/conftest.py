"""One authorization server for all of these tests; each counts its own requests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.oauth.panva import Panva, panva
from tests.oauth.stage import CLIENT


@pytest.fixture(scope="session")
def running() -> Iterator[Panva]:
    with panva([CLIENT]) as server:
        yield server


@pytest.fixture
def server(running: Panva) -> Panva:
    running.begin()
    return running
