"""A chat in a browser: a question is asked, answered, skipped, talked over; and nothing that happens loses it."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.stage import Server, User

NewUser = Callable[..., User]

ELSEWHERE = "Answered in another tab, or by somebody else."


def another_tab(user: User) -> User:
    """The same person looks at the same conversation once more."""
    tab = User(user.page.context.new_page(), user.url)
    tab.page.goto(user.page.url)
    return tab


def texts(page: Page) -> list[str]:
    """What stands in the conversation, from top to bottom."""
    return [text.strip() for text in page.locator(".yc-list > :not([hidden])").all_inner_texts()]


def moved_by(place: Locator, act: Callable[[], None]) -> float:
    """By how much the text moves up when the user reads at a place and does something there."""
    place.evaluate("place => place.scrollIntoView({ block: 'center' })")
    tops = []
    for step in (None, act):
        if step:
            step()
        place.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        tops.append(float(place.evaluate("place => place.getBoundingClientRect().top")))
    return tops[0] - tops[1]


# --------------------------------------------------------------------------- the ways to answer


def test_one_click_answers_and_the_run_goes_on(user: User) -> None:
    """Asked, clicked, continued: one request carries the label, and the reply comes without a reload."""
    user.say("one question")
    user.option("Before work").click()
    user.reads('Noted: ["Before work"]')
    assert user.sent() == [{"answers": [{"selected": ["Before work"]}]}]
    expect(user.composer).to_be_focused()


def test_a_skip_is_no_answer(user: User) -> None:
    """Skip closes the whole card, chooses nothing, and says so."""
    user.say("one question")
    user.card.get_by_role("button", name="Skip", exact=True).click()
    expect(user.closed).to_contain_text("This was skipped.")
    expect(user.closed.get_by_text("(chosen)")).to_have_count(0)
    assert user.sent() == []
    assert user.sent("/skip") == [{}]


def test_a_note_goes_along_with_a_click_and_with_a_skip(user: User) -> None:
    """What was written beside the options is never lost, whichever way the card goes."""
    user.say("one question")
    user.card.get_by_text("Add a note").click()
    user.card.get_by_role("textbox", name="Note").fill("Not on Mondays.")
    user.option("At lunch").click()
    user.reads('Noted: ["At lunch; Not on Mondays."]')
    user.say("one question")
    user.card.get_by_text("Add a note").click()
    user.card.get_by_role("textbox", name="Note").fill("Ask me later.")
    user.card.get_by_role("button", name="Skip", exact=True).click()
    expect(user.closed.last).to_contain_text("Ask me later.")
    assert user.sent("/skip") == [{"note": "Ask me later."}]


def test_other_takes_words_of_ones_own(user: User) -> None:
    """Other is sent by Enter or by its own button, as text and not as a label."""
    user.say("one question")
    user.card.get_by_role("textbox", name="Other").fill("At night, honestly")
    user.card.get_by_role("textbox", name="Other").press("Enter")
    user.reads('Noted: ["At night, honestly"]')
    assert user.sent() == [{"answers": [{"selected": [], "other": "At night, honestly"}]}]


def test_N3_words_of_ones_own_are_kept_beside_a_chosen_option(user: User) -> None:
    """Typed first, clicked then: both arrive."""
    user.say("one question")
    user.card.get_by_role("textbox", name="Other").fill("or noon")
    user.option("At lunch").click()
    user.reads('Noted: ["At lunch; or noon"]')


def test_C1_a_message_instead_of_an_answer_is_taken(user: User) -> None:
    """Just typing works: the card says why it closed, and the message has its reply."""
    user.say("one question")
    user.card.wait_for()
    user.say("I would rather talk.")
    user.reads("You wrote: I would rather talk.")
    expect(user.closed).to_contain_text("A message was written instead.")
    expect(user.page.get_by_role("button", name="Before work")).to_have_count(0)
    assert user.sent() == []


def test_several_questions_are_answered_together(user: User) -> None:
    """N5: one submit sends all answers by index; a skipped one is marked, the others arrive."""
    user.say("several questions")
    user.question("When do you want to train?").get_by_role("radio", name="At lunch").check()
    user.question("What can you train with?").get_by_role("checkbox", name="Skip this question").check()
    user.question("Who comes along?").get_by_role("textbox", name="Other").fill("3")
    user.send()
    user.reads('Noted: ["At lunch","skipped","3"]')
    assert user.sent() == [
        {"answers": [{"selected": ["At lunch"]}, {"selected": [], "skipped": True}, {"selected": [], "other": "3"}]}
    ]


def test_questions_side_by_side_stand_in_the_order_of_their_calls(user: User, shared_server: Server) -> None:
    """Two cards at once are two forms; each is answered by itself, and a slow sibling can still be stopped."""
    user.say("side by side")
    cards = user.page.locator("yc-card:not([data-ending])")
    expect(cards).to_have_count(2)
    expect(cards.nth(0)).to_contain_text("When do you want to train?")
    expect(cards.nth(1)).to_contain_text("How many days a week?")
    cards.nth(1).get_by_role("button", name="Three").click()
    expect(user.card).to_contain_text("When do you want to train?")
    user.option("At lunch").click()
    expect(cards).to_have_count(0)
    expect(user.page.get_by_role("button", name="Stop")).to_be_visible()
    shared_server.open("sleep")
    user.reads("Both noted.")


# --------------------------------------------------------------------------- the page comes and goes


def test_E5_a_reload_between_any_two_steps_changes_nothing(user: User) -> None:
    """Open, half filled, answered: after each reload the page shows what it showed before, drafts included."""
    user.say("several questions")
    user.question("Who comes along?").get_by_role("textbox", name="Other").fill("two friends")
    user.question("What can you train with?").get_by_role("checkbox", name="a, b", exact=True).check()
    before = texts(user.page)
    user.page.reload()
    expect(user.question("Who comes along?").get_by_role("textbox", name="Other")).to_have_value("two friends")
    expect(user.question("What can you train with?").get_by_role("checkbox", name="a, b", exact=True)).to_be_checked()
    assert texts(user.page) == before
    user.question("Who comes along?").get_by_role("textbox", name="Other").fill("2")
    user.question("When do you want to train?").get_by_role("checkbox", name="Skip this question").check()
    user.send()
    user.reads('Noted: ["skipped","a, b","2"]')
    before = texts(user.page)
    user.page.reload()
    user.reads('Noted: ["skipped","a, b","2"]')
    assert texts(user.page) == before


def test_E5_a_reload_while_text_is_written_shows_all_of_it_in_the_end(server: Server, new_user: NewUser) -> None:
    """Text is shown as it is written; what was half written when the page was left is whole when it comes back."""
    user = new_user(server.url)
    user.visit()
    user.say("half a text")
    for n, gate in enumerate(("first", "second"), 1):
        expect(user.page.locator(".yc-tool")).to_have_count(n)
        server.open(gate)
    user.reads("The first half ")
    user.page.reload()
    expect(user.page.get_by_role("button", name="Stop")).to_be_visible()
    server.open("words")
    user.reads("The first half ⏸ and the second.")


def test_D2_two_tabs_show_the_same_and_one_answer_closes_both(user: User) -> None:
    """A question opens in both tabs and closes in both when one answers, which the other says; the reply is in both."""
    user.say("hello")
    user.reads("You wrote: hello")
    other = another_tab(user)
    other.reads("You wrote: hello")
    user.say("one question")
    expect(other.card).to_contain_text("When do you want to train?")
    other.option("In the evening").click()
    expect(user.closed).to_contain_text("In the evening (chosen)")
    user.reads('Noted: ["In the evening"]')
    other.reads('Noted: ["In the evening"]')
    expect(user.closed).to_contain_text(ELSEWHERE)
    expect(other.closed).not_to_contain_text(ELSEWHERE)
    user.page.reload()
    user.reads('Noted: ["In the evening"]')
    assert texts(user.page) == texts(other.page)


def test_D3_a_late_click_in_another_tab_is_refused_and_shows_the_truth(user: User) -> None:
    """A tab that does not know yet that the question was answered learns it from its own click."""
    user.say("one question")
    user.card.wait_for()
    other = another_tab(user)
    other.card.wait_for()
    other.page.route("**/events", lambda route: route.abort())  # it hears of nothing any more
    user.option("At lunch").click()
    user.reads('Noted: ["At lunch"]')
    other.option("Before work").click()
    expect(other.card).to_contain_text("This question was already answered.")
    other.page.unroute("**/events")
    expect(other.closed).to_contain_text("At lunch (chosen)")
    expect(other.closed).to_contain_text(ELSEWHERE)


def test_D3_a_refusal_that_comes_after_the_news_is_said_too(user: User) -> None:
    """The tab that lost sees the other answer while its own is under way: it, too, says that the answer was another."""
    user.say("one question")
    user.card.wait_for()
    other = another_tab(user)
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    other.page.route("**/answer", hold)
    other.option("Before work").click()
    user.option("At lunch").click()
    expect(other.closed).to_contain_text("At lunch (chosen)")
    held[0].continue_()
    expect(other.closed).to_contain_text(ELSEWHERE)


def test_a_killed_server_loses_no_question(server: Server, new_user: NewUser) -> None:
    """kill -9 while the card waits, a new process, one answer, and the run finishes; what was complained of is over."""
    user = new_user(server.url, breaks=True)
    user.visit()
    user.say("one question")
    user.card.wait_for()
    server.kill()
    expect(user.page.get_by_role("status")).to_have_text("Connection lost. Reconnecting…")
    user.option("At lunch").click()
    expect(user.card).to_contain_text("The server could not be reached. Nothing is lost: try again.")
    server.start()
    expect(user.card).not_to_contain_text("could not be reached")
    user.option("At lunch").click()
    user.reads('Noted: ["At lunch"]')


def test_a_message_that_could_not_be_sent_is_still_there(server: Server, new_user: NewUser) -> None:
    """The text goes back to where it was typed; sent again it is one message, even if it had arrived."""
    user = new_user(server.url, breaks=True)
    user.visit()
    user.say("hello")
    user.reads("You wrote: hello")
    lost: list[int] = []

    def lose(route: Route) -> None:
        lost.append(route.fetch().status)  # the server records it, and the page never hears of it
        route.abort()

    user.page.route("**/messages", lose, times=1)
    user.say("are you there?")
    expect(user.composer).to_have_value("are you there?")
    user.composer.press("Enter")
    user.reads("You wrote: are you there?")
    expect(user.page.locator(".yc-user", has_text="are you there?")).to_have_count(1)
    assert lost == [202]


def test_a_conversation_has_its_own_address(user: User) -> None:
    """New chat begins an empty one; going back shows the old one again."""
    user.say("one question")
    user.card.wait_for()
    address = user.page.url
    user.page.get_by_role("link", name="New chat").click()
    expect(user.cards).to_have_count(0)
    user.say("hello")
    user.reads("You wrote: hello")
    assert user.page.url != address
    user.page.goto(address)
    expect(user.card).to_contain_text("When do you want to train?")


def test_whoever_comes_back_is_where_they_were(user: User) -> None:
    """The bare address leads to the last conversation; the list leads to the others, by how they began."""
    user.say("one question")
    user.card.wait_for()
    user.page.get_by_role("link", name="New chat").click()
    user.say("hello")
    user.reads("You wrote: hello")
    user.page.goto("about:blank")
    user.page.goto(user.url)
    user.reads("You wrote: hello")
    user.page.get_by_text("Chats", exact=True).click()
    listed = user.page.locator("yc-chats li a")
    expect(listed).to_have_count(2)
    expect(listed.nth(0)).to_have_attribute("aria-current", "page")
    expect(listed.nth(1)).to_contain_text("Waits for your answer")
    user.page.keyboard.press("Escape")
    expect(listed.nth(1)).to_be_hidden()
    user.page.get_by_text("Chats", exact=True).click()
    listed.filter(has_text="one question").click()
    expect(user.card).to_contain_text("When do you want to train?")
    expect(listed.nth(1)).to_be_hidden()


def test_a_new_chat_stays_new_over_a_reload(user: User) -> None:
    """Only who comes anew is led to the last conversation, not who has just left it."""
    user.say("hello")
    user.reads("You wrote: hello")
    user.page.get_by_role("link", name="New chat").click()
    expect(user.page.get_by_text("What is on your mind?")).to_be_visible()
    user.page.reload()
    expect(user.composer).to_be_focused()
    expect(user.page.get_by_text("What is on your mind?")).to_be_visible()


def test_an_empty_page_offers_something_to_begin_with(user: User) -> None:
    """A suggestion is sent by one click, as it stands there, and what was being written stays."""
    user.page.route("**/about", lambda route: route.fulfill(json={"agent": {"suggestions": ["one question", "<b>"]}}))
    user.page.reload()
    user.composer.fill("half a thought")
    expect(user.page.get_by_role("button", name="<b>")).to_be_visible()
    user.page.get_by_role("button", name="one question").click()
    expect(user.card).to_contain_text("When do you want to train?")
    expect(user.composer).to_have_value("half a thought")
    expect(user.page.get_by_role("button", name="<b>")).to_be_hidden()


def test_an_unknown_conversation_is_said_to_be_unknown(new_user: NewUser, shared_server: Server) -> None:
    """A wrong address is no empty chat: the page says so, and writing begins a new one."""
    user = new_user(breaks=True)
    user.page.goto(shared_server.url + "#nowhere")
    expect(user.page.get_by_role("status")).to_have_text("No such conversation.")
    user.say("hello")
    user.reads("You wrote: hello")
    assert not user.page.url.endswith("#nowhere")


# --------------------------------------------------------------------------- runs that end otherwise


def test_a_failed_run_says_why_and_can_be_tried_again(server: Server, new_user: NewUser) -> None:
    """The provider's failure is shown, also after a reload; Try again goes on from there."""
    user = new_user(server.url)
    user.visit()
    user.say("fail once")
    expect(user.page.get_by_role("alert").filter(has_text="overloaded")).to_be_visible()
    user.page.reload()
    user.page.get_by_role("button", name="Try again").click()
    user.reads("This time it went well.")
    expect(user.page.get_by_text("overloaded")).to_have_count(0)


def test_stop_ends_the_run_and_the_chat_goes_on(user: User) -> None:
    """A tool that never returns is stopped; it is shown as a quiet line, not as JSON, and the next message works."""
    user.say("slow tool")
    expect(user.page.locator(".yc-tool")).to_have_text("Get sleep")
    user.page.get_by_role("button", name="Stop").click()
    expect(user.page.get_by_text("Stopped.")).to_be_visible()
    expect(user.page.get_by_role("button", name="Stop")).to_be_hidden()
    user.say("hello")
    user.reads("You wrote: hello")
    assert "gate" not in user.page.locator("yc-chat").inner_text()


def test_stop_closes_an_open_card(user: User) -> None:
    """A question of a run that was stopped says so, and cannot be answered any more."""
    user.say("held up")
    expect(user.page.locator("yc-card:not([data-ending])")).to_have_count(2)
    user.page.get_by_role("button", name="Stop").click()
    expect(user.closed).to_have_count(2)
    expect(user.closed.first).to_contain_text("Stopped before it was answered.")


def test_E7_a_closed_card_still_shows_what_was_asked(user: User) -> None:
    """An expired question keeps its text and all its options, and the reason why it was closed; so after a reload."""
    user.say("expiring")
    for _ in ("live", "reloaded"):
        expect(user.closed).to_contain_text("This expired before it was answered.")
        for text in ("When do you want to train?", "Before work", "At lunch", "In the evening"):
            expect(user.closed).to_contain_text(text)
        user.page.reload()


def test_a_chat_lives_in_somebody_elses_page(user: User) -> None:
    """Made by script, for a conversation that the app names, with the app's own client: the address is let be."""
    user.say("one question")
    user.card.wait_for()
    name = user.page.url.partition("#")[2]
    page = '<!doctype html><html lang="en"><script type="module" src="cards/chat-define.js"></script><body></body>'
    user.page.route("**/app", lambda route: route.fulfill(body=page, content_type="text/html"))
    user.page.goto(user.url + "app#a-route-of-the-app")
    user.page.evaluate(
        """async (name) => {
          const { Client } = await import("/cards/client.js");
          const chat = document.createElement("yc-chat");
          chat.setAttribute("conversation", name);
          chat.client = new Client("/", { headers: { "X-App": "1" } });
          document.body.append(chat);
        }""",
        name,
    )
    expect(user.page.get_by_role("link", name="New chat")).to_have_count(0)
    user.option("At lunch").click()
    user.reads('Noted: ["At lunch"]')
    assert user.page.url.endswith("#a-route-of-the-app")
    assert user.requests[-1].headers["x-app"] == "1"


def test_what_is_new_comes_into_view_and_what_is_read_stays(new_user: NewUser) -> None:
    """A new question is scrolled to, a tall one to its beginning; reading on in it, or further up, is not disturbed."""
    user = new_user(viewport={"width": 360, "height": 640})
    user.visit()
    for _ in range(4):
        user.say("said and asked")
        user.card.wait_for()
        expect(user.card.locator(".yc-eyebrow")).to_be_in_viewport(ratio=0.9)
        expect(user.option("At lunch")).to_be_in_viewport(ratio=0.9)
        user.option("At lunch").click()
        user.reads('Noted: ["At lunch"]')
        expect(user.page.locator(".yc-assistant").last).to_be_in_viewport()
    user.say("several questions")
    expect(user.card.locator(".yc-eyebrow")).to_be_in_viewport()
    expect(user.page.locator(".yc-user").last).to_be_in_viewport()  # what the question is about stays in view
    note = user.question("What can you train with?").get_by_text("Add a note")
    assert abs(moved_by(note, note.click)) < 2


def test_what_was_refused_stays_to_be_read(new_user: Callable[..., User]) -> None:
    """Why a message did not go stands there until the next try, however often the chat looks for news meanwhile."""
    user = new_user(breaks=True)
    user.visit()
    user.say("Hello")
    user.reads("You wrote: Hello")
    detail = "The assistant waits for an answer."
    problem = {"status": 409, "detail": detail, "type": "about:blank"}
    user.page.route("**/messages", lambda route: route.fulfill(status=409, json=problem))
    user.say("More")
    status = user.page.get_by_role("status")
    for _ in range(2):
        with user.page.expect_response("**/events"):
            user.page.evaluate("dispatchEvent(new Event('focus'))")
        expect(status).to_have_text(detail)
    user.page.unroute("**/messages")
    user.composer.press("Enter")
    user.reads("You wrote: More")
    expect(status).to_have_text("")


@pytest.mark.parametrize("first", [True, False])
def test_who_is_signed_out_is_told_and_comes_back(new_user: Callable[..., User], first: bool) -> None:
    """Nothing can be written that nobody takes; what was written stays, and all works once the user is back."""
    user = new_user(breaks=True)
    gone = {"status": 401, "detail": "Sign in to answer.", "type": "about:blank"}
    if first:
        user.page.route(re.compile("/(about|conversations)"), lambda route: route.fulfill(status=401, json=gone))
        user.page.goto(user.url)
    else:
        user.visit()
        user.say("Hello")
        user.reads("You wrote: Hello")
        user.page.route(re.compile("/(about|conversations)"), lambda route: route.fulfill(status=401, json=gone))
        user.say("More")
    expect(user.page.get_by_role("status")).to_have_text("You are signed out. Sign in, then come back here.")
    expect(user.page.locator(".yc-composer")).to_have_attribute("inert", "")
    user.page.unroute_all()
    user.page.evaluate("dispatchEvent(new Event('focus'))")
    expect(user.page.locator(".yc-composer:not([inert])")).to_be_visible()
    expect(user.page.get_by_role("status")).to_have_text("")
    if first:
        user.composer.fill("More")
    expect(user.composer).to_have_value("More")
    user.composer.press("Enter")
    user.reads("You wrote: More")


def test_a_page_s_own_headers_and_footers_are_not_the_chat_s(user: User) -> None:
    """Pages that embed a chat give such elements a look: it does not reach into the chat, nor into its cards."""
    user.say("one question")
    user.option("At lunch").click()
    user.reads('Noted: ["At lunch"]')
    before = user.page.screenshot(animations="disabled", caret="hide")
    user.page.evaluate("""() => {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync("header, footer, nav, aside, section, article { background: red; padding: 3rem }");
      document.adoptedStyleSheets = [sheet];
    }""")
    assert user.page.screenshot(animations="disabled", caret="hide") == before
