"""One run, from a request to its end. Read this first.

    phase(log)      what the loop does
    CallModel       stream one step; when the provider says it is finished, record it
    RunTools        record that bodies begin, start them, wake up when something lands
    Waiting, Done   the run is over; nothing of it stays in memory

Starting, resuming after an answer and recovering from a crash are this same loop on the log as it is.

A body that asks (`context.py`) unwinds with `Paused`; `_run_body` records its question. When nothing else of the
step can run, the phase is `Waiting`: that append frees the lease, and the run is over. The answer comes in another
request. `Engine.answer` executes the body once more, up to its question (`replay.probe`), so that the live ask can
parse and check what came; then it records the answer. If a sibling still runs, its run goes on with this call, too;
else the same append takes the lease and starts a run. The phase is `RunTools` again, the body is executed from the
top, and this time `ctx.ask` returns. When each call has its result, the model is next.

A new kind of ask is a subclass of `asks.Ask`, and an element in `cards/`; nothing here knows the kinds.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, Generic, TypeAlias

import anyio
from typing_extensions import TypeVar

from yourcall import decisions, errors
from yourcall.agent import Agent
from yourcall.context import Context, Pending
from yourcall.entries import Assistant, Body, Call, Effect, Result, Stopped, storable
from yourcall.events import Delta, Event, Retracted
from yourcall.log import CallLog, CallModel, Done, Log, RunTools, Waiting, openings, phase, transcript
from yourcall.ports import Finished, ModelRequest, Reads, Restarted, TextDelta, nothing_kept
from yourcall.record import Decide, Record
from yourcall.replay import Returned, replay
from yourcall.tasks import not_to_keep
from yourcall.tools import Tool
from yourcall.trim import trimmed

log = logging.getLogger("yourcall")

D = TypeVar("D", default=Any)

POLL_SECONDS = 1.0
"""How often a run looks whether another process wrote to its log; within a process it is told."""
PATIENCE_SECONDS = 15.0
"""How long a run tries to record what it has, when the store is busy; well within its lease."""


Contexts: TypeAlias = Callable[[CallLog | None, Callable[[Effect], Awaitable[None]] | None], Context[D]]
"""Makes the context of one call, with the way to record its effects; or, for no call, the one for `when`."""


class Run(Generic[D]):
    """The holder of a lease at work on one conversation."""

    def __init__(
        self,
        agent: Agent[D],
        record: Record,
        runner: str,
        contexts: Contexts[D],
        emit: Callable[[Event], None],
        read: Reads = nothing_kept,
    ) -> None:
        self.runner = runner
        self.record = record
        self._agent, self._contexts, self._emit, self._read = agent, contexts, emit, read
        self._in_flight: set[str] = set()
        self._landed: list[Decide] = []
        self._recording = anyio.Lock()
        self._spoken: tuple[str, list[str]] = ("", [])
        self._stir = anyio.Event()
        self._changed = anyio.Event()

    def notify(self) -> None:
        """Somebody else in this process wrote to the log."""
        self._changed.set()

    @property
    def so_far(self) -> Delta | None:
        """What the model has written of the step under way."""
        message_id, pieces = self._spoken
        return Delta(message_id, 0, "".join(pieces)) if pieces else None

    async def go(self) -> None:
        """Run until the phase is `Waiting` or `Done`. Raises `Stale`, alone or in a group, if the run is not ours."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._watch)
            while True:
                self._stir = anyio.Event()
                match phase(self.record.log):
                    case CallModel():
                        await self._step()
                    case RunTools(calls) if self._openings(self.record.log):
                        await self._write(lambda log, now: self._openings(log))
                    case RunTools(calls):
                        for one in calls:
                            if one.call.id not in self._in_flight:
                                self._in_flight.add(one.call.id)
                                tasks.start_soon(self._run_body, one)
                        await self._stir.wait()
                    case Waiting() | Done():
                        break
            tasks.cancel_scope.cancel()

    # ----------------------------------------------------------------- a step of the model

    async def _step(self) -> None:
        await _patiently(self.record.complete)
        before = self.record.log
        if before.runner != self.runner:
            raise errors.Stale
        if not isinstance(phase(before), CallModel):
            return  # others have written while it was read
        assistant = _next(before, self.runner)
        if assistant.step > self._agent.max_steps:
            await self._write(self._limit)
            return
        offered = await self._agent.offered(self._contexts(None, None))
        request = ModelRequest(
            trimmed(transcript(before), self._agent.trim),
            tuple(tool.spec for tool in offered),
            self._agent.instructions,
            self._agent.settings,
            self._read,
        )
        try:
            finished = await self._stream(request, assistant.message_id)
        except errors.ModelFailed as failure:
            self._spoken = ("", [])
            self._emit(Retracted(assistant.message_id))
            await self._stop(Stopped("model-failed", failure.retryable, str(failure)))
            return
        assistant = dataclasses.replace(
            assistant,
            text=storable(finished.text),
            calls=tuple(_frozen(finished.calls, offered, before)),
            offered=tuple(tool.name for tool in offered) if finished.calls else (),
            blob=finished.blob,
            usage=finished.usage,
        )
        await self._write(lambda log, now: _with_openings(log, now, assistant, self.runner))
        self._spoken = ("", [])

    async def _stream(self, request: ModelRequest, message_id: str) -> Finished:
        """Show the text as it comes; return the step once the provider has said that it is finished."""
        length, finished = 0, None
        self._spoken = (message_id, [])
        try:
            async for event in self._agent.opened.stream(request):
                match event:
                    case TextDelta(text):
                        delta = Delta(message_id, length, storable(text))
                        self._spoken[1].append(delta.text)
                        self._emit(delta)
                        length += len(text)
                    case Restarted():
                        self._spoken = (message_id, [])
                        self._emit(Retracted(message_id))
                        length = 0
                    case Finished():
                        finished = event
        except errors.ModelFailed:
            raise
        except BaseException as error:  # whatever it was, also a cancel that strays out of a client library
            if not_to_keep(error):
                raise
            log.exception("The model failed")
            raise errors.ModelFailed("The model failed. Try again.") from None
        if finished is None:
            raise errors.ModelFailed("The model's answer ended early. Try again.")
        return finished

    def _limit(self, log: Log, now: float) -> list[Body]:
        """Stop at the limit; a message that has come meanwhile starts the count anew."""
        over = _next(log, self.runner).step > self._agent.max_steps
        return [Stopped("step-limit", message="The agent took too many steps without an answer.")] if over else []

    async def _stop(self, stopped: Stopped) -> None:
        await self._write(lambda log, now: [stopped])

    # ----------------------------------------------------------------- the calls of a step

    def _openings(self, log: Log) -> list[Body]:
        """What to record before bodies start. It is recorded first and the phase looked at anew, so that between
        that look and the start of a body nothing waits."""
        return openings(log, self.runner, self._in_flight)

    async def _run_body(self, one: CallLog) -> None:
        """Execute one body, and record where it landed: a result, or a question."""
        call = one.call
        try:
            tool = self._agent.tool(call.tool)
            landed = await replay(tool, self._contexts(one, self._effect), call.args) if tool else _gone(call)
            match landed:
                case Pending():
                    await self._land(lambda log, now: ask(log, now, landed, self._agent))
                case Returned(content, status):
                    await self._land(lambda log, now: [Result(call.id, content, status)])
        except errors.Closed:
            pass  # the call was closed meanwhile: whatever its body brought comes too late
        except errors.Stale as stale:
            if isinstance(stale.__cause__, Exception):
                raise stale.__cause__ from None
            raise
        # Only now: a call whose landing is not recorded stays in flight, or it would be begun again as the run ends.
        self._in_flight.discard(call.id)
        self._stir.set()

    async def _land(self, landed: Decide) -> None:
        """Record where a body landed, in one append with what lands while the store is at work."""
        self._landed.append(landed)
        async with self._recording:
            together, self._landed = self._landed, []
            try:
                if together:
                    await self._write(_one_after_another(together))
            except errors.Closed:  # the call of one was closed meanwhile, which keeps no other from being recorded
                for one in together if len(together) > 1 else ():
                    with suppress(errors.Closed):
                        await self._write(one)

    async def _effect(self, effect: Effect) -> None:
        """Record an effect. What the store cannot record must not look like the tool's own failure: the run ends."""
        try:
            await self._write(lambda log, now: [effect])
        except errors.Closed:
            raise  # the call has its result: a task that its body left behind
        except Exception as failure:
            raise errors.Stale from failure

    async def _write(self, decide: Decide) -> None:
        """Record what this run brought; a store that is busy is tried again, since nobody else can know it."""
        await _patiently(lambda: self.record.write(decide, runner=self.runner))

    # ----------------------------------------------------------------- what others write

    async def _watch(self) -> None:
        """Read what others wrote; stop with `Stale` when the run was cancelled or is somebody else's."""
        while True:
            with anyio.move_on_after(POLL_SECONDS):
                await self._changed.wait()
            self._changed = anyio.Event()
            try:
                await self.record.refresh()
            except errors.Busy:
                continue  # what the run brings is recorded if the store comes back in time
            if self.record.log.runner != self.runner or self.record.log.stopped:
                raise errors.Stale
            self._stir.set()


async def _patiently(work: Callable[[], Awaitable[object]]) -> None:
    """Do it, again and again while the store is busy."""
    deadline = anyio.current_time() + PATIENCE_SECONDS
    while True:
        try:
            await work()
            return
        except errors.Busy:
            if anyio.current_time() >= deadline:
                raise
        await anyio.sleep(0.1)


def _next(log: Log, runner: str) -> Assistant:
    """The step about to be made, as far as it is known before the model speaks."""
    last = log.step
    step = last.assistant.step + 1 if last and not log.unseen else 1
    return Assistant(run=runner, seen=log.head, step=step, skipped=decisions.skipped(log))


def _frozen(calls: Iterable[Call], offered: Iterable[Tool[Any]], log: Log) -> Iterable[Call]:
    """The calls with all that recovery must know of their tools; an id that came before gets a suffix."""
    tools = {tool.name: tool for tool in offered}
    taken = {call.id for entry in log.entries if isinstance(entry.body, Assistant) for call in entry.body.calls}
    for call in calls:
        call_id = _distinct(storable(call.id) or f"call-{log.head}", taken)
        taken.add(call_id)
        args = storable(call.args)
        if tool := tools.get(call.tool):
            yield Call(call_id, tool.name, args, tool.hold, tool.rerun)
        else:
            error = f"There is no tool of this name now. There are: {', '.join(tools) or 'none'}."
            yield Call(call_id, storable(call.tool), args, error=error)


def _distinct(call_id: str, taken: set[str]) -> str:
    name, n = call_id, 1
    while name in taken:
        n += 1
        name = f"{call_id}-{n}"  # some providers take no other punctuation in an id
    return name


def _one_after_another(several: Sequence[Decide]) -> Decide:
    """Decides them in turn, each on what the log is after those before it."""

    def decide(log: Log, now: float) -> list[Body]:
        bodies: list[Body] = []
        for one in several:
            new = list(one(log, now))
            bodies, log = bodies + new, log.plus(new, now)
        return bodies

    return decide


def _with_openings(log: Log, now: float, assistant: Assistant, runner: str) -> list[Body]:
    return [assistant, *openings(log.plus([assistant], now), runner)]


def ask(log: Log, now: float, pending: Pending, agent: Agent[Any]) -> list[Body]:
    """The question as it is recorded: its time limit counts from this moment."""
    limit = None if pending.expires_in is None else now + pending.expires_in
    interrupt = dataclasses.replace(pending.interrupt, expires_at=limit)
    return decisions.ask(log, interrupt, pending.replaces, agent.on_message)


def _gone(call: Call) -> Returned:
    return Returned({"ok": False, "error": f"The tool {call.tool} does not exist any more."}, "failed")
