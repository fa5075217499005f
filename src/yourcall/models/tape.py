"""An HTTP transport under a provider's SDK that hears each response as it came, and says earlier steps as they came.

The SDK and the library above it turn a step into objects and back, and lose on the way what they do not know. So a
request is made with a mark in the place of each earlier step, and this transport, the last to see it, puts the step
there. A tape belongs to one request, which names it in a header of its own that never leaves the process.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from ssl import SSLContext
from typing import Final

import httpx2

from yourcall.entries import Json, compact
from yourcall.models.wire import Reader, Wire

HEADER: Final = "x-yourcall-tape"


@dataclass
class Tape:
    """What goes into one request, and what its response was."""

    wire: Wire
    steps: Mapping[str, Sequence[Json]]
    reader: Reader
    torn: bool = False
    """Something came that is no event: an SDK may pass over it, and hand back a step with a hole."""

    @classmethod
    def blank(cls, wire: Wire, steps: Mapping[str, Sequence[Json]]) -> Tape:
        return cls(wire, steps, wire.reader())

    def items(self) -> list[Json]:
        """The parts of the step that was heard."""
        return self.reader.items()


class Deck(httpx2.AsyncBaseTransport):
    """Plays tapes. Each request has a connection of its own, which ends with it: a pause keeps none open."""

    def __init__(self) -> None:
        self._tapes: dict[str, Tape] = {}

    @contextmanager
    def playing(self, tape: Tape) -> Iterator[dict[str, str]]:
        """The header that plays this tape in a request, for as long as the block lasts."""
        name = secrets.token_hex(8)
        self._tapes[name] = tape
        try:
            yield {HEADER: name}
        finally:
            del self._tapes[name]

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        tape = self._tapes.get(request.headers.get(HEADER, ""))
        client = httpx2.AsyncClient(verify=_trust())  # one that knows of the environment's proxies
        try:
            response = await client.send(await _played(request, tape), stream=True)
        except BaseException:
            await client.aclose()
            raise
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _Heard(response.stream, client, tape if response.is_success else None)
        return response


@cache
def _trust() -> SSLContext:
    """Read once: the certificates take longer than a connection does."""
    return httpx2.create_ssl_context()


async def _played(request: httpx2.Request, tape: Tape | None) -> httpx2.Request:
    """The request as it leaves. The one that came keeps its header: after a redirect it comes again."""
    headers = request.headers.copy()
    headers.pop(HEADER, None)
    content = await request.aread()
    if tape:
        headers["accept-encoding"] = "identity"  # what is heard is what comes over the wire
    if tape and tape.steps:
        content = compact(tape.wire.placed(json.loads(content), tape.steps)).encode()
        assert not any(mark.encode() in content for mark in tape.steps), "a step was not put in its place"
        headers["content-length"] = str(len(content))
    return httpx2.Request(request.method, request.url, headers=headers, content=content, extensions=request.extensions)


class _Heard(httpx2.AsyncByteStream):
    """A response's body, read by its SDK and by a tape; it takes its connection along when it is closed."""

    def __init__(self, body: httpx2.AsyncByteStream, client: httpx2.AsyncClient, tape: Tape | None) -> None:
        self._body, self._client, self._tape = body, client, tape
        self._rest = b""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._body:
            if self._tape:
                self._hear(chunk, self._tape)
            yield chunk
        if self._tape:
            self._hear(b"\n", self._tape)

    def _hear(self, chunk: bytes, tape: Tape) -> None:
        """One event is one line of data, with both providers."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            if line.startswith(b"data:") and (data := line[5:].strip()) != b"[DONE]":
                try:
                    tape.reader.take(json.loads(data))
                except ValueError:
                    tape.torn = True

    async def aclose(self) -> None:
        try:
            await self._body.aclose()
        finally:
            await self._client.aclose()
