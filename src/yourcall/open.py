"""Names for parts: what `Engine("sqlite:///coach.db")` opens. Imported by the constructors that take such names."""

from __future__ import annotations

from yourcall.errors import ProgrammingError
from yourcall.ports import Bus, Store


def open_store(url: str) -> Store:
    """`sqlite:///relative.db`, `sqlite:////absolute.db`, or `sqlite://` for one in memory."""
    scheme, _, path = url.partition("://")
    if scheme != "sqlite" or (path and not path.startswith("/")):
        raise ProgrammingError('Name a store as "sqlite:///file.db", or "sqlite://" for one in memory.')
    from yourcall.store.sqlite import SQLiteStore

    return SQLiteStore(path[1:] or ":memory:")


def local_bus() -> Bus:
    """The bus of an engine that is given none: for listeners of its own process."""
    from yourcall.bus.local import LocalBus

    return LocalBus()
