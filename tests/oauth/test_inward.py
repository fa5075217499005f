"""T14: what a provider says makes no request to where it likes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, cast

import pytest
from fastapi import FastAPI
from starlette.responses import RedirectResponse, Response

from tests.web.serving import Served, serve_app
from yourcall.connect import OAuthProvider, is_secure
from yourcall.errors import ProviderFailed
from yourcall.oauth.http import LIMIT
from yourcall.oauth.metadata import Discovery, _read

pytestmark = pytest.mark.anyio

ISSUER = "https://accounts.example"
SAID = {
    "issuer": ISSUER,
    "authorization_endpoint": f"{ISSUER}/authorize",
    "token_endpoint": f"{ISSUER}/token",
    "jwks_uri": f"{ISSUER}/keys",
}
INWARD = [
    "http://127.0.0.1:6379/", "http://localhost/", "http://[::1]:8000/", "http://169.254.169.254/latest/meta-data/",
    "http://[::ffff:7f00:1]/", "http://2130706433/", "http://0x7f.1/", "http://10.0.0.1/", "file:///etc/passwd",
    "gopher://127.0.0.1/", "//127.0.0.1/", "https://user@accounts.example/", "https:\\\\127.0.0.1",
]  # fmt: skip


def provider(issuer: str = ISSUER) -> OAuthProvider:
    return OAuthProvider("some", client_id="desk", issuer=issuer)


@pytest.mark.parametrize("address", INWARD)
def test_T14_a_provider_cannot_point_inward(address: str) -> None:
    """Not for a token, nor for keys; an address that could be left out is. What is https elsewhere is taken."""
    for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
        with pytest.raises(ProviderFailed):
            _read(provider(), SAID | {name: address})
    found = _read(provider(), SAID | {"userinfo_endpoint": address, "revocation_endpoint": address})
    assert (found.userinfo_endpoint, found.revocation_endpoint) == (None, None)
    elsewhere = "https://tokens.example/t"
    assert _read(provider(), SAID | {"token_endpoint": elsewhere}).token_endpoint == elsewhere


@pytest.mark.parametrize("address", ["http://2130706433/", "http://0x7f.1/", "http://169.254.169.254/", "http://x/"])
def test_T14_only_this_machine_by_its_plain_names_goes_without_tls(address: str) -> None:
    """What is no loopback address as it is written is none."""
    assert not is_secure(address)


@pytest.fixture
async def hits() -> AsyncIterator[tuple[Served, list[str]]]:
    """A server that sends discovery on to its inside, and counts who comes there."""
    app, came = FastAPI(), list[str]()

    @app.get("/{way}/.well-known/openid-configuration")
    async def discovery(way: str) -> Response:
        if way == "long":
            return Response(b'{"x": "' + b"x" * (LIMIT + 1), media_type="application/json")
        return RedirectResponse("/inside", int(way))

    @app.get("/inside")
    async def inside() -> dict[str, Any]:
        came.append("inside")
        return SAID

    async with serve_app(app, cast("Any", None)) as served:
        yield served, came


@pytest.mark.parametrize("way", ["301", "302", "303", "307", "308", "long"])
async def test_T14_no_redirect_is_followed_and_no_answer_is_endless(hits: tuple[Served, list[str]], way: str) -> None:
    """From a provider's own address to another one nobody goes along; what is too long is not read to its end."""
    served, came = hits
    with pytest.raises(ProviderFailed):
        await Discovery().metadata(provider(f"{served.url}/{way}"))
    assert came == []
