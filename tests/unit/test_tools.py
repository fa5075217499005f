"""`@tool`: what a signature becomes, what arguments the model may send, and what it reads of a result."""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, SecretStr

from tests.scene import Process, Say, Scene
from yourcall import Agent, Context, ProgrammingError, Tool, ToolError, Unavailable, tool
from yourcall.entries import Json
from yourcall.log import Done, Waiting
from yourcall.testing import ScriptedModel

pytestmark = pytest.mark.anyio


# --------------------------------------------------------------------------- signatures


def test_a_tool_is_what_its_signature_says() -> None:
    """Name, docstring and annotations are what the model sees; the context is hidden."""

    @tool
    def weather(ctx: Context, city: str, days: Annotated[int, Field(ge=1, description="How many.")] = 3) -> str:
        """The weather of a city.

        Over the next days.
        """
        return f"{city} {days}"

    assert weather.name == "weather"
    assert weather.description == "The weather of a city.\n\nOver the next days."
    assert weather.schema == {
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer", "default": 3, "minimum": 1, "description": "How many."},
        },
        "required": ["city"],
        "additionalProperties": False,
    }
    assert weather.rerun
    assert weather(Context(), "Berlin") == "Berlin 3"


def test_a_tool_may_have_no_parameters() -> None:
    """Its schema is an object without properties, as providers want it."""

    @tool
    def ping() -> str:
        return "pong"

    assert ping.schema == {"type": "object", "properties": {}, "additionalProperties": False}
    assert ping.description == ""
    assert not ping.rerun


def test_options_are_kept() -> None:
    """`@tool(...)` takes a name, and says how the tool is run."""

    @tool(name="other", hold=True, idempotent=True)
    def t(x: int) -> int:
        return x

    assert (t.name, t.hold, t.idempotent, t.rerun) == ("other", True, True, True)


async def called(scene: Scene, made: Tool[Any], args: Json) -> Json:
    """What the model reads when it calls the tool with these arguments."""
    async with scene.process(made, steps=[[(made.name, args)]]) as p:
        assert await p.say() == Done()
        return await p.content()


async def test_parameters_may_have_any_name(scene: Scene) -> None:
    """Also those that a pydantic model has for itself, or that begin with an underscore."""

    @tool
    def t(
        copy: int, json: str, _x: int, model_config: int, schema: int, dict: int, self: int, *, validate: int
    ) -> Json:
        return [copy, json, _x, model_config, schema, dict, self, validate]

    names = ["copy", "json", "_x", "model_config", "schema", "dict", "self", "validate"]
    assert isinstance(t.schema, dict)
    assert list(t.schema["properties"]) == names
    assert await called(scene, t, {name: number for number, name in enumerate(names)} | {"json": "j"}) == [
        *(0, "j", 2, 3, 4, 5, 6, 7)
    ]


async def test_defaults_and_keyword_only_parameters_are_the_functions_own(scene: Scene) -> None:
    """What the model leaves out has the function's default, a new one for each call."""

    @tool
    def t(ctx: Context, a: int, b: list[int] = [], *, c: str = "c", d: int = Field(4, ge=1)) -> Json:  # noqa: B006
        b.append(a)
        return [a, b, c, d]

    async with scene.process(t, steps=[[("t", {"a": 1}), ("t", {"a": 2, "c": "x"})]]) as p:
        await p.say()
        assert await p.content("call_1_1") == [1, [1], "c", 4]
        assert await p.content("call_1_2") == [2, [2], "x", 4]


async def test_models_defined_beside_the_tool_are_found(scene: Scene) -> None:
    """With postponed annotations, a class of the enclosing function is looked up where the tool is made."""

    class Lift(BaseModel):
        day: date
        kilograms: Decimal = Field(gt=0)

    @dataclass
    class Plan:
        lifts: list[Lift]

    class Unit(Enum):
        KG = "kg"

    @tool
    def t(plan: Plan, unit: Unit) -> str:
        return f"{plan.lifts[0].day:%d.%m.} {plan.lifts[0].kilograms} {unit.name}"

    @tool(name="u")
    def u(plan: Plan) -> int:
        return len(plan.lifts)

    args = {"plan": {"lifts": [{"day": "2026-01-02", "kilograms": "82.5"}]}, "unit": "kg"}
    assert await called(scene, t, args) == "02.01. 82.5 KG"
    assert u.schema == tool(u.fn).schema


def context_second(x: int, ctx: Context) -> int:
    return x


def context_twice(ctx: Context, other: Context[int]) -> int:
    return 1


def context_by_keyword(*, ctx: Context, x: int = 1) -> int:
    return x


def context_optional(ctx: Context | None, x: int) -> int:
    return x


def any_number(*numbers: int) -> int:
    return len(numbers)


def any_names(**numbers: int) -> int:
    return len(numbers)


def by_position(x: int, /) -> int:
    return x


def untyped(x) -> int:  # type: ignore[no-untyped-def]  # this is the mistake
    return 1


def unknown_type(x: Nowhere) -> int:  # type: ignore[name-defined]  # noqa: F821  # this is the mistake
    return 1


def no_schema(x: Callable[[], int]) -> int:
    return x()


class Opaque:
    def __call__(self, x: int) -> int:
        return x


def opaque(x: Opaque) -> int:
    return 1


BAD: dict[str, tuple[Callable[..., Any], str]] = {
    "context-second": (context_second, "the Context must be the first parameter"),
    "context-twice": (context_twice, "the Context must be the first parameter"),
    "context-by-keyword": (context_by_keyword, "passed by position"),
    "context-optional": (context_optional, "context_optional: "),
    "star-args": (any_number, "cannot be filled by a model"),
    "star-star": (any_names, "cannot be filled by a model"),
    "positional-only": (by_position, "cannot be filled by a model"),
    "untyped": (untyped, "annotate the parameter 'x'"),
    "unknown-type": (unknown_type, "'Nowhere' is not defined"),
    "no-json-schema": (no_schema, "no_schema: "),
    "no-schema-at-all": (opaque, "opaque: "),
    "an-object": (Opaque(), "@tool goes on a function"),
    "a-partial": (functools.partial(by_position, 1), "@tool goes on a function"),
}


@pytest.mark.parametrize("mistake", BAD)
def test_a_signature_that_no_model_can_fill_is_refused_when_it_is_decorated(mistake: str) -> None:
    """The developer learns of it at import, with what to change; not the user, in the middle of a conversation."""
    fn, text = BAD[mistake]
    with pytest.raises(ProgrammingError) as refusal:
        tool(fn)
    assert text in str(refusal.value)


def test_two_tools_of_an_agent_have_two_names() -> None:
    """The log knows a tool by its name alone."""

    @tool
    def t() -> int:
        return 1

    with pytest.raises(ProgrammingError, match="Two tools are called t"):
        Agent(ScriptedModel(), tools=[t, tool(t.fn)])


# --------------------------------------------------------------------------- arguments


@tool
def typed(kilograms: int, unit: Literal["kg", "lb"], when: date | None = None) -> str:
    return "ok"


WRONG: dict[str, tuple[str, str]] = {
    "wrong-types": (
        '{"kilograms": "4242", "unit": "4242", "when": "4242-42"}'.replace('"4242"', '"x4242"'),
        "kilograms: Input should be a valid integer, unable to parse string as an integer; "
        "unit: Input should be 'kg' or 'lb'; when: ",
    ),
    "missing": ("{}", "kilograms: Field required; unit: Field required"),
    "no-arguments-at-all": ("", "kilograms: Field required; unit: Field required"),
    "unknown": ('{"kilograms": 1, "unit": "kg", "kilo": 4242}', "kilo: Extra inputs are not permitted"),
    "internal-name": ('{"field0": 4242, "unit": "kg"}', "field0: Extra inputs are not permitted"),
    "list": ("[4242]", "Input should be an object"),
    "null": ("null", "Input should be an object"),
    "text": ('"4242"', "Input should be an object"),
    "no-json": ("{4242", "Invalid JSON"),
    "half-a-character": ('{"kilograms": 1, "unit": "\\ud800"}', "Invalid JSON"),
    "no-number": ('{"kilograms": NaN, "unit": "kg"}', "kilograms: Input should be a finite number"),
    "too-large": ('{"kilograms": 1e400, "unit": "kg"}', "kilograms: "),
    "deep": ("[" * 5000, "Invalid JSON"),
}


@pytest.mark.parametrize("mistake", WRONG)
async def test_wrong_arguments_are_named_without_their_values(scene: Scene, mistake: str) -> None:
    """The model reads which argument is wrong and how; the body is not run, nothing pauses, no value is repeated."""
    args, text = WRONG[mistake]
    async with scene.process(typed, steps=[[("typed", args)]]) as p:
        assert await p.say() == Done()
        error = await p.error()
        assert text in error
        assert "4242" not in error


async def test_a_wrong_argument_deep_inside_is_named_by_its_path(scene: Scene) -> None:
    """A path of names and numbers, as JSON has them."""

    class Lift(BaseModel):
        kilograms: int

    @tool
    def t(lifts: list[Lift]) -> str:
        return "ok"

    async with scene.process(t, steps=[[("t", {"lifts": [{"kilograms": 1}, {"kilograms": "many"}]})]]) as p:
        await p.say()
        assert (await p.error()).startswith("lifts.1.kilograms: Input should be a valid integer")


async def test_F2_an_asker_that_refuses_its_arguments_does_not_pause(scene: Scene) -> None:
    """The body runs before anything is asked: the model reads the error, tries again, and then the user is asked."""

    @tool
    def t(ctx: Context, options: list[str]) -> str:
        if len(options) < 2:
            raise ToolError("Give at least two options.")
        return ctx.ask(Say("Which?", *options))

    steps = [[("t", {"options": ["a"]})], [("t", {"options": ["a", "b"]})]]
    async with scene.process(t, steps=steps) as p:
        assert isinstance(await p.say(), Waiting)
        assert await p.error("call_1_1") == "Give at least two options."
        await p.answer("b")
        assert await p.content("call_2_1") == "b"


async def test_arguments_are_parsed_anew_in_every_execution(scene: Scene) -> None:
    """What a body does to its arguments is gone in the next execution: it begins from the model's JSON."""
    seen: list[list[int]] = []

    @tool
    def t(ctx: Context, numbers: list[int]) -> Json:
        numbers.append(9)
        seen.append(numbers)
        ctx.ask(Say("A"))
        return numbers

    async with scene.process(t, steps=[[("t", {"numbers": [1]})]]) as p:
        await p.say()
        await p.answer("a")
    assert seen == [[1, 9]] * 3


async def test_arguments_keep_their_type_through_a_new_process(scene: Scene) -> None:
    """The log has the model's text; each process makes of it what the signature says."""
    seen: list[Any] = []

    @tool
    def t(ctx: Context, day: date, price: Decimal, tags: frozenset[str]) -> str:
        seen.append((day, price, tags))
        return ctx.ask(Say("A"))

    args = {"day": "2026-01-02", "price": "9.90", "tags": ["a", "a"]}
    async with scene.process(t, steps=[[("t", args)]]) as p:
        await p.say()
    async with scene.process(t) as p:
        await p.answer("a")
    assert seen == [(date(2026, 1, 2), Decimal("9.90"), frozenset({"a"}))] * 3


# --------------------------------------------------------------------------- results


class Lift(BaseModel):
    day: date
    secret: SecretStr = SecretStr("4242")
    kilograms: Decimal = Decimal("82.5")


@dataclass
class Point:
    x: int
    y: tuple[int, ...]


class Color(Enum):
    RED = "red"


class Measured(BaseModel):
    value: float


def numbers() -> Iterator[int]:
    yield 1
    yield 2


RESULTS: dict[str, tuple[Any, Json]] = {
    "text": ("plain", "plain"),
    "none": (None, None),
    "model": (
        Lift(day=date(2026, 1, 2)),
        {"day": "2026-01-02", "secret": "**********", "kilograms": "82.5"},
    ),
    "list-of-models": (
        [Lift(day=date(2026, 1, 2))],
        [{"day": "2026-01-02", "secret": "**********", "kilograms": "82.5"}],
    ),
    "dataclass": (Point(1, (2, 3)), {"x": 1, "y": [2, 3]}),
    "enum": (Color.RED, "red"),
    "set": ({1}, [1]),
    "generator": (numbers(), [1, 2]),
    "nan": ([float("nan"), float("inf"), -float("inf"), "NaN"], ["NaN", "Infinity", "-Infinity", "NaN"]),
    "nan-in-a-model": (Measured(value=float("nan")), {"value": "NaN"}),
    "bytes": (b"\xff\x00", "_wA="),
    "keys": ({1: "a", None: "b"}, {"1": "a", "None": "b"}),
    "lone-surrogate": (["half \ud800", {"name": "\udfff"}], ["half ?", {"name": "?"}]),
    "emoji": ("\U0001f468\u200d\U0001f469", "\U0001f468\u200d\U0001f469"),
    "nul": ("a\0b", "a\0b"),
}


@pytest.mark.parametrize("what", RESULTS)
async def test_a_result_is_plain_json(scene: Scene, what: str) -> None:
    """Whatever a body returns is text or JSON in the log, and is read by the model as such."""
    value, expected = RESULTS[what]

    @tool
    def t() -> Any:
        return value

    async with scene.process(t) as p:
        assert await p.say() == Done()
        result = await p.result()
        assert (result.status, result.content) == ("ok", expected)
        assert result.text == expected if isinstance(expected, str) else json.loads(result.text) == expected


def endless() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


def deep() -> list[Any]:
    value: list[Any] = []
    for _ in range(5000):
        value = [value]
    return value


UNREADABLE: dict[str, Callable[[], Any]] = {
    "object": Opaque,
    "object-inside": lambda: {"to": [Opaque()]},
    "endless": endless,
    "deep": deep,
    "key-that-is-no-text": lambda: {"half \ud800": 1},
    "huge-number": lambda: 10**5000,
    "function": lambda: numbers,
}


@pytest.mark.parametrize("what", UNREADABLE)
async def test_a_result_that_is_no_json_says_so(scene: Scene, what: str) -> None:
    """The call has failed with the type's name; the run goes on."""

    @tool
    def t() -> Any:
        return UNREADABLE[what]()

    async with scene.process(t) as p:
        assert await p.say() == Done()
        kind = type(UNREADABLE[what]()).__name__
        assert await p.mistake() == f"t returned a {kind} that cannot be turned into JSON."


# --------------------------------------------------------------------------- every way to make an asker


def asks(ctx: Context) -> str:
    """Asks."""
    return ctx.ask(Say("A"))


async def asks_async(ctx: Context) -> str:
    """Asks."""
    return ctx.ask(Say("A"))


def asks_raw(ctx: Context) -> Any:
    """Asks."""
    return ctx.interrupt("A")


def asks_with_a_default(ctx: Context) -> str:
    """Asks."""
    return ctx.ask(Say("A"), otherwise="nobody's")


def plainly_wrapped(fn: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(fn)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return fn(*args, **kwargs)

    return wrapper


class Service:
    def asks(self, ctx: Context) -> str:
        return ctx.ask(Say("A"))

    async def asks_async(self, ctx: Context) -> str:
        return ctx.ask(Say("A"))


def within_a_call() -> Tool[Any]:
    @tool(name="asks")
    def inner(ctx: Context[list[int]], x: int = 1) -> str:
        return ctx.ask(Say("A"))

    return inner


WAYS: dict[str, Callable[[], Tool[Any]]] = {
    "def": lambda: tool(asks),
    "async-def": lambda: tool(asks_async),
    "with-options": lambda: tool(name="asks", hold=True, idempotent=True, when=lambda ctx: True)(asks),
    "method": lambda: tool(Service().asks),
    "async-method": lambda: tool(Service().asks_async),
    "wrapped": lambda: tool(plainly_wrapped(asks)),
    "async-wrapped": lambda: tool(plainly_wrapped(asks_async)),
    "typed-context": within_a_call,
    "raw": lambda: tool(asks_raw),
    "with-a-default": lambda: tool(asks_with_a_default),
}


@pytest.mark.parametrize("way", WAYS)
async def test_F3_an_asker_waits_however_it_was_made(scene: Scene, way: str) -> None:
    """There is no way to register a tool that resolves at once: each waits, and returns the user's answer."""
    async with scene.process(WAYS[way]()) as p:
        assert isinstance(await p.say(), Waiting)
        await p.answer("the user's")
        assert await p.content() == "the user's"


@pytest.mark.parametrize("way", WAYS)
async def test_F3_without_an_engine_an_asker_fails(way: str) -> None:
    """Where nobody can be asked, that is an error and no success."""
    made = WAYS[way]()
    with pytest.raises(Unavailable):
        await _whichever(made)


async def _whichever(made: Tool[Any]) -> None:
    outcome = made(Context())
    if inspect.isawaitable(outcome):
        await outcome


# --------------------------------------------------------------------------- which tools are offered


async def offered(p: Process) -> list[str]:
    """The names that the model's last request had."""
    return [spec.name for spec in p.model.requests[-1].tools]


def test_a_spec_is_all_that_the_model_sees() -> None:
    """Name, description and schema: neither the function nor its options."""
    spec = tool(asks).spec
    assert (spec.name, spec.description, spec.schema) == ("asks", "Asks.", tool(asks).schema)


async def yes(ctx: Context) -> bool:
    return True


async def no(ctx: Context) -> bool:
    return False


def fails(ctx: Context) -> bool:
    raise ConnectionError


def asks_somebody(ctx: Context) -> bool:
    return bool(ctx.ask(Say("May I?")))


@pytest.mark.parametrize(
    ("when", "holds"),
    [
        (lambda ctx: True, True),
        (lambda ctx: False, False),
        (lambda ctx: [1], True),
        (lambda ctx: None, False),
        (yes, True),
        (no, False),
        (fails, False),
        (asks_somebody, False),
        (lambda ctx: ctx.user == "ada" and ctx.deps == {"key": 1}, True),
    ],
    ids=["true", "false", "truthy", "none", "async-true", "async-false", "raises", "asks", "looks"],
)
async def test_a_tool_is_offered_when_its_when_holds(scene: Scene, when: Any, holds: bool) -> None:
    """Sync or async; one that breaks is not offered, and does not break the step. It cannot ask."""

    @tool(when=when)
    def t() -> str:
        return "ok"

    @tool
    def always() -> str:
        return "ok"

    async with scene.process(always, t, steps=["Done."], deps={"key": 1}) as p:
        assert await p.say() == Done()
        assert await offered(p) == (["always", "t"] if holds else ["always"])


async def test_when_is_asked_before_each_step_and_not_for_a_call(scene: Scene) -> None:
    """What was offered is frozen with the step: a tool that is no longer on offer still runs the call it got."""
    holds = [True]

    @tool(when=lambda ctx: holds[0])
    def t(ctx: Context) -> str:
        holds[0] = False
        return ctx.ask(Say("A"))

    async with scene.process(t, steps=[[("t", {})], "Done.", [("t", {})]]) as p:
        assert isinstance(await p.say(), Waiting)
        await p.answer("a")
        assert await p.content() == "a"
        assert [len(request.tools) for request in p.model.requests] == [1, 0]
        await p.say("again")
        assert await p.error("call_3_1") == "There is no tool of this name now. There are: none."


async def test_a_call_to_a_tool_that_was_not_offered_is_an_error(scene: Scene) -> None:
    """Neither an unknown name nor a hidden tool runs; the model reads what there is, and siblings are not touched."""
    ran = []

    @tool(when=no)
    def hidden() -> str:
        ran.append("hidden")
        return "ok"

    @tool
    def there() -> str:
        ran.append("there")
        return "ok"

    calls = [("hidden", {}), ("there", {}), ("no such\ud800", "{not even json")]
    async with scene.process(hidden, there, steps=[calls]) as p:
        assert await p.say() == Done()
        for call in ("call_1_1", "call_1_3"):
            assert await p.error(call) == "There is no tool of this name now. There are: there."
        assert await p.content("call_1_2") == "ok"
    assert ran == ["there"]
