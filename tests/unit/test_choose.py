"""`Choose`: what can be offered, what is an answer, and that the value comes back that was offered."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date
from typing import Any

import pytest

from yourcall.asks import digest, shown
from yourcall.choose import Choose
from yourcall.errors import ProgrammingError, Rejected, Unstorable


@dataclass(frozen=True)
class Seat:
    row: int
    letter: str


SEATS = [Seat(12, "A"), Seat(12, "B"), Seat(30, "F")]


def seats(**more: Any) -> Choose[Any]:
    return Choose(SEATS, "Which seat?", label=lambda seat: f"{seat.row}{seat.letter}", **more)


def faults(ask: Choose[Any], answer: Any) -> list[tuple[str, str]]:
    with pytest.raises(Rejected) as refused:
        ask.parse(answer)
    return [(fault.pointer, fault.slug) for fault in refused.value.faults]


def test_labels_go_out_and_the_value_comes_back() -> None:
    """The client sees and sends labels; the tool gets what they stand for."""
    assert shown(seats()) == {"title": "Which seat?", "options": ["12A", "12B", "30F"]}
    assert seats().parse({"choice": "12B"}) == Seat(12, "B")
    assert seats(multi=True).parse({"choice": ["30F", "12A"]}) == [Seat(30, "F"), Seat(12, "A")]
    assert Choose({"Today": date(2026, 1, 2)}, "When?").parse({"choice": "Today"}) == date(2026, 1, 2)
    assert Choose(["tea", "coffee"], "What?").parse({"choice": "tea"}) == "tea"


@pytest.mark.parametrize(("multi", "choice"), [(False, "30F"), (True, ["30F"]), (True, ["12B", "12A"])])
def test_a_recorded_choice_comes_back(multi: bool, choice: Any) -> None:
    """As the same value, from the labels that were sent."""
    ask = seats(multi=multi)
    value = ask.parse({"choice": choice})
    stored = json.loads(json.dumps(ask.encode(value)))
    assert stored == {"choice": choice}
    assert seats(multi=multi).decode(stored) == value


@pytest.mark.parametrize("value", [None, 0, "", False, [], {}, 1.5, {"$": ["date", "x"]}, b"x"])
def test_any_value_that_can_be_kept_can_be_chosen(value: Any) -> None:
    """Falsy ones, too."""
    ask: Choose[Any] = Choose({"this": value, "that": "other"}, "Which?")
    assert ask.decode(ask.encode(ask.parse({"choice": "this"}))) == value


def test_true_is_not_one() -> None:
    """Values that are equal in Python and differ in JSON are two values."""
    ask: Choose[Any] = Choose({"yes": True, "one": 1, "float": 1.0}, "Which?")
    for name, value in ask.options.items():
        kept = ask.encode(ask.parse({"choice": name}))
        assert kept == {"choice": name}
        assert type(ask.decode(kept)) is type(value)


def test_another_value_under_the_same_label_is_another_question() -> None:
    """An answer to "12A" is none to another 12A; nor to other labels, another title, several in place of one."""
    asks: list[Choose[Any]] = [
        Choose({"12A": 1, "12B": 2}, "Which?"),
        Choose({"12A": 1, "12B": 3}, "Which?"),
        Choose({"12A": 1, "12C": 2}, "Which?"),
        Choose({"12A": 1, "12B": 2}, "Which one?"),
        Choose({"12A": 1, "12B": 2}, "Which?", multi=True),
    ]
    assert len({digest(ask, "k") for ask in asks}) == len(asks)
    assert digest(asks[0], "k") == digest(Choose({"12A": 1, "12B": 2}, "Which?"), "k")


def test_the_schema_is_that_of_a_flat_form() -> None:
    """Whoever draws a form of their own gets a choice in it; the limits of both kinds are in it."""
    assert seats().schema()["properties"] == {
        "choice": {"title": "Which seat?", "type": "string", "enum": ["12A", "12B", "30F"]}
    }
    several = seats(multi=True).schema()["properties"]["choice"]
    assert (several["type"], several["minItems"], several["uniqueItems"]) == ("array", 1, True)


@pytest.mark.parametrize(
    "answer",
    [None, {}, [], "12A", {"choice": None}, {"choice": 0}, {"choice": "12a"}, {"choice": " 12A"}, {"choice": ["12A"]},
     {"choice": {"row": 12, "letter": "A"}}, {"choice": "Seat(row=12, letter='A')"}, {"choice": ""}, {"value": "12A"}],
)  # fmt: skip
def test_only_an_offered_label_is_an_answer(answer: Any) -> None:
    """No index, no value, no other spelling, no default."""
    assert faults(seats(), answer) == [("/choice", "invalid-answer")]


@pytest.mark.parametrize(
    ("choice", "place"),
    [
        ([], "/choice"),
        ("12A", "/choice"),
        (None, "/choice"),
        (["12A", "12A"], "/choice/1"),
        (["12A", "x"], "/choice/1"),
        (["12A", 1], "/choice/1"),
        (["12A", ["12B"]], "/choice/1"),
        (["12A"] * 4, "/choice"),
    ],
)
def test_several_are_chosen_once_each(choice: Any, place: str) -> None:
    """At least one; and whatever is wrong is told in its place."""
    assert faults(seats(multi=True), {"choice": choice}) == [(place, "invalid-answer")]


def test_nothing_else_is_taken() -> None:
    """A value that is sent along is refused."""
    assert faults(seats(), {"choice": "12A", "value": {"row": 1}}) == [("/value", "unknown-field")]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "options are empty"),
        ({}, "options are empty"),
        (["a", "A "], "the label of option 1 looks like that of option 0"),
        (["a", "ａ"], "looks like"),
        ([""], "the label of option 0 is empty"),
        (["\u200b"], "blank"),
        (["a\u202eb"], r"U\+202E"),
        (["x" * 301], "301 characters"),
        ({"a": 1, "b": 1}, "the same value"),
        ([f"{n:0300}" for n in range(300)], "can be shown"),
    ],
)
def test_what_cannot_be_told_apart_cannot_be_offered(options: Any, words: str) -> None:
    """The same rules as for the options of a question; the developer, or the model, reads which one it is."""
    with pytest.raises(ProgrammingError, match=words):
        Choose(options, "Which?")


def test_a_title_is_needed() -> None:
    """A card says what it asks."""
    with pytest.raises(ProgrammingError, match="title is empty"):
        Choose(["a"], "")


def test_a_value_that_cannot_be_kept_is_named() -> None:
    """By its label; the value itself is not shown."""
    with pytest.raises(Unstorable, match="option 'a': a value of type object"):
        Choose({"a": object()}, "Which?")
