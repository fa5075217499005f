"""What a listener of a conversation gets: every entry once, in order, without a gap, and the live parts between.

The log is the truth and the bus a short cut to it. A listener subscribes first and reads then, fills a gap from
the log, and looks at the log by itself now and then, since the writer may be another process.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from typing import Final, TypeAlias

import anyio

from yourcall.entries import Entry
from yourcall.events import Ended, Event
from yourcall.log import Done, Log, Waiting, phase
from yourcall.ports import Bus, Key, Store

LOOK_SECONDS: Final = 1.0


After: TypeAlias = int | Callable[[], Awaitable[int]] | None


async def follow(store: Store, bus: Bus, key: Key, after: After) -> AsyncGenerator[Event, None]:
    """Entries newer than `after` and live events, until nothing runs; `Ended` comes last.

    None is from now on. A function is called once the listener is there, for what must not be missed: it writes,
    and returns after which entry to begin.
    """
    last = None if callable(after) else after
    while True:
        async with bus.listen(key) as live:
            if callable(after):
                last, after = await after(), None
            snapshot = await store.load(key, after=last)
            last = snapshot.head if last is None else last
            for entry in snapshot.entries:
                if entry.seq > last:
                    last = entry.seq
                    yield entry
            if snapshot.row.phase != "run" and (ended := await _ended(store, key, last)):
                yield ended
                return
            async for event in _in_order(live, last):
                if isinstance(event, Entry):
                    last = event.seq
                yield event
                if isinstance(event, Ended):
                    return


async def _in_order(live: AsyncIterator[Event], last: int) -> AsyncGenerator[Event, None]:
    """What comes live after `last`, up to a gap, a pause, or the end of the subscription: then the log is read."""
    while True:
        event: Event | None = None
        with anyio.move_on_after(LOOK_SECONDS):
            event = await anext(live, None)
        match event:
            case Entry(seq=seq) if seq == last + 1:
                last = seq
                yield event
            case Ended(head=head) if head == last:
                yield event
            case Entry(seq=seq) | Ended(head=seq) if seq <= last:
                pass
            case None | Entry() | Ended():
                return
            case _:
                yield event


async def _ended(store: Store, key: Key, last: int) -> Ended | None:
    """How the run ended, unless the log has gone on since."""
    snapshot = await store.load(key)
    now = phase(Log(snapshot.entries))
    if snapshot.head <= last and isinstance(now, Waiting | Done):
        return Ended(now, snapshot.head)
    return None
