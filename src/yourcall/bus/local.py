"""Live events within one process. A listener that does not keep up is dropped: it can read the log instead."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Final

import anyio
from anyio.streams.memory import MemoryObjectSendStream

from yourcall.events import Event
from yourcall.ports import Key

BUFFER: Final = 4096
"""Events that a listener may be behind."""


class LocalBus:
    """Carries events to the listeners of this process."""

    def __init__(self) -> None:
        self._listeners: defaultdict[Key, set[MemoryObjectSendStream[Event]]] = defaultdict(set)

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        yield

    def publish(self, key: Key, events: Sequence[Event]) -> None:
        for listener in tuple(self._listeners.get(key, ())):
            try:
                for event in events:
                    listener.send_nowait(event)
            except anyio.WouldBlock:
                self._drop(key, listener)

    @asynccontextmanager
    async def listen(self, key: Key) -> AsyncIterator[AsyncIterator[Event]]:
        send, receive = anyio.create_memory_object_stream[Event](BUFFER)
        self._listeners[key].add(send)
        try:
            with receive:
                yield receive
        finally:
            self._drop(key, send)

    def _drop(self, key: Key, listener: MemoryObjectSendStream[Event]) -> None:
        listener.close()
        self._listeners[key].discard(listener)
        if not self._listeners[key]:
            del self._listeners[key]
