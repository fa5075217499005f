"""When a workout was, and how it felt: pure functions from what a user says to arguments of `log_workout`."""

from __future__ import annotations

import re
from typing import Final

from .scene import Args
from .words import DAY_NAMES, days, digits, has

LONGEST: Final = 60
"""Characters of a remark."""


def when(text: str) -> Args:
    """The day, if it was not today: `days_ago`, or `on` for a weekday, so many days ago at least; empty for no day."""
    text = digits(text)
    if has(text, BEFORE):
        return {"days_ago": 2 if has(text, "before") else 1}
    if found := re.search(AGO, text):
        many = int(found[1]) if found[1].isdigit() else 2 if found[1].endswith(("couple", "of")) else 1
        return {"days_ago": many * (7 if found[2] == "week" else 1)}
    named = days(" ".join(re.findall(ON, text)))
    if len(named) != 1:
        return {}
    return {"on": named[0]} | ({"days_ago": 1} if re.search(rf"\blast {ON}", text) else {})


def undated(text: str) -> str:
    """The text without what says when it was."""
    return re.sub(rf"\b(?:{BEFORE}|{VAGUE})\b|{AGO}", " ", digits(text))


BEFORE: Final = r"(?:the )?day before yesterday|yesterday|last night"
AGO: Final = r"\b(\d+|an?|(?:a )?couple(?: of)?) (day|week)s? ago\b"
ON: Final = rf"\b(?:{DAY_NAMES})\b"
VAGUE: Final = r"last (week|month|weekend)|the other day|this week|(weeks|months) ago|recently|lately"
"""Not today, and no day either."""


def remark(text: str) -> str:
    """How it felt, in the user's own words."""
    found = re.search(FELT, text) or re.search(WAS, text)
    return next(filter(None, found.groups()), "").strip()[:LONGEST] if found else ""


def unremarked(text: str) -> str:
    """The text without that."""
    return re.sub(WAS, " ", re.sub(FELT, " ", text))


FELT: Final = (
    r"\b((?:really |just |kinda )?(?:felt|feels|feeling) [a-z'][a-z' ]{2,60}?)"
    r"(?=[,.;!?()\n]|$| (?:and|but|then|so|on|at|for|with|today|yesterday)\b)"
)
_VERY: Final = (
    r"(?:(?:so|really|very|pretty|quite|a bit|a little|kinda|kind of|super|too|way|absolutely|not|rather|fairly|all"
    r"|pure) )*"
)
_HOW: Final = (
    "rubbish|awful|terrible|horrible|garbage|shit|crap|bad|great|good|amazing|awesome|easy|hard|tough|heavy|light"
    "|brutal|exhausting|fine|nice|fun|tiring|killer|solid|strong|weak|slow|smooth|rough|knackering|knackered|meh"
    "|a struggle|a grind|grindy"
)
WAS: Final = (
    r"(?:,|-) ?((?:pretty|so|really|very|quite|super|a bit|a little|kinda) [a-z]{3,15})(?=[,.;!?)\n]|$)|"
    rf"(?:\b(?:it|that|this|they|which|everything|all) (?:was|were)|,|-|\(|\.) ?"
    rf"((?:it was |was )?{_VERY}(?:{_HOW}))(?=[,.;!?)\n]|$| (?:and|but|today|yesterday|though|tho)\b)\)?"
)
