"""AG-UI's own client, unmodified, in Node: what it makes of our streams, from the first question to a reload."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.web.agents import engine_of, quick
from tests.web.serving import PREFIX, serve
from yourcall import ModelFailed, ask_user
from yourcall.testing import ScriptStep

pytestmark = pytest.mark.anyio

SCRIPT = Path(__file__).with_name("client.mjs")
DEADLINE = 60


def asking(prompt: str, *labels: str) -> tuple[str, Any]:
    options = [{"label": label} for label in labels]
    return ("ask_user", {"questions": [{"prompt": prompt, "options": options}]})


BOTH = [asking("Which wall?", "North", "South"), asking("Which colour?", "Red", "Blue"), ("quick", {"word": "primed"})]


@dataclass
class Page:
    """What the client knows at the end of a scenario."""

    messages: list[dict[str, Any]]
    pendingInterrupts: list[dict[str, Any]]
    events: list[dict[str, Any]]

    @property
    def roles(self) -> list[str]:
        return [message["role"] for message in self.messages]

    @property
    def results(self) -> list[Any]:
        return [message["content"] for message in self.messages if message["role"] == "tool"]

    @property
    def questions(self) -> list[str]:
        return [interrupt["message"] for interrupt in self.pendingInterrupts]


async def play(scenario: str, steps: Iterable[ScriptStep]) -> Page:
    """Let the client play a scenario against a model that says these steps; it must have nothing to complain of."""
    node = shutil.which("node")
    assert node, "Node is needed: `npm ci` installs what these tests speak to."
    async with serve(engine_of(steps, ask_user, quick)) as served:
        with anyio.fail_after(DEADLINE):
            command = [node, str(SCRIPT), scenario, served.url + PREFIX + "/agui"]
            done = await anyio.run_process(command, check=False)
        assert done.stderr.decode() == ""
        assert done.returncode == 0
        page = Page(**json.loads(done.stdout))
        said = (await (await served.user("ada")).snapshot("thread-1"))["messages"]
    # the client puts results in the order in which they came, we in that of their calls
    assert page.roles == [message["role"] for message in said]
    assert {m["id"]: m.get("content") for m in page.messages} == {m["id"]: m.get("content") for m in said}
    return page


async def test_it_is_asked() -> None:
    """It sees the calls and their questions, each with the schema of its answer, and what ran meanwhile."""
    page = await play("asks", [BOTH])
    assert page.roles == ["user", "assistant", "tool"]
    assert [call["function"]["name"] for call in page.messages[1]["toolCalls"]] == ["ask_user", "ask_user", "quick"]
    assert page.questions == ["Which wall?", "Which colour?"]
    assert {interrupt["reason"] for interrupt in page.pendingInterrupts} == {"input_required"}
    assert page.pendingInterrupts[0]["responseSchema"]["required"] == ["answers"]
    assert page.events[-1]["type"] == "RUN_FINISHED"


async def test_it_resumes() -> None:
    """Both answers reach their questions, and the run goes on to its end."""
    page = await play("resumes", [BOTH, "Painted."])
    assert page.questions == []
    assert page.messages[-1]["content"] == "Painted."
    chosen = [json.loads(result)["answers"][0]["selected"] for result in page.results if result != "primed"]
    assert sorted(chosen) == [["North"], ["Red"]]


async def test_it_resumes_partially() -> None:
    """A page that answers what it knows is asked for the rest."""
    page = await play("resumesPartially", [BOTH])
    assert page.questions == ["Which colour?"]


async def test_a_wrong_answer_comes_back_with_its_errors() -> None:
    """The same question under the same id, no failed run; the right answer beside it was kept."""
    page = await play("resumesWrongly", [BOTH])
    assert page.questions == ["Which colour?"]
    [error] = page.pendingInterrupts[0]["metadata"]["yourcall"]["errors"]
    assert error["pointer"] == "/answers/0/selected/0"
    assert "Green" not in json.dumps(error)
    assert {"RUN_ERROR"}.isdisjoint(event["type"] for event in page.events)
    page = await play("corrects", [BOTH, "Painted."])
    assert page.messages[-1]["content"] == "Painted."


async def test_it_cancels() -> None:
    """AG-UI's cancelled is a skip: the model reads that, and goes on."""
    page = await play("cancels", [BOTH, "Painted."])
    assert page.questions == []
    skipped = [json.loads(result) for result in page.results if "declined to answer" in result]
    assert [result["skipped"] for result in skipped] == [True]
    assert page.messages[-1]["content"] == "Painted."


async def test_a_reloaded_page_finds_everything_again() -> None:
    """The messages and the open questions, from a page that knew the thread's id alone; then it goes on."""
    page = await play("reloads", [BOTH])
    assert page.roles == ["user", "assistant", "tool"]
    assert page.questions == ["Which wall?", "Which colour?"]
    page = await play("reloadsAndResumes", [BOTH, "Painted.", "The door, too."])
    assert page.messages[-1]["content"] == "The door, too."
    assert page.roles.count("user") == 2


async def test_a_call_with_broken_arguments_breaks_no_page() -> None:
    """A model may send arguments that are no JSON; they are shown as they came."""
    page = await play("asks", [[("quick", '{"word": "half')], "Sorry."])
    assert page.messages[1]["toolCalls"][0]["function"]["arguments"] == '{"word": "half'
    assert page.messages[-1]["content"] == "Sorry."


async def test_a_failed_run_is_told_as_one() -> None:
    """RUN_ERROR with words for the user and a code for the page."""
    page = await play("fails", [ModelFailed("The provider is busy.")])
    assert page.roles == ["user"]
    last = page.events[-1]
    assert (last["type"], last["code"], last["message"]) == ("RUN_ERROR", "model-failed", "The provider is busy.")
