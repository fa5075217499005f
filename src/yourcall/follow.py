"""What a listener of a conversation gets: every entry once, in order, without a gap, and the live parts between.

The log is the truth and the bus a short cut to it. A listener subscribes first and reads then, fills a gap from
the log, and looks at the log by itself now and then, since the writer may be another process.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Final, TypeAlias

import anyio

from yourcall.entries import Assistant, Entry
from yourcall.errors import Busy, StoreClosed
from yourcall.events import Delta, Ended, Event, Retracted
from yourcall.log import Done, Log, Waiting, phase
from yourcall.ports import Bus, Key, Snapshot, Store

LOOK_SECONDS: Final = 1.0


After: TypeAlias = int | Callable[[], Awaitable[int]] | None


SoFar: TypeAlias = Callable[[], Delta | None]
"""What the model has written of the step under way, as one piece; None if it is not writing here."""


def _nothing() -> None:
    return None


async def follow(
    store: Store, bus: Bus, key: Key, after: After, so_far: SoFar = _nothing
) -> AsyncGenerator[Event, None]:
    """Entries newer than `after` and live events, until nothing runs; `Ended` comes last.

    None is from now on. A function is called once the listener is there, for what must not be missed: it writes,
    and returns after which entry to begin. Pieces of a step that is never recorded, since its run was cancelled or
    lost, are taken back before the end.
    """
    unrecorded: set[str] = set()
    async with aclosing(_follow(store, bus, key, after, so_far)) as events:
        async for event in events:
            match event:
                case Delta(message_id):
                    unrecorded.add(message_id)
                case Retracted(message_id):
                    unrecorded.discard(message_id)
                case Ended() | Entry(body=Assistant()):
                    for message_id in unrecorded - {_recorded(event)}:
                        yield Retracted(message_id)
                    unrecorded.clear()
            yield event


def _recorded(event: Event) -> str | None:
    """The message whose whole text this is."""
    return event.body.message_id if isinstance(event, Entry) and isinstance(event.body, Assistant) else None


async def _follow(store: Store, bus: Bus, key: Key, after: After, so_far: SoFar) -> AsyncGenerator[Event, None]:
    last = None if callable(after) else after
    words = Words()
    while True:
        async with bus.listen(key) as live:
            spoken = so_far()  # at this very moment: what is spoken from now on comes live
            if callable(after):
                last, after = await after(), None
            snapshot = await _patiently(store, key, last)
            last = snapshot.head if last is None else last
            for entry in snapshot.entries:
                if entry.seq > last:
                    last = entry.seq
                    yield entry
            if last and not snapshot.exists:
                yield Ended(Done("deleted", message="This conversation was deleted."), last)
                return
            if snapshot.row.phase != "run" and (ended := await _ended(store, key, last)):
                yield ended
                return
            known = {_recorded(entry) for entry in snapshot.entries}
            if spoken and spoken.message_id not in known and (missed := words.new(spoken)):
                yield missed
            async for event in _in_order(live, last):
                if isinstance(event, Delta) and event.message_id in known:
                    continue  # on its way before the log was read, which has the whole
                if isinstance(event, Entry):
                    last = event.seq
                if new := words.new(event):
                    yield new
                if isinstance(event, Ended):
                    return


class Words:
    """How far a listener has heard the step under way; what it hears again, it has heard."""

    def __init__(self) -> None:
        self._last = Delta("", 0, "")

    def new(self, event: Event) -> Event | None:
        """The event, or what of its words comes after the last that were heard."""
        match event:
            case Delta(message_id, offset, text) if message_id == self._last.message_id:
                known = max(0, self._last.offset + len(self._last.text) - offset)
                event = Delta(message_id, offset + known, text[known:])
                if not event.text:
                    return None
                self._last = event
            case Delta():
                self._last = event
            case Retracted():
                self._last = Delta("", 0, "")
        return event


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


async def _patiently(store: Store, key: Key, after: int | None = None) -> Snapshot:
    """What a listener waits for, however long a store is busy: the stream has begun, and goes on then.

    Raises `StoreClosed`: nobody will open it again for a stream.
    """
    while True:
        try:
            return await store.load(key, after=after)
        except StoreClosed:
            raise
        except Busy:
            await anyio.sleep(LOOK_SECONDS)


async def _ended(store: Store, key: Key, last: int) -> Ended | None:
    """How the run ended, unless the log has gone on since."""
    snapshot = await _patiently(store, key)
    now = phase(Log(snapshot.entries))
    if snapshot.head <= last and isinstance(now, Waiting | Done):
        return Ended(now, snapshot.head)
    return None
