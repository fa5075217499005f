"""AES-256-GCM, as everything here is sealed: a random 96-bit nonce, then ciphertext and tag."""

from __future__ import annotations

import os
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from yourcall.errors import SealBroken

KEY_BYTES: Final = 32
NONCE_BYTES: Final = 12


def seal(key: bytes, value: bytes, bound: bytes) -> bytes:
    """Seal a value, which opens only with the same `bound` (associated data)."""
    nonce = os.urandom(NONCE_BYTES)
    return nonce + AESGCM(key).encrypt(nonce, value, bound)


def unseal(key: bytes, sealed: bytes, bound: bytes) -> bytes:
    """What `seal` sealed. Raises `SealBroken` if it is anything else."""
    try:
        return AESGCM(key).decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], bound)
    except (InvalidTag, ValueError):
        raise SealBroken from None
