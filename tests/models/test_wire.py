"""Through the providers' own SDKs against an independent server: a step that asks, answered in another process."""

from __future__ import annotations

import copy
import json
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.models import trip
from tests.models.aimock import DEADLINE, aimock
from tests.models.checker import Malformed, check
from yourcall.log import Done

pytestmark = pytest.mark.anyio

CALLS = [
    {"id": "call_a", "name": "ask", "arguments": {"what": "color"}},
    {"id": "call_b", "name": "look", "arguments": {}},
    {"id": "call_c", "name": "ask", "arguments": {"what": "size"}},
]
FIXTURES = [
    {"match": {"hasToolResult": False}, "response": {"content": "Let me ask.", "toolCalls": CALLS}},
    {"match": {"hasToolResult": True}, "response": {"content": "All done."}},
]
MODELS = ["anthropic:claude-sonnet-5", "openai:gpt-4o", "openai-responses:gpt-5", "google-gla:gemini-2.5-pro"]


@pytest.mark.filterwarnings("ignore:FUNCTION_CALL is not a valid FinishReason")  # aimock's, with Gemini
@pytest.mark.parametrize("name", MODELS)
async def test_a_step_that_asks_is_answered_in_another_process(name: str, tmp_path: Path) -> None:
    """Two asks and a plain tool in one step: one process pauses and ends, another takes the answers and goes on.

    Everything is done once, and the provider gets each result once, next to its call, in call order."""
    with aimock(tmp_path, FIXTURES) as server:
        first = await anyio.run_process(
            [sys.executable, trip.__file__, str(tmp_path), name, server.base(name)], stderr=None
        )
        assert [asked["name"] for asked in json.loads(first.stdout)] == ["color", "size"]
        assert trip.effects(tmp_path) == ["looked"]
        phase = await trip.answer(tmp_path, server.model(name), {"color": "red", "size": "L"})
        assert phase == Done("success")
        assert trip.effects(tmp_path) == ["color=red", "looked", "size=L"]
        asked, answered = server.requests()
        assert (check(asked), check(answered)) == (0, 3)
        results = [one["content"] for one in answered["messages"] if one["role"] == "tool"]
        assert [json.loads(text)["return_value"] if text[0] == "{" else text for text in results] == [
            "color: red",
            "nothing new",
            "size: L",
        ]


# --------------------------------------------------------------------------- the checker itself

CHAT = {
    "messages": [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "x", "tool_calls": [{"id": "a"}, {"id": "b"}]},
        {"role": "tool", "tool_call_id": "a", "content": ""},
        {"role": "tool", "tool_call_id": "b", "content": ""},
        {"role": "user", "content": "and?"},
    ]
}
ANTHROPIC = {
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a"}, {"type": "tool_use", "id": "b"}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "b"}]},
        {"role": "user", "content": [{"type": "text", "text": "and?"}]},
    ]
}
RESPONSES = {
    "input": [
        {"role": "user", "content": "hi"},
        {"type": "function_call", "call_id": "a"},
        {"type": "function_call", "call_id": "b"},
        {"type": "function_call_output", "call_id": "a"},
        {"type": "function_call_output", "call_id": "b"},
        {"role": "user", "content": "and?"},
    ]
}


PATHS = {"/v1/chat/completions": CHAT, "/v1/messages": ANTHROPIC, "/v1/responses": RESPONSES}


def _missing(said: list[Any], at: int) -> None:
    del said[at]


def _doubled(said: list[Any], at: int) -> None:
    said.insert(at, said[at])


def _apart(said: list[Any], at: int) -> None:
    said.insert(at, said.pop())


def _swapped(said: list[Any], at: int) -> None:
    said[at], said[at - 1] = said[at - 1], said[at]


FAULTS = [_missing, _doubled, _apart, _swapped]


@pytest.mark.parametrize("body", [CHAT, ANTHROPIC, RESPONSES], ids=["chat", "anthropic", "responses"])
@pytest.mark.parametrize("fault", FAULTS)
def test_the_checker_refuses_what_a_provider_refuses(body: Any, fault: Callable[[list[Any], int], None]) -> None:
    """It passes a good request, and refuses one with a result missing, doubled, away from its call, or swapped."""
    assert check(body) == 2
    with pytest.raises(Malformed):
        check(_with(fault, body))


def test_the_journal_hides_nothing_from_the_checker(tmp_path: Path) -> None:
    """The server takes anything, and writes it down in one form: what was wrong on the wire is wrong there, too."""
    with aimock(tmp_path, [{"match": {}, "response": {"content": "Fine."}}]) as server:
        for path, body in PATHS.items():
            for sent in (body, *(_with(fault, body) for fault in FAULTS)):
                _post(server.url + path, sent)
        journal = server.requests()
    assert len(journal) == len(PATHS) * (1 + len(FAULTS))
    for n, body in enumerate(journal):
        if n % (1 + len(FAULTS)) == 0:
            assert check(body) == 2
            continue
        with pytest.raises(Malformed):
            check(body)


def _with(fault: Callable[[list[Any], int], None], body: Any) -> Any:
    broken = copy.deepcopy(body)
    said = broken.get("input") or broken["messages"]
    fault(said, len(said) - 2)
    return broken


def _post(url: str, body: Any) -> None:
    headers = {"content-type": "application/json", "authorization": "Bearer sk-test", "x-api-key": "sk-test"}
    data = json.dumps({"model": "any", "max_tokens": 9} | body).encode()
    with urllib.request.urlopen(urllib.request.Request(url, data, headers), timeout=DEADLINE) as response:
        assert response.status == 200
