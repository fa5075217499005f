"""Who signed in, as the provider's signed id token says it (OpenID Connect Core 1.0, section 3.1.3.7)."""

from __future__ import annotations

from typing import Any, Final

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from yourcall.entries import Json
from yourcall.errors import ProviderFailed
from yourcall.oauth.metadata import Discovery, Metadata

LEEWAY: Final = 60
"""Seconds that two clocks may differ."""


async def claims_of(
    token: Json, *, client_id: str, nonce: str, metadata: Metadata, discovery: Discovery
) -> dict[str, Any]:
    """The claims of an id token that is the provider's, for us, in time and for this sign-in; else `ProviderFailed`.

    Keys that are not known are looked for once more: a provider changes them.
    """
    if not isinstance(token, str):
        raise ProviderFailed
    try:
        claims = _verified(token, await discovery.keys(metadata), metadata)
    except (JoseError, ValueError, KeyError, TypeError):
        claims = await _with_fresh_keys(token, metadata, discovery)
    _require(claims, client_id, nonce, metadata)
    return claims


async def _with_fresh_keys(token: str, metadata: Metadata, discovery: Discovery) -> dict[str, Any]:
    try:
        return _verified(token, await discovery.keys(metadata, fresh=True), metadata)
    except (JoseError, ValueError, KeyError, TypeError) as error:
        raise ProviderFailed from error


def _verified(token: str, keys: Json, metadata: Metadata) -> dict[str, Any]:
    return jwt.decode(token, KeySet.import_key_set(keys), algorithms=list(metadata.signatures)).claims


def _require(claims: dict[str, Any], client_id: str, nonce: str, metadata: Metadata) -> None:
    essential: dict[str, Any] = {
        "iss": {"essential": True, "value": metadata.issuer},
        "sub": {"essential": True},
        "aud": {"essential": True, "value": client_id},
        "exp": {"essential": True},
        "iat": {"essential": True},
        "nonce": {"essential": True, "value": nonce},
    }
    try:
        jwt.JWTClaimsRegistry(leeway=LEEWAY, **essential).validate(claims)
    except JoseError as error:
        raise ProviderFailed from error
    others = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
    if claims.get("azp", None if others else client_id) != client_id or isinstance(claims["nonce"], list):
        raise ProviderFailed
