"""The commands `yourcall db ...`: a store's schema brought up to date, its logs looked through, old ones removed.

A store is named as an Engine names it, `sqlite:///chat.db` or `postgresql://...`, or by where the Engine is,
`app:engine`: then its keys and the place of its files are known, too, and no password stands on a command line.
Servers may be at work on it meanwhile.
"""

from __future__ import annotations

import argparse
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import anyio

from yourcall.errors import NewerLog, ProgrammingError
from yourcall.existing import require_existing

if TYPE_CHECKING:
    from yourcall.engine import Engine
    from yourcall.files import Files
    from yourcall.ports import Key, Store, Vault
    from yourcall.upkeep import Upkeep

PAGE: Final = 100
DAY: Final = 86_400.0


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Say on the command line what there is."""
    db = commands.add_parser("db", help="a store's upkeep: its schema, whether its logs are in order, old ones removed")
    does = db.add_subparsers(dest="does", required=True, metavar="COMMAND")
    upgrade = does.add_parser("upgrade", help="bring the schema up to date; engines do so themselves when they open")
    check = does.add_parser("check", help="look through all that is stored; what is wrong is said, and the status is 1")
    prune = does.add_parser("prune", help="remove conversations that are over and have not been touched for long")
    for parser in (upgrade, check, prune):
        parser.add_argument("store", help="for instance sqlite:///chat.db, or MODULE:ENGINE as app:engine")
    prune.add_argument("--days", type=_days, required=True, metavar="N", help="how long they have not been touched")
    prune.add_argument("--yes", action="store_true", help="do it; without, it is only said how many there are")


def _days(text: str) -> float:
    days = float(text)
    if not 0 < days < 100_000:
        raise argparse.ArgumentTypeError("it has to be more than 0")
    return days


def run(args: argparse.Namespace, load: Callable[[str], Engine[object]]) -> int:
    """Do what was asked for; returns the exit status. `load` finds an engine by `module:name`.

    Raises `ProgrammingError`, `NewerLog` or `Busy` if it cannot be done.
    """
    parts = _by_name(args.store) if "://" in args.store else _of(load(args.store))
    match args.does:
        case "upgrade":
            return anyio.run(_upgrade, parts)
        case "check":
            return anyio.run(_check, parts)
        case _:
            return anyio.run(_prune, parts, args.days * DAY, args.yes)


@dataclass(frozen=True)
class Parts:
    """A store with what belongs to it, not opened yet."""

    store: Store
    upkeep: Upkeep
    vault: Vault
    files: Files | None


def _by_name(name: str) -> Parts:
    from yourcall.open import open_files, open_store, open_upkeep, open_vault

    require_existing(name)
    store = open_store(name)
    return Parts(store, open_upkeep(store), open_vault(store, None), open_files(store, None))


def _of(engine: Engine[object]) -> Parts:
    from yourcall.open import open_upkeep

    files = engine.files if engine.takes_files else None
    return Parts(engine.store, open_upkeep(engine.store), engine.vault, files)


@asynccontextmanager
async def _opened(parts: Parts) -> AsyncIterator[None]:
    try:
        await parts.upkeep.open()
        yield
    finally:
        await parts.upkeep.close()


async def _upgrade(parts: Parts) -> int:
    async with _opened(parts):
        before, now = await parts.upkeep.upgrade(), parts.upkeep.newest
    if before == now:
        print(f"The schema is of version {now} already.")
    else:
        print(f"The schema is of version {now} now; it was of version {before}.")
    return 0


async def _require_newest(upkeep: Upkeep) -> None:
    version, newest = await upkeep.version(), upkeep.newest
    if version > newest:
        raise NewerLog(version, newest)
    if version < newest:
        raise ProgrammingError(
            f"The schema is of version {version}, and {newest} is needed here: `yourcall db upgrade` brings it there."
        )


# --------------------------------------------------------------------------- check


async def _check(parts: Parts) -> int:
    from yourcall.checking import check

    wrong = count = 0
    async with _opened(parts):
        await _require_newest(parts.upkeep)
        async for key in _each(parts.upkeep.keys):
            count += 1
            for fault in await check(parts.store, parts.upkeep, key):
                wrong += 1
                print(f"The conversation {key.id!r} of {key.owner!r}: {fault}.")
        opened, broken = await _sealed(parts)
    print(f"{count} conversations and {opened} sealed values: {wrong + broken or 'nothing'} wrong.")
    return 1 if wrong + broken else 0


async def _sealed(parts: Parts) -> tuple[int, int]:
    """How many sealed values were tried, and how many of them do not open."""
    from yourcall.vault import SealedVault

    if not isinstance(parts.vault, SealedVault):
        return 0, 0
    tried = broken = 0
    async for row, opens in parts.vault.tried():
        tried += 1
        if not opens:
            broken += 1
            print(f"The sealed value {row.slot.name!r} of {row.slot.owner!r}, {row.version}: it does not open.")
    for key, count in sorted((await parts.vault.without_keys()).items()):
        print(f"{count} sealed values were not tried: their key {key} is not here.")
    return tried, broken


async def _each(page: Callable[[int, Key | None], Awaitable[Sequence[Key]]]) -> AsyncIterator[Key]:
    last: Key | None = None
    while keys := await page(PAGE, last):
        for last in keys:
            yield last


# --------------------------------------------------------------------------- prune


async def _prune(parts: Parts, seconds: float, really: bool) -> int:
    async def idle(limit: int, after: Key | None) -> Sequence[Key]:
        return await parts.upkeep.idle(seconds, limit, after)

    count = 0
    async with _opened(parts):
        await _require_newest(parts.upkeep)
        async for key in _each(idle):
            count += await parts.upkeep.prune(key, seconds) if really else 1
        if really and parts.files:
            await parts.files.blobs.open()
            await parts.files.sweep()
            await parts.files.blobs.close()
    days = f"{seconds / DAY:g} days"
    if really:
        print(f"{count} conversations removed: they were over, and not touched for {days}.")
    else:
        print(f"{count} conversations are over and were not touched for {days}. With --yes they are removed.")
    return 0
