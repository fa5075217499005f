"""The keys that the environment names."""

from __future__ import annotations

import os

from yourcall.errors import ProgrammingError
from yourcall.ports import KeyProvider
from yourcall.vault.keyfile import KeyFile
from yourcall.vault.keyring import KeyRing


def keys_of_environment() -> KeyProvider:
    """Those in `YOURCALL_KEYS`, or in the file that `YOURCALL_KEY_FILE` names; an empty ring if neither is set.

    Raises `ProgrammingError` if both are set, or what they say is not keys.
    """
    keys, file = os.environ.get("YOURCALL_KEYS", ""), os.environ.get("YOURCALL_KEY_FILE", "")
    if keys and file:
        raise ProgrammingError("YOURCALL_KEYS and YOURCALL_KEY_FILE are both set. Unset one of them.")
    return KeyFile(file) if file else KeyRing(keys, source="YOURCALL_KEYS")
