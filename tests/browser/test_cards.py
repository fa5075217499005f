"""The cards in a browser: what is sent, what is kept, and that a keyboard is enough."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Route, expect

from tests.browser.stage import User, scrolls_sideways

NewUser = Callable[..., User]

# --------------------------------------------------------------------------- labels and answers


def test_N1_a_label_with_a_comma_is_one_label(user: User) -> None:
    """Of "a, b", "a" and "b", only what was ticked is sent, as a list of exact labels."""
    user.say("many choices")
    user.card.get_by_role("checkbox", name="a, b", exact=True).check()
    user.send()
    user.reads('Noted: ["a, b"]')
    assert user.sent() == [{"answers": [{"selected": ["a, b"]}]}]
    expect(user.closed.get_by_text("(chosen)")).to_have_count(1)


def test_P7_labels_of_all_scripts_go_back_as_they_came(user: User) -> None:
    """Arabic with a comma, joined emoji, Japanese: shown in their own direction, sent unchanged."""
    user.say("scripts of the world")
    arabic = user.card.locator(".yc-label").nth(0)
    assert arabic.evaluate("element => getComputedStyle(element).direction") == "rtl"
    user.option("👩🏽‍🚀 früh, 6:00").click()
    user.reads('Noted: ["👩🏽‍🚀 früh, 6:00"]')


def test_N4_a_refused_answer_stays_on_the_card(new_user: NewUser) -> None:
    """One of three answers is wrong: its field says so and has the focus, and the other two are as they were."""
    user = new_user(breaks=True)
    user.visit()
    user.say("several questions")
    user.question("When do you want to train?").get_by_role("radio", name="Before work").check()
    user.question("What can you train with?").get_by_role("checkbox", name="b", exact=True).check()
    guests = user.question("Who comes along?").get_by_role("textbox", name="Other")
    guests.fill("some friends")
    user.send()
    expect(user.question("Who comes along?")).to_contain_text("Write a number of guests.")
    expect(guests).to_have_accessible_description("Write a number of guests.")
    expect(user.question("Who comes along?").locator(":focus")).to_have_count(1)
    expect(user.question("When do you want to train?").get_by_role("radio", name="Before work")).to_be_checked()
    expect(user.question("What can you train with?").get_by_role("checkbox", name="b", exact=True)).to_be_checked()
    expect(guests).to_have_value("some friends")
    guests.fill("2")
    expect(user.card.get_by_text("Write a number of guests.")).to_have_count(0)
    user.send()
    user.reads('Noted: ["Before work","b","2"]')


def test_N6_each_question_keeps_its_own_words(user: User) -> None:
    """Other of one question never shows up in another."""
    user.say("several questions")
    first = user.question("When do you want to train?").get_by_role("textbox", name="Other")
    second = user.question("What can you train with?").get_by_role("textbox", name="Other")
    third = user.question("Who comes along?").get_by_role("textbox", name="Other")
    first.fill("at dawn")
    second.fill("a rope")
    expect(first).to_have_value("at dawn")
    expect(third).to_have_value("")
    third.fill("7")
    user.send()
    user.reads('Noted: ["at dawn","a rope","7"]')


def test_to_choose_or_to_write_is_not_to_skip(user: User) -> None:
    """Ticking an option takes back a skip, and writing under Other the option; what was typed is kept."""
    user.say("several questions")
    when = user.question("When do you want to train?")
    when.get_by_role("radio", name="At lunch").check()
    when.get_by_role("checkbox", name="Skip this question").check()
    when.get_by_role("textbox", name="Other").fill("at dawn")
    expect(when.get_by_role("checkbox", name="Skip this question")).not_to_be_checked()
    expect(when.get_by_role("radio", name="At lunch")).not_to_be_checked()


def test_N12_the_pages_words_are_replaceable_and_the_labels_stay(user: User) -> None:
    """A page in another language: its own words change, and what is sent is still the question's label."""
    page = """<!doctype html><html lang="de"><title>Plan</title><link rel="stylesheet" href="cards/theme.css">
      <script type="module" src="german.js"></script><script type="module" src="cards/chat-define.js"></script>
      <body class="yc-alone"><main><yc-chat></yc-chat></main>"""
    words = """import { strings } from "./cards/strings.js";
      Object.assign(strings, { skip: "Überspringen", other: "Etwas anderes", message: "Nachricht" });"""
    user.page.route("**/german", lambda route: route.fulfill(body=page, content_type="text/html"))
    user.page.route("**/german.js", lambda route: route.fulfill(body=words, content_type="text/javascript"))
    user.page.goto(user.url + "german")
    user.page.get_by_role("textbox", name="Nachricht").fill("one question")
    user.page.get_by_role("textbox", name="Nachricht").press("Enter")
    expect(user.card.get_by_role("textbox", name="Etwas anderes")).to_be_visible()
    expect(user.card.get_by_role("button", name="Überspringen")).to_be_visible()
    user.option("Before work").click()
    user.reads('Noted: ["Before work"]')
    assert user.sent() == [{"answers": [{"selected": ["Before work"]}]}]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("scene", ["long", "several questions", "scripts of the world", "measures", "raw"])
def test_P8_long_texts_wrap_on_a_small_screen(new_user: NewUser, scene: str, scheme: str) -> None:
    """At 360 px nothing is cut and nothing scrolls sideways: not 2,000 characters, nor 300 without a space."""
    user = new_user(viewport={"width": 360, "height": 740}, color_scheme=scheme)
    user.visit()
    user.say(scene)
    user.card.wait_for()
    assert scrolls_sideways(user.page) == []
    if scene == "long":
        assert len(user.card.locator(".yc-prompt").inner_text()) == 2000
        expect(user.option("w" * 300)).to_have_text("w" * 300)
        user.option("w" * 300).click()
        expect(user.closed).to_contain_text("w" * 300)
        assert scrolls_sideways(user.page) == []


# --------------------------------------------------------------------------- double clicks


def test_D2_a_double_click_never_answers_the_next_question(user: User) -> None:
    """The second click is for nobody: not for the card that is gone, nor for the one that comes under the pointer."""
    user.say("two in a row")
    box = user.option("Before work").bounding_box()
    assert box
    spot = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    user.page.mouse.dblclick(*spot)
    for _ in range(5):
        user.page.mouse.click(*spot)  # an impatient user goes on clicking while the next card comes
    expect(user.card).to_contain_text("How many days a week?")
    assert user.sent() == [{"answers": [{"selected": ["Before work"]}]}]
    user.option("Three").click()
    user.reads('Noted: ["Three"]')


def test_D2_clicks_on_a_new_card_wait_until_it_was_seen(user: User) -> None:
    """A card that has just appeared takes no click and no key for a moment, then all of them."""
    user.say("two in a row")
    user.option("Before work").click()
    fresh = user.page.locator("yc-card:not([data-ending]) form[inert]").get_by_text("How many days a week?")
    fresh.wait_for(state="attached")
    user.page.evaluate("document.querySelector('yc-card:not([data-ending]) button')?.focus()")
    user.page.keyboard.press("Enter")
    user.option("Two").click()
    user.reads('Noted: ["Two"]')
    assert len(user.sent()) == 2


def test_a_click_is_sent_once(user: User) -> None:
    """While an answer is on its way the card takes no other."""
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    user.page.route("**/answer", hold)
    user.say("one question")
    user.option("Before work").click()
    expect(user.cards.get_by_role("button", name="At lunch")).to_be_disabled()
    user.cards.get_by_role("button", name="At lunch").click(force=True)
    user.cards.get_by_role("button", name="Skip").click(force=True)
    held.pop().continue_()
    user.reads('Noted: ["Before work"]')
    assert held == []
    assert user.sent("/skip") == []


# --------------------------------------------------------------------------- keyboard


def test_R2_arrow_keys_choose_and_do_not_send(user: User) -> None:
    """All options can be walked through with the keyboard alone; only the button sends."""
    user.say("several questions")
    when = user.question("When do you want to train?")
    when.get_by_role("radio", name="Before work").focus()
    user.page.keyboard.press("ArrowDown")
    user.page.keyboard.press("ArrowDown")
    expect(when.get_by_role("radio", name="In the evening")).to_be_checked()
    assert user.sent() == []
    user.question("What can you train with?").get_by_role("checkbox", name="b", exact=True).focus()
    user.page.keyboard.press("Space")
    user.question("Who comes along?").get_by_role("radio", name="Nobody").focus()
    user.page.keyboard.press("Space")
    reached = []
    while (name := user.page.evaluate("document.activeElement.textContent")) != "Send":
        user.page.keyboard.press("Tab")
        reached.append(name)
        assert len(reached) < 12, reached
    user.page.keyboard.press("Enter")
    user.reads('Noted: ["In the evening","b","Nobody"]')
    expect(user.composer).to_be_focused()


def test_R2_everything_on_a_card_can_be_reached(user: User) -> None:
    """One question: options, Other, its button, the note and Skip come one after the other by Tab."""
    user.say("one question")
    user.option("Before work").focus()
    reached = []
    for _ in range(7):
        reached.append(user.page.evaluate("document.activeElement.textContent || document.activeElement.localName"))
        user.page.keyboard.press("Tab")
    first, *others = reached
    assert first.startswith("Before work")
    assert others == ["At lunch", "In the eveningRecommended", "input", "Send", "Add a note", "Skip"]


def test_R2_what_is_asked_is_told_to_those_who_listen(user: User) -> None:
    """A new question and a new message are put into a live region; a group has its question as its name."""
    user.say("one question")
    user.card.wait_for()
    live = user.page.locator("div[aria-live=polite]")
    expect(live).to_have_text("The assistant asks: When do you want to train?")
    expect(user.card.get_by_role("group", name="When do you want to train?")).to_be_visible()
    user.option("At lunch").click()
    expect(live).to_have_text('Noted: ["At lunch"]')


@pytest.mark.parametrize("place", ["composer", "other"])
def test_R3_enter_belongs_to_the_input_method_while_it_composes(user: User, place: str) -> None:
    """An Enter that only ends a composition sends neither a message nor an answer; the next one does."""
    user.say("one question")
    user.card.wait_for()
    field = user.composer if place == "composer" else user.card.get_by_role("textbox", name="Other")
    field.fill("にほん")
    devtools = user.page.context.new_cdp_session(user.page)
    enter: dict[str, Any] = {"key": "Enter", "code": "Enter", "text": "\r"}
    for kind in ("keyDown", "keyUp"):
        devtools.send("Input.dispatchKeyEvent", {"type": kind, "windowsVirtualKeyCode": 229, **enter})
    field.dispatch_event("keydown", {"key": "Enter", "isComposing": True, "bubbles": True, "cancelable": True})
    expect(field).to_have_value("にほん")
    assert user.sent() == []
    assert len(user.sent("/messages")) == 1
    field.press("Enter")
    user.reads("You wrote: にほん" if place == "composer" else 'Noted: ["にほん"]')


def test_R4_a_card_never_holds_the_user(user: User) -> None:
    """Three open questions: all of them can be skipped at once, and a message can be written as well."""
    user.say("several questions")
    user.card.get_by_role("button", name="Skip", exact=True).click()
    expect(user.closed).to_contain_text("This was skipped.")
    user.say("several questions")
    user.card.wait_for()
    user.page.keyboard.press("Escape")
    expect(user.card).to_be_visible()
    user.say("hello")
    user.reads("You wrote: hello")


def test_R5_enter_on_an_invalid_form_shows_what_is_missing(user: User) -> None:
    """Each unanswered question says so, the first of them has the focus, and nothing was sent."""
    user.say("several questions")
    user.question("What can you train with?").get_by_role("checkbox", name="a", exact=True).check()
    user.question("Who comes along?").get_by_role("textbox", name="Other").press("Enter")
    missing = "Choose an option, write your own, or skip this question."
    expect(user.question("When do you want to train?")).to_contain_text(missing)
    expect(user.question("Who comes along?")).to_contain_text(missing)
    expect(user.question("What can you train with?")).not_to_contain_text(missing)
    expect(user.card.get_by_role("alert")).to_have_text("Please check the marked answers.")
    expect(user.question("When do you want to train?").get_by_role("radio").first).to_be_focused()
    assert user.sent() == []


def test_R5_enter_in_an_empty_other_asks_for_words(user: User) -> None:
    """One question: Enter in the empty field chooses nothing, least of all the first option."""
    user.say("one question")
    user.card.get_by_role("textbox", name="Other").press("Enter")
    expect(user.card).to_contain_text("Write your answer first, or choose an option.")
    expect(user.card.get_by_role("textbox", name="Other")).to_be_focused()
    assert user.sent() == []


def test_shift_enter_is_a_new_line(user: User) -> None:
    """The composer takes more than one line, and Enter alone sends them."""
    user.composer.fill("first")
    user.composer.press("Shift+Enter")
    user.page.keyboard.type("second")
    user.composer.press("Enter")
    user.reads("You wrote: first\nsecond")


# --------------------------------------------------------------------------- other kinds


def test_a_kind_without_an_element_is_a_form_of_native_controls(new_user: NewUser) -> None:
    """Text, number, choices, several choices, date, yes or no: each has its control, and the answer its types."""
    user = new_user(breaks=True)
    user.visit()
    user.say("measures")
    card = user.card
    expect(card.get_by_role("textbox", name="Name")).to_have_accessible_description("As on your card.")
    user.send()
    expect(card.get_by_role("textbox", name="Name")).to_be_focused()
    assert card.locator("[data-invalid]").count() == 4
    card.get_by_role("textbox", name="Name").fill("Ada")
    card.get_by_role("spinbutton", name="Height").fill("100")
    card.get_by_role("radio", name="lb").check()
    card.get_by_role("combobox", name="Level").select_option("c")
    card.get_by_role("checkbox", name="Mon").check()
    user.send()
    expect(card.get_by_role("group", name="Days")).to_contain_text("Choose more of them.")
    card.get_by_role("checkbox", name="Wed").check()
    card.get_by_label("Born").fill("1815-12-10")
    card.get_by_role("checkbox", name="Remind me").uncheck()
    user.send()
    height = card.get_by_role("spinbutton", name="Height")
    expect(height).to_have_accessible_description("Nobody is exactly 100 cm tall.")
    height.fill("170")
    user.send()
    answer = {"name": "Ada", "height": 170, "unit": "lb", "level": "c", "days": ["Mon", "Wed"], "born": "1815-12-10"}
    expect(user.closed).to_contain_text("Your measures")
    assert user.sent()[-1] == answer | {"remind": False}
    shown = "Name Ada Height 170 Unit lb Level c Days Mon, Wed Born Dec 10, 1815 Remind me No"
    expect(user.closed.locator(".yc-pairs")).to_have_text(re.compile(shown.replace(" ", r"\s*")))


def test_what_a_kind_of_ones_own_keeps_is_shown_as_it_is(user: User) -> None:
    """It takes an object and keeps one word of it: no field is said to be empty."""
    user.say("colours")
    user.card.get_by_role("textbox", name="Colour").fill("teal")
    user.send()
    user.reads("Noted: teal")
    expect(user.closed.locator(".yc-text")).to_have_text("teal")
    expect(user.closed.locator("dd")).to_have_count(0)


def test_a_raw_interrupt_takes_text(user: User) -> None:
    """Without a schema there is one text area, whose text is the answer; the reason is shown as it is."""
    user.say("raw")
    expect(user.card).to_contain_text("billing")
    user.card.get_by_role("textbox", name="Your answer").fill("Go, but slowly.")
    user.send()
    user.reads("Noted: 'Go, but slowly.'")
    assert user.sent() == ["Go, but slowly."]
    expect(user.closed.locator("dd").last).to_have_text("Go, but slowly.")


def test_a_raw_interrupt_with_questions_is_drawn_as_questions(user: User) -> None:
    """`ctx.interrupt(name, {"questions": ...})` gets the same card and the same form of answer as `Questions`."""
    user.say("raw questions")
    expect(user.card.get_by_role("group", name="Go?")).to_be_visible()
    user.option("Later").click()
    user.reads("Noted: {'answers': [{'selected': ['Later']}]}")


def test_a_page_brings_its_own_element_for_a_kind(user: User) -> None:
    """A class and a `customElements.define` are all that a custom kind needs."""
    element = """
      customElements.define("yc-seat", class extends HTMLElement {
        set interrupt(interrupt) {
          const button = document.createElement("button");
          button.type = "button";
          button.textContent = interrupt.metadata.yourcall.ask.title;
          button.onclick = () => this.dispatchEvent(new CustomEvent("yc-answer", { detail: { height: 7 } }));
          this.replaceChildren(button);
        }
      });"""
    user.page.evaluate(element)
    user.say("seats")
    user.card.get_by_role("button", name="Your measures").click()
    user.reads('Noted: {"height":7}')
