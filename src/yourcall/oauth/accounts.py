"""Access tokens that are good: one that is about to end is refreshed, once however many want it.

Whoever refreshes holds a claim on the version in the vault, for a while; the others wait for the next version. So
nobody sends a refresh token that was rotated away, and a process that dies with the claim holds nobody up for long.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Final

import anyio

from yourcall.connect import OAuthProvider
from yourcall.errors import Busy, ProviderFailed, SealBroken, StoreBusy
from yourcall.oauth.http import SECONDS
from yourcall.oauth.metadata import Discovery, Metadata
from yourcall.oauth.tokens import GrantOver, Tokens, refreshed, revoke
from yourcall.ports import AccountOver, Opened, Slot, Vault
from yourcall.tasks import to_the_end

CLAIM_SECONDS: Final = SECONDS + 10.0
"""Longer than the tokens can take to come and to be kept."""
LOOK_SECONDS: Final = 0.05


class ProviderAccounts:
    """`Accounts` on a vault."""

    def __init__(self, vault: Vault, discovery: Discovery) -> None:
        self._vault, self._discovery = vault, discovery

    async def token(self, owner: str, provider: OAuthProvider) -> str | None:
        slot, first = Slot(owner, provider.name), ""
        with anyio.move_on_after(2 * CLAIM_SECONDS):
            while (held := await self._vault.open(slot)) is not None:
                tokens, first = Tokens.unsealed(held.value, provider.name), first or held.version
                if tokens.good or held.version != first:  # one made since we asked is as good as they get
                    return tokens.access
                metadata = await self._discovery.metadata(provider)
                if await self._vault.claim(slot, held.version, CLAIM_SECONDS):
                    # To its end, whoever is cancelled meanwhile: what was rotated away is of no use any more.
                    await to_the_end(partial(self._refresh, slot, provider, metadata, held, tokens))
                else:
                    await anyio.sleep(LOOK_SECONDS)
            if first:  # whoever had the claim was told so
                raise AccountOver
            return None
        raise ProviderFailed

    async def _refresh(
        self, slot: Slot, provider: OAuthProvider, metadata: Metadata, held: Opened, old: Tokens
    ) -> None:
        """Put the next version in place of this one, or nothing where the provider gives no more: `AccountOver`."""
        try:
            if old.refresh is None:
                raise GrantOver
            new = await refreshed(provider, metadata, old)
        except GrantOver:
            if await self._vault.forget(slot, held.version):  # else it was connected anew meanwhile
                raise AccountOver from None
        else:
            if not await self._save(slot, held.version, new) and await self._vault.open(slot) is None:
                await revoke(provider, metadata, new)  # disconnected meanwhile, when nobody knew of these

    async def _save(self, slot: Slot, version: str, new: Tokens) -> bool:
        """Whether they took the place of that version.

        A store that is busy is tried again, as long as nobody else can have come for these tokens.
        """
        with anyio.move_on_after(CLAIM_SECONDS - SECONDS):
            while True:
                try:
                    return await self._vault.replace(slot, version, new.sealed())
                except Busy:
                    await anyio.sleep(LOOK_SECONDS)
        raise StoreBusy

    async def forget(self, owner: str, provider: OAuthProvider) -> bool:
        slot = Slot(owner, provider.name)
        with suppress(SealBroken):  # what cannot be read can still be removed
            while (held := await self._vault.open(slot)) is not None:
                tokens = Tokens.unsealed(held.value, provider.name)
                if not await self._vault.forget(slot, held.version):
                    continue  # it was refreshed meanwhile: what is told to the provider is what is removed
                with suppress(ProviderFailed):  # it is gone here; that is what was asked for
                    await revoke(provider, await self._discovery.metadata(provider), tokens)
                return True
            return False
        return await self._vault.forget(slot)
