"""Prints at the session's end what the generated examples came to."""

from __future__ import annotations

import pytest

from tests.model import report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for line in report.lines():
        terminalreporter.write_line(line)
