"""`Connect(provider)`: ask for an account of the user's at somebody else's service, and get to know which one it is.

The answer comes from outside: the user signs in at the provider and allows some scopes, and the provider sends the
browser back. What the tool gets, and what the log keeps, is the `Account`; its tokens are sealed in the vault.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias
from urllib.parse import urlsplit

from yourcall.asks import Ask, Check
from yourcall.entries import Json
from yourcall.errors import ProgrammingError, Rejected
from yourcall.hosts import is_loopback

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_OURS: Final = frozenset(
    "response_type response_mode client_id redirect_uri scope state nonce code_challenge code_challenge_method".split()
)


@dataclass(frozen=True, slots=True)
class Account:
    """Whose account it is at its provider: a stable `subject`, a `label` for people, the `scopes` that were granted."""

    subject: str
    label: str
    scopes: tuple[str, ...] = ()


Identify: TypeAlias = Callable[[str], Awaitable[Account]]
"""Finds out, by an access token, whose it is. It is called once, while the user signs in, and may raise `Rejected`."""


@dataclass(frozen=True, kw_only=True, eq=False)
class OAuthProvider:
    """A service at which users have accounts (OAuth 2.0, RFC 6749; OpenID Connect Core 1.0).

    With `issuer` alone its endpoints are discovered, and the id token says whose account it is. A service without
    discovery is given by `authorization_endpoint`, `token_endpoint` and `account`. `client_id` and `client_secret`
    are the app's at the service; a public client has no secret. `name` is the app's own word for the service: the
    redirect URI to register there ends in `/callback/NAME`. `title` is how people call it. `parameters` go along to
    the sign-in page, such as Google's `{"access_type": "offline"}`. All addresses are https, but for loopback ones.
    Raises `ProgrammingError` for what could never work.
    """

    name: str = field(kw_only=False)
    client_id: str
    client_secret: str | None = field(default=None, repr=False)
    issuer: str | None = None
    scopes: Sequence[str] = ()
    title: str = ""
    authorization_endpoint: str | None = None
    token_endpoint: str | None = None
    revocation_endpoint: str | None = None
    account: Identify | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ProgrammingError("OAuthProvider: its name is a part of a URL: lower-case letters, digits, - and _.")
        if isinstance(self.scopes, str):
            raise ProgrammingError("OAuthProvider: scopes is a list of texts, one for each scope.")
        if self.explicit and None in (self.authorization_endpoint, self.token_endpoint, self.account):
            raise ProgrammingError(
                f"OAuthProvider {self.name!r}: give the issuer, or else authorization_endpoint, token_endpoint and "
                "account."
            )
        for url in (self.issuer, self.authorization_endpoint, self.token_endpoint, self.revocation_endpoint):
            if url is not None:
                require_secure(url, f"OAuthProvider {self.name!r}")
        if taken := sorted(_OURS & set(self.parameters)):
            raise ProgrammingError(f"OAuthProvider {self.name!r}: parameters must not set {', '.join(taken)}.")

    @property
    def per(self) -> Literal["user"]:
        """An account is the user's in all conversations."""
        return "user"

    @property
    def explicit(self) -> bool:
        """Whether its endpoints are given, and not to be discovered."""
        return self.issuer is None or self.authorization_endpoint is not None or self.token_endpoint is not None

    @property
    def called(self) -> str:
        return self.title or self.name.replace("_", " ").replace("-", " ").capitalize()

    @property
    def requested(self) -> tuple[str, ...]:
        """The scopes that are asked for; OpenID Connect has one of its own."""
        own = () if self.explicit or "openid" in self.scopes else ("openid",)
        return (*own, *self.scopes)

    @property
    def host(self) -> str:
        """Where the user is going to sign in, as far as it is known before discovery."""
        return urlsplit(self.authorization_endpoint or self.issuer or "").netloc


class Connect(Ask[Account]):
    """Ask the user to connect their account at `provider`; `check` looks at the account before it counts.

    "No" at the provider raises `Declined`. The tool uses the account by `await ctx.token(provider)`.
    """

    kind = "connect"
    channel = "handoff"
    payload_says_all = True
    answer_type = Account

    def __init__(self, provider: OAuthProvider, title: str = "", *, check: Check[Account] | None = None) -> None:
        self.provider, self.title, self.check = provider, title or f"Connect {provider.called}", check

    def payload(self) -> Json:
        provider = self.provider
        return {
            "title": self.title,
            "provider": provider.name,
            "called": provider.called,
            "host": provider.host,
            "scopes": list(provider.requested),
        }

    def schema(self) -> Json:
        return {}

    def identity(self) -> Json:
        provider = self.provider
        where = [provider.issuer, provider.authorization_endpoint, provider.token_endpoint, provider.client_id]
        return [self.title, provider.name, *where, list(provider.requested)]

    def parse(self, answer: Any) -> Account:
        if not isinstance(answer, Account):
            raise Rejected("Finish this step at the provider.")
        return answer


def require_secure(url: str, whose: str) -> None:
    """Raises `ProgrammingError` for an address at which tokens could be read on their way."""
    if not is_secure(url):
        raise ProgrammingError(f"{whose}: an address must begin with https://, or be http:// on a loopback address.")


def is_secure(url: str) -> bool:
    """Whether an address is https, or http on this very machine; without user names, and of one clear host."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        return False
    if not host or "@" in parts.netloc or "\\" in url or parts.fragment:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host))
