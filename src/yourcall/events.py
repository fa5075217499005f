"""What a listener of a conversation sees: the log's entries as they are recorded, and a run's live parts.

An entry is shown only after it was recorded. A `Delta` is provisional: either an `Assistant` entry with the
same message id follows and holds the whole text, or a `Retracted` takes it back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from yourcall.entries import Entry
from yourcall.log import Done, Waiting


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of the text that the model is writing; `offset` counts the characters before it."""

    message_id: str
    offset: int
    text: str


@dataclass(frozen=True, slots=True)
class Retracted:
    """The step failed: what was shown of this message was never said."""

    message_id: str


@dataclass(frozen=True, slots=True)
class Ended:
    """The run is over for now: it waits for the user, or is done. `head` is the log's, when it ended."""

    phase: Waiting | Done
    head: int


Event: TypeAlias = Delta | Retracted | Ended | Entry
