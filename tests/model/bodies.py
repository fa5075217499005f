"""The model and the tools of an example: they perform what its script says, and remember it beyond any crash."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from tests.model.calls import Broken
from tests.model.machinery import HOST, Gates
from tests.model.reference import Conversation
from tests.model.script import AskFor, Fail, Once, Planned, Raw, Scenario, Work
from yourcall import Ask, Context, Rejected, Tool, tool
from yourcall.errors import ModelFailed, NotAnswered, OnceFailed, OutcomeUnknown, Paused, ToolError
from yourcall.log import AssistantMessage, Transcript


class Digit(Ask[int]):
    """Asks for a digit."""

    kind = "digit"
    answer_type = int

    def __init__(self, title: str) -> None:
        self.title = title

    def payload(self) -> Any:
        return {"title": self.title}

    def schema(self) -> Any:
        return {"type": "integer", "minimum": 0, "maximum": 9}

    def identity(self) -> Any:
        return self.title

    def parse(self, answer: Any) -> int:
        if type(answer) is not int or answer not in range(10):
            raise Rejected("Not a digit.")
        return answer


BODIES: ContextVar[Bodies] = ContextVar("BODIES")
"""The bodies of the example that runs."""


@tool
async def ctx(ctx: Context[Any], n: int) -> dict[str, Any]:
    """Perform the nth program."""
    return await BODIES.get().perform(ctx, n)


@tool
def thread(ctx: Context[Any], n: int) -> dict[str, Any]:
    """Perform the nth program in a worker thread."""
    return BODIES.get().perform_here(ctx, n)


@tool
async def plain(n: int) -> dict[str, Any]:
    """Perform the nth program, without asking anybody."""
    return await BODIES.get().perform(None, n)


TOOLS: list[Tool[Any]] = [
    ctx,
    thread,
    plain,
    dataclasses.replace(ctx, name="held", hold=True),
    dataclasses.replace(plain, name="idempotent", idempotent=True),
    dataclasses.replace(plain, name="held_plain", hold=True),
]
"""The tools, one of a sort; their argument says which of the example's programs to perform."""


class Bodies:
    """What tools do and did. `broken` gets what they see that no rule allows, `tell` a line for the trace."""

    def __init__(
        self,
        scenario: Scenario,
        gates: Gates,
        reference: Conversation,
        broken: Callable[[Broken], None],
        tell: Callable[[str], None],
    ) -> None:
        self.scenario = scenario
        self.gates = gates
        self.reference = reference
        self.broken = broken
        self.tell = tell
        self.probing: Callable[[str], bool] = lambda host: False
        self.ran: Counter[int] = Counter()
        self.effects: Counter[tuple[str, str]] = Counter()
        self.values: dict[tuple[str, str], str] = {}
        self.executions: list[int] = []
        self.marks: set[str] = set()
        self.faults = dict(enumerate(scenario.faults))

    # the model

    def says(self, transcript: Transcript) -> Any:
        """The model's next step: a function of how many it sees."""
        number = sum(isinstance(message, AssistantMessage) for message in transcript)
        if self.faults.get(number, 0) > 0:
            self.faults[number] -= 1
            raise ModelFailed(f"step {number} fails")
        if number >= len(self.scenario.steps):
            return f"done {number}"
        return [_call(number * 10 + place, planned) for place, planned in enumerate(self.scenario.steps[number])]

    # the tools

    async def perform(self, ctx: Context[Any] | None, n: int) -> dict[str, Any]:
        """The body of every tool that is a coroutine."""
        by = self._enter(ctx, n)
        told: list[str] = []
        for place, op in enumerate(self.scenario.planned(n).program):
            match op:
                case Work():
                    await self.gates.wait(f"body {n}.{place}")
                case Once() if ctx is not None:
                    told.append(f"{op.name}={await self._once(ctx, op)}")
                case _:
                    if self._returns(ctx, place, op, told):
                        return {"told": "swallowed", "by": by}
        return {"told": ";".join(told), "by": by}

    def perform_here(self, ctx: Context[Any], n: int) -> dict[str, Any]:
        """The body of a tool that is a plain function, in a thread."""
        by = self._enter(ctx, n)
        told: list[str] = []
        for place, op in enumerate(self.scenario.planned(n).program):
            if self._returns(ctx, place, op, told):
                return {"told": "swallowed", "by": by}
        return {"told": ";".join(told), "by": by}

    def _enter(self, ctx: Context[Any] | None, n: int) -> int:
        """A body starts: after its beginning was recorded by this process, or as a probe. Returns the execution."""
        host = HOST.get()
        host.survives()
        self.ran[n] += 1
        number = len(self.executions)
        mine = host.name == self.reference.run_host
        self.executions.append(self.reference.run if mine else -1)
        self.tell(f"{host} body {n} runs (execution {number})")
        call = next((c for c in self.reference.calls.values() if c.number == n), None)
        probe = ctx is not None and self.probing(host.name)
        if not probe and not (mine and call is not None and call.running):
            self.broken(Broken("began", f"the body of {n} runs on {host} without having begun there"))
        if not self.scenario.planned(n).rerun and self.ran[n] > 1:
            self.broken(Broken("what re-runs", f"the body of {n} ran twice"))
        return number

    def _returns(self, ctx: Context[Any] | None, place: int, op: object, told: list[str]) -> bool:
        """An operation that awaits nothing; whether the body returns because of it."""
        match op:
            case Fail():
                raise ToolError("this body fails")
            case Raw(name=name) if ctx is not None:
                told.append(f"{place}={json.dumps(ctx.interrupt(name))}")
            case AskFor() if ctx is not None:
                try:
                    told += [f"{place}={value}" for value in _ask(ctx, place, op)]
                except Paused:
                    if op.swallow == "no":
                        raise
                    self.marks.add("swallowed pause")
                    return op.swallow == "return"
        return False

    async def _once(self, ctx: Context[Any], op: Once) -> str:
        what = (ctx.call_id, op.name)
        kept: list[Any] = []  # the app's own list, which it changes later: the body must see the recorded value

        async def effect() -> list[Any]:
            self.effects[what] += 1
            self.tell(f"{HOST.get()} effect {what}")
            if self.effects[what] > 1 and not op.repeatable:
                self.broken(Broken("I9", f"{what} happens a second time"))
            await self.gates.wait(f"effect {op.name}")
            if op.fails:
                raise ValueError("this effect fails")
            kept.append(self.effects[what])
            return kept

        try:
            value = await ctx.once(op.name, effect, repeatable=op.repeatable)
        except (OnceFailed, OutcomeUnknown) as error:
            if not op.catch:
                raise
            return "failed" if isinstance(error, OnceFailed) else "unknown"
        kept.append("changed later")
        if what in self.values:
            self.marks.add("effect seen again")
        if self.values.setdefault(what, repr(value)) != repr(value):
            self.broken(Broken("I12", f"{what} was {self.values[what]}, and is {value!r} in another execution"))
        return repr(value)


def _call(number: int, planned: Planned) -> tuple[str, dict[str, Any], str]:
    """A call as a scripted model takes it."""
    if planned.sort == "bad-args":
        return "plain", {"n": "x"}, planned.id
    return planned.sort.replace("-", "_"), {"n": number}, planned.id


def _ask(ctx: Context[Any], place: int, op: AskFor) -> list[str]:
    words = f", release {HOST.get().release}" if op.worded else ""
    digit = Digit(f"{ctx.call_id}, question {place}{words}")
    other = {"otherwise": None} if op.unanswered == "otherwise" else {}
    told: list[str] = []
    while True:
        try:
            value: int | None = ctx.ask(digit, key=op.key, expires_in=op.expires_in, **other)
        except NotAnswered as error:
            if op.unanswered != "catch":
                raise
            return [*told, type(error).__name__.lower()]
        if value is None:
            return [*told, "else"]
        told.append(str(value))
        if not op.until or value % 2 == 0:
            return told
