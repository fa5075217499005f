"""What a listener of a conversation gets: every entry once, in order, without a gap, and the live parts between.

The log is the truth and the bus a short cut to it. A listener subscribes first and reads then, fills a gap from
the log, and looks at the log by itself now and then, since the writer may be another process.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Final

import anyio

from yourcall.entries import Entry
from yourcall.events import Ended, Event
from yourcall.log import Done, Log, Waiting, phase
from yourcall.ports import Bus, Key, Store

LOOK_SECONDS: Final = 1.0


async def follow(store: Store, bus: Bus, key: Key, after: int | None) -> AsyncGenerator[Event, None]:
    """Entries newer than `after` (None: from now on) and live events, until nothing runs; `Ended` comes last."""
    last = after
    while True:
        async with bus.listen(key) as live:
            dropped = False
            while not dropped:
                snapshot = await store.load(key, after=last)
                if last is None:
                    last = snapshot.head
                for entry in snapshot.entries:
                    if entry.seq > last:
                        last = entry.seq
                        yield entry
                if snapshot.row.phase != "run" and (ended := await _ended(store, key, last)):
                    yield ended
                    return
                while True:
                    event: Event | None = None
                    with anyio.move_on_after(LOOK_SECONDS) as look:
                        event = await anext(live, None)
                        dropped = event is None
                    match event:
                        case Entry(seq=seq) if seq == last + 1:
                            last = seq
                            yield event
                        case Entry(seq=seq) if seq <= last:
                            pass
                        case Ended(head=head) if head == last:
                            yield event
                            return
                        case Ended(head=head) if head < last:
                            pass
                        case None | Entry() | Ended():
                            break
                        case _:
                            yield event
                    if look.cancelled_caught:
                        break


async def _ended(store: Store, key: Key, last: int) -> Ended | None:
    """How the run ended, unless the log has gone on since."""
    snapshot = await store.load(key)
    now = phase(Log(snapshot.entries))
    if snapshot.head <= last and isinstance(now, Waiting | Done):
        return Ended(now, snapshot.head)
    return None
