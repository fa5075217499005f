"""Scripted steps, said through a provider's protocol: what the models of all providers are tested alike with."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import anthropic

from own_model import AnthropicModel
from tests.models.player import Player, Reply, chat, messages, player, responses
from yourcall.models import provider
from yourcall.ports import Model
from yourcall.testing import CallStep, ScriptStep

OVERLOADED = Reply(status=529, body={"type": "error", "error": {"type": "overloaded_error", "message": "4242"}})
Encode: TypeAlias = Callable[[str, Sequence[CallStep]], Reply]


def _messages(text: str, calls: Sequence[CallStep]) -> Reply:
    said: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    used = [{"type": "tool_use", "id": f"toolu_{n}", "name": c[0], "input": c[1]} for n, c in enumerate(calls)]
    return messages([*said, *used], "tool_use" if calls else "end_turn")


def _chat(text: str, calls: Sequence[CallStep]) -> Reply:
    used = [{"id": f"call_{n}", "name": c[0], "arguments": json.dumps(c[1])} for n, c in enumerate(calls)]
    return chat(text, used, "tool_calls" if calls else "stop")


def _responses(text: str, calls: Sequence[CallStep]) -> Reply:
    part = {"type": "output_text", "text": text, "annotations": []}
    message = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [part]}
    used = [
        {"type": "function_call", "id": f"fc_{n}", "call_id": f"call_{n}", "name": c[0], "arguments": json.dumps(c[1])}
        for n, c in enumerate(calls)
    ]
    return responses([*([message] if text else []), *used])


def _named(name: str) -> Callable[[Player], Model]:
    return lambda server: provider(name, base_url=server.base(name), api_key="sk-test", attempts=1)


def _own(server: Player) -> Model:
    client = anthropic.AsyncAnthropic(base_url=server.url, api_key="sk-test", max_retries=0)
    return AnthropicModel("claude-sonnet-5", client=client)


PROVIDERS: dict[str, tuple[Callable[[Player], Model], Encode]] = {
    "anthropic": (_named("anthropic:claude-sonnet-5"), _messages),
    "openai": (_named("openai:gpt-4o"), _chat),
    "openai-responses": (_named("openai-responses:gpt-5"), _responses),
    "own": (_own, _messages),
}


@contextmanager
def speaking(name: str, steps: Sequence[ScriptStep]) -> Iterator[Model]:
    """A provider's model that says these steps: texts, calls, and failures of the provider."""
    make, encode = PROVIDERS[name]

    def reply(step: ScriptStep) -> Reply:
        match step:
            case str():
                return encode(step, [])
            case BaseException():
                return OVERLOADED
            case _:
                assert not callable(step)
                return encode("", step)

    with player(map(reply, steps)) as server:
        yield make(server)
