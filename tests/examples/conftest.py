"""The services that the coach knows, as stand-ins that answer over HTTP; one server for all tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from coach import Services
from yourcall.vault import new_key


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """The coach's vault has keys, as `yourcall demo` makes them."""
    monkeypatch.setenv("YOURCALL_KEYS", new_key())


@pytest.fixture(scope="session")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    with Services.opened(tmp_path_factory.mktemp("services"), {}) as services:
        yield services
