"""What people say to a coach, as data: lifts, days, goals, kit, units, pain. Pure functions from text to facts.

Each returns None or an empty tuple where the text says nothing about the matter, so that callers can try one
after the other. It is a stand-in's ear, made of word lists: it hears a few things in many ways, not everything.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import groupby, pairwise
from typing import Any, Final, TypeVar

from .plans import SPREAD
from .profile import WEEK, Day, Equipment, Goal, Level, Unit

W = TypeVar("W", bound=str)


def plain(text: str) -> str:
    """Lower case, straight quotes, single spaces; line breaks stay."""
    text = unicodedata.normalize("NFKC", text).lower()
    text = text.translate({0x2019: "'", 0x2018: "'", 0x00D7: "x", 0x2013: "-", 0x2014: "-", 0x2192: ">"})
    text = re.sub(r"(?<![a-z'])(?:ca|do|does|did|is|was|wo|have|has|should|could|would|are)nt(?![a-z])", _negated, text)
    text = re.sub(r"(?<![a-z'])im(?![a-z'])", "i'm", text)
    return "\n".join(" ".join(line.split()) for line in text.splitlines() if line.strip())


def _negated(found: re.Match[str]) -> str:
    return f"{found[0][:-1]}'t"


def has(text: str, pattern: str) -> bool:
    """Whether one of the words or phrases (a regular expression of alternatives) stands in the text."""
    return re.search(rf"(?<![a-z])(?:{pattern})(?![a-z])", text) is not None


def _all(text: str, table: dict[W, str]) -> tuple[W, ...]:
    return tuple(name for name, pattern in table.items() if has(text, pattern))


def _first(text: str, table: dict[W, str]) -> W | None:
    return next(iter(_all(text, table)), None)


# --------------------------------------------------------------------------- numbers, units

NUMBERS = {
    word: str(n) for n, word in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())
}
TENS: Final = "twenty thirty forty fifty sixty seventy eighty ninety"
NUMBERS |= {word: str(10 * n) for n, word in enumerate(TENS.split(), 2)}
NUMBERS |= {"fifteen": "15", "hundred": "100", "once": "1 times", "twice": "2 times"}

UNITS: Final[dict[Unit, str]] = {
    "kg": r"\d*\.?\d*\s?(kgs?|kilos?|kilograms?|kilogrammes?)|metric",
    "lb": r"\d*\.?\d*\s?(lbs?|pounds?)|imperial|freedom units",
}


def digits(text: str) -> str:
    """Number words as figures: `three sets of five` becomes `3 sets of 5`."""
    for spoken, minutes in (("hour and a half", 90), ("half an hour", 30), ("half hour", 30), ("an hour", 60)):
        text = text.replace(spoken, f"{minutes} min")
    return re.sub(r"[a-z]+", lambda word: NUMBERS.get(word[0], word[0]), text)


def unit(text: str) -> Unit | None:
    """The unit a text names, if it names just one."""
    named = _all(text, UNITS)
    return named[0] if len(named) == 1 else None


def number(text: str) -> float | None:
    """The number that a text consists of, give or take a unit or a please."""
    found = re.fullmatch(r"(?:about |around |maybe |just |it was )?(\d+(?:[.,]\d+)?)\s?[a-z]{0,9}[.!]?", digits(text))
    return float(found[1].replace(",", ".")) if found else None


# --------------------------------------------------------------------------- what was lifted

EXERCISES: Final[dict[str, str]] = {
    "Dumbbell bench press": r"(dumb ?bells?|db) bench(es|ed|ing)?( ?press(es|ed)?)?",
    "Bench press": r"bp|bench(es|ed|ing)?( ?press(es|ed)?)?|chest press",
    "Front squat": r"front squats?",
    "Goblet squat": r"goblet squats?",
    "Squat": r"(back )?squat(s|ted|ting)?",
    "Romanian deadlift": r"romanian dead ?lifts?|rdls?",
    "Deadlift": r"dead ?lift(s|ed|ing)?|dls?",
    "Overhead press": r"(overhead|shoulder|military|strict) press(es|ed)?|ohp",
    "Leg press": r"leg press(es|ed)?",
    "Lat pulldown": r"(lat )?pull ?-?downs?",
    "Pull-up": r"pull ?-?ups?|chin ?-?ups?",
    "Push-up": r"push ?-?ups?|press ?-?ups?",
    "Dip": r"dips?",
    "Row": r"(barbell |cable |dumbbell |bent over )?row(s|ed)?",
    "Curl": r"((biceps?|hammer|dumbbell) )?curl(s|ed)?",
    "Lunge": r"lunges?",
    "Hip thrust": r"hip thrusts?",
    "Lateral raise": r"lateral raises?",
    "Calf raise": r"calf raises?",
    "Kettlebell swing": r"(kettlebell |kb )?swings?",
    "Sit-up": r"sit ?-?ups?|crunch(es)?",
    "Burpee": r"burpees?",
    "Power clean": r"(power )?cleans?",
    "Snatch": r"snatch(es)?",
}
ACTIVITIES: Final[dict[str, str]] = {
    "Walk": r"walk(s|ed|ing)?",
    "Hike": r"hik(e|ed|ing)",
    "Ride": r"(bike|bicycle) ride|rode|bik(e|ed|ing)|cycl(e|ed|ing)|spin(ning)?( class)?",
    "Swim": r"swim(s|ming)?|swam",
    "Rowing machine": r"rowing( machine)?|erg",
    "Yoga": r"yoga",
    "Pilates": r"pilates",
    "Stretching": r"stretch(ed|ing)",
    "Plank": r"planks?",
    "Elliptical": r"elliptical|cross ?trainer",
    **{name: name.lower() for name in "Football Soccer Tennis Basketball Volleyball Badminton Boxing Zumba".split()},
    "Cardio": r"cardio",
    "Climbing": r"climb(ed|ing)|boulder(ed|ing)?",
    "Dance": r"danc(e|ed|ing)",
    # The last, since 5k may be of anything.
    "Run": r"runs?|ran|running|jog(s|ged|ging)?|sprint(s|ed)?|treadmill|(half )?marathon|\d+k(?! steps)",
}


@dataclass(frozen=True, slots=True)
class Lift:
    """What a text says about one exercise or activity; None is not said."""

    exercise: str | None = None
    sets: int | None = None
    reps: int | None = None
    weight: float | None = None
    unit: Unit | None = None
    minutes: float | None = None
    km: float | None = None

    @property
    def figures(self) -> bool:
        return any((self.sets, self.reps, self.weight is not None, self.minutes, self.km))

    @property
    def timed(self) -> bool:
        """Whether this is an activity, told by minutes and kilometres instead of sets."""
        return self.exercise in ACTIVITIES or bool(self.minutes or self.km)


_N = r"(\d+(?:[.,]\d+)?)"
_KG_LB = r"(kgs?|kilos?|kilograms?|lbs?|pounds?)"


def lifts(text: str) -> tuple[Lift, ...]:
    """Every exercise of a text with its figures; figures that stand alone belong to the exercise before them."""
    found: list[Lift] = []
    text = re.sub(r"\bfor (?:a |an? easy )?(single|double|triple)\b", _repetitions, plain(text))
    for part in _parts(re.sub(DENIED, " ", digits(text))):
        lift = replace(_figures(part), exercise=exercise(part))
        if lift.exercise or not found:
            found.append(lift)
        elif lift.reps and found[-1].reps and (found[-1].weight is not None or lift.weight is not None):
            found.append(_merged(replace(lift, exercise=found[-1].exercise), replace(found[-1], sets=None, reps=None)))
        else:
            found[-1] = _merged(found[-1], lift)
    return tuple(_rounded_off(lift) for lift in found if lift.exercise or lift.figures)


def _repetitions(found: re.Match[str]) -> str:
    return f"for {('single', 'double', 'triple').index(found[1]) + 1}"


def _rounded_off(lift: Lift) -> Lift:
    """With what need not be said: that it was one set, or without a weight."""
    if lift.reps and not lift.sets:
        lift = replace(lift, sets=1)
    if lift.reps and lift.weight is None and lift.exercise in BODY_WEIGHT:
        lift = replace(lift, weight=0.0)
    return lift


DENIED: Final = (
    r"\b(?:and )?(?:not|instead of|rather than) (?:just |only |a |an )?\d+(?:[.,]\d+)?"
    r"(?: ?(?:sets?|reps?|kgs?|kilos?|lbs?|pounds?|min|minutes|km))?\b"
)
"""What a correction says that it was not."""


def exercise(text: str) -> str | None:
    """The exercise or activity that a text names."""
    return _first(text, EXERCISES) or _first(text, ACTIVITIES)


def _parts(text: str) -> Iterator[str]:
    """One part an exercise: split at commas and the like, and before a second exercise."""
    text = re.sub(r"(?<![\d./])(\d{1,2}(?:/\d{1,2}){2,9})(?![\d/])", _one_by_one, text)
    text = re.sub(
        r"(?<![\d.])(\d{1,2}(?:,? \d{1,2}){1,8},? and \d{1,2}|\d{1,2}(?:, \d{1,2}){2,8})(?: reps)?(?![\d.]| ?[klm])",
        _one_by_one,
        text,
    )
    text = re.sub(r"\b(?:for|x)\s?(\d{1,2}(?:\s?[,/]\s?\d{1,2}){1,9})(?![\d.]|\s?[kl])", _one_by_one, text)
    text = re.sub(r"\b(\d+)((?:[,/]\s?\1\b)+)(?![\d.])", _repeated, text)
    text = re.sub(r"(\d),(\d{1,2})(?!\d)", r"\1.\2", text)
    text = re.sub(r"\+\s?(\d)", r" \1", text)
    for part in re.split(r"[\n;,&+]|(?<!\d)\.(?!\d)|\.(?=\s)|\band\b|\bthen\b|\balso\b", text):
        rest = part
        while (cut := _second(rest)) is not None:
            yield rest[:cut]
            rest = rest[cut:]
        yield rest


def _one_by_one(found: re.Match[str]) -> str:
    """`for 5,5,4` are two sets of five and one of four."""
    groups = groupby(re.findall(r"\d+", found[1]))
    return " " + ", ".join(f"{len(list(same))}x{reps}" for reps, same in groups)


def _repeated(found: re.Match[str]) -> str:
    """`5,5,5` are three sets of five."""
    return f"{1 + len(re.findall('[,/]', found[2]))}x{found[1]}"


def _second(part: str) -> int | None:
    """Where a second exercise begins that comes after the figures of the first."""
    every = "|".join([*EXERCISES.values(), *ACTIVITIES.values()])
    starts = [(m.start(), m.end()) for m in re.finditer(rf"(?<![a-z0-9])(?:{every})(?![a-z])", part)]
    for (_, end), (start, _) in pairwise(starts):
        if re.search(r"\d", part[end:start]):
            return start
    return None


def _figures(part: str) -> Lift:
    lift = Lift()
    if m := re.search(rf"{_N}\s?(km|k|kilometers?|kilometres?|miles?|mi)(?![a-z])", part):
        far = float(m[1].replace(",", "."))
        lift, part = replace(lift, km=round(far * 1.609, 1) if m[2].startswith("mi") else far), _without(part, m)
    if m := re.search(r"(?:(\d{1,2}):)?(\d{1,2}):(\d\d)(?!\d)", part):
        seconds = int(m[1] or 0) * 3600 + int(m[2]) * 60 + int(m[3])
        lift, part = replace(lift, minutes=round(seconds / 60, 1)), _without(part, m)
    if m := re.search(r"([1-9]\d{2,4})\s?(m|meters?|metres?)(?![a-z])", part):
        lift, part = replace(lift, km=float(m[1]) / 1000), _without(part, m)
    if m := re.search(rf"{_N}\s?-?(hours?|hrs?|h)(?![a-z])", part):
        lift, part = replace(lift, minutes=float(m[1]) * 60), _without(part, m)
    if m := re.search(rf"{_N}\s?-?(minutes?|mins?|min|m)(?![a-z])", part):
        lift, part = replace(lift, minutes=(lift.minutes or 0) + float(m[1])), _without(part, m)
    if m := re.search(rf"{_N}\s?-?(seconds?|secs?|s)(?![a-z])", part) if exercise(part) in ACTIVITIES else None:
        lift, part = replace(lift, minutes=(lift.minutes or 0) + round(float(m[1]) / 60, 2)), _without(part, m)
    if m := re.search(rf"(?<![a-wyz0-9.]){_N}\s?{_KG_LB}(?![a-z])", part):
        lift = replace(lift, weight=float(m[1]), unit="kg" if m[2].startswith("k") else "lb")
        part = _without(part, m)
    elif has(part, r"body ?-?weight|no weight|unweighted"):
        lift = replace(lift, weight=0.0)
    return _counted(lift, part)


def _counted(lift: Lift, part: str) -> Lift:
    """Sets, repetitions and a bare weight, from what is left of the text."""
    if exercise(part) in ACTIVITIES:
        alone = re.search(rf"(?<![\d.x:]){_N}(?![\d.x:%]|\s?[a-z])", part)
        return replace(lift, minutes=float(alone[1])) if alone and not (lift.minutes or lift.km) else lift
    part = re.sub(r"(?<![\d.])([1-9]) (\d{1,2}) (\d{2,3}(?:\.\d)?)(?![\d.])", r"\1x\2x\3", part)  # bench 3 5 80
    for notation in REPS_FIRST:
        part = re.sub(notation, r"\2x\1", part)
    times = r"\s?(?:x|\*|by)\s?"
    if m := re.search(rf"{_N}{times}{_N}(?:{times}{_N})?", part):
        one, two, three = float(m[1]), float(m[2]), float(m[3]) if m[3] else None
        part = _without(part, m)
        if three is not None and one > 20:  # 100 x 5 x 3: weight, repetitions, sets
            return replace(lift, weight=one, reps=int(two), sets=int(three))
        if one > 20 and lift.weight is None:  # 225 x 5
            return replace(lift, weight=one, reps=int(two), sets=1)
        lift = replace(lift, sets=int(one), reps=int(two), weight=lift.weight if three is None else three)
    elif m := re.search(r"(\d+) ?(?:sets?|rounds?)(?: of| with| at| for| x|,)? ?(\d+)(?! ?sets?)(?: ?reps?)?", part):
        lift, part = replace(lift, sets=int(m[1]), reps=int(m[2])), _without(part, m)
    elif m := re.search(TIMES, part):
        unloaded = lift.weight is None and "squats" in m[0] and not re.search("goblet|front|back", m[0])
        lift = replace(lift, reps=int(m[1]), sets=int(m[2]) if m[2] else lift.sets)
        lift, part = replace(lift, weight=0.0 if unloaded else lift.weight), _without(part, m)
    else:
        if m := re.search(r"(\d+) ?(?:sets?|rounds?)|sets?(?: was| were|:| ?=) ?(\d+)", part):
            lift, part = replace(lift, sets=int(m[1] or m[2])), _without(part, m)
        if m := re.search(
            rf"(\d+) ?(?:reps?|times|repetitions)|(?:for|x|reps?(?: was| were|:)?) ?(\d+)(?! (?:{NO_REPS}))", part
        ):
            lift = replace(lift, reps=int(m[1] or m[2]))
            part = _without(part, m)
    if lift.weight is None and (m := _alone(part, sure=bool(lift.sets or lift.reps))):
        lift = _bare(lift, part, float(m[1]))
    return lift


def _alone(part: str, sure: bool) -> re.Match[str] | None:
    """A number without a word; in a text that is not `sure` to be figures, not just after a word that nobody knows."""
    for found in re.finditer(rf"(?<![\w.]){_N}(?![\w.])", part):
        before = re.findall(r"[a-z']+", re.sub("|".join(EXERCISES.values()), " ", part[: found.start()]))
        if sure or not before or before[-1] in BEFORE_FIGURES:
            return found
    return None


BEFORE_FIGURES: Final = (
    "at with of for was were is it that about around maybe just only roughly to did x used weight log logged lifted by"
    " today and then my the a an no oh hm hmm um well so actually sorry mean meant make be been set sets reps"
    " press on up"
).split()
REPS_FIRST: Final = (
    r"(\d+) ?(?:reps?|repetitions)(?:,| and| for| in)? ?(?:x|\*|by)? ?(\d+)(?: ?(?:sets?|rounds?|times))(?![a-z])",
    r"(\d+) ?(?:reps?|repetitions) ?(?:x|\*|by) ?(\d+)(?![\d.])",
    r"(?:^|(?<=[a-z:,@]))\s*x ?(\d+) ?x ?(\d+)(?![\d.])",
)
"""`5 reps x 3`, `5 reps, 3 sets`, `60 kg x5 x3`: three sets of five."""
TIMES: Final = (
    r"(\d+) (?:[a-z]+ )?(?:squats|lunges|swings|thrusts|raises|presses|curls|rows|deadlifts|cleans)"
    r"(?: x ?(\d+))?(?![a-z])"
)
"""`20 squats` are repetitions; `squat 20` is not."""
NO_REPS: Final = "sets?|min|h|years?|months?|weeks?|days?"
BODY_WEIGHT: Final = ("Push-up", "Pull-up", "Sit-up", "Burpee", "Dip", "Lunge")
"""Done without a weight unless one is named."""


def _bare(lift: Lift, part: str, value: float) -> Lift:
    """A number without a word: repetitions of a push-up, minutes of a run, kilograms of anything else."""
    named = exercise(part)
    if named in BODY_WEIGHT and lift.reps is None:
        return replace(lift, reps=int(value), weight=0.0)
    return replace(lift, weight=value)


def _without(part: str, found: re.Match[str]) -> str:
    return f"{part[: found.start()]} {part[found.end() :]}"


def _merged(first: Lift, more: Lift) -> Lift:
    def pick(name: str) -> object:
        value = getattr(first, name)
        return getattr(more, name) if value is None else value

    return Lift(first.exercise, *(pick(n) for n in ("sets", "reps", "weight", "unit", "minutes", "km")))  # type: ignore[arg-type]  # same fields


# --------------------------------------------------------------------------- when

_SHORT: Final[dict[Day, str]] = {day: rf"{day.lower()}s?|{day[:3].lower()}" for day in WEEK} | {
    "Tuesday": "tuesdays?|tues?",
    "Wednesday": "wednesdays?|weds?",
    "Thursday": "thursdays?|thurs?|thu",
}

DAY_NAMES: Final = "|".join(_SHORT.values())
_DAY: Final = "(?:" + "|".join([DAY_NAMES, r"(?:the )?week ?-?ends?", r"week ?days?"]) + ")"
_DAYS: Final = rf"{_DAY}(?:(?:,| or| and|,? nor)? {_DAY})*"
RULED_OUT: Final = (
    rf"\b(?:except|but not|but|than|not on|not|no|no more|instead of|rather than|without|skip|drop|remove|cancel|lose"
    rf"|never on|busy|busy on|free from|(?:work|working|away|travel\w*|football|around(?: \w+){{0,3}}?) (?:on|every)"
    rf"|around) {_DAYS}"
    rf"|(?:can't|cannot|can not|won't|don't|do not|never|no longer|unable to)(?: \w+)?"
    rf" (?:do|make|train|manage|work|exercise|go|come|have|want|like)(?: it| out| to train| time)*(?: on| for)? {_DAYS}"
    rf"|{_DAYS} (?:any ?more|is no good|are no good|(?:is|are|got|gets) (?:too )?(?:busy|taken|impossible|out|bad|off"
    rf"|cancell?ed)"
    rf"|(?:is|are) (?:not|no longer)|no longer|do ?n'?t|do not|does ?n'?t|does not|wo ?n'?t|will not|not)\b"
    rf"|\b(?:make |have |keep |leave )?{_DAYS} (?:as )?(?:an? )?(?:rest|off|free)\b"
)


def days(text: str) -> tuple[Day, ...]:
    """The days that a text names, or sensible ones for how many it says; without those that it rules out."""
    text = digits(text).replace("mwf", "mon wed fri").replace("tth", "tue thu")
    out, rest = not_days(text), _ruled_out(text, " ")
    found = _span(rest) or _named_days(rest) or SPREAD.get(count(rest) or 0, ())
    return tuple(day for day in found if day not in out)


def days_guessed(text: str) -> bool:
    """Whether it says how many days, and not which."""
    text = digits(text).replace("mwf", "mon").replace("tth", "tue")
    return not (_span(text) or _named_days(text))


ONE_DAY: Final = (
    rf"(?:(?:make|keep|do|have|get) )?(?:the |my |on )?{_DAYS}(?:'?s)?(?: session| workout| day)?"
    r"(?: be| a bit| a little)* (?:shorter|longer|easier|harder|lighter|heavier|quicker|different|less|more"
    r"|only \d+ ?min\w*)"
    rf"|(?:shorter|longer|easier|harder|lighter|heavier|quicker|less|more)(?: \w+)? on (?:the )?{_DAYS}"
)
"""A wish about what is on a day, which is no wish for that day."""


def not_days(text: str) -> tuple[Day, ...]:
    """The days that a text rules out: `except sunday`, `thursdays don't work`."""
    return _named_days(" ".join(found[0] for found in re.finditer(RULED_OUT, text)))


def moved(text: str) -> tuple[tuple[Day, ...], tuple[Day, ...]] | None:
    """What a text moves from some days to others: `move wednesday to friday`, `friday instead of wednesday`."""
    for pattern, old, new in MOVED:
        if found := re.search(pattern, text):
            return _named_days(found[old]), _named_days(found[new])
    return None


_SESSION: Final = r"(?:'?s)?(?: session| workout| training| day)*"
MOVED: Final = (
    (
        rf"\b(?:move|moving|swap|switch|change|shift|resched\w+|push|trade|replace|postpone)"
        rf"(?: (?:my|the|it|session|workout|training|from))* ({_DAY}){_SESSION} ?"
        rf"(?:to|for|with|by|onto|until|till|->|>) (?:the )?({_DAY})",
        1,
        2,
    ),
    (rf"({_DAY}){_SESSION}(?: \w+)? (?:instead of|rather than|in place of|better than) (?:the |on )?({_DAY})", 2, 1),
    (rf"(?:instead of|rather than) (?:the |on )?({_DAY}),? ?(?:i'?d|i|do|take|make it|use|on)* ?({_DAY})", 1, 2),
    (rf"^({_DAY}) ?(?:->|>) ?({_DAY})$", 1, 2),
    (rf"({_DAY})\b.{{0,60}}\b(?:make it|do|take|use|have it on|go for|on) (?:the )?({_DAY}) instead", 1, 2),
)


def slots(text: str) -> dict[str, Any]:
    """What a text says that a plan goes by, as arguments of `plan_week`."""
    found: dict[str, Any] = {"goal": goal(text), "equipment": kit(_ruled_out(text, " "))}
    if (swap := moved(text)) is not None:
        found["not_on"], found["also_on"] = swap
    else:
        named = days(text)
        more = named and has(text, r"add|also|too|as well|plus|include|what about|how about")
        found["also_on" if more else "days"] = named
        found["not_on"] = () if named else not_days(text)
    return {name: value for name, value in found.items() if value}


def beyond(text: str, *patterns: str) -> bool:
    """Whether a text says more than these patterns, give or take small words."""
    rest = re.sub(rf"(?<![a-z])(?:{'|'.join(patterns)}|{SMALL_WORDS})(?![a-z])", " ", text)
    return re.search(r"[a-z]", rest) is not None


SMALL_WORDS: Final = (
    "i|i'm|i'd|my|me|a|an|the|and|or|but|not|no|any|every|all|some|to|on|at|in|for|of|with|only|just|please|can|could"
    "|want|would|like|prefer|have|got|get|be|is|are|it|that|days?|week|per|times?|best|both|also|too|except|maybe"
    "|mostly|usually|really|more|x"
)
DAY_WORDS: Final = rf"{_DAY}|weekends?|daily|everyday|to|through|-|{'|'.join(NUMBERS)}"


def _ruled_out(text: str, instead: str) -> str:
    return re.sub(RULED_OUT, instead, text)


def _named_days(text: str) -> tuple[Day, ...]:
    if has(text, r"every other day|every second day|alternate days"):
        return ("Monday", "Wednesday", "Friday", "Sunday")
    if has(text, r"every ?day|daily|all 7|all days|all of them|each day|any day"):
        return WEEK
    named = set(_all(text, _SHORT))
    named |= set(WEEK[:5]) if has(text, r"week ?days?|working days|work ?week") else set()
    named |= set(WEEK[5:]) if has(text, r"(the )?week ?-?ends?") else set()
    return tuple(day for day in WEEK if day in named)


def count(text: str) -> int | None:
    """How many days a week a text says."""
    text = re.sub(r"(?:next|coming|following|last|past|these|first) \d+ days", " ", digits(text))
    many = r"(?<![\d.])([1-7])\s?(?:-\s?[1-7]\s?)?"
    found = re.search(rf"{many}(?:x|times?|days?|sessions?|workouts?)\s?(?:a|per|/|each|every)?\s?(?:week|wk)\b", text)
    found = found or re.search(rf"{many}(?:times|days?|sessions|workouts)\b(?! (?:off|ago|of rest))", text)
    return int(found[1]) if found else None


def _span(text: str) -> tuple[Day, ...]:
    """`Monday to Thursday`, `mon-fri`."""
    for first in WEEK:
        for last in WEEK:
            if re.search(rf"\b(?:{_SHORT[first]})\s?(?:to|-|through|till|until)\s?(?:{_SHORT[last]})\b", text):
                start, end = WEEK.index(first), WEEK.index(last)
                return WEEK[start : end + 1] if start <= end else WEEK[: end + 1] + WEEK[start:]
    return ()


# --------------------------------------------------------------------------- who

GOALS: Final[dict[Goal, str]] = {
    "fat loss": r"(lose|losing|drop|shed|less|cut) (some |a bit of |a little |a few |my "
    r"|the )?(\d+ ?\w* ?)?(of )?(weight|fat|pounds|kilos|kgs?|lbs?|belly|inches)"
    r"|fat ?loss|weight ?loss|slim(mer|ming)?|leaner|lean( out)?|get lean|cutting|shredded|ripped|belly|love handles"
    r"|overweight|((i'?m|too|so) )+(fat|heavy)|jeans|dad bod|look (terrible|bad|awful)|flat (stomach|belly)"
    r"|fat burn(ing)?|burn (some )?fat|skinny|thinner",
    "muscle": r"huge|massive|get big|swell|muscles?|muscular|hypertrophy|bulk(ing)?( up)?|bigger|mass|size|gains?"
    r"|tone(d)?|toning|tone up|abs"
    r"|six ?-?pack|biceps|glutes|jacked|buff|swole|arms|put on (some )?weight|gain (some )?weight",
    "strength": r"strong(er)?|strength|powerlift(ing|er)?|lift (more|heavy|heavier)|heavier|1 ?rm|one rep max|power",
    "fitness": r"fit|fitter|(?<!planet )(?<!anytime )fitness|move more|desk job|mobile|stay active|summer body"
    r"|beach body|wedding|sit(ting)? (all day|at a desk)"
    r"|health(y|ier)?|in shape|into shape|shape|stamina|endurance|energy|cardio|active"
    r"|mobility|flexib(le|ility)|conditioning|(half )?marathon|5 ?k|10 ?k(?! steps)|triathlon|feel better|stay fit",
}
KIT: Final[dict[Equipment, str]] = {
    "gym": r"(full |the |a |my )?gym|(planet|anytime) fitness|membership|barbells?|rack|machines?|bench and bar"
    r"|garage gym|^everything$|(have|got|own|with) everything|power ?rack",
    "dumbbells": r"dumb ?bells?|kettle ?bells?|db|kb|free weights|weights",
    "bands": r"(resistance |elastic )?bands?",
    "body weight": r"pull ?-?up bar|just my body|(no|without( any)?|zero) ?(equipment|kit|gear|weights)|^none$"
    "|none of (it|them|that|these|those)"
    r"|(don'?t|do not) (have|own) (anything|any of (it|them|that|these|those))"
    r"|nothing|body ?-?weight|calisthenics"
    r"|at home|home|living room|hotel|park|outdoors|outside|callisthenics",
}
LEVELS: Final[dict[Level, str]] = {
    "beginner": r"beginner|newbie|noob|never (trained|lifted|worked out|been|done|exercised|set foot)|just start(ed"
    r"|ing)"
    r"|new to (this|lifting|training|the gym|exercise|working out)|out of shape|start(ing)? (out|from scratch)|unfit"
    r"|first time",
    "intermediate": r"intermediate|(about )?(a|1) year|some experience|on and off",
    "advanced": r"advanced|experienced|(many|[2-9]|1\d|20) years|for years|athlete|competitive",
}


def goals(text: str) -> tuple[Goal, ...]:
    """The goals that a text names."""
    return _all(text, GOALS)


def goal(text: str) -> Goal | None:
    return _first(text, GOALS)


def kit(text: str) -> tuple[Equipment, ...]:
    """The equipment that a text names."""
    named = _all(
        re.sub(
            r"(?:(?:do ?n'?t|do not|no longer|can't|cannot) (?:have|own|use|afford|go to)|no|not|without)"
            r" (?:a |an |any |the |my |much |real )*(?:equipment(?: (?:besides|except|but|other than).*)?|gym"
            r"|dumb ?bells?|kettle ?bells?|(?:resistance )?bands?|weights|barbells?"
            r"|machines?)",
            " nothing ",
            text,
        ),
        KIT,
    )
    return tuple(k for k in named if k != "body weight") or named


def level(text: str) -> Level | None:
    return _first(text, LEVELS)


# --------------------------------------------------------------------------- pain

BODY: Final[dict[str, str]] = {
    "knee": r"knees?|kneecap|acl|meniscus|mcl",
    "back": r"(lower |upper )?back|spine|disc|lumbar|sciatica",
    "shoulder": r"shoulders?|rotator( cuff)?|collar ?bone",
    "elbow": r"elbows?|forearms?",
    "wrist": r"wrists?|carpal tunnel",
    "hand": r"hands?|fingers?|thumbs?",
    "neck": r"neck",
    "hip": r"hips?|groin|pelvis",
    "hamstring": r"hamstrings?|hammy",
    "ankle": r"ankles?|calf|calves|shins?|achilles",
    "foot": r"foot|feet|toes?|heels?|plantar",
    "leg": r"legs?|thighs?|quads?",
    "arm": r"arms?|biceps?|triceps?",
}
PAIN: Final = (
    r"(can'?t|cannot|won'?t|doesn'?t|does not) (take|handle|tolerate) (the )?[a-z]+(s|ing)|"
    r"hurt(s|ing)?|pain(s|ful)?|injur(y|ies|ed)|ache(s|d)?|aching|achy|torn|tore|tear|sprain(ed)?|pulled|strain(ed)?"
    r"|broke(n)?|fractured?|bad|sore|soreness|tweak(ed)?|tendon[iae]+tis|swollen|stiff|twisted|niggl(e|es|ing)|surgery"
    r"|killing me|ouch|ow+|can'?t move|messed up|dodgy|bust(ed)?|problems?|issues?|acting up|arthritis|numb"
    r"|click(s|ing)|twing(e|es|ed|ing)|cramp(s|ed|ing)?|bothers?|bothering"
    r"|reconstruction|replacement|hurted|sciatica|acl|meniscus|achilles|plantar"
)
HEALED: Final = (
    r"(do ?n'?t|do not|no longer) have|(better|healed|fine|ok|okay|good|recovered|gone)( now| again)?"
    r"|(no longer|doesn't|does not|don't|stopped) hurt(s|ing)?( anymore)?|no more pain|not injured|no injur(y|ies)"
)


def injuries(text: str) -> tuple[str, ...]:
    """The parts of the body that a text says hurt."""
    return parts(text) if has(text, PAIN) else ()


def parts(text: str) -> tuple[str, ...]:
    """The parts of the body that a text names."""
    return _all(re.sub(rf"\b(?:{NO_PART})\b", " ", text), BODY)


NO_PART: Final = r"leg press|hip thrusts?|back squats?|shoulder press|(get|come|go|am|i'm) back|back (to|in|at|from)"


def healed(text: str) -> tuple[str, ...]:
    """The parts of the body that a text says are well again."""
    better = has(text, HEALED) and not has(text, r"not (better|fine|ok|okay|good|healed)|no better")
    return parts(text) if better else ()


# --------------------------------------------------------------------------- spelling

VOCABULARY: Final = (
    "workout workouts training exercise exercises bench press squat squats deadlift deadlifts overhead weight "
    "weights pounds kilograms kilos strength stronger muscle muscles fitness healthy equipment dumbbells dumbbell "
    "barbell bands schedule program routine monday tuesday wednesday thursday friday saturday sunday weekend "
    "weekdays forget delete profile progress history shoulder knees ankle elbow hamstring injury injured hurts "
    "beginner advanced intermediate hello thanks please remember change lunges plank running cycling swimming "
    "yoga week plan lose build"
).split()


def respelled(text: str) -> str:
    """The text with likely typing mistakes mended, as far as a coach's words go."""

    def mend(word: re.Match[str]) -> str:
        if len(word[0]) < 4 or word[0] in VOCABULARY:
            return word[0]
        return next(iter(get_close_matches(word[0], VOCABULARY, 1, 0.8)), word[0])

    return re.sub(r"[a-z]+", mend, text)
