"""The coach's tools, each one straight function: where it needs something from the user it asks, and goes on.

A tool that asked is executed again from the top when the answer is there. So what may have changed meanwhile is
read with `ctx.once`, and what must not happen twice is done in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from textwrap import shorten
from typing import Annotated, Any, Final

from pydantic import BaseModel, Field, create_model

from yourcall import Context, Form, Option, Question, QuestionAnswer, Questions, Titles, Tool, ask_user, tool

from . import plans, words
from .profile import WEEK, Day, Equipment, Goal, Level, Profile, Profiles, Unit, Workout


@dataclass(frozen=True, slots=True)
class Coach:
    """What the tools work with: `ctx.deps`."""

    profiles: Profiles


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
SAME, CHANGE = "Plan that", "Change something"


@tool
async def plan_week(  # one parameter for each thing that a plan goes by
    ctx: Context[Coach],
    goal: Goal | None = None,
    days: list[Day] | None = None,
    equipment: list[Equipment] | None = None,
    level: Level | None = None,
    also_on: list[Day] | None = None,
    not_on: list[Day] | None = None,
    reuse: bool | None = None,
) -> str:
    """Plan the user's training week and save the plan. Asks for what is not known.

    Give what the user has said; `also_on` and `not_on` change the days that are known. `reuse` says whether to take
    what is remembered from last time: true to take it, false to ask anew; leave it out to let the user decide.
    """
    remembered = await ctx.once("profile", ctx.deps.profiles.load, ctx.user, repeatable=True)
    given = _known({"goal": goal, "days": days, "equipment": equipment})
    wanted = _known(remembered.model_dump(include=set(ASKED)) | given)
    wanted = _known(wanted | {"days": _changed(wanted.get("days", ()), also_on or (), not_on or ())})
    if reuse is None and remembered.plannable and len(given) < len(wanted) == len(ASKED):
        (again,) = ctx.ask(_same_again(wanted))
        reuse = CHANGE not in again.selected
        wanted |= _read_slots(_own_words(again))
    missing = [name for name in ASKED if name not in (given if reuse is False else wanted)]
    notes: list[str] = []
    if missing:
        answers = ctx.ask(Questions([ASKED[name] for name in missing]))
        for name, answer in zip(missing, answers, strict=True):
            wanted[name], note = READERS[name](answer)
            notes += [note] if note else []
    wanted |= _known({"level": level})
    plan = plans.week(Profile.model_validate(remembered.model_dump() | wanted))
    await ctx.once("save", ctx.deps.profiles.update, ctx.user, wanted | {"plan": plan}, repeatable=True)
    return "\n\n".join([plan, *notes])


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


def _read_slots(text: str) -> dict[str, Any]:
    return _known({"goal": words.goal(text), "days": words.days(text), "equipment": words.kit(text)})


def _goal(answer: QuestionAnswer) -> tuple[Goal, str]:
    heard = words.goal(_own_words(answer))
    if answer.selected:
        return GOAL_LABELS[answer.selected[0]], ""
    if answer.other and not heard:
        return (
            "fitness",
            f'For "{_shortened(answer.other)}" I have no plan of its own, so this is one for all-round fitness.',
        )
    return heard or "fitness", "" if heard else "No goal was chosen, so this is a plan for all-round fitness."


def _days(answer: QuestionAnswer) -> tuple[Sequence[Day], str]:
    heard = {*answer.selected, *words.days(_own_words(answer))}
    if heard:
        return [day for day in WEEK if day in heard], ""
    return plans.SPREAD[3], f"No days were chosen, so I took {plans.listed(plans.SPREAD[3])}."


def _equipment(answer: QuestionAnswer) -> tuple[Sequence[Equipment], str]:
    heard = [*(KIT_LABELS[label] for label in answer.selected), *words.kit(_own_words(answer))]
    if heard:
        return list(dict.fromkeys(heard)), ""
    told = f'I do not know how to use "{_shortened(answer.other)}"' if answer.other else "No equipment was chosen"
    return ["body weight"], f"{told}, so this needs none."


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
    replace: bool = False,
) -> str:
    """Log one exercise that the user did. Asks for what is missing or cannot be right.

    A lift has sets, reps and weight (0 for body weight); a run, a ride or a class has minutes, kilometres or both.
    `replace` corrects the workout that was logged last.
    """
    profile = await ctx.once("profile", ctx.deps.profiles.load, ctx.user, repeatable=True)
    said = {"exercise": exercise, "sets": sets, "reps": reps, "weight": weight, "minutes": minutes, "km": km}
    said["unit"] = unit or profile.unit
    while doubts := _doubts(said):
        fields = {name: FIELDS[name] for name in doubts}
        form = Form(create_model("Workout", **fields), title=_title(said, doubts))
        said |= ctx.ask(form).model_dump()
    workout = Workout.model_validate(said)
    best = await ctx.once("log", ctx.deps.profiles.log, ctx.user, workout, replace)
    if workout.unit and workout.weight and not profile.unit:
        await ctx.deps.profiles.update(ctx.user, {"unit": workout.unit})
    return f"{'Corrected' if replace else 'Logged'}: {workout}.{_praise(workout, best)}"


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
    latest = [f"- {w.day:%d %b}: {w}" for w in workouts[-10:]]
    heaviest = [f"- {w.exercise}: {w.weight:g} {w.unit}" for w in best.values()]
    lines = [f"Logged so far: {len(workouts)}. The latest:", *latest]
    return "\n".join([*lines, "", "Heaviest:", *heaviest] if heaviest else lines)


@tool
async def undo_workout(ctx: Context[Coach]) -> str:
    """Take back the workout that was logged last."""
    gone = await ctx.once("undo", ctx.deps.profiles.undo, ctx.user)
    return f"Taken back: {gone}." if gone else "There is no workout to take back."


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
    known = {
        "Goal": plans.AIMS[profile.goal] if profile.goal else "",
        "Days": plans.listed(profile.days),
        "Equipment": plans.listed(plans.KITS[name] for name in profile.equipment),
        "Level": profile.level or "",
        "Unit": UNIT_NAMES[profile.unit] if profile.unit else "",
        "To be careful with": plans.listed(profile.injuries),
        "Plan": "saved" if profile.plan else "",
        "Workouts logged": str(count or ""),
    }
    lines = [f"- {name}: {value}" for name, value in known.items() if value]
    return "\n".join(["Known so far:", *lines]) if lines else "Nothing is known so far."


FORGET, KEEP = "Forget everything", "Keep it"


@tool(hold=True)
async def forget_profile(ctx: Context[Coach]) -> str:
    """Delete the user's profile, plan and workouts for good, after they have confirmed it."""
    question = Question(
        "Delete your profile, your plan and all your workouts? This cannot be undone.",
        header="Forget",
        options=[Option(FORGET), Option(KEEP)],
    )
    (answer,) = ctx.ask(Questions([question]))
    if FORGET not in answer.selected:
        return "Nothing was deleted."
    await ctx.deps.profiles.forget(ctx.user)
    return "Everything was deleted: profile, plan and workouts."


TOOLS: Final[tuple[Tool[Coach], ...]] = (
    ask_user,
    weight_unit,
    plan_week,
    show_plan,
    log_workout,
    show_workouts,
    undo_workout,
    update_profile,
    show_profile,
    forget_profile,
)
