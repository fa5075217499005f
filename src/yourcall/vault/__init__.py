"""Where secrets are sealed, and the keys for it.

Keys come as text, one or more, the first of them active: in `YOURCALL_KEYS`, or in a file that only its owner may
read, named by `YOURCALL_KEY_FILE`. `yourcall keys new` makes one.
"""

from yourcall.vault.environment import KEY_FILE, keys_of_environment
from yourcall.vault.keyfile import KeyFile
from yourcall.vault.keyring import KeyRing, new_key
from yourcall.vault.sealed import SealedVault

__all__ = ["KEY_FILE", "KeyFile", "KeyRing", "SealedVault", "keys_of_environment", "new_key"]
