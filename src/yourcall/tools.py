"""`@tool`: a typed function becomes a tool that a model can call.

The schema that the model sees and the validation of what it sends come from the function's signature; a first
parameter annotated `Context` is injected and hidden. `def` tools run in worker threads.
"""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Annotated, Any, Concatenate, Generic, ParamSpec, TypeAlias, get_origin, get_type_hints, overload

import anyio.to_thread
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import PydanticSerializationError, to_jsonable_python
from typing_extensions import TypeVar

from yourcall import errors
from yourcall.consent import Consent
from yourcall.context import Context
from yourcall.credentials import Credential
from yourcall.entries import Json, compact, storable
from yourcall.ports import ToolSpec

D = TypeVar("D", default=Any, contravariant=True)
D2 = TypeVar("D2")
P = ParamSpec("P")
R = TypeVar("R")

When: TypeAlias = Callable[[Context[Any]], bool | Awaitable[bool]] | Credential
"""Whether a tool is offered to the model at a step: while the user has a credential, or by a function, which is asked
before each step with a context that cannot ask."""


@dataclass(frozen=True, slots=True)
class Tool(Generic[D]):
    """A tool: what the model sees of it, and how its body is run. Made by `@tool`; call it to call the function."""

    name: str
    description: str
    schema: Json
    fn: Callable[..., Any]
    arguments: type[BaseModel]
    takes_context: bool
    hold: bool = False
    idempotent: bool = False
    when: When | None = None
    consent: Consent | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The plain function, for tests and for calls from other code; nobody is asked for consent."""
        return self.fn(*args, **kwargs)

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(self.name, self.description, self.schema)

    @property
    def rerun(self) -> bool:
        """Whether its body may be executed again after a crash: it knows of re-execution, or is idempotent."""
        return self.takes_context or self.idempotent

    @property
    def offered_for(self) -> Credential | None:
        """The credential without which it is not offered."""
        return self.when if isinstance(self.when, Credential) else None

    def parse(self, args: str) -> dict[str, Any]:
        """The model's JSON as the function's arguments. Raises `ToolError`, in words that let the model mend it."""
        try:
            parsed = self.arguments.model_validate_json(args or "{}")
        except ValidationError as error:
            faults = error.errors(include_url=False, include_input=False, include_context=False)
            raise errors.ToolError("; ".join(_fault(fault["loc"], fault["msg"]) for fault in faults)) from None
        fields = type(parsed).model_fields
        return {field.alias or name: getattr(parsed, name) for name, field in fields.items()}

    async def invoke(self, ctx: Context[Any], arguments: dict[str, Any]) -> Json:
        """Run the body from the top, if the user consents; what it returns, as the model reads it: text or JSON."""
        if self.consent:
            arguments = self.consent.given(ctx, arguments)
        call = functools.partial(self.fn, *([ctx] if self.takes_context else []), **arguments)
        if inspect.iscoroutinefunction(self.fn):
            with ctx.at_home(sync=False, offered_for=self.offered_for):
                value = await call()
        else:
            value, error = await anyio.to_thread.run_sync(_in_thread, ctx, call, abandon_on_cancel=True)
            if error is not None:
                raise error
            if inspect.isawaitable(value):  # an `async def` behind a plain wrapper
                with ctx.at_home(sync=False, offered_for=self.offered_for):
                    value = await value
        return _readable(self.name, value)


def _in_thread(ctx: Context[Any], call: Callable[[], Any]) -> tuple[Any, BaseException | None]:
    """What it returns, or raises: some exceptions mean something else to a future, and would not come out of it."""
    with ctx.at_home(sync=True):
        try:
            return call(), None
        except BaseException as error:
            return None, error


def _readable(name: str, value: Any) -> Json:
    try:
        plain = to_jsonable_python(value, bytes_mode="base64")
        text = compact(plain)
        if "NaN" in text or "Infinity" in text:  # which JSON lacks; as text they are read by every provider
            plain = json.loads(text, parse_constant=str)
        return storable(plain)
    except (PydanticSerializationError, ValueError, RecursionError):
        message = f"{name} returned a {type(value).__name__} that cannot be turned into JSON."
        raise errors.ProgrammingError(message) from None


def _fault(loc: tuple[int | str, ...], message: str) -> str:
    return f"{'.'.join(map(str, loc))}: {message}" if loc else message


# --------------------------------------------------------------------------- the decorator


@overload
def tool(fn: Callable[Concatenate[Context[D2], P], Any], /) -> Tool[D2]: ...
@overload
def tool(fn: Callable[..., Any], /) -> Tool[Any]: ...
@overload
def tool(
    *,
    name: str | None = None,
    when: When | None = None,
    hold: bool = False,
    idempotent: bool = False,
    confirm: bool | str = False,
    editable: Iterable[str] | bool = (),
) -> _Decorator: ...
def tool(
    fn: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    when: When | None = None,
    hold: bool = False,
    idempotent: bool = False,
    confirm: bool | str = False,
    editable: Iterable[str] | bool = (),
) -> Any:
    """Make a tool of a typed function; its docstring tells the model what it does.

    `name` is the function's own by default. `when` offers it only at some steps, or while the user has a credential.
    `hold=True` makes it wait for the other calls of its step, and not run at all if one of those asked the user.
    `idempotent=True` says that it may be executed again after a crash. `confirm` has the user approve each call
    first, under this title or that of its name: the arguments are shown in words, those that are `editable` may be
    changed, and what was approved is what runs. Raises `ProgrammingError` for a signature that no model could fill.
    """
    frame = inspect.currentframe()
    scope = dict(frame.f_back.f_locals) if frame and frame.f_back else {}
    consent = functools.partial(_consent, confirm=confirm, editable=editable)
    make = functools.partial(
        _make, scope=scope, name=name, consent=consent, when=when, hold=hold, idempotent=idempotent
    )
    return make if fn is None else make(fn)


class _Decorator:
    """The type of `@tool(...)`, for type checkers."""

    @overload
    def __call__(self, fn: Callable[Concatenate[Context[D2], P], Any], /) -> Tool[D2]: ...
    @overload
    def __call__(self, fn: Callable[..., Any], /) -> Tool[Any]: ...
    def __call__(self, fn: Any, /) -> Any: ...


def _consent(
    name: str, hints: dict[str, Any], *, confirm: bool | str, editable: Iterable[str] | bool
) -> Consent | None:
    if editable and not confirm:
        raise errors.ProgrammingError(f"{name}: what is editable is edited as it is confirmed; add confirm=True.")
    return Consent.of(name, confirm, hints, editable) if confirm else None


def _make(
    fn: Callable[..., Any],
    *,
    scope: dict[str, Any],
    name: str | None,
    consent: Callable[[str, dict[str, Any]], Consent | None],
    **flags: Any,
) -> Tool[Any]:
    name = name or getattr(fn, "__name__", None)
    if name is None:
        raise errors.ProgrammingError(f"@tool goes on a function; a {type(fn).__name__} is none.")
    try:
        hints = get_type_hints(fn, localns=scope, include_extras=True)
    except NameError as error:
        raise errors.ProgrammingError(f"{name}: {error}. Its annotations must be known when it is decorated.") from None
    parameters = list(inspect.signature(fn).parameters.values())
    takes_context = bool(parameters) and _is_context(hints.get(parameters[0].name))
    if takes_context and parameters[0].kind is inspect.Parameter.KEYWORD_ONLY:
        raise errors.ProgrammingError(f"{name}: the Context is passed by position; put it before the `*`.")
    parameters = parameters[takes_context:]
    arguments = _arguments(name, parameters, hints)
    return Tool(
        name=name,
        description=inspect.getdoc(fn) or "",
        schema=_schema(name, arguments),
        fn=fn,
        arguments=arguments,
        takes_context=takes_context,
        consent=consent(name, {parameter.name: hints[parameter.name] for parameter in parameters}),
        **flags,
    )


def _is_context(hint: Any) -> bool:
    return hint is Context or get_origin(hint) is Context


def _arguments(name: str, parameters: list[inspect.Parameter], hints: dict[str, Any]) -> type[BaseModel]:
    fields: dict[str, Any] = {}
    for number, parameter in enumerate(parameters):
        hint = hints.get(parameter.name)
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise errors.ProgrammingError(f"{name}: {parameter} cannot be filled by a model; name each parameter.")
        if hint is None and parameter.annotation is parameter.empty:
            raise errors.ProgrammingError(f"{name}: annotate the parameter {parameter.name!r} with its type.")
        if _is_context(hint):
            raise errors.ProgrammingError(f"{name}: the Context must be the first parameter.")
        default = ... if parameter.default is parameter.empty else parameter.default
        # Numbered fields with aliases: a parameter may be called `copy` or `_x` without meeting BaseModel's own names.
        fields[f"field{number}"] = (Annotated[hint, Field(alias=parameter.name)], default)
    try:
        return create_model(f"{name}_arguments", __config__=ConfigDict(extra="forbid"), **fields)
    except (PydanticSchemaGenerationError, PydanticUserError) as error:
        raise errors.ProgrammingError(f"{name}: {str(error).splitlines()[0]}") from None


class _PlainSchema(GenerateJsonSchema):
    """Without titles: they repeat the names and cost tokens in every request."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def _schema(name: str, arguments: type[BaseModel]) -> Json:
    try:
        schema = arguments.model_json_schema(schema_generator=_PlainSchema)
    except PydanticUserError as error:
        raise errors.ProgrammingError(f"{name}: {str(error).splitlines()[0]}") from None
    schema.pop("title", None)
    return {"type": "object", "properties": {}} | schema
