"""What a provider sealed goes back as it came: after a pause, in another process, in the same order."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.models import trip
from tests.models.checker import check
from tests.models.player import Player, Reply, chat, gemini, messages, player, responses
from tests.models.speaking import PROVIDERS
from yourcall.entries import Call
from yourcall.log import AssistantMessage, Done, ToolMessage, Transcript, UserMessage
from yourcall.models import provider
from yourcall.ports import Finished, ModelRequest

pytestmark = pytest.mark.anyio

CITATION = {
    "type": "char_location", "cited_text": "blau", "document_index": 0, "document_title": None,
    "start_char_index": 0, "end_char_index": 4, "file_id": None,
}  # fmt: skip
BLOCKS: list[dict[str, Any]] = [
    {"type": "thinking", "thinking": "The user wants — hm, “both”.\n  Look first.", "signature": "EqQBCgIYAhIM=="},
    {"type": "text", "text": "Let me look that up. "},
    {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "colors 2026"}},
    {
        "type": "web_search_tool_result",
        "tool_use_id": "srvtoolu_1",
        "content": [
            {
                "type": "web_search_result", "title": "Colors", "url": "https://colors.example/",
                "encrypted_content": "Eo8BCioI", "page_age": None,
            },
        ],
    },
    {"type": "thinking", "thinking": "Now ask.", "signature": "second-signature"},
    {"type": "redacted_thinking", "data": "EmwKAhgBEgy3va3pzix/LafPsn4aDFIT2Xlxh0L5L8rLVyIw"},
    {"type": "hologram", "frames": [1, {"of": ["a", None]}], "note": "a block that nobody knows yet"},
    {"type": "text", "text": "It is blau.", "citations": [CITATION]},
    {"type": "tool_use", "id": "toolu_1", "name": "ask", "input": {"what": "color"}, "caller": {"type": "direct"}},
    {"type": "tool_use", "id": "toolu_2", "name": "ask", "input": {"what": "size"}},
    {"type": "tool_use", "id": "toolu_3", "name": "look", "input": {}},
]  # fmt: skip
TEXT = {"type": "output_text", "text": "Let me ask.", "annotations": [], "logprobs": []}
ITEMS: list[dict[str, Any]] = [
    {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Asking."}],
     "encrypted_content": "gAAAAABo8f-secret==", "status": None},
    {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "x"}},
    {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "phase": "final", "content": [TEXT]},
    {"type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": "gAAAAABo8f-another=="},
    {"type": "hologram", "id": "hg_1", "frames": [1, None]},
    {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "ask", "arguments": '{"what": "color"}',
     "status": "completed"},
    {"type": "function_call", "id": "fc_2", "call_id": "call_2", "name": "ask", "arguments": '{ "what":"size"}',
     "status": "completed"},
    {"type": "function_call", "id": "fc_3", "call_id": "call_3", "name": "look", "arguments": "{}",
     "status": "completed"},
]  # fmt: skip
PARTS: list[dict[str, Any]] = [
    {"text": "Asking.", "thought": True, "thoughtSignature": "Zmlyc3Q="},
    {"text": "Let me ask."},
    {"functionCall": {"id": "f_1", "name": "ask", "args": {"what": "color"}}, "thoughtSignature": "c2VhbGVk"},
    {"functionCall": {"id": "f_2", "name": "ask", "args": {"what": "size"}}},
    {"functionCall": {"id": "f_3", "name": "look", "args": {}}},
]
DONE_A = messages([{"type": "text", "text": "Done."}], "end_turn")
DONE_R = responses([{**ITEMS[2], "content": [TEXT | {"text": "Done."}]}])


async def pause_and_answer(folder: Path, name: str, server: Player) -> None:
    """One process runs into the questions and ends; another answers them."""
    program = [sys.executable, trip.__file__, str(folder), name, server.base(name)]
    first = await anyio.run_process(program, stderr=None)
    assert [asked["name"] for asked in json.loads(first.stdout)] == ["color", "size"]
    model = provider(name, base_url=server.base(name), api_key="sk-test")
    assert await trip.answer(folder, model, {"color": "red", "size": "L"}) == Done("success")
    assert trip.effects(folder) == ["color=red", "looked", "size=L"]


async def test_B11_an_anthropic_step_goes_back_as_it_came(tmp_path: Path) -> None:
    """Interleaved and redacted thinking, signatures, a server's tool with its result, citations, unknown blocks, calls.

    They are identical as JSON and in order; the results come in the very next message, in call order."""
    name = "anthropic:claude-sonnet-5"
    with player([messages(BLOCKS), DONE_A]) as server:
        await pause_and_answer(tmp_path, name, server)
    _, body = server.requests
    assert json.dumps(body["messages"][1]) == json.dumps({"role": "assistant", "content": BLOCKS})
    results = body["messages"][2]["content"]
    assert [block["tool_use_id"] for block in results] == ["toolu_1", "toolu_2", "toolu_3"]
    assert check(body) == 3


async def test_a_responses_step_goes_back_as_it_came(tmp_path: Path) -> None:
    """Encrypted reasoning, a server's tool, an unknown item, the text of arguments: identical, and in order.

    Nothing is left to the provider's own memory, which may be shorter than a pause."""
    name = "openai-responses:gpt-5"
    with player([responses(ITEMS), DONE_R]) as server:
        await pause_and_answer(tmp_path, name, server)
    first, body = server.requests
    assert json.dumps(body["input"][1:9]) == json.dumps(ITEMS)
    assert [item["call_id"] for item in body["input"][9:]] == ["call_1", "call_2", "call_3"]
    assert check(body) == 3
    assert (first["store"], first["include"]) == (False, ["reasoning.encrypted_content"])


async def test_a_gemini_step_goes_back_with_what_seals_it(tmp_path: Path) -> None:
    """Kept in pydantic-ai's form: thoughts and their signatures, each at the part that it came with, and the ids."""
    name = "google-gla:gemini-2.5-pro"
    with player([gemini(PARTS), gemini([{"text": "Done."}])]) as server:
        await pause_and_answer(tmp_path, name, server)
    _, body = server.requests
    assert body["contents"][1] == {"role": "model", "parts": PARTS}
    results = [part["functionResponse"]["id"] for part in body["contents"][2]["parts"]]
    assert results == ["f_1", "f_2", "f_3"]


async def one_step(name: str, transcript: Transcript, reply: Reply, **options: Any) -> tuple[dict[str, Any], Finished]:
    """One request, and what came of it."""
    with player([reply]) as server:
        model = provider(name, base_url=server.base(name), api_key="sk-test", attempts=1, **options)
        *_, finished = [event async for event in model.stream(ModelRequest(transcript))]
    assert isinstance(finished, Finished)
    return server.requests[0], finished


HI = (UserMessage("hi"),)


@pytest.mark.parametrize("model", ["anthropic", "own"])
async def test_a_repeated_call_id_is_mended_in_the_step_too(model: str) -> None:
    """The log gives the second call of an id a suffix; the step that is sent back has it, and nothing else changed."""
    _, finished = await one_step("anthropic:claude-sonnet-5", HI, messages(BLOCKS))
    calls = [Call(f"{call.id}-2", call.tool, call.args) for call in finished.calls]
    step = AssistantMessage(finished.text, tuple(calls), finished.blob)
    results = [ToolMessage(call.id, call.tool, "ok") for call in calls]
    with player([DONE_A]) as server:
        request = ModelRequest((*HI, step, *results))
        [event async for event in PROVIDERS[model][0](server).stream(request)]
    (body,) = server.requests
    renamed = [block | {"id": block["id"] + "-2"} if block["type"] == "tool_use" else block for block in BLOCKS]
    assert body["messages"][1]["content"] == renamed
    assert check(body) == 3


async def test_a_repeated_call_id_is_mended_in_a_step_of_pydantic_ai() -> None:
    """Its form has the suffix, too, and keeps the rest."""
    name = "google-gla:gemini-2.5-pro"
    _, finished = await one_step(name, HI, gemini(PARTS))
    calls = [Call(f"{call.id}-2", call.tool, call.args) for call in finished.calls]
    step = AssistantMessage(finished.text, tuple(calls), finished.blob)
    results = [ToolMessage(call.id, call.tool, "ok") for call in calls]
    body, _ = await one_step(name, (*HI, step, *results), gemini([{"text": "Done."}]))
    parts = body["contents"][1]["parts"]
    assert [part["functionCall"]["id"] for part in parts[2:]] == ["f_1-2", "f_2-2", "f_3-2"]
    assert [part.get("thoughtSignature") for part in parts] == ["Zmlyc3Q=", None, "c2VhbGVk", None, None]


@pytest.mark.parametrize("name", ["anthropic:claude-sonnet-5", "openai:gpt-4o", "openai-responses:gpt-5"])
async def test_another_providers_thoughts_are_not_sent(name: str) -> None:
    """A step that Gemini made is its text and its calls to everyone else: nobody is told of thoughts as of words."""
    _, finished = await one_step("google-gla:gemini-2.5-pro", HI, gemini(PARTS))
    step = AssistantMessage(finished.text, finished.calls, finished.blob)
    results = [ToolMessage(call.id, call.tool, "ok") for call in finished.calls]
    reply = DONE_A if name.startswith("anthropic") else DONE_R if "responses" in name else chat("Done.")
    body, _ = await one_step(name, (*HI, step, *results), reply)
    assert check(body) == 3
    assert "Let me ask." in str(body)
    assert "Asking." not in str(body)
    assert "c2VhbGVk" not in str(body)


UNREADABLE = [
    pytest.param(lambda blob: blob | {"version": 2}, id="a newer version"),
    pytest.param(lambda blob: blob | {"format": "another"}, id="another format"),
    pytest.param(lambda blob: blob | {"blob": blob["blob"] | {"at": "elsewhere.example"}}, id="another endpoint"),
    pytest.param(lambda blob: blob | {"blob": {"parts": 3}}, id="damaged"),
    pytest.param(lambda blob: blob | {"blob": blob["blob"] | {"items": BLOCKS[:8]}}, id="without its calls"),
    pytest.param(lambda blob: None, id="none"),
    pytest.param(lambda blob: "text", id="no blob at all"),
]


@pytest.mark.parametrize("spoil", UNREADABLE)
@pytest.mark.parametrize("name", ["anthropic:claude-sonnet-5", "openai:gpt-4o", "openai-responses:gpt-5"])
async def test_what_cannot_be_read_is_sent_in_neutral_form(name: str, spoil: Any) -> None:
    """The step's text and calls are sent, well-formed, whatever became of the provider's own form of it."""
    _, finished = await one_step("anthropic:claude-sonnet-5", HI, messages(BLOCKS))
    step = AssistantMessage(finished.text, finished.calls, spoil(finished.blob))
    results = [ToolMessage(call.id, call.tool, "ok") for call in finished.calls]
    reply = DONE_A if name.startswith("anthropic") else DONE_R if "responses" in name else chat("Done.")
    body, _ = await one_step(name, (*HI, step, *results, UserMessage("and?")), reply)
    assert check(body) == 3
    sent = json.dumps(body, ensure_ascii=False)
    assert "Let me look that up. It is blau." in sent
    assert "signature" not in sent
    assert "EmwKAhgBEgy3va3pzix" not in sent


async def test_a_long_step_that_the_provider_breaks_off_is_gone_on_with() -> None:
    """`pause_turn` asks for the same step to be continued: it becomes one step, and its parts stay in order."""
    with player([messages(BLOCKS[:3], "pause_turn"), messages(BLOCKS[3:])]) as server:
        model = provider("anthropic:claude-sonnet-5", base_url=server.url, api_key="sk-test", attempts=1)
        *_, finished = [event async for event in model.stream(ModelRequest(HI))]
    assert isinstance(finished, Finished)
    assert finished.blob["blob"]["items"] == BLOCKS
    assert finished.text == "Let me look that up. It is blau."
    assert [call.id for call in finished.calls] == ["toolu_1", "toolu_2", "toolu_3"]
    _, second = server.requests
    assert second["messages"][-1] == {"role": "assistant", "content": BLOCKS[:3]}
    assert finished.usage["output_tokens"] == 14


@pytest.mark.parametrize("writer", ["anthropic", "own"])
@pytest.mark.parametrize("reader", ["anthropic", "own"])
async def test_two_models_read_each_others_steps(writer: str, reader: str) -> None:
    """The form of a step is the provider's own: a second, independent model writes and reads the same."""
    with player([messages(BLOCKS), DONE_A]) as server:
        *_, finished = [event async for event in PROVIDERS[writer][0](server).stream(ModelRequest(HI))]
        assert isinstance(finished, Finished)
        step = AssistantMessage(finished.text, finished.calls, finished.blob)
        results = [ToolMessage(call.id, call.tool, "ok") for call in finished.calls]
        request = ModelRequest((*HI, step, *results))
        [event async for event in PROVIDERS[reader][0](server).stream(request)]
    assert server.requests[1]["messages"][1]["content"] == BLOCKS
    assert check(server.requests[1]) == 3


VOID: list[dict[str, Any]] = [{"type": "thinking", "thinking": "Hm.", "signature": "s"}, {"type": "text", "text": " "}]


@pytest.mark.parametrize(
    ("name", "said", "done"),
    [
        ("anthropic:claude-sonnet-5", messages(VOID, "end_turn"), DONE_A),
        ("anthropic:claude-sonnet-5", messages([], "end_turn"), DONE_A),
        ("openai-responses:gpt-5", responses(ITEMS[:1]), DONE_R),
        ("openai-responses:gpt-5", responses([]), DONE_R),
        ("openai:gpt-4o", chat(""), chat("Done.")),
    ],
)
async def test_a_step_of_nothing_is_left_out(name: str, said: Reply, done: Reply) -> None:
    """A model may think and say nothing. A provider refuses such a step in a request: the user's messages remain."""
    _, finished = await one_step(name, HI, said)
    step = AssistantMessage(finished.text, (), finished.blob)
    body, _ = await one_step(name, (*HI, step, UserMessage("and?")), done)
    sent = body["input"] if "input" in body else body["messages"]
    assert [message["role"] for message in sent] == ["user", "user"]


async def test_a_redirect_takes_the_step_along() -> None:
    """A gateway that moved: the request that follows it is whole, and what comes back is heard."""
    with player([messages(BLOCKS), messages(BLOCKS), DONE_A]) as server:
        moved = Reply(status=307, headers={"location": server.url + "/v1/messages"})
        _, finished = await one_step("anthropic:claude-sonnet-5", HI, messages(BLOCKS))
        step = AssistantMessage(finished.text, finished.calls, finished.blob)
        results = [ToolMessage(call.id, call.tool, "ok") for call in finished.calls]
        _, again = await one_step("anthropic:claude-sonnet-5", (*HI, step, *results), moved)
    assert server.requests[0]["messages"][1]["content"] == BLOCKS
    assert again.blob == finished.blob


async def test_nothing_of_ours_leaves_the_process() -> None:
    """The header that names a tape and the mark that stands for a step are seen by our transport only."""
    with player([messages(BLOCKS), DONE_A]) as server:
        model = provider("anthropic:claude-sonnet-5", base_url=server.url, api_key="sk-test", attempts=1)
        *_, finished = [event async for event in model.stream(ModelRequest(HI))]
        assert isinstance(finished, Finished)
        step = AssistantMessage(finished.text, finished.calls, finished.blob)
        results = [ToolMessage(call.id, call.tool, "ok") for call in finished.calls]
        [event async for event in model.stream(ModelRequest((*HI, step, *results)))]
    assert "yourcall" not in json.dumps([server.requests, server.headers])
