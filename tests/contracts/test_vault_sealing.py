"""What whoever holds the database, but not its keys, can do with what is sealed in it: take it away, and no more.

The rows are read and changed behind the vault's back. `kept`, `made_at` and `claimed_until` are not sealed: who can
write them can write the log as well, and can do no more by them than remove a value or bring a draft forward.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support import placed
from yourcall.entries import User
from yourcall.errors import SealBroken
from yourcall.ports import Appended, Key, Opened, Row, Slot
from yourcall.store.sqlite import SQLiteStore
from yourcall.vault import KeyRing, SealedVault, new_key

CHATS = Key("ada", "c1"), Key("ada", "c2"), Key("bob", "c1")
SLOTS = (
    Slot("ada", "hevy"), Slot("ada", "strava"), Slot("ada", "hevy", "c1"), Slot("ada", "hevy", "c2"),
    Slot("bob", "hevy"), Slot("bob", "hevy", "c1"),
)  # fmt: skip
COLUMNS = ("id", "owner", "name", "conversation", "wrapped_by", "wrapped", "value")
KEYS = new_key(), new_key()


@asynccontextmanager
async def filled(path: str = ":memory:") -> AsyncIterator[tuple[SQLiteStore, SealedVault]]:
    """A store in which each slot has its own name as its value, sealed under one of two keys, and a vault for it."""
    store = SQLiteStore(path)
    await store.open()
    try:
        rings = [KeyRing(" ".join(keys)) for keys in (KEYS, KEYS[::-1])]
        vaults = [SealedVault(store.sealed, ring) for ring in rings]
        for chat in CHATS:
            await store.append(chat, 0, [], Row())
        for n, slot in enumerate(SLOTS):
            draft = await vaults[n % 2].draft(slot, repr(slot).encode())
            chat = Key(slot.owner, "c1" if slot.conversation == "*" else slot.conversation)
            head = (await store.load(chat)).head
            assert await store.append(chat, head, placed(head, User("x")), Row(), keep=[draft]) is Appended.DONE
        yield store, vaults[0]
    finally:
        await store.close()


async def row_of(store: SQLiteStore, slot: Slot) -> list[Any]:
    """A slot's row, as it is stored."""
    sealed = await store.sealed.kept(slot)
    assert sealed
    (row,) = await store.file.read(f"SELECT {', '.join(COLUMNS)} FROM sealed WHERE id = ?", (sealed.version,))
    return list(row)


async def overwrite(store: SQLiteStore, version: str, row: Sequence[Any]) -> Slot | None:
    """Put other values into the columns of a row; the slot in which it is then, None if that cannot be."""
    sets = ", ".join(f"{column} = ?" for column in COLUMNS)
    where = (
        "SELECT s.owner, s.name, coalesce(c.id, '*') FROM sealed s LEFT JOIN conversation c ON c.key = s.conversation"
    )
    await store.file.write(f"UPDATE sealed SET {sets} WHERE id = ? RETURNING id", (*row, version))
    found = await store.file.read(f"{where} WHERE s.id = ? AND coalesce(c.owner, s.owner) = s.owner", (row[0],))
    return Slot(*found[0]) if found else None


async def outcome(vault: SealedVault, slot: Slot) -> bytes | type[SealBroken] | None:
    try:
        match await vault.open(slot):
            case Opened(_, value):
                return value
            case None:
                return None
    except SealBroken:
        return SealBroken


# --------------------------------------------------------------------------- moving


async def moved(store: SQLiteStore, vault: SealedVault, source: Slot, target: Slot, columns: set[str]) -> None:
    """Put these columns of one row in the place of another's: it opens if it is still a whole row, and in its slot."""
    one, other = await row_of(store, source), await row_of(store, target)
    mixed = [a if name in columns else b for name, a, b in zip(COLUMNS, one, other, strict=True)]
    whole = {str(one): source, str(other): target}.get(str(mixed))
    # what else there is makes way, and is no part of this
    await store.file.write("UPDATE sealed SET kept = 0 WHERE id != ?", (other[0],))
    await store.file.write("UPDATE sealed SET id = '-' || id WHERE id = ? AND id != ?", (one[0], other[0]))
    slot = await overwrite(store, other[0], mixed)
    if slot is not None:
        assert await outcome(vault, slot) == (repr(whole).encode() if whole else SealBroken)
    for elsewhere in set(SLOTS) - {slot}:
        assert await outcome(vault, elsewhere) is None
    await overwrite(store, mixed[0], other)
    await store.file.write("UPDATE sealed SET id = ltrim(id, '-'), kept = 1", ())


@settings(deadline=None)
@given(st.sampled_from(SLOTS), st.sampled_from(SLOTS), st.sets(st.sampled_from(COLUMNS)))
def test_what_was_sealed_opens_only_in_its_slot(source: Slot, target: Slot, columns: set[str]) -> None:
    """Any columns of one row in the place of another's: unless the row is whole, and so in its slot, it is broken."""

    async def scenario() -> None:
        async with filled() as (store, vault):
            await moved(store, vault, source, target, columns)

    asyncio.run(scenario())


@pytest.mark.anyio
@pytest.mark.parametrize("column", COLUMNS)
async def test_each_column_alone_is_bound(column: str) -> None:
    """Taken from any row into any other."""
    async with filled() as (store, vault):
        for source in SLOTS:
            for target in SLOTS:
                await moved(store, vault, source, target, {column})
        assert [await outcome(vault, slot) for slot in SLOTS] == [repr(slot).encode() for slot in SLOTS]


@pytest.mark.anyio
async def test_another_deployment_with_the_same_keys_opens_nothing() -> None:
    """A row, or a whole database, that was carried over does not open there."""
    async with filled() as (store, _):
        other = SealedVault(store.sealed, KeyRing(" ".join(KEYS)), tenant="other")
        assert {await outcome(other, slot) for slot in SLOTS} == {SealBroken}


@pytest.mark.anyio
async def test_an_older_version_does_not_come_back_under_the_newer_ones_name() -> None:
    """A value that was replaced, kept by somebody and put into the row of the newer one, does not open."""
    async with filled() as (store, vault):
        old = await row_of(store, SLOTS[0])
        assert await vault.replace(SLOTS[0], old[0], b"newer")
        new = await row_of(store, SLOTS[0])
        await overwrite(store, new[0], [new[0], *old[1:]])
        assert await outcome(vault, SLOTS[0]) is SealBroken


# --------------------------------------------------------------------------- changing


@pytest.mark.anyio
@pytest.mark.parametrize("column", ["id", "owner", "name", "wrapped_by", "wrapped", "value"])
async def test_a_changed_byte_of_any_column_breaks_it(column: str) -> None:
    """Each byte, one bit of it flipped, and each end cut off: the row never opens, wherever it is looked for."""
    slot = SLOTS[0]
    async with filled() as (store, vault):
        row = await row_of(store, slot)
        place, version = COLUMNS.index(column), row[0]
        genuine = row[place] if isinstance(row[place], bytes) else row[place].encode()
        flipped = [genuine[:n] + bytes([genuine[n] ^ 1]) + genuine[n + 1 :] for n in range(len(genuine))]
        for changed in [*flipped, genuine[:-1], genuine[1:], genuine + b"A", b""]:
            stored = changed if isinstance(row[place], bytes) else changed.decode()
            mixed = [*row[:place], stored, *row[place + 1 :]]
            found = await overwrite(store, version, mixed)
            version = mixed[0]
            assert found
            if found.owner and found.name:
                assert await outcome(vault, found) is SealBroken
            assert found == slot or await outcome(vault, slot) is None
        await overwrite(store, version, row)
        assert await outcome(vault, slot) == repr(slot).encode()


@pytest.mark.anyio
async def test_rewrapping_leaves_what_is_broken_and_says_so() -> None:
    """It is neither healed nor passed over in silence, and does not keep the others under an old key."""
    async with filled() as (store, vault):
        row = await row_of(store, SLOTS[1])  # under the key that is not active
        await overwrite(store, row[0], [*row[:5], row[5][:-1] + bytes([row[5][-1] ^ 1]), row[6]])
        rewrapped = await vault.rewrap()
        assert (rewrapped.done, rewrapped.broken) == (2, 1)
        outcomes = [await outcome(vault, slot) for slot in SLOTS]
        assert outcomes == [SealBroken if slot == SLOTS[1] else repr(slot).encode() for slot in SLOTS]


# --------------------------------------------------------------------------- reading


CANARIES = ["plain-7f3a9c51e2", "ab/+=&?#%41 \"q\" 'q'\\n", "ключ🔑-7f3a\n\ttab", '{"json": [1]}<b>&amp;']


def forms(canary: str) -> list[bytes]:
    """A value as it is, and as it may have been written."""
    raw = canary.encode()
    written = [json.dumps(canary)[1:-1], json.dumps(canary, ensure_ascii=False)[1:-1], quote(canary, safe="")]
    return [raw, raw.hex().encode(), base64.b64encode(raw), canary.encode("utf-16-le"), *(w.encode() for w in written)]


def found_in(folder: Path, canary: str) -> list[str]:
    """The files in which a value is to be found."""
    return [f.name for f in sorted(folder.iterdir()) if any(form in f.read_bytes() for form in forms(canary))]


@pytest.mark.anyio
async def test_no_value_is_in_the_database_or_its_journal(tmp_path: Path) -> None:
    """Drafts, kept, replaced, claimed, rewrapped and forgotten, while the store is open and after: by the same scan
    that finds a value which was put into the log."""
    async with filled(str(tmp_path / "c.db")) as (store, vault):
        for n, canary in enumerate(CANARIES):
            slot = Slot("ada", f"canary{n}")
            draft = await vault.draft(slot, canary.encode())
            head = (await store.load(CHATS[0])).head
            await store.append(CHATS[0], head, placed(head, User("x")), Row(), keep=[draft])
            opened = await vault.open(slot)
            assert opened
            assert opened.value == canary.encode()
            assert canary not in f"{opened} {await store.sealed.kept(slot)}"
            await vault.claim(slot, opened.version, 60)
            await vault.replace(slot, opened.version, canary.encode())
            await vault.draft(slot, canary.encode())
        await vault.forget(Slot("ada", "canary0"))
        await vault.rewrap()
        assert (tmp_path / "c.db-wal").stat().st_size
        assert [found_in(tmp_path, canary) for canary in CANARIES] == [[]] * len(CANARIES)
        head = (await store.load(CHATS[0])).head
        await store.append(CHATS[0], head, placed(head, User(CANARIES[0])), Row())
        assert found_in(tmp_path, CANARIES[0]) == ["c.db-wal"]
    assert [found_in(tmp_path, canary) for canary in CANARIES] == [["c.db"], [], [], []]


@pytest.mark.anyio
async def test_the_same_value_is_never_sealed_alike() -> None:
    """Neither twice in one slot nor in two: nothing says who has the same secret."""
    async with filled() as (store, vault):
        seen: list[bytes] = []
        for name in ("one", "two"):
            for _ in range(2):
                await vault.draft(Slot("ada", name), b"the same")
        for key in KeyRing(" ".join(KEYS)).ids:
            for row in await store.sealed.under(key, 100):
                seen += [row.value, row.value[:12], row.wrapped, row.wrapped[:12]]
        assert len(set(seen)) == len(seen)


# --------------------------------------------------------------------------- dying


@pytest.mark.anyio
@pytest.mark.parametrize("where", ["drafted", "COMMIT", "kept"])
async def test_a_process_that_is_killed_has_kept_all_or_nothing(tmp_path: Path, where: str) -> None:
    """Killed between draft and append, or before the append is done: a draft that counts for nothing and is swept.
    After it: the entry and its value."""
    path, key = tmp_path / "c.db", KEYS[0]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "YOURCALL_KEYS": key}
    command = [sys.executable, "-m", "tests.contracts.vault_dying", str(path), where]
    died = await anyio.run_process(command, env=env, check=False)
    assert died.returncode == -signal.SIGKILL, died.stderr.decode()
    now = [0.0]
    store = SQLiteStore(str(path), clock=lambda: now[0])
    await store.open()
    try:
        vault = SealedVault(store.sealed, KeyRing(key))
        await vault.start()
        kept = where == "kept"
        assert len((await store.load(CHATS[0], after=0)).entries) == kept
        assert await outcome(vault, SLOTS[0]) == (b"canary" if kept else None)
        assert await vault.names("ada") == ([SLOTS[0]] if kept else [])
        assert sum((await store.sealed.keys()).values()) == 2
        now[0] = 1e12
        await vault.sweep()
        assert sum((await store.sealed.keys()).values()) == 1 + kept
    finally:
        await store.close()
