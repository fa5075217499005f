"""Agents for the tests of the web: what their models do is scripted, what their tools ask is small."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Literal

from yourcall import Agent, Ask, Context, Engine, Fault, Rejected, tool
from yourcall.entries import Json
from yourcall.testing import ScriptedModel, ScriptStep

Check = Callable[[str], Awaitable[None]]


class Pick(Ask[str]):
    """One of some options: `{"pick": option}`."""

    kind = "pick"
    answer_type = str

    def __init__(self, title: str, *options: str, check: Check | None = None) -> None:
        self.title, self.options, self.check = title, options, check

    def payload(self) -> Json:
        return {"title": self.title, "options": list(self.options), "schema": self.schema()}

    def schema(self) -> Json:
        return {"type": "object", "properties": {"pick": {"enum": list(self.options)}}, "required": ["pick"]}

    def identity(self) -> Json:
        return [self.title, list(self.options)]

    def parse(self, answer: Json) -> str:
        match answer:
            case {"pick": str(pick), **rest} if not rest and pick in self.options:
                return pick
            case {"pick": _, **rest} if rest:
                raise Rejected(faults=[Fault(f"/{name}", "Unexpected field.", "unknown-field") for name in rest])
            case _:
                raise Rejected(faults=[Fault("/pick", "Not one of the offered options.")])


@tool
def pick(ctx: Context, title: str = "Which?") -> str:
    """Ask the user to pick a colour."""
    return f"They picked {ctx.ask(Pick(title, 'red', 'blue'))}."


@tool
def free(ctx: Context, name: str = "wish") -> str:
    """Ask the user for anything."""
    return f"They said {ctx.interrupt(name)!r}."


@tool
def quick(word: str = "done") -> str:
    """Answers at once."""
    return word


def engine_of(
    steps: Iterable[ScriptStep] = (),
    *tools: Any,
    store: Any = "sqlite://",
    on_message: Literal["supersede", "reject", "keep"] = "supersede",
    delay: float = 0,
) -> Engine[Any]:
    """An engine whose model plays `steps`; its requests are in `model_of(engine).requests`."""
    model = ScriptedModel(steps, delay=delay)
    return Engine(Agent(model, tools=tools or (pick, free, quick), on_message=on_message), store)


def model_of(engine: Engine[Any]) -> ScriptedModel:
    model = engine.agent.model
    assert isinstance(model, ScriptedModel)
    return model


def asked(engine: Engine[Any]) -> int:
    """How many requests the model had."""
    return len(model_of(engine).requests)
