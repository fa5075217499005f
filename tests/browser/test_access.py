"""Accessible to everybody: axe-core finds nothing, in light and in dark, whatever is open."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.stage import ROOT, User

AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
SMALL = {"width": 360, "height": 740}


def violations(page: Page) -> list[str]:
    """What axe finds, all its rules on: the rule and where it is broken."""
    page.evaluate(AXE.read_text())
    found: dict[str, Any] = page.evaluate("axe.run()")
    return [f"{one['id']}: {node['html']}" for one in found["violations"] for node in one["nodes"]]


def be_empty(user: User) -> None:
    expect(user.composer).to_be_focused()


def open_the_list(user: User) -> None:
    user.say("hello")
    user.reads("You wrote: hello")
    user.page.get_by_text("Chats", exact=True).click()
    expect(user.page.locator("yc-chats li a")).to_be_visible()


def ask_one(user: User) -> None:
    user.say("one question")
    user.card.get_by_text("Add a note").click()


def ask_several_and_miss_some(user: User) -> None:
    user.say("several questions")
    user.question("Who comes along?").get_by_role("radio", name="Nobody").check()
    user.send()
    expect(user.card.get_by_role("alert")).not_to_be_empty()


def close_some(user: User) -> None:
    user.say("one question")
    user.option("At lunch").click()
    user.reads('Noted: ["At lunch"]')
    user.say("many choices")
    user.card.get_by_role("button", name="Skip").click()
    expect(user.closed).to_have_count(2)
    user.say("slow tool")
    expect(user.page.locator(".yc-tool:visible")).to_be_visible()
    user.page.get_by_role("button", name="Stop").click()
    expect(user.page.get_by_text("Stopped.")).to_be_visible()


def ask_for_a_form(user: User) -> None:
    user.say("measures")
    user.send()
    expect(user.card.get_by_role("alert")).not_to_be_empty()


def search_a_choice(user: User) -> None:
    user.say("many seats")
    user.card.get_by_role("searchbox").fill("7c")
    user.card.get_by_role("radio", name="17Ç").check()


def ask_for_a_consent(user: User) -> None:
    user.say("editable plan")
    user.card.get_by_label("Days", exact=True).fill("9")
    user.card.get_by_role("button", name="Yes").click()
    expect(user.card.get_by_role("alert")).not_to_be_empty()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "scene",
    [
        be_empty,
        open_the_list,
        ask_one,
        ask_several_and_miss_some,
        close_some,
        ask_for_a_form,
        search_a_choice,
        ask_for_a_consent,
    ],
)
def test_axe_finds_nothing(new_user: Callable[..., User], scene: Callable[[User], None], scheme: str) -> None:
    """Names, roles, contrast, structure: no rule of axe-core is broken, on a large and on a small screen."""
    user = new_user(color_scheme=scheme, reduced_motion="reduce")
    user.visit()
    scene(user)
    assert violations(user.page) == []
    user.page.set_viewport_size(SMALL)  # type: ignore[arg-type]  # Playwright's own type for two numbers
    assert violations(user.page) == []
