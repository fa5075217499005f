"""What the stand-in makes of tools that returned, failed, or were asked to wait by a user who typed instead.

The rule it keeps: no ending is a dead end. What came back is told as it is, and the next step is in sight.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, Final

from . import words
from .diary import DID, args, corrected, unlisted
from .messages import NO, YES, understand
from .plans import SPREAD
from .scene import BACK, Args, Heard, Move, Outcome, Scene, call
from .wishes import GUESSED, LEAD_DECIDED, LEFT_OPEN, TRUST, UNDECIDED, spelled_out, undayed
from .words import has

# --------------------------------------------------------------------------- a tool has returned


def report(scene: Scene) -> Move:
    """What to tell the user about the results of the last step; nothing about questions that they talked past."""
    move = Move()
    for outcome in scene.outcomes:
        if outcome.status not in ("superseded", "cancelled"):
            move = move.plus(_told(outcome, scene))
    done = [outcome.tool for outcome in scene.outcomes]
    if done == ["update_profile"] and not (scene.heard or scene.passed or move.calls):
        move = move.plus(Move("Shall I plan the week with that?"))
    return move


def _told(outcome: Outcome, scene: Scene) -> Move:
    if note := _note(outcome):
        return understand(note, replace(scene, outcomes=(), heard=note))
    if outcome.status == "skipped":
        told = SKIPPED.get(outcome.tool, SKIPPED["ask_user"])
        return Move(told, ends='"' not in told)
    if outcome.status == "declined" and outcome.tool in DECLINED:
        return Move(DECLINED[outcome.tool])
    if outcome.status in ENDED:
        return Move(ENDED[outcome.status], ends=True)
    if outcome.error is not None:
        return _failed(outcome)
    if outcome.tool == "ask_user":
        return _chosen(outcome, scene)
    return _done(outcome, scene)


def _note(outcome: Outcome) -> str:
    """What the user wrote along with a skip or a no: it says more than that."""
    ended = outcome.status in ("skipped", "declined") or outcome.data.get("skipped")
    return str(outcome.data.get("note") or "") if ended else ""


def _failed(outcome: Outcome) -> Move:
    trouble = (outcome.error or "no reason was given").rstrip(".")
    return Move(
        f'That did not work: {trouble}. You can try again{RETRIES.get(outcome.tool, "")}, or ask "what can you do?".'
    )


ENDED: Final[dict[str, str]] = {
    "interrupted": 'I was cut off there, and it may or may not have been saved. Ask "show my workouts" or "what do you '
    'know about me?" to see, and tell me again what is missing.',
    "held": 'Not done yet, because something else was asked first. Say "forget me" once more if you still want it.',
    "expired": "That question ran out of time. Just say it again when you are ready.",
    "declined": "All right, it was not done.",
    "unavailable": "I could not show you the question. Just say it again.",
}
DECLINED: Final = {
    "plan_week": 'All right, that one was not saved. Say "other days", "different goal" or "too hard" for another.',
    "connect_google_health": 'All right, nothing was connected. Without it I go by what you tell me: "log a workout".',
    "get_sleep": 'All right, I have not looked. "Connect Google Health" whenever you like.',
}
SKIPPED: Final = {
    "connect_hevy": 'Skipped: Hevy is not connected. "Connect Hevy" whenever you like.',
    "get_hevy_workout_history": 'Skipped: I have not looked. "Connect Hevy" whenever you like.',
    "connect_google_health": 'Skipped: nothing was connected. "Connect Google Health" whenever you like.',
    "get_sleep": 'Skipped: I have not looked. "Connect Google Health" whenever you like.',
    "save_progress_photo": 'Skipped: no photo was kept. Say "save a photo" when you have one.',
    "weight_unit": 'No unit, then. Tell me "kg" or "pounds" whenever you like; I ask when I need it.',
    "plan_week": 'Skipped: no plan was made. Say "you choose" for a plan with sensible defaults, or "plan my week" '
    "to see the questions again.",
    "log_workout": 'Skipped: nothing was logged. You can type it in one line, too: "bench 3x5 80 kg".',
    "forget_profile": "Skipped: nothing was deleted, I still know what I knew.",
    "ask_user": 'No problem. Just type when you like, for example "plan my week", "bench 3x5 80 kg" or '
    '"what can you do?".',
}
RETRIES: Final = {
    "plan_week": ' with "plan my week"',
    "log_workout": ' with one line, for example "bench 3x5 80 kg"',
    "weight_unit": ' with "change my unit"',
    "forget_profile": ' with "forget me"',
    "show_plan": ' with "show my plan"',
    "show_profile": ' with "what do you know about me?"',
    "connect_hevy": ' with "connect Hevy"',
    "get_hevy_workout_history": ' with "connect Hevy"',
    "disconnect_hevy": ' with "disconnect Hevy"',
    "connect_google_health": ' with "connect Google Health"',
    "get_sleep": ' with "connect Google Health"',
    "disconnect_google_health": ' with "disconnect Google Health"',
    "save_progress_photo": ' with "save a photo"',
}


def _done(outcome: Outcome, scene: Scene) -> Move:
    """Read a result out to the user; what a tool tells the model is in the third person."""
    text = to_user(outcome.text)
    if outcome.tool == "show_plan" and text.startswith("No plan"):
        return call("plan_week", "There is no plan yet, so let us make one.")
    if outcome.tool == "update_profile":
        return Move(text)
    if outcome.tool in UNLOCKS:
        tool, seen = UNLOCKS[outcome.tool]
        return call(tool, f"{text} {seen}")
    if outcome.tool == "plan_week":
        after = f'After a session, tell me what you did, for example "{_example(text)}".'
        return Move(text).plus(Move(after if CHANGEABLE in scene.told else f"{CHANGEABLE} {after}"))
    return Move(text, ends=True)


UNLOCKS: Final = {
    "connect_hevy": ("get_hevy_workout_history", "Your key I never saw, but I can use it now:"),
    "connect_google_health": ("get_sleep", "Your password I never saw; what you allowed I can see now:"),
}
"""Which tool there is once something is connected: it is what that was for."""

CHANGEABLE: Final = 'Is something not right? Say "other days", "different goal" or "too hard".'


def _example(plan: str) -> str:
    """An exercise of this very plan, as one would log it."""
    for name, sets, reps in re.findall(r"^- (.+?): (\d+) x (\d+)$", plan, re.MULTILINE):
        if words.exercise(words.plain(name)):
            return f"{name.lower()} {sets}x{reps}"
    return "walked 30 minutes"


def to_user(text: str) -> str:
    """A result about "the user" as a sentence to them."""
    text = re.sub(r"\bThe user has\b", "You have", text)
    text = re.sub(r"\bThe user (\w+?)s\b", r"You \1", text)
    return re.sub(r"\bthe user's\b", "your", re.sub(r"\bThe user's\b", "Your", text))


def _chosen(outcome: Outcome, scene: Scene) -> Move:
    """The user clicked a button, or wrote something of their own beside it: both are messages."""
    answers = outcome.data.get("answers") or []
    first = answers[0] if answers else {}
    own = (first.get(part) or "" for part in ("other", "note"))
    chosen = " ".join([*first.get("selected", []), *own]).strip()
    if not chosen:
        return Move(SKIPPED["ask_user"])
    return _named(outcome, chosen) or understand(chosen, replace(scene, outcomes=(), heard=chosen))


def _named(outcome: Outcome, said: str) -> Move | None:
    """An answer to "What did you do?" that no list knows is an exercise all the same."""
    text = words.plain(said)
    if _prompt(outcome) != DID or words.lifts(text) or re.fullmatch(f"{NO}|{UNDECIDED}", text):
        return None
    name = unlisted(text)
    return call("log_workout", "One moment:", exercise=name) if name else None


def _prompt(outcome: Outcome) -> str:
    questions = outcome.args.get("questions") or [{}]
    return str(questions[0].get("prompt", ""))


# --------------------------------------------------------------------------- the user typed instead of clicking


def instead(scene: Scene) -> Move | None:
    """A message that came while questions were open, as an answer to them if it is one. None: none were."""
    passed = [outcome for outcome in scene.outcomes if outcome.status == "superseded"]
    if not passed:
        return None
    text = words.plain(scene.heard)
    if len(passed) > 1 and (move := _several(passed, text)):
        return move
    if move := next((move for outcome in passed if (move := _fits(outcome, text, scene))), None):
        return move
    if re.fullmatch(NO, text):
        return Move('All right, I dropped the question. "Plan my week", "log a workout" or "what can you do?"')
    if re.fullmatch(WHY, text):
        return _again(passed[0], "")
    return _aside(passed, understand(scene.heard, replace(scene, outcomes=())), scene)


def _several(passed: list[Outcome], text: str) -> Move | None:
    """Figures for several exercises that were being logged; what none of them fits is asked again as it was."""
    found = [lift for lift in words.lifts(text) if lift.exercise and lift.figures]
    asked = [outcome for outcome in passed if outcome.tool == "log_workout"]
    told: dict[Any, list[Args]] = {outcome.args.get("exercise"): [] for outcome in asked}
    for lift in found:
        told.setdefault(lift.exercise, []).append(args(lift))
    if len(asked) < len(passed) or not any(told[outcome.args.get("exercise")] for outcome in asked):
        return None
    calls: list[tuple[str, Args]] = []
    for outcome in asked:
        first, *more = told.pop(outcome.args.get("exercise"), []) or [{}]
        calls += [(outcome.tool, outcome.args | one) for one in (first, *more)]
    calls += [(asked[0].tool, one) for several in told.values() for one in several]
    return Move("", tuple(calls))


def _aside(passed: list[Outcome], move: Move, scene: Scene) -> Move:
    """Something else than an answer was said: go along with it, and do not lose what was being asked."""
    tools = [tool for tool, _ in move.calls]
    if passed[-1].tool == "log_workout" and "log_workout" in tools:  # one more workout: none is lost
        return Move(move.text or "That one, too.", (*((one.tool, one.args) for one in passed), *move.calls))
    if passed[0].tool == "ask_user" or BACK in scene.said or UNFIT in scene.said:  # insist once, not twice
        return move
    if move.missed:
        return _again(passed[0], UNFIT)
    if move.ends and not tools:  # the question still stands
        return call(passed[0].tool, f"{move.text} {BACK}", **passed[0].args)
    return move


UNFIT: Final = "I did not understand that as an answer."
WHY: Final = (
    r"(but )?(why|what for|what do you mean|what does (that|this|it) mean|how come|explain|what'?s (that"
    r"|the difference)"
    r"|i don'?t (understand|get it)|huh|what|sorry|pardon|which one|what do you (recommend|suggest)"
    r"|what would you (do|choose|pick))( do you (ask|need|want)( that| this| to know)?)?[?!. ]*"
)


def _fits(outcome: Outcome, text: str, scene: Scene) -> Move | None:
    if outcome.tool == "ask_user":
        return _option(outcome, text, scene)
    if outcome.tool == "weight_unit":
        if re.fullmatch(TRUST, text.strip(" .!")):
            return call("weight_unit", 'Kilograms, then; say "pounds" to change it.', unit="kg")
        named = words.unit(text) or {"1": "kg", "2": "lb"}.get(_ordinal(text))
        return call("weight_unit", unit=named) if named and not words.exercise(text) else None
    if outcome.tool == "plan_week":
        return _planned(outcome, text)
    if outcome.tool == "log_workout":
        return _logged(outcome, text)
    return _confirmed(outcome, text)


def _option(outcome: Outcome, text: str, scene: Scene) -> Move | None:
    """An option by its label, a part of it, or its number."""
    questions = outcome.args.get("questions") or [{}]
    labels = [option["label"] for option in questions[0].get("options", [])]
    place = _ordinal(text)
    if place.isdigit() and 1 <= int(place) <= len(labels):
        return understand(labels[int(place) - 1], Scene())
    bare = text.strip(" .!?")
    alike = [label for label in labels if len(bare) >= 3 and bare in label.lower()]
    if len(alike) == 1:
        return understand(alike[0], Scene())
    return _named(outcome, scene.heard)


def _ordinal(text: str) -> str:
    """`1`, `the first one`, `option 2`, `b)` as a figure."""
    one = r"([1-4]|first|second|third|fourth|[abcd])"
    found = re.fullmatch(rf"(?:the |option |number |no\.? ?|#)*{one}(?: one| option)?[.)! ]*", text)
    return ORDINALS.get(found[1], found[1]) if found else ""


ORDINALS: Final = {"first": "1", "second": "2", "third": "3", "fourth": "4", "a": "1", "b": "2", "c": "3", "d": "4"}


def _planned(outcome: Outcome, text: str) -> Move | None:
    known: Args = dict(outcome.args)
    if re.fullmatch(UNDECIDED, text.strip(" .!")) or has(text, LEFT_OPEN):
        known.pop("reuse", None)
        return call("plan_week", LEAD_DECIDED, **(known | words.slots(text) | {"decide": True}))
    if text != (text := undayed(text)) and not words.slots(text):
        return None
    if re.fullmatch(YES, text) or has(text, AGREED):
        return call("plan_week", A_CLICK, **(known | {"reuse": True}))
    if words.lifts(text) and any(lift.exercise and lift.figures for lift in words.lifts(text)):
        return None
    if Heard.of(text, Scene()).question and not re.match("can|could|what about|how about", text):
        return None
    found = words.slots(text)
    if (count := words.number(text)) and 1 <= count <= 7:
        found["days"] = SPREAD[int(count)]
    guessed = f" {GUESSED}" if "days" in found and words.days_guessed(text) else ""
    if not found or words.injuries(text):
        return None
    move = call("plan_week", **(known | found))
    return replace(move, text=f"A plan, then: {spelled_out(found)}.{guessed}")


AGREED: Final = (
    r"same( again| as (last time|before))?|plan that|go with (that|it|this)|that one|looks? (good|fine|great|right)"
    r"|perfect|save (it|that|this)|keep it|i like it"
)
A_CLICK: Final = "Then this is the plan. Saving it takes your click, so that no misread word does it:"


def _logged(outcome: Outcome, text: str) -> Move | None:
    """Figures for the exercise that was being logged."""
    known: Args = dict(outcome.args)
    forgotten = re.fullmatch(UNDECIDED, text.strip(" .!")) or has(text, FORGOTTEN)
    if (forgotten or has(text, LEFT_OPEN)) and not words.lifts(text):
        return Move('What you did I cannot guess, so nothing was logged. "Log a workout" begins anew.')
    if (named := words.unit(text)) and not re.search(r"\d", text):
        return call("log_workout", **(known | {"unit": named}))
    if (other := corrected(text)) and other != known.get("exercise"):
        return call("log_workout", **(known | {"exercise": other}))
    found = [lift for lift in words.lifts(text) if lift.figures]
    mine = [lift for lift in found if lift.exercise and lift.exercise == known.get("exercise")]
    if mine and len(found) > len(mine):
        told = f"That is for the {mine[0].exercise}, of which I asked; tell me the rest once that is logged."
        return call("log_workout", told, **(known | args(mine[0])))
    same = bool(found) and found[0].exercise in (None, known.get("exercise"))
    if not same or unlisted(text):
        return None
    more = args(found[0])
    value = words.number(text)
    if value is not None and "weight" in more and "unit" not in more and "reps" not in known and "weight" in known:
        more = {"sets": known.get("sets", 1), "reps": int(value)}
    if known.get("exercise") in words.ACTIVITIES and "weight" in more:
        more = {"minutes": more["weight"]}
    return call("log_workout", **(known | more))


FORGOTTEN: Final = r"(don'?t|can'?t|do not|cannot) (remember|recall|know)|forgot|no idea|not sure|no clue"


def _confirmed(outcome: Outcome, text: str) -> Move | None:
    """Deleting is never taken from a typed yes: the rule might have misread it."""
    if outcome.tool != "forget_profile":
        return None
    if re.fullmatch(NO, text) or has(text, r"keep|don'?t|no"):
        return Move("Kept: nothing was deleted.", ends=True)
    if has(text, r"just|only|except|but"):
        return Move("Nothing was deleted: I can only forget everything at once.", ends=True)
    if re.fullmatch(YES, text) or has(text, r"forget|delete|everything"):
        return call("forget_profile", "For deleting I want a click, so that no misread word does it:")
    return None


def _again(outcome: Outcome, lead: str) -> Move:
    """Say what the question is for, and ask it again."""
    if outcome.tool == "ask_user":
        return call("ask_user", "Just pick what you would like, or type something else:", **outcome.args)
    return call(outcome.tool, f"{lead} {WHYS.get(outcome.tool, '')}".strip(), **outcome.args)


WHYS: Final = {
    "weight_unit": "The unit is for your log, so that numbers mean the same each time.",
    "plan_week": "Goal, days and equipment decide which exercises the plan takes and how they are spread; if you are "
    'not sure, skip a question or say "you choose".',
    "log_workout": "The log needs to know what you did; weight 0 stands for body weight.",
    "forget_profile": "This removes your profile, plan, workouts and photos, and what you connected, for good.",
    "connect_hevy": "With your key I can read your workouts at Hevy, and nothing else. It is sealed: I never see it.",
    "connect_google_health": "With that I can read your sleep, and nothing else. Your password stays with Google.",
    "get_sleep": "With that I can read your sleep, and nothing else. Your password stays with Google.",
    "save_progress_photo": "A photo now and one in two months show more than scales do.",
}
