"""A value in words: what a person reads who is to say yes or no to it.

Names become titles and values become text; what could not be seen is shown by its number, so that nobody approves
what they were not shown. Nothing is left out, cut or summed up.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time
from enum import Enum
from typing import Any, Final

from pydantic import BaseModel

from yourcall.texts import seen


def title_of(name: str) -> str:
    """A name of Python's as people write it: `due_date` is "Due date"."""
    words = name.strip("_").replace("_", " ")
    return words[:1].upper() + words[1:]


def has_fields(value: Any) -> bool:
    """Whether it is a model, a dataclass or a dict."""
    return isinstance(value, BaseModel | Mapping) or (dataclasses.is_dataclass(value) and not isinstance(value, type))


def fields_of(value: Any) -> Iterator[tuple[str, str, Any]]:
    """The name, the title and the value of each field of what has fields."""
    if isinstance(value, BaseModel):
        for name, field in type(value).model_fields.items():
            yield name, field.title or title_of(name), getattr(value, name)
        yield from ((name, title_of(name), item) for name, item in (value.model_extra or {}).items())
    elif isinstance(value, Mapping):
        yield from ((str(name), title_of(str(name)), item) for name, item in value.items())
    else:
        yield from ((one.name, title_of(one.name), getattr(value, one.name)) for one in dataclasses.fields(value))


def in_words(value: Any, titles: Mapping[str, str] | None = None) -> str:
    """The value as text of one or more lines. `titles` are what choices are called."""
    match value:
        case None | "":
            return "—"
        case bool():
            return "Yes" if value else "No"
        case Enum():
            return in_words(value.value if isinstance(value.value, str) else title_of(value.name.lower()), titles)
        case str():
            return seen((titles or {}).get(value, value))
        case date() | time():
            return moment(value)
        case list() | tuple() | set() | frozenset():
            return _listed(value, titles)
    if has_fields(value):
        return "\n".join(_line(title, item) for _, title, item in fields_of(value)) or "—"
    return seen(str(value))


_MONTHS: Final = "January February March April May June July August September October November December".split()


def moment(value: date | time) -> str:
    """A day, a time of day or both, to the second, with the zone if it has one: "1 March 2026, 18:30 UTC"."""
    day = f"{value.day} {_MONTHS[value.month - 1]} {value.year}" if isinstance(value, date) else ""
    if not isinstance(value, datetime | time):
        return day
    clock = f"{value:%H:%M:%S}".removesuffix(":00")
    return ", ".join(filter(None, [day, f"{clock} {value.tzname() or ''}".rstrip()]))


def format_of(value: Any) -> str | None:
    """What JSON Schema calls this moment, if it is one: a page can say it in its user's language and zone."""
    match value:
        case datetime():
            return "date-time"
        case date():
            return "date"
        case time():
            return "time"
    return None


def _listed(value: Any, titles: Mapping[str, str] | None) -> str:
    items = [in_words(item, titles) for item in value]
    if isinstance(value, set | frozenset):
        items.sort()
    if any("\n" in item or "," in item for item in items):
        return "\n".join("• " + item.replace("\n", "\n  ") for item in items)
    return ", ".join(items) or "—"


def _line(title: str, item: Any) -> str:
    words = in_words(item)
    return f"{seen(title)}: {words}" if "\n" not in words else f"{seen(title)}:\n  " + words.replace("\n", "\n  ")
