"""The coach: what a new user may say to it, what it makes of clicks and words, and that it never leads nowhere."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coach import SUGGESTIONS, TITLE, build, notice, plans, words
from coach.connections import google_account, health_tools, hevy_key, hevy_tools
from coach.messages import understand
from coach.photos import save_progress_photo
from coach.plans import week
from coach.profile import WEEK, Day, Equipment, Goal, Level, Profile, Workout
from coach.scene import Move, Outcome, Scene
from coach.stand_in import LATER, NEXT, respond
from coach.tools import TOOLS
from tests.examples.stage import (
    NOWHERE,
    PLANNED,
    Chat,
    Reply,
    answers,
    coach,
    labels,
    profiles,
)
from yourcall.entries import Interrupt, Status

pytestmark = pytest.mark.anyio

EVERY_TOOL = (
    *TOOLS,
    save_progress_photo,
    *hevy_tools(NOWHERE, hevy_key(NOWHERE)),
    *health_tools(NOWHERE, google_account(NOWHERE)),
)

# --------------------------------------------------------------------------- what can be said


SAID: list[tuple[str, str]] = [
    ("Plan my week", "plan_week"),
    ("plan my wek pls", "plan_week"),
    ("hey, can you make me a workout plan?", "plan_week"),
    ("I want to lose weight", "plan_week"),
    ("how do i get abs", "plan_week"),
    ("i wanna get jacked", "plan_week"),
    ("get back in shape", "plan_week"),
    ("I can train 3 days a week", "plan_week"),
    ("mon wed fri", "plan_week"),
    ("at home, no equipment", "plan_week"),
    ("let's go", "plan_week"),
    ("you decide", "plan_week"),
    ("change my plan", "plan_week"),
    ("what unit?", "weight_unit"),
    ("kg", "weight_unit"),
    ("switch to lbs", "weight_unit"),
    ("log bench 3x5 80", "log_workout"),
    ("I benched 80kg for 3 sets of 5 today", "log_workout"),
    ("ran 5k in 25 minutes", "log_workout"),
    ("20 pushups and 30 squats", "log_workout"),
    ("played tennis for an hour", "log_workout"),
    ("log sqat 3x5 80", "log_workout"),
    ("did yoga", "log_workout"),
    ("kayaking 40 min", "log_workout"),
    ("log a workout", "ask_user"),
    ("I trained today", "ask_user"),
    ("3x5 80kg", "ask_user"),
    ("5", "ask_user"),
    ("my knee hurts", "update_profile"),
    ("I have a bad shoulder", "update_profile"),
    ("my knee is fine again", "update_profile"),
    ("I'm a beginner", "update_profile"),
    ("my legs are sore", "ask_user"),
    ("it's too easy", "ask_user"),
    ("what should I do today?", "show_plan"),
    ("show my plan", "show_plan"),
    ("how am I doing?", "show_workouts"),
    ("what do you know about me?", "show_profile"),
    ("forget me", "forget_profile"),
    ("delete my data", "forget_profile"),
    ("undo", "undo_workout"),
    ("hi", "ask_user"),
    ("what can you do", "ask_user"),
    ("are you chatgpt?", "ask_user"),
    ("yes", "ask_user"),
    ("this sucks", "ask_user"),
    ("Ich möchte abnehmen", "ask_user"),
    ("我想减肥", "ask_user"),
    ("asdfghjkl", "ask_user"),
    ("tell me a joke", "ask_user"),
    ("!!!", "ask_user"),
    ("<script>alert(1)</script>", "ask_user"),
    ("lorem ipsum dolor sit amet " * 40, "ask_user"),
    ("thanks", "You are welcome"),
    ("no", "Whenever you like"),
    ("how much protein do I need", "dietitian"),
    ("how do I squat properly", "trainer"),
    ("80 kg in lbs", "176.4 lb"),
    ("I'm tired", "ten easy minutes"),
    ("I'm pregnant", "ask your doctor"),
    ("I have chest pain", "emergency"),
    ("how to lose 10kg in a week", "does harm"),
    ("I don't like squats", "on the plan's card you can"),
    ("bench 60 kg for 5 reps x 3", "Logged: Bench press, 3 x 5, 60 kg"),
    ("plan my week but skip the questions", "You left it to me, so I took"),
    ("new program, you choose", "You left it to me, so I took"),
    ("don't ask me anything, just give me a plan", "You left it to me"),
    ("do you do diet plans for a marathon", "training only"),
    ("what should I eat to lose weight", "training only"),
    ("i wanna train for a marathon, what diet should i follow", "training only"),
    ("my goal is big arms and i eat 3000 calories", "plan_week"),
    ("remember i hate mornings", "I have not kept that"),
    ("note that my dog is called Rex", "I have not kept that"),
    ("remember that I train on mondays", "plan_week"),
    ("connect my garmin", "cannot connect"),
    ("bye", "See you"),
]


@pytest.mark.parametrize(("said", "expected"), SAID, ids=[said[:30] for said, _ in SAID])
async def test_a_first_message_is_answered_sensibly(said: str, expected: str, tmp_path: Path) -> None:
    """Whatever a new user says first, the right tool is called, or the right thing is said; and it leads on."""
    async with coach(tmp_path) as engine:
        reply = await Chat(engine).say(said)
    assert expected in reply.tools if "_" in expected else expected in reply.text
    assert reply.streamed.endswith(reply.text.split("\n\n")[-1])
    assert leads_on(reply.text, bool(reply.cards)), reply.text


def leads_on(text: str, card: bool, before: str = "") -> bool:
    """Whether something obvious to do is in sight: a card, words to type, an offer, or help elsewhere.

    What was suggested `before` need not be suggested again, once there is nothing else to suggest.
    """
    exhausted = all(suggestion in before for suggestion in LATER)
    return card or exhausted or bool(re.search(r'"[^"]+"|Shall I|emergency number', text))


def quoted(text: str) -> list[str]:
    return [part for part in re.findall(r'"([^"]+)"', text) if "3 x 8" not in part]


EXTRA = [
    "maybe",
    "lol",
    "my shoulder",
    "weight",
    "oops",
    "that's wrong",
    "sprichst du deutsch",
    "brb",
    "ouch",
    "stones",
]


@pytest.mark.parametrize("said", [*(said for said, _ in SAID), *EXTRA], ids=lambda said: said[:30])
async def test_every_button_and_every_quoted_suggestion_is_understood(said: str) -> None:
    """What the coach puts on a button or between quotes can be clicked or typed, and then it knows what is meant."""
    move = understand(said, Scene(heard=said))
    for words_to_type in [*quoted(move.text), *buttons(move)]:
        assert not understand(words_to_type, Scene(heard=words_to_type)).missed, words_to_type


def buttons(move: Move) -> list[str]:
    return [
        option["label"]
        for tool, args in move.calls
        if tool == "ask_user"
        for question in args["questions"]
        for option in question["options"]
    ]


VOCABULARY = (
    "plan my week log bench squat ran 5k 80 kg lbs 3x5 monday knee hurts forget me no yes not lose weight gym at home "
    "the what how i you ? ! and , . 10 minutes undo dumbbells want to better actually 😀 ich 0 99999999999 -1 1.5 \n"
)
SENTENCES = st.lists(st.sampled_from(VOCABULARY.split(" ")), max_size=12).map(" ".join)


@settings(max_examples=400, deadline=None)
@given(st.one_of(SENTENCES, st.text(max_size=600)))
async def test_no_message_leads_nowhere(said: str) -> None:
    """Any text at all gets an answer that leads on, with calls that the tools accept; the same text, the same step."""
    scene = Scene(heard=said)
    move = respond(scene)
    assert leads_on(move.text, bool(move.calls)), move.text
    assert move == respond(scene)
    tools = {tool.name: tool for tool in EVERY_TOOL}
    for name, args in move.calls:
        tools[name].parse(json.dumps(args))


# --------------------------------------------------------------------------- planning


async def test_a_plan_is_two_clicks_away(tmp_path: Path) -> None:
    """ "Plan my week" puts a card up at once; its answers are in the plan, which is kept for another day."""
    async with coach(tmp_path) as engine:
        chat = Chat(engine)
        asked = await chat.say("Plan my week")
        assert [q["header"] for q in asked.card.ask["questions"]] == ["Goal", "Days", "Equipment"]
        shown = await chat.answer(asked.card, PLANNED)
        assert "Monday: whole body A" in shown.shown
        assert (await profiles(tmp_path).load("ada")).plan is None
        planned = await chat.approve(shown)
        assert "get stronger, with dumbbells" in planned.text
        assert "Monday: whole body A" in planned.text
        assert "Thursday: whole body B" in planned.text
        assert not planned.cards
        assert leads_on(planned.text, False)
        shown = await chat.say("show my plan")
        assert "Monday: whole body A" in shown.text
        assert "Today is" in shown.text


async def test_what_was_said_is_not_asked(tmp_path: Path) -> None:
    """A message that says some of it leads to a card about the rest; one that says all of it, to the plan."""
    async with coach(tmp_path) as engine:
        some = await Chat(engine, conversation="c1").say("I want to build muscle with dumbbells")
        assert [q["header"] for q in some.card.ask["questions"]] == ["Days"]
        whole = await Chat(engine, conversation="c2").say("lose fat at home on mondays and fridays")
        assert "Friday: whole body B" in whole.shown


async def test_own_words_and_skipped_questions_make_a_plan_too(tmp_path: Path) -> None:
    """Words of one's own are understood where they can be; what was skipped gets a default, and both are said."""
    async with coach(tmp_path) as engine:
        chat = Chat(engine)
        asked = await chat.say("plan my week")
        planned = await chat.answer(asked.card, answers("run faster than my brother", "weekends", None))
        assert 'From "weekends" I took: Saturday and Sunday.' in planned.shown
        assert "Saturday: whole body A" in planned.shown
        assert 'For "run faster than my brother" I have no plan of its own' in planned.shown
        assert "No equipment was chosen" in planned.shown


@pytest.mark.parametrize(
    ("goal", "days", "kit", "expected"),
    [
        (
            "big arms like arnold",
            "mondays",
            "gym",
            'From "big arms like arnold" I took: build muscle; the rest of it I',
        ),
        (["Lose fat"], "any day but not the weekend, evenings", "gym", "Thursday and Friday; the rest of it I cannot"),
        (["Lose fat"], "when the moon is full", "gym", 'anything of "when the moon is full". So I took Monday'),
        (["Lose fat"], "mondays", "dumbbells and a trampoline", "I took: dumbbells; the rest of it I cannot use."),
        (["Lose fat"], "mondays", "a trampoline", 'I do not know how to use "a trampoline", so this needs none'),
    ],
)
async def test_it_is_said_what_was_made_of_words_of_ones_own(
    goal: list[str] | str, days: str, kit: str, expected: str, tmp_path: Path
) -> None:
    """What could be read of them, that there was more, or that nothing could: never in silence."""
    async with coach(tmp_path) as engine:
        chat = Chat(engine)
        planned = await chat.answer((await chat.say("plan my week")).card, answers(goal, days, kit))
        assert expected in planned.shown


async def test_what_is_to_be_changed_shows_how_it_is(tmp_path: Path) -> None:
    """Change something is a form that is filled in with what is known; what stays untouched stays as it is."""
    async with coach(tmp_path) as engine:
        chat = Chat(engine)
        await chat.approve(await chat.answer((await chat.say("plan my week")).card, PLANNED))
        form = (await chat.click((await chat.say("plan my week")).card, "Change something")).card
        fields = form.ask["schema"]["properties"]
        assert {name: field["default"] for name, field in fields.items()} == {
            "goal": "strength", "days": ["Monday", "Thursday"], "equipment": ["dumbbells"],
        }  # fmt: skip
        changed = await chat.answer(form, {"goal": "muscle", "days": ["Monday", "Thursday"], "equipment": ["gym"]})
        assert "build muscle, with a full gym" in changed.shown


@pytest.mark.parametrize(("said", "_"), SAID, ids=[said[:30] for said, _ in SAID])
async def test_nothing_is_said_to_be_kept_that_is_not(said: str, _: str, tmp_path: Path) -> None:
    """Who reads "noted", "logged" or "saved" finds it in the profile or in the log."""
    async with coach(tmp_path) as engine:
        reply = await Chat(engine).say(said)
        known, logged = await profiles(tmp_path).load("ada"), await profiles(tmp_path).workouts("ada")
    if re.search(r"\b(noted|saved|remembered)\b", reply.text, re.IGNORECASE):
        assert known != Profile() or "update_profile" in reply.tools  # what is well again leaves no trace
    assert reply.text.count("Logged: ") == len(logged)


async def test_nothing_is_suggested_twice(tmp_path: Path) -> None:
    """A suggestion that was not taken up is not made again, whatever else is said."""
    async with coach(tmp_path) as engine:
        chat, said = Chat(engine), ""
        for _ in range(4):
            for message in ("thanks", "how do I squat properly", "bench 3x5 80 kg", "what about rest days?"):
                said += (await chat.say(message)).text
    assert all(said.count(text) <= 1 for text in (*(text for _, text in NEXT), *LATER))


async def test_a_returning_user_is_asked_one_question(tmp_path: Path) -> None:
    """Who has planned before gets their old answers offered: one click for the same, another to change them."""
    async with coach(tmp_path) as engine:
        first = Chat(engine)
        await first.approve(await first.answer((await first.say("plan my week")).card, PLANNED))
        for conversation, label in (("c2", "Plan that"), ("c3", "Change something")):
            chat = Chat(engine, conversation=conversation)
            asked = await chat.say("plan my week")
            assert "on Monday and Thursday, with dumbbells" in asked.card.ask["questions"][0]["prompt"]
            reply = await chat.click(asked.card, label)
            assert ("Thursday: whole body B" in reply.shown) == (label == "Plan that")
            assert reply.card.kind == ("confirm" if label == "Plan that" else "form")


@settings(max_examples=200, deadline=None)
@given(
    st.builds(
        Profile,
        goal=st.sampled_from([None, *get_args(Goal)]),
        days=st.sets(st.sampled_from(get_args(Day))).map(lambda days: tuple(d for d in WEEK if d in days)),
        equipment=st.sets(st.sampled_from(get_args(Equipment))).map(tuple),
        level=st.sampled_from([None, *get_args(Level)]),
        injuries=st.sets(st.sampled_from(sorted(words.BODY))).map(tuple),
    )
)
async def test_every_profile_has_a_week_that_spares_what_hurts(profile: Profile) -> None:
    """A plan has each chosen day once, something to do on it, no exercise for an injured part, and no foreign kit."""
    text = week(profile)
    days = profile.days or plans.SPREAD[3]
    assert re.findall(r"^(\w+day):", text, re.MULTILINE) == list(days)
    assert all(part.count("\n- ") >= 1 for part in text.split("\n\n") if re.match(r"\w+day:", part))
    listed = re.findall(r"^- (.+?): \d", text, re.MULTILINE)
    every = {exercise.name: exercise for moves in plans.MOVES.values() for exercise in moves}
    for exercise in (every[name] for name in listed):
        assert not set(exercise.loads) & plans.spared(profile.injuries)
        assert exercise.kit in (*profile.equipment, "body weight")
    assert ("physiotherapist" in text) == bool(profile.injuries)


def test_every_part_of_the_body_that_is_heard_can_be_spared() -> None:
    """The ear and the planner name the same parts; a part that no exercise loads would be noted for nothing."""
    loads = {load for moves in plans.MOVES.values() for exercise in moves for load in exercise.loads}
    for part in words.BODY:
        assert plans.spared([part]) & loads, part


# --------------------------------------------------------------------------- typing instead of clicking


@pytest.mark.parametrize(
    ("question", "typed", "expected"),
    [
        ("what unit", "pounds", "You lift in pounds"),
        ("what unit", "the second one", "You lift in pounds"),
        ("what unit", "kgs please", "You lift in kilograms"),
        ("I want to lose fat at home", "mondays", "Monday: whole body"),
        ("lose fat, dumbbells", "3", "Wednesday: whole body B"),
        ("plan my week", "you choose", "Friday: whole body A"),
        ("plan my week", "lose fat, mon and thu, gym", "Thursday: whole body B"),
        ("bench 3x5", "80 kg", "Logged: Bench press, 3 x 5, 80 kg"),
        ("log bench", "3x5 80kg", "Logged: Bench press, 3 x 5, 80 kg"),
        ("ran this morning", "25 min", "Logged: Run, 25 min"),
        ("log a workout", "squat 3x5 100 kg", "Logged: Squat, 3 x 5, 100 kg"),
        ("forget me", "no", "nothing was deleted"),
        ("plan my week", "never mind", "dropped the question"),
        ("plan my week", "ok but skip the questions", "You left it to me, so I took a plan to get fit"),
        ("plan my week", "you choose, but with dumbbells", "with dumbbells:"),
        ("what unit", "you choose", "You lift in kilograms"),
        ("log bench", "skip the questions", "nothing was logged"),
        ("log bench", "asdf 44 qwer 9", "I did not understand that as an answer"),
        ("bench 60 kg", "it was 3 sets of 5 not 4", "Logged: Bench press, 3 x 5, 60 kg"),
        ("what unit", "bench 3x5 80 kg", "Logged: Bench press"),
        ("what unit", "thanks", "You are welcome"),
    ],
)
async def test_a_typed_answer_is_as_good_as_a_click(question: str, typed: str, expected: str, tmp_path: Path) -> None:
    """A message that answers the open question is taken as its answer; one that does not is taken for itself."""
    async with coach(tmp_path) as engine:
        chat = Chat(engine)
        assert (await chat.say(question)).cards
        reply = await chat.say(typed)
    assert expected in reply.shown
    assert leads_on(reply.text, bool(reply.cards))


@pytest.mark.parametrize("question", ["plan my week", "what unit", "log bench", "forget me"])
async def test_a_card_that_was_talked_past_comes_back(question: str, tmp_path: Path) -> None:
    """Nonsense instead of an answer brings the question back, with a word on what it is for; so does "why?"."""
    async with coach(tmp_path) as engine:
        chat = Chat(engine)
        first = (await chat.say(question)).card
        again = await chat.say("purple elephants")
        assert "I did not understand that as an answer" in again.text
        assert again.card.ask == first.ask
        assert again.card.id != first.id
        why = await chat.say("why?")
        assert why.card.ask == first.ask


async def test_a_menu_can_be_answered_by_number_or_in_part(tmp_path: Path) -> None:
    """The buttons under a greeting can be typed: by their number, or by a part of their label."""
    async with coach(tmp_path) as engine:
        for typed in ("1", "the first one", "plan"):
            chat = Chat(engine, conversation=typed)
            assert labels((await chat.say("hi")).card)[0] == "Plan my week"
            assert "plan_week" in (await chat.say(typed)).tools


async def test_consent_to_delete_is_never_read_from_a_message(tmp_path: Path) -> None:
    """A typed "yes" brings the question back; only its button deletes, and a click on the other one keeps all."""
    async with coach(tmp_path) as engine:
        chat = Chat(engine)
        await chat.say("bench 3x5 80 kg")
        await chat.say("forget me")
        again = await chat.say("yes, delete everything")
        assert (await profiles(tmp_path).workouts("ada")) != []
        assert "Nothing was deleted" in (await chat.click(again.card, "Keep it")).text
        for words_beside in ({"selected": ["Forget everything"], "note": "but not my workouts"}, {"other": "the plan"}):
            kept = await chat.answer((await chat.say("forget me")).card, {"answers": [words_beside]})
            assert "Nothing was deleted. I can only forget everything at once" in kept.text
            assert (await profiles(tmp_path).workouts("ada")) != []
        gone = await chat.click((await chat.say("forget me")).card, "Forget everything")
        assert "Everything was deleted" in gone.text
        assert await profiles(tmp_path).workouts("ada") == []
        assert await profiles(tmp_path).load("ada") == Profile()


# --------------------------------------------------------------------------- lost and found


@pytest.mark.parametrize(
    ("said", "last", "expected"),
    [
        (["my knee hurts"], "yeah ok", "What do you train for?"),
        (["my elbow clicks when I bench"], "it doesn't hurt though", "can be trained again"),
        (["you choose"], "thursdays don't work", "on Monday, Wednesday and Friday, with no equipment"),
        (["you choose"], "make friday a rest day", "on Monday and Wednesday, with"),
        (["you choose"], "add saturday", "on Monday, Wednesday, Friday and Saturday, with"),
        (["you choose", "gym please"], "yes", "with a full gym."),
        (["you choose"], "that's too hard for me right now", "How long have you been training?"),
        (["walked 25 min"], "actually 30", "Corrected: Walk, 30 min."),
        (["you choose"], "move wednesday to saturday", "on Monday, Friday and Saturday, with"),
        (["you choose"], "i'd rather have tuesday instead of monday", "on Tuesday, Wednesday and Friday, with"),
        (["you choose"], "cant do friday anymore", "on Monday and Wednesday, with"),
        (["you choose"], "wednesdays are too busy", "on Monday and Friday, with"),
        (["bench 1x5 60 kg"], "the bench was 3 sets not one", "Corrected: Bench press, 3 x 5, 60 kg."),
        (["squat 5x5 225 lb", "deadlift 1x5 315"], "the squat was 235", "Corrected: Squat, 5 x 5, 235 lb."),
        (["squat 5x5 225 lb", "what is on today?"], "no wait, 4 sets", "Corrected: Squat, 4 x 5, 225 lb."),
        (["squat 5x5 225 lb", "deadlift 1x5 315"], "delete the squat", "Taken back: Squat, 5 x 5, 225 lb."),
        (["bench 3x5 80 kg", "bench 3x5 90"], "the first bench was 85", '"Delete the bench press" takes that one back'),
        (["bench 3x5 80 kg"], "you said logged but you did not", "show all that I have kept"),
        (["plan my week"], "i have no time for questions", "You left it to me"),
        (["bench 3x5 80 kg"], "hmm make that 85", "Corrected: Bench press, 3 x 5, 85 kg."),
        (["bench 3x5 80 kg"], "i meant pounds", "Corrected: Bench press, 3 x 5, 80 lb."),
        (["bench 80 kg"], "sets were 3, reps 5", "Logged: Bench press, 3 x 5, 80 kg."),
        (["bench 3x5"], "i don't remember", "nothing was logged"),
        ([], "next: pull ups, 4 sets of 6", "Logged: Pull-up, 4 x 6."),
        ([], "benched 80 kg for 5,5,4", "Logged: Bench press, 1 x 4, 80 kg."),
        ([], "can you give me a meal plan and a workout plan", "What do you train for?"),
        ([], "i don't want to answer questions", "You left it to me"),
        ([], "i want to lose 5 kg, no gym, mornings only", "lose fat; no equipment."),
        (["you choose"], "why squats?", "that your equipment allows"),
        (["you choose"], "i work on fridays now", "on Monday and Wednesday, with"),
        (["you choose"], "monday is cancelled", "on Wednesday and Friday, with"),
        (["you choose", "swap sunday to tuesday"], "yes", "Sunday was no day of your plan before."),
        (["forget me"], "just the plan", "Nothing was deleted: I can only forget everything at once."),
        ([], "bench 3x5 80 kg, and by the way my knee hurts", "Logged: Bench press, 3 x 5, 80 kg."),
        (["bench 3x5 80 kg", "squat 3x5 225 lbs"], "row 3x5 135", "Logged: Row, 3 x 5, 135 lb."),
        (["squat 5x5 225 lb"], "actually it was 99999 sets", "It still says: Squat, 5 x 5, 225 lb."),
        (["bench 3x5 80 kg"], "no that was squat, not bench", "Corrected: Squat, 3 x 5, 80 kg."),
        (["bench 3x5 80"], "pounds obviously", "Logged: Bench press, 3 x 5, 80 lb."),
        (["bench"], "sorry, 3 sets of 5 at 60", "Bench press at 60: kilograms or pounds?"),
        (["log a workout"], "kayaking", "Kayaking: how did it go?"),
        (["plan my week"], "what about warmups?", "Back to the question:"),
        (["log a workout"], "all of it", "Perhaps one of these?"),
        (["asdf", "qwer"], "zxcv", "went over my head"),
    ],
)
async def test_moments_at_which_a_new_user_was_lost(said: list[str], last: str, expected: str, tmp_path: Path) -> None:
    """Each was found in the browser by somebody who wondered what now; each has a way on."""
    async with coach(tmp_path) as engine:
        chat = Chat(engine)
        for earlier in said:
            await chat.say(earlier)
        reply = await chat.say(last)
    assert expected in reply.shown
    assert leads_on(reply.text, bool(reply.cards))


async def test_a_workout_whose_question_is_open_is_not_lost_to_the_next_one(tmp_path: Path) -> None:
    """Who goes on to the next lift instead of answering is asked about both."""
    async with coach(tmp_path) as engine:
        chat = Chat(engine)
        await chat.say("leg press 4x12 140")
        both = await chat.say("and then calf raises 3x15 60")
        assert [card.message.split(" at ")[0] for card in both.cards] == ["Leg press", "Calf raise"]
        for card in both.cards:
            await chat.answer(card, {"unit": "kg"})
        assert len(await profiles(tmp_path).workouts("ada")) == 2


async def test_a_question_is_insisted_on_once(tmp_path: Path) -> None:
    """A card comes back after one word aside; after a second one the user is left in peace, with a way on."""
    async with coach(tmp_path) as engine:
        chat = Chat(engine)
        await chat.say("plan my week")
        assert "plan_week" in (await chat.say("thanks")).tools
        peace = await chat.say("how long until I see results?")
        assert not peace.cards
        assert leads_on(peace.text, False)


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("mon-thu", "Monday Tuesday Wednesday Thursday"),
        ("mwf", "Monday Wednesday Friday"),
        ("3 times a week", "Monday Wednesday Friday"),
        ("every day except sunday", "Monday Tuesday Wednesday Thursday Friday Saturday"),
        ("weekdays but not friday", "Monday Tuesday Wednesday Thursday"),
        ("tuesday instead of monday", "Tuesday"),
        ("tuesday works better than monday", "Tuesday"),
        ("the weekend", "Saturday Sunday"),
        ("not on weekends", ""),
        ("how long does one session take", ""),
    ],
)
def test_days_are_read_in_many_notations(text: str, days: str) -> None:
    """Names, short names, spans, counts and exceptions; what only rules days out names none."""
    assert words.days(text) == tuple(days.split())


# --------------------------------------------------------------------------- every ending


@pytest.mark.parametrize("question", ["hi", "plan my week", "what unit", "log bench", "forget me", "log a workout"])
async def test_a_skip_is_taken_as_one_and_leads_on(question: str, tmp_path: Path) -> None:
    """A skipped question changes nothing, is not asked again, and the reply says how to go on."""
    async with coach(tmp_path) as engine:
        chat = Chat(engine)
        reply = await chat.skip((await chat.say(question)).card)
        assert not reply.cards
        assert leads_on(reply.text, False), reply.text
        assert await profiles(tmp_path).load("ada") == Profile()
        assert await profiles(tmp_path).workouts("ada") == []


@pytest.mark.parametrize("question", ["hi", "plan my week", "log bench"])
async def test_after_a_cancel_the_next_message_starts_anew(question: str, tmp_path: Path) -> None:
    """A cancelled question is not brought up again; what comes next is taken for itself."""
    async with coach(tmp_path) as engine:
        chat = Chat(engine)
        await chat.say(question)
        await chat.cancel()
        assert not await chat.open()
        reply = await chat.say("what unit")
        assert reply.tools == ["weight_unit"]


@pytest.mark.parametrize("tool", [tool.name for tool in EVERY_TOOL])
@pytest.mark.parametrize("status", get_args(Status))
def test_every_ending_of_every_tool_leads_on(tool: str, status: Status) -> None:
    """However a call ends, the reply says so and shows a way on; only an undisturbed success is reported as one."""
    text = "Done." if status == "ok" else '{"ok":false,"error":"It broke."}'
    heard = "what can you do?" if status in ("superseded", "cancelled") else ""
    move = respond(Scene(outcomes=(Outcome(tool, {}, status, text),), heard=heard))
    assert leads_on(move.text, bool(move.calls)), move.text
    assert ("Done." in move.text) <= (status == "ok")


async def test_a_tool_that_fails_is_owned_up_to(tmp_path: Path) -> None:
    """Where the profiles cannot be read, the coach says that it did not work, and what can be tried."""
    (tmp_path / "profiles.db").mkdir()
    async with coach(tmp_path) as engine:
        reply = await Chat(engine).say("bench 3x5 80 kg")
    assert "That did not work" in reply.text
    assert leads_on(reply.text, False)


async def test_a_restart_between_question_and_answer_loses_nothing(tmp_path: Path) -> None:
    """A card that was put up before a restart is answered after it, and what it leads to is kept."""
    async with coach(tmp_path) as engine:
        await Chat(engine).say("I lift in pounds")
        asked = await Chat(engine).say("plan my week")
    async with coach(tmp_path) as engine:
        chat = Chat(engine)
        assert await chat.open() == asked.cards
        planned = await chat.approve(await chat.answer(asked.card, PLANNED))
        assert "Thursday: whole body B" in planned.text
    async with coach(tmp_path) as engine:
        known = (await Chat(engine, conversation="c2").say("what do you know about me?")).text
    assert "Unit: pounds" in known
    assert "Days: Monday and Thursday" in known


# --------------------------------------------------------------------------- logging


async def test_a_form_asks_for_what_is_missing_only(tmp_path: Path) -> None:
    """The form has the fields that the message left out, and the unit only until it is known."""
    async with coach(tmp_path) as engine:
        chat = Chat(engine)
        asked = (await chat.say("bench 3x5")).card
        assert asked.kind == "form"
        assert set(asked.ask["schema"]["properties"]) == {"weight", "unit"}
        logged = await chat.answer(asked, {"weight": 80, "unit": "kg"})
        assert "Logged: Bench press, 3 x 5, 80 kg." in logged.text
        better = await chat.say("bench 3x5 85")
        assert "heaviest so far: 80 kg before" in better.text


async def test_what_cannot_be_right_is_asked_until_it_is(tmp_path: Path) -> None:
    """A weight that nobody has lifted is questioned, as often as it takes."""
    async with coach(tmp_path) as engine:
        chat = Chat(engine)
        asked = await chat.say("log bench 3x5 8000 kg")
        assert "more than anybody has lifted" in asked.card.message
        asked = await chat.answer(asked.card, {"weight": 800})
        assert "800 kg is more" in asked.card.message
        assert "80 kg" in (await chat.answer(asked.card, {"weight": 80})).text
        assert len(await profiles(tmp_path).workouts("ada")) == 1


async def test_several_lifts_in_one_message_are_logged_together(tmp_path: Path) -> None:
    """A pasted diary becomes one workout a line, in one step."""
    diary = "Today:\nsquat 3x5 100kg\nbench 80kg 5,5,5\ndeadlift 1x5 @ 140 kg\nrowing 10 min"
    async with coach(tmp_path) as engine:
        reply = await Chat(engine).say(diary)
        assert reply.tools == ["log_workout"] * 4
        logged = {str(w) for w in await profiles(tmp_path).workouts("ada")}
    assert logged == {
        "Squat, 3 x 5, 100 kg",
        "Bench press, 3 x 5, 80 kg",
        "Deadlift, 1 x 5, 140 kg",
        "Rowing machine, 10 min",
    }


async def test_second_thoughts_correct_the_log(tmp_path: Path) -> None:
    """A correction replaces what was logged last, and "undo" takes it back."""
    async with coach(tmp_path) as engine:
        chat = Chat(engine)
        await chat.say("bench 3x5 80 kg")
        assert "Corrected: Bench press, 3 x 5, 85 kg" in (await chat.say("no, it was 85")).text
        assert [w.weight for w in await profiles(tmp_path).workouts("ada")] == [85]
        assert "Taken back" in (await chat.say("undo")).text
        assert await profiles(tmp_path).workouts("ada") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bench 3x5 80kg", "Bench press, 3 x 5, 80 kg"),
        ("3 sets of 5 bench at 80 kilos", "Bench press, 3 x 5, 80 kg"),
        ("5 sets of 5 reps squats at 100 kg", "Squat, 5 x 5, 100 kg"),
        ("10 goblet squats x2 16kg", "Goblet squat, 2 x 10, 16 kg"),
        ("225 lbs x 5 squat", "Squat, 1 x 5, 225 lb"),
        ("5x5x100 kg squat", "Squat, 5 x 5, 100 kg"),
        ("curl 12,5kg 3x12", "Curl, 3 x 12, 12.5 kg"),
        ("pull ups 3x8", "Pull-up, 3 x 8"),
        ("pull ups 3x8 +10kg", "Pull-up, 3 x 8, 10 kg"),
        ("ran 3 miles in half an hour", "Run, 4.8 km, 30 min"),
        ("bench 3x5 1e9kg", "Bench press, 3 x 5"),
        ("swam 1000m", "Swim, 1 km"),
        ("plank 90 seconds", "Plank, 1.5 min"),
        ("bench 60 for 5 reps x 3", "Bench press, 3 x 5, 60 kg"),
        ("squat 60kg x5 x3", "Squat, 3 x 5, 60 kg"),
    ],
)
async def test_figures_are_read_in_many_notations(text: str, expected: str) -> None:
    """However it is written, the same workout is heard."""
    (lift,) = words.lifts(text)
    said = {name: getattr(lift, name) for name in ("exercise", "sets", "reps", "weight", "unit", "minutes", "km")}
    assert str(Workout.model_validate(said)) == expected


# --------------------------------------------------------------------------- long conversations


@pytest.mark.parametrize("seed", range(12))
async def test_a_long_chat_never_ends_up_nowhere(seed: int, tmp_path: Path) -> None:
    """Whatever is said, clicked, filled in and skipped in whatever order: no call fails, and each reply leads on."""
    draw = random.Random(seed)
    async with coach(tmp_path) as engine:
        chat, said = Chat(engine), ""
        for _ in range(15):
            cards = await chat.open()
            reply = await act(draw, chat, cards[0] if cards else None)
            assert leads_on(reply.text, bool(reply.cards), said), reply
            said += reply.text
            assert not [
                text for text in reply.results if '"ok":false' in text and not re.search("skipped|declined", text)
            ], reply
            assert len(reply.text) < 4000


async def act(draw: random.Random, chat: Chat, card: Interrupt | None) -> Reply:
    """One thing that a user may do now."""
    if card is None or draw.random() < 0.4:
        return await chat.say(draw.choice([*(said for said, _ in SAID), *EXTRA]))
    if draw.random() < 0.15:
        return await chat.skip(card)
    if card.kind == "confirm":
        return await chat.answer(card, draw.choice([{"approved": True}, {"approved": False}]))
    if card.kind in ("secret", "connect", "upload"):  # these are answered by other ways than this one
        return await chat.skip(card)
    if card.kind == "form":
        return await chat.answer(card, {name: FILLED[name] for name in card.ask["schema"]["properties"]})
    questions = card.ask["questions"]
    return await chat.answer(card, answers(*(chosen(draw, question) for question in questions)))


@pytest.mark.parametrize("sets", ["3 sets", "three sets", "3 rounds"])
@pytest.mark.parametrize("reps", ["5 reps", "5 repetitions", "5"])
@pytest.mark.parametrize(
    "order", ["{s} of {r} at 60 kg", "60 kg, {s} of {r}", "60 kg for {s} of {r}", "{s} x {r} 60kg", "60kg {s} {r}"]
)
def test_sets_come_before_repetitions_or_after(order: str, sets: str, reps: str) -> None:
    """In each order in which weight, sets and repetitions are said, all three are heard."""
    (lift,) = words.lifts(f"squat {order.format(s=sets, r=reps)}")
    assert (lift.sets, lift.reps, lift.weight, lift.unit) == (3, 5, 60, "kg")
    for said in (f"squat 60 kg {reps} reps x {sets}", f"squat {reps} reps, {sets}, 60 kg"):
        (lift,) = words.lifts(said.replace("reps reps", "reps").replace("repetitions reps", "repetitions"))
        assert (lift.sets, lift.reps, lift.weight) == (3, 5, 60), said


FILLED = {
    "exercise": "Bench", "sets": 3, "reps": 5, "weight": 60.5, "unit": "kg", "minutes": 20,
    "goal": "muscle", "days": ["Monday", "Sunday"], "equipment": ["bands"],
}  # fmt: skip


def chosen(draw: random.Random, question: dict[str, Any]) -> list[str] | str | None:
    some = draw.sample([option["label"] for option in question["options"]], 1 + bool(question.get("multi")))
    return draw.choice([some, some, some, "I would rather not say", "both, on weekends", None])


# --------------------------------------------------------------------------- keeping


async def test_each_user_has_a_profile_of_their_own(tmp_path: Path) -> None:
    """What one user logs, another neither sees nor forgets."""
    async with coach(tmp_path) as engine:
        await Chat(engine, "ada").say("bench 3x5 80 kg")
        bob = Chat(engine, "bob")
        assert "No workouts" in (await bob.say("how am I doing?")).text
        await bob.click((await bob.say("forget me")).card, "Forget everything")
        assert len(await profiles(tmp_path).workouts("ada")) == 1


async def test_what_hurts_is_left_out_until_it_is_well(tmp_path: Path) -> None:
    """A sore knee is noted with a word of care and changes the plan; a healed one is trained again."""
    async with coach(tmp_path) as engine:
        chat = Chat(engine)
        noted = await chat.say("my knee hurts")
        assert "I am no doctor" in noted.text
        planned = await chat.approve(await chat.answer((await chat.say("yes")).card, PLANNED))
        assert not re.search("squat|lunge|leg press", planned.text.lower())
        assert "Because of your knee" in planned.text
        await chat.say("my knee is better now")
        again = await chat.click((await chat.say("yes")).card, "Plan that")
        assert "Goblet squat" in again.shown


def test_the_page_says_what_this_is() -> None:
    """The notice owns up to the stand-in and names something to try."""
    assert TITLE
    said = notice(replace(NOWHERE, stand_ins=("Hevy", "Google")))
    assert said == 'Stand-ins play the language model, Hevy and Google; all of it runs offline. Try "Plan my week".'
    assert notice(NOWHERE, model="somebody's") is None
    assert all(not understand(text, Scene()).missed for text in [*quoted(said), *SUGGESTIONS])


def test_what_the_readme_says_to_try_is_understood() -> None:
    """Each message in the table works as the first one of a chat."""
    readme = (Path(build.__code__.co_filename).parent / "README.md").read_text(encoding="utf-8")
    table = readme[readme.index("| say |") : readme.index("## Read")]
    tried = re.findall(r"`([^`]+)`", table)
    assert len(tried) >= 10
    assert all(not understand(words_to_type, Scene()).missed for words_to_type in tried)
