"""Cases O: answers of an unexpected type are refused where they are wrong, and nothing of them gets through."""

from __future__ import annotations

from datetime import date
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from tests.scene import Scene
from yourcall import Context, Form, ProgrammingError, Rejected, ask_user, tool
from yourcall.log import Waiting

pytestmark = pytest.mark.anyio


class Unit(Enum):
    KG = "kg"
    LB = "lb"


class Lift(BaseModel):
    weight: Annotated[int, Field(ge=0)]
    unit: Unit
    day: date
    note: str = ""


@tool
def log_lift(ctx: Context) -> str:
    """Ask for a lift."""
    lift = ctx.ask(Form(Lift, title="What did you lift?"))
    assert type(lift) is Lift
    return f"{lift.weight} {lift.unit.name} on {lift.day.isoformat()}"


@pytest.mark.parametrize("note", [None, "", "not now"])
async def test_O2_a_skip_needs_no_content(tmp_path: Path, note: str | None) -> None:
    """With a note or without, it is a skip; and the same skip again is harmless."""
    ask = {"questions": [{"prompt": "Run?", "options": [{"label": "yes"}, {"label": "no"}]}]}
    async with Scene(tmp_path).process(ask_user, steps=[[("ask_user", ask)]]) as process:
        await process.say()
        interrupt = await process.open()
        await process.skip(note=note)
        assert (await process.content())["skipped"] is True
        await process.chat.skip(interrupt.id, note)


LIFT = {"weight": 80, "unit": "kg", "day": "2026-01-02"}


def nested(levels: int) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("answer", "pointers"),
    [
        ({}, ["/weight", "/unit", "/day"]),
        (LIFT | {"weight": -1}, ["/weight"]),
        (LIFT | {"weight": "80"}, ["/weight"]),
        (LIFT | {"weight": True}, ["/weight"]),
        (LIFT | {"weight": 80.5}, ["/weight"]),
        (LIFT | {"unit": "stone"}, ["/unit"]),
        (LIFT | {"unit": ["kg"]}, ["/unit"]),
        (LIFT | {"day": "yesterday"}, ["/day"]),
        (LIFT | {"day": 20260102}, ["/day"]),
        (LIFT | {"extra": 1}, ["/extra"]),
        (LIFT | {"note": "x" * 1_000_000}, ["/note"]),
        (LIFT | {"note": nested(30)}, ["/note"]),
        (LIFT | {"note": {"$": ["tuple", []]}}, ["/note"]),
        (["80", "kg"], [""]),
        (None, [""]),
        (LIFT | {"weight": "x", "day": None, "more": {}}, ["/more", "/weight", "/day"]),
    ],
)
async def test_O3_what_does_not_fit_is_refused_field_by_field(tmp_path: Path, answer: Any, pointers: list[str]) -> None:
    """422 with a fault for each field; the form stays open, and takes what does fit."""
    async with Scene(tmp_path).process(log_lift) as process:
        await process.say()
        with pytest.raises(Rejected) as refused:
            await process.answer(answer)
        assert (refused.value.status, [fault.pointer for fault in refused.value.faults]) == (422, pointers)
        assert isinstance((await process.chat.snapshot())[1], Waiting)
        await process.answer(LIFT)
        assert await process.content() == "80 KG on 2026-01-02"


@pytest.mark.parametrize("labels", [("abc", "a"), ("a", "b")])
async def test_O4_a_string_is_no_list_of_labels(tmp_path: Path, labels: tuple[str, str]) -> None:
    """Neither its first letter nor the whole is taken for a choice."""
    ask = {"questions": [{"prompt": "Which?", "multi": True, "options": [{"label": label} for label in labels]}]}
    async with Scene(tmp_path).process(ask_user, steps=[[("ask_user", ask)]]) as process:
        await process.say()
        for text in labels:
            with pytest.raises(Rejected) as refused:
                await process.answer({"answers": [{"selected": text}]})
            assert [(f.pointer, f.message) for f in refused.value.faults] == [
                ("/answers/0/selected", "Expected a list of labels.")
            ]
        assert (await process.open()).kind == "questions"


def test_O5_a_form_with_nothing_to_fill_in_cannot_be_made() -> None:
    """It fails where the developer sees it, and never becomes a card without a field."""

    class Nothing(BaseModel):
        pass

    with pytest.raises(ProgrammingError, match="Nothing has no fields"):
        Form(Nothing, title="Go on?")
