"""`Confirm(title, value)`: a yes or a no to what is shown, in words, and the value back as it was approved.

What is approved is what is there already: an answer carries a decision and, of the fields that may be edited, the
new values; nothing else of it is looked at, and anything else in it is refused. A no is no answer but an ending:
`Declined`, with the reason if there is one.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Generic, TypeVar, get_origin, get_type_hints, overload

from pydantic import BaseModel, Field, ValidationError, create_model
from pydantic.fields import FieldInfo
from pydantic_core import to_jsonable_python

from yourcall.asks import Ask, Check
from yourcall.entries import Json, canonical
from yourcall.errors import Declined, Fault, ProgrammingError, Rejected, TooMuchToShow
from yourcall.faults import MAX_WORDS, pointer, said, text_fault, unexpected
from yourcall.forms import Form, Titles, not_flat, required_type
from yourcall.questions import MAX_BYTES, MAX_PROMPT
from yourcall.texts import amiss, blank, seen
from yourcall.values import decode, encode
from yourcall.wording import INSTEAD, asks_for_secret
from yourcall.words import fields_of, format_of, has_fields, in_words

T = TypeVar("T")

TEXT: Final = "text"
"""The name of what is edited where the value is a text."""


@dataclass(frozen=True, slots=True)
class _Part:
    """One thing that is shown: a field of the value, or the value itself. `hint` is what it may be edited to."""

    name: str
    title: str
    value: Any
    hint: Any

    @property
    def info(self) -> FieldInfo:
        return FieldInfo.from_annotation(self.hint)

    @property
    def words(self) -> str:
        titles = [one.titles for one in self.info.metadata if isinstance(one, Titles)]
        return in_words(self.value, *titles[:1])

    @property
    def drawn(self) -> dict[str, Json]:
        """The row of it; a moment goes along as such, for a card to say it in its user's own time."""
        form = format_of(self.value)
        return {"title": self.title, "text": self.words} | (
            {"format": form, "value": self.value.isoformat()} if form else {}
        )

    @property
    def stored(self) -> Json:
        return encode(self.value, self.hint, field=self.name)


class Confirm(Ask[T], Generic[T]):
    """Ask the user for a yes to `value`: a pydantic model, a dataclass, a dict, a text, or nothing but the title.

    `editable` names the fields that the user may change first, or is True for all of them, or for a text; they are
    validated as a form's are, and then with the whole value. `words` says what is shown in place of the fields, and
    `hints` are types for the values of a dict. `check` looks at the approved value while the card is still open.
    Raises `ProgrammingError`, naming the field, for a field that a form cannot have, and `Unstorable`.
    """

    kind = "confirm"
    payload_says_all = True

    @overload
    def __init__(self: Confirm[None], title: str, *, to: str | None = None) -> None: ...
    @overload
    def __init__(
        self: Confirm[T],
        title: str,
        value: T,
        *,
        editable: Iterable[str] | bool = (),
        words: Callable[[T], str] | None = None,
        hints: Mapping[str, Any] | None = None,
        check: Check[T] | None = None,
        to: str | None = None,
    ) -> None: ...
    def __init__(
        self,
        title: str,
        value: Any = None,
        *,
        editable: Iterable[str] | bool = (),
        words: Callable[[Any], str] | None = None,
        hints: Mapping[str, Any] | None = None,
        check: Check[Any] | None = None,
        to: str | None = None,
    ) -> None:
        if wrong := amiss(title, MAX_PROMPT, lines=True):
            raise ProgrammingError(f"title {wrong}")
        if asks_for_secret(title):
            raise ProgrammingError(f"title {INSTEAD}")
        self.title, self.value, self.check, self.to = title, value, check, to
        self._parts = {part.name: part for part in _parts(value, hints or {})}
        self._edited = _Editor(self._parts, editable)
        self._words = None if words is None else in_words(words(value))
        self._payload = self._drawn()
        if (size := len(canonical(self._payload))) > MAX_BYTES:
            raise TooMuchToShow(size, MAX_BYTES)

    def _drawn(self) -> Json:
        rows = [
            part.drawn | ({"name": name} if name in self._edited.schema else {}) for name, part in self._parts.items()
        ]
        if self._words is not None:
            rows = [{"title": "", "text": self._words}, *(row for row in rows if "name" in row)]
        fields = {"fields": self._edited.schema, "required": self._edited.required} if self._edited.schema else {}
        return {"title": self.title, "shown": rows, **fields}

    def payload(self) -> Json:
        return self._payload

    def schema(self) -> Json:
        return answer_schema(self._payload)

    def identity(self) -> Json:
        return [self.title, self._words, {name: part.stored for name, part in self._parts.items()}]

    def parse(self, answer: Json) -> T:
        """The approved value. Raises `Declined` for a no, and `Rejected` for what is neither."""
        match answer:
            case {"approved": True}:
                faults = unexpected(answer, ("approved", "edits"))
                edits = self._edited.parse(answer.get("edits"), faults)
                value: T = self._with(edits) if edits else self.value
                return value
            case {"approved": False}:
                _require_reason(answer)
                reason = answer.get("reason")
                raise Declined(None if reason is None or blank(reason) else reason)
        raise Rejected(faults=[Fault("/approved", "Say true to approve, or false to decline.")])

    def _with(self, edits: dict[str, Any]) -> Any:
        """The value with these fields, valid as a whole."""
        try:
            match self.value:
                case BaseModel():
                    whole = dict(self.value) | edits
                    return type(self.value).model_validate(whole, by_alias=False, by_name=True)
                case Mapping():
                    return dict(self.value) | edits
                case str():
                    return edits[TEXT]
            return dataclasses.replace(self.value, **edits)
        except ValidationError as error:
            found = error.errors(include_url=False)
            raise Rejected(faults=[Fault(_place(one["loc"], edits), said(one)) for one in found]) from None
        except (ValueError, AssertionError) as error:
            raise Rejected(faults=[Fault("", str(error))]) from None

    def encode(self, value: T) -> Json:
        """What became of the value by its edits; the rest of it is in the digest."""
        new = {part.name: part for part in _parts(value, {part.name: part.hint for part in self._parts.values()})}
        edits = {name: part.stored for name, part in new.items() if part.stored != self._parts[name].stored}
        return {"approved": True} | ({"edits": edits} if edits else {})

    def decode(self, stored: Json) -> T:
        edits = {name: decode(one, self._parts[name].hint) for name, one in stored.get("edits", {}).items()}
        value: T = _changed(self.value, edits) if edits else self.value
        return value


def answer_schema(payload: Json) -> Json:
    """JSON Schema of the answer, as it follows from what the card draws."""
    edits = {"type": "object", "properties": payload.get("fields", {}), "additionalProperties": False}
    return {
        "type": "object",
        "description": "\n".join(": ".join(filter(None, (row["title"], row["text"]))) for row in payload["shown"]),
        "properties": {
            "approved": {"type": "boolean", "title": payload["title"]},
            "reason": {"type": ["string", "null"], "maxLength": MAX_WORDS},
        }
        | ({"edits": edits} if "fields" in payload else {}),
        "required": ["approved"],
        "additionalProperties": False,
    }


def _require_reason(answer: dict[str, Json]) -> None:
    faults = unexpected(answer, ("approved", "reason"))
    match answer.get("reason"):
        case None:
            pass
        case str(reason):
            faults += filter(None, [text_fault(reason, "reason")])
        case _:
            faults.append(Fault("/reason", "Expected text."))
    if faults:
        raise Rejected(faults=faults)


def _place(loc: tuple[int | str, ...], edits: Mapping[str, Any]) -> str:
    """Where the user can mend it: in the field, if they edited that one."""
    return pointer("edits", *loc) if loc and loc[0] in edits else ""


# --------------------------------------------------------------------------- the value, part by part


def _parts(value: Any, hints: Mapping[str, Any]) -> Iterable[_Part]:
    if not has_fields(value):
        return [] if value is None else [_Part(TEXT, "", value, hints.get(TEXT, type(value)))]
    own = {**_hints(value), **hints}
    parts = []
    for name, title, item in fields_of(value):
        hint = own.get(name, type(item))
        parts.append(_Part(name, FieldInfo.from_annotation(hint).title or title, item, hint))
    return parts


def _hints(value: Any) -> Mapping[str, Any]:
    if isinstance(value, BaseModel):
        return {name: _hint(field) for name, field in type(value).model_fields.items()}
    return {} if isinstance(value, Mapping) else get_type_hints(type(value), include_extras=True)


def _hint(field: FieldInfo) -> Any:
    return Annotated[(field.annotation, *field.metadata, Field(title=field.title, description=field.description))]


def _changed(value: Any, edits: dict[str, Any]) -> Any:
    """As it was recorded, past all validators: it was valid then."""
    match value:
        case BaseModel():
            return value.model_copy(update=edits)
        case Mapping():
            return dict(value) | edits
        case str():
            return edits[TEXT]
    changed = copy.copy(value)
    for name, item in edits.items():
        object.__setattr__(changed, name, item)  # it may be frozen
    return changed


# --------------------------------------------------------------------------- what may be edited


class _Editor:
    """A form of the parts that may be edited. What is left out of it stays; what is empty in it becomes empty."""

    def __init__(self, parts: Mapping[str, _Part], editable: Iterable[str] | bool) -> None:
        self._hints = {name: parts[name].hint for name in _names(parts, editable)}
        self._fields = {f"field{n}": name for n, name in enumerate(self._hints)}
        self.schema: dict[str, Json] = {}
        self.required: list[str] = []
        if not self._hints:
            return
        own: dict[str, Any] = {
            field: (parts[name].hint, Field(default=None, title=parts[name].title))
            for field, name in self._fields.items()
        }
        self._form: Form[Any] = Form(create_model("Edits", **own))
        drawn = self._form.schema()["properties"]  # which refuses what asks for a secret, by its title
        for field, name in self._fields.items():
            now = to_jsonable_python(parts[name].value)
            self.schema[name] = drawn[field] | ({} if now is None else {"default": now})
            if isinstance(now, str) and seen(now) != now:
                self.schema[name]["description"] = seen(now)  # a field shows only what can be seen
            if _empty(self._hints[name]) is ...:
                self.required.append(name)

    def parse(self, given: Json, faults: list[Fault]) -> dict[str, Any]:
        """The edited values by name. Raises `Rejected`, with these faults among its own."""
        if not isinstance(given, dict | None):
            raise Rejected(faults=[*faults, Fault("/edits", "Expected an object with what was edited.")])
        given = given or {}
        faults += unexpected(given, self.schema, "edits")
        known = {
            field: _emptied(given[name], self._hints[name]) for field, name in self._fields.items() if name in given
        }
        edits = {}
        if known:
            try:
                filled = self._form.parse(known)
                edits = {self._fields[field]: getattr(filled, field) for field in filled.model_fields_set}
            except Rejected as refused:
                faults += [dataclasses.replace(fault, pointer=self._place(fault.pointer)) for fault in refused.faults]
        if faults:
            raise Rejected(faults=faults)
        return edits

    def _place(self, place: str) -> str:
        _, field, *rest = place.split("/")
        return "/".join([pointer("edits", self._fields[field]), *rest])


def require_editable(hints: Mapping[str, Any], editable: Iterable[str] | bool) -> None:
    """Raises `ProgrammingError` for a field that may be edited and that a form cannot have."""
    _names({name: _Part(name, "", None, hint) for name, hint in hints.items()}, editable)


def _names(parts: Mapping[str, _Part], editable: Iterable[str] | bool) -> Iterable[str]:
    """The parts that may be edited. Raises `ProgrammingError` for one that a form cannot have."""
    names = (list(parts) if editable else []) if isinstance(editable, bool) else list(editable)
    for name in names:
        if name not in parts:
            raise ProgrammingError(f"editable {name!r}: the value has no such field.")
        if wrong := not_flat(FieldInfo.from_annotated_attribute(parts[name].hint, None)):
            raise ProgrammingError(f"editable {name!r}: {wrong}")
    return names


def _empty(hint: Any) -> Any:
    """What a field is that was emptied; `...` if it cannot be."""
    kind, optional = required_type(hint)
    if optional:
        return None
    return "" if kind is str else [] if get_origin(kind) is list else ...


def _emptied(given: Json, hint: Any) -> Json:
    empty = _empty(hint)
    return empty if given is None and empty is not ... else given
