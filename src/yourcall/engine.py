"""An agent with a store: conversations, answers, and the runs that carry them on.

Whoever writes something runnable tries to take the lease in the same append, and starts the run if it got it; a
sweep finds what nobody runs. A run belongs to no request: closing a stream ends nothing. Waiting costs nothing
here, since nothing of a waiting conversation is in memory.
"""

from __future__ import annotations

import logging
import math
import random
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from functools import cached_property
from types import TracebackType
from typing import Any, Final, Generic, Self

import anyio
import anyio.abc
from typing_extensions import TypeVar

from yourcall import decisions, errors
from yourcall.addressed import Addressees, MayAnswer
from yourcall.agent import Agent
from yourcall.answering import Answering
from yourcall.answers import FormAnswer
from yourcall.connect import OAuthProvider, require_secure
from yourcall.credentials import Credentials
from yourcall.entries import Answered, Closed, Entry, File, Interrupt, Json, User
from yourcall.events import Event
from yourcall.files import Files, keeping
from yourcall.follow import follow
from yourcall.log import Log, Phase, phase
from yourcall.needs import NO_BLOBS, require
from yourcall.ports import Accounts, Blobs, Bus, Draft, Found, Key, KeyProvider, Listed, Open, Row, Slot, Store
from yourcall.record import Decide, DuplicateMessage, Record, Written
from yourcall.runs import MAX_RUNS, Runs
from yourcall.secret_answer import SecretAnswer, trying
from yourcall.tasks import Tally, to_the_end

log = logging.getLogger("yourcall")

D = TypeVar("D", default=Any)

GRACE_SECONDS: Final = 15.0
"""With what a server needs beside it, well within the half minute that service managers give."""
SWEEP_BATCH: Final = 100


class Engine(Generic[D]):
    """Runs one agent's conversations on one store. Use it as `async with engine:`, or as an app's `lifespan`.

    `store` is a `Store`, or a name such as `"sqlite:///coach.db"`. `deps` is what tools find as `ctx.deps`: a
    value, or a function of `(user, conversation_id)`, sync or async. `bus` carries live events between processes:
    a `Bus`, or a name such as `"redis://localhost"`; none is needed for one process. `keys` are for the `vault`: by
    default those of `YOURCALL_KEYS` (as `yourcall keys new` prints one) or `YOURCALL_KEY_FILE`. `may_answer` says of a
    user which values of `Ask.to` mean them, such as `["role:refunds"]`; without it, `Ask.to` is a user's id.
    `blobs` keeps the bytes of users' files: a `Blobs`, or a folder; by default that is beside the store's own file.
    `public_url` is where the app is reached from outside, such as `"https://coach.example"`: what leads back to it is
    made of this, and never of what a request says. `sweep_every` is in seconds, at most. More than `max_runs` runs at
    once are refused (`Busy`): what they would go on with stays as it is.
    """

    def __init__(  # noqa: PLR0913  # all but two of them by name
        self,
        agent: Agent[D],
        store: Store | str,
        *,
        deps: D | Callable[[str, str], D | Awaitable[D]] = None,  # type: ignore[assignment]  # for agents without
        bus: Bus | str | None = None,
        may_answer: MayAnswer | None = None,
        keys: KeyProvider | None = None,
        public_url: str = "",
        blobs: Blobs | str | None = None,
        sweep_every: float = 5.0,
        max_runs: int = MAX_RUNS,
    ) -> None:
        from yourcall.open import open_bus, open_files, open_store, open_vault

        store = open_store(store) if isinstance(store, str) else store
        bus = open_bus(bus) if bus is None or isinstance(bus, str) else bus
        self.agent = agent
        self.store = store
        self.vault = open_vault(store, keys)
        if public_url:
            require_secure(public_url, "Engine(public_url=)")
        self.public_url = public_url.rstrip("/")
        self.draining = False
        self._drained_by = math.inf
        self._bus = bus
        self._addressees = Addressees(store, may_answer)
        self._files = open_files(store, blobs)
        self._runs = Runs(
            agent,
            store,
            self.vault,
            bus,
            deps,
            self._carry_on,
            self._files,
            lambda: self.accounts,
            require=lambda ask: require(self.vault, self._files, self.public_url, ask),
            most=max_runs,
        )
        self._sweep_every = sweep_every
        self.answering = Answering(agent, self._addressees, self._runs, self)
        self._writes = Tally()
        self._unborn: dict[Key, str] = {}
        self._tasks: anyio.abc.TaskGroup | None = None
        self._stack = AsyncExitStack()

    @cached_property
    def accounts(self) -> Accounts:
        """The users' accounts at providers. Made when it is first needed: what it is made of is an extra."""
        from yourcall.open import open_accounts

        return open_accounts(self.vault)

    # ----------------------------------------------------------------- life

    async def __aenter__(self) -> Self:
        if self._tasks is not None:
            raise errors.ProgrammingError("This engine is open already; open it once, where the app starts.")
        async with AsyncExitStack() as stack:
            await self.store.open()
            stack.push_async_callback(self.store.close)
            await self.vault.start()
            await stack.enter_async_context(self._bus.opened())
            if self._files:
                await self._files.blobs.open()
                stack.push_async_callback(self._files.blobs.close)
            self._tasks = await stack.enter_async_context(anyio.create_task_group())
            self.draining, self._drained_by = False, math.inf
            try:
                await self.sweep()
            except BaseException:
                self._tasks = None  # it did not open, and may be opened again
                raise
            self._tasks.start_soon(self._sweep_forever)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self.drain(GRACE_SECONDS if error is None else 0)
        finally:  # also if we are cancelled ourselves
            with anyio.CancelScope(shield=True):
                await self._writes.none()
            if self._tasks:
                self._tasks.cancel_scope.cancel()
            await self._stack.aclose()
            self._tasks = None

    @asynccontextmanager
    async def lifespan(self, app: object = None) -> AsyncIterator[None]:
        """For `FastAPI(lifespan=engine.lifespan)`."""
        async with self:
            yield

    async def drain(self, grace: float = GRACE_SECONDS) -> None:
        """Take no new work from now on, and give the running runs `grace` seconds to end, counted from the first call.

        What is not over by then is cut off when the engine closes; the next process that opens the store carries it on.
        An effect of `ctx.once` in flight is waited for all the same: nobody could say whether it happened.
        """
        self.draining = True
        self._drained_by = min(self._drained_by, anyio.current_time() + grace)
        with anyio.CancelScope(deadline=self._drained_by):
            await self._runs.going_on.none()

    @property
    def takes_files(self) -> bool:
        """Whether files have a place: beside a store in a file, or where `blobs=` says."""
        return self._files is not None

    @property
    def files(self) -> Files:
        """The files of this engine's users."""
        if self._files is None:
            raise errors.ProgrammingError(NO_BLOBS)
        return self._files

    async def named(self, user: str, ids: Sequence[str]) -> tuple[File, ...]:
        """The files that the user sent ahead, by their ids. Raises `Rejected` for others."""
        return await self.files.named(user, ids) if ids else ()

    # ----------------------------------------------------------------- conversations and answers

    def conversation(self, id: str, *, user: str) -> Conversation[D]:
        """The user's conversation of this id; it need not exist yet."""
        return Conversation(self, Key(user, id))

    async def conversations(self, *, user: str) -> Sequence[Listed]:
        """The user's conversations, the latest first."""
        return await self.store.conversations(user)

    async def find(self, interrupt_id: str, *, user: str) -> Found:
        """A question of the user's, or one put to them, open or closed. Raises `NotFound`, also for foreign ids."""
        return await self._addressees.find(user, interrupt_id)

    async def inbox(self, *, user: str, limit: int = 100, before: tuple[float, str] | None = None) -> Sequence[Open]:
        """The open questions that the user may answer, in all conversations and of others, the latest first.

        `before` is the `asked_at` and the id of the last one that was listed already.
        """
        return await self._addressees.inbox(user, limit, before)

    async def answer(
        self, interrupt_id: str, payload: Json, *, user: str, digest: str | None = None
    ) -> Answered | Closed:
        """Validate an answer with the live ask, record it, and let the run go on; returns the recorded ending.

        That is `Closed` where the answer said no. The identical answer again returns what is recorded. `digest` is of
        the question that the client saw.
        Raises `Rejected` or `CheckFailed` (the question stays open), `AlreadyAnswered`, `Closed`, `Changed`,
        `NotFound`, `NotAsked`, `Busy`.
        """
        given = FormAnswer(payload, user, self.named)
        return await self.answering.take(interrupt_id, given, user=user, digest=digest)

    async def answer_secret(
        self, interrupt_id: str, value: str, *, user: str, digest: str | None = None
    ) -> Answered | Closed:
        """As `answer`, for a `Secret`: the value goes into the vault, and the log gets a reference to it.

        Raises `TooManyAttempts` after five values in ten minutes that were refused, and `WrongChannel` for a question
        of another kind.
        """
        found = await self.find(interrupt_id, user=user)
        if found.interrupt.channel != "secret":
            raise errors.WrongChannel(found.interrupt.channel)
        given = SecretAnswer(interrupt_id, value, Credentials(self.vault, found.key.owner, found.key.id))
        async with trying(self.store.attempts, interrupt_id):
            return await self.answering.take(interrupt_id, given, user=user, digest=digest)

    async def skip(self, interrupt_id: str, *, user: str, note: str | None = None) -> Closed:
        """Close a question without an answer; its tool gets `Skipped`. Skipping it again is harmless."""
        return await self.answering.close(interrupt_id, "skipped", user=user, note=note)

    async def decline(self, interrupt_id: str, *, user: str, note: str | None = None) -> Closed:
        """Say no to a question; its tool gets `Declined`. Declining it again is harmless."""
        return await self.answering.close(interrupt_id, "declined", user=user, note=note)

    # ----------------------------------------------------------------- credentials

    async def credentials(self, *, user: str) -> Sequence[Slot]:
        """What the user has given to be kept: names, never values; `conversation` is `"*"` for all of them."""
        return await self.vault.names(user)

    async def forget(self, name: str, *, user: str) -> None:
        """Remove what the user gave under this name, in all conversations; tools that need it are hidden from the next
        step on. A provider whose tool is offered by `when=` is told. Raises `NotFound` if there is nothing."""
        accounts = (tool.when for tool in self.agent.tools if isinstance(tool.when, OAuthProvider))
        provider = next((one for one in accounts if one.name == name), None)
        if provider is not None:
            if not await self.accounts.forget(user, provider):
                raise errors.NotFound("credential")
            return
        slots = [slot for slot in await self.vault.names(user) if slot.name == name]
        if not any([await self.vault.forget(slot) for slot in slots]):
            raise errors.NotFound("credential")

    # ----------------------------------------------------------------- reading and writing

    def follow(self, key: Key, after: int | Callable[[], Awaitable[int]] | None) -> AsyncGenerator[Event, None]:
        """What `follow.follow` gives of this conversation."""
        return follow(self.store, self._bus, key, after, lambda: self._runs.so_far(key))

    async def create(self, key: Key) -> None:
        """Make a conversation exist before anything is said in it."""
        await self.store.append(key, 0, [], Row())

    def record(self, key: Key) -> Record:
        """The conversation's log, to be read and written."""
        return Record(self.store, key, self._publish)

    async def write(
        self, record: Record, decide: Decide, *, resume: bool = False, keep: Sequence[Draft] = ()
    ) -> Written:
        """Write for the user's side or the sweep, and start the run that this makes possible.

        Raises `Busy` while draining, and if no more runs can go on: nothing is taken that could not be carried on.
        Once begun it is carried to its end, whatever becomes of who asked for it: a lease that was taken is followed by
        its run.
        """
        if self._tasks is None:
            raise errors.ProgrammingError("Open the engine first: `async with engine:`, or `lifespan=engine.lifespan`.")
        if self.draining:
            raise errors.Busy
        try:
            with self._writes.one():
                return await to_the_end(lambda: self._write(record, decide, resume, keep))
        except errors.Stale:
            raise errors.NotFound("conversation") from None

    async def _write(self, record: Record, decide: Decide, resume: bool, keep: Sequence[Draft]) -> Written:
        runner = ""

        def start() -> str:
            nonlocal runner
            runner = take()
            return runner

        with self._runs.place() as take:
            try:
                written = await record.write(decide, take=start, resume=resume, keep=keep)
            except errors.Busy:
                if runner:  # nobody can say whether it was written: if it was, this run holds the lease, and is none
                    self._unborn[record.key] = runner
                raise
            if written.runner and self._tasks:
                self._runs.start(self._tasks, record, written.runner)
        return written

    async def expire(self, key: Key) -> None:
        """Close what is past its time; decided at the append, by the store's clock."""
        await self.write(self.record(key), decisions.expire)

    def _publish(self, key: Key, events: Sequence[Event]) -> None:
        self._bus.publish(key, events)
        self._runs.tell(key)

    async def delete(self, key: Key) -> bool:
        """Remove a conversation; a run of it in this process stops at once, one elsewhere at its next look."""
        deleted = await self.store.delete(key)
        self._runs.tell(key)
        if self._files:
            await self._files.sweep()
        return deleted

    async def _carry_on(self, key: Key) -> None:
        if self._has_room():
            await self.expire(key)

    def _has_room(self) -> bool:
        """Whether a run more may be started here without anybody having asked for it."""
        return not self.draining and not self._runs.full()

    # ----------------------------------------------------------------- the sweep

    async def sweep(self) -> None:
        """One pass: close what has expired, run what is runnable and held by nobody, remove what nothing names.

        With no room for more runs, while draining, or where the store is busy, the rest is left to other processes, or
        to the next pass.
        """
        while self._unborn:
            key, runner = self._unborn.popitem()
            try:
                await self.store.release(key, runner)
            except errors.Busy:
                self._unborn.setdefault(key, runner)
                raise
        last: Key | None = None
        while self._has_room() and (due := await self.store.due(SWEEP_BATCH, last)):
            last = due[-1]
            for key in random.sample(due, len(due)):  # others sweep, too, and each is to do a part of it
                if not self._has_room():
                    break
                try:
                    await self.expire(key)
                except errors.Busy as busy:  # it has enough to do
                    log.warning("The sweep goes on later: %s", busy)
                    return
                except Exception:  # one that cannot be read keeps neither the engine nor the others from going on
                    log.exception("The conversation %r of %r was not swept", key.id, key.owner)
        await self.vault.sweep()
        if self._files:
            await self._files.sweep()

    async def _sweep_forever(self) -> None:
        while True:
            await anyio.sleep(self._sweep_every * random.uniform(0.5, 1.0))  # who began together parts
            try:
                await self.sweep()
            except errors.Busy as busy:
                log.warning("The sweep goes on later: %s", busy)
            except Exception:
                log.exception("The sweep failed; it goes on")


class Conversation(Generic[D]):
    """One user's conversation. It holds nothing: every method reads or writes the log."""

    def __init__(self, engine: Engine[D], key: Key) -> None:
        self.key = key
        self._engine = engine

    async def say(self, text: str, *, id: str | None = None, files: Sequence[str] = ()) -> AsyncGenerator[Event, None]:
        """Write a message, then follow the run to its end. Leaving the loop does not stop the run."""

        async def written() -> int:
            return (await self._post(text, id, files))[0].seq - 1

        async with aclosing(self._engine.follow(self.key, written)) as events:
            async for event in events:
                yield event

    async def post(self, text: str, *, id: str | None = None, files: Sequence[str] = ()) -> int:
        """Write a message and let it be answered; returns its `seq`. Sending it again under its `id` is harmless.

        `files` are ids of files that this user sent ahead (`engine.files.receive`). Raises `Rejected` for others, and
        `Waiting` where the agent rejects messages while a question is open, and `Busy`.
        """
        return next(entry.seq for entry in await self._post(text, id, files) if isinstance(entry.body, User))

    async def _post(self, text: str, id: str | None, files: Sequence[str]) -> Sequence[Entry]:
        record = self._engine.record(self.key)
        policy = self._engine.agent.on_message
        decisions.require_storable(text, "/text")
        named = await self._engine.named(self.key.owner, files)
        drafts = [Draft("file", file.id) for file in named]
        try:
            with keeping(named):
                written = await self._engine.write(
                    record, lambda log, now: decisions.say(log, text, id, policy, named), keep=drafts
                )
        except (DuplicateMessage, errors.Waiting):
            entries = (await self.log()).entries
            sent = [entry for entry in entries if isinstance(entry.body, User) and id and entry.body.id == id]
            if not sent:
                raise
            return sent
        return written.entries

    async def answer(self, interrupt_id: str, payload: Json, *, digest: str | None = None) -> Answered | Closed:
        """As `Engine.answer`, for this conversation's user."""
        return await self._engine.answer(interrupt_id, payload, user=self.key.owner, digest=digest)

    async def answer_secret(self, interrupt_id: str, value: str, *, digest: str | None = None) -> Answered | Closed:
        """As `Engine.answer_secret`, for this conversation's user."""
        return await self._engine.answer_secret(interrupt_id, value, user=self.key.owner, digest=digest)

    async def skip(self, interrupt_id: str, note: str | None = None) -> Closed:
        """As `Engine.skip`, for this conversation's user."""
        return await self._engine.skip(interrupt_id, user=self.key.owner, note=note)

    async def decline(self, interrupt_id: str, note: str | None = None) -> Closed:
        """As `Engine.decline`, for this conversation's user."""
        return await self._engine.decline(interrupt_id, user=self.key.owner, note=note)

    async def interrupts(self) -> tuple[Interrupt, ...]:
        """The open questions, in the order of their calls."""
        record = self._engine.record(self.key)
        await record.refresh()
        return record.log.interrupts

    async def cancel(self) -> None:
        """Stop the run: open questions and unfinished calls are closed. Harmless if nothing runs or waits."""
        await self._engine.write(self._engine.record(self.key), lambda log, now: decisions.cancel(log))

    async def resume(self) -> None:
        """Go on after a stop, or after a crash. Harmless if there is nothing to go on with."""
        await self._engine.write(self._engine.record(self.key), lambda log, now: [], resume=True)

    async def log(self) -> Log:
        """The whole log; an empty one if there is no such conversation."""
        return Log((await self._engine.store.load(self.key, after=0)).entries)

    async def snapshot(self) -> tuple[Log, Phase]:
        """The whole log, and what it is waiting for. Raises `NotFound` if there is no such conversation."""
        snapshot = await self._engine.store.load(self.key, after=0)
        if not snapshot.exists:
            raise errors.NotFound("conversation")
        return Log(snapshot.entries), phase(Log(snapshot.entries))

    async def create(self) -> None:
        """Make the conversation exist before anything is said in it; harmless if it does."""
        await self._engine.create(self.key)

    def events(self, after: int | None = None) -> AsyncGenerator[Event, None]:
        """Entries newer than `after` (0: all; None: from now on) and live events, until nothing runs.

        Each entry comes once, in order. An `Ended` is the last event.
        """
        return self._engine.follow(self.key, after)

    async def delete(self) -> bool:
        """Remove the conversation with all that belongs to it; False if there was none."""
        return await self._engine.delete(self.key)
