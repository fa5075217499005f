"""What a `Vault` keeps: a value opens in its own place only, counts once an append keeps it, and is nowhere to be read.

On a real store; the rows are looked at, and meddled with, behind its back.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import LiteralString

import anyio
import pytest
from psycopg import AsyncConnection

from tests.postgres import Postgres
from tests.support import Clock, placed, until
from yourcall.entries import User
from yourcall.errors import Busy, NotFound, ProgrammingError, SealBroken
from yourcall.ports import Appended, Draft, Key, Row, Slot, Store
from yourcall.store.postgres import PostgresStore
from yourcall.store.sqlite import SQLiteStore
from yourcall.vault import KeyRing, SealedVault
from yourcall.vault.keyring import new_key
from yourcall.vault.sealed import Rewrapped

pytestmark = pytest.mark.anyio

CHAT = Key("ada", "c1")
HEVY = Slot("ada", "hevy")
KEY, OTHER = new_key(), new_key()


@pytest.fixture
def clock() -> Clock:
    return Clock(1_000.0)


@pytest.fixture(params=["sqlite-file", "sqlite-memory", "postgres"])
def make(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Callable[[], Store]:
    if request.param == "postgres":
        server: Postgres = request.getfixturevalue("postgres_server")
        url = server.empty()
        return lambda: PostgresStore(url, clock=clock)
    path = ":memory:" if request.param == "sqlite-memory" else str(tmp_path / "c.db")
    return lambda: SQLiteStore(path, clock=clock)


@pytest.fixture
async def store(make: Callable[[], Store]) -> AsyncGenerator[Store, None]:
    store = make()
    await store.open()
    await store.append(CHAT, 0, placed(0, User("hi")), Row())
    yield store
    await store.close()


@pytest.fixture
async def vault(store: Store) -> SealedVault:
    return await started(store)


async def started(store: Store, *keys: str, tenant: str = "default") -> SealedVault:
    vault = SealedVault(store.sealed, KeyRing(" ".join(keys or (KEY,))), tenant=tenant)
    await vault.start()
    return vault


async def kept(store: Store, *drafts: Draft, key: Key = CHAT) -> Appended:
    """Append an entry that keeps these drafts."""
    head = (await store.load(key)).head
    return await store.append(key, head, placed(head, User("kept")), Row(), keep=drafts)


async def put(store: Store, vault: SealedVault, slot: Slot, value: bytes, key: Key = CHAT) -> str:
    """Seal a value and keep it; its version."""
    draft = await vault.draft(slot, value)
    assert await kept(store, draft, key=key) is Appended.DONE
    return draft.id


async def value(vault: SealedVault, slot: Slot = HEVY) -> bytes | None:
    opened = await vault.open(slot)
    return opened.value if opened else None


async def rows(store: Store) -> list[str]:
    """The versions of all rows, drafts too, but for the vault's own."""
    under = [row for key in await store.sealed.keys() for row in await store.sealed.under(key, 1_000)]
    return sorted(row.version for row in under if row.slot.owner)


# --------------------------------------------------------------------------- drafts and the append that keeps them


async def test_a_draft_counts_once_an_append_keeps_it(store: Store, vault: SealedVault) -> None:
    """Until then its slot has no value; the append's transaction gives it one."""
    draft = await vault.draft(HEVY, b"canary")
    assert (await vault.holds(HEVY), await value(vault), await vault.names("ada")) == (False, None, [])
    assert await kept(store, draft) is Appended.DONE
    assert (await vault.holds(HEVY), await value(vault), await vault.names("ada")) == (True, b"canary", [HEVY])


async def test_what_was_there_before_goes_with_the_same_append(store: Store, vault: SealedVault) -> None:
    """A slot has one value: the latest that was kept, and none of the older ones is left in the store."""
    await put(store, vault, HEVY, b"old")
    version = await put(store, vault, HEVY, b"new")
    assert await value(vault) == b"new"
    assert await rows(store) == [version]


@pytest.mark.parametrize(
    "how", ["unknown", "swept", "kept already", "replaced since", "another user's", "another conversation's"]
)
async def test_a_draft_that_is_not_there_appends_nothing(
    store: Store, vault: SealedVault, clock: Clock, how: str
) -> None:
    """What the log says is sealed is there: without the draft there is no entry, and the value before stays."""
    await put(store, vault, HEVY, b"before")
    await store.append(Key("ada", "c2"), 0, [], Row())
    owner, scope = ("bob", "*") if "user" in how else ("ada", "c2" if "conversation" in how else "*")
    draft = Draft("sealed", "none") if how == "unknown" else await vault.draft(Slot(owner, "hevy", scope), b"x")
    if how in ("kept already", "replaced since"):
        await kept(store, draft)
    if how == "replaced since":
        await put(store, vault, HEVY, b"before")
    if how == "swept":
        clock.now += 3_600
        await vault.sweep()
    log, before = await store.load(CHAT, after=0), await value(vault)
    other = await vault.draft(Slot("ada", "other"), b"y")
    with pytest.raises(Busy):
        await kept(store, other, draft)
    assert await store.load(CHAT, after=0) == log
    assert await value(vault) == before is not None
    assert not await vault.holds(Slot("ada", "other"))


async def test_a_lost_append_keeps_nothing(store: Store, vault: SealedVault, clock: Clock) -> None:
    """Whoever came too late leaves the slot as it is; decided again, the same draft can still be kept."""
    await put(store, vault, HEVY, b"before")
    draft = await vault.draft(HEVY, b"late")
    assert await store.append(CHAT, 0, placed(0, User("x")), Row(), keep=[draft]) is Appended.LOST
    assert await value(vault) == b"before"
    assert await kept(store, draft) is Appended.DONE
    assert await value(vault) == b"late"


async def test_drafts_are_swept_after_an_hour(store: Store, vault: SealedVault, clock: Clock) -> None:
    """By the store's clock, and drafts only: what was kept stays, however old."""
    kept_version = await put(store, vault, HEVY, b"kept")
    old = await vault.draft(HEVY, b"old")
    clock.now += 3_599
    young = await vault.draft(HEVY, b"young")
    await vault.sweep()
    assert await rows(store) == sorted([kept_version, old.id, young.id])
    clock.now += 1
    await vault.sweep()
    assert await rows(store) == sorted([kept_version, young.id])


# --------------------------------------------------------------------------- slots


async def test_each_slot_has_its_own(store: Store, vault: SealedVault) -> None:
    """Owner, name and conversation tell slots apart; nobody sees another's names, or what forgetting one leaves."""
    for other in (Key("bob", "c1"), Key("ada", "c2")):
        await store.append(other, 0, [], Row())
    slots = [HEVY, Slot("ada", "hevy", "c1"), Slot("ada", "hevy", "c2"), Slot("ada", "strava"), Slot("bob", "hevy")]
    for slot in slots:
        key = Key(slot.owner, "c1" if slot.conversation == "*" else slot.conversation)
        await put(store, vault, slot, repr(slot).encode(), key)
    assert [await value(vault, slot) for slot in slots] == [repr(slot).encode() for slot in slots]
    assert await vault.names("ada") == slots[:4]
    assert await vault.names("bob") == slots[4:]
    assert await vault.names("") == await vault.names("eve") == []
    assert await vault.forget(HEVY)
    assert not await vault.forget(HEVY)
    assert [await vault.holds(slot) for slot in slots] == [False, True, True, True, True]


async def test_a_conversations_values_go_with_it(store: Store, vault: SealedVault) -> None:
    """Kept or drafts; one of the same id that is begun anew has none of them, and the owner's others stay."""
    mine = Slot("ada", "hevy", "c1")
    await put(store, vault, mine, b"of c1")
    await put(store, vault, HEVY, b"of ada")
    await vault.draft(mine, b"draft")
    await store.delete(CHAT)
    assert len(await rows(store)) == 1
    await store.append(CHAT, 0, [], Row())
    assert (await value(vault, mine), await value(vault)) == (None, b"of ada")


async def test_no_value_for_a_conversation_that_does_not_exist(vault: SealedVault) -> None:
    """It would outlive the conversation that it is for, or wait for another of its id."""
    with pytest.raises(NotFound):
        await vault.draft(Slot("ada", "hevy", "gone"), b"x")
    with pytest.raises(NotFound):
        await vault.draft(Slot("bob", "hevy", "c1"), b"x")


@pytest.mark.parametrize("slot", [Slot("", "hevy"), Slot("ada", ""), Slot("", "")])
async def test_nobodys_slot_is_the_vaults_own(vault: SealedVault, slot: Slot) -> None:
    """What has neither owner nor name cannot be sealed, read or removed by anybody."""
    for attempt in (
        lambda: vault.draft(slot, b"x"), lambda: vault.open(slot), lambda: vault.forget(slot),
        lambda: vault.replace(slot, "v", b"x"), lambda: vault.holds(slot), lambda: vault.claim(slot, "v", 1),
    ):  # fmt: skip
        with pytest.raises(ProgrammingError):
            await attempt()


@pytest.mark.parametrize("text", [b"", b"\x00", b"\xff" * 100_000, "ключ 🔑 '\"\\".encode()])
async def test_any_bytes_come_back(store: Store, vault: SealedVault, text: bytes) -> None:
    """None at all, too: an empty value is a value."""
    await put(store, vault, HEVY, text)
    assert await vault.holds(HEVY)
    assert await value(vault) == text


# --------------------------------------------------------------------------- replacing a version


async def test_a_version_is_replaced_once(store: Store, vault: SealedVault) -> None:
    """Twenty at once who replace the same version: one does, the others are told, and its value is the one that is."""
    version = await put(store, vault, HEVY, b"0")
    won: list[bytes] = []

    async def attempt(new: bytes) -> None:
        if await vault.replace(HEVY, version, new):
            won.append(new)

    async with anyio.create_task_group() as tasks:
        for n in range(1, 21):
            tasks.start_soon(attempt, str(n).encode())
    assert len(won) == 1
    assert [await value(vault)] == won
    assert len(await rows(store)) == 1


async def test_what_was_forgotten_is_not_brought_back(store: Store, vault: SealedVault) -> None:
    """A token that is refreshed while its user disconnects stays gone."""
    version = await put(store, vault, HEVY, b"0")
    await vault.forget(HEVY)
    assert not await vault.replace(HEVY, version, b"1")
    assert not await vault.claim(HEVY, version, 60)
    assert not await vault.holds(HEVY)


async def test_forgetting_does_not_miss_what_takes_the_place_of_the_old(postgres_server: Postgres) -> None:
    """Who forgets a slot while a new value is on its way into it waits for that, and removes it, too."""
    store = PostgresStore(postgres_server.empty())
    await store.open()
    try:
        await store.append(CHAT, 0, placed(0, User("hi")), Row())
        vault = await started(store)
        version = await put(store, vault, HEVY, b"old")
        gone: list[bool] = []

        async def forget() -> None:
            gone.append(await vault.forget(HEVY))

        async def waits() -> bool:
            sql: LiteralString = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE %s"
            return bool(await store.pool.rows(sql, ("%sealed%",))) or bool(await store.pool.rows(sql, ("%advisory%",)))

        async with anyio.create_task_group() as tasks, await AsyncConnection.connect(store.pool.url) as db:
            # As `replace` does, and not yet committed.
            alone: LiteralString = "SELECT pg_advisory_xact_lock(hashtextextended(%s || chr(10) || %s, 0))"
            await db.execute(alone, (HEVY.owner, HEVY.name))
            await db.execute("CREATE TEMP TABLE moved ON COMMIT DROP AS SELECT * FROM sealed WHERE id = %s", (version,))
            await db.execute("DELETE FROM sealed WHERE id = %s", (version,))
            await db.execute("UPDATE moved SET id = 'new'")
            await db.execute("INSERT INTO sealed SELECT * FROM moved")
            tasks.start_soon(forget)
            await until(waits)
        assert gone == [True]
        assert not await vault.holds(HEVY)
    finally:
        await store.close()


async def test_a_version_of_another_slot_is_not_replaced(store: Store, vault: SealedVault) -> None:
    """A version says nothing without its slot: another user's, or another name's, is left alone."""
    version = await put(store, vault, HEVY, b"0")
    for slot in (Slot("bob", "hevy"), Slot("ada", "strava"), Slot("ada", "hevy", "c1")):
        assert not await vault.replace(slot, version, b"1")
        assert not await vault.claim(slot, version, 60)
    assert await value(vault) == b"0"


async def test_one_claims_a_version_for_a_while(store: Store, vault: SealedVault, clock: Clock) -> None:
    """Of twenty at once one gets it; when its time is over the next may, and a new version is free again."""
    version = await put(store, vault, HEVY, b"0")
    claims: list[bool] = []

    async def claim() -> None:
        claims.append(await vault.claim(HEVY, version, 30))

    async with anyio.create_task_group() as tasks:
        for _ in range(20):
            tasks.start_soon(claim)
    assert sum(claims) == 1
    clock.now += 29.9
    assert not await vault.claim(HEVY, version, 30)
    clock.now += 0.1
    assert await vault.claim(HEVY, version, 30)
    assert await vault.replace(HEVY, version, b"1")
    assert not await vault.claim(HEVY, version, 30)
    opened = await vault.open(HEVY)
    assert opened
    assert await vault.claim(HEVY, opened.version, 30)


# --------------------------------------------------------------------------- keys


async def test_the_wrong_keys_are_found_out_at_the_start(store: Store, vault: SealedVault) -> None:
    """An engine that could not open what is stored does not start; it names the key, and takes nothing for lost."""
    await put(store, vault, HEVY, b"canary")
    for keys in ((), (OTHER,)):
        other = SealedVault(store.sealed, KeyRing(" ".join(keys)))
        with pytest.raises(ProgrammingError, match=str(KeyRing(KEY).active)) as raised:
            await other.start()
        assert KEY not in str(raised.value)
        if keys:
            with pytest.raises(SealBroken):
                await other.open(HEVY)
    assert await value(await started(store, OTHER, KEY)) == b"canary"


async def test_without_keys_nothing_is_sealed_and_it_says_what_to_do(store: Store) -> None:
    """A vault without keys starts, as long as nothing needs them; whoever wants to seal is told how to get one."""
    vault = SealedVault(store.sealed, KeyRing(""))
    await vault.start()
    with pytest.raises(ProgrammingError, match="YOURCALL_KEYS"):
        vault.require_keys()
    for attempt in (lambda: vault.draft(HEVY, b"x"), lambda: vault.replace(HEVY, "v", b"x")):
        with pytest.raises(ProgrammingError, match="YOURCALL_KEYS"):
            await attempt()
    with pytest.raises(ProgrammingError, match="YOURCALL_KEYS"):
        vault.mac("secret", b"x")
    assert not await vault.holds(HEVY)
    assert await store.sealed.keys() == {}


async def test_rewrapping_moves_every_row_to_the_active_key(store: Store, vault: SealedVault) -> None:
    """Kept or draft, and the vault's own: afterwards the old key is needed no more, and all values are as they were."""
    slots = [Slot("ada", f"s{n}") for n in range(250)]
    for slot in slots:
        await put(store, vault, slot, slot.name.encode())
    draft, mac = await vault.draft(HEVY, b"later"), vault.mac("secret", b"x")
    rotated = await started(store, OTHER, KEY)
    assert await rotated.rewrap() == Rewrapped(done=252, broken=0)
    assert await rotated.rewrap() == Rewrapped(done=0, broken=0)
    alone = await started(store, OTHER)
    assert [await value(alone, slot) for slot in slots] == [slot.name.encode() for slot in slots]
    await kept(store, draft)
    assert await value(alone) == b"later"
    assert alone.mac("secret", b"x") == mac


# --------------------------------------------------------------------------- identifying a value


async def test_a_mac_is_the_same_for_all_who_share_the_store(store: Store, vault: SealedVault) -> None:
    """Another process, and one whose keys were rotated, recognise what was sent before; no other store does."""
    mac = vault.mac("secret", b"value")
    assert (await started(store)).mac("secret", b"value") == mac
    assert (await started(store, OTHER, KEY)).mac("secret", b"value") == mac
    assert vault.mac("secret", b"valuf") != mac
    assert vault.mac("state", b"value") != mac
    elsewhere = SQLiteStore(":memory:")
    await elsewhere.open()
    assert (await started(elsewhere)).mac("secret", b"value") != mac
    await elsewhere.close()


async def test_many_who_start_at_once_agree_on_it(store: Store) -> None:
    """Processes that open a new store together derive their MACs from the same root."""
    vaults: list[SealedVault] = []

    async def start() -> None:
        vaults.append(await started(store))

    async with anyio.create_task_group() as tasks:
        for _ in range(10):
            tasks.start_soon(start)
    assert len({vault.mac("secret", b"x") for vault in vaults}) == 1
