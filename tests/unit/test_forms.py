"""`Form`: which models are forms, what their schema says, and what is taken as an answer."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, time
from decimal import Decimal
from enum import Enum, IntEnum
from typing import Annotated, Any, Literal, Optional

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, Field, PlainValidator, RootModel, SecretStr, model_validator

from yourcall.asks import digest, shown
from yourcall.errors import ProgrammingError, Rejected
from yourcall.forms import Form, Titles


class Unit(Enum):
    KG = "kg"
    LB = "lb"


Day = Literal["Mon", "Tue", "Wed"]


class Everything(BaseModel):
    """All that a form can have."""

    name: str
    weeks: Annotated[int, Field(ge=1, le=52, description="How long?")]
    weight: float = 70.5
    agreed: bool = False
    start: date
    at: datetime | None = None
    day: Day = "Mon"
    unit: Annotated[Unit, Titles(kg="Kilograms", lb="Pounds")] = Unit.KG
    days: list[Day] = Field(default=[], max_length=2)
    units: list[Annotated[Unit, Titles(kg="Kilograms", lb="Pounds")]] = []
    only: Literal["yes"] = "yes"
    note: Optional[str] = Field(None, max_length=20_000)  # noqa: UP045  # the old spelling is one, too
    second_unit: Annotated[Unit | None, Titles(kg="Kilograms", lb="Pounds")] = None
    origin: str = Field("home", alias="from", title="From where")


FULL = Form(Everything, title="All of it")
LEAST = {"name": "Ada", "weeks": 4, "start": "2026-01-02"}
POUNDS = [{"const": "kg", "title": "Kilograms"}, {"const": "lb", "title": "Pounds"}]


def faults(form: Form[Any], answer: Any) -> list[tuple[str, str]]:
    with pytest.raises(Rejected) as refused:
        form.parse(answer)
    return [(fault.pointer, fault.slug) for fault in refused.value.faults]


def message(form: Form[Any], answer: Any) -> str:
    with pytest.raises(Rejected) as refused:
        form.parse(answer)
    return refused.value.faults[0].message


# --------------------------------------------------------------------------- the schema


def test_the_schema_is_flat_and_whole() -> None:
    """No reference, no alternative with null, a title for each field; optional means not required."""
    text = {"type": "string", "maxLength": 10_000}
    assert shown(FULL) == {
        "title": "All of it",
        "schema": {
            "type": "object",
            "description": "All that a form can have.",
            "properties": {
                "name": {"title": "Name", **text},
                "weeks": {
                    "title": "Weeks",
                    "type": "integer",
                    "minimum": 1,
                    "maximum": 52,
                    "description": "How long?",
                },
                "weight": {"title": "Weight", "type": "number", "default": 70.5},
                "agreed": {"title": "Agreed", "type": "boolean", "default": False},
                "start": {"title": "Start", "type": "string", "format": "date"},
                "at": {"title": "At", "type": "string", "format": "date-time"},
                "day": {"title": "Day", "type": "string", "enum": ["Mon", "Tue", "Wed"], "default": "Mon"},
                "unit": {"title": "Unit", "type": "string", "oneOf": POUNDS, "default": "kg"},
                "days": {
                    "title": "Days",
                    "type": "array",
                    "items": {"type": "string", "enum": ["Mon", "Tue", "Wed"]},
                    "maxItems": 2,
                    "default": [],
                },
                "units": {
                    "title": "Units",
                    "type": "array",
                    "items": {"type": "string", "oneOf": POUNDS},
                    "default": [],
                },
                "only": {"title": "Only", "type": "string", "enum": ["yes"], "default": "yes"},
                "note": {"title": "Note", "type": "string", "maxLength": 20_000},
                "second_unit": {"title": "Second unit", "type": "string", "oneOf": POUNDS},
                "origin": {"title": "From where", "default": "home", **text},
            },
            "required": ["name", "weeks", "start"],
            "additionalProperties": False,
        },
    }


def test_titles_take_values_that_are_no_names() -> None:
    """A mapping, beside keywords."""

    class Size(BaseModel):
        size: Annotated[Literal["10 kg", "more"], Titles({"10 kg": "Ten"}, more="More")]

    assert shown(Form(Size))["schema"]["properties"]["size"]["oneOf"] == [
        {"const": "10 kg", "title": "Ten"},
        {"const": "more", "title": "More"},
    ]


def test_help_may_change_and_the_form_may_not() -> None:
    """An open form stays the same question when only its help texts change."""

    def form(model_help: str, title: str = "T", most: int = 9) -> Form[Any]:
        class Weeks(BaseModel):
            __doc__ = model_help
            weeks: int = Field(le=most, description=model_help)

        return Form(Weeks, title=title)

    assert digest(form("a"), "k") == digest(form("b"), "k")
    assert len({digest(one, "k") for one in (form("a"), form("a", "U"), form("a", most=8))}) == 3


# --------------------------------------------------------------------------- what is no form


class Inner(BaseModel):
    a: int = 1


class Priority(IntEnum):
    LOW = 1


BAD: dict[str, Any] = {
    "nested model": Inner,
    "dict": dict[str, int],
    "list of text": list[str],
    "list of optional": list[Day | None],
    "bare list": list,
    "tuple": tuple[int, ...],
    "set of choices": set[Day],
    "union": int | str,
    "optional union": int | str | None,
    "anything": Any,
    "secret": SecretStr,
    "bytes": bytes,
    "decimal": Decimal,
    "time": time,
    "numbers to choose": Literal[1, 2],
    "mixed choices": Literal["a", 1],
    "enum of numbers": Priority,
    "none": None,
    "required optional": str | None,
}


@pytest.mark.parametrize("name", BAD)
def test_a_model_that_is_no_flat_form_is_refused_when_it_is_made(name: str) -> None:
    """The developer reads which field, and what to use instead; no user ever sees the card."""
    model = type("Bad", (BaseModel,), {"__annotations__": {"fine": int, "odd": BAD[name]}, "__module__": __name__})
    with pytest.raises(ProgrammingError, match=r"^Bad\.odd: .*(use|Use|default)"):
        Form(model)


class Empty(BaseModel):
    pass


class Root(RootModel[int]):
    pass


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (Empty, "Empty has no fields"),
        (Root, "pydantic model"),
        (dict, "pydantic model"),
        (Inner(), "pydantic model"),
        (Unit, "pydantic model"),
    ],
)
def test_a_form_needs_a_model_with_fields(model: Any, words: str) -> None:
    """A form with nothing to submit is a mistake of the developer's."""
    with pytest.raises(ProgrammingError, match=words):
        Form(model)


@pytest.mark.parametrize(
    ("hint", "words"),
    [
        (Annotated[Unit, Titles(kg="Kilograms")], r"no other: lb\."),
        (Annotated[Day, Titles(Mon="M", Tue="T", Wed="W", Thu="T")], r"no other: Thu\."),
        (Annotated[str, Titles(a="A")], "only the choices"),
        (Annotated[str, PlainValidator(str)], r"Bad\.odd: .* use AfterValidator"),
    ],
)
def test_what_cannot_be_a_schema_is_refused_when_it_is_made(hint: Any, words: str) -> None:
    """Titles fit the choices that they name; a validator leaves something to draw."""
    model = type("Bad", (BaseModel,), {"__annotations__": {"odd": hint}, "__module__": __name__})
    with pytest.raises(ProgrammingError, match=words):
        Form(model)


# --------------------------------------------------------------------------- what is an answer


def test_endless_nesting_is_refused() -> None:
    """Without a crash, wherever it comes from."""
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    assert faults(FULL, LEAST | {"days": deep}) == [("/days", "invalid-answer")]


def test_an_answer_becomes_the_model() -> None:
    """Typed by the model: dates from text, members from values, defaults where nothing was said."""
    full = LEAST | {
        "weight": 80,
        "agreed": True,
        "at": "2026-01-02T10:00:00Z",
        "unit": "lb",
        "days": ["Tue"],
        "units": ["lb", "kg"],
        "note": "x" * 15_000,
        "second_unit": None,
        "origin": "work",
    }
    parsed = FULL.parse(full)
    assert parsed == Everything(
        name="Ada",
        weeks=4,
        weight=80.0,
        agreed=True,
        start=date(2026, 1, 2),
        at=datetime(2026, 1, 2, 10, tzinfo=UTC),
        unit=Unit.LB,
        days=["Tue"],
        units=[Unit.LB, Unit.KG],
        note="x" * 15_000,
        **{"from": "work"},  # type: ignore[arg-type]  # an alias that is a keyword of Python
    )
    assert FULL.parse(LEAST).model_fields_set == {"name", "weeks", "start"}


@pytest.mark.parametrize("answer", [LEAST, LEAST | {"days": ["Mon"], "at": "2026-01-02T10:00:00+02:00", "weight": 0}])
def test_a_recorded_answer_comes_back(answer: Any) -> None:
    """As the same model, without being validated again."""
    parsed = FULL.parse(answer)
    back = FULL.decode(json.loads(json.dumps(FULL.encode(parsed), allow_nan=False)))
    assert (type(back), back, back.model_fields_set) == (Everything, parsed, parsed.model_fields_set)


@pytest.mark.parametrize(
    ("wrong", "place"),
    [
        ({"weeks": "4"}, "/weeks"),
        ({"weeks": 4.5}, "/weeks"),
        ({"weeks": True}, "/weeks"),
        ({"weeks": 0}, "/weeks"),
        ({"weeks": 53}, "/weeks"),
        ({"weeks": None}, "/weeks"),
        ({"weeks": [4]}, "/weeks"),
        ({"weight": "70"}, "/weight"),
        ({"weight": True}, "/weight"),
        ({"weight": float("inf")}, "/weight"),
        ({"weight": float("nan")}, "/weight"),
        ({"agreed": "yes"}, "/agreed"),
        ({"agreed": 1}, "/agreed"),
        ({"start": "tomorrow"}, "/start"),
        ({"start": 5}, "/start"),
        ({"start": "2026-13-01"}, "/start"),
        ({"at": "2026"}, "/at"),
        ({"at": 1_700_000_000}, "/at"),
        ({"at": "1700000000"}, "/at"),
        ({"at": "2026-01-02T25:00:00Z"}, "/at"),
        ({"start": "1700000000"}, "/start"),
        ({"day": "mon"}, "/day"),
        ({"day": "Sun"}, "/day"),
        ({"unit": "KG"}, "/unit"),
        ({"unit": "Kilograms"}, "/unit"),
        ({"days": "Mon"}, "/days"),
        ({"days": ["Mon", "Sun"]}, "/days/1"),
        ({"days": ["Mon", "Tue", "Wed"]}, "/days"),
        ({"days": {"0": "Mon"}}, "/days"),
        ({"name": ["Ada"]}, "/name"),
        ({"name": {"a": {"b": {}}}}, "/name"),
        ({"name": "x" * 10_001}, "/name"),
        ({"note": "x" * 20_001}, "/note"),
        ({"start": "2" * 1_000_000}, "/start"),
        ({"name": b"bytes"}, "/name"),
    ],
)
def test_what_does_not_fit_is_refused_in_its_field(wrong: Any, place: str) -> None:
    """As strict as JSON allows: nothing is turned into what it only resembles."""
    assert faults(FULL, LEAST | wrong) == [(place, "invalid-answer")]


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        ({"from": "alias"}, ("/from", "unknown-field")),
        ({"__proto__": {}}, ("/__proto__", "unknown-field")),
        ({"name": "a\0"}, ("/name", "invalid-text")),
        ({"name": "\ud800"}, ("/name", "invalid-text")),
        ({"days": ["\udfff"]}, ("/days", "invalid-text")),
    ],
)
def test_what_is_not_text_or_not_a_field_is_refused_as_that(wrong: Any, expected: tuple[str, str]) -> None:
    """The slugs of the contract."""
    assert faults(FULL, LEAST | wrong) == [expected]


def test_every_field_tells_its_own_fault() -> None:
    """All at once, each in its place, in the order of the form."""
    answer = {"name": "\0", "weeks": "x", "extra": 1, "days": ["no", 2]}
    assert faults(FULL, answer) == [
        ("/extra", "unknown-field"),
        ("/name", "invalid-text"),
        ("/weeks", "invalid-answer"),
        ("/start", "invalid-answer"),
        ("/days/0", "invalid-answer"),
        ("/days/1", "invalid-answer"),
    ]


@pytest.mark.parametrize("answer", [None, [], "x", 1, [["name", "Ada"]]])
def test_an_answer_is_an_object(answer: Any) -> None:
    """Anything else is refused as a whole."""
    assert faults(FULL, answer) == [("", "invalid-answer")]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"weeks": 99}, "Must be less than or equal to 52."),
        ({"weeks": "x"}, "Must be a valid integer."),
        ({"day": "no"}, "Not one of the offered options."),
        ({"unit": "no"}, "Not one of the offered options."),
        ({"name": "x" * 10_001}, "At most 10,000 characters."),
        ({"days": ["Mon"] * 3}, "Must have at most 2 items after validation, not 3."),
    ],
)
def test_faults_are_words_for_people(wrong: Any, words: str) -> None:
    """Not a library's jargon."""
    assert message(FULL, LEAST | wrong) == words
    assert message(FULL, {"weeks": 4, "start": "2026-01-02"}) == "This field is required."


def even(value: int) -> int:
    if value % 2:
        raise ValueError("An even number, please.")
    return value


class Range(BaseModel):
    low: Annotated[int, AfterValidator(even)]
    high: int

    @model_validator(mode="after")
    def ordered(self) -> Range:
        if self.low > self.high:
            raise ValueError("The range is upside down.")
        if self.high == 13:
            raise Rejected("Not thirteen.", field="high")
        return self


def test_the_authors_own_checks_speak_in_their_words() -> None:
    """On their field, on the whole form, or where a `Rejected` says."""
    form = Form(Range)
    assert (message(form, {"low": 1, "high": 2}), faults(form, {"low": 1, "high": 2})[0][0]) == (
        "An even number, please.",
        "/low",
    )
    assert (message(form, {"low": 4, "high": 2}), faults(form, {"low": 4, "high": 2})[0][0]) == (
        "The range is upside down.",
        "",
    )
    assert faults(form, {"low": 2, "high": 13}) == [("/high", "rejected")]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(["Mon", "canary"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


@settings(deadline=None)
@given(st.fixed_dictionaries({}, optional=dict.fromkeys(Everything.model_fields, json_values)))
def test_any_json_is_an_answer_or_is_refused(changes: dict[str, Any]) -> None:
    """Nothing else happens, no value is told back, and what is accepted can be kept."""
    for answer in (changes, LEAST | changes):
        try:
            parsed = FULL.parse(answer)
        except Rejected as refused:
            told = str(refused) + repr(refused.faults)
        else:
            told = ""
            assert FULL.decode(json.loads(json.dumps(FULL.encode(parsed)))) == parsed
        assert "canary" not in told
