"""Names for parts: what `Engine("sqlite:///coach.db")` and `Agent("anthropic:...")` open.

Imported by the constructors that take such names.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from yourcall.errors import ProgrammingError
from yourcall.files import Files
from yourcall.ports import Accounts, Blobs, Bus, KeyProvider, Model, Store, Vault
from yourcall.upkeep import Upkeep
from yourcall.upload import Rules


def open_store(url: str) -> Store:
    """`sqlite:///relative.db`, `sqlite:////absolute.db`, `sqlite://` for one in memory, or `postgresql://...`."""
    scheme, _, path = url.partition("://")
    match scheme:
        case "postgresql" | "postgres":
            with _extra("postgres"):
                from yourcall.store.postgres import PostgresStore

            return PostgresStore(url)
        case "sqlite" if not path or path.startswith("/"):
            from yourcall.store.sqlite import SQLiteStore

            return SQLiteStore(path[1:] or ":memory:")
    raise ProgrammingError(
        'Name a store as "sqlite:///file.db", "sqlite://" for one in memory, or "postgresql://user@host/database".'
    )


def open_upkeep(store: Store) -> Upkeep:
    """For commands that work on a store as a whole, in place of its own `open`."""
    from yourcall.store.sqlite import SQLiteStore

    if isinstance(store, SQLiteStore):
        from yourcall.store.sqlite_upkeep import SQLiteUpkeep

        return SQLiteUpkeep(store.file)
    with _extra("postgres"):
        from yourcall.store.postgres import PostgresStore
        from yourcall.store.postgres_upkeep import PostgresUpkeep

    if isinstance(store, PostgresStore):
        return PostgresUpkeep(store.pool)
    raise ProgrammingError("This store is one of your own, of which these commands know nothing.")


def open_vault(store: Store, keys: KeyProvider | None) -> Vault:
    """The vault beside the logs of this store; its keys are those of the environment if none are given."""
    from yourcall.vault import SealedVault, keys_of_environment

    return SealedVault(store.sealed, keys or keys_of_environment())


def open_accounts(vault: Vault) -> Accounts:
    """The users' accounts at providers, whose tokens are in this vault."""
    with _extra("web"):
        from yourcall.oauth import Discovery, ProviderAccounts

    return ProviderAccounts(vault, Discovery())


def open_bus(url: str | None) -> Bus:
    """`redis://host`, so that every process shows what any of them is saying; None for a single process."""
    match url:
        case None:
            from yourcall.bus.local import LocalBus

            return LocalBus()
        case str() if url.startswith(("redis://", "rediss://", "unix://")):
            with _extra("redis"):
                from yourcall.bus.redis import RedisBus

            return RedisBus(url)
    raise ProgrammingError('Name a bus as "redis://host:6379"; without one, live events stay in their process.')


def open_files(store: Store, blobs: Blobs | str | None) -> Files | None:
    """The files of a store's users, in `blobs`, or in the folder that this names.

    By default in a folder beside the store's own file; None where it has none, and files have no place.
    """
    from yourcall.blobs.folder import FolderBlobs
    from yourcall.store.sqlite import SQLiteStore

    if isinstance(blobs, str):
        blobs = FolderBlobs(blobs)
    if blobs is None and isinstance(store, SQLiteStore):
        path = store.file.path
        blobs = FolderBlobs(None if path == ":memory:" else f"{path}-files")
    return None if blobs is None else Files(store.files, blobs, _look)


def _look(path: Path, name: str, rules: Rules) -> str:
    with _extra("web"):
        from yourcall.blobs.looking import look  # with libraries that only who takes files needs

    return look(path, name, rules)


@contextmanager
def _extra(name: str) -> Iterator[None]:
    """Around the import of what an extra brings. Raises `ProgrammingError`, naming the extra, where it is missing."""
    try:
        yield
    except ModuleNotFoundError as missing:
        raise ProgrammingError(f'{missing.name} is not installed: pip install "yourcall[{name}]"') from missing


def open_model(name: str) -> Model:
    """`provider:model`, as "anthropic:claude-sonnet-5"; the key is in the provider's environment variable."""
    from yourcall.models import provider

    return provider(name)
