"""A store that commands work on is there already: a mistyped name does not make one."""

from __future__ import annotations

from pathlib import Path

from yourcall.errors import ProgrammingError


def require_existing(name: str) -> None:
    """Raises `ProgrammingError` if this name is of a file that is not there."""
    path = name.removeprefix("sqlite:///")
    if path != name and not Path(path).is_file():
        raise ProgrammingError(f"There is no file {path}.")
