"""Files that go with a message or an answer, in a browser: chosen, refused in words, taken back, shown."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from playwright.sync_api import FileChooser, Locator, Page, Route, expect

from tests import hostile
from tests.browser.stage import User, scrolls_sideways
from tests.browser.test_access import violations
from yourcall.sizes import size

NewUser = Callable[..., User]

PHOTO = {"name": "me.png", "mimeType": "image/png", "buffer": hostile.image()}
NOTES = {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"three sets"}
DRAWING = {"name": "drawing.svg", "mimeType": "image/svg+xml", "buffer": hostile.SVG}
ADD = "Add files"


def chips(place: Locator | Page) -> Locator:
    return place.locator("yc-attach").get_by_role("list", name="Files").get_by_role("listitem")


def composer(user: User) -> Locator:
    return user.page.locator(".yc-composer")


def add(place: Locator, *files: dict[str, Any]) -> None:
    """As the browser's own dialog does once the user has chosen."""
    expect(place.get_by_role("button", name=ADD)).to_be_visible()
    place.locator("input[type=file]").set_input_files(list(files))  # type: ignore[arg-type]  # as it is documented


def given(place: Locator, how: str, *names: str) -> None:
    """Drop text files on a place, or paste them there."""
    place.evaluate(
        """(place, [how, names]) => {
          const data = new DataTransfer();
          for (const name of names) data.items.add(new File(["by hand"], name, { type: "text/plain" }));
          const about = { bubbles: true, cancelable: true, dataTransfer: data, clipboardData: data };
          const event = how === "paste" ? new ClipboardEvent(how, about) : new DragEvent(how, about);
          place.dispatchEvent(event);
          if (!event.defaultPrevented) throw new Error("the browser would open the file");
        }""",
        [how, names],
    )


def last(user: User) -> Locator:
    return user.page.locator(".yc-user").last


# --------------------------------------------------------------------------- with messages


def test_a_message_takes_files_along(user: User, tmp_path: Path) -> None:
    """Sent ahead as they are chosen, named in the message, read by the tool; and shown with the message, also after a
    reload: a link that saves the file, and a small picture of an image."""
    add(composer(user), PHOTO, NOTES)
    expect(chips(composer(user))).to_have_text([f"me.png ({size(len(hostile.image()))})", "notes.txt (10 B)"])
    user.say("look")
    user.reads(f'Noted: ["me.png: {len(hostile.image())}","notes.txt: 10"]')
    expect(chips(composer(user))).to_have_count(0)
    (message,) = user.sent("/messages")
    assert [message["text"], len(set(message["files"]))] == ["look", 2]
    for _ in ("as it came", "after a reload"):
        links = last(user).get_by_role("link")
        expect(links).to_have_text([f"me.png ({size(len(hostile.image()))})", "notes.txt (10 B)"])
        with user.page.expect_download() as download:
            links.last.click()
        download.value.save_as(tmp_path / "saved")
        assert (download.value.suggested_filename, (tmp_path / "saved").read_bytes()) == ("notes.txt", b"three sets")
        picture = links.first.locator("img")
        user.page.wait_for_function("picture => picture.naturalWidth === 8", arg=picture.element_handle())
        expect(last(user).locator("img")).to_have_count(1)
        user.page.reload()


def test_files_may_say_it_all(user: User) -> None:
    """Without a word: Enter sends them, but nothing at all is no message."""
    add(composer(user), NOTES)
    user.composer.press("Enter")
    user.reads("You wrote: ")
    expect(last(user).get_by_role("link")).to_have_text("notes.txt (10 B)")
    expect(last(user).locator(".yc-text")).to_be_hidden()
    user.composer.press("Enter")
    expect(user.page.locator(".yc-user")).to_have_count(1)


def test_a_keyboard_is_enough(user: User) -> None:
    """The button opens the browser's own dialog for several files; a file is taken back by its own button, and the
    focus goes to the next one, in the end to where one adds."""

    def choose(chooser: FileChooser) -> None:
        assert chooser.is_multiple()
        chooser.set_files([PHOTO, NOTES])  # type: ignore[arg-type]

    user.page.on("filechooser", choose)
    expect(composer(user).get_by_role("button", name=ADD)).to_be_visible()
    user.page.keyboard.press("Shift+Tab")
    expect(user.page.get_by_role("button", name=ADD)).to_be_focused()
    user.page.keyboard.press("Enter")
    expect(chips(composer(user))).to_have_count(2)
    expect(user.page.locator("yc-attach [aria-live]")).to_have_text(re.compile("^(notes.txt|me.png): added$"))
    user.page.keyboard.press("Shift+Tab")
    expect(user.page.get_by_role("button", name="Remove notes.txt")).to_be_focused()
    user.page.keyboard.press("Enter")
    expect(user.page.get_by_role("button", name="Remove me.png")).to_be_focused()
    user.page.keyboard.press("Enter")
    expect(user.page.get_by_role("button", name=ADD)).to_be_focused()
    user.say("look")
    user.reads("Noted: []")


def test_a_refusal_stands_on_its_file_and_holds_the_message_up(new_user: NewUser) -> None:
    """One that is not allowed, one that is too large, which was never sent, and an eleventh. No message goes without
    what the user meant to send: its words stay until the file is taken away."""
    user = new_user(breaks=True)
    user.visit()
    add(composer(user), DRAWING, NOTES | {"buffer": bytes((10 << 20) + 1)}, PHOTO)
    refusals = chips(composer(user)).get_by_role("alert")
    expect(refusals).to_have_text(["This file type is not allowed.", "This file is too large. At most 10 MiB."])
    expect(chips(composer(user)).get_by_role("progressbar")).to_have_count(0)
    user.say("look")
    expect(user.page.get_by_role("status").filter(has_text="This file type is not allowed.")).to_be_visible()
    expect(user.composer).to_have_value("look")
    expect(user.page.locator(".yc-user")).to_have_count(0)
    expect(chips(composer(user))).to_have_count(3)
    user.page.get_by_role("button", name="Remove drawing.svg").click()
    user.page.get_by_role("button", name="Remove notes.txt").click()
    add(composer(user), *(NOTES | {"name": f"{n}.txt"} for n in range(10)))
    expect(composer(user).get_by_text("Not more files at once than 10.")).to_be_visible()
    expect(chips(composer(user))).to_have_count(10)
    user.composer.press("Enter")
    expect(last(user).get_by_role("link")).to_have_count(10)
    assert [len(message["files"]) for message in user.sent("/messages")] == [10]
    assert len([one for one in user.requests if one.url.endswith("/files")]) == 2 + 9  # all but the one too large


def test_a_message_waits_for_its_files(user: User) -> None:
    """While one is on its way its chip says so, and a message that is sent meanwhile goes when the file is there."""
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    user.page.route("**/files", hold)
    add(composer(user), NOTES)
    expect(chips(composer(user)).get_by_role("progressbar", name="Sending")).to_be_visible()
    user.say("look")
    expect(last(user)).to_have_text("Youlooknotes.txt (10 B)")
    assert user.sent("/messages") == []
    held[0].continue_()
    user.reads('Noted: ["notes.txt: 10"]')
    expect(last(user).get_by_role("link")).to_have_text("notes.txt (10 B)")


def test_what_the_network_lost_is_sent_again(new_user: NewUser) -> None:
    """A file that did not arrive says so, and goes with the next try to send the message; nothing is chosen twice."""
    user = new_user(breaks=True)
    user.visit()
    user.page.route("**/files", lambda route: route.abort())
    add(composer(user), NOTES)
    expect(chips(composer(user)).get_by_role("alert")).to_contain_text("could not be reached")
    user.say("look")
    expect(user.composer).to_have_value("look")
    expect(chips(composer(user)).get_by_role("alert")).to_contain_text("could not be reached")
    user.page.unroute("**/files")
    user.composer.press("Enter")
    user.reads('Noted: ["notes.txt: 10"]')


@pytest.mark.parametrize(("how", "place"), [("drop", ".yc-scroller"), ("paste", ".yc-composer textarea")])
def test_files_are_dropped_and_pasted(user: User, how: str, place: str) -> None:
    """Anywhere on the chat, and where one writes."""
    expect(user.page.get_by_role("button", name=ADD)).to_be_visible()
    given(user.page.locator(place), how, "a.txt", "b.txt")
    expect(chips(composer(user))).to_have_text(["a.txt (7 B)", "b.txt (7 B)"])
    user.say("look")
    user.reads('Noted: ["a.txt: 7","b.txt: 7"]')


def test_where_no_files_are_taken_none_can_be_added(new_user: NewUser) -> None:
    """The server says so; there is no button, and the chat is as it was."""
    user = new_user()
    answered = Event()

    def without(route: Route) -> None:
        route.fulfill(json=route.fetch().json() | {"files": None})
        answered.set()

    user.page.route("**/about", without)
    user.visit()
    user.say("look")
    user.reads("Noted: []")
    assert answered.is_set()
    expect(user.page.get_by_role("button", name=ADD)).to_have_count(0)


def test_nothing_of_a_file_is_run(new_user: NewUser) -> None:
    """A name is text, a page that calls itself a picture is refused, and what is saved is never shown as a page."""
    user = new_user(breaks=True)
    user.visit()
    name = "<img src=x onerror=alert(1)>.txt"
    add(composer(user), NOTES | {"name": name}, PHOTO | {"buffer": hostile.HTML})
    expect(chips(composer(user)).get_by_role("alert")).to_have_count(1)
    user.page.get_by_role("button", name="Remove me.png").click()
    add(composer(user), PHOTO | {"name": "both.gif", "buffer": hostile.gif_script()})
    user.say("look")
    expect(last(user).get_by_role("link")).to_have_text(
        [f"{name} (10 B)", f"both.gif ({size(len(hostile.gif_script()))})"]
    )
    expect(last(user).locator("img")).to_have_count(1)
    for link in last(user).get_by_role("link").all():
        with user.page.expect_download():  # also for who follows it without its `download`
            link.evaluate("link => { link.removeAttribute('download'); link.click(); }")
    assert [error for error in user.errors if "415" not in error] == []


def test_who_signs_in_by_a_header_gets_their_files_too(user: User, tmp_path: Path) -> None:
    """Neither a link nor a picture carries one: the file is fetched with it, and saved."""
    user.page.evaluate("document.querySelector('yc-chat').client.init = { headers: { Authorization: 'Bearer token' } }")
    add(composer(user), PHOTO)
    user.say("look")
    link = last(user).get_by_role("link")
    expect(link.locator("img")).to_have_count(0)
    with user.page.expect_download() as download:
        link.click()
    download.value.save_as(tmp_path / "saved")
    assert (download.value.suggested_filename, (tmp_path / "saved").read_bytes()) == ("me.png", hostile.image())
    sent = [one for one in user.requests if "/files" in one.url]
    assert [one.headers.get("authorization") for one in sent] == ["Bearer token"] * 2


# --------------------------------------------------------------------------- with answers


def test_an_answer_takes_files_along(user: User) -> None:
    """The card of an ask that takes files has the same picker; the tool reads them, and the closed card names them."""
    user.say("measured")
    user.card.get_by_label("Waist").fill("80")
    add(user.card, NOTES, PHOTO)
    expect(chips(user.card)).to_have_count(2)
    user.page.get_by_role("button", name="Remove me.png").click()
    given(user.card.get_by_label("Waist"), "paste", "pasted.txt")
    given(user.card, "drop", "dropped.txt")
    expect(chips(user.card)).to_have_count(3)
    expect(chips(composer(user))).to_have_count(0)
    user.send()
    user.reads('Noted: ["80","notes.txt: 10","pasted.txt: 7","dropped.txt: 7"]')
    for _ in ("as it came", "after a reload"):
        expect(user.closed.get_by_role("list", name="Files").get_by_role("listitem")).to_have_text(
            ["notes.txt (10 B)", "pasted.txt (7 B)", "dropped.txt (7 B)"]
        )
        user.page.reload()


def test_a_question_with_files_is_not_answered_by_one_click(user: User) -> None:
    """Whoever chooses an option can still add what belongs to it; without files it is answered all the same."""
    for files, noted in (([NOTES], '["A bill","notes.txt"]'), ([], '["A bill"]')):
        user.say("shown")
        user.card.get_by_role("radio", name="A bill").check()
        if files:
            add(user.card, *files)
        user.send()
        user.reads(f"Noted: {noted}")


def test_a_file_that_cannot_be_used_is_told_on_the_card(new_user: NewUser) -> None:
    """One that something else has brought meanwhile: the card stays open, and says so where the files are."""
    user = new_user(breaks=True)
    user.visit()
    user.say("measured")
    user.card.get_by_label("Waist").fill("80")
    with user.page.expect_response("**/files") as sent:
        add(user.card, NOTES)
    user.page.evaluate(
        """async (file) => {
          const { client } = document.querySelector("yc-chat");
          await client.say((await client.create()).id, "hello", "m1", [file]);
        }""",
        sent.value.json()["id"],
    )
    user.send()
    words = "This file came with something else already. Send it again."
    expect(user.card.locator("yc-attach > .yc-error").filter(has_text=words)).to_be_visible()
    expect(user.card.get_by_role("button", name="Remove notes.txt")).to_be_focused()
    user.page.keyboard.press("Enter")
    expect(user.card.get_by_text(words)).to_have_count(0)
    add(user.card, NOTES)
    user.send()
    user.reads('Noted: ["80","notes.txt: 10"]')


# --------------------------------------------------------------------------- for everybody


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1100])
def test_axe_finds_nothing_and_it_fits(new_user: NewUser, scheme: str, width: int) -> None:
    """Files that wait, that were refused, that came with a message and with an answer, whatever they are called."""
    user = new_user(viewport={"width": width, "height": 700}, color_scheme=scheme, breaks=True, reduced_motion="reduce")
    user.visit()
    files = [PHOTO | {"name": "w" * 110 + ".png"}, DRAWING]
    add(composer(user), *files)
    expect(chips(composer(user)).get_by_role("alert")).to_have_count(1)
    expect(chips(composer(user)).get_by_role("progressbar")).to_have_count(0)
    assert violations(user.page) == []
    assert scrolls_sideways(user.page) == []
    user.page.get_by_role("button", name="Remove drawing.svg").click()
    user.say("measured")
    add(user.card, *files)
    expect(chips(user.card).get_by_role("alert")).to_have_count(1)
    expect(chips(user.card).get_by_role("progressbar")).to_have_count(0)
    assert violations(user.page) == []
    assert scrolls_sideways(user.page) == []
    user.page.get_by_role("button", name="Remove drawing.svg").click()
    user.card.get_by_label("Waist").fill("80")
    user.send()
    if width == 360:
        user.closed.locator("summary").click()
    expect(user.closed.get_by_role("list", name="Files")).to_be_visible()
    assert violations(user.page) == []
    assert scrolls_sideways(user.page) == []
