"""How a Python value is kept in the log: as JSON, with its type.

Plain JSON is its own encoding. Anything else becomes an object with the one key `$`, `{"$": [tag, ...]}`, and a
user's object that has this key is wrapped in such a tag itself: data is never taken for a tag. A stored name
never leads to an import: enums, dataclasses, named tuples and models are looked up among the classes that the
type hint reaches (`classes.py`). Decoding runs no validator and no `__post_init__`: the value was valid when it
was stored, and rules may have changed since.
"""

from __future__ import annotations

import base64
import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from enum import Enum, Flag
from types import NoneType
from typing import Any, Final
from uuid import UUID
from zoneinfo import ZoneInfo

from yourcall.classes import attributes, is_bare, is_model, is_named_tuple, make_model, make_object, reach
from yourcall.entries import Json, canonical
from yourcall.errors import ReplayMismatch, Unstorable

MAX_DEPTH: Final = 64
"""How deep containers may be nested; what contains itself is deeper than that."""

TAG: Final = "$"
_MAX_PLAIN_BITS: Final = 4096  # Python reads and writes no decimal number of more than 4,300 digits


def encode(value: Any, hint: object = None, *, field: str = "value") -> Json:
    """The value as JSON that `decode` turns back into an equal value of the same type, in any process.

    `hint` is the type hint by which classes are found again. Raises `Unstorable`, whose field is the path of what
    cannot be kept, for instance `answer.plan[2].owner`.
    """
    try:
        return _Writer(hint)(value)
    except _Refusal as refusal:
        path = "".join(reversed(refusal.path))
        raise Unstorable(field + path, refusal.type_name, refusal.hint) from None


def decode(data: Json, hint: object = None) -> Any:
    """The value that was encoded, always a new one. Raises `ReplayMismatch` where the hint does not fit any more."""
    try:
        return _read(data, hint)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise ReplayMismatch(
            f"A stored value does not fit its type any more ({type(error).__name__}): a class that it is made of "
            "was renamed, changed or is no longer named by the annotation."
        ) from None


def plain(data: Json) -> Json:
    """A stored value as it is shown: without tags, a class as its fields, text for what JSON lacks.

    An ask may have an encoding of its own, so what only looks like a tag is shown as it is.
    """
    if type(data) is list:
        return [plain(item) for item in data]
    if type(data) is not dict:
        return data
    if TAG not in data:
        return {name: plain(item) for name, item in data.items()}
    match data[TAG]:
        case ["dict", dict(members)] | ["object" | "model", _, dict(members), *_]:
            return {name: plain(item) for name, item in members.items()}
        case ["tuple" | "set" | "frozenset", list(items)] | ["named", _, list(items)]:
            return plain(items)
        case ["datetime" | "time", str(), *_]:
            return _moment(data)
        case ["enum" | "flag", *_, shown] | [
            "int" | "float" | "bytes" | "decimal" | "uuid" | "date" | "timedelta",
            shown,
        ]:
            return shown
    return data


def _moment(data: Json) -> Json:
    try:
        return decode(data).isoformat()
    except ReplayMismatch:
        return data


# --------------------------------------------------------------------------- writing


class _Refusal(Exception):
    """A value that cannot be stored; its path is collected from the inside out."""

    def __init__(self, value: object, hint: str = "") -> None:
        self.type_name, self.hint = type(value).__qualname__, hint
        self.path: list[str] = []


class _Writer:
    """Encodes one value and all that is in it."""

    __slots__ = ("_depth", "_hint")

    def __init__(self, hint: object) -> None:
        self._hint, self._depth = hint, 0

    def __call__(self, value: Any) -> Json:
        # By exact type: a subclass of str would silently come back as a str.
        write = _WRITERS.get(type(value))
        return write(self, value) if write else self._instance(value)

    def items(self, values: Iterable[Any]) -> list[Json]:
        self._descend(values)
        done: list[Json] = []
        try:
            for value in values:
                done.append(self(value))
        except _Refusal as refusal:
            refusal.path.append(f"[{len(done)}]")
            raise
        self._depth -= 1
        return done

    def members(self, values: Mapping[str, Any]) -> dict[str, Json]:
        for name in values:
            if type(name) is not str:
                raise _Refusal(values, f"Its keys must be str, not {type(name).__qualname__}.")
            self.text(name)
        self._descend(values)
        done: dict[str, Json] = {}
        name = ""
        try:
            for name, value in values.items():
                done[name] = self(value)
        except _Refusal as refusal:
            shown = f".{name}" if name.isidentifier() and len(name) <= 64 else f"[{ascii(name)[:64]}]"
            refusal.path.append(shown)
            raise
        self._depth -= 1
        return done

    def _descend(self, container: object) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _Refusal(container, f"It contains itself, or is nested deeper than {MAX_DEPTH} levels.")

    def text(self, value: str) -> str:
        if not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError:
                raise _Refusal(value, "It has text that cannot be stored: a lone surrogate.") from None
        return value

    def mapping(self, value: Mapping[str, Any]) -> Json:
        done = self.members(value)
        return {TAG: ["dict", done]} if TAG in done else done

    def _instance(self, value: Any) -> Json:
        cls = type(value)
        if isinstance(value, Enum):
            return {TAG: self._enum(value)}
        if is_named_tuple(cls) and not object.__getstate__(value):
            return {TAG: ["named", self._name(value), self.items(value)]}
        if dataclasses.is_dataclass(cls) and is_bare(cls):
            return {TAG: ["object", self._name(value), self.members(attributes(value))]}
        if is_model(cls):
            return {TAG: self._model(value)}
        base = next((base for base in cls.__mro__ if base in _WRITERS), None)
        raise _Refusal(value, f"It would come back as a plain {base.__name__}: convert it first." if base else "")

    def _enum(self, value: Enum) -> list[Json]:
        """By name, which outlives a change of values; a combination of flags has only its value."""
        if isinstance(value, Flag) and value.name not in type(value).__members__:
            return ["flag", self._name(value), value.value]
        shown = [self(value.value)] if type(value.value) in (str, int) else []
        return ["enum", self._name(value), value.name, *shown]

    def _model(self, value: Any) -> list[Json]:
        fields = {name: item for name, item in vars(value).items() if name in type(value).__pydantic_fields__}
        extra, private = getattr(value, "__pydantic_extra__", None), getattr(value, "__pydantic_private__", None)
        return [
            "model",
            self._name(value),
            self.members(fields),
            sorted(value.__pydantic_fields_set__),
            None if extra is None else self.members(extra),
            None if private is None else self.members(private),
        ]

    def _name(self, value: object) -> str:
        name = reach(self._hint).names.get(type(value))
        if name is None:
            raise _Refusal(value, "Annotate the return type: its class is not reached from there.")
        return name


def _int(write: _Writer, value: int) -> Json:
    return value if value.bit_length() <= _MAX_PLAIN_BITS else {TAG: ["int", hex(value)]}


def _float(write: _Writer, value: float) -> Json:
    return value if math.isfinite(value) else {TAG: ["float", repr(value)]}


def _datetime(write: _Writer, value: datetime | time) -> Json:
    naive = value.replace(tzinfo=None).isoformat()
    zone, tag = _zone(value.tzinfo), type(value).__name__
    if value.fold:
        return {TAG: [tag, naive, zone, value.fold]}
    return {TAG: [tag, naive] if zone is None else [tag, naive, zone]}


def _zone(zone: tzinfo | None) -> Json:
    """A key of the time zone database, or `[microseconds east of Greenwich, name?]`."""
    if zone is None:
        return None
    if type(zone) is ZoneInfo and zone.key:
        return zone.key
    # The second is what pydantic makes of a parsed offset; it comes back as a `timezone`, which equals it.
    fixed = type(zone) is timezone or type(zone).__module__.startswith("pydantic_core")
    offset = zone.utcoffset(None)
    if not fixed or offset is None:
        raise _Refusal(zone, "Use zoneinfo.ZoneInfo or datetime.timezone.")
    named = type(zone) is timezone and zone.tzname(None) != timezone(offset).tzname(None)
    return [offset // timedelta(microseconds=1), *([zone.tzname(None)] if named else [])]


def _as_is(write: _Writer, value: Any) -> Json:
    return value


def _tagged(tag: str, convert: Callable[[Any], Json]) -> Callable[[_Writer, Any], Json]:
    return lambda write, value: {TAG: [tag, convert(value)]}


_WRITERS: Final[dict[type, Callable[[_Writer, Any], Json]]] = {
    str: _Writer.text,
    int: _int,
    float: _float,
    bool: _as_is,
    NoneType: _as_is,
    list: _Writer.items,
    dict: _Writer.mapping,
    tuple: lambda write, value: {TAG: ["tuple", write.items(value)]},
    # Sorted, so that equal sets have equal bytes in every process.
    set: lambda write, value: {TAG: ["set", sorted(write.items(value), key=canonical)]},
    frozenset: lambda write, value: {TAG: ["frozenset", sorted(write.items(value), key=canonical)]},
    bytes: _tagged("bytes", lambda value: base64.b64encode(value).decode()),
    Decimal: _tagged("decimal", str),
    UUID: _tagged("uuid", str),
    date: _tagged("date", date.isoformat),
    timedelta: _tagged("timedelta", lambda value: [value.days, value.seconds, value.microseconds]),
    datetime: _datetime,
    time: _datetime,
}


# --------------------------------------------------------------------------- reading


def _read(data: Json, hint: object) -> Any:
    if type(data) is list:
        return [_read(item, hint) for item in data]
    if type(data) is not dict:
        return data
    if TAG not in data:
        return {name: _read(item, hint) for name, item in data.items()}
    tag, *parts = data[TAG]
    if tag in _INSTANCES:
        name, *parts = parts
        return _INSTANCES[tag](reach(hint).classes[name], *(_members(part, hint) for part in parts))
    return _BUILTINS[tag](*(_members(part, hint) for part in parts))


def _members(part: Json, hint: object) -> Any:
    """What stands in a tag: an object is a set of names there, whatever its keys are."""
    return {name: _read(item, hint) for name, item in part.items()} if type(part) is dict else _read(part, hint)


_BUILTINS: Final[dict[str, Callable[..., Any]]] = {
    "dict": dict,
    "int": lambda text: int(text, 16),
    "float": float,
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
    "bytes": base64.b64decode,
    "decimal": Decimal,
    "uuid": UUID,
    "date": date.fromisoformat,
    "timedelta": lambda parts: timedelta(*parts),
    "datetime": lambda text, *more: datetime.fromisoformat(text).replace(**_zoned(*more)),
    "time": lambda text, *more: time.fromisoformat(text).replace(**_zoned(*more)),
}


def _zoned(zone: Json = None, fold: int = 0) -> dict[str, Any]:
    if isinstance(zone, list):
        microseconds, *name = zone
        return {"tzinfo": timezone(timedelta(microseconds=microseconds), *name), "fold": fold}
    return {"tzinfo": zone and ZoneInfo(zone), "fold": fold}


_INSTANCES: Final[dict[str, Callable[..., Any]]] = {
    "enum": lambda cls, name, shown=None: cls[name],
    "flag": lambda cls, value: cls(value),
    "named": tuple.__new__,
    "object": make_object,
    "model": make_model,
}
