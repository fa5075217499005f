"""The provider's own form of a step, as it is kept in the log: `{"format", "version", "blob"}`.

Where it cannot be read any more, by another provider or after another major version, the neutral parts are sent
in its place: `read` returns None, and never raises.
"""

from __future__ import annotations

from yourcall.entries import Json
from yourcall.log import AssistantMessage

VERSION = 1


def write(format: str, blob: Json) -> Json:
    """The blob as it goes into the log."""
    return {"format": format, "version": VERSION, "blob": blob}


def read(message: AssistantMessage, format: str) -> Json:
    """The blob of a step, if it is in this format and of a version that is known here."""
    match message.blob:
        case {"format": written, "version": int(version), "blob": blob} if written == format and version == VERSION:
            return blob
        case _:
            return None
