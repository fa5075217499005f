"""Which part of a conversation the model reads: `Agent(trim=...)` chooses, in units that belong together.

A step comes with its calls, their results and the provider's own form of it, reasoning and all: whoever drops one
drops the others. What the model has not read yet, the results of the last step and what the user wrote since, is sent
whatever was chosen. The log is never trimmed, so a question that is open stays open, and stays the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import dropwhile
from typing import TypeAlias

from yourcall.errors import ProgrammingError
from yourcall.log import AssistantMessage, ToolMessage, Transcript, UserMessage


@dataclass(frozen=True, slots=True)
class TakenStep:
    """A step of the model with the results of all its calls."""

    message: AssistantMessage
    results: tuple[ToolMessage, ...] = ()


Unit: TypeAlias = UserMessage | TakenStep
Trim: TypeAlias = Callable[[Sequence[Unit]], Iterable[Unit]]
"""Given all units in order, those that are sent. It may add `UserMessage`s of its own, such as a summary."""


def recent(messages: int) -> Trim:
    """The last so many messages of the user, and all that followed them."""

    def trim(units: Sequence[Unit]) -> Sequence[Unit]:
        starts = [at for at, unit in enumerate(units) if isinstance(unit, UserMessage)]
        return units[starts[-messages] :] if len(starts) > messages else units

    return trim


def trimmed(transcript: Transcript, trim: Trim | None) -> Transcript:
    """The transcript as it is sent. Raises `ProgrammingError` for a step that is none of the conversation's."""
    if trim is None:
        return transcript
    units = tuple(_units(transcript))
    unread = max((at for at, unit in enumerate(units) if isinstance(unit, TakenStep)), default=0)
    earlier, fresh = units[:unread], units[unread:]
    chosen = [unit for unit in trim(units) if not _one_of(unit, fresh)]
    if any(isinstance(unit, TakenStep) and not _one_of(unit, earlier) for unit in chosen):
        raise ProgrammingError("`trim` made a step: it may drop steps or keep them, and add messages of its own.")
    # some providers demand that a message of the user comes first
    begun = list(dropwhile(lambda unit: isinstance(unit, TakenStep), chosen))
    if not begun and unread:
        begun.extend([unit for unit in earlier if isinstance(unit, UserMessage)][-1:])
    return _flat([*begun, *fresh])


def _one_of(unit: Unit, units: Iterable[Unit]) -> bool:
    return any(unit is one for one in units)


def _units(transcript: Transcript) -> Iterator[Unit]:
    at = 0
    while at < len(transcript):
        message, at = transcript[at], at + 1
        if not isinstance(message, AssistantMessage):
            assert isinstance(message, UserMessage), "a result follows its step"
            yield message
            continue
        end = at
        while end < len(transcript) and isinstance(transcript[end], ToolMessage):
            end += 1
        yield TakenStep(message, tuple(result for result in transcript[at:end] if isinstance(result, ToolMessage)))
        at = end


def _flat(units: Iterable[Unit]) -> Transcript:
    flat: list[UserMessage | AssistantMessage | ToolMessage] = []
    for unit in units:
        flat.extend([unit.message, *unit.results] if isinstance(unit, TakenStep) else [unit])
    return tuple(flat)
