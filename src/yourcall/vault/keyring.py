"""Key-encryption keys in this process.

A key is written as `yck_` and 43 characters of base64url: 256 random bits. It has no name that could be mixed up with
another key's: its id follows from it, by a hash that tells nothing of it. So a key that was mistyped, or put in the
place of another, is an unknown one, and is found out when the engine opens.
"""

from __future__ import annotations

import base64
import binascii
import os
from typing import Final

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

from yourcall.errors import ProgrammingError, SealBroken
from yourcall.vault.aead import KEY_BYTES, seal, unseal

PREFIX: Final = "yck_"


class KeyRing:
    """A `KeyProvider` of keys that are written as text, with commas or white space between them; the first is active.

    Raises `ProgrammingError`, which shows nothing of it, if the text is anything else.
    """

    def __init__(self, text: str, source: str = "The keys") -> None:
        written = text.replace(",", " ").split()
        keys = [_read(key, f"{source}: number {n} of {len(written)}") for n, key in enumerate(written, 1)]
        self._keys = {_id(key): key for key in keys}
        if len(self._keys) < len(keys):
            raise ProgrammingError(f"{source}: the same key is there twice.")

    @property
    def active(self) -> str | None:
        return next(iter(self._keys), None)

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of all keys, the active one first."""
        return tuple(self._keys)

    def knows(self, key: str) -> bool:
        return key in self._keys

    async def wrap(self, key: str, value: bytes, bound: bytes) -> bytes:
        return seal(self._keys[key], value, bound)

    async def unwrap(self, key: str, wrapped: bytes, bound: bytes) -> bytes:
        if key not in self._keys:
            raise SealBroken
        return unseal(self._keys[key], wrapped, bound)


def new_key() -> str:
    """A new key, as text."""
    return PREFIX + base64.urlsafe_b64encode(os.urandom(KEY_BYTES)).rstrip(b"=").decode()


def _read(text: str, which: str) -> bytes:
    try:
        key = base64.b64decode(text.removeprefix(PREFIX) + "=", altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        key = b""
    canonical = PREFIX + base64.urlsafe_b64encode(key).rstrip(b"=").decode()
    if len(key) != KEY_BYTES or text != canonical:
        raise ProgrammingError(f"{which} is no key. `yourcall keys new` makes one; copy all of it.")
    return key


def _id(key: bytes) -> str:
    return HKDFExpand(SHA256(), 8, b"yourcall key id").derive(key).hex()
