"""What a type checker knows of tools, asks and agents. `make check` reads this file; nothing runs it.

Each `type: ignore` marks a line that must be an error: mypy is told to complain of an ignore that is not needed.
"""

from __future__ import annotations

from typing import Any, Literal, assert_type

from pydantic import BaseModel

from yourcall import (
    Agent,
    Choose,
    Confirm,
    Context,
    Engine,
    Form,
    Option,
    Question,
    QuestionAnswer,
    Questions,
    Tool,
    tool,
)
from yourcall.ports import Model
from yourcall.testing import ScriptedModel


class Units(BaseModel):
    unit: Literal["kg", "lb"]


class Coach:
    """What the tools of one app share."""

    name = "Ada"


class Other:
    """What another app's tools share."""


# --------------------------------------------------------------------------- an ask returns what it asks for


@tool
def weight_unit(ctx: Context[Coach]) -> str:
    """A form gives its model, also as a default; what the engine was given keeps its type."""
    units = ctx.ask(Form(Units, title="How do you weigh your lifts?"))
    assert_type(units, Units)
    assert_type(ctx.ask(Form(Units), otherwise=None), Units | None)
    assert_type(ctx.deps, Coach)
    print(units.weight)  # type: ignore[attr-defined]  # a field that the form does not have
    return units.unit


@tool
async def goals(ctx: Context) -> int:
    """A bare `Context` fits every agent; questions give one answer each."""
    answers = ctx.ask(Questions((Question("What for?", (Option("Strength"), Option("Health"))),)))
    assert_type(answers, tuple[QuestionAnswer, ...])
    assert_type(answers[0].selected, list[str])
    assert_type(ctx.deps, Any)
    return await ctx.once("count", len, answers)


@tool
def trip(ctx: Context) -> None:
    """A choice gives one of its values, or a list of them; what is confirmed keeps its type."""
    assert_type(ctx.ask(Choose({"12A": Coach()}, "Which seat?")), Coach)
    assert_type(ctx.ask(Choose([1, 2], "How many?", label=lambda n: f"{n} nights")), int)
    assert_type(ctx.ask(Choose([1, 2], "Which?", multi=True)), list[int])
    assert_type(ctx.ask(Choose({"a": 1}, "Which?", multi=True)), list[int])
    assert_type(ctx.ask(Confirm("Book it?", Units(unit="kg"), editable=["unit"])), Units)
    assert_type(ctx.ask(Confirm("Go?")), None)


@tool(name="add", idempotent=True)
def add_up(a: int, b: int) -> int:
    """A tool without a context."""
    return a + b


@tool(hold=True)
def forget(ctx: Context[Coach]) -> str:
    """Options of the decorator change nothing about the types."""
    return ctx.deps.name


async def fetch(url: str, tries: int) -> bytes:
    return url.encode() * tries


@tool
async def effects(ctx: Context[Coach]) -> None:
    """`once` has the type of what it does, sync or async, and checks the arguments."""
    assert_type(await ctx.once("fetch", fetch, "a", 2), bytes)
    assert_type(await ctx.once("sum", max, 1, 2), int)
    await ctx.once("fetch", fetch, "a")  # type: ignore[arg-type]  # one that is missing


assert_type(weight_unit, Tool[Coach])
assert_type(forget, Tool[Coach])
assert_type(add_up, Tool[Any])


# --------------------------------------------------------------------------- an agent takes the tools that fit it

model: Model = ScriptedModel()

coach = Agent[Coach](model, tools=[weight_unit, goals, add_up, forget, effects])
Agent[Other](model, tools=[goals, add_up])
Agent[Other](model, tools=[weight_unit])  # type: ignore[list-item]  # it needs a Coach

Engine(coach, store="sqlite://", deps=Coach())
Engine(coach, store="sqlite://", deps=lambda user, conversation: Coach())
Engine(coach, store="sqlite://", deps=Other())  # type: ignore[arg-type]  # its tools need a Coach
