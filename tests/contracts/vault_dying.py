"""A process that is killed while it keeps a secret: `python -m tests.contracts.vault_dying FILE WHERE`."""

from __future__ import annotations

import asyncio
import os
import signal
import sys

from tests.support import WatchedStore, placed
from yourcall.entries import User
from yourcall.ports import Key, Row, Slot
from yourcall.vault import SealedVault, keys_of_environment


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


async def main(path: str, where: str) -> None:
    store = WatchedStore(path)
    await store.open()
    vault = SealedVault(store.sealed, keys_of_environment())
    await vault.start()
    draft = await vault.draft(Slot("ada", "hevy"), b"canary")
    if where == "drafted":
        die()
    store.on_statement = lambda statement: die() if statement == where else None
    await store.append(Key("ada", "c1"), 0, placed(0, User("kept")), Row(), keep=[draft])
    die()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
