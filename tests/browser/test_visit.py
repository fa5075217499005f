"""A step outside in a real browser: the card leads there, the page there leads back, a button says that it is done."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.stage import User, scrolls_sideways
from tests.browser.test_access import violations


class Outside:
    """The page outside; who is there reads a document, and goes back to where they were sent from."""

    def __init__(self, user: User) -> None:
        self.referrers: list[str | None] = []
        user.page.context.route("https://sign.example/**", self._serve)

    def _serve(self, route: Route) -> None:
        self.referrers.append(route.request.header_value("referer"))
        back = parse_qs(urlsplit(route.request.url).query)["return_url"][0]
        links = "".join(f'<a href="{back}?status={status}">{status}</a> ' for status in ("signed", "later"))
        route.fulfill(content_type="text/html", body=f"<title>The lease</title><h1>The lease</h1>{links}")


@pytest.fixture
def outside(user: User) -> Outside:
    return Outside(user)


def leave(user: User) -> Page:
    """Follow the card's link; the tab that it opens."""
    with user.page.context.expect_page() as opened:
        user.card.get_by_role("link", name="Open sign.example").click()
    expect(opened.value.get_by_role("heading", name="The lease")).to_be_visible()
    return opened.value


def test_there_and_back(user: User, outside: Outside) -> None:
    """The chat stays where it is and goes on by itself; the page outside learns nothing of where the user was."""
    user.say("step outside")
    expect(user.card).to_contain_text("Sign the lease")
    assert violations(user.page) == []
    tab = leave(user)
    expect(user.card.get_by_role("status")).to_have_text("Waiting for you to come back from the other page.")
    assert tab.evaluate("window.opener") is None
    assert outside.referrers == [None]
    tab.get_by_role("link", name="signed").click()
    expect(tab.get_by_role("heading", name="Sign the lease")).to_be_visible()
    assert violations(tab) == []
    for width in (320, 1280):
        tab.set_viewport_size({"width": width, "height": 700})
        assert scrolls_sideways(tab) == []
    tab.get_by_role("button", name="Done").click()
    expect(tab.get_by_role("status")).to_have_text("This step is done.")
    user.reads('Noted: {"status":"signed"}')
    expect(user.closed).not_to_contain_text("somebody else")
    tab.get_by_role("link", name="Back to the chat").click()
    expect(tab.locator("yc-card")).to_have_attribute("data-ending", "answered")


def test_who_is_not_done_may_leave_again(user: User, outside: Outside) -> None:
    """What the tool refuses is said on the page, and the card still leads there."""
    user.say("step outside")
    tab = leave(user)
    tab.get_by_role("link", name="later").click()
    tab.get_by_role("button", name="Done").click()
    expect(tab.get_by_text("It is not signed yet.")).to_be_visible()
    tab.close()
    again = leave(user)
    again.get_by_role("link", name="signed").click()
    again.get_by_role("button", name="Done").click()
    user.reads('Noted: {"status":"signed"}')
