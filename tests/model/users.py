"""What users ask of a process, and what they are told: each request, and every outcome that would be right for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

from tests.model.calls import Broken
from tests.model.machinery import Host
from tests.model.reference import Conversation
from yourcall.entries import Answered, Entry, Interrupt
from yourcall.errors import Closed, NotFound, Refused
from yourcall.events import Ended, Event


@dataclass(eq=False)
class Action:
    """A request under way, with every outcome that has been right at some moment since it began."""

    name: str
    host: Host
    task: asyncio.Task[Any]
    wants: str
    decide: Callable[[], set[str]]
    check: Callable[[Any], None] | None = None
    may: set[str] = field(default_factory=set)
    dropped: bool = False

    @property
    def endless(self) -> bool:
        """Whether it lasts as long as a run, wherever that is."""
        return self.wants == "listen" or "say" in self.name

    @property
    def under_way(self) -> bool:
        return not self.task.done()


def outcome(task: asyncio.Task[Any]) -> tuple[str, Any]:
    """What a request came to: `ok` with its value, or the name of a refusal."""
    try:
        return "ok", task.result()
    except NotFound:
        return "not-found", None
    except Closed as error:
        return f"closed:{error.ending}", None
    except Refused as error:
        return type(error).__name__.lower(), None
    except (asyncio.CancelledError, Exception) as error:
        return f"raised {error!r}", None


def payload(interrupt: Interrupt, sort: str, pick: int) -> tuple[Any, bool]:
    """What a client sends, and whether it is a right answer to this ask."""
    if interrupt.kind == "interrupt":
        return [None, 0, "", False, {"n": pick}, []][pick % 6], True  # what is falsy is an answer, too
    match sort:
        case "wrong":
            return [10, -1, "3", None, True, 2.5][pick % 6], False
        case "odd":
            return 1 + 2 * (pick % 5), True
        case _:
            return 2 * (pick % 5), True


def told(reference: Conversation, interrupt_id: str, sent: Any, value: Any) -> None:
    """An answer that was taken is in the log, and it is the one that was sent."""
    ending = reference.endings.get(interrupt_id)
    if value != ending or not isinstance(ending, Answered) or ending.value != sent:
        raise Broken("I5", f"{interrupt_id} was answered with {sent!r}; the log has {ending}, the user {value}")


async def follow(events: AsyncIterator[Event], reference: Conversation, start: int | None) -> None:
    """Look at a stream: each entry once, in order, none that is not recorded yet, and its end at the end."""
    last = start
    ended = False
    async for event in events:
        if ended:
            raise Broken("I6", f"{event} came after the end")
        ended = isinstance(event, Ended)
        if isinstance(event, Entry):
            if event.seq > reference.head or (last is not None and event.seq != last + 1):
                raise Broken("I6", f"{event.seq} was shown after {last}; the log ends at {reference.head}")
            if reference.entries[event.seq - 1] != event:
                raise Broken("I7", f"entry {event.seq} was shown as {event.body}")
            last = event.seq
    if not ended:
        raise Broken("I6", "the stream ended without saying why")
