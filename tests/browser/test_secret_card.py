"""The card of a secret: what is typed goes to one route, once, and is nowhere else in the page or the browser."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

from playwright.sync_api import Locator, expect

from tests.browser.stage import User

CANARY = "hevy-c4n4ry-7f3a"
WRONG = "wrong-c4n4ry-91b2"


def field(user: User) -> Locator:
    return user.card.get_by_label("Hevy API key")


def remains(user: User) -> str:
    """All that the page and the browser's storage hold."""
    return str(
        user.page.evaluate(
            """() => [document.documentElement.outerHTML, location.href, document.cookie,
              JSON.stringify({ ...localStorage }), JSON.stringify({ ...sessionStorage }),
              ...[...document.querySelectorAll("input, textarea")].map(({ value }) => value)].join("\\n")"""
        )
    )


def test_a_secret_is_entered_once_and_stays_nowhere(user: User) -> None:
    """It is a password field that says who asks and who never sees it; the closed card and a reload show neither."""
    user.say("secret")
    expect(field(user)).to_have_attribute("type", "password")
    expect(field(user)).to_have_attribute("autocomplete", "off")
    expect(user.card).to_contain_text("Asked by “Connect hevy”. It is kept sealed: the assistant never sees it.")
    expect(user.card).to_contain_text("under Settings → API")
    field(user).fill(CANARY)
    user.send()
    expect(user.closed).to_contain_text("Kept sealed. The assistant never saw it.")
    user.reads("Noted: The user has set up Hevy access.")
    assert user.sent("/secret") == [{"value": CANARY}]
    assert user.sent() == []
    assert CANARY not in remains(user)
    user.page.reload()
    expect(user.closed).to_contain_text("Hevy API key")
    assert CANARY not in remains(user)
    assert all(CANARY not in request.url for request in user.requests)


def test_what_was_typed_is_no_draft(user: User) -> None:
    """A reload of the page forgets it: other kinds keep what was typed."""
    user.say("secret")
    field(user).fill(CANARY)
    assert CANARY not in str(user.page.evaluate("JSON.stringify({ ...sessionStorage })"))
    user.page.reload()
    expect(field(user)).to_have_value("")


def test_a_refused_key_is_said_on_the_field_and_is_gone_from_it(new_user: Callable[..., User]) -> None:
    """The reason stands at the field, without the key; the field is empty and has the focus; the next one is taken."""
    user = new_user(breaks=True)  # the browser itself reports a 422 on the console
    user.visit()
    user.say("secret")
    user.send()
    expect(user.card.locator("[data-pointer] .yc-error")).to_have_text("Please fill this in.")
    assert user.sent("/secret") == []
    field(user).fill(WRONG)
    field(user).press("Enter")
    expect(user.card.locator("[data-pointer] .yc-error")).to_have_text("Hevy did not accept ***.")
    expect(field(user)).to_have_value("")
    expect(field(user)).to_be_focused()
    assert WRONG not in remains(user)
    field(user).fill(CANARY)
    field(user).press("Enter")
    user.reads("Noted: The user has set up Hevy access.")


def test_too_many_tries_say_when_to_try_again(new_user: Callable[..., User]) -> None:
    """After five refused ones the card says how long to wait, and stays open; it can still be skipped."""
    user = new_user(breaks=True)
    user.visit()
    user.say("secret")
    for n in range(5):
        field(user).fill(f"{WRONG}-{n}")
        field(user).press("Enter")
        expect(user.card.locator(".yc-error").first).to_have_text("Hevy did not accept ***.")
        expect(field(user)).to_be_enabled()
    field(user).fill(CANARY)
    field(user).press("Enter")
    expect(user.card.locator("[data-pointer] .yc-error")).to_have_text("Too many tries. Try again in 10 minutes.")
    user.card.get_by_role("button", name="Skip", exact=True).click()
    expect(user.closed).to_contain_text("This was skipped.")
    paths = [urlsplit(request.url).path for request in user.requests if request.method == "POST"]
    assert [path.rpartition("/")[2] for path in paths].count("secret") == 6
