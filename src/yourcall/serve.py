"""An app on a socket, by uvicorn, until a signal comes.

A stopping server goes on answering until it has drained: new work is refused with a word on when to come back, and
the runs under way get their time. Then it takes no more connections, ends the streams that it still has, whose readers
come back to whoever serves next, lets other requests finish, and closes the app. A second signal cuts this short.
"""

from __future__ import annotations

import logging
import socket
from collections.abc import Awaitable, Callable
from typing import Any, Final

import anyio
import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LINGER_SECONDS: Final = 1.0
"""How long a drained server goes on answering those who have a connection: that they come elsewhere next time."""
REQUEST_SECONDS: Final = 5
"""How long a stopping server waits for requests that are no streams."""


def run(
    app: ASGIApp, listener: socket.socket, drain: Callable[[], Awaitable[None]], *, access_log: bool = False
) -> None:
    """Serve until SIGINT (raised again as `KeyboardInterrupt`) or SIGTERM, then `drain`, which must end by itself.

    Exits with 3 if the app does not start.
    """
    streams = EndingStreams(app)
    config = uvicorn.Config(
        streams, lifespan="on", access_log=access_log, log_level="info" if access_log else "warning",
        timeout_graceful_shutdown=REQUEST_SECONDS,
    )  # fmt: skip
    logging.getLogger("uvicorn.access").addFilter(without_query)
    Server(config, streams, drain).run(sockets=[listener])


class Server(uvicorn.Server):
    """Drains, and ends the streams, before it waits for connections to close."""

    def __init__(self, config: uvicorn.Config, streams: EndingStreams, drain: Callable[[], Awaitable[None]]) -> None:
        super().__init__(config)
        self._streams, self._drain = streams, drain

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._streams.last = True
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._cut_short, tasks.cancel_scope)
            await self._drain()
            with anyio.move_on_after(LINGER_SECONDS):
                while self.server_state.connections:  # noqa: ASYNC110  # uvicorn's own set
                    await anyio.sleep(0.02)
            tasks.cancel_scope.cancel()
        self._streams.end()
        await super().shutdown(sockets)

    async def _cut_short(self, scope: anyio.CancelScope) -> None:
        while not self.force_exit:  # noqa: ASYNC110  # a flag that uvicorn sets in a signal handler
            await anyio.sleep(0.1)
        scope.cancel()


class EndingStreams:
    """ASGI middleware: once `end` was called, whoever waits for the reader to leave is told that it has.

    From the moment that `last` is set each response is the last of its connection, so that nobody sends another
    request into one that is about to be closed. A response that is given up still gets its proper end, so that the
    reader sees no broken connection.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._ending = anyio.Event()
        self.last = False

    def end(self) -> None:
        self._ending.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        response = Response(send, lambda: self.last)
        await self._app(scope, self._watched(receive), response.send)
        if self._ending.is_set():
            await response.finish()

    def _watched(self, receive: Receive) -> Receive:
        read = False

        async def watched() -> Message:
            nonlocal read
            if not read:
                message = await receive()
                read = not message.get("more_body", False)
                return message
            async with anyio.create_task_group() as tasks:  # after the body, only the reader's leaving can come
                tasks.start_soon(self._cancel_at_end, tasks.cancel_scope)
                await receive()
                tasks.cancel_scope.cancel()
            return {"type": "http.disconnect"}

        return watched

    async def _cancel_at_end(self, scope: anyio.CancelScope) -> None:
        await self._ending.wait()
        scope.cancel()


class Response:
    """Remembers how far a response has come, and says whether it is its connection's last."""

    def __init__(self, send: Send, last: Callable[[], bool]) -> None:
        self._send, self._last = send, last
        self._unfinished = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start" and self._last():
            message = {**message, "headers": [*message.get("headers", ()), (b"connection", b"close")]}
        self._unfinished = message["type"] == "http.response.start" or bool(message.get("more_body"))
        await self._send(message)

    async def finish(self) -> None:
        if self._unfinished:
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})


def without_query(record: logging.LogRecord) -> bool:
    """Keep query strings out of the access log: one day they hold a sign-in's `code` and `state`."""
    if isinstance(record.args, tuple):
        args: tuple[Any, ...] = record.args
        record.args = tuple(a.partition("?")[0] if isinstance(a, str) and a.startswith("/") else a for a in args)
    return True
