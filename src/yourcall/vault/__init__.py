"""Where secrets are sealed, and the keys for it.

Keys come as text, one or more, the first of them active: in `YOURCALL_KEYS`, or in a file that only its owner may
read, named by `YOURCALL_KEY_FILE`. `yourcall keys new` makes one.
"""

from yourcall.vault.environment import keys_of_environment
from yourcall.vault.keyfile import KeyFile
from yourcall.vault.keyring import KeyRing
from yourcall.vault.sealed import SealedVault

__all__ = ["KeyFile", "KeyRing", "SealedVault", "keys_of_environment"]
