"""The schemas of the tools that are shipped, as they arrive at each provider, by the rules that it publishes.

OpenAI: developers.openai.com/api/docs/guides/structured-outputs#supported-schemas. Anthropic:
platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations. Google:
ai.google.dev/api/caching#Schema and ai.google.dev/gemini-api/docs/function-calling.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coach.tools import TOOLS
from tests.models import trip
from tests.models.player import chat, gemini, messages, player, responses
from yourcall import ask_user
from yourcall.log import Done, UserMessage
from yourcall.models import provider
from yourcall.ports import ModelRequest

pytestmark = pytest.mark.anyio

SHIPPED = {tool.name: tool.spec for tool in (ask_user, *TOOLS)}
MESSAGE = {
    "type": "message", "id": "m", "role": "assistant", "status": "completed",
    "content": [{"type": "output_text", "text": "Hi.", "annotations": []}],
}  # fmt: skip
REPLIES = {
    "anthropic:claude-sonnet-5": messages([{"type": "text", "text": "Hi."}], "end_turn"),
    "openai:gpt-4o": chat("Hi."),
    "openai-responses:gpt-5": responses([MESSAGE]),
    "google-gla:gemini-2.5-pro": gemini([{"text": "Hi."}]),
}
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""What all of them take as a tool's name."""


async def offered(name: str) -> list[dict[str, Any]]:
    """The tools in the body of a request."""
    with player([REPLIES[name]]) as server:
        model = provider(name, base_url=server.base(name), api_key="sk-test", attempts=1)
        request = ModelRequest((UserMessage("hi"),), tuple(SHIPPED.values()), "Be brief.")
        [event async for event in model.stream(request)]
    (body,) = server.requests
    return list(body["tools"])


def schemas(schema: Any) -> Iterator[dict[str, Any]]:
    """A schema and all in it."""
    yield schema
    inner = [*schema.get("properties", {}).values(), *schema.get("anyOf", ())]
    for one in [*inner, *([schema["items"]] if "items" in schema else []), *schema.get("$defs", {}).values()]:
        yield from schemas(one)


PLAIN = {
    *("type", "description", "title", "default", "enum", "const", "anyOf", "$ref", "$defs", "format", "pattern"),
    *("properties", "required", "additionalProperties", "items", "minItems", "maxItems"),
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength"),
}
"""JSON Schema without what some provider refuses: `allOf`, `oneOf`, `not`, `if`, `patternProperties`, `uniqueItems`."""


def sound(schema: dict[str, Any]) -> None:
    """What every provider demands of every schema: a known vocabulary, and a list says what it is of."""
    for one in schemas(schema):
        assert one.keys() <= PLAIN
        assert "type" in one or "anyOf" in one or "$ref" in one or "enum" in one
        assert one.get("type") != "array" or "items" in one
        assert isinstance(one.get("type", ""), str)


FORMATS = {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}


def strictly(schema: dict[str, Any]) -> None:
    """What OpenAI demands besides where a tool is strict; the limits are its own."""
    every = list(schemas(schema))
    enums = [value for one in every for value in one.get("enum", ())]
    names = [name for one in every for name in (*one.get("properties", ()), *one.get("$defs", ()))]
    assert "anyOf" not in schema
    assert depth(schema) <= 10
    assert sum(len(one.get("properties", {})) for one in every) <= 5000
    assert len(enums) <= 1000
    assert sum(len(str(word)) for word in (*names, *enums)) <= 120_000
    for one in every:
        assert "default" not in one
        assert one.get("format", "date") in FORMATS
        if one.get("type") == "object":
            assert one["additionalProperties"] is False
            assert sorted(one["required"]) == sorted(one["properties"])


def depth(schema: dict[str, Any]) -> int:
    """How many objects are inside one another."""
    inner = [*schema.get("properties", {}).values(), *schema.get("anyOf", ()), schema.get("items", {})]
    return (schema.get("type") == "object") + max((depth(one) for one in inner if one), default=0)


@pytest.mark.parametrize("name", ["openai:gpt-4o", "openai-responses:gpt-5"])
async def test_P6_openai_takes_the_shipped_tools(name: str) -> None:
    """In strict mode, where `ask_user` is sent, all properties are required and no others are allowed."""
    tools = [tool.get("function", tool) for tool in await offered(name)]
    assert {tool["name"] for tool in tools} == set(SHIPPED)
    strict = [tool for tool in tools if tool.get("strict")]
    assert "ask_user" in [tool["name"] for tool in strict]
    for tool in tools:
        assert NAME.fullmatch(tool["name"])
        assert len(tool["description"]) <= 4096
        sound(tool["parameters"])
        assert tool["parameters"]["type"] == "object"
    for tool in strict:
        strictly(tool["parameters"])


async def test_P6_anthropic_takes_the_shipped_tools() -> None:
    """An object at the top, no alternatives there, and a name of its alphabet."""
    tools = await offered("anthropic:claude-sonnet-5")
    assert {tool["name"] for tool in tools} == set(SHIPPED)
    for tool in tools:
        assert NAME.fullmatch(tool["name"])
        sound(tool["input_schema"])
        assert tool["input_schema"]["type"] == "object"
        assert not tool["input_schema"].keys() & {"anyOf", "oneOf", "allOf"}


async def test_P6_gemini_takes_the_shipped_tools() -> None:
    """One declaration for each, within the subset of OpenAPI and JSON Schema that it names."""
    (tools,) = await offered("google-gla:gemini-2.5-pro")
    declared = tools["functionDeclarations"]
    assert {tool["name"] for tool in declared} == set(SHIPPED)
    for tool in declared:
        assert NAME.fullmatch(tool["name"])
        assert tool["description"]
        schema = tool["parameters_json_schema"]
        assert schema["type"] == "object"
        assert schema["properties"].keys() == SHIPPED[tool["name"]].schema["properties"].keys()
        sound(schema)
        for one in schemas(schema):
            assert not one.keys() & {"const", "$schema", "exclusiveMinimum", "exclusiveMaximum", "$ref"}


UNSOUND = [
    {"type": "object", "properties": {"x": {"type": "array"}}},
    {"type": "object", "properties": {"x": {"type": ["string", "null"]}}},
    {"type": "object", "properties": {"x": {"oneOf": [{"type": "string"}]}}},
    {"type": "object", "properties": {"x": {}}},
]


LOOSE = [
    {"type": "object", "properties": {"x": {"type": "string"}}, "required": [], "additionalProperties": False},
    {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"], "additionalProperties": True},
    {"anyOf": [{"type": "object", "properties": {}, "required": [], "additionalProperties": False}]},
    {"type": "array", "items": {"type": "string", "format": "uri"}},
    {"type": "string", "default": ""},
    {"type": "string", "enum": [str(n) for n in range(1001)]},
]


@pytest.mark.parametrize("schema", LOOSE)
def test_the_strict_rules_refuse_what_openai_refuses(schema: dict[str, Any]) -> None:
    """A property that may be missing, or others that may be there; a choice at the top; what strict mode lacks."""
    sound(schema)
    with pytest.raises(AssertionError):
        strictly(schema)


@pytest.mark.parametrize("schema", UNSOUND)
def test_the_rules_refuse_what_a_provider_refuses(schema: dict[str, Any]) -> None:
    """A list of anything, two types at once, an unknown word, no type at all."""
    with pytest.raises(AssertionError):
        sound(schema)


@pytest.mark.parametrize(
    ("name", "settings", "sent"),
    [
        ("anthropic:claude-sonnet-5", {"max_tokens": 321, "tool_choice": "none"}, {"max_tokens": 321}),
        (
            "anthropic:claude-sonnet-5",
            {"anthropic_thinking": {"type": "adaptive"}},
            {"thinking": {"type": "adaptive"}},
        ),
        ("anthropic:claude-sonnet-5", {"parallel_tool_calls": False},
         {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}}),
        ("openai:gpt-4o", {"tool_choice": "required"}, {"tool_choice": "required"}),
        ("openai:gpt-4o", {"temperature": 0.5}, {"temperature": 0.5}),
        ("openai:gpt-4o", {"extra_body": {"top_k": 3}}, {"top_k": 3}),
        ("openai-responses:gpt-5", {"openai_store": True, "parallel_tool_calls": False},
         {"store": True, "parallel_tool_calls": False}),
    ],
)  # fmt: skip
async def test_settings_reach_the_provider(
    name: str, settings: dict[str, Any], sent: dict[str, Any], tmp_path: Path
) -> None:
    """`Agent(settings=...)` are the settings of the model layer, those of one provider too."""
    with player([REPLIES[name]]) as server:
        model = provider(name, base_url=server.base(name), api_key="sk-test", attempts=1)
        assert await trip.say(tmp_path, model, settings=settings) == Done("success")
    (body,) = server.requests
    assert {key: body[key] for key in sent} == sent
