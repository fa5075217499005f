"""What a model writes is text: it makes no element, runs nothing and fetches nothing, wherever it is shown."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.corpus import HOSTILE, LABELS
from tests.browser.stage import User

ACTIVE = "img, svg, iframe, object, embed, base, [href^=javascript], [href*=elsewhere], [onerror], [onload], [srcdoc]"


def assert_inert(user: User) -> None:
    """No element came of it, and none of the page's own was taken away."""
    page = user.page.locator("yc-chat")
    assert page.locator(ACTIVE).count() == 0
    assert page.locator("script, style, link").count() == 0
    assert page.locator("a:not(.yc-menu a)").count() == 1  # "New chat"
    assert page.locator("form form").count() == 0
    assert user.page.title() == "Yourcall"
    expect(user.composer).to_be_visible()


def test_P9_T12_hostile_text_is_shown_as_it_is(user: User) -> None:
    """Headers, prompts, labels, messages of the model and of the user, Other and notes: each text of the corpus stands
    there letter by letter. The user's fixture sees to it that no request left for elsewhere and no dialog came up."""
    user.say("hostile")
    for text in HOSTILE:
        card = user.card
        expect(card.locator(".yc-prompt").first).to_have_text(text)
        expect(card.locator(".yc-label").first).to_have_text(text[:300])
        assert_inert(user)
        card.get_by_role("radio").first.check()
        card.get_by_role("checkbox", name="a", exact=True).check()
        card.get_by_role("textbox", name="Other").last.fill(text)
        card.get_by_text("Add a note").last.click()
        card.get_by_role("textbox", name="Note").last.fill(text)
        user.send()
        expect(user.closed.last.locator(".yc-chosen").first).to_have_text(f"{text[:300]} (chosen)")
    user.reads("\n".join(HOSTILE))
    assert_inert(user)
    for text in HOSTILE:
        user.say(text)
        user.reads(f"You wrote: {text}")
        expect(user.page.locator(".yc-user .yc-text").last).to_have_text(text)
    assert_inert(user)
    user.page.reload()
    user.reads(f"You wrote: {HOSTILE[-1]}")
    assert_inert(user)


def test_T12_two_hundred_hostile_labels_are_labels(user: User) -> None:
    """All of them on one card, then in one message: each is exactly one option, and the card still works."""
    user.say("two hundred labels")
    card = user.card
    assert card.locator(".yc-label").all_inner_texts() == list(LABELS)
    assert_inert(user)
    for n in range(10):
        card.get_by_role("radio").nth(n * 20).check()
    user.send()
    expect(user.closed.locator(".yc-chosen")).to_have_count(10)
    assert [answer["selected"] for answer in user.sent()[0]["answers"]] == [[label] for label in LABELS[::20]]
    user.reads("\n".join(LABELS))
    assert_inert(user)
