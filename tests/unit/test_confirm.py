"""`Confirm`: what is shown, what is a yes and what is a no, and that what was approved is what comes back."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, model_validator

from yourcall.asks import digest, shown
from yourcall.confirm import Confirm
from yourcall.errors import Declined, ProgrammingError, Rejected, Unstorable
from yourcall.forms import Titles


class Level(Enum):
    EASY = "easy"
    HARD = "hard"


class Plan(BaseModel):
    """What is confirmed here most."""

    name: str
    days: int = Field(default=3, ge=1, le=7, description="In a week.")
    unit: Annotated[Literal["kg", "lb"], Titles(kg="Kilograms", lb="Pounds")] = "kg"
    start_date: date | None = None
    level: Level = Level.EASY
    exercises: list[str] = []
    reminders: bool = Field(default=True, title="Remind me")

    @model_validator(mode="after")
    def rested(self) -> Plan:
        if self.level is Level.HARD and self.days > 5:
            raise ValueError("A hard plan needs two days of rest.")
        return self


@dataclass(frozen=True, slots=True)
class Move:
    source: str
    amount: Annotated[int, Field(gt=0)]
    note: str = ""
    tags: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.source == "nowhere":
            raise ValueError("There is no such account.")


PLAN = Plan(name="Base", exercises=["Squat", "Press, standing"])
MOVE = Move("savings", 20)


def plan(editable: Any = ("days", "level", "start_date", "name"), **more: Any) -> Confirm[Plan]:
    return Confirm("Save this plan?", PLAN, editable=editable, **more)


def approved(ask: Confirm[Any], **edits: Any) -> Any:
    """What the tool gets, first and after it was recorded."""
    value = ask.parse({"approved": True, "edits": edits})
    assert ask.decode(json.loads(json.dumps(ask.encode(value), allow_nan=False))) == value
    return value


def faults(ask: Confirm[Any], answer: Any) -> list[tuple[str, str]]:
    with pytest.raises(Rejected) as refused:
        ask.parse(answer)
    return [(fault.pointer, fault.slug) for fault in refused.value.faults]


def rows(ask: Confirm[Any]) -> dict[str, str]:
    return {row["title"]: row["text"] for row in shown(ask)["shown"]}


# --------------------------------------------------------------------------- what is shown


def test_a_value_is_shown_in_words() -> None:
    """Titles of fields and choices, yes and no, each of a list: no JSON, no names of Python's."""
    assert rows(plan()) == {
        "Name": "Base",
        "Days": "3",
        "Unit": "Kilograms",
        "Start date": "—",
        "Level": "easy",
        "Exercises": "• Squat\n• Press, standing",
        "Remind me": "Yes",
    }
    assert rows(Confirm("Move it?", MOVE)) == {"Source": "savings", "Amount": "20", "Note": "—", "Tags": "—"}
    assert rows(Confirm("Send?", {"to_whom": "Ada", "cc": ["a", "b"]})) == {"To whom": "Ada", "Cc": "a, b"}
    assert rows(Confirm("Post this?", "Hello")) == {"": "Hello"}
    assert rows(Confirm("Start?")) == {}
    assert rows(Confirm("Move it?", MOVE, words=lambda move: f"{move.amount} from {move.source}")) == {
        "": "20 from savings"
    }


def test_what_cannot_be_seen_is_shown_by_its_number() -> None:
    """Nobody approves what was hidden from them, whether it is edited or not."""
    ask = Confirm("Pay?", {"to": "Ada\u202eevE", "note": "a\u200bb"}, editable=["note"])
    assert rows(ask) == {"To": "Ada[U+202E]evE", "Note": "a[U+200B]b"}
    assert shown(ask)["fields"]["note"]["description"] == "a[U+200B]b"
    assert rows(
        Confirm("Post?", "one\ntwo\r\n👩🏽‍🚀 می‌خواهم 🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f")
    )[""].endswith("\U000e007f")


def test_whoever_draws_a_form_of_their_own_reads_the_value_too() -> None:
    """The schema of the answer says in words what is approved."""
    schema = plan().schema()
    assert schema["description"].startswith("Name: Base\nDays: 3\nUnit: Kilograms\n")
    assert schema["properties"]["approved"] == {"type": "boolean", "title": "Save this plan?"}
    assert list(schema["properties"]["edits"]["properties"]) == ["days", "level", "start_date", "name"]
    assert "edits" not in Confirm("Start?").schema()["properties"]


def test_fields_to_edit_are_those_of_a_form_and_hold_the_value() -> None:
    """With bounds and help; the ones that cannot be empty are named."""
    assert shown(plan())["fields"] == {
        "days": {
            "title": "Days", "type": "integer", "minimum": 1, "maximum": 7, "description": "In a week.", "default": 3
        },
        "level": {"title": "Level", "type": "string", "enum": ["easy", "hard"], "default": "easy"},
        "start_date": {"title": "Start date", "type": "string", "format": "date"},
        "name": {"title": "Name", "type": "string", "maxLength": 10_000, "default": "Base"},
    }  # fmt: skip
    assert shown(plan())["required"] == ["days", "level"]


def test_another_value_is_another_question() -> None:
    """Also where it looks the same; help may change."""
    values: list[Any] = [{"a": 1}, {"a": "1"}, {"a": True}, {"b": 1}, {"a": 1, "b": 2}, "1"]
    asks = [*(Confirm("Go?", value) for value in values), Confirm("Stop?", {"a": 1})]
    asks.append(Confirm("Go?", {"a": 1}, editable=["a"]))
    assert len({digest(ask, "k") for ask in asks}) == len(asks)
    assert digest(plan(), "k") == digest(plan(), "k")


# --------------------------------------------------------------------------- yes, no, neither


def test_a_yes_gives_the_value_back() -> None:
    """The very one, if nothing was edited."""
    assert plan().parse({"approved": True}) is PLAN
    assert approved(plan()) is PLAN
    assert approved(Confirm("Start?")) is None
    assert plan().encode(PLAN) == {"approved": True}


@pytest.mark.parametrize("reason", [None, "", "  ", "too soon"])
def test_a_no_is_an_ending(reason: str | None) -> None:
    """With its reason, if there is one."""
    with pytest.raises(Declined) as no:
        plan().parse({"approved": False, "reason": reason})
    assert no.value.note == ("too soon" if reason == "too soon" else None)


@pytest.mark.parametrize(
    "answer",
    [None, True, False, 1, "yes", [], [True], {}, {"approved": None}, {"approved": 1}, {"approved": "true"},
     {"approved": [True]}, {"approve": True}, {"edits": {"days": 4}}, {"answers": []}, {"choice": "yes"}],
)  # fmt: skip
def test_whatever_is_neither_is_refused(answer: Any) -> None:
    """Nothing but `true` in its place is an approval, and nothing but `false` a no."""
    assert faults(plan(), answer) == [("/approved", "invalid-answer")]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"approved": True, "days": 4}, ("/days", "unknown-field")),
        ({"approved": True, "value": {"days": 4}}, ("/value", "unknown-field")),
        ({"approved": True, "args": {}}, ("/args", "unknown-field")),
        ({"approved": True, "reason": "because"}, ("/reason", "unknown-field")),
        ({"approved": True, "edits": {"unit": "lb"}}, ("/edits/unit", "unknown-field")),
        ({"approved": True, "edits": {"__class__": 1}}, ("/edits/__class__", "unknown-field")),
        ({"approved": True, "edits": []}, ("/edits", "invalid-answer")),
        ({"approved": True, "edits": {"days": 8}}, ("/edits/days", "invalid-answer")),
        ({"approved": True, "edits": {"days": "4"}}, ("/edits/days", "invalid-answer")),
        ({"approved": True, "edits": {"days": None}}, ("/edits/days", "invalid-answer")),
        ({"approved": True, "edits": {"level": "harder"}}, ("/edits/level", "invalid-answer")),
        ({"approved": True, "edits": {"name": "a\0"}}, ("/edits/name", "invalid-text")),
        ({"approved": True, "edits": {"level": "hard", "days": 6}}, ("", "invalid-answer")),
        ({"approved": False, "edits": {"days": 4}}, ("/edits", "unknown-field")),
        ({"approved": False, "reason": 7}, ("/reason", "invalid-answer")),
        ({"approved": False, "reason": "a\0"}, ("/reason", "invalid-text")),
        ({"approved": False, "reason": "x" * 10_001}, ("/reason", "invalid-answer")),
    ],
)
def test_T11_an_answer_carries_a_decision_and_edits_and_nothing_else(answer: Any, expected: tuple[str, str]) -> None:
    """What is not editable cannot be changed by the answer, and what is must be valid, alone and with the rest."""
    assert faults(plan(), answer) == [expected]


# --------------------------------------------------------------------------- edits


def test_edits_are_typed_and_the_rest_stays() -> None:
    """Of a model, a dataclass that is frozen, a dict and a text; and they come back as they were recorded."""
    assert approved(plan(), days=4, level="hard", start_date="2026-01-02") == PLAN.model_copy(
        update={"days": 4, "level": Level.HARD, "start_date": date(2026, 1, 2)}
    )
    assert approved(Confirm("Move it?", MOVE, editable=["amount", "note"]), amount=5) == Move("savings", 5)
    assert approved(Confirm("Go?", {"a": 1, "when": date(2026, 1, 2)}, editable=True), when="2026-02-03") == {
        "a": 1,
        "when": date(2026, 2, 3),
    }
    assert approved(Confirm("Post?", "Hello", editable=True), text="Bye") == "Bye"
    assert approved(Confirm("Go?", {"n": 1}, editable=["n"], hints={"n": Annotated[int, Field(le=5)]}), n=5) == {"n": 5}


def test_only_what_changed_is_recorded() -> None:
    """An edit back to what was there is none."""
    ask = plan()
    assert ask.encode(ask.parse({"approved": True, "edits": {"days": 3, "name": "Base"}})) == {"approved": True}
    assert ask.encode(ask.parse({"approved": True, "edits": {"days": 4}})) == {"approved": True, "edits": {"days": 4}}


def test_a_field_can_be_emptied_where_its_type_allows_it() -> None:
    """Null is what a client sends for an empty field."""
    assert approved(plan(), name=None).name == ""
    ask = Confirm("Go?", Plan(name="x", start_date=date(2026, 1, 2)), editable=["start_date"])
    assert approved(ask, start_date=None).start_date is None


@pytest.mark.parametrize(
    ("value", "edits", "place", "words"),
    [
        (MOVE, {"amount": 0}, "/edits/amount", "Must be greater than 0."),
        (MOVE, {"source": "nowhere"}, "", "There is no such account."),
    ],
)
def test_the_values_own_rules_hold(value: Any, edits: Any, place: str, words: str) -> None:
    """Those of its fields on the field, those of the whole on the whole, in the author's words."""
    with pytest.raises(Rejected) as refused:
        Confirm("Go?", value, editable=["amount", "source"]).parse({"approved": True, "edits": edits})
    assert [(fault.pointer, fault.message) for fault in refused.value.faults] == [(place, words)]


# --------------------------------------------------------------------------- what cannot be confirmed


@pytest.mark.parametrize(
    ("value", "editable", "words"),
    [
        ({"a": 1}, ["b"], "editable 'b': the value has no such field"),
        ({"a": {}}, ["a"], "editable 'a': a form has no field for dict"),
        (PLAN, ["exercises"], r"editable 'exercises': a list in a form is a choice of several"),
        (["a"], True, "editable 'text': "),
        ("x" * 70_000, (), "can be shown"),
    ],
)
def test_what_no_card_can_hold_is_refused_when_it_is_made(value: Any, editable: Any, words: str) -> None:
    """The developer reads which field, and what to use instead."""
    with pytest.raises(ProgrammingError, match=words):
        Confirm("Go?", value, editable=editable)


def test_a_value_that_cannot_be_kept_is_named() -> None:
    """What cannot be compared cannot be approved."""
    with pytest.raises(Unstorable, match="a: a value of type object"):
        digest(Confirm("Go?", {"a": object()}), "k")
    with pytest.raises(ProgrammingError, match="title is empty"):
        Confirm("")
