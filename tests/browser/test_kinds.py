"""The cards of forms, choices and consents in a browser: a user fills them in, is corrected, says yes or no."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.stage import User, scrolls_sideways

NewUser = Callable[..., User]


def noted(user: User) -> Any:
    """What the tool returned."""
    text = user.page.locator(".yc-assistant .yc-text").last
    expect(text).to_contain_text("Noted: ")
    return json.loads(text.inner_text().removeprefix("Noted: "))


# --------------------------------------------------------------------------- forms


def filled(user: User) -> dict[str, Locator]:
    """A membership that the browser finds nothing wrong with; its fields by their labels."""
    field = {
        name: user.card.get_by_label(
            name, exact=name not in ("Weight", "Favourite", "About you")
        )  # those are "optional", too
        for name in ("Name", "Gym code", "About you", "Height in cm", "Weight", "Born", "First visit", "Favourite")
    }
    field["Name"].fill("Ada")
    field["Gym code"].fill("AB12")
    field["Height in cm"].fill("170")
    field["Born"].fill("1815-12-10")
    for day in ("Tue", "Thu"):
        user.card.get_by_role("checkbox", name=day).check()
    user.card.get_by_role("group", name="Insured").get_by_role("radio", name="No").check()
    return field


def test_every_type_of_field_reaches_the_tool(user: User) -> None:
    """Each has a native control, shows its default, and comes out as what the model says it is."""
    user.say("join")
    field = filled(user)
    field["About you"].fill("one\ntwo")
    field["Weight"].fill("70.5")
    field["Favourite"].select_option("Sun")
    expect(field["First visit"]).to_have_value("2026-03-01T18:30")
    expect(user.card.get_by_role("checkbox", name="Remind me")).to_be_checked()
    user.card.get_by_role("radio", name="Pounds").check()
    user.send()
    got = noted(user)
    visit = got.pop("first_visit")
    assert visit.startswith("2026-03-01T18:30:00")
    assert got == {
        "name": "Ada", "code": "AB12", "about": "one\ntwo", "height": 170, "weight": 70.5, "born": "1815-12-10",
        "unit": "lb", "favourite": "Sun", "days": ["Tue", "Thu"], "insured": False, "remind": True,
    }  # fmt: skip
    expect(user.closed.locator(".yc-pairs")).to_contain_text("Kilograms" if got["unit"] == "kg" else "Pounds")


def test_the_browser_finds_what_the_schema_says(user: User) -> None:
    """Required, bounds, patterns, how many: each on its field, the first has the focus, nothing was sent or lost."""
    user.say("join")
    field = filled(user)
    field["Name"].fill("")
    field["Gym code"].fill("abcd")
    field["Height in cm"].fill("400")
    for day in ("Mon", "Wed", "Fri"):
        user.card.get_by_role("checkbox", name=day).check()
    user.send()
    expect(field["Name"]).to_be_focused()
    for name in ("Name", "Gym code", "Height in cm"):
        expect(field[name]).to_have_attribute("aria-invalid", "true")
    expect(user.card.get_by_role("group", name="Days")).to_contain_text("Choose fewer of them.")
    assert user.card.locator("[data-invalid]").count() == 4
    assert user.sent() == []
    expect(field["Gym code"]).to_have_value("abcd")
    field["Gym code"].fill("AB1")
    expect(field["Gym code"]).not_to_have_attribute("aria-invalid", "true")  # the error goes as one mends it


def test_the_server_has_the_last_word_field_by_field(new_user: NewUser) -> None:
    """What only the server knows comes back to its field, or to the form; what was typed stays, and can be mended."""
    user = new_user(breaks=True)
    user.visit()
    user.say("join")
    field = filled(user)
    field["Gym code"].fill("XX00")
    user.send()
    expect(field["Gym code"]).to_have_accessible_description("Two letters, two digits. Nobody has this code.")
    expect(field["Gym code"]).to_be_focused()
    field["Gym code"].fill("XX99")
    user.send()
    expect(user.card.get_by_role("alert")).to_have_text("The gym is full.")
    field["Gym code"].fill("AB12")
    field["Height in cm"].fill("99")
    user.card.get_by_role("group", name="Insured").get_by_role("radio", name="Yes").check()
    user.send()
    expect(user.card.get_by_role("alert")).to_have_text("Somebody of that height is insured with their parents.")
    expect(field["Name"]).to_have_value("Ada")
    expect(user.card.get_by_role("checkbox", name="Thu")).to_be_checked()
    field["Height in cm"].fill("170")
    user.send()
    assert noted(user)["insured"] is True
    assert len(user.sent()) == 4


def test_a_half_filled_form_survives_a_reload(user: User) -> None:
    """Of every type of field."""
    user.say("join")
    field = filled(user)
    field["Favourite"].select_option("Sat")
    user.page.reload()
    expect(user.card.get_by_label("Name", exact=True)).to_have_value("Ada")
    expect(user.card.get_by_label("Born", exact=True)).to_have_value("1815-12-10")
    expect(user.card.get_by_role("checkbox", name="Thu")).to_be_checked()
    user.send()
    assert noted(user)["favourite"] == "Sat"


def test_a_moment_is_told_as_it_was_entered(new_user: NewUser) -> None:
    """In the user's own language and zone, with nothing that only machines write; empty text is told, too."""
    user = new_user(locale="de-DE", timezone_id="Asia/Tokyo")
    user.visit()
    user.say("join")
    field = filled(user)
    field["First visit"].fill("2026-03-05T09:00")
    user.send()
    assert noted(user)["first_visit"].startswith("2026-03-05T00:00:00")
    for _ in ("as it came", "after a reload"):
        rows = user.closed.locator(".yc-pairs > div")
        expect(rows.filter(has_text="First visit")).to_have_text("First visit05.03.2026, 09:00")
        expect(rows.filter(has_text="Born")).to_have_text("Born10.12.1815")
        expect(rows.filter(has_text="About you")).to_have_text("About you—")
        user.page.reload()


def test_a_text_that_is_empty_by_default_may_stay_so(user: User) -> None:
    """Its field says it, as those without a default do; one with a default that can be seen needs no such word."""
    user.say("join")
    marks = user.card.locator(".yc-field:has(.yc-optional)")
    expect(marks.get_by_role("textbox")).to_have_count(1)
    expect(marks.filter(has_text="About you")).to_have_count(1)
    expect(user.card.locator(".yc-field", has_text="First visit").locator(".yc-optional")).to_have_count(0)


# --------------------------------------------------------------------------- choices


def test_few_options_are_chosen_by_keyboard(user: User) -> None:
    """Arrows choose, Enter sends; there is nothing to search in six options."""
    user.say("few seats")
    expect(user.card.get_by_role("searchbox")).to_have_count(0)
    group = user.card.get_by_role("group", name="Which seat?")
    group.get_by_role("radio", name="1A").focus()
    user.page.keyboard.press("ArrowDown")
    user.page.keyboard.press("ArrowDown")
    assert user.sent() == []
    user.page.keyboard.press("Enter")
    assert noted(user) == [1, "Ç"]
    assert user.sent() == [{"choice": "1Ç"}]
    expect(user.closed.get_by_text("(chosen)")).to_have_count(1)


def test_many_options_are_searched(user: User) -> None:
    """Case and accents do not matter; Enter in the search sends nothing and leads on; what is chosen stays in view."""
    user.say("several seats")
    search = user.card.get_by_role("searchbox", name="Search")
    search.fill("7c")
    expect(user.card.get_by_role("checkbox")).to_have_count(2)
    expect(user.card.get_by_role("status")).to_have_text("2 / 60")
    search.press("Enter")
    expect(user.card.get_by_role("checkbox", name="7Ç", exact=True)).to_be_focused()
    assert user.sent() == []
    user.page.keyboard.press("Space")
    search.fill("20 b")
    expect(user.card.get_by_role("checkbox")).to_have_count(2)
    user.card.get_by_role("checkbox", name="20B").check()
    user.send()
    assert noted(user) == [[7, "Ç"], [20, "B"]]
    assert user.sent() == [{"choice": ["7Ç", "20B"]}]


def test_nothing_is_chosen_by_default(user: User) -> None:
    """Sending without a choice says so, at the first option."""
    user.say("many seats")
    user.send()
    expect(user.card.get_by_role("group", name="Which seat?")).to_contain_text("Choose an option.")
    assert user.sent() == []


# --------------------------------------------------------------------------- consents


def test_a_consent_is_read_in_words_and_given_by_a_click(user: User) -> None:
    """Titles and values as text; a yes sends a decision, and the digest of what was shown."""
    user.say("plan")
    shown = user.card.locator(".yc-pairs")
    for text in ("Kilograms", "Bench press", "Reminders"):
        expect(shown).to_contain_text(text)
    assert "{" not in user.card.inner_text()
    user.card.get_by_role("button", name="Yes").click()
    assert noted(user)["days"] == 3
    assert user.sent() == [{"approved": True}]
    (answer,) = [one for one in user.requests if one.url.endswith("/answer")]
    assert answer.headers["if-match"]
    expect(user.closed).to_contain_text("This was approved.")


def test_what_may_be_edited_is_edited_and_checked(user: User) -> None:
    """Only what changed is sent; what does not fit is marked, by Yes only; an emptied field is sent as empty."""
    user.say("editable plan")
    days = user.card.get_by_label("Days", exact=True)
    days.fill("9")
    user.card.get_by_role("button", name="Yes").click()
    expect(days).to_be_focused()
    expect(days).to_have_attribute("aria-invalid", "true")
    assert user.sent() == []
    days.fill("5")
    user.card.get_by_role("button", name="Yes").click()
    assert noted(user)["days"] == 5
    assert user.sent() == [{"approved": True, "edits": {"days": 5}}]
    expect(user.closed).to_contain_text("5 (Changed)")


def test_a_no_can_say_why(user: User) -> None:
    """The reason reaches the model, and stands on the closed card; edits that do not fit are in nobody's way."""
    user.say("editable plan")
    user.card.get_by_label("Days", exact=True).fill("9")
    user.card.get_by_text("Add a reason").click()
    user.card.get_by_role("textbox", name="Add a reason").fill("Too much for now.")
    user.card.get_by_role("button", name="No").click()
    expect(user.page.locator(".yc-assistant .yc-text").last).to_contain_text("Too much for now.")
    assert user.sent() == [{"approved": False, "reason": "Too much for now."}]
    expect(user.closed).to_contain_text("This was declined.")
    expect(user.closed).to_contain_text("Too much for now.")


@pytest.mark.parametrize("scene", ["plan", "editable plan", "start"])
def test_R2_nobody_approves_by_the_way(user: User, scene: str) -> None:
    """Enter in a field, or on the card, decides nothing; Yes and No look alike, and neither has the focus."""
    user.say(scene)
    if scene == "editable plan":
        user.card.get_by_label("Name", exact=True).press("Enter")
    user.card.locator("form").evaluate("form => form.requestSubmit()")
    expect(user.card.get_by_role("alert")).to_have_text("Choose Yes or No.")
    assert user.sent() == []
    yes, no = (user.card.get_by_role("button", name=name) for name in ("Yes", "No"))
    looks = "button => { const { color, backgroundColor, borderColor, fontWeight } = getComputedStyle(button);"
    looks += " return [color, backgroundColor, borderColor, fontWeight, button.offsetWidth, button.offsetHeight]; }"
    assert yes.evaluate(looks) == no.evaluate(looks)
    expect(user.card.get_by_role("button", name="Skip")).to_have_count(0)
    yes.focus()
    user.page.keyboard.press("Tab")
    expect(no).to_be_focused()


def test_enter_on_yes_is_a_yes(user: User) -> None:
    """A keyboard is enough."""
    user.say("start")
    user.card.get_by_role("button", name="Yes").focus()
    user.page.keyboard.press("Enter")
    user.reads("Noted: started")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("scene", ["join", "many seats", "editable plan"])
def test_P8_the_cards_fit_a_small_screen(new_user: NewUser, scene: str, scheme: str) -> None:
    """At 360 px nothing scrolls sideways."""
    user = new_user(viewport={"width": 360, "height": 740}, color_scheme=scheme)
    user.visit()
    user.say(scene)
    user.card.wait_for()
    assert scrolls_sideways(user.page) == []


@pytest.mark.parametrize("editable", [False, True])
def test_a_consent_tells_moments_in_the_user_s_words(new_user: NewUser, editable: bool) -> None:
    """Language and zone are the user's, before the yes and after it, and also of what was edited."""
    user = new_user(locale="de-DE", timezone_id="Asia/Tokyo")
    user.visit()
    user.say("editable visit" if editable else "visit")
    expect(user.card.locator("dd").first).to_have_text("02.03.2026, 03:30")
    expect(user.card.locator("dd").last).to_have_text("07:15")
    if editable:
        user.card.get_by_label("Day").fill("2026-03-04")
    user.card.get_by_role("button", name="Yes").click()
    day = "04.03.2026 (Changed)" if editable else "02.03.2026"
    expect(user.closed.locator("dd")).to_have_text(["02.03.2026, 03:30", day, "07:15"])


# --------------------------------------------------------------------------- what was


def test_on_a_phone_a_finished_card_is_one_line(new_user: NewUser) -> None:
    """It names what was asked, and opens to all of it; where there is room it is open, and can be folded."""
    for width, folded in ((360, True), (1100, False)):
        user = new_user(viewport={"width": width, "height": 700})
        user.visit()
        user.say("few seats")
        user.card.get_by_role("radio", name="2B").check()
        user.send()
        chosen = user.closed.locator(".yc-chosen")
        expect(chosen).to_be_attached()
        expect(chosen).to_be_visible(visible=not folded)
        summary = user.closed.locator("summary")
        if folded:
            expect(summary).to_have_text("AnsweredWhich seat?")
            box = user.closed.bounding_box()
            assert box
            assert box["height"] < 32
        summary.focus()
        user.page.keyboard.press("Enter")
        expect(chosen).to_be_visible(visible=folded)
        assert scrolls_sideways(user.page) == []


def test_cards_on_a_page_of_one_s_own_keep_apart(user: User) -> None:
    """Two closed cards below each other, outside any chat."""
    gap = user.page.evaluate("""async () => {
      const { h } = await import("/cards/dom.js");
      const ours = { kind: "form", ask: {}, ending: { kind: "skipped" } };
      const asked = { id: "1", message: "Why?", metadata: { yourcall: ours } };
      const cards = [1, 2].map(() => Object.assign(document.createElement("yc-card"), { interrupt: asked }));
      document.body.replaceChildren(h("div", {}, ...cards));
      const [first, second] = cards.map((card) => card.getBoundingClientRect());
      return second.top - first.bottom;
    }""")
    assert gap >= 12
