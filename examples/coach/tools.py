"""The coach's tools, each one straight function: where it needs something from the user it asks, and goes on.

A tool that asked is executed again from the top when the answer is there. So what may have changed meanwhile is
read with `ctx.once`, and what must not happen twice is done in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from textwrap import shorten
from typing import Annotated, Any, Final

from pydantic import BaseModel, Field, create_model

from yourcall import (
    Confirm,
    Context,
    Form,
    Option,
    Question,
    QuestionAnswer,
    Questions,
    Rejected,
    Titles,
    Tool,
    ask_user,
    tool,
)
from yourcall.credentials import Credential

from . import plans, words
from .profile import WEEK, Day, Equipment, Goal, Level, Profile, Profiles, Unit, Workout


@dataclass(frozen=True, slots=True)
class Coach:
    """What the tools work with: `ctx.deps`."""

    profiles: Profiles
    credentials: Mapping[str, Credential] = field(default_factory=dict)
    """What users can connect, by its name for people."""


# --------------------------------------------------------------------------- the unit


UNIT_NAMES: Final[dict[Unit, str]] = {"kg": "kilograms", "lb": "pounds"}


class Units(BaseModel):
    unit: Annotated[Unit, Titles(kg="Kilograms", lb="Pounds")]


@tool
async def weight_unit(ctx: Context[Coach], unit: Unit | None = None) -> str:
    """Ask which unit the user lifts in, and remember it. Give `unit` if they have said it."""
    unit = unit or ctx.ask(Form(Units, title="How do you weigh your lifts?")).unit
    await ctx.deps.profiles.update(ctx.user, {"unit": unit})
    return f"The user lifts in {UNIT_NAMES[unit]}."


# --------------------------------------------------------------------------- the week


GOAL_LABELS: Final[dict[str, Goal]] = {
    "Get stronger": "strength",
    "Build muscle": "muscle",
    "Lose fat": "fat loss",
    "Get fit, stay fit": "fitness",
}
KIT_LABELS: Final[dict[str, Equipment]] = {
    "Full gym": "gym",
    "Dumbbells": "dumbbells",
    "Resistance bands": "bands",
    "Nothing at all": "body weight",
}
ASKED: Final[dict[str, Question]] = {
    "goal": Question("What do you train for?", header="Goal", options=[Option(label) for label in GOAL_LABELS]),
    "days": Question("On which days can you train?", header="Days", multi=True, options=[Option(day) for day in WEEK]),
    "equipment": Question(
        "What can you train with?", header="Equipment", multi=True, options=[Option(label) for label in KIT_LABELS]
    ),
}
WEEK_FIELDS: Final[dict[str, Any]] = {
    "goal": Annotated[Goal, Field(title="Goal"), Titles({name: label for label, name in GOAL_LABELS.items()})],
    "days": Annotated[list[Day], Field(title="Days", min_length=1)],
    "equipment": Annotated[
        list[Equipment],
        Field(title="Equipment", min_length=1),
        Titles({name: label for label, name in KIT_LABELS.items()}),
    ],
}
DEFAULTS: Final[dict[str, Any]] = {"goal": "fitness", "days": plans.SPREAD[3], "equipment": ["body weight"]}
"""What a plan goes by if the user leaves that open."""
SAME, CHANGE = "Plan that", "Change something"


@tool
async def plan_week(  # noqa: PLR0913, PLR0917  # one parameter for each thing that a plan goes by
    ctx: Context[Coach],
    goal: Goal | None = None,
    days: list[Day] | None = None,
    equipment: list[Equipment] | None = None,
    level: Level | None = None,
    also_on: list[Day] | None = None,
    not_on: list[Day] | None = None,
    reuse: bool | None = None,
    decide: bool = False,
) -> str:
    """Plan the user's training week. Asks for what is not known, and shows the plan before it is saved.

    Give what the user has said; `also_on` and `not_on` change the days that are known. `reuse` says whether to take
    what is remembered from last time: true to take it, false to let the user change it; leave it out to let the user
    decide. With `decide` nothing is asked: what neither the user nor the profile says gets a sensible default.
    """
    remembered = await ctx.once("profile", ctx.deps.profiles.load, ctx.user, repeatable=True)
    given = _known({"goal": goal, "days": days, "equipment": equipment})
    wanted = _known(remembered.model_dump(include=set(ASKED)) | given)
    notes: list[str] = []
    if before := wanted.get("days"):
        wanted = _known(wanted | {"days": _changed(before, also_on or (), not_on or ())})
        if strange := [day for day in not_on or () if remembered.days and day not in before]:
            notes.append(f"{plans.listed(strange)} was no day of your plan before.")
    if reuse is None and not decide and remembered.plannable and len(given) < len(wanted) == len(ASKED):
        (again,) = ctx.ask(_same_again(wanted))
        reuse = CHANGE not in again.selected
        changes, told = _changes(again, wanted)
        wanted |= changes
        notes += told
    editing = reuse is False and len(wanted) == len(ASKED)
    missing = [name for name in ASKED if name not in (given if reuse is False and not editing else wanted)]
    if decide and missing:
        wanted |= {name: DEFAULTS[name] for name in missing}
        notes.append(f"You left it to me, so I took {_in_words(wanted, missing)}.")
    elif missing:
        asked = ASKED | {"days": _which_days(also_on or (), not_on or ())}
        answers = ctx.ask(Questions([asked[name] for name in missing]))
        for name, answer in zip(missing, answers, strict=True):
            wanted[name], note = READERS[name](answer)
            notes += [note] if note else []
    elif editing and (open_to_change := [name for name in ASKED if name not in given]):
        fields: dict[str, Any] = {name: (WEEK_FIELDS[name], wanted[name]) for name in open_to_change}
        wanted |= ctx.ask(Form(create_model("Week", **fields), title="What should be different?")).model_dump()
    wanted |= _known({"level": level})
    profile = Profile.model_validate(remembered.model_dump() | wanted)
    await ctx.once("remember", ctx.deps.profiles.update, ctx.user, wanted, repeatable=True)
    planned = plans.sessions(profile) if decide else ctx.ask(_approval(profile, notes))
    plan = plans.week(profile, _trained(planned))
    saved: dict[str, object] = {"plan": plan}
    await ctx.once("save", ctx.deps.profiles.update, ctx.user, saved, repeatable=True)
    return "\n\n".join([plan, *notes]) if decide else plan


def _which_days(also_on: Sequence[Day], not_on: Sequence[Day]) -> Question:
    """The question for days, with those marked of which the user has spoken."""
    said = dict.fromkeys(also_on, "You named it") | dict.fromkeys(not_on, "Not this one, you said")
    options = [Option(day, description=said.get(day), recommended=day in also_on) for day in WEEK]
    return replace(ASKED["days"], options=options)


A_DAY: Final = Annotated[str, Field(max_length=1000)]


def _approval(profile: Profile, notes: Sequence[str]) -> Confirm[dict[Day, str]]:
    """The plan before it is saved, with what the user must know of it: each day can be written anew, or emptied."""
    title = f"{plans.headline(profile)}. Change what you like; a day that you empty is left out. Save this plan?"
    return Confirm(
        "\n\n".join([*notes, title]),
        plans.sessions(profile),
        editable=True,
        hints=dict.fromkeys(WEEK, A_DAY),
        check=_some_day,
    )


def _some_day(planned: dict[Day, str]) -> None:
    if not _trained(planned):
        raise Rejected("Leave at least one day, or say no.")


def _trained(planned: dict[Day, str]) -> dict[Day, str]:
    """The days with something on them, each in one piece: an empty line begins the next day."""
    texts = {day: "\n".join(filter(None, map(str.strip, text.splitlines()))) for day, text in planned.items()}
    return {day: text for day, text in texts.items() if text}


def _changed(days: Sequence[Day], also_on: Sequence[Day], not_on: Sequence[Day]) -> list[Day]:
    return [day for day in WEEK if day in (*days, *also_on) and day not in not_on]


def _known(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value}


def _same_again(wanted: dict[str, Any]) -> Questions:
    kit = plans.listed(plans.KITS[name] for name in wanted["equipment"])
    text = f"To {plans.AIMS[wanted['goal']]}, on {plans.listed(wanted['days'])}, with {kit}. Plan a week with that?"
    return Questions([Question(text, header="Plan", options=[Option(SAME), Option(CHANGE)])])


def _own_words(answer: QuestionAnswer) -> str:
    """What the user wrote instead of choosing, or beside it."""
    return words.plain(" ".join(filter(None, (answer.other, answer.note))))


def _shortened(text: str) -> str:
    return shorten(text, 60, placeholder=" ...") if " " in text else text[:60]


def _in_words(wanted: dict[str, Any], names: Sequence[str]) -> str:
    said = {
        "goal": f"a plan to {plans.AIMS[wanted['goal']]}" if "goal" in wanted else "",
        "days": plans.listed(wanted.get("days", ())),
        "equipment": plans.listed(plans.KITS[name] for name in wanted.get("equipment", ())),
    }
    return "; ".join(said[name] for name in names)


def _changes(again: QuestionAnswer, wanted: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """What the user wrote beside "Plan that", as far as it can be read, and what to tell them of it."""
    heard = words.slots(text := _own_words(again))
    days = _changed(wanted["days"], heard.pop("also_on", ()), heard.pop("not_on", ()))
    changes = _known({"days": days if days != list(wanted["days"]) else ()}) | heard
    if not text:
        return {}, []
    read = _in_words(wanted | changes, list(changes)) if changes else ""
    return changes, [_read(text, read, words.beyond(text, *_PATTERNS.values()))]


_PATTERNS: Final = {
    "goal": "|".join(words.GOALS.values()),
    "days": words.DAY_WORDS,
    "equipment": "|".join(words.KIT.values()),
}


def _read(text: str, read: str, more: bool) -> str:
    """What was made of the user's own words: never more than is so, and never nothing."""
    if not read:
        return f'I could not make anything of "{_shortened(text)}".'
    return f'From "{_shortened(text)}" I took: {read}{"; the rest of it I cannot use" if more else ""}.'


def _goal(answer: QuestionAnswer) -> tuple[Goal, str]:
    text = _own_words(answer)
    heard = words.goal(text)
    chosen = GOAL_LABELS[answer.selected[0]] if answer.selected else heard
    if not text:
        return chosen or "fitness", "" if chosen else "No goal was chosen, so this is a plan for all-round fitness."
    if not chosen:
        return "fitness", f'For "{_shortened(text)}" I have no plan of its own, so this is one for all-round fitness.'
    read = plans.AIMS[heard] if heard and heard == chosen else ""
    return chosen, _read(text, read, words.beyond(text, _PATTERNS["goal"]))


def _days(answer: QuestionAnswer) -> tuple[Sequence[Day], str]:
    text = _own_words(answer)
    named = {*answer.selected, *words.days(text)} - {*words.not_days(text)}
    days = [day for day in WEEK if day in named] or plans.SPREAD[3]
    if not text:
        return days, "" if named else f"No days were chosen, so I took {plans.listed(days)}."
    read = plans.listed(days) if words.days(text) or words.not_days(text) else ""
    told = _read(text, read, words.beyond(text, _PATTERNS["days"]))
    return days, told if read or answer.selected else f"{told} So I took {plans.listed(days)}."


def _equipment(answer: QuestionAnswer) -> tuple[Sequence[Equipment], str]:
    text = _own_words(answer)
    heard = words.kit(text)
    kit = list(dict.fromkeys([*(KIT_LABELS[label] for label in answer.selected), *heard]))
    if not text:
        return kit or ["body weight"], "" if kit else "No equipment was chosen, so this needs none."
    if not kit:
        return ["body weight"], f'I do not know how to use "{_shortened(text)}", so this needs none.'
    read = plans.listed(plans.KITS[name] for name in heard) if heard else ""
    return kit, _read(text, read, words.beyond(text, _PATTERNS["equipment"]))


READERS: Final[dict[str, Any]] = {"goal": _goal, "days": _days, "equipment": _equipment}


@tool
async def show_plan(ctx: Context[Coach]) -> str:
    """The saved plan, and what is due today."""
    plan = (await ctx.deps.profiles.load(ctx.user)).plan
    if plan is None:
        return "No plan yet."
    today = WEEK[date.today().weekday()]
    session = next((part for part in plan.split("\n\n") if part.startswith(f"{today}:")), None)
    due = f"Today is {session}" if session else f"Today is {today}, a day without training."
    return f"{due}\n\n{plan}"


# --------------------------------------------------------------------------- the log

FIELDS: Final[dict[str, Any]] = {
    "exercise": (Annotated[str, Field(title="Exercise", min_length=1, max_length=60)], ...),
    "sets": (Annotated[int, Field(title="Sets", ge=1, le=30)], 3),
    "reps": (Annotated[int, Field(title="Repetitions in each set", ge=1, le=500)], ...),
    "weight": (Annotated[float, Field(title="Weight", description="0 for body weight", ge=0, le=2000)], ...),
    "unit": (Annotated[Unit, Field(title="Unit"), Titles(kg="Kilograms", lb="Pounds")], ...),
    "minutes": (Annotated[float, Field(title="Minutes", gt=0, le=1440)], ...),
}
HEAVIEST: Final[dict[Unit, float]] = {"kg": 500, "lb": 1100}
"""More than anybody has lifted: somebody hit a key twice."""


@tool
async def log_workout(  # noqa: PLR0913, PLR0917  # one parameter a field of a workout
    ctx: Context[Coach],
    exercise: str | None = None,
    sets: int | None = None,
    reps: int | None = None,
    weight: float | None = None,
    unit: Unit | None = None,
    minutes: float | None = None,
    km: float | None = None,
    note: Annotated[str, Field(max_length=200)] | None = None,
    days_ago: Annotated[int, Field(ge=0, le=365)] = 0,
    on: Day | None = None,
) -> str:
    """Log one exercise that the user did. Asks for what is missing or cannot be right.

    A lift has sets, reps and weight (0 for body weight); a run, a ride or a class has minutes, kilometres or both.
    `note` is how it felt, in the user's words. It was today, or `days_ago`, or the latest `on` that is.
    What was logged already and was wrong is for `correct_workout`.
    """
    today = await ctx.once("today", _today, repeatable=True)  # the answer to a question may come on another day
    profile = await ctx.once("profile", ctx.deps.profiles.load, ctx.user, repeatable=True)
    said = {"exercise": exercise, "sets": sets, "reps": reps, "weight": weight, "minutes": minutes, "km": km}
    said["unit"] = unit or profile.unit
    while doubts := _doubts(said):
        fields = {name: FIELDS[name] for name in doubts}
        form = Form(create_model("Workout", **fields), title=_title(said, doubts))
        said |= ctx.ask(form).model_dump()
    workout = Workout.model_validate(said | {"note": note, "day": _day(today, days_ago, on)})
    best = await ctx.once("log", ctx.deps.profiles.log, ctx.user, workout)
    if workout.unit and workout.weight and (unit or not profile.unit):
        await ctx.deps.profiles.update(ctx.user, {"unit": workout.unit})
    return f"Logged{_dated(workout.day, today)}: {workout}.{_praise(workout, best)}"


def _today() -> date:
    return date.today()


def _day(today: date, days_ago: int | None, on: Day | None) -> date | None:
    """So many days ago, or the latest such weekday that is; None where nothing is said."""
    if on is None and days_ago is None:
        return None
    day = today - timedelta(days=days_ago or 0)
    return day - timedelta(days=(day.weekday() - WEEK.index(on)) % 7) if on else day


def _dated(day: date | None, today: date) -> str:
    return "" if day in (None, today) else f" for {day:%A}, {day.day} {day:%B}"


@tool
async def correct_workout(  # noqa: PLR0913, PLR0917  # one parameter a field of a workout
    ctx: Context[Coach],
    which: str | None = None,
    exercise: str | None = None,
    sets: int | None = None,
    reps: int | None = None,
    weight: float | None = None,
    unit: Unit | None = None,
    minutes: float | None = None,
    km: float | None = None,
    note: Annotated[str, Field(max_length=200)] | None = None,
    days_ago: Annotated[int, Field(ge=0, le=365)] | None = None,
    on: Day | None = None,
) -> str:
    """Correct what was logged: the latest workout, or the latest of the exercise `which`. Give only what was wrong."""
    before = await ctx.once("before", ctx.deps.profiles.latest, ctx.user, which, repeatable=True)
    if before is None:
        return f"Nothing was corrected: no {which or 'workout'} has been logged."
    today = await ctx.once("today", _today, repeatable=True)
    lifted = {"exercise": exercise, "sets": sets, "reps": reps, "weight": weight, "unit": unit}
    said = lifted | {"minutes": minutes, "km": km, "note": note, "day": _day(today, days_ago, on)}
    workout = before.model_copy(update={name: value for name, value in said.items() if value is not None})
    if _doubts(workout.model_dump()):
        return f"Nothing was corrected, because that cannot be right. It still says: {before}."
    await ctx.once("correct", ctx.deps.profiles.correct, ctx.user, which, workout)
    return f"Corrected{_dated(workout.day, today)}: {workout}."


def _doubts(said: dict[str, Any]) -> dict[str, str]:
    """What must be asked before this can be logged, and why, where the reason is not that it is missing."""
    doubts: dict[str, str] = {}
    if not (said["exercise"] or "").strip():
        doubts["exercise"] = ""
    if _timed(said):
        if not said["km"] and not 0 < (said["minutes"] or 0) <= 1440:
            doubts["minutes"] = ""
        return doubts
    if not 1 <= (said["sets"] or 0) <= 30:
        doubts["sets"] = ""
    if not 1 <= (said["reps"] or 0) <= 500:
        doubts["reps"] = ""
    return doubts | _heavy(said["weight"], said["unit"])


def _heavy(weight: float | None, unit: Unit | None) -> dict[str, str]:
    if weight is None or weight < 0:
        return {"weight": ""} | ({} if unit else {"unit": ""})
    if weight and not unit:
        return {"unit": ""}
    if unit and weight > HEAVIEST[unit]:
        return {"weight": f"{weight:,g} {unit} is more than anybody has lifted. What was it?"}
    return {}


def _timed(said: dict[str, Any]) -> bool:
    lifted = said["sets"] or said["reps"] or said["weight"]
    return bool(said["minutes"] or said["km"] or (said["exercise"] in words.ACTIVITIES and not lifted))


def _title(said: dict[str, Any], doubts: dict[str, str]) -> str:
    why = next((reason for reason in doubts.values() if reason), "")
    if list(doubts) == ["unit"] and said["exercise"]:
        return f"{said['exercise']} at {said['weight']:g}: kilograms or pounds?"
    return why or (f"{said['exercise']}: how did it go?" if said["exercise"] else "What did you do?")


def _praise(workout: Workout, best: float | None) -> str:
    if workout.weight and best is not None and workout.weight > best:
        return f" That is the heaviest so far: {best:g} {workout.unit} before."
    return ""


@tool
async def show_workouts(ctx: Context[Coach]) -> str:
    """The user's latest workouts and their heaviest lifts."""
    workouts = await ctx.deps.profiles.workouts(ctx.user)
    if not workouts:
        return "No workouts logged yet."
    best: dict[str, Workout] = {}
    for workout in workouts:
        if workout.weight and workout.weight >= (best.get(workout.exercise, workout).weight or 0):
            best[workout.exercise] = workout
    latest = [f"- {w.day:%d %b}: {w}" for w in sorted(workouts[-10:], key=lambda w: w.day or date.min)]
    heaviest = [f"- {w.exercise}: {w.weight:g} {w.unit}" for w in best.values()]
    lines = [f"Logged so far: {len(workouts)}. The latest:", *latest]
    return "\n".join([*lines, "", "Heaviest:", *heaviest] if heaviest else lines)


@tool
async def undo_workout(ctx: Context[Coach], exercise: str | None = None) -> str:
    """Take back the workout that was logged last, or the latest of this exercise."""
    gone = await ctx.once("undo", ctx.deps.profiles.undo, ctx.user, exercise)
    return f"Taken back: {gone}." if gone else f"There is no {exercise or 'workout'} to take back."


# --------------------------------------------------------------------------- the profile


@tool
async def update_profile(
    ctx: Context[Coach],
    level: Level | None = None,
    injuries: list[str] | None = None,
    healed: list[str] | None = None,
) -> str:
    """Note what the user said about their experience, what hurts, or what is well again (`knee`, `back`, ...)."""
    before = (await ctx.deps.profiles.load(ctx.user)).injuries
    hurts = [part for part in dict.fromkeys([*before, *(injuries or [])]) if part not in (healed or [])]
    await ctx.deps.profiles.update(ctx.user, {"injuries": hurts} | ({"level": level} if level else {}))
    notes = [f"Noted: {level}."] if level else []
    if injuries:
        notes.append(f"Noted: from now on plans leave out what loads the {plans.listed(injuries)}.")
    if healed:
        notes.append(f"Noted: the {plans.listed(healed)} can be trained again, carefully at first.")
    return " ".join(notes) or "There was nothing to note."


@tool
async def show_profile(ctx: Context[Coach]) -> str:
    """What is known about the user."""
    profile = await ctx.deps.profiles.load(ctx.user)
    count = len(await ctx.deps.profiles.workouts(ctx.user))
    photos = await ctx.deps.profiles.photos(ctx.user)
    known = {
        "Goal": plans.AIMS[profile.goal] if profile.goal else "",
        "Days": plans.listed(profile.days),
        "Equipment": plans.listed(plans.KITS[name] for name in profile.equipment),
        "Level": profile.level or "",
        "Unit": UNIT_NAMES[profile.unit] if profile.unit else "",
        "To be careful with": plans.listed(profile.injuries),
        "Plan": "saved" if profile.plan else "",
        "Workouts logged": str(count or ""),
        "Progress photos": f"{len(photos)}, the latest of {photos[-1]:%d %b}" if photos else "",
        "Connected": plans.listed([name for name, one in ctx.deps.credentials.items() if await ctx.holds(one)]),
    }
    lines = [f"- {name}: {value}" for name, value in known.items() if value]
    return "\n".join(["Known so far:", *lines]) if lines else "Nothing is known so far."


FORGET, KEEP = "Forget everything", "Keep it"


@tool(hold=True)
async def forget_profile(ctx: Context[Coach]) -> str:
    """Delete all that is kept of the user for good, and disconnect all services, after they have confirmed it."""
    question = Question(
        "Delete your profile, plan, workouts and photos, and what you connected? This cannot be undone.",
        header="Forget",
        options=[Option(FORGET), Option(KEEP)],
    )
    (answer,) = ctx.ask(Questions([question]))
    if answer.other or answer.note:  # a word beside a yes may be a condition of it
        return (
            f'Nothing was deleted. I can only forget everything at once, by "{FORGET}" and no other word; what you '
            "wrote there changed nothing."
        )
    if FORGET not in answer.selected:
        return "Nothing was deleted."
    await ctx.deps.profiles.forget(ctx.user)
    for credential in ctx.deps.credentials.values():
        await ctx.forget(credential)
    return "Everything was deleted: profile, plan, workouts and photos; nothing is connected any more."


TOOLS: Final[tuple[Tool[Coach], ...]] = (
    ask_user,
    weight_unit,
    plan_week,
    show_plan,
    log_workout,
    correct_workout,
    show_workouts,
    undo_workout,
    update_profile,
    show_profile,
    forget_profile,
)
