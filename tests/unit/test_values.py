"""`encode` and `decode`: a value keeps its type through a new process, or is refused by name."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter, OrderedDict, defaultdict, deque
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, PrivateAttr, SecretStr, create_model

from tests.unit.stored_samples import (
    OLD_WORKOUT,
    SAMPLES,
    WORKOUT,
    Color,
    Level,
    Owner,
    Plan,
    Point,
    Rights,
    Tree,
    Week,
    Workout,
    deep,
    same,
)
from yourcall.errors import ProgrammingError, ReplayMismatch, Unstorable
from yourcall.values import decode, encode, plain


def through_json(data: Any) -> Any:
    return json.loads(json.dumps(data, allow_nan=False))


# --------------------------------------------------------------------------- what is kept


@pytest.mark.parametrize("name", SAMPLES)
def test_a_value_comes_back_equal_and_of_its_type(name: str) -> None:
    """Through JSON text without NaN, a value is what it was; its encoding has nothing that JSON lacks."""
    value, hint = SAMPLES[name]
    back = decode(through_json(encode(value, hint)), hint)
    assert same(back, value), back


CHILD = """
import json, sys
from tests.unit.stored_samples import SAMPLES, same
from yourcall.values import decode, encode, plain
verdicts = {}
for name, text in json.load(sys.stdin).items():
    value, hint = SAMPLES[name]
    back = decode(json.loads(text), hint)
    verdicts[name] = [same(back, value), json.dumps(encode(back, hint)) == text]
print(json.dumps(verdicts))
"""


@pytest.fixture(scope="module")
def second_process() -> dict[str, list[bool]]:
    """What another interpreter, with another hash seed, makes of every sample."""
    texts = {name: json.dumps(encode(value, hint)) for name, (value, hint) in SAMPLES.items()}
    path = os.pathsep.join([str(Path(__file__).parents[2]), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", CHILD],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "7"},
    )
    verdicts: dict[str, list[bool]] = json.loads(done.stdout)
    return verdicts


@pytest.mark.parametrize("name", SAMPLES)
def test_a_value_survives_a_new_process(name: str, second_process: dict[str, list[bool]]) -> None:
    """Another process reads the same value, and writes it as the same bytes: arguments are compared by them."""
    assert second_process[name] == [True, True]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=12,
)
hashable = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.binary() | st.dates() | st.sampled_from(Color),
    lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3) | st.builds(Point, st.integers()),
    max_leaves=5,
)
scalars = (
    hashable
    | st.floats()
    | st.decimals()
    | st.uuids()
    | st.timedeltas()
    | st.datetimes(timezones=st.none() | st.timezones())
    | st.times(timezones=st.none() | st.just(None))
    | st.builds(Rights, st.integers(0, 3))
)
keys = st.sampled_from(["$", "dict", "object"]) | st.text(max_size=3)


def nests(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return (
        st.lists(inner, max_size=3)
        | st.dictionaries(keys, inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.sets(hashable, max_size=3)
        | st.builds(Plan, st.text(), st.lists(inner, max_size=2), st.builds(Owner, st.sampled_from(Color)))
        | st.builds(lambda day, mood: Week(workouts=[Workout(day=day)], mood=mood), st.dates(), inner)  # type: ignore[call-arg]  # extra="allow"
    )


@settings(deadline=None)
@given(st.recursive(scalars, nests, max_leaves=12))
def test_every_nest_comes_back(value: Any) -> None:
    """Whatever is in whatever: the same value, of the same types."""
    hint = Plan | Week | Rights
    assert same(decode(through_json(encode(value, hint)), hint), value)


@settings(deadline=None)
@given(json_values)
def test_plain_json_costs_no_byte(value: Any) -> None:
    """What JSON can say is stored as it is, unless it has the reserved key; then it is data all the same."""
    stored = encode(value)
    if "$" not in json.dumps(value):
        assert json.dumps(stored) == json.dumps(value)
    assert same(decode(through_json(stored)), value)


def test_what_is_stored_is_a_copy() -> None:
    """The value that a tool goes on changing is not the one in the log, nor is what two readers get."""
    value = {"list": [1]}
    stored = encode(value)
    value["list"].append(2)
    one, two = decode(stored), decode(stored)
    one["list"].append(3)
    assert (stored, two) == ({"list": [1]}, {"list": [1]})


# --------------------------------------------------------------------------- data is never taken for a tag

TAGS = [
    {"$": ["tuple", [1]]},
    {"$": ["object", "Point", {"x": 1, "y": 2}]},
    {"$": ["model", "Workout", {"sets": 99}, [], None, None]},
    {"$": ["enum", "Color", "RED"]},
    {"$": ["dict", {"$": 1}]},
    {"$": "unknown"},
    {"$": None, "other": 1},
    {"$": []},
    {"__class__": "os.system", "$type": "Point", "lc": 1},
]


@pytest.mark.parametrize("forged", TAGS)
def test_a_forged_tag_is_inert(forged: dict[str, Any]) -> None:
    """A client's JSON that looks like a stored class is the JSON that it is, even where the class is reachable."""
    hint = Point | Workout | Color
    for value in (forged, [forged], {"deep": {"$": forged}}, (forged,)):
        assert same(decode(through_json(encode(value, hint)), hint), value)


@settings(deadline=None)
@given(
    st.recursive(json_values, lambda inner: st.fixed_dictionaries({"$": inner}) | st.sampled_from(TAGS), max_leaves=8)
)
def test_no_json_is_a_tag(value: Any) -> None:
    """Any nesting of the reserved key stays what it is."""
    assert same(decode(through_json(encode(value, Point)), Point), value)


@pytest.mark.parametrize("stored", TAGS[1:4])
def test_a_name_is_looked_up_only_in_the_hint(stored: dict[str, Any]) -> None:
    """A stored name outside the hint leads nowhere, though a class of this name is in memory."""
    with pytest.raises(ReplayMismatch, match="no longer named by the annotation"):
        decode(stored, None)


# --------------------------------------------------------------------------- what is refused


class MyStr(str):
    __slots__ = ()


class MyInt(int):
    pass


class Stamp(datetime):
    pass


class Client:
    def __repr__(self) -> str:
        return "<Client token=canary>"


class Zone(tzinfo):
    def utcoffset(self, when: datetime | None) -> timedelta:
        return timedelta(hours=1)

    def tzname(self, when: datetime | None) -> None: ...
    def dst(self, when: datetime | None) -> None: ...


@dataclass
class Failure(Exception):
    code: int


@dataclass
class Job:
    plan: list[Any]


@dataclass
class Step:
    owner: Any


class Session(BaseModel):
    name: str = ""
    _client: Any = PrivateAttr(default_factory=Client)


class Triple(NamedTuple):
    one: int


class Tagged(Triple):
    """A subclass of a named tuple has attributes of its own."""


def tagged() -> Tagged:
    value = Tagged(1)
    value.__dict__["extra"] = 1
    return value


def ring() -> list[Any]:
    value: list[Any] = []
    value.append({"again": value})
    return value


HINT = Job | Step | Session | Failure | Tagged | Owner

REFUSED: dict[str, tuple[Any, str, str]] = {
    "object": (Client(), "answer", "Client"),
    "path": (Job([1, 2, Step(Client())]), "answer.plan[2].owner", "Client"),
    "key that is no name": ({"a": {"b c": {1}, "d-e": [Client()]}}, "answer.a['d-e'][0]", "Client"),
    "endless key": ({"a" * 10_000: Client()}, "answer['" + "a" * 63 + "]", "Client"),
    "str subclass": ([MyStr("canary")], "answer[0]", "MyStr"),
    "int subclass": (MyInt(1), "answer", "MyInt"),
    "datetime subclass": (Stamp(2026, 1, 1), "answer", "Stamp"),
    "dict subclass": (defaultdict(int), "answer", "defaultdict"),
    "ordered dict": (OrderedDict(a=1), "answer", "OrderedDict"),
    "counter": (Counter("a"), "answer", "Counter"),
    "deque": (deque([1]), "answer", "deque"),
    "generator": ((n for n in [1]), "answer", "generator"),
    "key of another type": ({"a": {1: 2}}, "answer.a", "dict"),
    "key of a str subclass": ({MyStr("canary"): 1}, "answer", "dict"),
    "surrogate": ({"a": ["canary\ud800"]}, "answer.a[0]", "str"),
    "surrogate in a key": ({"canary\udfff": 1}, "answer", "str"),
    "cycle": (ring(), "answer" + "[0].again" * 32, "list"),
    "too deep": (deep(65), "answer" + "[0]" * 64, "list"),
    "far too deep": (deep(100_000), "answer" + "[0]" * 64, "list"),
    "time zone": (datetime(2026, 1, 1, tzinfo=Zone()), "answer", "Zone"),
    "class out of reach": (Point(1), "answer", "Point"),
    "enum out of reach": ({"$": Rights.READ}, "answer['$']", "Rights"),
    "model out of reach": ([WORKOUT], "answer[0]", "Workout"),
    "secret": (SecretStr("canary"), "answer", "SecretStr"),
    "private attribute": (Session(), "answer._client", "Client"),
    "dataclass that is an exception": (Failure(1), "answer", "Failure"),
    "named tuple with attributes": (tagged(), "answer", "Tagged"),
    "class": (Client, "answer", "type"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_kept_is_refused_by_name(name: str) -> None:
    """The error names the path and the type, says what to do where that is known, and never shows the value."""
    value, field, type_name = REFUSED[name]
    with pytest.raises(Unstorable) as refused:
        encode(value, HINT, field="answer")
    assert (refused.value.field, refused.value.type_name) == (field, type_name)
    assert "canary" not in str(refused.value)
    str(refused.value).encode()


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (WORKOUT, "Annotate the return type"),
        (MyStr("x"), "plain str"),
        ("\ud800", "text that cannot be stored"),
        ({1: 2}, "must be str, not int"),
        (datetime(2026, 1, 1, tzinfo=Zone()), "zoneinfo"),
        (deep(65), "deeper than 64"),
    ],
)
def test_a_refusal_says_what_to_do(value: Any, words: str) -> None:
    """A developer who reads it knows the next step."""
    with pytest.raises(ProgrammingError, match=words):
        encode(value)


# --------------------------------------------------------------------------- classes, then and now


def test_decoding_validates_nothing() -> None:
    """An old answer that today's validator would refuse is still the answer."""
    stored = encode(OLD_WORKOUT, Workout)
    assert decode(stored, Workout).sets == 9


def test_decoding_runs_no_post_init() -> None:
    """`__post_init__` ran when the value was made; its effect is in the value already."""
    plan = Plan("p")
    assert (decode(encode(plan, Plan), Plan).seen, decode(encode(plan, Plan), Plan).note) == (1, "not a field")


def test_a_cached_property_is_not_stored() -> None:
    """What can be computed again does not make a value unstorable."""
    plan = Plan("p")
    assert plan.size
    assert "size" not in vars(decode(encode(plan, Plan), Plan))


def test_fields_set_is_kept() -> None:
    """A default is still a default: `exclude_unset` gives the same after a pause."""
    assert decode(encode(WORKOUT, Workout), Workout).model_dump(exclude_unset=True) == {"day": WORKOUT.day}


def test_a_field_added_since_has_its_default() -> None:
    """A deploy that adds a field with a default still reads yesterday's answers; a required one cannot be guessed."""
    data = {"$": ["object", "Plan", {"name": "p", "owner": None, "start": None}]}
    assert (decode(data, Plan).tags, decode(data, Plan).seen) == ([], 0)
    assert decode({"$": ["model", "Workout", {"day": 1, "gone": 2}, ["day"], None, None]}, Workout).sets == 3
    required: list[Any] = [{"$": ["object", "Plan", {}]}, {"$": ["model", "Workout", {}, [], None, None]}]
    for stored in required:
        with pytest.raises(ReplayMismatch):
            decode(stored, Plan | Workout)


@pytest.mark.parametrize(
    ("stored", "hint"),
    [
        ({"$": ["enum", "Color", "RED"]}, None),
        ({"$": ["enum", "Color", "BLUE"]}, Color),
        ({"$": ["object", "Point", {"x": 1, "gone": 2}]}, Point),
        ({"$": ["time travel", 1]}, Color),
        ({"$": ["datetime", "2026-01-01T00:00:00", "Nowhere/Now"]}, datetime),
        ({"$": []}, None),
    ],
)
def test_a_class_that_is_gone_is_named_as_the_cause(stored: Any, hint: Any) -> None:
    """After a deploy without the class, the member or the slot, the error speaks of types and is the replay's."""
    with pytest.raises(ReplayMismatch, match="does not fit its type any more"):
        decode(stored, hint)


def test_two_classes_of_one_name_are_told_apart() -> None:
    """The module decides where the name alone does not."""
    one = create_model("Twin", __module__="one", a=(int, 1))
    two = create_model("Twin", __module__="two", a=(int, 2))
    hint = dict[str, one | two]  # type: ignore[valid-type]  # made at run time
    back = decode(through_json(encode({"x": two(), "y": one()}, hint)), hint)
    assert (type(back["x"]), type(back["y"])) == (two, one)


@pytest.mark.parametrize("member", [Color.RED, Level.HIGH, Rights.WRITE])
def test_a_member_is_stored_by_its_name(member: Color | Level | Rights) -> None:
    """Reordering `auto()` members in a deploy must not turn one recorded answer into another."""
    assert encode(member, type(member))["$"][:3] == ["enum", type(member).__name__, member.name]


def test_a_name_for_type_checkers_only_hides_no_other() -> None:
    """An annotation that cannot be resolved at run time leaves the class's other fields reachable."""

    @dataclass
    class Local:
        inner: Local | Color
        client: NotImported | None  # type: ignore[name-defined]  # noqa: F821  # that is the point

    value = Local(Local(Color.GREEN, None), None)
    assert decode(encode(value, Local), Local) == value


def test_a_recursive_hint_ends() -> None:
    """Walking a type that contains itself comes to an end, and reaches what is inside."""
    assert decode(encode(Tree(), dict[str, Tree]), dict[str, Tree]) == Tree()


# --------------------------------------------------------------------------- shown


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("falsy", [False, 0, 0.0, "", [], {}, None]),
        ("tuple", [1, [], ["a", [2]]]),
        ("nan", "nan"),
        ("bytes", "AP8="),
        ("utc", "2026-01-02T00:00:00+00:00"),
        ("zone", "2026-10-25T02:30:00+01:00"),
        ("enums", [2, "yes", 2]),
        ("enum", "GREEN"),
        ("flags", [3, 0, 3]),
        ("frozen, with slots", [{"x": 1, "y": 0.0}, {"x": 2, "y": "inf"}]),
        ("named tuple", [1, "red"]),
        ("model", {"day": "2026-01-02", "sets": 3, "kind": "run"}),
        ("reserved key", {"$": ["tuple", [1]]}),
    ],
)
def test_a_stored_value_is_shown_without_its_tags(name: str, shown: Any) -> None:
    """A page that has no Python reads the recorded answer as the client might have sent it."""
    value, hint = SAMPLES[name]
    assert plain(through_json(encode(value, hint))) == shown


@pytest.mark.parametrize(
    "tag",
    [5, None, [], {}, ["dict", 5], ["model", "M", [1]], ["tuple", 1], ["datetime", 5], ["datetime", "x"], ["new", 1]],
)
def test_what_only_looks_like_a_tag_is_shown_as_it_is(tag: Any) -> None:
    """An ask that encodes its answers itself may keep whatever its client sent: nothing of it breaks a page."""
    assert plain({"$": tag}) == {"$": tag}
