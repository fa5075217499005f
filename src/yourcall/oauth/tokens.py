"""The token requests (RFC 6749, sections 4.1.3 and 6; RFC 7009), and how tokens are kept.

A provider's words about an error are for nobody: all that is known of one is whether the grant is over.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final

import anyio
from authlib.integrations.base_client import OAuthError  # type: ignore[import-untyped]  # it has none
from authlib.integrations.httpx_client import AsyncOAuth2Client  # type: ignore[import-untyped]  # it has none

from yourcall.connect import Account, OAuthProvider
from yourcall.entries import Json
from yourcall.errors import ProgrammingError, ProviderFailed
from yourcall.oauth.http import SECONDS, token_client
from yourcall.oauth.metadata import Metadata

log = logging.getLogger("yourcall")

MARGIN: Final = 60.0
"""Seconds before its end from which on a token is refreshed; of one that lasts shorter, half of its time."""


class GrantOver(Exception):
    """The provider gives no more tokens for this grant (`invalid_grant`)."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """What a provider gave; from `stale_at` on (Unix seconds) it is refreshed, never if the provider did not say."""

    access: str = field(repr=False)
    refresh: str | None = field(repr=False)
    stale_at: float | None
    scopes: tuple[str, ...]

    @property
    def good(self) -> bool:
        return self.stale_at is None or self.stale_at > time.time()

    def sealed(self) -> bytes:
        """As the vault keeps them."""
        return json.dumps(
            {"access": self.access, "refresh": self.refresh, "stale_at": self.stale_at, "scopes": self.scopes}
        ).encode()

    @classmethod
    def unsealed(cls, value: bytes, name: str) -> Tokens:
        """Raises `ProgrammingError` if what is kept under this name are no tokens."""
        try:
            kept = json.loads(value)
            return cls(kept["access"], kept["refresh"], kept["stale_at"], tuple(kept["scopes"]))
        except (ValueError, LookupError, TypeError):
            raise ProgrammingError(f"A secret is called {name!r}, like this provider: rename one of them.") from None


async def exchange(
    provider: OAuthProvider, metadata: Metadata, *, code: str, verifier: str, redirect_uri: str
) -> tuple[Tokens, Json]:
    """The tokens for a code, and the id token that came with them. Raises `ProviderFailed`."""

    async def request(client: AsyncOAuth2Client) -> Json:
        return await client.fetch_token(
            metadata.token_endpoint,
            grant_type="authorization_code",
            code=code,
            code_verifier=verifier,
            redirect_uri=redirect_uri,
        )

    try:
        given = await _asked(provider, metadata, request)
    except GrantOver as error:
        raise ProviderFailed from error
    return _tokens(given, provider.requested), given.get("id_token")


async def refreshed(provider: OAuthProvider, metadata: Metadata, old: Tokens) -> Tokens:
    """New tokens for old ones. Raises `GrantOver` or `ProviderFailed`."""

    async def request(client: AsyncOAuth2Client) -> Json:
        return await client.refresh_token(metadata.token_endpoint, refresh_token=old.refresh)

    return _tokens(await _asked(provider, metadata, request), old.scopes, old.refresh)


async def revoke(provider: OAuthProvider, metadata: Metadata, tokens: Tokens) -> None:
    """Tell the provider that these are needed no more; best effort, since they are gone here already."""
    if metadata.revocation_endpoint is None:
        return
    hint = "refresh_token" if tokens.refresh else "access_token"
    try:
        with anyio.fail_after(SECONDS):
            async with token_client(provider, metadata.auth_method) as client:
                await client.revoke_token(
                    metadata.revocation_endpoint, token=tokens.refresh or tokens.access, token_type_hint=hint
                )
    except Exception:
        log.warning("The provider %s could not be told that an account was disconnected", provider.name)


async def _asked(
    provider: OAuthProvider, metadata: Metadata, request: Callable[[AsyncOAuth2Client], Awaitable[Json]]
) -> dict[str, Any]:
    """What the token endpoint answered."""
    try:
        with anyio.fail_after(SECONDS):
            async with token_client(provider, metadata.auth_method) as client:
                given = await request(client)
    except OAuthError as error:
        if error.error == "invalid_grant":
            raise GrantOver from None
        log.warning("The provider %s refused a token request", provider.name)
        raise ProviderFailed from None
    except Exception:  # whatever it could not read; the texts of these errors may hold what was sent
        log.warning("The provider %s did not answer a token request as it must", provider.name)
        raise ProviderFailed from None
    return dict(given)


def _tokens(given: dict[str, Any], scopes: tuple[str, ...], refresh: str | None = None) -> Tokens:
    """Raises `ProviderFailed` for tokens that could not be used. Without a word on scopes they are as asked."""
    access, granted, lasts = given.get("access_token"), given.get("scope"), given.get("expires_in")
    if not isinstance(access, str) or not access or str(given.get("token_type", "")).lower() != "bearer":
        raise ProviderFailed
    rotated = given.get("refresh_token") or refresh
    try:
        seconds = None if lasts is None else float(lasts)
    except (TypeError, ValueError):
        raise ProviderFailed from None
    return Tokens(
        access,
        rotated if isinstance(rotated, str) else None,
        None if seconds is None else time.time() + seconds - min(MARGIN, seconds / 2),
        tuple(granted.replace(",", " ").split()) if isinstance(granted, str) and granted.strip() else scopes,
    )


def account_of(claims: dict[str, Any], scopes: tuple[str, ...]) -> Account:
    """The account that claims speak of, called as its owner knows it."""
    names = (claims.get(name) for name in ("email", "preferred_username", "name", "nickname"))
    subject = str(claims["sub"])
    return Account(subject, next((name for name in names if isinstance(name, str) and name), subject), scopes)
