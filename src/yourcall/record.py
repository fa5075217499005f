"""One object owns a conversation's log in memory, and the one way to write it.

`write(decide)` reads what is new, decides, appends by compare-and-swap at the head, and after a lost
swap decides again. A write that leaves nothing to run frees the lease; one that leaves something to
run takes it, if it is free, with the run's first entries in the same append.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import anyio

from yourcall import errors
from yourcall.entries import Body, Entry, Run
from yourcall.events import Ended, Event
from yourcall.log import Done, Log, Phase, Waiting, admit, holds_until, openings, phase, runnable
from yourcall.ports import Appended, Draft, Key, Lease, Row, Snapshot, Store

Decide: TypeAlias = Callable[[Log, float], Iterable[Body]]
"""What to append to this log at this moment of the store's clock. Pure; raises `Refused` to write nothing."""

LEASE_SECONDS: Final = 30.0


class DuplicateMessage(Exception):
    """The client's message id is in the log already."""


@dataclass(frozen=True, slots=True)
class Written:
    """What a write appended. `runner` is set if it took the lease: whoever wrote it must start that run."""

    entries: tuple[Entry, ...] = ()
    runner: str | None = None


class Record:
    """A conversation's log as this process knows it: its tail at first, the whole after `complete()`."""

    def __init__(self, store: Store, key: Key, publish: Callable[[Key, Sequence[Event]], None]) -> None:
        self.key = key
        self.log = Log()
        self.row = Row()
        self.now = 0.0
        self._place: int | None = None
        self._loaded = False
        self._store, self._publish = store, publish
        self._lock = anyio.Lock()

    async def complete(self) -> None:
        """Read what is before the tail, if it is not there yet."""
        async with self._lock:
            if not self.log.complete:
                self._read(await self._store.load(self.key, after=0), Log())

    async def refresh(self) -> None:
        """Read the tail, or what others have written since. Raises `Stale` if the conversation was deleted."""
        async with self._lock:
            await self._refresh()

    async def write(
        self,
        decide: Decide,
        *,
        runner: str | None = None,
        take: Callable[[], str] | None = None,
        resume: bool = False,
        keep: Sequence[Draft] = (),
    ) -> Written:
        """Append what `decide` says, on behalf of a run (`runner`) or of the user's side and the sweep (None).

        `take` gives the id under which a run may be started, if there is work and the lease is free, or raises what
        speaks against one; with `resume` a stopped conversation has work. `keep` are the drafts that what is appended
        names. Raises what `decide` raises, `Refused` or `Stale` where the log does not admit it, `DuplicateMessage`.
        """
        async with self._lock:
            await self._refresh()
            attempt = 0
            while True:
                bodies = list(decide(self.log, self.now))
                after = self._admitted(bodies, runner)
                lease = self._lease(after, take, resume)
                started = lease.runner if lease and lease is not self.row.lease else None
                if started:
                    after = after.plus([Run(started)], self.now)
                    after = after.plus(openings(after, started), self.now)
                    if not runnable(after):  # what was left to run must not be: the lease is taken, and over at once
                        lease, started = Lease(started, 0.0), None
                if after.head == self.log.head:
                    return Written()
                new, row = after.after(self.log.head), _row(after, lease)
                until = holds_until(self.log, bodies, self.now, attempt)
                appended = await self._store.append(
                    self.key, self.log.head, new, row, place=self._place, until=until, keep=keep
                )
                match appended:
                    case Appended.DONE:
                        self._advance(after, row, new)
                        return Written(new, started)
                    case Appended.DUPLICATE:
                        raise DuplicateMessage
                    case Appended.LOST:
                        attempt += 1
                        await self._refresh()

    def _admitted(self, bodies: Sequence[Body], runner: str | None) -> Log:
        after = self.log
        for body in bodies:
            if refusal := admit(after, body, self.now, runner):
                raise refusal
            after = after.plus([body], self.now)
        return after

    def _lease(self, after: Log, take: Callable[[], str] | None, resume: bool) -> Lease | None:
        """Who holds the lease after this write: nobody if there is nothing to run."""
        if not (runnable(after) or (resume and after.stopped)):
            return None
        held = self.row.lease
        if take is None or (held is not None and held.until > self.now):
            return held
        return Lease(take(), self.now + LEASE_SECONDS)

    def _advance(self, after: Log, row: Row, new: tuple[Entry, ...]) -> None:
        self.log, self.row = after, row
        now = phase(after)
        ended = [Ended(now, after.head)] if isinstance(now, Waiting | Done) else []
        self._publish(self.key, [*new, *ended])

    async def _refresh(self) -> None:
        self._read(await self._store.load(self.key, after=self.log.head if self._loaded else None), self.log)

    def _read(self, snapshot: Snapshot, known: Log) -> None:
        if snapshot.head < self.log.head or self._place not in (None, snapshot.place):
            raise errors.Stale
        self._place, self._loaded = snapshot.place, True
        self.log = Log(known.entries + snapshot.entries) if snapshot.entries else known
        self.row, self.now = snapshot.row, snapshot.now


def _row(log: Log, lease: Lease | None) -> Row:
    expiries = [interrupt.expires_at for interrupt in log.interrupts if interrupt.expires_at is not None]
    return Row(log.seen + 1, row_phase(phase(log)), min(expiries, default=None), lease)


def row_phase(now: Phase) -> Literal["run", "waiting", "done"]:
    """A phase in one word, as the conversation's row has it."""
    match now:
        case Waiting():
            return "waiting"
        case Done():
            return "done"
        case _:
            return "run"
