"""Requests to providers: a few seconds, a bounded answer, no redirects, and nothing of ours in any log.

An answer is read up to a limit and never unpacked: a small one that unpacks to a huge one is refused as it is.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import cache
from ssl import SSLContext
from typing import Final
from urllib.parse import quote_plus

import anyio
import httpx2
from authlib.integrations.httpx_client import AsyncOAuth2Client  # type: ignore[import-untyped]  # it has none

from yourcall.connect import OAuthProvider, is_secure
from yourcall.entries import Json
from yourcall.errors import ProviderFailed

SECONDS: Final = 10.0
"""How long a whole request to a provider may take."""
LIMIT: Final = 1 << 20
"""Bytes of its answer."""


def token_client(provider: OAuthProvider, auth_method: str) -> AsyncOAuth2Client:
    """Authlib's client for a provider's token endpoint; close it after use."""
    names = [provider.client_id, provider.client_secret or ""]
    if auth_method == "client_secret_basic":  # RFC 6749, section 2.3.1, which Authlib leaves to its callers
        names = [quote_plus(name) for name in names]
    return AsyncOAuth2Client(
        *names,
        token_endpoint_auth_method=auth_method,
        revocation_endpoint_auth_method=auth_method,
        transport=Bounded(httpx2.AsyncHTTPTransport(verify=_trust())),
        headers={"Accept-Encoding": "identity"},
        timeout=SECONDS,
    )


async def read_json(url: str, *, bearer: str | None = None) -> Json:
    """What a provider publishes at an address. Raises `ProviderFailed`."""
    if not is_secure(url):
        raise ProviderFailed
    headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
    if bearer is not None:
        headers["Authorization"] = f"Bearer {bearer}"
    try:
        with anyio.fail_after(SECONDS):
            async with httpx2.AsyncClient(
                transport=Bounded(httpx2.AsyncHTTPTransport(verify=_trust())), headers=headers, timeout=SECONDS
            ) as client:
                response = await client.get(url)
        if response.status_code != 200:
            raise ProviderFailed
        return response.json()
    except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError, ValueError, RecursionError) as error:
        raise ProviderFailed from error


@cache
def _trust() -> SSLContext:
    """Read once: the certificates take longer than a connection does, and the event loop waits meanwhile."""
    return httpx2.create_ssl_context()


class Bounded(httpx2.AsyncBaseTransport):
    """A transport whose answers have an end."""

    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await self._inner.handle_async_request(request)
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.stream.aclose()
            raise httpx2.DecodingError("A packed answer was not asked for.", request=request)
        return httpx2.Response(
            response.status_code,
            headers=response.headers,
            stream=_Capped(response.stream, request),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Capped(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, request: httpx2.Request) -> None:
        self._inner, self._request = inner, request

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for piece in self._inner:
            size += len(piece)
            if size > LIMIT:
                raise httpx2.DecodingError("The answer is too long.", request=self._request)
            yield piece

    async def aclose(self) -> None:
        await self._inner.aclose()
