"""A week of training for a profile, as text: pure, so that the same profile always gets the same week.

The rule it keeps: an exercise that loads an injured part is left out, never swapped for a cleverer one. The
coach is no physiotherapist.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from .profile import WEEK, Day, Equipment, Goal, Level, Profile


@dataclass(frozen=True, slots=True)
class Exercise:
    """An exercise, the kit it needs and the parts of the body that it loads."""

    name: str
    kit: Equipment
    loads: tuple[str, ...]
    counted: bool = True
    """Done in sets and repetitions; a plank is held instead."""


def _of(kit: Equipment, *named: tuple[str, str]) -> list[Exercise]:
    return [Exercise(name, kit, tuple(loads.split()), name not in HELD) for name, loads in named]


HELD: Final = ("Plank", "Side plank")

MOVES: Final[dict[str, list[Exercise]]] = {
    "squat": [
        *_of("gym", ("Squat", "knee back hip ankle"), ("Leg press", "knee hip ankle")),
        *_of("dumbbells", ("Goblet squat", "knee hip ankle wrist")),
        *_of("bands", ("Banded squat", "knee hip ankle")),
        *_of("body weight", ("Squat to a chair", "knee hip ankle"), ("Split squat", "knee hip ankle foot")),
    ],
    "hinge": [
        *_of("gym", ("Deadlift", "back hip knee wrist"), ("Leg curl, lying", "hamstring")),
        *_of("dumbbells", ("Dumbbell Romanian deadlift", "back hip hamstring wrist")),
        *_of("bands", ("Banded pull-through", "back hip hamstring")),
        *_of("body weight", ("Glute bridge", "hip hamstring")),
    ],
    "push": [
        *_of("gym", ("Bench press", "shoulder chest elbow wrist"), ("Machine chest press", "shoulder chest elbow")),
        *_of("dumbbells", ("Dumbbell bench press", "shoulder chest elbow wrist")),
        *_of("bands", ("Banded chest press", "shoulder chest elbow")),
        *_of("body weight", ("Push-up, hands raised if needed", "shoulder chest elbow wrist")),
    ],
    "press": [
        *_of("gym", ("Overhead press", "shoulder neck back elbow wrist")),
        *_of("dumbbells", ("Dumbbell shoulder press", "shoulder neck elbow wrist")),
        *_of("bands", ("Banded lateral raise", "shoulder neck")),
        *_of("body weight", ("Pike push-up", "shoulder neck elbow wrist")),
    ],
    "pull": [
        *_of("gym", ("Cable row, seated", "elbow shoulder wrist"), ("Lat pulldown", "shoulder elbow")),
        *_of("dumbbells", ("One-arm dumbbell row", "elbow back wrist")),
        *_of("bands", ("Banded row", "elbow shoulder")),
        *_of("body weight", ("Back extension on the floor", "back neck")),
    ],
    "core": [
        *_of("body weight", ("Plank", "shoulder back elbow wrist"), ("Dead bug", "hip"), ("Side plank", "shoulder")),
    ],
}

FULL_A: Final = ("squat", "push", "pull", "core")
FULL_B: Final = ("hinge", "press", "pull", "core")
UPPER: Final = ("push", "pull", "press", "core")
LOWER: Final = ("squat", "hinge", "core")
EASY: Final = ("easy",)

SPLITS: Final[dict[int, Sequence[tuple[str, tuple[str, ...]]]]] = {
    1: [("whole body", ("squat", "hinge", "push", "pull", "core"))],
    2: [("whole body A", FULL_A), ("whole body B", FULL_B)],
    3: [("whole body A", FULL_A), ("whole body B", FULL_B), ("whole body A", FULL_A)],
    4: [("upper body", UPPER), ("lower body", LOWER)] * 2,
    5: [("upper body", UPPER), ("lower body", LOWER), ("easy day", EASY), ("upper body", UPPER), ("lower body", LOWER)],
    6: [("upper body", UPPER), ("lower body", LOWER), ("easy day", EASY)] * 2,
    7: [("upper body", UPPER), ("lower body", LOWER), ("easy day", EASY)] * 2 + [("rest", ())],
}

SETS: Final[dict[Goal, str]] = {"strength": "5", "muscle": "10", "fat loss": "12", "fitness": "8"}
ROUNDS: Final[dict[Level, int]] = {"beginner": 2, "intermediate": 3, "advanced": 4}
AIMS: Final[dict[Goal, str]] = {
    "strength": "get stronger",
    "muscle": "build muscle",
    "fat loss": "lose fat",
    "fitness": "get fit and stay fit",
}
KITS: Final[dict[Equipment, str]] = {
    "gym": "a full gym",
    "dumbbells": "dumbbells",
    "bands": "resistance bands",
    "body weight": "no equipment",
}
SPREAD: Final[dict[int, tuple[Day, ...]]] = {
    1: ("Wednesday",),
    2: ("Monday", "Thursday"),
    3: ("Monday", "Wednesday", "Friday"),
    4: ("Monday", "Tuesday", "Thursday", "Friday"),
    5: ("Monday", "Tuesday", "Wednesday", "Friday", "Saturday"),
    6: ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"),
    7: WEEK,
}
"""Sensible days for somebody who says only how many."""

LEGS: Final = frozenset({"knee", "ankle", "foot", "hip", "hamstring"})
ARMS: Final = frozenset({"shoulder", "elbow", "wrist"})
PARTS: Final[dict[str, frozenset[str]]] = {
    **{part: frozenset({part}) for part in ("neck", "shoulder", "chest", "elbow", "wrist", "back", "hip", "knee")},
    "leg": LEGS,
    "hamstring": frozenset({"hamstring", "hip"}),
    "ankle": frozenset({"ankle"}),
    "foot": frozenset({"foot", "ankle"}),
    "arm": ARMS,
    "hand": frozenset({"wrist"}),
}
"""What must not be loaded when a part is injured."""


def sessions(profile: Profile) -> dict[Day, str]:
    """What to do on each day. What the profile leaves open gets a careful default."""
    goal: Goal = profile.goal or "fitness"
    days = profile.days or SPREAD[3]
    level: Level = profile.level or "beginner"
    return {
        day: "\n".join([title, *_session(moves, _kit(profile), goal, level, profile.injuries)])
        for day, (title, moves) in zip(days, SPLITS[len(days)], strict=True)
    }


def headline(profile: Profile) -> str:
    """What a week is for, and with what."""
    return f"Your week to {AIMS[profile.goal or 'fitness']}, with {listed(KITS[k] for k in _kit(profile))}"


def week(profile: Profile, planned: Mapping[Day, str] | None = None) -> str:
    """The plan for one week: as it is `planned`, or as the profile suggests."""
    days = sessions(profile) if planned is None else planned
    parts = [f"{headline(profile)}:", *(f"{day}: {text}" for day, text in days.items())]
    advice = _advice(profile.goal or "fitness", profile.level or "beginner", profile.injuries, len(days))
    return "\n\n".join([*parts, "\n".join(advice)])


def _kit(profile: Profile) -> tuple[Equipment, ...]:
    return profile.equipment or ("body weight",)


def spared(injuries: Iterable[str]) -> frozenset[str]:
    """What must not be loaded with these injuries."""
    return frozenset().union(*(PARTS.get(part, {part}) for part in injuries))


def listed(words: Iterable[str]) -> str:
    """Words as one would say them: `a, b and c`."""
    *first, last = list(words) or [""]
    return f"{', '.join(first)} and {last}" if first else last


def _session(
    moves: tuple[str, ...], kit: Sequence[Equipment], goal: Goal, level: Level, injuries: Sequence[str]
) -> list[str]:
    if not moves:
        return ["- nothing planned: your body gets stronger on the days off"]
    if moves == EASY:
        return [_easy(injuries, 30)]
    chosen = [exercise for move in moves if (exercise := _fitting(move, kit, injuries))]
    lines = [f"- {_amount(exercise, goal, level)}" for exercise in chosen]
    if goal in ("fat loss", "fitness"):
        lines.append(_easy(injuries, 15))
    return lines or [_easy(injuries, 20)]


def _fitting(move: str, kit: Sequence[Equipment], injuries: Sequence[str]) -> Exercise | None:
    """The first exercise for this movement that the kit allows and no injury forbids."""
    rank: tuple[Equipment, ...] = ("gym", "dumbbells", "bands", "body weight")
    usable = [e for k in rank if k in kit or k == "body weight" for e in MOVES[move] if e.kit == k]
    return next((e for e in usable if not spared(injuries) & set(e.loads)), None)


def _amount(exercise: Exercise, goal: Goal, level: Level) -> str:
    if not exercise.counted:
        return f"{exercise.name}: {ROUNDS[level]} x 20 to 40 seconds"
    return f"{exercise.name}: {ROUNDS[level]} x {SETS[goal]}"


def _easy(injuries: Sequence[str], minutes: int) -> str:
    if LEGS & spared(injuries):
        return f"- {minutes} minutes of anything easy that does not hurt"
    return f"- {minutes} minutes of brisk walking or cycling; you should still be able to talk"


def _advice(goal: Goal, level: Level, injuries: Sequence[str], days: int) -> list[str]:
    lines = ["Stop each set while you could still do two more. When every set feels easy, add a little."]
    if days >= 6:
        lines.append(f"{days} days is a lot: drop one whenever you feel worn out.")
    if level == "beginner":
        lines.append("The first two weeks should feel too easy. That is on purpose.")
    if injuries:
        lines.append(
            f"Because of your {listed(injuries)} I left out what loads it. If anything hurts, stop; "
            "a doctor or physiotherapist can tell you what is safe, I cannot."
        )
    return lines
