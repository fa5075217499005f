"""Scenes of the kinds that have a card of their own beside the questions: forms, choices, consents."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, time
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, Field, model_validator

from yourcall import Choose, Confirm, Context, Form, Rejected, tool
from yourcall.entries import Json
from yourcall.forms import Titles
from yourcall.log import Transcript
from yourcall.questions import Option, Question, Questions
from yourcall.testing import Said

Week = Literal["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]


class Member(BaseModel):
    """Every type of field that a form has."""

    name: str = Field(max_length=80, description="As on your card.")
    code: str = Field(
        pattern=r"^[A-Z]{2}\d{2}$", max_length=4, title="Gym code", description="Two letters, two digits."
    )
    about: str = Field(default="", max_length=2000, title="About you")
    height: Annotated[int, Field(ge=50, le=250, title="Height in cm")]
    weight: Annotated[float | None, Field(gt=0)] = None
    born: date
    first_visit: datetime = datetime(2026, 3, 1, 18, 30)
    unit: Annotated[Literal["kg", "lb"], Titles(kg="Kilograms", lb="Pounds")] = "kg"
    favourite: Week | None = None
    days: list[Week] = Field(max_length=4, description="Four at most.")
    insured: bool
    remind: bool = Field(default=True, title="Remind me")

    @model_validator(mode="after")
    def grown(self) -> Member:
        if self.height < 100 and self.insured:
            raise ValueError("Somebody of that height is insured with their parents.")
        return self


def _known(member: Member) -> None:
    if member.code == "XX00":
        raise Rejected("Nobody has this code.", field="code")
    if member.code == "XX99":
        raise Rejected("The gym is full.")


@tool
def join(ctx: Context) -> str:
    """Become a member."""
    member = ctx.ask(Form(Member, title="Become a member", check=_known))
    return member.model_dump_json()


@tool
def sit(ctx: Context, rows: int, multi: bool = False) -> Json:
    """Choose a seat, or several."""
    seats = {f"{row}{letter}": [row, letter] for row in range(1, rows + 1) for letter in "ABÇ"}
    return ctx.ask(Choose(seats, "Where do you want to sit?", multi=True) if multi else Choose(seats, "Which seat?"))


class Plan(BaseModel):
    """What is confirmed."""

    name: str = Field(max_length=60)
    days: int = Field(ge=1, le=7, description="In a week.")
    unit: Annotated[Literal["kg", "lb"], Titles(kg="Kilograms", lb="Pounds")] = "kg"
    start: date | None = None
    exercises: list[str]
    reminders: bool = True


PLAN: Final = Plan(name="Base", days=3, exercises=["Squat", "Bench press", "Row, seated"])


@tool
def save_plan(ctx: Context, editable: bool) -> str:
    """Save a plan, if the user wants that."""
    fields = ["name", "days", "start"] if editable else []
    return ctx.ask(Confirm("Save this plan?", PLAN, editable=fields)).model_dump_json()


@tool
def visit(ctx: Context, editable: bool) -> str:
    """Book a visit, if the user wants that."""
    at = datetime(2026, 3, 1, 18, 30, 0, 123456, UTC)
    value = {"at": at, "day": date(2026, 3, 2), "opens": time(7, 15)}
    return str(ctx.ask(Confirm("Book this visit?", value, editable=["day"] if editable else []))["day"])


@tool
def start(ctx: Context) -> str:
    """Start, if the user wants that."""
    ctx.ask(Confirm("Start the programme now?"))
    return "started"


class Size(BaseModel):
    """What is measured."""

    waist: int = Field(ge=30, le=250)


@tool
async def measured(ctx: Context) -> list[str]:
    """Ask for a size, with pictures of the tape."""
    size = ctx.ask(Form(Size, "Your waist", attachments=True))
    return [str(size.waist), *[f"{file.name}: {len(await ctx.read(file))}" for file in ctx.attachments]]


@tool
async def shown(ctx: Context) -> list[str]:
    """Ask a question, with papers to show."""
    question = Question("Which paper is it?", [Option("A bill"), Option("A letter")])
    (answer,) = ctx.ask(Questions([question], attachments=True))
    return [*answer.selected, *[file.name for file in ctx.attachments]]


@tool
async def look(ctx: Context) -> list[str]:
    """Which files there are."""
    return sorted([f"{file.name}: {len(await ctx.read(file))}" for file in await ctx.files()])


TOOLS: Final = [join, sit, save_plan, visit, start, measured, shown, look]


def scenes(reply: Callable[[Transcript], Said]) -> dict[str, list[Any]]:
    return {
        "join": [[("join", {})], reply],
        "few seats": [[("sit", {"rows": 2})], reply],
        "many seats": [[("sit", {"rows": 20})], reply],
        "several seats": [[("sit", {"rows": 20, "multi": True})], reply],
        "plan": [[("save_plan", {"editable": False})], reply],
        "editable plan": [[("save_plan", {"editable": True})], reply],
        "visit": [[("visit", {"editable": False})], reply],
        "editable visit": [[("visit", {"editable": True})], reply],
        "start": [[("start", {})], reply],
        "measured": [[("measured", {})], reply],
        "shown": [[("shown", {})], reply],
        "look": [[("look", {})], reply],
    }
