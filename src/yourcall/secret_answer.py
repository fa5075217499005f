"""A secret on its way in: it is sealed as a draft, and the log gets a reference to it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import anyio.to_thread

from yourcall.asks import Ask
from yourcall.credentials import Credentials
from yourcall.entries import Channel, Json
from yourcall.errors import AlreadyAnswered, Refused, Rejected
from yourcall.ports import Attempts, Kept
from yourcall.scrub import hide
from yourcall.secret import SecretReference, require_secret


@dataclass(frozen=True)
class SecretAnswer:
    """What the user entered. Raises `Rejected` for what can be no secret."""

    interrupt_id: str
    value: str = field(repr=False)
    credentials: Credentials
    channel: ClassVar[Channel] = "secret"

    def __post_init__(self) -> None:
        require_secret(self.value)

    @cached_property
    def mark(self) -> str:
        """Under a key of the vault's: a plain hash of a short secret would give it away."""
        return self.credentials.vault.mac(f"answer:{self.interrupt_id}", self.value.encode())

    async def read(self, ask: Ask[Any]) -> Json:
        await anyio.to_thread.run_sync(hide, self.value)  # a long one takes a while
        return self.value

    async def keep(self, ask: Ask[Any], value: Any) -> Kept:
        slot = self.credentials.slot(ask)  # type: ignore[arg-type]  # an ask of this channel is a credential
        draft = await self.credentials.vault.draft(slot, self.value.encode())
        return Kept(ask.encode(SecretReference(slot.name, draft.id)), [draft])


@asynccontextmanager
async def trying(attempts: Attempts, interrupt_id: str) -> AsyncIterator[None]:
    """One try at a question. It counts from before it is looked at; only a wrong one goes on counting.

    To be told that another answer was recorded is to be told that this one is wrong.
    """
    attempt = await attempts.begin(interrupt_id)
    try:
        yield
    except (Rejected, AlreadyAnswered):
        raise
    except Refused:
        await attempts.forgive(attempt)
        raise
    await attempts.forgive(attempt)
