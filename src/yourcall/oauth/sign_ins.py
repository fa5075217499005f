"""A user's way to a provider and back: authorization code with PKCE (RFC 6749, 7636, 9207, 9700).

Whoever leaves gets a `state` that is good once and for ten minutes. Whoever comes back must be the same user in the
same browser, by the path of the same provider, before anything that the provider sent is looked at. The PKCE
verifier and the nonce are derived from the state under the vault's key: they are stored nowhere, and whoever has
the database can make neither.
"""

from __future__ import annotations

import base64
import hashlib
import logging
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, TypeAlias
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from anyio.to_thread import run_sync

from yourcall.asks import Ask
from yourcall.connect import Account, Connect, Identify, OAuthProvider
from yourcall.entries import Channel, Json
from yourcall.errors import Changed, HandoffInvalid, ProviderFailed, Rejected
from yourcall.oauth.http import read_json
from yourcall.oauth.id_tokens import claims_of
from yourcall.oauth.metadata import Discovery, Metadata
from yourcall.oauth.tokens import Tokens, account_of, exchange
from yourcall.ports import Handoff, HandoffRows, Kept, Key, Slot, Vault
from yourcall.scrub import hide, shown
from yourcall.texts import amiss

log = logging.getLogger("yourcall")

STATE_SECONDS: Final = 600.0
LABEL: Final = 200
"""Characters of what an account is called."""


@dataclass(frozen=True, slots=True)
class Denied:
    """The user said no at the provider, or the provider failed them: the question is still open."""

    interrupt: str
    by_user: bool


Came: TypeAlias = "HandoffAnswer | Denied"


class SignIns:
    """Sends users to providers, and looks at who comes back."""

    def __init__(self, rows: HandoffRows, vault: Vault, discovery: Discovery) -> None:
        self._rows, self._vault, self._discovery = rows, vault, discovery

    async def leave(
        self, key: Key, interrupt: str, provider: OAuthProvider, *, browser: str, redirect_uri: str
    ) -> str | None:
        """The provider's page for this question; None if that is not open. Raises `ProviderFailed`.

        `browser` is a secret of the browser that leaves, as long as `redirect_uri` is the one of this provider.
        """
        metadata = await self._discovery.metadata(provider)
        state = secrets.token_urlsafe(32)
        handoff = Handoff(
            key, interrupt, provider.name, _hash(browser), redirect_uri, metadata.issuer, metadata.names_issuer
        )
        if not await self._rows.begin(_hash(state), handoff, STATE_SECONDS):
            return None
        return _with_query(
            metadata.authorization_endpoint,
            {
                **provider.parameters,
                "response_type": "code",
                "client_id": provider.client_id,
                "redirect_uri": redirect_uri,
                "scope": " ".join(provider.requested),
                "state": state,
                "code_challenge": _base64(hashlib.sha256(self._derived("verifier", state).encode()).digest()),
                "code_challenge_method": "S256",
                **({"nonce": self._derived("nonce", state)} if metadata.jwks_uri else {}),
            },
        )

    async def come_back(
        self, user: str, provider: str, query: Sequence[tuple[str, str]], *, browser: str, redirect_uri: str
    ) -> Came:
        """What the provider sent along, once it is sure who brings it. Raises `HandoffInvalid`.

        The state is used up. No request is made here: the answer makes it when the live question reads it.
        """
        sent = _once_each(query)
        state = sent.get("state", "")
        handoff = await self._rows.use(_hash(state), provider, _hash(browser), user)
        if handoff is None or handoff.redirect_uri != redirect_uri:
            raise HandoffInvalid
        if not _is_issuer(sent.get("iss"), handoff):
            raise HandoffInvalid
        code = sent.get("code")
        if "error" in sent or not code:
            return Denied(handoff.interrupt, sent.get("error") == "access_denied")
        verifier, nonce = self._derived("verifier", state), self._derived("nonce", state)
        return HandoffAnswer(handoff, _hash(state), code, verifier, nonce, self._vault, self._discovery)

    async def where(
        self, user: str, provider: str, query: Sequence[tuple[str, str]], *, browser: str
    ) -> Handoff | None:
        """The sign-in that somebody has come back from before: a page that is loaded again."""
        state = dict(query).get("state", "")
        return await self._rows.find(_hash(state), provider, _hash(browser), user)

    def _derived(self, purpose: str, state: str) -> str:
        """43 characters (RFC 7636, section 4.1) that follow from the state, for whoever has the vault's key."""
        return _base64(hashlib.sha256(self._vault.mac(f"oauth.{purpose}", state.encode()).encode()).digest())


class HandoffAnswer:
    """A code on its way to the live question, whose provider gives tokens for it."""

    channel: ClassVar[Channel] = "handoff"

    def __init__(
        self, handoff: Handoff, mark: str, code: str, verifier: str, nonce: str, vault: Vault, discovery: Discovery
    ) -> None:
        self._handoff, self.mark = handoff, mark
        self._code, self._verifier, self._nonce = code, verifier, nonce
        self._vault, self._discovery = vault, discovery
        self._tokens: Tokens | None = None

    @property
    def interrupt(self) -> str:
        return self._handoff.interrupt

    async def read(self, ask: Ask[Any]) -> Account:
        """Redeem the code.

        Raises `ProviderFailed`, `Rejected` if the app's `account=` does, and `Changed` if the question is for another
        provider now.
        """
        if not isinstance(ask, Connect) or ask.provider.name != self._handoff.provider:
            raise Changed
        provider = ask.provider
        metadata = await self._discovery.metadata(provider)
        if metadata.issuer != self._handoff.issuer:
            raise Changed
        self._tokens, id_token = await exchange(
            provider, metadata, code=self._code, verifier=self._verifier, redirect_uri=self._handoff.redirect_uri
        )
        for token in filter(None, (self._tokens.access, self._tokens.refresh)):
            await run_sync(hide, token)  # a long one takes a while
        account = await self._account(provider, metadata, self._tokens, id_token)
        subject, label = shown(account.subject), shown(account.label)
        if amiss(subject, LABEL):
            raise ProviderFailed
        return Account(subject, subject if amiss(label, LABEL) else label, account.scopes or self._tokens.scopes)

    async def _account(self, provider: OAuthProvider, metadata: Metadata, tokens: Tokens, id_token: Json) -> Account:
        claims: dict[str, Any] = {}
        if metadata.jwks_uri:  # verified also where the app finds out the account itself: it binds the code to us
            claims = await claims_of(
                id_token,
                client_id=provider.client_id,
                nonce=self._nonce,
                metadata=metadata,
                discovery=self._discovery,
            )
        if provider.account is not None:
            return await _identified(provider, provider.account, tokens.access)
        named = account_of(claims, tokens.scopes)
        if named.label == named.subject and metadata.userinfo_endpoint:
            more = await read_json(metadata.userinfo_endpoint, bearer=tokens.access)
            if isinstance(more, dict) and more.get("sub") == claims["sub"]:  # OpenID Connect Core 1.0, section 5.3.2
                named = account_of(more, tokens.scopes)
        return named

    async def keep(self, ask: Ask[Any], value: Any) -> Kept:
        """The log keeps the account, the vault its tokens."""
        assert isinstance(ask, Connect)
        assert self._tokens is not None, "it was read before"
        slot = Slot(self._handoff.key.owner, ask.provider.name)
        return Kept(ask.encode(value), [await self._vault.draft(slot, self._tokens.sealed())])


async def _identified(provider: OAuthProvider, identify: Identify, access: str) -> Account:
    """Whose the token is, by the app's own code: what that breaks with goes into the log, without the token."""
    try:
        account = await identify(access)
        for text in (account.subject, account.label):
            amiss(text, LABEL)  # breaks with what is no text
        return account
    except Rejected as refusal:
        raise refusal.without(shown) from None
    except Exception:
        log.exception("The app could not tell whose account at %s it is", provider.name)
        raise ProviderFailed from None


def _once_each(query: Sequence[tuple[str, str]]) -> Mapping[str, str]:
    """A parameter that comes twice could mean two things, so it means none (RFC 6749, section 3.1)."""
    sent = dict(query)
    if len(sent) != len(query):
        raise HandoffInvalid
    return sent


def _is_issuer(named: str | None, handoff: Handoff) -> bool:
    """Whether the provider that answers is the one that was asked (RFC 9207, section 2.4).

    A provider that has no issuer is told from others by its redirect URI alone (RFC 9700, section 4.4.2.2).
    """
    if handoff.issuer is None:
        return True
    return named == handoff.issuer if named is not None else not handoff.names_issuer


def _with_query(url: str, parameters: Mapping[str, str]) -> str:
    parts = urlsplit(url)
    query = [(name, value) for name, value in parse_qsl(parts.query) if name not in parameters]
    return urlunsplit(parts._replace(query=urlencode([*query, *parameters.items()])))


def _hash(value: str) -> str:
    return hashlib.sha256(value.encode("utf-8", "replace")).hexdigest()


def _base64(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()
