"""Links that complete a visit, and what comes by them.

A link is a token: a question's id, when the link is over, which browser left with it, and a MAC of these under a key of
the vault's. Nothing of it is stored; a question is answered once, and so a link is of use once. That a link is ours
does not say who comes by it: the user who was asked, in the browser that left, or the service, by its signature.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Final

from yourcall.asks import Ask, payload_digest
from yourcall.entries import Channel, Json
from yourcall.errors import HandoffInvalid, WrongChannel
from yourcall.ports import Kept, Vault
from yourcall.visit import Visit, signed

_TOKEN: Final = re.compile(r"([0-9a-f]{32})\.([0-9]{1,12})\.([0-9a-f]{32})\.([0-9a-f]{64})")

EXPIRED: Final = "This link is over. Leave from the question once more."
ANOTHER: Final = "This link belongs to another session."


@dataclass(frozen=True, slots=True)
class Link:
    """A token that is ours. `over` says that it came too late."""

    interrupt: str
    over: bool
    _browser: str

    def left_from(self, browser: str | None) -> bool:
        """Whether this is the browser that left with it."""
        return browser is not None and hmac.compare_digest(self._browser, _hash(browser))

    def require_in_time(self) -> None:
        if self.over:
            raise HandoffInvalid(EXPIRED)


class Links:
    """Makes and reads the tokens of visits. `clock` returns Unix seconds."""

    def __init__(self, vault: Vault, clock: Callable[[], float] = time.time) -> None:
        self._vault, self._clock = vault, clock

    def make(self, interrupt_id: str, browser: str, lasts: float) -> str:
        """A token that completes this question's visit, for so many seconds; `browser` is that browser's secret."""
        said = f"{interrupt_id}.{int(self._clock() + lasts)}.{_hash(browser)}"
        return f"{said}.{self._mac(said)}"

    def read(self, token: str) -> Link:
        """What a token says. Raises `HandoffInvalid` if it is not ours."""
        found = _TOKEN.fullmatch(token)
        if found is None or not hmac.compare_digest(found[4], self._mac(token.rpartition(".")[0])):
            raise HandoffInvalid(ANOTHER)
        return Link(found[1], self._clock() >= int(found[2]), found[3])

    def _mac(self, said: str) -> str:
        return self._vault.mac("visit", said.encode())


def _hash(browser: str) -> str:
    return hashlib.sha256(browser.encode()).hexdigest()[:32]


@dataclass(frozen=True)
class CameBack:
    """The user came back by the link; `brought` are its query parameters."""

    brought: Mapping[str, str]
    channel: ClassVar[Channel] = "handoff"

    @cached_property
    def mark(self) -> str:
        return payload_digest(["back", self.brought])

    async def read(self, ask: Ask[Any]) -> Json:
        if not isinstance(ask, Visit) or ask.signed_by is not None:
            raise WrongChannel(ask.channel)
        return self.brought

    async def keep(self, ask: Ask[Any], value: Any) -> Kept:
        return Kept(ask.encode(value))


@dataclass(frozen=True)
class Called:
    """The service called the link: `payload` is its JSON, `body` that JSON as it was signed. `now` in Unix seconds."""

    token: str
    payload: Json
    body: bytes
    header: str
    now: float
    channel: ClassVar[Channel] = "handoff"

    @cached_property
    def mark(self) -> str:
        return payload_digest(["called", self.payload])

    async def read(self, ask: Ask[Any]) -> Json:
        if not isinstance(ask, Visit) or ask.signed_by is None:
            raise WrongChannel(ask.channel)
        if not signed(ask.signed_by, self.token, self.body, self.header, self.now):
            raise HandoffInvalid(ANOTHER)
        return self.payload

    async def keep(self, ask: Ask[Any], value: Any) -> Kept:
        return Kept(ask.encode(value))
