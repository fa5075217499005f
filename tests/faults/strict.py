"""Clients that note whatever a server that stops properly never does.

A connection that is refused is fine: nobody is there. One that was taken brings a response, and that comes to its end;
what cannot be done now is a 503 that says when to come back. Each request has a connection of its own, since one that
is kept open may be closed at the moment of its next use.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import httpx

from tests.faults.load import PATIENCE, Client


class Strict(httpx.AsyncBaseTransport):
    """Notes in `broken` what was no proper answer; `busy` counts the 503s."""

    def __init__(self, broken: list[str]) -> None:
        self._real = httpx.AsyncHTTPTransport(limits=httpx.Limits(max_keepalive_connections=0))
        self._broken = broken
        self.busy = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        what = f"{request.method} {request.url.path}"
        try:
            response = await self._real.handle_async_request(request)
        except httpx.ConnectError:
            raise
        except httpx.TransportError as error:
            self._broken.append(f"{what}: no answer, {error!r}")
            raise
        if response.status_code == 503 and "retry-after" in response.headers:
            self.busy += 1
        elif response.status_code >= 500:
            self._broken.append(f"{what}: {response.status_code}")
        assert isinstance(response.stream, httpx.AsyncByteStream)
        response.stream = Whole(response.stream, lambda error: self._broken.append(f"{what}: cut, {error!r}"))
        return response

    async def aclose(self) -> None:
        await self._real.aclose()


class Whole(httpx.AsyncByteStream):
    """A body whose breaking off is told."""

    def __init__(self, real: httpx.AsyncByteStream, tell: Callable[[Exception], None]) -> None:
        self._real, self._tell = real, tell

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self._real:
                yield piece
        except httpx.TransportError as error:
            self._tell(error)
            raise

    async def aclose(self) -> None:
        await self._real.aclose()


class StrictClient(Client):
    """A user's client that takes nothing amiss but what it may."""

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Client]:
        transport = Strict(self.facts.broken)
        async with httpx.AsyncClient(headers={"X-User": self.name}, timeout=PATIENCE, transport=transport) as self.http:
            yield self
