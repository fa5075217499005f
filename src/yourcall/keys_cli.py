"""The commands `yourcall keys ...`: the keys of a vault, made, changed and looked at. Only `new` ever shows one.

Keys that come by `YOURCALL_KEYS` are changed in four steps, each of them on all servers: `OLD,NEW`, so that all can
open what is sealed under the new key; `NEW,OLD`, so that it is the one that seals; `yourcall keys rewrap`; and `NEW`.
Those in a file are changed by `yourcall keys rotate` and `yourcall keys rewrap`, while servers are at work.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from yourcall.errors import ProgrammingError
from yourcall.existing import require_existing

if TYPE_CHECKING:
    from yourcall.ports import Store
    from yourcall.vault import KeyFile, KeyRing


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Say on the command line what there is."""
    keys = commands.add_parser("keys", help="the keys that seal secrets: make, rotate, list them")
    does = keys.add_subparsers(dest="does", required=True, metavar="COMMAND")
    does.add_parser("new", help="print a new key, for YOURCALL_KEYS")
    rotate = does.add_parser("rotate", help="put a new key before those in a key file; the old ones stay")
    listing = does.add_parser("list", help="the ids of the keys, the active one first, and how much each has sealed")
    rewrap = does.add_parser("rewrap", help="put all that is sealed under the active key; servers may be at work")
    for parser in (rotate, listing, rewrap):
        parser.add_argument(
            "--key-file", type=Path, metavar="FILE", help="where the keys are, if not in YOURCALL_KEYS or the file "
            "that YOURCALL_KEY_FILE names",
        )  # fmt: skip
    listing.add_argument("store", nargs="?", help="for instance sqlite:///chat.db")
    rewrap.add_argument("store", help="for instance sqlite:///chat.db")


def run(args: argparse.Namespace) -> None:
    """Do what was asked for. Raises `ProgrammingError` if it cannot be done."""
    from yourcall.vault import new_key

    match args.does:
        case "new":
            print(new_key())
        case "rotate":
            _rotate(_keys(args.key_file))
        case "list":
            anyio.run(_list, _keys(args.key_file), args.store)
        case "rewrap":
            anyio.run(_rewrap, _keys(args.key_file), args.store)


def _keys(file: Path | None) -> KeyFile | KeyRing:
    from yourcall.vault import KeyFile, keys_of_environment

    return KeyFile(file) if file else keys_of_environment()


def _rotate(keys: KeyFile | KeyRing) -> None:
    from yourcall.vault import KeyFile

    if not isinstance(keys, KeyFile):
        raise ProgrammingError(
            "Only keys in a file can be rotated here: name it by --key-file or YOURCALL_KEY_FILE. To YOURCALL_KEYS add "
            "what `yourcall keys new` prints behind the others, and on all servers, before you move it to the front."
        )
    keys.rotate()
    print(f"{keys.active} is the active key now. `yourcall keys rewrap STORE` puts what is sealed already under it.")


async def _list(keys: KeyFile | KeyRing, store: str | None) -> None:
    sealed: dict[str, int] = {}
    if store:
        async with _Opened(store) as opened:
            sealed = dict(await opened.sealed.keys())
    here = keys.ids
    if not here:
        print("There are no keys. `yourcall keys new` prints one, for YOURCALL_KEYS.")
    for key in [*here, *sorted(sealed.keys() - set(here))]:
        state = "active" if key == keys.active else "" if key in here else "is not here"
        count = f"{sealed.get(key, 0)} sealed" if store else ""
        print(f"{key}  {state:11}  {count}".rstrip())


async def _rewrap(keys: KeyFile | KeyRing, store: str) -> None:
    from yourcall.vault import SealedVault

    async with _Opened(store) as opened:
        outcome = await SealedVault(opened.sealed, keys).rewrap()
    print(f"{outcome.done} wrapped anew under {keys.active}.")
    if outcome.broken:
        raise ProgrammingError(
            f"{outcome.broken} do not open, and were left as they are: `yourcall keys list {store}` says which key is "
            "not here. With all keys here, those rows were changed by somebody else."
        )


class _Opened:
    """A store that is there already."""

    def __init__(self, name: str) -> None:
        from yourcall.open import open_store

        require_existing(name)
        self._store = open_store(name)

    async def __aenter__(self) -> Store:
        await self._store.open()
        return self._store

    async def __aexit__(self, *error: object) -> None:
        await self._store.close()
