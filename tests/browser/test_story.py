"""The coach's whole story in one conversation, in a browser; and in each pause its server is killed and started anew.

The sign-in and consent pages are those of an authorization server that others wrote; the APIs are the stand-ins of
the demo, which ask that server about the tokens that they are sent.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect

from coach.services import Services
from coach.stand_in_services import serving
from tests import hostile
from tests.browser.stage import ROOT, Server, User, scrolls_sideways, until
from tests.oauth.panva import Panva, panva

CLIENT = {
    "client_id": "coach",
    "client_secret": "a secret of the coach's",
    "application_type": "native",  # whose loopback redirect URIs may have any port (RFC 8252, section 7.3)
    "redirect_uris": ["http://127.0.0.1/callback/google"],
    "grant_types": ["authorization_code", "refresh_token"],
    "response_types": ["code"],
}
KEY, WRONG = "hevy-c4n4ry-7f3a", "wrong-c4n4ry-91b2"
PHOTO = {"name": "me.png", "mimeType": "image/png", "buffer": hostile.image()}


@pytest.fixture(scope="module")
def provider() -> Iterator[Panva]:
    with panva([CLIENT]) as running:
        yield running


@pytest.fixture
def server(tmp_path: Path, provider: Panva, free_port: Callable[[], int]) -> Iterator[Server]:
    def accepts(token: str) -> bool:
        return httpx.get(f"{provider.issuer}/me", headers={"Authorization": f"Bearer {token}"}).is_success

    with serving(tmp_path / "port", accepts) as url:
        services = Services(url, url, provider.issuer, "coach", "a secret of the coach's", ("Hevy", "Google"))
        env = {
            "YOURCALL_SERVICES": json.dumps(asdict(services)),
            "PYTHONPATH": os.pathsep.join([str(ROOT / "examples"), os.environ.get("PYTHONPATH", "")]),
        }
        with Server(tmp_path, free_port(), engine="tests.browser.coach_app:engine", env=env) as server:
            yield server


class Story:
    """Somebody with the coach in front of them, whose server dies in every pause."""

    def __init__(self, user: User, server: Server) -> None:
        self.user, self.server = user, server

    def dies(self) -> None:
        """`kill -9` in a pause, and a new process. What streams already may not be recorded yet: that is no pause."""
        until(self._is_paused)
        self.server.kill()
        self.server.start()

    def _is_paused(self) -> bool:
        listed = self.user.page.request.get(f"{self.server.url}conversations").json()["conversations"]
        return all(one["phase"] != "run" for one in listed)

    def asked(self, text: str, *, by: str = "") -> Locator:
        """The card with this text is there, before and after the server's death."""
        if by:
            self.user.say(by)
        expect(self.user.card).to_contain_text(text)
        self.dies()
        self.user.page.reload()
        expect(self.user.card).to_contain_text(text)
        return self.user.card

    def told(self, text: str) -> None:
        expect(self.user.page.locator(".yc-assistant .yc-text").last).to_contain_text(text)


@pytest.fixture
def story(new_user: Callable[..., User], server: Server) -> Story:
    user = new_user(server.url, breaks=True)  # a dead server is an error on the page
    user.visit()
    return Story(user, server)


def test_the_whole_story(story: Story, provider: Panva, tmp_path: Path) -> None:
    """Units, a plan that is edited, a key that was wrong first, an account, a photo: each goes on where it was, and
    neither the key nor a token is in what was kept, shown or sent."""
    units(story)
    a_plan(story)
    hevy(story)
    sleep(story)
    assert provider.granted("authorization_code") == 1
    a_photo(story)
    story.dies()
    user = story.user
    user.page.reload()
    user.say("what do you know about me?")
    for line in ("Unit: kilograms", "Plan: saved", "Progress photos: 1", "Connected: Hevy and Google Health"):
        story.told(line)
    expect(user.closed).to_have_count(6)
    assert scrolls_sideways(user.page) == []
    story.server.kill()
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    for canary in (KEY, WRONG):
        assert canary.encode() not in kept
        assert canary not in user.page.content()


def units(story: Story) -> None:
    card = story.asked("How do you weigh your lifts?", by="what unit")
    card.get_by_role("radio", name="Kilograms").check()
    story.user.send()
    story.told("You lift in kilograms.")


def a_plan(story: Story) -> None:
    user = story.user
    card = story.asked("What do you train for?", by="plan my week")
    user.question("What do you train for?").get_by_label("Get stronger").check()
    for day in ("Monday", "Thursday"):
        user.question("On which days can you train?").get_by_label(day).check()
    user.question("What can you train with?").get_by_label("Dumbbells").check()
    user.send()
    card = story.asked("Save this plan?")
    monday = card.get_by_label("Monday")
    expect(monday).to_have_value("whole body A\n- Goblet squat: 2 x 5\n- Dumbbell bench press: 2 x 5\n"
                                 "- One-arm dumbbell row: 2 x 5\n- Plank: 2 x 20 to 40 seconds")  # fmt: skip
    monday.fill("only easy things\n- Dead bug: 3 x 5")
    card.get_by_role("button", name="Yes").click()
    story.told("Monday: only easy things")
    story.told("Thursday: whole body B")


def hevy(story: Story) -> None:
    user = story.user
    story.asked("Your API key for Hevy (a stand-in)", by="how did I train according to Hevy?")
    field = user.card.get_by_label("Your API key for Hevy")
    field.fill(WRONG)
    user.send()
    expect(user.card).to_contain_text("Hevy does not accept this key.")
    story.asked("Your API key for Hevy (a stand-in)")
    field.fill(KEY)
    user.send()
    story.told("Bench Press (Barbell): 3 x 8, up to 62.5 kg")


def sleep(story: Story) -> None:
    user = story.user
    story.asked("Connect Google Health (a stand-in)", by="how did I sleep?")
    with user.page.expect_popup() as popup:
        user.card.get_by_role("link", name="Connect").click()
    signs_in(popup.value, story)
    story.told("6 h 56 min on average")


def a_photo(story: Story) -> None:
    card = story.asked("Your progress photo", by="save a progress photo")
    card.get_by_label("Your progress photo").set_input_files(PHOTO)  # type: ignore[arg-type]  # as it is documented
    story.user.send()
    story.told("The photo is kept, without its metadata.")


def signs_in(page: Page, story: Story) -> None:
    """Our page, theirs and back; the server dies before each of them is left."""
    expect(page.get_by_text("would like to use your Google Health (a stand-in) account")).to_be_visible()
    story.dies()
    page.get_by_role("button", name="Continue to 127.0.0.1").click()
    page.locator("input[name=login]").fill("ada")
    page.locator("input[name=password]").fill("any")
    page.locator("form button[type=submit]").click()
    expect(page.get_by_role("button", name="Continue")).to_be_visible()
    story.dies()
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("status")).to_have_text("Connected as ada@example.org.")
    page.close()
