"""The keys that the environment names."""

from __future__ import annotations

import os
from typing import Final

from yourcall.errors import ProgrammingError
from yourcall.vault.keyfile import KeyFile
from yourcall.vault.keyring import KeyRing

KEYS: Final = "YOURCALL_KEYS"
KEY_FILE: Final = "YOURCALL_KEY_FILE"


def keys_of_environment() -> KeyFile | KeyRing:
    """Those in `YOURCALL_KEYS`, or in the file that `YOURCALL_KEY_FILE` names; an empty ring if neither is set.

    Raises `ProgrammingError` if both are set, or what they say is not keys.
    """
    keys, file = os.environ.get(KEYS, ""), os.environ.get(KEY_FILE, "")
    if keys and file:
        raise ProgrammingError(f"{KEYS} and {KEY_FILE} are both set. Unset one of them.")
    return KeyFile(file) if file else KeyRing(keys, source=KEYS)
