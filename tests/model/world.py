"""The world of one example: processes on one file, users, a clock, and a scheduler that decides what happens next.

Everything that is written, requested or told to a user goes past the reference, which says whether it may be. An
example ends when nothing can go on: then all must be recorded and nothing may be stuck, and what is still asked is
answered until the conversation is done.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import shutil
import tempfile
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

from tests.model import users
from tests.model.bodies import BODIES, TOOLS, Bodies
from tests.model.calls import Broken
from tests.model.machinery import Clock, GatedModel, GatedStore, Gates, Host, Loop, Turn, tracked
from tests.model.reference import Conversation, Line, Writer, identity, well_formed
from tests.model.script import (
    Act,
    Advance,
    Answer,
    AskFor,
    Cancel,
    Crash,
    Decline,
    Deploy,
    Drive,
    Drop,
    Expect,
    Expire,
    Lapse,
    Listen,
    Open,
    Post,
    Resume,
    Scenario,
    Skip,
    Stop,
    Stranger,
    Sweep,
)
from tests.model.users import Action
from yourcall import Agent, Engine
from yourcall import Conversation as Chat
from yourcall.entries import Answered, Asked, Assistant, Closed, Entry, Interrupt, Result, Run, Stopped, User
from yourcall.log import AssistantMessage, Log, Phase, ToolMessage, Transcript, UserMessage
from yourcall.ports import Lease, ModelRequest, Row
from yourcall.store.sqlite import SQLiteStore
from yourcall.testing import ScriptedModel

OWNER, STRANGER, ID = "ada", "bob", "c1"
LEASE = 31.0
"""Longer than any lease lasts, in seconds."""
PATIENCE = 10.0
"""How long an answer waits for another one to the same question, in seconds."""
MEMORY = Path("/dev/shm")
"""Where a file costs no disk; elsewhere the system's folder for temporary files does."""


def play(scenario: Scenario) -> World:
    """Run one example; the world it ended in. Raises `Broken`, with the trace as its note, at the first broken rule."""
    folder = Path(tempfile.mkdtemp(dir=MEMORY if MEMORY.is_dir() else None))
    try:
        world = World(scenario, folder / "world.db")
        with asyncio.Runner(loop_factory=lambda: Loop(world.clock)) as runner:
            runner.get_loop().set_task_factory(tracked)
            runner.run(_play(world))
        return world
    finally:
        shutil.rmtree(folder)


async def _play(world: World) -> None:
    BODIES.set(world.bodies)
    try:
        await world.run()
    except Broken as broken:
        broken.add_note("\n".join(world.trace))
        raise
    finally:
        await world.abandon()


class World:
    def __init__(self, scenario: Scenario, path: Path) -> None:
        self.scenario = scenario
        self.path = path
        self.clock = Clock()
        self.gates = Gates(self.clock, scenario.fine)
        self.reference = Conversation(scenario)
        self.trace: list[str] = []
        self.broken: list[Broken] = []
        self.bodies = Bodies(scenario, self.gates, self.reference, self.breaks, self.trace.append)
        self.bodies.probing = lambda host: "answer" in self._wants(host)
        self.marks = self.bodies.marks
        self.model = ScriptedModel([self.bodies.says] * 80)
        self.hosts: list[Host] = []
        self.started = 0
        self.release = 0
        self.engines: dict[Host, Engine[Any]] = {}
        self.actions: list[Action] = []
        self.lease: Lease | None = None
        self.requests: list[tuple[Line, ...]] = []
        self.disturbed = False
        self.lapsed = False
        self.step = ""
        self.ids: dict[tuple[object, ...], str] = {}

    # --- the scheduler

    async def run(self) -> None:
        """The whole example."""
        await self.up()
        acts = list(self.scenario.acts)
        tape = list(reversed(self.scenario.tape))
        on = itertools.cycle(self.scenario.on)
        while acts or self.gates.waiting:
            ready = len(self.gates.waiting)
            choice = tape.pop() % (ready + 1) if tape else 0
            if choice < ready and not (acts and self.scenario.directed):
                await self._release(self.gates.waiting[choice])
            elif acts:
                await self.act(acts.pop(0), next(on))
            await self._observe()
        await self._settle_down()
        await self._finish()
        await self._close()

    async def drive(self, hold: tuple[str, ...] = ()) -> None:
        """Let everything go on that is not held, first come, first served."""
        for _ in range(2000):
            await self._observe()
            turns = [turn for turn in self.gates.waiting if not turn.label.startswith(hold or ("-",))]
            if not turns:
                return
            await self._release(turns[0])
        raise Broken("machinery", "no end")

    async def _release(self, turn: Turn) -> None:
        host = turn.host
        if turn.append and host.doomed is not None:
            skip, after = host.doomed
            host.doomed = (skip - 1, after) if skip else None
            turn.gone = skip == 0
            if turn.gone and not after:
                self.trace.append(f"{host} dies before {turn.label}")
                await self.die(host)
                return
        self.trace.append(f"{host} > {turn.label}")
        self.gates.release(turn)
        await self.gates.settle()
        if turn.gone:
            await self.die(host)

    async def _observe(self) -> None:
        """Let everything come to rest, and look at what users were told."""
        await self.gates.settle()
        for action in list(self.actions):
            action.may |= action.decide()
            if not action.under_way:
                self.actions.remove(action)
                if not action.host.dead and not action.dropped:
                    self._outcome(action)
        if self.broken:
            raise self.broken[0]

    def _outcome(self, action: Action) -> None:
        outcome, value = users.outcome(action.task)
        self.trace.append(f"{action.name}: {outcome}")
        if outcome in ("busy", "storeclosed") and action.host.down.is_set():
            return
        if outcome not in action.may:
            self.breaks(Broken("outcome", f"{action.name} was told {outcome}; right was {sorted(action.may)}"))
        elif outcome == "ok" and action.check is not None:
            try:
                action.check(value)
            except Broken as broken:
                self.breaks(broken)

    def breaks(self, broken: Broken) -> None:
        self.trace.append(f"BROKEN {broken}")
        self.broken.append(broken)

    # --- processes

    @property
    def alive(self) -> list[Host]:
        return [host for host in self.hosts if not host.dead and not host.down.is_set()]

    async def up(self) -> Host:
        """A process opens the file."""
        self.started += 1
        host = Host(f"p{self.started}", self.gates, self.release)
        store = GatedStore(SQLiteStore(str(self.path), clock=self.clock), self.gates, self)
        self.hosts.append(host)
        host.start(self._live(host, store), "process")
        await self.gates.settle()
        while not host.up.is_set():  # what it reads on its way
            turns = [turn for turn in self.gates.waiting if turn.host is host]
            if not turns:
                raise Broken("machinery", f"{host} does not come up: {host.left}")
            await self._release(turns[0])
        self.trace.append(f"{host} is up")
        if len(self.alive) > 1:
            self.marks.add("two processes")
        return host

    async def _live(self, host: Host, store: GatedStore) -> None:
        agent = Agent[Any](
            GatedModel(self.model, self.gates, self),
            tools=TOOLS,
            on_message=self.scenario.on_message,
            max_steps=self.scenario.max_steps,
        )
        self.engines[host] = engine = Engine(agent, store, sweep_every=1e12)
        try:
            async with engine:
                host.up.set()
                await host.down.wait()
        finally:
            await store.leave()
            self.hosts.remove(host)

    async def die(self, host: Host) -> None:
        """A process ends here and now."""
        self.trace.append(f"{host} dies")
        self._disturb("restart")
        for _ in range(20):
            host.kill()
            await self.gates.settle()
            if not host.left:
                return
        raise Broken("machinery", f"tasks of {host} cannot be cancelled: {host.left}")

    def _disturb(self, mark: str) -> None:
        """From here on a lease's time and a sweep may be needed for something to go on."""
        self.disturbed = True
        self.marks.add(mark)

    async def abandon(self) -> None:
        """Let go of everything, whatever has happened."""
        hosts = list(self.hosts)
        for host in hosts:
            host.kill()
        await self.gates.settle()
        left = [task for host in hosts for task in host.left]
        if left and not self.broken:
            raise Broken("machinery", f"tasks that cannot be cancelled: {left}")

    # --- acts

    async def act(self, act: Act, on: int = 0) -> None:
        """One thing happens from outside."""
        match act:
            case Advance(seconds=seconds):
                self._pass(seconds)
            case Open():
                if len(self.alive) < 2:
                    await self.up()
            case Drop():
                self._drop()
            case Lapse():
                await self._lapse()
            case Expire():
                await self._expire(on)
            case Expect(calls=calls):
                ended = {c.call.id for c in self.reference.calls.values() if c.result is not None}
                if ended != set(calls):
                    self.breaks(Broken("batches", f"{sorted(ended)} have results, not {calls}"))
            case Drive(hold=hold):
                await self.drive(hold)
            case _:
                host = self.alive[on % len(self.alive)] if self.alive else await self.up()
                await self._act_on(act, host)

    def _pass(self, seconds: float) -> None:
        self.trace.append(f"{seconds} s pass")
        self.clock.now += seconds
        self.lapsed = True
        answers = [action for action in self.actions if action.wants == "answer" and action.under_way]
        for action in answers if seconds > PATIENCE else ():
            if [other.host for other in answers].count(action.host) > 1:
                action.may.add("busy")  # the answer before it took too long

    async def _expire(self, on: int) -> None:
        limits = [i.expires_at for i in self.reference.open if i.expires_at is not None]
        if limits:
            self._pass(max(min(limits) - self.clock.now, 0) + 1)
            await self.act(Sweep(), on)

    async def _lapse(self) -> None:
        others = [host for host in self.alive if host.name != self.reference.run_host]
        other = others[0] if others else await self.up()
        self._pass(LEASE)
        await self._act_on(Sweep(), other)

    def _drop(self) -> None:
        for action in self.actions:
            if action.under_way:
                self.trace.append(f"{action.name} loses its client")
                self._disturb("dropped request")
                action.dropped = True
                action.task.cancel()
                return

    async def _act_on(self, act: Act, host: Host) -> None:
        match act:
            case Crash(now=True):
                await self.die(host)
            case Crash(skip=skip, after=after):
                host.doomed = (skip, after)
            case Deploy():
                await self.die(host)
                self.release += 1
                await self.up()
            case Stop():
                self.trace.append(f"{host} shuts down")
                self._disturb("restart")
                host.down.set()
            case Answer():
                self._answer(act, host)
            case Skip(pick=pick, old=old) | Decline(pick=pick, old=old) | Stranger(pick=pick, old=old):
                interrupt = self._pick(pick, old)
                if interrupt is not None:
                    self._about(act, host, interrupt.id)
            case _:
                self._request(act, host)

    def _pick(self, pick: int, old: bool) -> Interrupt | None:
        interrupts = list(self.reference.interrupts.values()) if old else self.reference.open
        return interrupts[pick % len(interrupts)] if interrupts else None

    def _answer(self, act: Answer, host: Host) -> None:
        interrupt = self._pick(act.pick, act.old)
        if interrupt is None:
            return
        which = interrupt.id
        sent, good = users.payload(interrupt, act.payload, act.pick)
        stale = act.payload == "stale-digest"
        digest = "0" * len(interrupt.digest) if stale else interrupt.digest
        for _ in range(2 if act.twice else 1):
            self.reference.calls[interrupt.call_id].answers += 1
            self._start(
                f"answer {which} {json.dumps(sent)}",
                host,
                self.engines[host].answer(which, sent, user=OWNER, digest=digest),
                "answer",
                lambda: self.reference.answer(
                    which, sent, good=good, changed=stale, clock=self.clock.now, release=host.release
                ),
                lambda value: users.told(self.reference, which, sent, value),
            )

    def _about(self, act: Act, host: Host, which: str) -> None:
        engine = self.engines[host]
        match act:
            case Skip():
                right = lambda: self.reference.close(which, "skipped", self.clock.now)  # noqa: E731
                self._start(f"skip {which}", host, engine.skip(which, user=OWNER), "skipped", right)
            case Decline():
                right = lambda: self.reference.close(which, "declined", self.clock.now)  # noqa: E731
                self._start(f"decline {which}", host, engine.decline(which, user=OWNER), "declined", right)
            case _:
                told = engine.answer(which, 2, user=STRANGER)
                self._start(f"a stranger answers {which}", host, told, "find", lambda: {"not-found"})

    def _request(self, act: Act, host: Host) -> None:
        engine = self.engines[host]
        chat = engine.conversation(ID, user=OWNER)
        fine = lambda: {"ok"}  # noqa: E731
        match act:
            case Post(text=text, id=client_id, say=True):
                said = users.follow(chat.say(text, id=client_id), self.reference, None)
                self._start(f"say {text!r}", host, said, "post", lambda: self.reference.message(client_id))
            case Post(text=text, id=client_id):
                post = chat.post(text, id=client_id)
                self._start(f"post {text!r}", host, post, "post", lambda: self.reference.message(client_id))
            case Cancel():
                self._start("cancel", host, chat.cancel(), "cancel", fine)
            case Resume():
                self._start("resume", host, chat.resume(), "resume", fine)
            case Listen() if self.reference.entries:
                heard = users.follow(chat.events(after=0), self.reference, 0)
                self._start("listen", host, heard, "listen", fine)
            case Sweep():
                self._start("sweep", host, engine.sweep(), "sweep", fine)

    def _start(
        self,
        name: str,
        host: Host,
        work: Coroutine[Any, Any, Any],
        wants: str,
        right: Callable[[], set[str]],
        check: Callable[[Any], None] | None = None,
    ) -> None:
        self.trace.append(f"{host} {name}")
        action = Action(name, host, host.start(work, name), wants, right, check)
        action.may |= right()
        self.actions.append(action)

    def _wants(self, host: str) -> frozenset[str]:
        """What this process's users want of it at this moment."""
        return frozenset(a.wants for a in self.actions if a.host.name == host and a.under_way)

    # --- what the machinery tells

    def wrote(self, host: Host, entries: Sequence[Entry], row: Row) -> None:
        """A write took effect."""
        self.trace.append(f"{host} wrote {self.reference.head + 1}: {' '.join(map(_short, entries))}")
        try:
            if host.dead:
                raise Broken("machinery", "a dead process wrote")
            self._mark(host, entries, row)
            self._leased(entries, row)
            self.reference.write(entries, Writer(host.name, self._wants(host.name), self.clock.now, host.release))
            self._stored(row)
            self._made(entries)
        except Broken as broken:
            self.breaks(broken)
        except Exception as error:  # ours: the engine must not be blamed for it
            self.breaks(Broken("machinery", repr(error)))

    def renewed(self, runner: str, seconds: float) -> None:
        if self.lease is not None and self.lease.runner == runner:
            self.lease = Lease(runner, self.clock.now + seconds)

    def released(self, runner: str) -> None:
        if self.lease is not None and self.lease.runner == runner:
            self.lease = Lease(runner, 0)  # over, not gone: who keeps it in an append does not revive it

    def requested(self, host: Host, request: ModelRequest) -> None:
        """A model was asked for a step."""
        lines = _lines(request.transcript)
        self.trace.append(f"{host} asks the model ({len(lines)} lines)")
        self.requests.append(lines)
        if not well_formed(lines):
            self.breaks(Broken("I1", f"the request is not well-formed: {lines}"))
        if lines not in self.reference.requests:
            self.breaks(Broken("I4", f"no log up to now allows the request {lines}"))

    def _leased(self, entries: Sequence[Entry], row: Row) -> None:
        held = self.lease
        if row.lease is None or held is None or held.runner != row.lease.runner:
            self.lease = row.lease
        for run in (e.body for e in entries if isinstance(e.body, Run)):
            if held is not None and held.runner != run.runner and held.until > self.clock.now:
                raise Broken("I8", f"a lease was taken that lasts {held.until - self.clock.now} s longer")

    def _stored(self, row: Row) -> None:
        """The row says what the log says."""
        if row.phase != self.reference.stored_phase:
            raise Broken("who runs", f"the row says {row.phase}, the log {self.reference.phase}")
        limits = [i.expires_at for i in self.reference.open if i.expires_at is not None]
        if row.expires_at != min(limits, default=None):
            raise Broken("expiry", f"the row expires at {row.expires_at}, the questions at {limits}")

    def _made(self, entries: Sequence[Entry]) -> None:
        """A result comes from a body that this run began, a step from a request, and an id from its ask alone."""
        for entry in entries:
            match entry.body:
                case Result(content={"by": int(execution)}):
                    run = self.bodies.executions[execution]
                    if run != self.reference.run:
                        raise Broken("I8", f"a result of run {run} was recorded in run {self.reference.run}")
                case Assistant(seen=seen, message_id=step):
                    self.step = step
                    if self.reference.transcript(seen) not in self.requests:
                        raise Broken("messages", f"no request for this step was built from the log up to {seen}")
                case Asked(interrupt=interrupt):
                    place = (self.step, *identity(interrupt))
                    if self.ids.setdefault(place, interrupt.id) != interrupt.id:
                        raise Broken("identity", f"{identity(interrupt)} has another id than in another process")
                    if len(set(self.ids.values())) < len(self.ids):
                        raise Broken("identity", f"{identity(interrupt)} has the id of another question")

    def _mark(self, host: Host, entries: Sequence[Entry], row: Row) -> None:
        """Keep in mind what this example came to."""
        before = self.reference
        bodies = [entry.body for entry in entries]
        others = {h.name for h in self.alive if h is not host}
        if any(isinstance(b, Run) for b in bodies) and before.run_host in others and before.phase in ("model", "tools"):
            self.marks.add("takeover from a process that lives")
        if self.lease is not None and row.lease == self.lease and isinstance(bodies[-1], User | Answered | Closed):
            self.marks.add("news for a runner at work")
        for body in bodies:
            match body:
                case Assistant(seen=seen, calls=calls):
                    if any(user.seq > seen for user in before.users):
                        self.marks.add("message during a step")
                    if any("-" in call.id for call in calls):
                        self.marks.add("repeated call id")
                case Closed(ending="superseded"):
                    self.marks.add("supersede")
                case Closed(ending="expired"):
                    self.marks.add("expiry")
                case Closed(ending="changed"):
                    self.marks.add("question changed")
                case Result(status="held"):
                    self.marks.add("held back")
                case Result(status="interrupted") if not any(isinstance(b, Stopped) for b in bodies):
                    self.marks.add("may have happened")
                case Stopped(reason=reason):
                    self.marks |= {"stop", "cancel"} if reason == "cancelled" else {"stop"}

    # --- the end of an example

    async def _settle_down(self) -> None:
        """Nothing is stuck: undisturbed at once, otherwise after a lease's time and a sweep."""
        for _ in range(8):
            await self.drive()
            if not self.alive:
                await self.up()
                await self.drive()
            now = self.clock.now
            due = any(i.expires_at is not None and i.expires_at <= now for i in self.reference.open)
            if self.reference.phase in ("waiting", "done") and not due:
                break
            if not self.disturbed and not due:
                self.breaks(Broken("who runs", f"stuck in phase {self.reference.phase} without a crash"))
            self._pass(LEASE)
            await self.drive()
            await self.act(Sweep())
        else:
            self.breaks(Broken("who runs", f"stuck in phase {self.reference.phase}, whatever time and sweeps pass"))
        late = [a.name for a in self.actions if a.under_way and not a.endless]
        if late:
            self.breaks(Broken("outcome", f"nobody tells {late} anything"))
        await self._observe()
        await self._compare()

    async def _compare(self) -> None:
        """What the file says is what was written, and what an engine says of it is what the reference says."""
        if not self.reference.entries:
            return
        host = self.alive[0]
        self.gates.open = True
        reading = host.start(_read(self.engines[host].conversation(ID, user=OWNER)), "read")
        await self.gates.settle()
        self.gates.open = False
        log, phase, interrupts = reading.result()
        if list(log.entries) != self.reference.entries:
            self.breaks(Broken("I7", "the file does not say what was written"))
        if type(phase).__name__.lower() != {"model": "callmodel", "tools": "runtools"}.get(
            self.reference.phase, self.reference.phase
        ):
            self.breaks(Broken("phase", f"the engine says {phase}, the reference {self.reference.phase}"))
        if {i.id for i in interrupts} != {i.id for i in self.reference.open}:
            self.breaks(Broken("interrupts", f"the engine says {interrupts}, the reference {self.reference.open}"))
        if not self.disturbed and not self.lapsed:
            self._thrifty()
        await self._observe()

    def _thrifty(self) -> None:
        """Where nothing was disturbed, no model was asked in vain, but for a step that a cancel cut off."""
        stops = [e.body.reason for e in self.reference.entries if isinstance(e.body, Stopped)]
        wanted = len(self.reference.steps) + stops.count("model-failed")
        if not wanted <= len(self.requests) <= wanted + stops.count("cancelled"):
            self.breaks(Broken("I3", f"{len(self.requests)} requests led to {wanted} steps and failures"))

    async def _finish(self) -> None:
        """Whatever happened, the user can bring the conversation to its end."""
        for number in range(60):
            if self.reference.phase == "done" and self.reference.stopped is None:
                break
            if self.reference.phase == "waiting":
                await self.act(Answer(pick=2 * number))
            else:
                await self.act(Post(f"go on {number}"))
            await self._settle_down()
        else:
            self.breaks(Broken("end", f"no end is reached; the conversation is {self.reference.phase}"))
        if any(len(call.asks) > 1 for call in self.reference.calls.values()):
            self.marks.add("two asks")
        if any(isinstance(op, AskFor) and op.until for c in self.reference.calls.values() for op in c.planned.program):
            self.marks.add("asked until valid")
        await self._observe()

    async def _close(self) -> None:
        for host in self.alive:
            host.down.set()
        await self.drive()
        left = [task for host in self.hosts for task in host.left]
        if left:
            self.breaks(Broken("drain", f"left after shutting down: {left}"))
        await self._observe()


async def _read(chat: Chat[Any]) -> tuple[Log, Phase, tuple[Interrupt, ...]]:
    log, phase = await chat.snapshot()
    return log, phase, await chat.interrupts()


def _lines(transcript: Transcript) -> tuple[Line, ...]:
    """A request in the reference's words."""
    lines: list[Line] = []
    for message in transcript:
        match message:
            case UserMessage(text=text):
                lines.append(("user", text))
            case AssistantMessage(text=text, calls=calls):
                lines.append(("assistant", text, tuple((c.id, c.tool, c.args) for c in calls)))
            case ToolMessage(call_id=call_id, tool=name, text=text, status=status):
                lines.append(("tool", call_id, name, status, text))
    return tuple(lines)


def _short(entry: Entry) -> str:
    """An entry in a trace."""
    body: Any = entry.body
    match body:
        case Assistant(seen=seen, calls=calls):
            return f"assistant(seen {seen}: {', '.join(f'{c.id}={c.tool}' for c in calls)})"
        case User(text=text):
            return f"user({text})"
        case _:
            names = ("runner", "call", "calls", "interrupt", "name", "ending", "status", "state", "reason")
            parts = [str(getattr(getattr(body, n), "id", getattr(body, n)))[:32] for n in names if hasattr(body, n)]
            return f"{entry.kind}({' '.join(parts)})"
