"""From a conversation's events to a response: one encoder a listener, the encoded entries shared among all."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager
from typing import Any, Final

import anyio

from yourcall import agui
from yourcall.engine import Conversation, Engine
from yourcall.events import Event, Retracted
from yourcall.log import Log
from yourcall.web.problems import TooManyStreams
from yourcall.web.sse import EventStream, Put

logger = logging.getLogger("yourcall")

MAX_STREAMS: Final = 100
"""Streams of one user in one process: far more than tabs, and no way to take all that the process has."""
FAILED: Final = "The stream broke. Reload to see where the conversation is."


class Streams:
    """Makes the streams of one router, at most so many for one user. `heartbeat` is in seconds."""

    def __init__(self, engine: Engine[Any], heartbeat: float, most: int = MAX_STREAMS) -> None:
        self._engine, self._heartbeat, self._most = engine, heartbeat, most
        self._frames = agui.Frames()
        self._open: Counter[str] = Counter()

    @contextmanager
    def _one(self, user: str) -> Iterator[None]:
        """One more stream of this user's, as long as it is drawn from. Raises `TooManyStreams`."""
        if self._open[user] >= self._most:
            raise TooManyStreams
        self._open[user] += 1
        try:
            yield
        finally:
            self._open[user] -= 1
            if not self._open[user]:
                del self._open[user]

    def events(self, chat: Conversation[Any], run: str, log: Log, after: int) -> EventStream:
        """Entries newer than `after` and live events, until nothing runs. `log` is the conversation by now."""
        encoder = agui.Encoder(chat.key.id, run, log, after=after, frames=self._frames)

        async def source(put: Put) -> None:
            with self._one(chat.key.owner):
                listener = _Listener(chat, put)
                await listener.begin(encoder, encoder.start())
                await listener.hear(chat.events(after))

        return EventStream(source, heartbeat=self._heartbeat)

    def run(self, chat: Conversation[Any], asked: agui.RunRequest) -> EventStream:
        """Take a request of AG-UI, and stream what follows; what it is refused for is the response.

        It is taken once the listener is there, so that not a word of the model's is missed; and as a whole, also if
        whoever sent it leaves meanwhile.
        """

        async def source(put: Put) -> None:
            listener = _Listener(chat, put, amend=True)

            async def take() -> int:
                with anyio.CancelScope(shield=True):
                    log = await chat.log()
                    taken = await agui.take(chat, log, asked)
                    in_step = taken.recorded and asked.knows(log)
                    log = log if in_step else await chat.log()
                encoder = agui.Encoder(chat.key.id, asked.run, log, frames=self._frames, errors=taken.errors)
                await listener.begin(encoder, encoder.start(None if in_step else log, taken.warnings))
                return encoder.seq

            with self._one(chat.key.owner):
                await listener.hear(self._engine.follow(chat.key, take))

        return EventStream(source, heartbeat=self._heartbeat)


class _Listener:
    """Puts what happens in a conversation into one stream.

    With `amend`, for clients that know AG-UI alone, a retraction is followed by the messages that are left.
    """

    def __init__(self, chat: Conversation[Any], put: Put, *, amend: bool = False) -> None:
        self._chat, self._put, self._amend = chat, put, amend
        self._encoder: agui.Encoder | None = None

    async def begin(self, encoder: agui.Encoder, opening: bytes) -> None:
        self._encoder = encoder
        await self._put(opening)

    async def hear(self, events: AsyncGenerator[Event, None]) -> None:
        """Listen to the end. What fails before the stream has begun is raised, the rest is told as its end."""
        try:
            async with aclosing(events):
                async for event in events:
                    if frames := await self._frames(event):
                        await self._put(frames)
        except Exception:
            if self._encoder is None:
                raise
            logger.exception("A stream failed; its run goes on")
        if self._encoder and not self._encoder.ended:
            await self._put(self._encoder.fail(FAILED, "stream-failed"))

    async def _frames(self, event: Event) -> bytes:
        assert self._encoder is not None, "the first event comes after the beginning"
        frames = self._encoder.encode(event)
        if frames and self._amend and isinstance(event, Retracted):
            frames += self._encoder.snapshot(await self._chat.log())
        return frames
