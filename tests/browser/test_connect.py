"""An account is connected in a browser, at the sign-in and consent pages of a server that others wrote."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.stage import Server, User, scrolls_sideways
from tests.oauth.panva import Panva, panva
from tests.oauth.stage import CLIENT


@pytest.fixture(scope="module")
def provider(shared_server: Server) -> Iterator[Panva]:
    with panva([CLIENT]) as running:
        (shared_server.folder / "issuer").write_text(running.issuer)
        yield running


def left(user: User) -> Page:
    """The page that the card's link opens."""
    with user.page.expect_popup() as popup:
        user.card.get_by_role("link", name="Connect").click()
    return popup.value


def signed_in(page: Page, provider: Panva) -> None:
    """From our page through the provider's sign-in, up to its consent page."""
    page.get_by_role("button", name="Continue to 127.0.0.1").click()
    page.locator("input[name=login]").fill("ada")
    page.locator("input[name=password]").fill("any")
    page.locator("form button[type=submit]").click()
    expect(page.get_by_role("button", name="Continue")).to_be_visible()
    assert page.url.startswith(provider.issuer)


def test_an_account_is_connected(user: User, provider: Panva) -> None:
    """Sign in, consent, come back: the card closes by itself, and the last page may be closed and holds nothing."""
    before = provider.requests()
    user.say("account")
    card = user.card
    expect(card).to_contain_text("Connect Sleepy")
    page = left(user)
    expect(card).to_contain_text("Waiting for you to come back")
    expect(page.get_by_role("heading")).to_have_text("Connect Sleepy")
    assert scrolls_sideways(page) == []
    signed_in(page, provider)
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("status")).to_have_text("Connected as ada@example.org.")
    assert page.url.startswith(f"{user.url}connect/")
    assert "?" not in page.url
    expect(user.closed).to_contain_text("ada@example.org")
    expect(user.closed).not_to_contain_text("another tab")  # it was the user who went there
    user.reads("Noted: It knows an account.")
    page.get_by_role("link", name="Back to the chat").click()
    expect(page.locator("yc-card")).to_contain_text("Connect Sleepy")
    assert page.url == user.page.url
    assert provider.requests() == before + 1


def test_no_is_no(user: User, provider: Panva) -> None:
    """Who cancels at the provider has declined; the card says so."""
    user.say("account")
    page = left(user)
    signed_in(page, provider)
    page.get_by_role("link", name="Cancel").click()
    expect(page.get_by_role("status")).to_have_text("You declined. Nothing was connected.")
    expect(user.closed).to_contain_text("This was declined.")


def test_our_page_fits_a_phone(new_user: Callable[..., User], provider: Panva) -> None:
    """At 360 px nothing is wider than the page."""
    user = new_user(viewport={"width": 360, "height": 740})
    user.visit()
    user.say("account")
    page = left(user)
    expect(page.get_by_role("button")).to_be_visible()
    assert scrolls_sideways(page) == []
    assert scrolls_sideways(user.page) == []
