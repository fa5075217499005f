"""How a model is named, and what is said of a name that cannot be opened."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from tests.models.checker import check
from tests.models.player import chat, player
from yourcall import Agent, ProgrammingError
from yourcall.entries import Call
from yourcall.log import AssistantMessage, ToolMessage, UserMessage
from yourcall.models import openai_compatible, pydantic_ai
from yourcall.ports import Finished, ModelRequest
from yourcall.testing import ScriptedModel

pytestmark = pytest.mark.anyio

HI = (UserMessage("hi"),)
CALL = {"id": "call_1", "name": "ask", "arguments": '{"what": "color"}'}


@pytest.mark.parametrize("name", ["claude", "", ":", "anthropic:", "An Thropic:x", "Anthropic:x"])
def test_a_name_that_is_none(name: str) -> None:
    """The app's author learns of it where the agent is made, with an example."""
    with pytest.raises(ProgrammingError, match=r"names no model|needs more") as wrong:
        Agent(name)
    assert "anthropic:claude-sonnet-5" in str(wrong.value)


@pytest.mark.parametrize(
    ("name", "module", "extra"),
    [
        ("anthropic:claude-sonnet-5", "anthropic", "anthropic"),
        ("openai:gpt-4o", "openai", "openai"),
        ("openai-responses:gpt-5", "pydantic_ai", "openai"),
        ("google-gla:gemini-2.5-pro", "google", "google"),
        ("groq:llama", "pydantic_ai", "models"),
    ],
)
def test_a_name_whose_extra_is_not_installed(name: str, module: str, extra: str) -> None:
    """It says what to install."""
    code = f"import sys; sys.modules[{module!r}] = None; from yourcall import Agent; Agent({name!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert f'pip install "yourcall[{extra}]"' in done.stderr


def test_a_model_is_taken_as_it_is() -> None:
    """An object is no name: nothing is wrapped around it."""
    model = ScriptedModel()
    assert Agent(model).opened is model


async def test_any_compatible_server_and_any_object_of_pydantic_ai() -> None:
    """Their steps come back with all that pydantic-ai keeps, and their results next to them."""
    with player([chat("", [CALL], "tool_calls"), chat("Done.")] * 2) as server:
        base = server.url + "/v1"
        theirs = OpenAIChatModel("m", provider=OpenAIProvider(base_url=base, api_key="k"))
        for model in (openai_compatible("m", base_url=base, attempts=1), pydantic_ai(theirs, attempts=1)):
            *_, finished = [event async for event in model.stream(ModelRequest(HI))]
            assert isinstance(finished, Finished)
            assert finished.calls == (Call("call_1", "ask", CALL["arguments"]),)
            step = AssistantMessage("", (Call("call_1-2", "ask", CALL["arguments"]),), finished.blob)
            said = (*HI, step, ToolMessage("call_1-2", "ask", "red"))
            *_, finished = [event async for event in model.stream(ModelRequest(said))]
            assert isinstance(finished, Finished)
            assert finished.text == "Done."
            assert check(server.requests[-1]) == 1
            (sent,) = server.requests[-1]["messages"][1]["tool_calls"]
            assert (sent["id"], json.loads(sent["function"]["arguments"])) == ("call_1-2", {"what": "color"})
        await theirs.client.close()
