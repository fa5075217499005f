"""What an engine must have been given before a question is put to anybody: without it no answer could be taken.

It is looked at where the tool asks. So the developer learns what to set, and no user gives an answer in vain.
"""

from __future__ import annotations

from typing import Any, Final

from yourcall.asks import Ask
from yourcall.errors import ProgrammingError
from yourcall.ports import Shelf, Vault

NO_BLOBS: Final = "Say where files are kept: `Engine(..., blobs=...)`, for instance a folder."


def require(vault: Vault, files: Shelf | None, public_url: str, ask: Ask[Any]) -> None:
    """Raises `ProgrammingError`, naming what to set, where this ask's answer could not be taken."""
    if ask.channel in ("secret", "handoff"):
        vault.require_keys()
    if ask.channel == "handoff" and not public_url:
        raise ProgrammingError(
            f'A {ask.kind} ask leads back here: say where that is, `Engine(public_url="https://...")`.'
        )
    if files is None and (ask.channel == "upload" or ask.attachments):
        raise ProgrammingError(NO_BLOBS)
