"""Live events between processes, by Redis Streams: whichever process runs a conversation, any can show it.

A conversation has a stream, trimmed and expiring, of what its run said of late. Who begins to listen while a step is
under way gets what was said of it so far, then what comes. Redis carries live parts only and loses nothing that
matters: while it is away, listeners look at the log by themselves.

What a process publishes it hands to its own listeners at once, without Redis.
"""

from __future__ import annotations

import hashlib
import json
import logging
import secrets
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

import anyio
import redis.asyncio
from anyio.streams.memory import MemoryObjectSendStream
from redis.exceptions import RedisError

from yourcall.bus.local import BUFFER
from yourcall.entries import Entry, canonical, compact, dump, load
from yourcall.errors import NewerLog
from yourcall.events import Delta, Event, Retracted
from yourcall.ports import Key

KEPT_EVENTS: Final = 4_096
KEPT_SECONDS: Final = 600
LARGEST: Final = 16 << 10
"""Characters of an entry that goes along; a larger one is read from the log."""
QUEUE: Final = 16_384
"""Events on their way to Redis; while it does not take them, the oldest are forgotten."""
CONNECTIONS: Final = 20
"""Two for what goes and comes, the rest for listeners that begin, however many do at once: they take turns."""
BLOCK_MS: Final = 5_000
RETRY_SECONDS: Final = 1.0
PATIENCE: Final = 1.0
"""Seconds that a listener waits for Redis, before it goes on without."""

log = logging.getLogger("yourcall")

Place: TypeAlias = tuple[int, int]
"""An id of a stream's, as Redis orders them."""
Heard: TypeAlias = Event | Literal["look"]
"""An event, or that the log has something new."""


@dataclass
class Channel:
    """A conversation that somebody here listens to, and up to which place its stream was read."""

    listeners: set[MemoryObjectSendStream[tuple[Place | None, Heard]]] = field(default_factory=set)
    place: Place | None = None

    def hand_on(self, place: Place | None, heard: Heard) -> None:
        """To every listener; one that does not keep up is dropped."""
        for listener in tuple(self.listeners):
            try:
                listener.send_nowait((place, heard))
            except anyio.WouldBlock:
                self.drop(listener)

    def drop(self, listener: MemoryObjectSendStream[tuple[Place | None, Heard]]) -> None:
        listener.close()
        self.listeners.discard(listener)


class RedisBus:
    """A `Bus` on the Redis at `url` (`redis://...`)."""

    def __init__(self, url: str) -> None:
        # Its types are half done. A reply may take as long as a read may block.
        pool: Any = redis.asyncio.BlockingConnectionPool.from_url(
            url, max_connections=CONNECTIONS, timeout=PATIENCE, socket_timeout=BLOCK_MS / 1000 + 5,
            socket_connect_timeout=PATIENCE,
        )  # fmt: skip
        self._redis: Any = redis.asyncio.Redis.from_pool(pool)
        self._origin = secrets.token_hex(8)
        self._wake = f"yourcall:wake:{self._origin}"
        self._outgoing: deque[tuple[str, str]] = deque(maxlen=QUEUE)
        self._stir = anyio.Event()
        self._channels: dict[str, Channel] = {}

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._send)
            tasks.start_soon(self._receive)
            try:
                yield
            finally:
                tasks.cancel_scope.cancel()
        with anyio.CancelScope(shield=True):
            await self._redis.aclose()

    def publish(self, key: Key, events: Sequence[Event]) -> None:
        name = _name(key)
        self._outgoing.extend((name, text) for text in map(_encoded, events))
        self._stir.set()
        if channel := self._channels.get(name):
            for event in events:
                channel.hand_on(None, event)

    @asynccontextmanager
    async def listen(self, key: Key) -> AsyncIterator[AsyncIterator[Event]]:
        name = _name(key)
        send, receive = anyio.create_memory_object_stream[tuple[Place | None, Heard]](BUFFER)
        channel = self._channels.setdefault(name, Channel())
        channel.listeners.add(send)
        try:
            with receive:
                said, since = await self._join(name, channel)
                async with aclosing(_heard(said, since, receive)) as events:
                    yield events
        finally:
            channel.drop(send)
            if not channel.listeners and self._channels.get(name) is channel:
                del self._channels[name]

    # ----------------------------------------------------------------- to Redis

    async def _send(self) -> None:
        while True:
            await self._stir.wait()
            self._stir = anyio.Event()
            while self._outgoing:
                batch = [self._outgoing.popleft() for _ in range(min(len(self._outgoing), 512))]
                try:
                    await self._add(batch)
                except Exception as error:
                    _complain(error)
                    await anyio.sleep(RETRY_SECONDS)

    async def _add(self, batch: Iterable[tuple[str, str]]) -> None:
        async with self._redis.pipeline(transaction=False) as pipeline:
            names = set()
            for name, text in batch:
                pipeline.xadd(name, {"o": self._origin, "e": text}, maxlen=KEPT_EVENTS, approximate=True)
                names.add(name)
            for name in names:
                pipeline.expire(name, KEPT_SECONDS)
            await pipeline.execute()

    # ----------------------------------------------------------------- from Redis

    async def _join(self, name: str, channel: Channel) -> tuple[Delta | None, Place | None]:
        """What was said so far, and up to which place; nothing while Redis is away."""
        try:
            with anyio.fail_after(PATIENCE):
                said, place = await self._so_far(name)
                if channel.place is None:
                    channel.place = place
                    await self._redis.xadd(self._wake, {"w": "1"}, maxlen=1)
        except Exception as error:  # a TimeoutError, too
            _complain(error)
            return None, None
        return said, place

    async def _so_far(self, name: str) -> tuple[Delta | None, Place]:
        found = await self._redis.xrevrange(name, count=KEPT_EVENTS)
        place = _place(found[0][0]) if found else (0, 0)
        pieces: list[Delta] = []
        for _, fields in found:
            heard = self._read(fields)
            if not isinstance(heard, Delta) or (pieces and heard.message_id != pieces[0].message_id):
                break
            pieces.insert(0, heard)
        text = "".join(piece.text for piece in pieces)
        whole = bool(pieces) and pieces[0].offset == 0 and pieces[-1].offset + len(pieces[-1].text) == len(text)
        return (Delta(pieces[0].message_id, 0, text) if whole else None), place

    async def _receive(self) -> None:
        woken = (0, 0)
        while True:
            try:
                woken = await self._hear(woken)
            except Exception as error:  # whatever it was, it must cost no more than what is live
                _complain(error)
                self._lose()
                await anyio.sleep(RETRY_SECONDS)

    async def _hear(self, woken: Place) -> Place:
        """Wait for what comes next, and hand it on; returns how far the calls to look anew were read."""
        places = {name: channel.place for name, channel in self._channels.items() if channel.place is not None}
        wanted = {name: f"{ms}-{n}" for name, (ms, n) in {**places, self._wake: woken}.items()}
        found = await self._redis.xread(wanted, block=BLOCK_MS)
        for raw, items in found.items() if isinstance(found, dict) else found:
            name = raw.decode()
            if name == self._wake:
                woken = _place(items[-1][0])
            elif channel := self._channels.get(name):
                channel.place = _place(items[-1][0])
                for id, fields in items:
                    if heard := self._read(fields):
                        channel.hand_on(_place(id), heard)
        return woken

    def _lose(self) -> None:
        """Nobody knows what was missed: who listens reads the log, and listens anew."""
        for channel in self._channels.values():
            channel.place = None
            channel.hand_on(None, "look")

    def _read(self, fields: dict[bytes, bytes]) -> Heard | None:
        """What another process said; our own was handed on at once."""
        return None if fields.get(b"o") == self._origin.encode() else _decoded(fields.get(b"e", b""))


async def _heard(
    said: Delta | None, since: Place | None, live: AsyncIterator[tuple[Place | None, Heard]]
) -> AsyncGenerator[Event, None]:
    """What was said so far of the step under way, then what comes after `since`, up to where the log must be read."""
    ends: dict[str, int] = {}
    if said is not None:
        ends[said.message_id] = len(said.text)
        yield said
    async for place, heard in live:
        if place is not None and since is not None and place <= since:
            continue
        match heard:
            case "look":
                return
            case Delta(message_id, offset, text) if place is not None:
                if offset != ends.get(message_id, 0):
                    continue  # what came before it is missing: the recorded step will have the whole
                ends[message_id] = offset + len(text)
            case Retracted(message_id):
                ends.pop(message_id, None)
        yield heard


def _name(key: Key) -> str:
    """A stream's name says nothing of whose it is."""
    return f"yourcall:{hashlib.sha256(canonical([key.owner, key.id])).hexdigest()[:32]}"


def _place(id: bytes) -> Place:
    ms, _, n = id.decode().partition("-")
    return int(ms), int(n)


def _encoded(event: Event) -> str:
    match event:
        case Delta(message_id, offset, text):
            return compact({"delta": [message_id, offset, text]})
        case Retracted(message_id):
            return compact({"retracted": message_id})
        case Entry() if len(body := dump(event)) <= LARGEST:
            return compact({"entry": [event.seq, event.at, event.kind, body]})
        case _:
            return "{}"


def _decoded(said: bytes) -> Heard:
    """What another process said; whatever that may be, if it cannot be read here, the log can."""
    try:
        match json.loads(said):
            case {"delta": [str(message_id), int(offset), str(text)]}:
                return Delta(message_id, offset, text)
            case {"retracted": str(message_id)}:
                return Retracted(message_id)
            case {"entry": [seq, at, kind, body]}:
                return load(seq, at, kind, body)
    except (NewerLog, ValueError, LookupError, TypeError, AttributeError):
        pass
    return "look"


def _complain(error: Exception) -> None:
    # uvloop has a RuntimeError for a connection that was closed since it was last looked at
    if isinstance(error, RedisError | OSError) or type(error) is RuntimeError:
        log.warning("Redis does not answer: other processes show what is recorded, but nothing live")
    else:
        log.error("Nothing live goes by Redis for a moment", exc_info=error)
