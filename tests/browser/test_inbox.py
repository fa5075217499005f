"""The inbox in a real browser: somebody asks in one, a colleague answers in another."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.stage import User, scrolls_sideways

EMPTY = "Nothing is waiting for you."


@pytest.fixture
def owner(user: User) -> Iterator[User]:
    """Somebody whose question was put to colleagues; it is taken back in the end."""
    user.say("put to others")
    expect(user.page.get_by_text("Somebody else was asked")).to_be_visible()
    yield user
    if not user.closed.count():
        user.page.get_by_role("button", name="Stop").click()
        expect(user.closed).to_have_count(1)


@pytest.fixture
def colleague(new_user: Callable[..., User]) -> User:
    """Somebody else, who looks into their inbox."""
    user = new_user()
    user.page.goto(user.url + "inbox")
    return user


def waiting(user: User) -> Locator:
    """The card in an inbox, once it takes input."""
    expect(user.page.locator("yc-card form:not([inert])")).to_be_attached()
    return user.page.locator("yc-card")


def test_a_colleague_answers(owner: User, colleague: User) -> None:
    """Who was asked has a card that works as in a chat; the owner's conversation goes on with the answer."""
    card = waiting(colleague)
    card.get_by_role("radio", name="At lunch").check()
    card.get_by_role("checkbox", name="a, b").check()
    card.get_by_role("button", name="Send", exact=True).click()
    expect(card).to_have_attribute("data-ending", "answered")
    expect(card.locator(".yc-chosen")).to_have_text(["At lunch (chosen)", "a, b (chosen)"])
    owner.reads('Noted: ["At lunch","a, b"]')
    expect(owner.closed).to_have_attribute("data-ending", "answered")
    expect(colleague.page.get_by_text(EMPTY)).to_be_visible()


def test_the_owner_has_nothing_to_press(owner: User) -> None:
    """They read what was asked, and that it was put to somebody else; they may still write, which closes nothing."""
    card = owner.page.locator("yc-card")
    expect(card).to_contain_text("When do you want to train?")
    assert card.locator("button, input, textarea").count() == 0
    owner.page.reload()
    expect(card).to_contain_text("Somebody else was asked")
    expect(owner.composer).to_be_enabled()
    owner.say("Never mind")
    owner.page.reload()
    expect(owner.page.get_by_text("Never mind")).to_be_visible()
    expect(card).to_contain_text("Somebody else was asked")


def test_the_owner_calls_it_off(owner: User, colleague: User) -> None:
    """A colleague who never answers does not hold the chat: the owner stops it, and goes on."""
    waiting(colleague)
    owner.page.get_by_role("button", name="Stop").click()
    expect(owner.closed).to_contain_text("Stopped before it was answered.")
    expect(owner.page.get_by_role("button", name="Stop")).to_be_hidden()
    owner.say("hello")
    owner.reads("You wrote: hello")


def test_no_ending_is_told_as_another_s(owner: User, colleague: User) -> None:
    """A colleague skipped: nobody who looks on reads that they did it themselves."""
    waiting(colleague).get_by_role("button", name="Skip", exact=True).click()
    expect(owner.closed).to_contain_text("This was skipped.")
    expect(colleague.page.locator("yc-card")).to_contain_text("This was skipped.")


def test_what_another_answered_closes_here(owner: User, colleague: User, new_user: Callable[..., User]) -> None:
    """Two have it in front of them: when one answers, the other's card closes by itself and shows the answer."""
    second = new_user()
    second.page.goto(second.url + "inbox")
    waiting(second)
    card = waiting(colleague)
    card.get_by_role("radio", name="At lunch").check()
    card.get_by_role("checkbox", name="a, b").check()
    card.get_by_role("button", name="Send", exact=True).click()
    expect(second.page.locator("yc-card")).to_have_attribute("data-ending", "answered")
    expect(second.page.locator("yc-card")).to_contain_text("At lunch")
    expect(second.page.get_by_text(EMPTY)).to_be_visible()


def test_what_was_taken_back_closes_here(owner: User, colleague: User) -> None:
    """The owner called it off: nobody is left with a question that leads nowhere."""
    waiting(colleague)
    owner.page.get_by_role("button", name="Stop").click()
    expect(colleague.page.locator("yc-card")).to_have_attribute("data-ending", "cancelled")


def test_new_ones_come_by_themselves(colleague: User, new_user: Callable[..., User]) -> None:
    """An inbox that is open fills; what is asked in one's own chats is in it, too. What is being typed stays."""
    expect(colleague.page.get_by_text(EMPTY)).to_be_visible()
    chat = User(colleague.page.context.new_page(), colleague.url)
    chat.visit()
    chat.say("several questions")
    expect(chat.card).to_be_visible()
    colleague.page.bring_to_front()
    card = waiting(colleague)
    card.get_by_role("textbox", name="Other").first.fill("At noon")
    chat.page.close()
    other = new_user()
    other.visit()
    other.say("put to others")
    cards = colleague.page.locator("yc-card")
    expect(cards).to_have_count(2)
    expect(cards.first.get_by_role("textbox", name="Other").first).to_have_value("At noon")
    other.page.get_by_role("button", name="Stop").click()
    expect(cards.nth(1)).to_have_attribute("data-ending", "cancelled")


def test_by_keyboard(owner: User, colleague: User) -> None:
    """From the top of the page: Tab to the first choice, arrows, Tab to the next, Space, and Enter sends."""
    waiting(colleague)
    keys = colleague.page.keyboard
    keys.press("Tab")
    for key in ("Space", "ArrowDown"):
        keys.press(key)
    expect(colleague.page.get_by_role("radio", name="At lunch")).to_be_checked()
    colleague.page.get_by_role("checkbox", name="a, b").focus()
    keys.press("Space")
    colleague.page.get_by_role("button", name="Send", exact=True).focus()
    keys.press("Enter")
    owner.reads('Noted: ["At lunch","a, b"]')


def test_it_fits(owner: User, colleague: User) -> None:
    """On a phone as on a desk, nothing is wider than its place."""
    waiting(colleague)
    for width in (320, 360, 1280):
        colleague.page.set_viewport_size({"width": width, "height": 700})
        assert scrolls_sideways(colleague.page) == []
