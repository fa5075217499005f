"""Each kind of ask as docs/asks.md shows it: its tool, the requests that answer it, and what comes of them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import anyio
import anyio.to_thread
import httpx
import pytest

from tests.docs.pages import DOCS, Block, blocks, sections
from tests.oauth.panva import panva
from tests.oauth.stage import leads_to
from tests.web.serving import Served, User, serve_app
from yourcall import Tool
from yourcall.log import Transcript, UserMessage
from yourcall.testing import Said, ScriptedModel
from yourcall.vault.keyring import new_key

pytestmark = pytest.mark.anyio

PAGE = "asks.md"
SECTIONS = sections(PAGE)
HTTP, CONNECT, VISIT = "Over HTTP", "Connect", "Visit"
ARGUMENTS = {"cancel": {"booking": 7}}
ANY = "..."
"""What a page shows of whatever differs from time to time."""


@dataclass
class Stage:
    """The page's app with the tools of one section, whose first tool has asked."""

    served: Served
    ada: User
    names: dict[str, Any]
    folder: Path

    async def ask(self, text: str) -> dict[str, Any]:
        await self.ada.create(id="c")
        await self.ada.say("c", text)
        await self.ada.settled("c")
        (question,) = await self.ada.open("c")
        return question

    async def sh(self, script: str, question: dict[str, Any] | None = None) -> str:
        """What the lines print, run as they stand but for the port."""
        env = dict(os.environ)
        if question:
            env |= {"ID": question["id"], "DIGEST": question["metadata"]["yourcall"]["digest"]}
        lines = script.replace("localhost:8000", self.served.url.removeprefix("http://")).replace("curl ", "curl -s ")
        done = await anyio.run_process(["bash", "-ec", lines], env=env, cwd=self.folder)
        return done.stdout.decode()

    async def result(self) -> str:
        messages = (await self.ada.settled("c"))["messages"]
        content: str = [one["content"] for one in messages if one["role"] == "tool"][-1]
        return content


@asynccontextmanager
async def stage(heading: str, folder: Path) -> AsyncIterator[Stage]:
    (folder / "plan.txt").write_text("Squats, 3 sets.\n", encoding="utf-8")
    tools: list[Tool[Any]] = []

    def speak(said: Transcript) -> Said:
        match said[-1]:
            case UserMessage(text):
                name = text if text in names else tools[0].name
                return [(name, ARGUMENTS.get(name, {}))]
        return "Done."

    names: dict[str, Any] = {"model": ScriptedModel(repeat(speak)), "tools": tools}
    python = [block.text for block in SECTIONS[heading] if block.language == "python" and heading != HTTP]
    for text in python or [SECTIONS["Choose"][0].text]:
        exec(compile(text, PAGE, "exec", dont_inherit=True), names)
    tools += [one for one in names.values() if isinstance(one, Tool)]
    own = names.get("engine")
    exec(compile(SECTIONS[HTTP][0].text, PAGE, "exec", dont_inherit=True), names)
    if own:
        names["app"] = names["FastAPI"](lifespan=own.lifespan)
        names["app"].include_router(names["create_router"](own, user=names["current_user"]), prefix="/chat")
    engine = own or names["engine"]
    async with serve_app(names["app"], engine) as served:
        engine.public_url = served.url
        yield Stage(served, await served.user("ada"), names, folder)


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in {"YOURCALL_KEYS": new_key(), "PAY_KEY": "a key of 16 bytes and more"}.items():
        monkeypatch.setenv(name, value)


def like(shown: Any, real: Any) -> bool:
    """Whether it is what a page shows: all of it, but for what differs, and what it leaves out."""
    match shown:
        case dict():
            return isinstance(real, dict) and all(name in real and like(one, real[name]) for name, one in shown.items())
        case list():
            return isinstance(real, list) and len(shown) == len(real) and all(map(like, shown, real))
    return shown in (ANY, real)


ANSWERED = [
    heading
    for heading, parts in SECTIONS.items()
    if heading not in (HTTP, VISIT) and any(block.language == "sh" for block in parts)
]


def test_no_section_is_forgotten() -> None:
    assert {*ANSWERED, HTTP, CONNECT, VISIT} == SECTIONS.keys()


@pytest.mark.parametrize("heading", ANSWERED)
async def test_the_requests_answer_it(heading: str, tmp_path: Path) -> None:
    """The tool asks, the lines answer it and print what stands below them, and the tool goes on as is printed."""
    parts = SECTIONS[heading]
    async with stage(heading, tmp_path) as s:
        question = await s.ask("go")
        printed = ""
        for block in parts:
            match block:
                case Block("sh", script):
                    printed = await s.sh(script, question)
                    assert json.loads(printed)
                case Block("json", text):
                    assert like(json.loads(text), json.loads(printed)), printed
                case Block("text", text):
                    assert (await s.result()).rstrip("\n") == text.rstrip("\n")


async def test_a_conversation_is_created_then_followed(tmp_path: Path) -> None:
    """The first requests lead to the open question, which looks as it is printed."""
    _, begin, read, shown = SECTIONS[HTTP]
    async with stage(HTTP, tmp_path) as s:
        printed = await s.sh(begin.text)
        assert '"RUN_FINISHED"' in printed
        (question,) = await s.ada.open("c1")
        printed = await s.sh(read.text, question)
        assert like(json.loads(shown.text), json.loads(printed)), printed


async def test_an_account_is_connected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At a real authorization server in Google's place: the tool gets the account and a token."""
    client: dict[str, Any] = {
        "client_id": "desk",
        "client_secret": "a secret of the desk's",
        "application_type": "native",
        "redirect_uris": ["http://127.0.0.1/chat/callback/google"],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
    }
    monkeypatch.setenv("GOOGLE_ID", client["client_id"])
    monkeypatch.setenv("GOOGLE_SECRET", client["client_secret"])
    with panva([client]) as google:
        code = SECTIONS[CONNECT][0]
        monkeypatch.setitem(
            SECTIONS, CONNECT, [Block("python", code.text.replace("https://accounts.google.com", google.issuer))]
        )
        async with stage(CONNECT, tmp_path) as s:
            question = await s.ask("go")
            await s.ada.get(f"/connect/{question['id']}")
            gone = await s.ada.post(f"/connect/{question['id']}", headers={"Sec-Fetch-Site": "same-origin"})
            await s.ada.get(await google.sign_in(leads_to(gone), s.served.url))
            assert await s.result() == "Connected as ada@example.org."
            await s.ada.say("c", "count_mails")
            assert re.fullmatch(r"Asked Google with a token of \d+ characters\.", await s.result())


async def test_a_key_is_revealed_where_it_is_needed(tmp_path: Path) -> None:
    """The tool that `when=` offers finds what the card took; a key that the check refuses is not taken."""
    async with stage("Secret", tmp_path) as s:
        question = await s.ask("go")
        refused = await s.ada.post(f"/interrupts/{question['id']}/secret", json={"value": "12345"})
        assert refused.status_code == 422
        await s.ada.post(f"/interrupts/{question['id']}/secret", json={"value": "hevy-12345"})
        await s.ada.settled("c")
        await s.ada.say("c", "workouts")
        assert await s.result() == "Asked Hevy with a key of 10 characters."


async def test_a_visit_is_completed_by_the_service(tmp_path: Path) -> None:
    """The client's request leads outside, with a link; the service's code, as it is printed, calls it."""
    _, leave, _, outcome = SECTIONS[VISIT]
    async with stage(VISIT, tmp_path) as s:
        question = await s.ask("go")
        outside = urlsplit(await s.sh(leave.text, question))
        assert outside.hostname == "pay.example"
        (link,) = parse_qs(outside.query)["return_url"]
        with pytest.raises(httpx.HTTPStatusError):  # of another key
            await anyio.to_thread.run_sync(s.names["report"], link + "0", {"order": 7, "cents": 1250})
        await anyio.to_thread.run_sync(s.names["report"], link, {"order": 7, "cents": 1250})
        assert await s.result() == outcome.text.strip()


async def test_each_call_is_approved_first(tmp_path: Path) -> None:
    """`@tool(confirm=)`: the card shows the arguments, and what was edited is what runs."""
    async with stage("Confirm", tmp_path) as s:
        question = await s.ask("cancel")
        answer = {"approved": True, "edits": {"reason": "Rain"}}
        refused = await s.ada.answer(question["id"], answer)
        assert refused.status_code == 428
        await s.ada.answer(question["id"], answer, **{"If-Match": question["metadata"]["yourcall"]["digest"]})
        assert json.loads(await s.result()) == {"result": "Cancelled 7: Rain", "edited_by_user": {"reason": "Rain"}}


def test_a_key_is_printed() -> None:
    """The command of the page prints what `YOURCALL_KEYS` takes."""
    (first,) = blocks((DOCS / PAGE).read_text(encoding="utf-8"))[:1]
    command = first.text.partition("#")[0].split()
    assert command[0] == "yourcall"
    run = [sys.executable, "-m", "yourcall.cli", *command[1:]]
    done = subprocess.run(run, capture_output=True, text=True, timeout=60, check=True)
    assert re.fullmatch(r"\S+", done.stdout.strip())
