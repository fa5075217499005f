"""Values of every kind that can be stored, each with its type hint; a second process imports them too."""

from __future__ import annotations

from dataclasses import dataclass, field, is_dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, Flag, IntEnum, IntFlag, StrEnum, auto
from functools import cached_property
from typing import Annotated, Any, Generic, Literal, NamedTuple, NewType, Optional, TypedDict, TypeVar
from uuid import UUID
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict, PrivateAttr, RootModel, field_validator
from pydantic.dataclasses import dataclass as pydantic_dataclass

T = TypeVar("T")


class Color(Enum):
    RED = "red"
    GREEN = object()


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Word(StrEnum):
    YES = "yes"


class Rights(Flag):
    READ = auto()
    WRITE = auto()


class Bits(IntFlag):
    A = 1
    B = 2


@dataclass
class Base:
    name: str
    tags: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Point:
    x: int
    y: float = 0.0


@dataclass
class Plan(Base):
    owner: Owner | None = None
    start: Point | None = None
    seen: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.seen += 1
        self.note = "not a field"

    @cached_property
    def size(self) -> object:
        return object()


@dataclass(frozen=True)
class Owner:
    color: Color
    levels: frozenset[Level] = frozenset()


@dataclass(frozen=True)
class Boss(Owner):
    reports: int = 0


@dataclass
class Node:
    value: int
    next: Optional[Node] = None  # noqa: UP045  # the old spelling must be walked too


@dataclass
class Box(Generic[T]):
    item: T


@dataclass(slots=True)
class SlottedBase:
    left: int


@dataclass(slots=True)
class SlottedChild(SlottedBase):
    right: Rights


@pydantic_dataclass
class Checked:
    amount: Decimal


class Pair(NamedTuple):
    left: int
    right: Color


class Workout(BaseModel):
    day: date
    sets: int = 3
    kind: Literal["run", "lift"] = "run"

    @field_validator("sets")
    @classmethod
    def few(cls, sets: int) -> int:
        if sets > 5:
            raise ValueError("too many")
        return sets


class Week(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True)

    workouts: list[Workout] = []
    when: datetime | None = None
    _revision: tuple[int, ...] = PrivateAttr(default=(1, 2))


class Page(BaseModel, Generic[T]):
    items: list[T]


class Names(RootModel[list[str]]):
    pass


class Tree(BaseModel):
    children: list[Tree] = []
    color: Color = Color.RED


class Row(TypedDict):
    point: Point


Alias = NewType("Alias", Point)

WORKOUT = Workout(day=date(2026, 1, 2))
OLD_WORKOUT = Workout.model_construct(day=date(2020, 1, 1), sets=9)
"""It was valid once: today's validator would refuse it."""

BERLIN = ZoneInfo("Europe/Berlin")


def deep(levels: int) -> Any:
    value: Any = "bottom"
    for _ in range(levels):
        value = [value]
    return value


SAMPLES: dict[str, tuple[Any, Any]] = {
    "none": (None, None),
    "true": (True, bool),
    "zero": (0, int),
    "falsy": ([False, 0, 0.0, "", [], {}, None], None),
    "text": ('naïve "日本語" \u0000 👩\u200d🚀 می\u200cخواهم', str),
    "big int": (-(2**200), int),
    "very big int": (10**6000, int),
    "minus zero": (-0.0, float),
    "nan": (float("nan"), float),
    "infinity": ([float("inf"), float("-inf")], None),
    "nested": ({"a": [1, {"b": [None, 2.5]}]}, None),
    "order of keys": ({"b": 1, "a": 2}, None),
    "deepest": (deep(64), None),
    "wide": ([[n] for n in range(65)] + [{"n": n} for n in range(65)], None),
    "tuple": ((1, (), ("a", [2])), None),
    "set": ({"a", "b", "c", "d", "e"}, None),
    "frozenset": (frozenset({(1, 2), (1, "2"), frozenset({b"x"})}), None),
    "bytes": (b"\x00\xff", None),
    "decimal": ([Decimal("1.10"), Decimal("NaN"), Decimal("-0"), Decimal("1E+400")], None),
    "uuid": (UUID("12345678-1234-5678-1234-567812345678"), None),
    "date": (date(1, 1, 1), None),
    "time": ([time(1, 2, 3, 4), time(1, tzinfo=UTC), time(2, fold=1)], None),
    "naive": (datetime(2026, 1, 2, 3, 4, 5, 6), None),
    "utc": (datetime(2026, 1, 2, tzinfo=UTC), None),
    "zone": (datetime(2026, 10, 25, 2, 30, fold=1, tzinfo=BERLIN), None),
    "utc by name": (datetime(2026, 1, 2, tzinfo=ZoneInfo("UTC")), None),
    "offset": (datetime(2026, 1, 2, tzinfo=timezone(timedelta(hours=-3, microseconds=7))), None),
    "named offset": (datetime(2026, 1, 2, tzinfo=timezone(timedelta(hours=1), "CET")), None),
    "timedelta": (timedelta(days=-1, microseconds=1), None),
    "enum": (Color.GREEN, Color),
    "enums": ([Level.HIGH, Word.YES, Rights.WRITE], tuple[Level, Word, Rights]),
    "flags": ([Rights.READ | Rights.WRITE, Rights(0), Bits.A | Bits.B], list[Rights | Bits]),
    "enum of a literal": (Color.RED, Literal[Color.RED]),
    "dataclass": (Plan("p", ["t"], Owner(Color.RED, frozenset({Level.LOW})), Point(1, 2.0)), Plan),
    "frozen, with slots": ([Point(1), Point(2, float("inf"))], list[Point]),
    "inherited slots": (SlottedChild(1, Rights.READ), SlottedChild),
    "inherited fields": (Boss(Color.RED, frozenset({Level.HIGH}), 3), Boss),
    "recursive dataclass": (Node(1, Node(2, Node(3))), Node),
    "generic dataclass": (Box[Point](Point(1)), Box[Point]),
    "pydantic dataclass": (Checked(Decimal("1.5")), Checked),
    "named tuple": (Pair(1, Color.RED), Pair),
    "typed dict": ({"point": Point(1)}, Row),
    "new type": (Point(1), Alias),
    "annotated": ({"p": Point(1)}, Annotated[dict[str, Point] | None, "why", []]),
    "model": (WORKOUT, Workout),
    "model, no longer valid": (OLD_WORKOUT, Workout | None),
    "model with extras": (Week(workouts=[WORKOUT], mood={"$": "good", "on": [date(2026, 1, 1)]}), list[Week]),  # type: ignore[call-arg]  # extra="allow"
    "generic model": (Page[Workout](items=[WORKOUT]), Page[Workout]),
    "root model": (Names(["a", "b"]), Names),
    "recursive model": (Tree(children=[Tree(), Tree(children=[Tree(color=Color.GREEN)])]), Tree),
    "reserved key": ({"$": ["tuple", [1]]}, None),
    "reserved key, twice": ({"$": ["dict", {"$": ["object", "Point", {"x": 1}]}]}, Point),
    "reserved key in a tuple": (({"$": None},), None),
}


def same(one: Any, two: Any) -> bool:
    """Equal, of equal types, all the way down; NaN is itself, and the order of keys counts."""
    if type(one) is not type(two):
        return False
    if isinstance(one, Enum | int):
        return bool(one == two)
    if isinstance(one, list | tuple):
        return len(one) == len(two) and all(map(same, one, two))
    if isinstance(one, dict):
        return list(one) == list(two) and all(same(one[key], two[key]) for key in one)
    if isinstance(one, set | frozenset):
        return len(one) == len(two) and all(any(same(a, b) for b in two) for a in one)
    if isinstance(one, datetime | time):
        return _moment(one) == _moment(two)
    if isinstance(one, BaseModel) or is_dataclass(one):
        return same(_inside(one), _inside(two))
    return bool(repr(one) == repr(two))


def _moment(value: datetime | time) -> object:
    zone = value.tzinfo
    return value.replace(tzinfo=None), value.fold, type(zone), str(zone), value.utcoffset(), value.tzname()


def _inside(value: Any) -> list[Any]:
    if isinstance(value, BaseModel):
        parts = ("__dict__", "__pydantic_fields_set__", "__pydantic_extra__", "__pydantic_private__")
        return [getattr(value, part, None) for part in parts]
    fields = [getattr(value, name) for name in type(value).__dataclass_fields__]
    attributes = {n: v for n, v in getattr(value, "__dict__", {}).items() if n not in ("size", "__orig_class__")}
    return [fields, attributes]
