"""Secret values, sealed so that each opens in its own place only.

Each version of a value has a data key of its own, which seals it by AES-256-GCM and is itself wrapped by a
key-encryption key that is never in the database. What is sealed and what wraps its key are both bound to
`{v, tenant, user, conversation, name, version}`: a row that is moved to another user, name, conversation, version or
deployment does not open. A key for each version keeps far away from how much one key may seal under random nonces
(NIST SP 800-38D, 8.3).
"""

from __future__ import annotations

import hmac
import os
import secrets
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Final

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

from yourcall.entries import canonical
from yourcall.errors import ProgrammingError, SealBroken
from yourcall.ports import Draft, KeyProvider, Opened, Sealed, SealedRows, Slot
from yourcall.vault.aead import seal, unseal

FORMAT: Final = 1
REWRAP_BATCH: Final = 100

NO_KEYS: Final = (
    "There are no keys to seal secrets with. Set YOURCALL_KEYS to what `yourcall keys new` prints, or pass keys= to "
    "the Engine; and keep the keys, what they sealed cannot be read without them."
)

_ROOT: Final = Slot("", "")
"""Where the vault keeps what its MACs are derived from: nobody's slot, as owners and secrets have names."""


@dataclass(frozen=True, slots=True)
class Rewrapped:
    """How many rows were wrapped anew, and how many do not open."""

    done: int
    broken: int


class SealedVault:
    """A `Vault` on the rows of a store. `tenant` tells deployments apart that share a key-encryption key."""

    def __init__(self, rows: SealedRows, keys: KeyProvider, *, tenant: str = "default") -> None:
        self._rows, self._keys, self._tenant = rows, keys, tenant
        self._root: bytes | None = None

    async def start(self) -> None:
        """Look whether what is stored can be opened. Raises `ProgrammingError` if a key for it is not here."""
        held = await self._rows.keys()
        if unknown := sorted(key for key in held if not self._keys.knows(key)):
            raise ProgrammingError(
                f"The store holds {sum(held[key] for key in unknown)} sealed values whose keys are not here: "
                f"{', '.join(unknown)}. Add these keys to YOURCALL_KEYS, or to the keys= of the Engine."
            )
        if self._keys.active is not None:
            self._root = await self._shared_root()

    def require_keys(self) -> None:
        if self._keys.active is None:
            raise ProgrammingError(NO_KEYS)

    async def draft(self, slot: Slot, value: bytes) -> Draft:
        row = await self._seal(_named(slot), value)
        await self._rows.draft(row)
        return Draft("sealed", row.version)

    async def open(self, slot: Slot) -> Opened | None:
        row = await self._rows.kept(_named(slot))
        return Opened(row.version, await self._open(row)) if row else None

    async def holds(self, slot: Slot) -> bool:
        return await self._rows.kept(_named(slot)) is not None

    async def replace(self, slot: Slot, version: str, value: bytes) -> bool:
        return await self._rows.replace(await self._seal(_named(slot), value), version)

    async def claim(self, slot: Slot, version: str, seconds: float) -> bool:
        return await self._rows.claim(_named(slot), version, seconds)

    async def names(self, owner: str) -> Sequence[Slot]:
        return await self._rows.slots(owner) if owner else []

    async def forget(self, slot: Slot, version: str | None = None) -> bool:
        return await self._rows.delete(_named(slot), version)

    def mac(self, purpose: str, value: bytes) -> str:
        self.require_keys()
        if self._root is None:
            raise ProgrammingError("Open the engine first: `async with engine:`, or `lifespan=engine.lifespan`.")
        key = HKDFExpand(SHA256(), 32, b"yourcall mac " + purpose.encode()).derive(self._root)
        return hmac.digest(key, value, "sha256").hex()

    async def sweep(self) -> None:
        await self._rows.sweep()

    async def rewrap(self) -> Rewrapped:
        """Wrap all data keys anew that are not wrapped by the active key.

        The values themselves are not touched, and engines may be at work. Cut off, it is simply begun again. A row
        that does not open is left as it is, and counted.
        """
        self.require_keys()
        active, done, broken = self._keys.active or "", 0, 0
        for key in [key for key in await self._rows.keys() if key != active]:
            last = ""
            while rows := await self._rows.under(key, REWRAP_BATCH, last):
                for row in rows:
                    try:
                        done += await self._rewrap(row, active)
                    except SealBroken:
                        broken += 1
                last = rows[-1].version
        return Rewrapped(done, broken)

    async def tried(self) -> AsyncIterator[tuple[Sealed, bool]]:
        """Every row whose key is here, drafts too, and whether it opens; no value is given away."""
        for key in [key for key in await self._rows.keys() if self._keys.knows(key)]:
            last = ""
            while rows := await self._rows.under(key, REWRAP_BATCH, last):
                for row in rows:
                    yield row, await self._opens(row)
                last = rows[-1].version

    async def without_keys(self) -> dict[str, int]:
        """How many rows there are of each key that is not here."""
        return {key: count for key, count in (await self._rows.keys()).items() if not self._keys.knows(key)}

    # ----------------------------------------------------------------- sealing

    async def _seal(self, slot: Slot, value: bytes) -> Sealed:
        self.require_keys()
        key, version = self._keys.active or "", secrets.token_hex(16)
        bound, data_key = self._bound(slot, version), os.urandom(32)
        return Sealed(version, slot, key, await self._keys.wrap(key, data_key, bound), seal(data_key, value, bound))

    async def _open(self, row: Sealed) -> bytes:
        bound = self._bound(row.slot, row.version)
        return unseal(await self._keys.unwrap(row.key, row.wrapped, bound), row.value, bound)

    async def _opens(self, row: Sealed) -> bool:
        try:
            await self._open(row)
        except SealBroken:
            return False
        return True

    async def _rewrap(self, row: Sealed, key: str) -> bool:
        bound = self._bound(row.slot, row.version)
        data_key = await self._keys.unwrap(row.key, row.wrapped, bound)
        return await self._rows.rewrap(row, key, await self._keys.wrap(key, data_key, bound))

    def _bound(self, slot: Slot, version: str) -> bytes:
        return canonical({
            "v": FORMAT, "tenant": self._tenant, "user": slot.owner, "conversation": slot.conversation,
            "name": slot.name, "version": version,
        })  # fmt: skip

    async def _shared_root(self) -> bytes:
        """What all engines on this store derive their MACs from. Kept sealed, so that it outlives rotated keys."""
        if not await self._rows.kept(_ROOT):
            await self._rows.replace(await self._seal(_ROOT, os.urandom(32)), None)
        row = await self._rows.kept(_ROOT)
        assert row
        return await self._open(row)


def _named(slot: Slot) -> Slot:
    if not slot.owner or not slot.name:
        raise ProgrammingError("A sealed value needs an owner and a name.")
    return slot
