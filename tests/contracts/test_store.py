"""What every `Store` keeps, whatever it is made of. A store that is new to the library joins `SHELVES`."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeAlias

import anyio
import psycopg
import pytest

from tests.postgres import Postgres
from tests.support import PATIENCE, Clock, WatchedStore, kinds, placed, until
from yourcall.entries import (
    Answered,
    Asked,
    Assistant,
    Began,
    Body,
    Call,
    Closed,
    Effect,
    Interrupt,
    Result,
    Run,
    Stopped,
    User,
    dump,
)
from yourcall.errors import Busy, NewerLog
from yourcall.ports import Appended, Key, Lease, Listed, Row, Snapshot, Store
from yourcall.store.postgres import PostgresStore
from yourcall.store.sqlite import SQLiteStore

pytestmark = pytest.mark.anyio

ADA = Key("ada", "c1")
BOB = Key("bob", "c1")
RUNNABLE = Row(phase="run")

Make: TypeAlias = Callable[[], Store]


@dataclass(frozen=True)
class Shelf:
    """A kind of store: how to make one, whether a second one sees what it has stored, and what a clash raises."""

    make: Callable[[str, Callable[[], float]], Store]
    shared: bool
    clash: type[Exception]


SHELVES = {
    "sqlite-file": Shelf(lambda place, clock: SQLiteStore(place, clock=clock), True, sqlite3.IntegrityError),
    "sqlite-memory": Shelf(lambda place, clock: SQLiteStore(":memory:", clock=clock), False, sqlite3.IntegrityError),
    "postgres": Shelf(lambda place, clock: PostgresStore(place, clock=clock), True, psycopg.IntegrityError),
}
SHARED = [name for name, shelf in SHELVES.items() if shelf.shared]


@pytest.fixture(params=SHELVES)
def shelf(request: pytest.FixtureRequest) -> Shelf:
    return SHELVES[request.param]


@pytest.fixture
def clock() -> Clock:
    return Clock(1_000.0)


@pytest.fixture
def make(shelf: Shelf, tmp_path: Path, clock: Clock, request: pytest.FixtureRequest) -> Make:
    place = str(tmp_path / "c.db")
    if shelf is SHELVES["postgres"]:
        server: Postgres = request.getfixturevalue("postgres_server")
        place = server.empty()
    return lambda: shelf.make(place, clock)


@pytest.fixture
async def store(make: Make) -> AsyncGenerator[Store, None]:
    store = make()
    await store.open()
    yield store
    await store.close()


only_shared = pytest.mark.parametrize("shelf", [SHELVES[name] for name in SHARED], ids=SHARED)


@pytest.fixture
async def second(store: Store, make: Make) -> AsyncGenerator[Store, None]:
    """Another store on what the first one stores, as a second process has it."""
    second = make()
    await second.open()
    yield second
    await second.close()


def interrupt(id: str, call: str = "k1", expires_at: float | None = None, to: str | None = None) -> Interrupt:
    return Interrupt(id, call, "#1", "pick", {"title": "Which?"}, "digest", "Which?", to=to, expires_at=expires_at)


async def put(store: Store, key: Key, *bodies: Body, row: Row | None = None) -> int:
    """Append at the head, whatever it is; the new head."""
    head = (await store.load(key)).head
    assert await store.append(key, head, placed(head, *bodies), row or Row()) is Appended.DONE
    return head + len(bodies)


async def whole(store: Store, key: Key) -> list[Body]:
    return [entry.body for entry in (await store.load(key, after=0)).entries]


# --------------------------------------------------------------------------- reading


async def test_a_conversation_that_does_not_exist_is_empty(store: Store, clock: Clock) -> None:
    """Reading makes nothing: what is unknown has no head, no entries and no row of its own."""
    assert await store.load(ADA) == await store.load(ADA, after=0) == Snapshot(clock.now)
    assert await store.conversations("ada") == []


async def test_created_without_entries_it_exists(store: Store) -> None:
    """`head` 0 without entries makes an empty conversation; doing it again changes nothing."""
    assert await store.append(ADA, 0, [], Row()) is Appended.DONE
    assert await store.append(ADA, 0, [], Row()) is Appended.DONE
    snapshot = await store.load(ADA)
    assert (snapshot.exists, snapshot.head, snapshot.entries) == (True, 0, ())


async def test_what_holds_no_more_is_not_appended(store: Store, clock: Clock) -> None:
    """From `until` on, by the store's own clock at the append, the append is lost and nothing of it is kept."""
    await put(store, ADA, User("hello"))
    clock.now = 1_005.0
    assert await store.append(ADA, 1, placed(1, User("late")), Row(), until=1_005.0) is Appended.LOST
    assert await whole(store, ADA) == [User("hello")]
    assert await store.append(ADA, 1, placed(1, User("in time")), Row(), until=1_005.5) is Appended.DONE


async def test_creating_what_has_a_log_changes_nothing(store: Store) -> None:
    """An append at 0 to a longer log is lost, row and all."""
    await put(store, ADA, User("hi"), row=RUNNABLE)
    assert await store.append(ADA, 0, [], Row()) is Appended.LOST
    snapshot = await store.load(ADA, after=0)
    assert (snapshot.head, snapshot.row.phase, len(snapshot.entries)) == (1, "run", 1)


async def test_the_whole_the_tail_and_what_is_newer(store: Store) -> None:
    """`after=0` reads all, None from the row's `tail` on, a number what is newer than it; head and row always."""
    row = Row(3, "waiting", 1_500.0)
    await put(store, ADA, User("1"), User("2"), User("3"), User("4"), row=row)
    for after, expected in {0: "1234", None: "34", 1: "234", 3: "4", 4: "", 9: ""}.items():
        snapshot = await store.load(ADA, after=after)
        texts = [entry.body.text for entry in snapshot.entries if isinstance(entry.body, User)]
        assert "".join(texts) == expected
        assert (snapshot.exists, snapshot.head, snapshot.row) == (True, 4, row)


async def test_all_ten_kinds_come_back_as_they_were(store: Store) -> None:
    """An entry is read as it was written: kind, place, time, every field."""
    bodies: list[Body] = [
        User("hi", "m1"),
        Run("r1"),
        Assistant(
            "r1", 2, "So", (Call("k1", "ask", '{"a": 1}', rerun=True),), ("ask",), blob={"format": "x", "blob": [1]}
        ),
        Began(("k1",)),
        Effect("k1", "charge", "d", "done", {"ok": None}),
        Asked(interrupt("i1", expires_at=2_000.5)),
        Answered("i1", "k1", {"unit": "kg", "n": 0.1, "none": None}, "p"),
        Result("k1", ["kg", False, 0, ""]),
        Closed("i2", "k1", "skipped", "later"),
        Stopped("cancelled", True, "Bye"),
    ]
    entries = placed(0, *bodies, at=1_234.5)
    await store.append(ADA, 0, entries, Row())
    assert (await store.load(ADA, after=0)).entries == tuple(entries)


async def test_text_of_any_script_and_size(store: Store) -> None:
    """Ids, texts and JSON come back character by character, a megabyte of them too."""
    text = "ทดสอบ 🏋️‍♀️ e\u0301 \x00 ' \" \\ ; -- %s\n\u2028" + "ü" * 1_000_000
    key = Key("ада';", "対話 %s ?")
    await put(store, key, User(text, "m'"), Result("k", {text[:40]: [text]}))
    user, result = await whole(store, key)
    assert user == User(text, "m'")
    assert result == Result("k", {text[:40]: [text]})
    assert [listed.id for listed in await store.conversations(key.owner)] == [key.id]


async def test_text_that_no_disk_takes_leaves_the_store_in_order(store: Store) -> None:
    """Half a character cannot be stored: the append fails whole, and the next one is not hindered."""
    await put(store, ADA, User("hi"))
    with pytest.raises(UnicodeEncodeError):
        await store.append(ADA, 1, placed(1, User("ok"), User("\ud800")), Row())
    assert await put(store, ADA, User("then")) == 2


async def test_time_is_the_clock_that_was_given(store: Store, clock: Clock) -> None:
    """Nothing in a store looks at another clock."""
    await put(store, ADA, User("hi"))
    clock.now = 77.0
    assert (await store.load(ADA)).now == 77.0
    await put(store, BOB, User("hi"))
    assert await store.conversations("bob") == [Listed("c1", "done", 77.0, "hi")]


# --------------------------------------------------------------------------- compare and swap


@pytest.mark.parametrize("head", [0, 1, 3, 99])
async def test_an_append_at_a_wrong_head_is_lost(store: Store, head: int) -> None:
    """The head is the only place to append at; a lost append leaves neither entry, nor row, nor index behind."""
    await put(store, ADA, User("1"), User("2"))
    before = await store.load(ADA, after=0)
    entries = placed(head, User("lost", "m"), Asked(interrupt("i1")))
    row = Row(9, "run", 1.0, Lease("r1", 5_000.0))
    assert await store.append(ADA, head, entries, row) is Appended.LOST
    assert await store.load(ADA, after=0) == before
    assert await store.find("ada", "i1") is None
    assert await store.due(9) == []


async def test_a_longer_log_of_nothing_is_lost(store: Store) -> None:
    """Who believes in a conversation that does not exist has lost, and has not made it."""
    assert await store.append(ADA, 4, placed(4, User("hi")), Row()) is Appended.LOST
    assert not (await store.load(ADA)).exists


async def test_twenty_at_once_lose_nothing(store: Store) -> None:
    """Twenty writers that decide again after a lost swap all get in, each once, without a gap."""
    await _write_at_once([store], 20)
    await _assert_all_are_in(store, 20)


@only_shared
async def test_two_stores_at_once_lose_nothing(store: Store, second: Store) -> None:
    """Two processes swap at the same head: one wins each time, and nothing of the other stays."""
    await _write_at_once([store, second], 20)
    await _assert_all_are_in(second, 20)


async def _write_at_once(stores: list[Store], count: int) -> None:
    async with anyio.create_task_group() as tasks:
        for n in range(count):
            tasks.start_soon(_write_one, stores[n % len(stores)], n)


async def _write_one(store: Store, n: int) -> None:
    while True:
        head = (await store.load(ADA)).head
        bodies = placed(head, User(f"{n}a"), User(f"{n}b"))
        if await store.append(ADA, head, bodies, Row()) is Appended.DONE:
            return


async def _assert_all_are_in(store: Store, count: int) -> None:
    entries = (await store.load(ADA, after=0)).entries
    assert [entry.seq for entry in entries] == list(range(1, 2 * count + 1))
    texts = [entry.body.text for entry in entries if isinstance(entry.body, User)]
    assert sorted(texts) == sorted(f"{n}{half}" for n in range(count) for half in "ab")
    assert all(first[:-1] == then[:-1] for first, then in zip(texts[::2], texts[1::2], strict=True))


# --------------------------------------------------------------------------- one of a kind


async def test_a_message_is_recorded_once(store: Store) -> None:
    """A client's message id that is in the log already is reported, and nothing of that append is kept."""
    await put(store, ADA, User("hi", "m1"))
    closing = Closed("i1", "k1", "superseded")
    assert await store.append(ADA, 1, placed(1, closing, User("hi", "m1")), RUNNABLE) is Appended.DUPLICATE
    assert await whole(store, ADA) == [User("hi", "m1")]
    assert (await store.load(ADA)).row.phase == "done"
    assert await put(store, ADA, User("hi", "m2")) == 2


async def test_message_ids_are_their_conversations_own(store: Store) -> None:
    """The same id in another conversation, of another user, or of another kind of entry is no duplicate."""
    for key in (ADA, BOB, Key("ada", "c2")):
        await put(store, key, User("hi", "m1"), Result("m1", ""), Closed("m1", "m1", "skipped"), User(""), User(""))


CLASHES: dict[str, tuple[list[Body], list[Body]]] = {
    "two results": ([Result("k1", "a")], [Result("k1", "a")]),
    "two results, one beside a message": ([Result("k1", "a")], [Result("k1", "b", "superseded"), User("no", "m9")]),
    "two results, one beside a nameless message": ([Result("k1", "a")], [User("no"), Result("k1", "b")]),
    "two answers": ([Answered("i1", "k1", 1, "p")], [Answered("i1", "k1", 1, "p")]),
    "an answer and another ending": ([Answered("i1", "k1", 1, "p")], [Closed("i1", "k1", "expired")]),
    "two endings, one beside a message": (
        [Closed("i1", "k1", "expired")],
        [Closed("i1", "k1", "skipped"), User("", "m")],
    ),
    "two asks of one id": ([Asked(interrupt("i1"))], [Asked(interrupt("i1"))]),
}


@pytest.mark.parametrize("clash", CLASHES)
async def test_a_bug_of_ours_is_loud(store: Store, shelf: Shelf, clash: str) -> None:
    """One result a call, one ending an interrupt: a second one is no lost swap and no duplicate, but an error."""
    first, then = CLASHES[clash]
    await put(store, ADA, *first)
    with pytest.raises(shelf.clash):
        await store.append(ADA, len(first), placed(len(first), *then), Row())
    assert await whole(store, ADA) == first
    await put(store, ADA, User("on"))


async def test_results_and_endings_are_their_conversations_own(store: Store) -> None:
    """Models repeat call ids: the same call in another conversation has a result of its own."""
    for key in (ADA, BOB, Key("ada", "c2")):
        await put(store, key, Result("k1", "a"), Closed("i1", "k1", "skipped"))


# --------------------------------------------------------------------------- the lease


def leased(runner: str, until: float) -> Row:
    return Row(phase="run", lease=Lease(runner, until))


async def lease_of(store: Store, key: Key = ADA) -> Lease | None:
    return (await store.load(key)).row.lease


async def test_a_free_lease_is_taken(store: Store) -> None:
    """Whoever writes may take what nobody holds, in a conversation that is new or not."""
    await put(store, ADA, User("hi"), row=leased("r1", 1_030.0))
    await put(store, BOB, User("hi"))
    await put(store, BOB, User("hi"), row=leased("r1", 1_030.0))
    assert await lease_of(store, ADA) == await lease_of(store, BOB) == Lease("r1", 1_030.0)


async def test_a_live_lease_is_not_taken(store: Store, clock: Clock) -> None:
    """A lease is its holder's up to its last moment; trying to take it loses the whole append."""
    await put(store, ADA, User("hi"), row=leased("r1", 1_030.0))
    clock.now = 1_029.9
    assert await store.append(ADA, 1, placed(1, Run("r2")), leased("r2", 1_060.0)) is Appended.LOST
    assert await lease_of(store) == Lease("r1", 1_030.0)
    assert (await store.load(ADA)).head == 1


async def test_the_lease_of_a_dead_runner_is_taken_when_it_is_over(store: Store, clock: Clock) -> None:
    """Nobody renews it any more: from its end on it is anybody's."""
    await put(store, ADA, User("hi"), row=leased("dead", 1_030.0))
    clock.now = 1_030.0
    assert await store.append(ADA, 1, placed(1, Run("r2")), leased("r2", 1_060.0)) is Appended.DONE
    assert await lease_of(store) == Lease("r2", 1_060.0)
    assert not await store.renew(ADA, "dead", 30.0)


async def test_the_holder_keeps_its_lease_as_it_is_stored(store: Store) -> None:
    """A write of the holder carries an end that it read before: a renewal since then is not undone."""
    await put(store, ADA, User("hi"), row=leased("r1", 1_030.0))
    await store.renew(ADA, "r1", 40.0)
    await put(store, ADA, Began(()), row=leased("r1", 1_030.0))
    assert await lease_of(store) == Lease("r1", 1_040.0)


async def test_a_write_without_a_lease_frees_it(store: Store) -> None:
    """When nothing is left to run, the next writer need not wait for the lease to end."""
    await put(store, ADA, User("hi"), row=leased("r1", 1_030.0))
    await put(store, ADA, Stopped("cancelled"))
    assert await lease_of(store) is None
    await put(store, ADA, Run("r2"), row=leased("r2", 1_030.0))


async def test_renewing(store: Store, clock: Clock) -> None:
    """A renewal counts from now, by the store's clock, and is the holder's only."""
    await put(store, ADA, User("hi"), row=leased("r1", 1_030.0))
    clock.now = 1_020.0
    assert await store.renew(ADA, "r1", 30.0)
    assert not await store.renew(ADA, "r2", 99.0)
    assert not await store.renew(BOB, "r1", 99.0)
    assert await lease_of(store) == Lease("r1", 1_050.0)


async def test_releasing(store: Store) -> None:
    """The holder ends its lease, and who still keeps it in an append does not revive it; no other can end it."""
    await put(store, ADA, User("hi"), row=leased("r1", 1_030.0))
    await store.release(ADA, "r2")
    await store.release(BOB, "r1")
    assert await lease_of(store) == Lease("r1", 1_030.0)
    await store.release(ADA, "r1")
    assert await lease_of(store) == Lease("r1", 0)
    await put(store, ADA, User("more"), row=leased("r1", 1_030.0))
    assert await lease_of(store) == Lease("r1", 0)
    assert not await store.renew(ADA, "r1", 30.0)
    await put(store, ADA, Run("r2"), row=leased("r2", 1_030.0))
    await store.release(ADA, "r1")
    assert await lease_of(store) == Lease("r2", 1_030.0)


@only_shared
async def test_a_lease_has_one_holder(store: Store, second: Store) -> None:
    """Ten runners in two processes reach for one lease at the same head: one gets it."""
    await put(store, ADA, User("hi"))
    won: list[str] = []

    async def reach(store: Store, runner: str) -> None:
        if await store.append(ADA, 1, placed(1, Run(runner)), leased(runner, 1_030.0)) is Appended.DONE:
            won.append(runner)

    async with anyio.create_task_group() as tasks:
        for n in range(10):
            tasks.start_soon(reach, (store, second)[n % 2], f"r{n}")
    assert [await lease_of(store)] == [Lease(runner, 1_030.0) for runner in won]
    assert await whole(store, ADA) == [User("hi"), Run(won[0])]


# --------------------------------------------------------------------------- the index of interrupts


async def test_an_interrupt_is_found_open_and_closed(store: Store) -> None:
    """Its id alone, with the owner's name, leads to the ask, to where it belongs, and to its ending if it has one."""
    asked = [interrupt("i1"), interrupt("i2", "k2"), interrupt("i3", "k3")]
    await put(store, ADA, User("hi"), *map(Asked, asked))
    answered, closed = Answered("i2", "k2", "kg", "p"), Closed("i3", "k3", "skipped", "no")
    await put(store, ADA, answered, closed)
    for one, ending in zip(asked, [None, answered, closed], strict=True):
        found = await store.find("ada", one.id)
        assert found is not None
        assert (found.key, found.interrupt, found.ending) == (ADA, one, ending)
    assert await store.find("ada", "i4") is None


async def test_an_ask_that_is_closed_in_its_own_append(store: Store) -> None:
    """The question asked after an unseen message begins and ends in one write; the index has both."""
    await put(store, ADA, Asked(interrupt("i1")), Closed("i1", "k1", "superseded"))
    found = await store.find("ada", "i1")
    assert found is not None
    assert found.ending == Closed("i1", "k1", "superseded")


async def ask(store: Store, key: Key, at: float, *interrupts: Interrupt) -> None:
    """Append these questions at this moment."""
    head = (await store.load(key)).head
    entries = placed(head, *map(Asked, interrupts), at=at)
    assert await store.append(key, head, entries, Row()) is Appended.DONE


async def test_a_question_is_found_by_whom_it_was_put_to(store: Store) -> None:
    """One of the names that it was put to opens it, and no other; it is still its owner's."""
    await ask(store, ADA, 1.0, interrupt("i1", to="role:a"), interrupt("i2", "k2"))
    found = await store.find("bob", "i1", ["role:b", "role:a"])
    assert found is not None
    assert (found.key, found.interrupt.to) == (ADA, "role:a")
    assert await store.find("ada", "i1") == found
    assert (await store.owner_of("i1"), await store.owner_of("i9")) == ("ada", None)
    for names in ([], ["role:b"], ["role"], ["ada"]):
        assert await store.find("bob", "i1", names) is None
    assert await store.find("bob", "i2", ["role:a", "ada"]) is None


async def test_an_inbox_is_what_is_open_and_one_s_own_or_put_to_one(store: Store) -> None:
    """The latest first, in pages; not what is closed, nor what the owner's tools have put to others."""
    await ask(store, ADA, 1.0, interrupt("i1"), interrupt("i2", "k2", to="role:a"))
    await ask(store, BOB, 2.0, interrupt("j1"), interrupt("j2", "k2", to="role:a"), interrupt("j3", "k3", to="role:b"))
    await ask(store, Key("ada", "c2"), 3.0, interrupt("i3"), interrupt("i4", "k4"))
    await put(store, Key("ada", "c2"), Closed("i4", "k4", "skipped"))

    async def inbox(owner: str, *names: str, limit: int = 9, before: tuple[float, str] | None = None) -> list[str]:
        return [one.interrupt.id for one in await store.inbox(owner, names, limit, before=before)]

    assert await inbox("ada") == ["i3", "i1"]
    assert await inbox("ada", "role:a") == ["i3", "j2", "i1"]
    assert await inbox("eve", "role:a", "role:b") == ["j3", "j2", "i2"]
    assert await inbox("eve") == []
    (first,) = await store.inbox("ada", ["role:a"], 1)
    assert (first.key, first.asked_at, first.interrupt) == (Key("ada", "c2"), 3.0, interrupt("i3"))
    assert await inbox("ada", "role:a", limit=1, before=(3.0, "i3")) == ["j2"]
    assert await inbox("ada", "role:a", before=(2.0, "j2")) == ["i1"]
    await store.delete(BOB)
    assert await inbox("ada", "role:a") == ["i3", "i1"]


# --------------------------------------------------------------------------- what is due


async def due(store: Store, limit: int = 9) -> list[Key]:
    return sorted(await store.due(limit), key=lambda key: (key.owner, key.id))


async def test_an_expiry_is_due_at_its_moment(store: Store, clock: Clock) -> None:
    """Not before; then whatever the phase is and whoever holds the lease."""
    rows = {"a": Row(1, "waiting", 1_010.0), "b": Row(1, "run", 1_010.0, Lease("r1", 9_000.0)), "c": Row(1, "waiting")}
    for id, row in rows.items():
        await put(store, Key("ada", id), User("hi"), row=row)
    clock.now = 1_009.9
    assert await due(store) == []
    clock.now = 1_010.0
    assert await due(store) == [Key("ada", "a"), Key("ada", "b")]
    await put(store, Key("ada", "a"), User("hi"), row=rows["c"])
    assert await due(store) == [Key("ada", "b")]


async def test_work_that_nobody_does_is_due(store: Store, clock: Clock) -> None:
    """Runnable without a lease, or with one that is over; what waits or is done is nobody's work."""
    rows = {
        "free": RUNNABLE,
        "held": leased("r1", 1_030.0),
        "over": leased("r2", 1_000.0),
        "waiting": Row(1, "waiting"),
        "done": Row(1, "done"),
    }
    for id, row in rows.items():
        await put(store, Key("ada", id), User("hi"), row=row)
    assert await due(store) == [Key("ada", "free"), Key("ada", "over")]
    clock.now = 1_030.0
    assert await due(store) == [Key("ada", "free"), Key("ada", "held"), Key("ada", "over")]
    await store.release(Key("ada", "held"), "r1")
    assert Key("ada", "held") in await due(store)


async def test_what_is_due_is_read_in_pages(store: Store) -> None:
    """In the order of owners and ids, each page goes on behind the last key, whether that is still due or not."""
    keys = [Key(owner, id) for owner in ("ada", "bob") for id in ("", "a", "b", "c")]
    for key in reversed(keys):
        await put(store, key, User("hi"), row=Row(1, "run", 500.0) if key.id != "a" else RUNNABLE)
    pages: list[Key] = []
    while page := await store.due(3, pages[-1] if pages else None):
        assert len(page) <= 3
        pages += page
        await put(store, page[-1], User("taken"))
    assert pages == keys


async def test_each_conversation_is_due_once_and_no_more_than_asked_for(store: Store) -> None:
    """What is both expired and runnable counts once; the limit bounds a pass."""
    for n in range(5):
        await put(store, Key("ada", str(n)), User("hi"), row=Row(1, "run", 500.0))
    assert len(await due(store)) == 5
    assert len(set(await due(store, 3))) == 3


# --------------------------------------------------------------------------- owners, lists, deletion


async def test_every_method_sees_one_owner(store: Store, clock: Clock) -> None:
    """Two users chose the same conversation id: nothing that one does touches or shows the other's."""
    for key in (ADA, BOB):
        row = leased(f"r-{key.owner}", 1_030.0)
        await put(store, key, User(key.owner, "m1"), Asked(interrupt(f"i-{key.owner}")), row=row)
    before = await store.load(BOB, after=0)

    await put(store, ADA, User("more", "m2"), row=leased("r-ada", 1_030.0))
    assert await store.append(ADA, 2, placed(2, User("stale")), Row()) is Appended.LOST
    assert not await store.renew(ADA, "r-bob", 99.0)
    await store.release(ADA, "r-bob")
    assert await store.find("ada", "i-bob") is None
    assert [listed.id for listed in await store.conversations("ada")] == ["c1"]
    clock.now = 1_030.0
    assert await due(store) == [ADA, BOB]
    assert await store.delete(ADA)

    assert await store.load(BOB, after=0) == replace(before, now=1_030.0)
    assert await store.find("bob", "i-bob") is not None
    assert await store.conversations("ada") == []
    assert [listed.id for listed in await store.conversations("bob")] == ["c1"]


async def test_the_list_of_conversations(store: Store, clock: Clock) -> None:
    """The latest first, with what each is at and how it began; a write moves its conversation up."""
    for n, row in enumerate((Row(phase="run"), Row(phase="waiting"), Row(phase="done"))):
        clock.now = 1_000.0 + n
        await put(store, Key("ada", row.phase), User(f"{row.phase}! " * 60), row=row)
    clock.now = 1_009.0
    await put(store, Key("ada", "waiting"), User("hi"), row=Row(phase="waiting"))
    listed = await store.conversations("ada")
    assert listed == [
        Listed("waiting", "waiting", 1_009.0, ("waiting! " * 60)[:100]),
        Listed("done", "done", 1_002.0, ("done! " * 60)[:100]),
        Listed("run", "run", 1_000.0, ("run! " * 60)[:100]),
    ]
    assert await store.conversations("ada", limit=2) == listed[:2]


async def test_a_list_takes_any_opening(store: Store) -> None:
    """A message that is no text to a database, or a conversation without any, is listed all the same."""
    await put(store, Key("ada", "odd"), User("a\0b"))
    await put(store, Key("ada", "none"), Asked(interrupt("i1")))
    assert {one.id for one in await store.conversations("ada")} == {"odd", "none"}


async def test_the_list_goes_on_where_it_ended(store: Store, clock: Clock) -> None:
    """Each conversation is listed once, equally late ones too; what moves up meanwhile is not listed again below."""
    for n in range(7):
        clock.now = 1_000.0 + n // 3
        await put(store, Key("ada", f"c{n}"), User("hi"))
    await put(store, BOB, User("hi"))
    first = await store.conversations("ada", limit=3)
    assert [one.id for one in first] == ["c6", "c5", "c4"]
    clock.now = 1_009.0
    await put(store, Key("ada", "c4"), User("again"))
    rest = await store.conversations("ada", before=(first[-1].updated_at, first[-1].id))
    assert [one.id for one in rest] == ["c3", "c2", "c1", "c0"]
    assert await store.conversations("ada", before=(rest[-1].updated_at, rest[-1].id)) == []


async def test_a_conversation_that_is_begun_anew_is_another_one(store: Store) -> None:
    """Who still means the deleted one loses, at whatever head; who means any, or the new one, does not."""
    await put(store, ADA, User("old"))
    old = (await store.load(ADA)).place
    assert old is not None
    assert await store.append(ADA, 1, placed(1, User("known")), Row(), place=old) is Appended.DONE
    await store.delete(ADA)
    assert await store.append(ADA, 0, placed(0, User("late")), Row(), place=old) is Appended.LOST
    assert not (await store.load(ADA)).exists
    await put(store, ADA, User("new"), User("new"))
    new = (await store.load(ADA)).place
    assert new not in (None, old)
    assert await store.append(ADA, 2, placed(2, User("late")), Row(), place=old) is Appended.LOST
    assert await store.append(ADA, 2, placed(2, User("known")), Row(), place=new) is Appended.DONE
    assert await store.append(ADA, 3, placed(3, User("any")), Row()) is Appended.DONE
    assert await whole(store, ADA) == [User("new"), User("new"), User("known"), User("any")]


async def test_deleting_leaves_nothing(store: Store) -> None:
    """Entries and interrupts go with the conversation; its id is as new, and so are all ids within it."""
    bodies: list[Body] = [User("hi", "m1"), Asked(interrupt("i1")), Result("k1", ""), Closed("i1", "k1", "skipped")]
    await put(store, ADA, *bodies, row=Row(2, "run", 500.0))
    assert await store.delete(ADA)
    assert not (await store.load(ADA, after=0)).exists
    assert await store.find("ada", "i1") is None
    assert await store.conversations("ada") == []
    assert await due(store) == []
    assert not await store.delete(ADA)
    assert await put(store, ADA, *bodies) == 4


# --------------------------------------------------------------------------- opening, closing, cancelling


@only_shared
async def test_what_was_stored_is_there_after_reopening(store: Store, make: Make) -> None:
    """A new process finds the log, the row, the lease and the index as they were left."""
    await put(store, ADA, User("hi", "m1"), Asked(interrupt("i1")), row=Row(2, "waiting", 7_000.0, Lease("r", 1_030.0)))
    before, found = await store.load(ADA, after=0), await store.find("ada", "i1")
    await store.close()
    again = make()
    await again.open()
    try:
        assert await again.load(ADA, after=0) == before
        assert await again.find("ada", "i1") == found
        assert await again.append(ADA, 2, placed(2, User("", "m1")), before.row) is Appended.DUPLICATE
    finally:
        await again.close()


async def test_closing_twice_and_using_it_then(make: Make) -> None:
    """Closing is idempotent, before opening too; what is closed says so in a way that a client may try again."""
    store = make()
    await store.close()
    await store.open()
    await store.close()
    await store.close()
    with pytest.raises(Busy):
        await store.load(ADA)
    with pytest.raises(Busy):
        await store.append(ADA, 0, placed(0, User("hi")), Row())


Work: TypeAlias = Callable[[], Coroutine[Any, Any, object]]
Cancel: TypeAlias = Callable[[Work, int], Awaitable[None]]


async def by_scope(work: Work, ticks: int) -> None:
    """As anyio cancels: a time limit, a client that went away."""
    with anyio.CancelScope() as scope:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(work)
            for _ in range(ticks):
                await asyncio.sleep(0)
            scope.cancel()


async def by_task(work: Work, ticks: int) -> None:
    """As asyncio cancels: `asyncio.wait_for`, a server's shutdown."""
    task = asyncio.ensure_future(work())
    for _ in range(ticks):
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task], timeout=PATIENCE)
    if not task.cancelled():
        task.result()


@pytest.mark.parametrize("cancel", [by_scope, by_task])
async def test_a_cancelled_append_is_whole_or_absent(store: Store, cancel: Cancel) -> None:
    """Wherever the caller is cut off, all of its entries are there or none, and the next append finds order."""
    for ticks in range(30):
        key = Key("ada", str(ticks))
        bodies: list[Body] = [User("1", "m"), Asked(interrupt(f"i{ticks}")), User("2")]
        await cancel(partial(store.append, key, 0, placed(0, *bodies), RUNNABLE), ticks)
        kept = await whole(store, key)
        assert kept in ([], bodies)
        assert (await store.find("ada", f"i{ticks}") is not None) == bool(kept)
        assert await put(store, key, User("next")) == len(kept) + 1


@pytest.mark.parametrize("cancel", [by_scope, by_task])
async def test_a_cancelled_read_hinders_nobody(store: Store, cancel: Cancel) -> None:
    """The answer to a question that nobody waits for any more is not taken for the next one's."""
    await put(store, ADA, User("ada"))
    await put(store, BOB, User("bob"))
    for ticks in range(12):
        await cancel(partial(store.load, ADA, after=0), ticks)
        assert await whole(store, BOB) == [User("bob")]


# --------------------------------------------------------------------------- SQLite's own


@pytest.fixture
async def watched(tmp_path: Path, clock: Clock) -> AsyncGenerator[WatchedStore, None]:
    store = WatchedStore(tmp_path / "c.db", clock=clock)
    await store.open()
    yield store
    await store.close()


STATEMENTS = [
    "BEGIN",
    "INSERT INTO conversation",
    "UPDATE conversation",
    "INSERT INTO entry",
    "INSERT INTO inter",
    "COMMIT",
]


@pytest.mark.parametrize("native", [False, True], ids=["anyio", "asyncio"])
@pytest.mark.parametrize("statement", STATEMENTS)
async def test_cut_off_at_each_statement(watched: WatchedStore, statement: str, native: bool) -> None:
    """While any one statement of an append is under way its caller is cancelled: whole or absent, and no debris."""
    loop, reached, cut = asyncio.get_running_loop(), asyncio.Event(), threading.Event()

    def hold(text: str) -> None:
        if text.lstrip().startswith(statement):
            loop.call_soon_threadsafe(reached.set)
            cut.wait(PATIENCE)

    async def append() -> None:
        with scope:
            await watched.append(ADA, 0, placed(0, *bodies), RUNNABLE)

    bodies: list[Body] = [User("1", "m"), Asked(interrupt("i1"))]
    watched.on_statement, scope = hold, anyio.CancelScope()
    task = asyncio.create_task(append())
    await asyncio.wait_for(reached.wait(), PATIENCE)
    if native:
        task.cancel()
    else:
        scope.cancel()
    for _ in range(5):
        await asyncio.sleep(0)
    watched.on_statement = lambda text: None
    cut.set()
    await asyncio.wait([task], timeout=PATIENCE)
    assert task.cancelled() or task.exception() is None
    assert await whole(watched, ADA) in ([], bodies)
    await put(watched, ADA, User("next"))


async def test_every_commit_is_synced(watched: WatchedStore) -> None:
    """A write-ahead log whose every commit reaches the disk: what was acknowledged survives a loss of power."""
    assert await watched.pragma("journal_mode") == "wal"
    assert await watched.pragma("synchronous") == 2
    await put(watched, ADA, User("hi"))
    assert [s for s in watched.statements if s in ("BEGIN IMMEDIATE", "COMMIT")] == ["BEGIN IMMEDIATE", "COMMIT"]


async def test_an_append_is_one_insert_of_all_its_entries(watched: WatchedStore) -> None:
    """However many entries an append has, they go in by one statement."""
    await put(watched, ADA, *(User(str(n)) for n in range(50)))
    assert sum(s.startswith("INSERT INTO entry") for s in watched.statements) == 1


@pytest.mark.parametrize("changed", ["body = json_set(body, '$.v', 2)", "kind = 'dreamt'"])
async def test_an_entry_of_a_newer_release_is_refused(watched: WatchedStore, tmp_path: Path, changed: str) -> None:
    """A version, or a kind, that this release does not know could hold an answer: it is not guessed at."""
    for key in (ADA, BOB):
        await put(watched, key, User("hi"), Asked(interrupt(f"i-{key.owner}")), User("then"))
    with sqlite3.connect(tmp_path / "c.db") as db:
        db.execute(f"UPDATE entry SET {changed} WHERE conversation = 1 AND seq = 2")
    db.close()
    for attempt in (lambda: watched.load(ADA, after=0), lambda: watched.find("ada", "i-ada")):
        with pytest.raises(NewerLog):
            await attempt()
    assert len(await whole(watched, BOB)) == 3
    assert kinds((await watched.load(ADA, after=2)).entries) == ["user"]


async def test_opened_by_many_at_once_the_schema_is_made_once(tmp_path: Path) -> None:
    """Workers that start together on a new file find it ready, whoever was first."""
    for attempt in range(5):
        stores = [SQLiteStore(str(tmp_path / f"{attempt}.db")) for _ in range(6)]
        try:
            async with anyio.create_task_group() as tasks:
                for store in stores:
                    tasks.start_soon(store.open)
            for n, store in enumerate(stores):
                assert await put(store, ADA, User(str(n))) == n + 1
        finally:
            for store in stores:
                await store.close()


OPEN = """
import asyncio, sys
from yourcall.store.sqlite import SQLiteStore
async def main():
    store = SQLiteStore(sys.argv[1])
    print("ready", flush=True)
    sys.stdin.readline()
    await store.open()
    await store.close()
asyncio.run(main())
"""


def test_opened_by_two_processes_at_once(tmp_path: Path) -> None:
    """Two processes are let go at the same moment on a file that does not exist: both open it."""
    path = os.pathsep.join(sys.path)
    command, env = [sys.executable, "-c", OPEN, str(tmp_path / "c.db")], {**os.environ, "PYTHONPATH": path}
    processes = [
        subprocess.Popen(
            command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    try:
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        outcomes = []
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
        for process in processes:
            _, err = process.communicate(timeout=PATIENCE)
            outcomes.append((process.returncode, err))
        assert outcomes == [(0, ""), (0, "")]
    finally:
        for process in processes:
            process.kill()
            process.communicate()


async def test_a_file_of_a_newer_release_is_refused(tmp_path: Path) -> None:
    """Its tables may mean something else: it is neither opened nor changed, and who made it can open it again."""
    path = tmp_path / "c.db"
    store = SQLiteStore(str(path))
    await store.open()
    await put(store, ADA, User("hi"))
    await store.close()
    known = _set_version(path, 99)
    with pytest.raises(NewerLog, match="newer release"):
        await store.open()
    assert _set_version(path, known) == 99
    await store.open()
    assert await whole(store, ADA) == [User("hi")]
    await store.close()


def _set_version(path: Path, version: int) -> int:
    """Set the version of the file's schema; what it was before."""
    with sqlite3.connect(path) as db:
        before: int = db.execute("PRAGMA user_version").fetchone()[0]
        db.execute(f"PRAGMA user_version = {version}")
    db.close()
    return before


async def test_an_upgrade_that_failed_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    """A file that is no database is refused, untouched, and nothing stays open."""
    path = tmp_path / "c.db"
    path.write_bytes(b"not a database, but longer than a header is " * 40)
    before = path.read_bytes()
    with pytest.raises(sqlite3.DatabaseError):
        await SQLiteStore(str(path)).open()
    assert path.read_bytes() == before


async def test_questions_of_an_older_file_are_in_the_inbox(tmp_path: Path) -> None:
    """An upgrade fills in whose the open questions are, and since when they are."""
    path, schema = tmp_path / "c.db", files("yourcall.store").joinpath("schema", "001.sql").read_text()
    body = dump(placed(0, Asked(interrupt("i1")))[0])
    with closing(sqlite3.connect(path)) as old:
        old.executescript(schema)
        old.execute("INSERT INTO conversation (owner, id, head, updated_at) VALUES ('ada', 'c1', 1, 0)")
        old.execute("INSERT INTO entry VALUES (1, 1, 7.0, 'asked', 'i1', ?)", (body,))
        old.execute("INSERT INTO interrupt VALUES ('i1', 1, 1, NULL)")
        old.execute("PRAGMA user_version = 1")
        old.commit()
    store = SQLiteStore(str(path))
    await store.open()
    (only,) = await store.inbox("ada")
    assert (only.asked_at, only.interrupt) == (7.0, interrupt("i1"))
    await store.close()


@pytest.fixture
def locker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[sqlite3.Connection, None, None]:
    """Another process's connection to the file; a store loses its patience with it soon."""
    monkeypatch.setattr("yourcall.store.sqlite_file.BUSY_MS", 50)
    other = sqlite3.connect(tmp_path / "c.db", isolation_level=None)
    yield other
    other.close()


async def test_a_file_that_stays_locked_is_busy(tmp_path: Path, locker: sqlite3.Connection) -> None:
    """Another process that holds the file for too long makes a write fail as one to try again, not hang."""
    store = SQLiteStore(str(tmp_path / "c.db"))
    await store.open()
    locker.execute("BEGIN IMMEDIATE")
    with anyio.fail_after(PATIENCE), pytest.raises(Busy):
        await store.append(ADA, 0, placed(0, User("hi")), Row())
    assert await whole(store, ADA) == []
    locker.execute("ROLLBACK")
    await put(store, ADA, User("hi"))
    await store.close()


async def test_a_new_file_that_stays_locked_is_busy(tmp_path: Path, locker: sqlite3.Connection) -> None:
    """So it is on opening; once the other is done, the same store opens."""
    store = SQLiteStore(str(tmp_path / "c.db"))
    locker.execute("BEGIN EXCLUSIVE")
    with anyio.fail_after(PATIENCE), pytest.raises(Busy):
        await store.open()
    locker.execute("ROLLBACK")
    await store.open()
    await put(store, ADA, User("hi"))
    await store.close()


async def test_a_file_that_cannot_be_opened_is_no_busy_one(tmp_path: Path) -> None:
    """A wrong path is told at once and as what it is: no waiting helps, and no thread is left."""
    with pytest.raises(sqlite3.OperationalError, match="unable to open"):
        await SQLiteStore(str(tmp_path / "nowhere" / "c.db")).open()
    await until(lambda: not [t for t in threading.enumerate() if "_connection_worker" in t.name])
