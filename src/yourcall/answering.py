"""How an answer gets from whoever gives it into the log.

The question is found, the call that asks it is executed up to it, the live ask reads, parses and checks what came,
and one append records it. Whatever is refused on the way leaves the question open.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, Generic, Protocol

import anyio
from typing_extensions import TypeVar

from yourcall import decisions, errors
from yourcall.addressed import Addressees, by
from yourcall.agent import Agent
from yourcall.answers import Given
from yourcall.asks import Ask
from yourcall.entries import Answered, Closed, Ending, Interrupt
from yourcall.files import keeping
from yourcall.log import refusal
from yourcall.loop import ask
from yourcall.ports import Draft, Found, Key
from yourcall.record import Decide, Record, Written
from yourcall.replay import MISMATCH, accept, does_not_work, probe
from yourcall.runs import Runs
from yourcall.scrub import Hidden, hiding

log = logging.getLogger("yourcall")

D = TypeVar("D", default=Any)

PROBING_SECONDS: Final = 10.0
"""How long an answer waits for others to the same question, which may wait for the store or for a service."""
MAX_MISSES: Final = 1_000
"""Questions that a probe did not find, remembered for the next try."""


class Writer(Protocol):
    """Writes for the user's side, and starts the runs that this makes possible: the engine."""

    def record(self, key: Key) -> Record: ...

    async def write(self, record: Record, decide: Decide, *, keep: Sequence[Draft] = ()) -> Written: ...

    async def expire(self, key: Key) -> None: ...


class Answering(Generic[D]):
    """Takes the answers to one engine's questions."""

    def __init__(self, agent: Agent[D], addressees: Addressees, runs: Runs[D], writer: Writer) -> None:
        self._agent, self._addressees, self._runs, self._writer = agent, addressees, runs, writer
        self._probes: dict[tuple[Key, str], tuple[anyio.Lock, int]] = {}
        self._misses: dict[str, None] = {}

    async def take(self, interrupt_id: str, given: Given, *, user: str, digest: str | None = None) -> Answered | Closed:
        """As `Engine.answer`, for what came by any channel. Raises `WrongChannel` if that is not the question's."""
        found = await self._addressees.find(user, interrupt_id)
        who = by(found, user)
        if found.interrupt.channel != given.channel:
            raise errors.WrongChannel(found.interrupt.channel)
        if found.ending is None and digest not in (None, found.interrupt.digest):
            raise errors.Changed
        if found.ending is None:
            try:
                await self._answer(found, given, who)
            except (errors.Closed, errors.AlreadyAnswered, errors.NotFound):  # the last: its step is over
                await self._writer.expire(found.key)
            found = await self._addressees.find(user, interrupt_id)
        match found.ending:
            case (Answered(payload=recorded) | Closed(payload=recorded)) as ending if recorded == given.mark:
                return ending
            case None:
                raise errors.Closed("expired")
            case ending:
                raise refusal(ending)

    async def live(self, interrupt_id: str, *, user: str) -> tuple[Found, Ask[Any]]:
        """An open question, as today's code asks it. Raises as `answer` does."""
        found = await self._addressees.find(user, interrupt_id)
        if found.ending is not None:
            raise refusal(found.ending)
        async with self._probing(found.interrupt.call_id, found.key):
            ask, _ = await self._live(await self._in_time(found), found.interrupt)
            return found, ask

    async def _in_time(self, found: Found) -> Record:
        """The log that a question is in, before its time is over."""
        record = self._writer.record(found.key)
        await record.refresh()
        expires_at = found.interrupt.expires_at
        if expires_at is not None and record.now >= expires_at:
            raise errors.Closed("expired")
        return record

    async def _answer(self, found: Found, given: Given, who: str | None) -> None:
        interrupt = found.interrupt
        async with self._probing(interrupt.call_id, found.key):
            record = await self._in_time(found)
            ask, hidden = await self._live(record, interrupt)
            try:
                with hiding(hidden):
                    value = await accept(ask, await given.read(ask))
            except errors.Declined as no:
                declined = Closed(interrupt.id, interrupt.call_id, "declined", no.note, who, given.mark)
                await self._writer.write(record, lambda log, now: [declined])
                return
            kept = await given.keep(ask, value)
            answered = Answered(interrupt.id, interrupt.call_id, kept.value, given.mark, who, kept.files)
            with keeping(kept.files):
                await self._writer.write(
                    record, lambda log, now: decisions.answer(log, interrupt, answered), keep=kept.drafts
                )

    async def _live(self, record: Record, interrupt: Interrupt) -> tuple[Ask[Any], Hidden]:
        """The open ask as today's code makes it, and what its body has revealed: it is executed, nothing is written.

        Raises `Changed` where the body asks something else now: another question takes the place of the old one;
        where it comes to no such question twice in a row, the call is closed.
        """
        one = record.log.call(interrupt.call_id)
        if one is None or one.open != interrupt:
            raise errors.Closed("superseded")
        tool = self._agent.tool(one.call.tool)
        if tool is None:
            gone = f"The tool {one.call.tool} does not exist any more."
            await self._writer.write(record, lambda log, now: decisions.give_up(interrupt, "unavailable", gone))
            raise errors.Closed("unavailable")
        try:
            contexts = await self._runs.contexts(record.key)
        except Exception:
            log.exception("The deps for the check of an answer could not be made")
            raise errors.CheckFailed from None
        try:
            pending = await probe(tool, contexts(one, None), one.call.args, interrupt)
        except errors.CredentialGone as lost:
            reason = str(lost)
            await self._writer.write(record, lambda log, now: decisions.give_up(interrupt, "unavailable", reason))
            raise errors.Closed("unavailable") from None
        if pending is None:
            await self._missed(record, interrupt, tool.name)
            raise errors.Changed
        self._misses.pop(interrupt.id, None)
        if pending.interrupt.id != interrupt.id:
            await self._writer.write(record, lambda log, now: ask(log, now, pending, self._agent))
            raise errors.Changed
        return pending.ask, pending.hidden

    async def _missed(self, record: Record, interrupt: Interrupt, tool: str) -> None:
        if interrupt.id in self._misses:
            del self._misses[interrupt.id]
            log.error("The tool %s does not work: %s", tool, MISMATCH)
            reason = does_not_work(tool)
            await self._writer.write(record, lambda log, now: decisions.give_up(interrupt, "changed", reason))
        else:
            self._misses[interrupt.id] = None
            if len(self._misses) > MAX_MISSES:
                del self._misses[next(iter(self._misses))]

    @asynccontextmanager
    async def _probing(self, call_id: str, key: Key) -> AsyncIterator[None]:
        """Probes of one call go one after the other; the lock lasts as long as somebody wants it.

        Raises `Busy` if those before take too long.
        """
        place = (key, call_id)
        lock, users = self._probes.get(place, (anyio.Lock(), 0))
        self._probes[place] = (lock, users + 1)
        try:
            with anyio.CancelScope(deadline=anyio.current_time() + PROBING_SECONDS) as waiting:
                await lock.acquire()
            if waiting.cancelled_caught:
                raise errors.Busy("This question is being answered. Try again in a moment.")
            try:
                yield
            finally:
                lock.release()
        finally:
            lock, users = self._probes.pop(place)
            if users > 1:
                self._probes[place] = (lock, users - 1)

    async def close(self, interrupt_id: str, ending: Ending, *, user: str, note: str | None) -> Closed:
        """Close a question without an answer. Closing it the same way again is harmless."""
        decisions.require_storable(note or "", "/note")
        found = await self._addressees.find(user, interrupt_id)
        who = by(found, user)
        try:
            if found.ending is None:
                record = self._writer.record(found.key)
                await self._writer.write(
                    record, lambda log, now: decisions.close(log, found.interrupt, ending, note, who)
                )
        except (errors.Closed, errors.AlreadyAnswered, errors.NotFound):
            await self._writer.expire(found.key)
        match (await self._addressees.find(user, interrupt_id)).ending:
            case Closed(ending=how) as closed if how == ending:
                return closed
            case None:
                raise errors.Closed("expired")
            case other:
                raise refusal(other)
