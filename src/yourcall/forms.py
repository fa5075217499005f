"""`Form(Model)`: ask for the fields of a pydantic model, and get an instance.

The fields are flat: text, numbers, yes or no, dates, one or several of a few choices. That is what a plain form
can draw and what MCP's elicitation can carry; anything else is refused when the form is made, not when a user
sees it. What the client sends is validated as strictly as JSON allows: a number is no text that looks like one.
"""

from __future__ import annotations

import json
import re
import types
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from enum import Enum
from typing import Annotated, Any, Final, Generic, Literal, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, GetJsonSchemaHandler, RootModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema

from yourcall.asks import Ask, Check
from yourcall.entries import Json
from yourcall.errors import Fault, ProgrammingError, Rejected
from yourcall.faults import MAX_WORDS, pointer, said, text_fault, unexpected
from yourcall.wording import INSTEAD, asks_for_secret, names_secret
from yourcall.words import title_of

M = TypeVar("M", bound=BaseModel)

PLAIN: Final = (str, int, float, bool, date, datetime)


class Titles:
    """What the choices of a `Literal` or an `Enum` are called: `Annotated[Literal["kg"], Titles(kg="Kilograms")]`.

    A mapping takes values that are no Python names. Each choice needs a title.
    """

    def __init__(self, titles: Mapping[str, str] | None = None, /, **more: str) -> None:
        self.titles = {**(titles or {}), **more}

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> Json:
        return self._titled(handler(schema), handler)

    def _titled(self, schema: Json, handler: GetJsonSchemaHandler) -> Json:
        """The schema with titles where its choices are: in itself, in an optional, in a list."""
        match _choices(handler.resolve_ref_schema(schema)):
            case {"enum": values, **rest}:
                if wrong := sorted(set(values) ^ set(self.titles)):
                    raise ProgrammingError(f"Titles: each choice needs one title, and no other: {', '.join(wrong)}.")
                return {**rest, "oneOf": [{"const": value, "title": self.titles[value]} for value in values]}
            case {"items": item, **rest}:
                return {**rest, "items": self._titled(item, handler)}
            case {"anyOf": branches, **rest}:
                titled = [one if one.get("type") == "null" else self._titled(one, handler) for one in branches]
                return {**rest, "anyOf": titled}
        raise ProgrammingError("Titles: only the choices of a Literal or an Enum of texts have titles.")


class Form(Ask[M], Generic[M]):
    """Ask the user to fill in `model`; `check` looks at the filled-in model while the card is still open.

    With `attachments`, the answer may name files that were sent ahead; then they are `ctx.attachments`.

    Raises `ProgrammingError`, naming the field, for a model that is no flat form.
    """

    kind = "form"
    payload_says_all = True

    def __init__(
        self,
        model: type[M],
        title: str = "",
        check: Check[M] | None = None,
        *,
        to: str | None = None,
        attachments: bool = False,
    ) -> None:
        if attachments and "files" in model.model_fields:
            raise ProgrammingError("files: with attachments=True, files come under this name; give the field another.")
        self.model, self.title, self.check, self.to = model, title, check, to
        self.attachments = attachments
        self.answer_type = model
        self._schema = _form_schema(model)
        if asks_for_secret(title):
            raise ProgrammingError(f"{model.__name__}: the title {INSTEAD}")

    def payload(self) -> Json:
        return {"title": self.title, "schema": self._schema} | ({"attachments": True} if self.attachments else {})

    def schema(self) -> Json:
        return self._schema

    def identity(self) -> Json:
        return [self.title]

    def parse(self, answer: Json) -> M:
        if not isinstance(answer, dict):
            raise Rejected(faults=[Fault("", "Expected an object with the form's fields.")])
        known = self._schema["properties"]
        faults = unexpected(answer, known)
        unfit = {name: _unfit(answer[name], name, known[name]) for name in known if name in answer}
        faults += [fault for fault in unfit.values() if fault]
        fit = {name: answer[name] for name, fault in unfit.items() if fault is None}
        try:
            # By field name whatever its alias: what the schema names is what is sent, and what a fault points at.
            value = self.model.model_validate_json(json.dumps(fit), strict=True, by_alias=False, by_name=True)
        except ValidationError as error:
            found = [Fault(pointer(*one["loc"]), said(one)) for one in error.errors(include_url=False)]
            places = {fault.pointer for fault in faults}
            raise Rejected(faults=[*faults, *(fault for fault in found if fault.pointer not in places)]) from None
        if faults:
            raise Rejected(faults=faults)
        return value


# --------------------------------------------------------------------------- what is wrong with an answer


def _unfit(value: Json, name: str, field: Json) -> Fault | None:
    """What pydantic would not see, or not in time: text that cannot be stored, endless text, what is no JSON."""
    if isinstance(value, str):
        fault = text_fault(value, name, limit=field.get("maxLength", MAX_WORDS))
        return fault or _no_moment(value, name, field)
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return Fault(pointer(name), "Expected a plain value.")
    return text_fault(text, name, limit=len(text))


def _no_moment(value: str, name: str, field: Json) -> Fault | None:
    """In JSON a date is ISO 8601; pydantic would read figures alone as Unix time."""
    if field.get("format") not in ("date", "date-time") or re.match(r"\d{4}-\d\d-\d\d", value):
        return None
    return Fault(pointer(name), "Must be a date, written as YYYY-MM-DD.")


# --------------------------------------------------------------------------- what is a form


def _form_schema(model: Any) -> Json:
    """JSON Schema of a flat object, without references. Raises `ProgrammingError`."""
    if not (isinstance(model, type) and issubclass(model, BaseModel)) or issubclass(model, RootModel):
        raise ProgrammingError(f"Form needs a pydantic model with fields, not {model!r}.")
    if not model.model_fields:
        raise ProgrammingError(f"{model.__name__} has no fields, so there is nothing to fill in.")
    for name, field in model.model_fields.items():
        if wrong := not_flat(field):
            raise ProgrammingError(f"{model.__name__}.{name}: {wrong}")
    whole = model.model_json_schema(by_alias=False)
    definitions = whole.get("$defs", {})
    properties = {}
    for name, field in model.model_fields.items():
        title = field.title or title_of(name)
        properties[name] = {"title": title} | _drawable(whole["properties"][name], definitions)
        if "type" not in properties[name]:
            raise ProgrammingError(
                f"{model.__name__}.{name}: its validator leaves no type to draw; use AfterValidator."
            )
        if _is_free(properties[name]) and (
            names_secret(properties[name]["title"]) or asks_for_secret(properties[name].get("description", ""))
        ):
            raise ProgrammingError(f"{model.__name__}.{name}: {INSTEAD}")
    return {
        "type": "object",
        "properties": properties,
        "required": whole.get("required", []),
        "additionalProperties": False,
    } | ({"description": whole["description"]} if "description" in whole else {})


def _is_free(schema: Json) -> bool:
    """Whether anything can be typed into it, so that a secret can."""
    return schema["type"] in ("string", "integer", "number") and not {"enum", "oneOf"} & schema.keys()


def _drawable(schema: Json, definitions: Json) -> Json:
    """A field, or what its list holds: an optional one is its own type and just not required."""
    flat = _choices(_resolved(schema, definitions))
    flat.pop("title", None)
    if flat.get("default", ...) is None:
        del flat["default"]
    if "items" in flat:
        flat["items"] = _drawable(flat["items"], definitions)
    if flat.get("type") == "string" and not {"enum", "oneOf", "format"} & flat.keys():
        flat.setdefault("maxLength", MAX_WORDS)
    return flat


def _resolved(schema: Json, definitions: Json) -> Json:
    """Without a reference, and without the alternative of null."""
    match schema:
        case {"$ref": reference, **rest}:
            return {**definitions[reference.rpartition("/")[2]], **rest}
        case {"anyOf": branches, **rest}:
            one = next(branch for branch in branches if branch.get("type") != "null")
            return {**_resolved(one, definitions), **rest}
    return schema


def _choices(schema: Json) -> Json:
    """A copy, in which a single choice is a list of one."""
    copy = dict(schema)
    if "const" in copy:
        copy["enum"] = [copy.pop("const")]
    return copy


def not_flat(field: FieldInfo) -> str | None:
    """Why a plain form cannot have this field, and what to use instead."""
    hint, optional = required_type(field.annotation)
    if optional and field.is_required():
        return "an optional field needs a default, for instance `= None`."
    if get_origin(hint) is list:
        (hint,) = get_args(hint)
        hint, optional = required_type(hint)
        if optional or not _is_choice(hint):
            return "a list in a form is a choice of several: use list[Literal[...]] or a list of an Enum of texts."
    elif hint not in PLAIN and not _is_choice(hint):
        return (
            f"a form has no field for {_name(hint)}. Use str, int, float, bool, date, datetime, a Literal or an "
            "Enum of texts, a list of one of these two, or `| None` with a default."
        )
    return None


def required_type(hint: Any) -> tuple[Any, bool]:
    """The type without annotations, and without None if that is the one alternative."""
    hint = _bare(hint)
    if get_origin(hint) in (Union, types.UnionType):
        rest = [one for one in get_args(hint) if one is not types.NoneType]
        if len(rest) == 1:
            return _bare(rest[0]), True
    return hint, False


def _bare(hint: Any) -> Any:
    while get_origin(hint) is Annotated or hasattr(hint, "__value__"):
        hint = get_args(hint)[0] if get_origin(hint) is Annotated else hint.__value__
    return hint


def _is_choice(hint: Any) -> bool:
    values = list(_values(hint))
    return bool(values) and all(type(value) is str for value in values)


def _values(hint: Any) -> Iterator[Any]:
    if get_origin(hint) is Literal:
        yield from get_args(hint)
    elif isinstance(hint, type) and issubclass(hint, Enum):
        yield from (member.value for member in hint)


def _name(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) else str(hint).replace("typing.", "")
