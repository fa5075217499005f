"""The README's examples run as they are printed."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.web.serving import serve_app
from yourcall import Agent
from yourcall.testing import ScriptedModel

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def test_the_example_prints_what_it_says(tmp_path: Path) -> None:
    """Thirty seconds: copied into a file and run, it prints the lines that stand below it."""
    (tmp_path / "example.py").write_text(blocks("python")[0], encoding="utf-8")
    command = [sys.executable, "-W", "error", "example.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == (blocks("text")[0], "")


@pytest.mark.anyio
async def test_the_router_mounts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On one's own app: the lines as they stand serve the files that the HTML below them names."""
    monkeypatch.chdir(tmp_path)
    app: dict[str, object] = {"agent": Agent(ScriptedModel()), "current_user": lambda: "ada"}
    exec(compile(blocks("python")[1], "README.md", "exec"), app)
    names = re.findall(r'(?:href|src)="([^"]+)"', blocks("html")[0])
    assert len(names) == 2
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app["app"]), base_url="http://test") as browser:  # type: ignore[arg-type]  # what the example made
        for name in names:
            assert (await browser.get(name)).status_code == 200


@pytest.mark.anyio
async def test_the_requests_lead_to_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By hand: the example's agent on the app, and the lines one after another, but for the id of what is asked."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"current_user": lambda: "ada"}
    example = blocks("python")[0].replace("asyncio.run(main())", "")
    for code in (example, blocks("python")[1]):
        exec(compile(code, "README.md", "exec", dont_inherit=True), names)
    create, say, follow, answer = blocks("sh")[1].splitlines()
    async with serve_app(names["app"], names["engine"]) as served:

        async def curl(line: str) -> str:
            command = line.replace("localhost:8000", served.url.removeprefix("http://")).replace("curl", "curl -sf")
            running = await asyncio.create_subprocess_shell(command, stdout=subprocess.PIPE)
            out, _ = await running.communicate()
            assert running.returncode == 0, line
            return out.decode()

        await curl(create)
        await curl(say)
        *_, last = re.findall(r"^data: (.+)$", await curl(follow), re.MULTILINE)
        (question,) = json.loads(last)["outcome"]["interrupts"]
        await curl(answer.replace("ID", question["id"]))
        assert "A table for 2, indoors." in await curl(follow)


def test_the_models_are_named_rightly() -> None:
    """Each line makes an agent, without a key and without importing a provider's SDK."""
    code = (
        blocks("python")[2] + "\nimport sys; print([name for name in ('anthropic', 'openai') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_links_lead_somewhere() -> None:
    """Pictures and files that the README names are in the repository."""
    paths = [path for path in re.findall(r"\]\(([^)]+)\)", README) if "://" not in path]
    assert paths
    assert not [path for path in paths if not (ROOT / path).exists()]
