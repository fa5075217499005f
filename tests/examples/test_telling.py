"""What people tell of a workout beside its figures, and what a new user said that was not understood before."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from coach import telling, tools
from coach.profile import WEEK, Workout
from coach.scene import Scene
from coach.stand_in import respond
from tests.examples.stage import PLANNED, Chat, coach, profiles

pytestmark = pytest.mark.anyio


def said(text: str, **scene: Any) -> dict[str, Any]:
    """The arguments of the last call that a message leads to."""
    return respond(Scene(heard=text, **scene)).calls[-1][1]


async def by_name(folder: Path) -> list[Workout]:
    """What was logged: the calls of one message run side by side, and either may be the first."""
    return sorted(await profiles(folder).workouts("ada"), key=lambda one: one.exercise)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("ran 5k yesterday", {"days_ago": 1}),
        ("1h spin class last night", {"days_ago": 1}),
        ("did squats 3x5 100kg two days ago", {"days_ago": 2}),
        ("squat 3x5 100 kg the day before yesterday", {"days_ago": 2}),
        ("benched 80 kg 5x5 a week ago", {"days_ago": 7}),
        ("i did a couple of days ago bench 3x5 80 kg", {"days_ago": 2}),
        ("swam 1k last friday", {"on": "Friday", "days_ago": 1}),
        ("monday: squats 5x5 100", {"on": "Monday"}),
        ("ran 5k", {}),
        ("ran 5k this morning", {}),
    ],
)
def test_a_workout_goes_under_the_day_that_is_named(text: str, day: dict[str, Any]) -> None:
    """Counted from today or by its weekday; without a day it was today."""
    assert {name: value for name, value in said(text).items() if name in ("days_ago", "on")} == day


def test_a_day_that_is_no_day_is_asked_for() -> None:
    """It is logged, and the user reads as of when."""
    move = respond(Scene(heard="last week i ran 10k"))
    assert move.calls == (("log_workout", {"exercise": "Run", "km": 10.0}),)
    assert "as of today" in move.text


async def test_an_earlier_day_is_kept_and_can_be_corrected(tmp_path: Path) -> None:
    """What was logged as of today by mistake is moved to its day."""
    today = date.today()
    async with coach(tmp_path) as engine:
        chat = Chat(engine)
        await chat.say("ran 5k yesterday")
        (run,) = await profiles(tmp_path).workouts("ada")
        assert run.day == today - timedelta(days=1)
        reply = await chat.say("that was on monday")
        (run,) = await profiles(tmp_path).workouts("ada")
        assert run.day is not None
        assert (WEEK[run.day.weekday()], (today - run.day).days in range(7)) == ("Monday", True)
        assert reply.text.startswith("Corrected")


@pytest.mark.parametrize(
    ("text", "remark"),
    [
        ("squats 5x5 100kg felt rubbish", "felt rubbish"),
        ("ran 5k, felt like death", "felt like death"),
        ("bench 3x5 80 on monday, it was really hard", "it was really hard"),
        ("squat 5x5 100 kg - easy", "easy"),
        ("bench 100 felt heavy", "felt heavy"),
        ("ran 5k, pretty windy", "pretty windy"),
        ("benched 80kg for 3 sets of 5", ""),
        ("light squats 3x5 40 kg", ""),
    ],
)
def test_how_it_felt_is_kept_in_the_users_words(text: str, remark: str) -> None:
    """It goes along with the workout, and its figures are read as before."""
    assert telling.remark(text).endswith(remark)
    assert ("note" in said(text)) == bool(remark)
    assert said(text)["exercise"] in {"Squat", "Run", "Bench press"}


async def test_how_it_felt_can_be_said_afterwards(tmp_path: Path) -> None:
    """The latest workout gets the remark; its figures stay."""
    async with coach(tmp_path) as engine:
        chat = Chat(engine)
        await chat.say("squat 5x5 100 kg")
        await chat.say("that felt great")
        reply = await chat.say("show my workouts")
        assert "Squat, 5 x 5, 100 kg (felt great)" in reply.text


async def test_a_number_of_days_is_not_passed_off_as_days_that_were_named(tmp_path: Path) -> None:
    """The days that the coach took are called its own; days that were named are not."""
    async with coach(tmp_path) as engine:
        assert "name yours" in (await Chat(engine).say("3 days")).text
        assert "name yours" not in (await Chat(engine, "bea").say("mon wed fri")).text
        asked = Chat(engine, "eve")
        await asked.say("plan my week")
        assert "name yours" in (await asked.say("4")).text


async def test_days_that_are_moved_before_there_are_any_are_marked_on_the_card(tmp_path: Path) -> None:
    """The question shows what was said of the days; what is clicked counts."""
    async with coach(tmp_path) as engine:
        chat = Chat(engine)
        reply = await chat.say("move friday to sunday")
        days = {option["label"]: option for option in reply.card.ask["questions"][1]["options"]}
        assert days["Sunday"].get("recommended")
        assert days["Friday"]["description"] == "Not this one, you said"
        planned = await chat.answer(reply.card, PLANNED)
        assert "Monday" in planned.shown


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("sort out my training", "plan_week"),
        ("sort out my next seven days? I'm rusty, two kids", "plan_week"),
        ("bp 185 lbs 3x8", "log_workout"),
        ("i dont own anything lol", "plan_week"),
        ("help me organise my week", "plan_week"),
        ("can you swap wednesday for saturday", "plan_week"),
        ("i have one 16kg kettlebell", "plan_week"),
        ("dont have any equipment besides a yoga mat", "plan_week"),
        ("same as last week", "plan_week"),
        ("i logged that twice", "undo_workout"),
        ("benched 82.5 for a triple", "log_workout"),
        ("connect google", "connect_google_health"),
        ("show me everything", "show_profile"),
    ],
)
def test_other_ways_to_say_it(text: str, tool: str) -> None:
    """One tool for it, however it is said."""
    assert [name for name, _ in respond(Scene(heard=text)).calls] == [tool]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("connect google calendar", "I cannot connect to that"),
        ("link my google drive", "I cannot connect to that"),
        ("here's a picture of my form", "cannot judge form from a picture"),
        ("20 mins a day max", "Short is fine"),
        ("only 30 minutes per session please", "Short is fine"),
        ("mornings only", "The time of day is yours"),
        ("im travelling next week", "stays as it is until you are back"),
        ("missed yesterdays session", "one missed session changes nothing"),
        ("is it normal to be sore", "Soreness a day or two after"),
        ("who can see my data", "on the computer that runs this demo"),
        ("gcal", "set reminders"),
        ("i'm going on holiday next week, so no plan then", "stays as it is until you are back"),
        ("forget my injuries", "my knee is fine again"),
    ],
)
def test_what_it_cannot_do_is_said_and_nothing_is_called(text: str, told: str) -> None:
    """No tool is called for what it does not do."""
    move = respond(Scene(heard=text))
    assert told in move.text
    assert not move.calls


async def test_a_picture_while_a_question_is_open_leaves_the_question(tmp_path: Path) -> None:
    """It is told what becomes of it, and the question is asked again."""
    async with coach(tmp_path) as engine:
        chat = Chat(engine)
        before = await chat.say("plan my week")
        reply = await chat.say("here's a picture of my form")
        assert "cannot judge form" in reply.text
        assert reply.card.kind == before.card.kind == "questions"
        assert reply.card.message == before.card.message


def test_a_file_that_came_with_a_message_is_named() -> None:
    """A stand-in that cannot look into files says so, whatever is written beside them."""
    for heard in ("", "look", "how is my form?"):
        move = respond(Scene(heard=heard, sent=("me.png",)))
        assert "I have me.png, but" in move.text
        assert "I did not understand" not in move.text
    assert respond(Scene(heard="plan my week", sent=("me.png",))).calls[0][0] == "plan_week"


def test_a_day_is_the_latest_of_its_name() -> None:
    """Today, if it is that day; else in the last six."""
    today = date(2026, 12, 1)
    days = [tools._day(today, None, day) for day in WEEK]
    assert days == [today - timedelta(days=n) for n in (1, 0, 6, 5, 4, 3, 2)]
    assert tools._day(today, 1, "Tuesday") == today - timedelta(days=7)
    assert tools._day(today, 1, "Monday") == today - timedelta(days=1)


async def test_one_that_was_hard_is_no_correction_of_another(tmp_path: Path) -> None:
    """What is logged stays as it is; the new one has its own day and remark."""
    async with coach(tmp_path) as engine:
        chat = Chat(engine)
        await chat.say("ran 5k yesterday, felt rubbish")
        await chat.say("squats 5x5 100kg on monday it was really hard")
        run, squat = await profiles(tmp_path).workouts("ada")
        assert (run.exercise, run.km, run.note) == ("Run", 5.0, "felt rubbish")
        assert (squat.exercise, squat.sets, squat.weight) == ("Squat", 5, 100.0)
        assert squat.note is not None
        assert "really hard" in squat.note


async def test_a_remark_goes_with_the_workout_that_it_follows(tmp_path: Path) -> None:
    """Not with the last one of the message."""
    async with coach(tmp_path) as engine:
        await Chat(engine).say("squats five by five at 90 kilos, felt heavy, and then jogged 25 min")
        run, squat = await by_name(tmp_path)
        assert (squat.note, run.note) == ("felt heavy", None)


async def test_a_wish_for_one_day_is_no_wish_for_that_day_alone(tmp_path: Path) -> None:
    """The plan that is shown stays whole, and where the day can be changed is said."""
    async with coach(tmp_path) as engine:
        chat = Chat(engine)
        before = await chat.say("plan my week tue thu sat, gym, get stronger")
        reply = await chat.say("looks good but make thursday shorter")
        assert "write it anew on the plan's card" in reply.text
        assert reply.shown.partition("Your week")[2] == before.shown.partition("Your week")[2]
        agreed = await chat.say("ok go with it")
        assert "takes your click" in agreed.text
        assert agreed.shown.partition("Your week")[2] == before.shown.partition("Your week")[2]
        swapped = respond(Scene(heard="make Thursday shorter and swap sunday for saturday"))
        assert "card" in swapped.text
        assert swapped.calls[0][1] == {"not_on": ("Sunday",), "also_on": ("Saturday",)}


async def test_a_question_that_was_talked_past_comes_back_once_the_other_thing_is_done(tmp_path: Path) -> None:
    """The workout is logged, its figures are read out, and then the plan goes on, with what was said before."""
    async with coach(tmp_path) as engine:
        chat = Chat(engine)
        before = await chat.say("plan my week with dumbbells")
        reply = await chat.say("ran 5k in 25 min")
        assert "Logged: Run" in reply.text
        assert "Back to the question:" in reply.text
        assert reply.calls[-1].args == before.calls[-1].args
        again = await chat.say("squat 3x5 100 kg")
        assert not again.cards  # it insists once


async def test_what_was_done_is_not_lost_beside_something_else(tmp_path: Path) -> None:
    """Every sentence that tells of a workout is logged, whatever else the message asks."""
    async with coach(tmp_path) as engine:
        await Chat(engine).say("I weigh 83 kg. Did 3 sets of 12 pull ups. Rowed 20 min. Is that good?")
        logged = [one.exercise for one in await by_name(tmp_path)]
        assert logged == ["Pull-up", "Row"]
    for more in ("what's my plan for thursday? also I weigh 83", "show my plan", "my knee hurts"):
        move = respond(Scene(heard=f"swam 1 km today. did 3 sets of 12 pull ups. {more}"))
        assert [name for name, _ in move.calls].count("log_workout") == 2


def test_a_pain_beside_a_workout_is_noted_and_the_workout_is_logged() -> None:
    """Under its day, both."""
    move = respond(Scene(heard="on Friday: deadlift 120x3x2, left hamstring twinged a bit"))
    assert [name for name, _ in move.calls] == ["update_profile", "log_workout"]
    assert move.calls[1][1]["on"] == "Friday"


def test_what_is_in_a_service_is_looked_up_there() -> None:
    """Right after it was shown, "there" is the service."""
    scene = Scene(
        heard="what was my heaviest bench in there last month",
        said="At Hevy you did this:",
        offered=frozenset({"get_hevy_workout_history"}),
    )
    assert respond(scene).calls == (("get_hevy_workout_history", {"weeks": 4}),)


@pytest.mark.parametrize(
    "heard", ["my physio wrote this, take it into account", "on account of the kids I am slow", "that accounts for it"]
)
def test_an_account_is_a_word_of_many_phrases(heard: str) -> None:
    """Only who asks for an account is told that there are none."""
    assert "no accounts" not in respond(Scene(heard=heard)).text
    assert "no accounts" in respond(Scene(heard="do I need an account?")).text


async def test_days_that_are_changed_beside_a_pain_are_not_lost(tmp_path: Path) -> None:
    """The pain is noted first, and then the plan goes on with the days as they were said."""
    async with coach(tmp_path) as engine:
        chat = Chat(engine)
        await chat.say("plan tue thu sat sun, gym, get stronger")
        reply = await chat.say(
            "actually sunday I'd rather sleep in, make it friday instead. and my knee can't take squats"
        )
        assert reply.tools == ["update_profile", "plan_week"]
        assert "Friday" in reply.shown
        assert "Sunday:" not in reply.shown
        assert "Saturday" in reply.shown
        assert "squat" not in reply.shown.partition("Your week")[2].lower()


async def test_every_clause_of_a_correction_is_heard(tmp_path: Path) -> None:
    """One figure of the one, and the day of the other; nothing is logged anew."""
    async with coach(tmp_path) as engine:
        chat = Chat(engine)
        await chat.say("ran 4.2 km in 31 min")
        await chat.say("bench 3x5 80 kg")
        await chat.say("the run was 5.2 km, not 4.2, and the bench was yesterday too")
        run, bench = await profiles(tmp_path).workouts("ada")
        assert (run.km, run.minutes) == (5.2, 31.0)
        assert bench.day == date.today() - timedelta(days=1)
        listed = (await chat.say("show my workouts")).text
        assert listed.index("Bench press, 3") < listed.index("Run, 5.2")  # in the order of their days


@pytest.mark.parametrize("reps", ["10/10/8", "10, 10 and 8 reps", "10, 10, 8"])
def test_sets_of_their_own_are_read_however_they_are_listed(reps: str) -> None:
    """Two sets of ten and one of eight, with the weight that they share."""
    calls = respond(Scene(heard=f"dumbbell bench 12 kg {reps} yesterday")).calls
    told = [(one["exercise"], one["sets"], one["reps"], one["weight"]) for _, one in calls]
    assert told == [("Dumbbell bench press", 2, 10, 12.0), ("Dumbbell bench press", 1, 8, 12.0)]


async def test_figures_for_two_cards_go_to_each(tmp_path: Path) -> None:
    """What was typed instead of clicking fills both; no card is left over."""
    async with coach(tmp_path) as engine:
        chat = Chat(engine)
        reply = await chat.say("squat 3x5, bench 3x8")
        assert len(reply.cards) == 2
        reply = await chat.say("squat 100 kg, bench 60 kg")
        assert not reply.cards
        told = [(one.exercise, one.reps, one.weight) for one in await by_name(tmp_path)]
        assert told == [("Bench press", 8, 60.0), ("Squat", 5, 100.0)]


async def test_a_day_that_no_plan_had_is_not_missed(tmp_path: Path) -> None:
    """Who has no plan yet and rules a day out is not told that it was no day of the plan."""
    async with coach(tmp_path) as engine:
        reply = await Chat(engine).say("plan tue thu, gym, get stronger, not on monday")
        assert "no day of your plan" not in reply.shown
