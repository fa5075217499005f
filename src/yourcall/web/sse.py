"""A response of server-sent events: written as they come, kept alive while none come, gone with its reader.

Lines end with LF. What a source raises before its first piece is the response; with that piece the status is
decided, and a comment goes out so that proxies and clients see the stream open. Another follows each silence of
`heartbeat` seconds. What is ready together goes out in one piece. When the reader leaves, the source is cancelled;
whatever produces the events goes on.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final, TypeAlias

import anyio
from anyio.lowlevel import checkpoint
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from yourcall.web.problems import refusal_of

Put: TypeAlias = Callable[[bytes], Awaitable[None]]
Source: TypeAlias = Callable[[Put], Awaitable[None]]
"""Puts frames until there are no more."""

HEARTBEAT: Final = 15.0
BEAT: Final = b":\n\n"
AHEAD: Final = 64 << 10
"""Bytes that are encoded ahead of a slow reader; what is beyond waits with the source of the events."""
TURNS: Final = 64
"""How often a write lets other tasks have their turn to bring what is ready; a turn takes some microseconds."""

HEADERS: Final = {
    # no-transform: a compressing proxy would hold frames back; X-Accel-Buffering says the same to nginx
    "Cache-Control": "no-cache, no-store, no-transform",
    "X-Accel-Buffering": "no",
}


class EventStream(Response):
    """Writes what `source` puts, until it returns or the reader leaves."""

    media_type = "text/event-stream"

    def __init__(self, source: Source, *, heartbeat: float = HEARTBEAT) -> None:
        self.status_code = 200
        self.background = None
        self.init_headers(HEADERS)
        self._source, self._heartbeat = source, heartbeat
        self._buffer = Buffer()
        self._refused: Exception | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._draw)
            tasks.start_soon(_until_gone, receive, tasks.cancel_scope)
            await self._buffer.filled()
            with suppress(OSError):  # the reader is gone, as a server of a newer ASGI tells it
                if self._refused:
                    await refusal_of(self._refused)(scope, receive, send)
                else:
                    await self._write(send)
            tasks.cancel_scope.cancel()

    async def _draw(self) -> None:
        try:
            await self._source(self._buffer.put)
        except Exception as error:
            if self._buffer.begun:
                raise
            self._refused = error
        finally:
            self._buffer.close()

    async def _write(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        piece: bytes | None = _opening() + self._buffer.take()
        while piece is not None:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
            with anyio.move_on_after(self._heartbeat):
                await self._buffer.filled()
            await self._buffer.settled()
            piece = self._buffer.take() or (None if self._buffer.closed else BEAT)
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def _opening() -> bytes:
    """A comment, and when to come back if the stream breaks: not all at once, when a server stops."""
    return b": open\nretry: %d\n\n" % random.randrange(1_000, 4_000)


async def _until_gone(receive: Receive, scope: anyio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()


class Buffer:
    """What is encoded and not written yet. A time-out while waiting for it loses nothing: it stays in here."""

    def __init__(self, ahead: int = AHEAD) -> None:
        self._ahead, self._pieces, self._size = ahead, list[bytes](), 0
        self._filled, self._taken = anyio.Event(), anyio.Event()
        self.begun = self.closed = False

    async def put(self, piece: bytes) -> None:
        """Add a piece; waits while too much is in here already."""
        while self._size > self._ahead:
            await self._taken.wait()
        self._pieces.append(piece)
        self._size += len(piece)
        self.begun = True
        self._filled.set()

    def close(self) -> None:
        """Nothing more will come."""
        self.closed = True
        self._filled.set()

    async def filled(self) -> None:
        """Until there is something to write, or nothing more to come."""
        await self._filled.wait()

    async def settled(self) -> None:
        """Let come what can come without waiting."""
        for _ in range(TURNS):
            before = self._size
            await checkpoint()
            if self._size == before:
                return

    def take(self) -> bytes:
        taken = b"".join(self._pieces)
        self._pieces.clear()
        self._size = 0
        self._taken.set()
        self._taken = anyio.Event()
        if not self.closed:
            self._filled = anyio.Event()
        return taken
