"""From a conversation's events to a response: one encoder a listener, the encoded entries shared among all."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Final

from yourcall import agui
from yourcall.engine import Conversation
from yourcall.events import Retracted
from yourcall.log import Log
from yourcall.web.sse import EventStream

logger = logging.getLogger("yourcall")

FAILED: Final = "The stream broke. Reload to see where the conversation is."


class Streams:
    """Makes the streams of one router. `heartbeat` is in seconds."""

    def __init__(self, heartbeat: float) -> None:
        self._heartbeat = heartbeat
        self._frames = agui.Frames()

    def events(self, chat: Conversation[Any], run: str, log: Log, after: int) -> EventStream:
        """Entries newer than `after` and live events, until nothing runs. `log` is the conversation by now."""
        encoder = agui.Encoder(chat.key.id, run, log, after=after, frames=self._frames)
        return EventStream(_frames(chat, encoder, encoder.start()), heartbeat=self._heartbeat)

    def run(self, chat: Conversation[Any], run: str, log: Log, taken: agui.Taken, *, snapshot: bool) -> EventStream:
        """For a client that knows AG-UI alone: events newer than `log`, which it is shown first with `snapshot`."""
        encoder = agui.Encoder(chat.key.id, run, log, frames=self._frames, errors=taken.errors)
        opening = encoder.start(log if snapshot else None, taken.warnings)
        return EventStream(_frames(chat, encoder, opening, amend=True), heartbeat=self._heartbeat)


async def _frames(
    chat: Conversation[Any], encoder: agui.Encoder, opening: bytes, *, amend: bool = False
) -> AsyncGenerator[bytes, None]:
    """The stream's frames. With `amend`, a retraction is followed by the messages that are left without it."""
    yield opening
    try:
        async with aclosing(chat.events(after=encoder.seq)) as events:
            async for event in events:
                frames = encoder.encode(event)
                if frames and amend and isinstance(event, Retracted):
                    frames += encoder.snapshot(await chat.log())
                if frames:
                    yield frames
    except Exception:
        logger.exception("A stream failed; its run goes on")
    yield encoder.fail(FAILED, "stream-failed")
