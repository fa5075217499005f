"""The runs that go on in this process: each has a lease to renew, and is told of what others write to its log."""

from __future__ import annotations

import functools
import inspect
import logging
import secrets
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, Generic

import anyio
from anyio.abc import TaskGroup
from typing_extensions import TypeVar

from yourcall import errors
from yourcall.agent import Agent
from yourcall.asks import Ask
from yourcall.context import Context
from yourcall.credentials import Credentials
from yourcall.entries import Effect, Stopped
from yourcall.events import Delta, Event
from yourcall.log import CallLog
from yourcall.loop import Contexts, Run
from yourcall.ports import Accounts, Bus, Key, Reads, Shelf, Store, Vault, nothing_kept
from yourcall.record import LEASE_SECONDS, Record
from yourcall.tasks import Tally, leaves, not_to_keep

MAX_RUNS: Final = 1_000
"""Runs that go on in one process at once, by default."""

log = logging.getLogger("yourcall")

D = TypeVar("D", default=Any)


class Runs(Generic[D]):
    """Starts runs and sees them to their end, at most so many at once. `carry_on` is told of a conversation whose run
    was cut off."""

    def __init__(  # noqa: PLR0913  # the engine's own parts
        self,
        agent: Agent[D],
        store: Store,
        vault: Vault,
        bus: Bus,
        deps: Any,
        carry_on: Callable[[Key], Awaitable[None]],
        files: Shelf | None = None,
        accounts: Callable[[], Accounts] | None = None,
        *,
        require: Callable[[Ask[Any]], None] | None = None,
        most: int = MAX_RUNS,
    ) -> None:
        self._agent, self._store, self._vault, self._bus = agent, store, vault, bus
        self._deps, self._carry_on, self._files = deps, carry_on, files
        self._accounts, self._most, self._require = accounts, most, require
        self._told_of: defaultdict[Key, set[Run[D]]] = defaultdict(set)
        self.going_on = Tally()

    def full(self) -> bool:
        """Whether no more runs are started for now."""
        return self.going_on.count >= self._most

    @contextmanager
    def place(self) -> Iterator[Callable[[], str]]:
        """Gives a function that takes the place of a run, which is kept within the block, and returns the run's id.

        It raises `Busy` if there is no place left.
        """
        taken: list[str] = []

        def take() -> str:
            if not taken:
                if self.full():
                    raise errors.Busy("The server is busy. Try again in a moment.")
                self.going_on.enter()
                taken.append(secrets.token_hex(8))
            return taken[0]

        try:
            yield take
        finally:
            if taken:
                self.going_on.leave()

    def start(self, tasks: TaskGroup, record: Record, runner: str) -> None:
        """Start the run of a lease just taken; it is counted from here on."""
        self.going_on.enter()
        tasks.start_soon(self._run, record, runner)

    def tell(self, key: Key) -> None:
        """Somebody in this process wrote to the log: its run, if there is one, looks at it at once."""
        for run in self._told_of.get(key, ()):
            run.notify()

    def so_far(self, key: Key) -> Delta | None:
        """What is written of the conversation's step under way, if that is in this process."""
        return next((run.so_far for run in self._told_of.get(key, ()) if run.so_far), None)

    async def _run(self, record: Record, runner: str) -> None:
        unfinished = True
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._renew, record.key, runner)
                contexts, emit = await self.contexts(record.key), self._emitter(record.key)
                run = Run(self._agent, record, runner, contexts, emit, self._reads(record.key.owner))
                with self._told(run):
                    await run.go()
                tasks.cancel_scope.cancel()
            unfinished = False
        except BaseException as error:
            causes = list(leaves(error))
            if all(isinstance(cause, errors.Stale | errors.Busy) for cause in causes):
                unfinished = not any(isinstance(cause, errors.Stale) for cause in causes)
                if unfinished:  # nothing is wrong with the conversation, nor with an engine that closes meanwhile
                    log.warning("The store was away for longer than a run waits for it; the run is carried on later")
            elif not_to_keep(error):
                raise
            else:  # whatever it was, it ends this run only
                log.error("A run failed", exc_info=error)
                await self._fail(record, runner)
        finally:
            with anyio.CancelScope(shield=True):
                if unfinished:
                    await self._let_go(record.key, runner)
            self.going_on.leave()

    def _emitter(self, key: Key) -> Callable[[Event], None]:
        return lambda event: self._bus.publish(key, [event])

    def _reads(self, owner: str) -> Reads:
        """How a model reads the files of this user's messages."""
        return functools.partial(self._files.read, owner) if self._files else nothing_kept

    @contextmanager
    def _told(self, run: Run[D]) -> Iterator[None]:
        """While it goes on, the run is told of what others in this process write to its log."""
        key = run.record.key
        self._told_of[key].add(run)
        run.notify()
        try:
            yield
        finally:
            self._told_of[key].discard(run)
            if not self._told_of[key]:
                del self._told_of[key]

    async def _renew(self, key: Key, runner: str) -> None:
        while True:
            await anyio.sleep(LEASE_SECONDS / 3)
            try:
                held = await self._store.renew(key, runner, LEASE_SECONDS)
            except errors.Busy:
                log.warning("A lease could not be renewed; it is tried again before it is over")
                continue
            if not held:
                raise errors.Stale

    async def _fail(self, record: Record, runner: str) -> None:
        """A bug of ours: say so in the log, if it can be said."""
        stopped = Stopped("internal", True, "Something went wrong on the server. Try again.")
        try:
            await record.write(lambda log, now: [stopped], runner=runner)
        except (Exception, errors.Stale):
            log.exception("The failed run could not be recorded; it is carried on")

    async def _let_go(self, key: Key, runner: str) -> None:
        """A run that was cut off gives its lease back, and another may carry on."""
        try:
            await self._store.release(key, runner)
            await self._carry_on(key)
        except errors.Busy as busy:
            log.warning("The lease could not be given back; it ends by itself: %s", busy)
        except Exception:
            log.exception("The lease could not be given back; it ends by itself")

    async def contexts(self, key: Key) -> Contexts[D]:
        """Makes the contexts that this conversation's tools are given."""
        deps: Any = self._deps
        if inspect.isroutine(deps) or isinstance(deps, functools.partial):
            deps = deps(key.owner, key.id)
            deps = await deps if inspect.isawaitable(deps) else deps

        credentials = Credentials(self._vault, key.owner, key.id)

        def context(past: CallLog | None, record: Callable[[Effect], Awaitable[None]] | None) -> Context[D]:
            return Context(
                user=key.owner,
                deps=deps,
                conversation_id=key.id,
                call_id=past.call.id if past else "",
                on_skip=self._agent.on_skip,
                past=past,
                record=record,
                files=self._files,
                credentials=credentials,
                accounts=self._accounts,
                require=self._require,
            )

        return context
