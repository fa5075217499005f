"""The card that asks for a file, in a browser: by keyboard, with errors on the field, and nothing lost."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import FileChooser, Locator, expect

from tests import hostile
from tests.browser.stage import Server, User, scrolls_sideways
from yourcall.sizes import size

NewUser = Callable[..., User]
PHOTO = {"name": "me at the gym.png", "mimeType": "image/png", "buffer": hostile.image()}


def field(user: User) -> Locator:
    return user.card.get_by_label("Your progress photo")


def test_a_photo_is_chosen_and_sent(user: User) -> None:
    """The control is the browser's own, offers what is taken, and says how large it may be; the closed card has the
    name, also after a reload."""
    user.say("photo")
    expect(field(user)).to_have_attribute("accept", "image/png,image/jpeg,image/gif,image/webp")
    expect(field(user)).to_have_accessible_description("Only your coach sees it. At most 1 MiB.")
    field(user).set_input_files(PHOTO)  # type: ignore[arg-type]  # as it is documented
    user.send()
    user.reads(f"Noted: me at the gym.png, {len(hostile.image())} bytes")
    expect(user.closed).to_contain_text(f"me at the gym.png ({size(len(hostile.image()))})")
    user.page.reload()
    expect(user.closed).to_contain_text(f"me at the gym.png ({size(len(hostile.image()))})")


def test_what_is_wrong_with_a_file_stands_on_its_field(new_user: NewUser) -> None:
    """None, one that is too large, one that is no image, one that the tool does not want: each is told there, the
    field has the focus, and what is too large was never sent."""
    user = new_user(breaks=True)
    user.visit()
    user.say("photo")
    for file, told in (
        (None, "Please fill this in."),
        (PHOTO | {"buffer": bytes((1 << 20) + 1)}, "This file is too large. At most 1 MiB."),
        (PHOTO | {"buffer": hostile.HTML}, "This file type is not allowed."),
        (PHOTO | {"name": "my cat.png"}, "This is a cat."),
    ):
        if file:
            field(user).set_input_files(file)  # type: ignore[arg-type]
            expect(user.card.locator(".yc-field .yc-error")).to_have_count(0)
        user.send()
        expect(user.card.locator(".yc-field .yc-error")).to_have_text(told)
        expect(field(user)).to_be_focused()
        expect(field(user)).to_have_attribute("aria-invalid", "true")
    assert len([one for one in user.requests if one.url.endswith("/files")]) == 2
    assert field(user).evaluate("input => input.files[0].name") == "my cat.png"
    field(user).set_input_files(PHOTO)  # type: ignore[arg-type]
    user.send()
    user.reads(f"Noted: me at the gym.png, {len(hostile.image())} bytes")


def test_a_keyboard_is_enough(user: User) -> None:
    """Tab leads to the field, Enter or Space opens the browser's own dialog, Tab leads on to Send."""

    def choose(chooser: FileChooser) -> None:
        chooser.set_files(PHOTO)  # type: ignore[arg-type]

    user.page.on("filechooser", choose)  # before the first key: from here on the browser tells of it
    user.say("photo")
    field(user).focus()
    user.page.keyboard.press("Enter")
    user.page.wait_for_function("() => document.activeElement.files?.length")
    user.page.keyboard.press("Tab")
    expect(user.card.get_by_role("button", name="Send", exact=True)).to_be_focused()
    user.page.keyboard.press("Enter")
    user.reads(f"Noted: me at the gym.png, {len(hostile.image())} bytes")


def test_a_photo_can_be_skipped(user: User) -> None:
    user.say("photo")
    user.card.get_by_role("button", name="Skip").click()
    expect(user.closed).to_contain_text("skipped")


def test_while_a_file_is_on_its_way_the_card_says_so(server: Server, new_user: NewUser) -> None:
    """And a server that is killed meanwhile loses the user nothing: they send the same file again."""
    user = new_user(server.url, breaks=True)
    user.visit()
    user.say("slow photo")
    expect(user.card.get_by_role("progressbar")).to_be_hidden()
    field(user).set_input_files(PHOTO)  # type: ignore[arg-type]
    user.send()
    expect(user.card.get_by_role("progressbar", name="Sending")).to_be_visible()
    server.kill()
    expect(user.card.locator(".yc-field .yc-error")).to_contain_text("could not be reached")
    server.start()
    server.open("looked")
    user.send()
    user.reads(f"Noted: me at the gym.png, {len(hostile.image())} bytes")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1100])
def test_it_fits_a_small_screen(new_user: NewUser, scheme: str, width: int) -> None:
    """At 360 px nothing scrolls sideways, whatever a file is called."""
    user = new_user(viewport={"width": width, "height": 640}, color_scheme=scheme, breaks=True)
    user.visit()
    user.say("photo")
    field(user).set_input_files(PHOTO | {"name": "w" * 120 + ".png", "buffer": hostile.HTML})  # type: ignore[arg-type]
    user.send()
    expect(user.card.locator(".yc-field .yc-error")).not_to_be_empty()
    assert scrolls_sideways(user.page) == []
    field(user).set_input_files(PHOTO | {"name": "w" * 110 + ".png"})  # type: ignore[arg-type]
    user.send()
    expect(user.closed).to_contain_text("wwww.png (")
    assert scrolls_sideways(user.page) == []
