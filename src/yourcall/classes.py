"""The app's own classes in stored values: which of them a type hint reaches, and how instances are made again.

A name in the log is data. It is never imported; it is looked up among the enums, dataclasses, named tuples and
pydantic models that the hint is made of, with all that their fields are made of. An instance is put together
from its attributes, past its constructor and its validators.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property, lru_cache
from types import SimpleNamespace
from typing import Any, get_args, get_origin, get_type_hints, is_typeddict


@dataclass(frozen=True, slots=True)
class Reach:
    """The classes of a hint, by the names under which they are stored."""

    classes: Mapping[str, type]
    names: Mapping[type, str]


def reach(hint: object) -> Reach:
    """The classes that can be reached from a type hint."""
    try:
        hash(hint)
    except TypeError:  # for instance `Annotated` with a list in it
        return _reach(hint)
    return _cached(hint)


def is_model(cls: type) -> bool:
    """Whether it is a pydantic model; asking does not import pydantic."""
    main = sys.modules.get("pydantic.main")
    return main is not None and issubclass(cls, main.BaseModel)


def is_named_tuple(cls: type) -> bool:
    return issubclass(cls, tuple) and hasattr(cls, "_fields")


def _reach(hint: object) -> Reach:
    found = [cls for cls in _walk(hint) if isinstance(cls, type) and _is_ours(cls)]
    short = Counter(cls.__qualname__ for cls in found)
    full = Counter(_full_name(cls) for cls in found)
    names = {
        # Without its module where that is enough: a class may move, and `__main__` may be imported under its name.
        cls: cls.__qualname__ if short[cls.__qualname__] == 1 else _full_name(cls)
        for cls in found
        if full[_full_name(cls)] == 1
    }
    return Reach({name: cls for cls, name in names.items()}, names)


_cached = lru_cache(maxsize=1024)(_reach)


def _full_name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def _is_ours(cls: type) -> bool:
    return issubclass(cls, Enum) or dataclasses.is_dataclass(cls) or is_named_tuple(cls) or is_model(cls)


def _walk(hint: object) -> Iterator[object]:
    """Everything that a hint is made of, each once: hints may be recursive."""
    seen: dict[int, object] = {}
    todo = [hint]
    while todo:
        part = todo.pop()
        if id(part) not in seen:
            seen[id(part)] = part
            yield part
            todo.extend(_parts(part))


def _parts(hint: object) -> Iterable[object]:
    if isinstance(hint, type) and get_origin(hint) is None:
        return _fields(hint) if _is_ours(hint) or is_typeddict(hint) else ()
    if isinstance(hint, Enum):  # in a Literal
        return (type(hint),)
    inner = (getattr(hint, name, None) for name in ("__supertype__", "__value__"))  # a NewType, a type alias
    return (*get_args(hint), get_origin(hint), *inner)


def _fields(cls: type) -> Iterator[object]:
    """The types of a class's attributes. A model has resolved those of its fields itself, type variables too."""
    if is_model(cls):
        fields: Mapping[str, Any] = getattr(cls, "__pydantic_fields__", {})
        yield from (field.annotation for field in fields.values())
    for base in cls.__mro__:
        for annotation in inspect.get_annotations(base).values():
            yield from _resolved(annotation, base)


def _resolved(annotation: object, owner: type) -> Iterator[object]:
    """One annotation, on its own: a name that only type checkers know must not hide the others."""
    module = sys.modules.get(owner.__module__)
    names = {owner.__name__: owner, **vars(owner)}
    holder = SimpleNamespace(__annotations__={"it": annotation})
    try:
        yield get_type_hints(holder, vars(module) if module else {}, names, include_extras=True)["it"]
    except (NameError, AttributeError, TypeError, SyntaxError):
        return


# --------------------------------------------------------------------------- instances


def attributes(value: object) -> dict[str, Any]:
    """All attributes, in slots or not, fields or not, but for what typing or a cache left there."""
    state = object.__getstate__(value)
    found: dict[str, Any] = {}
    for part in state if isinstance(state, tuple) else (state,):
        found |= part or {}
    found.pop("__orig_class__", None)
    cls = type(value)
    return {n: item for n, item in found.items() if not isinstance(getattr(cls, n, None), cached_property)}


def is_bare(cls: type) -> bool:
    """Whether an instance is nothing but its attributes: not a dataclass that is also, say, an exception."""
    try:
        object.__new__(cls)
    except TypeError:
        return False
    return True


def make_object(cls: type[Any], state: dict[str, Any]) -> Any:
    """Without its constructor. A field that is newer than the value has its default."""
    value = object.__new__(cls)
    for one in dataclasses.fields(cls):
        if one.name in state:
            continue
        if one.default is not dataclasses.MISSING:
            state[one.name] = one.default
        elif one.default_factory is not dataclasses.MISSING:
            state[one.name] = one.default_factory()
        elif one.init:
            raise LookupError(one.name)
    for name, item in state.items():
        object.__setattr__(value, name, item)
    return value


def make_model(cls: Any, known: Any, fields_set: list[str], extra: Any, private: Any) -> Any:
    """Without its validators. A field that is newer than the value has its default; one that is gone is left out."""
    state: dict[str, Any] = {}
    for name, one in cls.__pydantic_fields__.items():
        if name not in known and one.is_required():
            raise LookupError(name)
        state[name] = known[name] if name in known else one.get_default(call_default_factory=True, validated_data=state)
    value = cls.__new__(cls)
    object.__setattr__(value, "__dict__", state)
    object.__setattr__(value, "__pydantic_fields_set__", set(fields_set))
    if not cls.__pydantic_root_model__:
        object.__setattr__(value, "__pydantic_extra__", extra)
        object.__setattr__(value, "__pydantic_private__", private)
    return value
