"""Pages of an app of one's own, as docs/embedding.md prints them, on the app that stands above them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect

from tests.browser.stage import ROOT, User, until
from tests.docs.pages import sections

PAGE = sections("embedding.md")
ASKS = sections("asks.md")

AROUND = """
from itertools import repeat
from yourcall.log import UserMessage
from yourcall.testing import ScriptedModel

{tools}
tools = [seat, rate]
model = ScriptedModel(repeat(
    lambda said: [(said[-1].text, {{}})] if isinstance(said[-1], UserMessage) else said[-1].text
))
{app}
from fastapi.responses import HTMLResponse

PAGES = {pages!r}

@app.get("/page/{{name}}")
def page(name: str) -> HTMLResponse:
    return HTMLResponse(PAGES[name])

@app.get("/favicon.ico", status_code=204)
def icon() -> None: ...

@app.get("/sign-in/{{name}}")
def sign_in(name: str, request: Request) -> str:
    request.session["user"] = name
    return name
"""
"""The app with the tools of asks.md, a model that calls the tool it is told, the pages, and a way to sign in."""

PAGES = {
    "chat": "The chat",
    "card": "A card",
    "inbox": "An inbox",
    "look": "The look",
    "own": "A card of your own",
}


@dataclass
class Desk:
    url: str
    new_user: Callable[..., User]

    def user(self, page: str, **options: Any) -> User:
        """Somebody on one of the pages, signed in as whom nobody else is."""
        user = self.new_user(self.url, **options)
        user.page.request.get(f"{self.url}sign-in/{page}")
        user.page.goto(f"{self.url}page/{page}")
        return user

    def ask(self, user: User, tool: str) -> None:
        """Have a tool ask in a conversation that no page shows."""
        conversation = user.page.request.post(f"{self.url}chat/conversations", data={}).json()["id"]
        user.page.request.post(f"{self.url}chat/conversations/{conversation}/messages", data={"text": tool})
        user.page.request.get(f"{self.url}chat/conversations/{conversation}/events")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("desk")
    tools = "\n".join(ASKS[heading][0].text for heading in ("Choose", "An ask of your own"))
    pages = {name: next(one.text for one in PAGE[heading] if one.language == "html") for name, heading in PAGES.items()}
    code = AROUND.format(tools=tools, app=PAGE["The router"][0].text, pages=pages)
    (folder / "desk.py").write_text(code, encoding="utf-8")
    env = os.environ | {"SESSION_KEY": "a key of this test's", "PYTHONPATH": f"{folder}:{ROOT / 'src'}"}
    command = [sys.executable, "-m", "uvicorn", "desk:app", "--port", "0"]
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, env=env, stdout=log, stderr=log)
        try:
            yield f"{_address(process, folder / 'server.log')}/"
        finally:
            process.kill()
            process.wait()


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    def said() -> list[str]:
        assert process.poll() is None, log.read_text()
        return [word for word in log.read_text().split() if word.startswith("http://") and word[-1].isdigit()]

    until(said)
    until(lambda: httpx.get(f"{said()[0]}/page/chat").is_success)
    return said()[0]


@pytest.fixture
def desk(served: str, new_user: Callable[..., User]) -> Desk:
    return Desk(served, new_user)


def test_the_chat_stands_on_a_page(desk: Desk) -> None:
    """A tool asks in it, and the answer is the tool's result, which the model says."""
    user = desk.user("chat")
    expect(user.page.locator("yc-chat strong")).to_have_text("Desk")
    user.say("seat")
    user.card.get_by_label("12C, aisle").check()
    user.send()
    user.reads("Row 12, seat C.")


def test_who_is_signed_out_is_told_so(desk: Desk) -> None:
    """The chat says it, and takes no input."""
    user = desk.new_user(desk.url, breaks=True)
    user.page.goto(f"{desk.url}page/chat")
    expect(user.page.get_by_text("You are signed out.")).to_be_visible()
    expect(user.page.locator(".yc-composer[inert]")).to_be_attached()


def test_a_card_stands_by_itself(desk: Desk) -> None:
    """It answers without a chat around it, and shows what was answered."""
    user = desk.user("card")
    desk.ask(user, "seat")
    user.page.reload()
    user.card.get_by_label("12A, window").check()
    user.send()
    expect(user.closed.locator(".yc-chosen")).to_contain_text("12A, window")


def test_an_inbox_shows_what_waits(desk: Desk) -> None:
    """A question that comes while the page is open is shown, and can be answered there."""
    user = desk.user("inbox")
    expect(user.page.get_by_text("Nothing")).to_be_visible()
    desk.ask(user, "seat")
    user.card.get_by_label("12C, aisle").check()
    user.send()
    expect(user.closed.locator(".yc-chosen")).to_contain_text("12C, aisle")


def test_a_page_has_its_own_look(desk: Desk) -> None:
    """What it sets after the theme is what is drawn, in the light although the user prefers the dark."""
    user = desk.user("look", color_scheme="dark")
    user.say("rate")
    button = user.card.get_by_role("button", name="Send", exact=True)
    expect(button).to_have_css("background-color", "rgb(122, 46, 142)")
    expect(button).to_have_css("font-family", "Georgia, serif")


def test_a_kind_has_its_own_card(desk: Desk) -> None:
    """The page's element draws the question and what was answered; a refusal is shown on its card."""
    user = desk.user("own")
    user.say("rate")
    stars = user.card.get_by_role("spinbutton", name="Stars")
    stars.fill("4")
    user.send()
    expect(user.closed).to_contain_text("How was your workout? ★★★★")
    user.reads("****")
