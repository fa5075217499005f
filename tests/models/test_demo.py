"""The demo's coach speaks through a real model where there is one."""

from __future__ import annotations

import subprocess
from pathlib import Path

import httpx
import pytest

from tests.models.aimock import aimock
from tests.serving import COMMAND, DEADLINE, serving

FIXTURES = [{"match": {}, "response": {"content": "Hello from the model."}}]


@pytest.mark.parametrize("chosen", ["by its key", "by its name"])
def test_the_demo_speaks_through_a_real_model(chosen: str, tmp_path: Path) -> None:
    """With a key in the environment, or a name on the command line: the page calls it no stand-in, and it answers."""
    (tmp_path / "mock").mkdir()
    with aimock(tmp_path / "mock", FIXTURES) as server:
        arguments, env = ["demo"], {"ANTHROPIC_API_KEY": "sk-test", "ANTHROPIC_BASE_URL": server.url}
        if chosen == "by its name":
            arguments += ["--model", "openai:gpt-4o"]
            env |= {"OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": server.url + "/v1"}
        with serving(*arguments, cwd=tmp_path, env=env) as demo, httpx.Client(timeout=DEADLINE) as browser:
            browser.get(demo.url).raise_for_status()
            browser.post(demo.url + "conversations", json={"id": "c1"}).raise_for_status()
            browser.post(demo.url + "conversations/c1/messages", json={"text": "hello"}).raise_for_status()
            browser.get(demo.url + "conversations/c1/events").raise_for_status()
            found = browser.get(demo.url + "conversations/c1").json()
            demo.stop()
        (request,) = server.requests()
    assert "Stand-ins play Hevy and Google." in found["agent"]["standIn"]
    assert found["messages"][-1]["content"] == "Hello from the model."
    assert request["model"] == ("claude-sonnet-5" if chosen == "by its key" else "gpt-4o")
    assert "ask_user" in [tool["function"]["name"] for tool in request["tools"]]


def test_a_name_that_is_none_is_refused_at_once(tmp_path: Path) -> None:
    """The command says how a model is named, and does not start."""
    command = [*COMMAND, "demo", "--port", "0", "--model", "claude"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=DEADLINE, check=False)
    assert done.returncode == 2
    assert '"provider:model"' in done.stderr
