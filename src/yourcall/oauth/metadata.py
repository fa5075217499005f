"""What a provider says of itself (OpenID Connect Discovery 1.0), or what the app says of it.

It must be the issuer that was configured, and all its addresses https: only a provider on this very machine may name
others on it, so that nobody who writes such a document has us knock at our own services. What was read is kept for an
hour.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Final

from yourcall.connect import OAuthProvider, is_secure
from yourcall.entries import Json
from yourcall.errors import ProviderFailed
from yourcall.oauth.http import read_json

HOUR: Final = 3600.0
SIGNATURES: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures that only the provider can make: neither `none`, nor a MAC under a secret that we know, too."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """A provider's endpoints. Without an issuer there are no id tokens."""

    authorization_endpoint: str
    token_endpoint: str
    issuer: str | None = None
    jwks_uri: str | None = None
    userinfo_endpoint: str | None = None
    revocation_endpoint: str | None = None
    auth_method: str = "client_secret_basic"
    names_issuer: bool = False
    signatures: tuple[str, ...] = ()


class Discovery:
    """The metadata of the providers of one process."""

    def __init__(self) -> None:
        self._read: dict[str, tuple[float, Json]] = {}

    async def metadata(self, provider: OAuthProvider) -> Metadata:
        """Raises `ProviderFailed` where it cannot be read or is not the configured issuer's."""
        if provider.explicit:
            return _given(provider)
        assert provider.issuer is not None
        url = f"{provider.issuer.rstrip('/')}/.well-known/openid-configuration"
        try:
            return _read(provider, await self._published(url))
        except ProviderFailed:
            self._read.pop(url, None)
            raise

    async def keys(self, metadata: Metadata, *, fresh: bool = False) -> Json:
        """The provider's public keys (RFC 7517); `fresh` reads them anew."""
        assert metadata.jwks_uri is not None
        return await self._published(metadata.jwks_uri, fresh=fresh)

    async def _published(self, url: str, *, fresh: bool = False) -> Json:
        at, document = self._read.get(url, (-math.inf, None))
        if fresh or time.monotonic() - at > HOUR:
            document = await read_json(url)
            self._read[url] = time.monotonic(), document
        return document


def _given(provider: OAuthProvider) -> Metadata:
    assert provider.authorization_endpoint is not None
    assert provider.token_endpoint is not None
    return Metadata(
        provider.authorization_endpoint,
        provider.token_endpoint,
        issuer=provider.issuer,
        revocation_endpoint=provider.revocation_endpoint,
        auth_method="client_secret_basic" if provider.client_secret else "none",
    )


def _read(provider: OAuthProvider, document: Json) -> Metadata:
    issuer = provider.issuer
    if not isinstance(document, dict) or issuer is None or document.get("issuer") != issuer:
        raise ProviderFailed

    def address(name: str) -> str | None:
        url = document.get(name)
        inward = issuer.startswith("http:")
        return url if isinstance(url, str) and is_secure(url) and (inward or url.startswith("https:")) else None

    authorization, token, keys = map(address, ("authorization_endpoint", "token_endpoint", "jwks_uri"))
    if authorization is None or token is None or keys is None:
        raise ProviderFailed
    offered = _texts(document, "id_token_signing_alg_values_supported")
    return Metadata(
        authorization,
        token,
        issuer=issuer,
        jwks_uri=keys,
        userinfo_endpoint=address("userinfo_endpoint"),
        revocation_endpoint=provider.revocation_endpoint or address("revocation_endpoint"),
        auth_method=_auth_method(provider, _texts(document, "token_endpoint_auth_methods_supported")),
        names_issuer=document.get("authorization_response_iss_parameter_supported") is True,
        signatures=tuple(name for name in SIGNATURES if name in offered),
    )


def _auth_method(provider: OAuthProvider, supported: list[str]) -> str:
    """HTTP Basic, which every server takes that says nothing else (RFC 8414, section 2)."""
    if not provider.client_secret:
        return "none"
    only_post = "client_secret_post" in supported and "client_secret_basic" not in supported
    return "client_secret_post" if only_post else "client_secret_basic"


def _texts(document: dict[str, Json], name: str) -> list[str]:
    values = document.get(name)
    return [value for value in values if isinstance(value, str)] if isinstance(values, list) else []
