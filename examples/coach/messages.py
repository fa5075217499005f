"""What a message means to the stand-in: rules, tried in order; the first that has something to say is it.

A button's label is a message like any other, so that clicking and typing lead to the same place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from . import diary, elsewhere, wishes, words
from .scene import MISSED, Heard, Move, Rule, Scene, menu
from .topics import (
    ABOUT,
    ASIDE,
    CAREFUL,
    FOOD,
    ME,
    OPINIONS,
    SCRIPTS,
    SMALL,
    TONGUES,
    TRAINING,
    URGENT,
    Topic,
)
from .words import has

LONG: Final = 400
"""Characters from which on a message is a paste, not a sentence."""


def understand(raw: str, scene: Scene) -> Move:
    """The answer to a message, or an honest word that it was not understood."""
    heard = Heard.of(raw, scene)
    if move := _first(RULES, heard):
        return _with_workouts(move, heard)
    mended = words.respelled(heard.text)
    if mended != heard.text and (move := _first(RULES, heard.respelled(mended))):
        return move
    done = _with_workouts(Move(), heard)
    return done if done.calls else missed(scene)


def _with_workouts(move: Move, heard: Heard) -> Move:
    """What was done is not lost because something else was said along with it."""
    if not {tool for tool, _ in move.calls} <= BESIDE_WORKOUTS:
        return move
    sentences = (
        Heard.of(sentence, heard.scene) for sentence in re.findall(r"[^.!?\n]+(?:\.\d[^.!?\n]*)*[.!?]?", heard.raw)
    )
    told = " ".join(one.raw for one in sentences if not (one.question or one.wish))
    done = diary.done(told)
    return move.plus(done) if done else move


BESIDE_WORKOUTS: Final = frozenset({"update_profile", "plan_week", "show_plan", "show_profile", "weight_unit"})


def _first(rules: Iterable[Rule], heard: Heard) -> Move | None:
    return next((move for rule in rules if (move := rule(heard))), None)


def missed(scene: Scene) -> Move:
    """Not understood: say so, say why, and show the way."""
    lines = (
        f"{MISSED[0]} that. {ABOUT} Try one of these, or type it in your own words:",
        f"That is {MISSED[1]}, sorry: I go by fixed rules, there is no model behind them. These I can do:",
        f"That {MISSED[2]}, too. Short sentences about training work best, and buttons always do:",
    )
    move = menu(lines[min(scene.misses, 2)])
    return Move(move.text, move.calls, missed=True)


def topics(group: tuple[Topic, ...]) -> Rule:
    """A rule from a table of topics."""

    def rule(heard: Heard) -> Move | None:
        for topic in group:
            if heard.whole(topic.pattern) or (not topic.whole and has(heard.text, topic.pattern)):
                return menu(topic.text) if topic.then == "menu" else Move(topic.text, ends=topic.then == "next")
        return None

    return rule


def aside(heard: Heard) -> Move | None:
    """Facts that a plan does not go by, unless a goal comes with them."""
    return None if words.goal(heard.text) else topics(ASIDE)(heard)


def eating(heard: Heard) -> Move | None:
    """Food alone: a training plan is no answer to it. What else a message asks for is done, with a word on food."""
    if not has(heard.text, FOOD[0].pattern):
        return None
    for part in re.split(r"[,.;!?\n]|(?<![a-z])(?:and|but|also)(?![a-z])", heard.text):
        if not has(part, FOOD[0].pattern) and (words.slots(part) or has(part, wishes.PLANNING)):
            return None
    return topics(FOOD)(heard)


def keep(heard: Heard) -> Move | None:
    """A wish to keep something: what no tool keeps is not said to be kept."""
    found = re.search(rf"(?<![a-z])(?:{KEEP})(?![a-z]) (?P<what>.+)", heard.text)
    what = found["what"] if found else ""
    if not what or words.slots(what) or words.unit(what) or words.level(what) or words.lifts(what):
        return None
    return Move(f"I have not kept that: {REMEMBERED}", ends=True)


KEEP: Final = (
    r"(remember|memori[sz]e|keep in mind|bear in mind|don'?t forget|note( down)?|make a note|take note"
    r"|write (it |that )?down|save|store|for the record)(,| that| this| of| :)*"
)
REMEMBERED: Final = (
    "all I can remember is your unit, goal, days, equipment, experience, what hurts, your workouts and progress photos."
)


def about_training(heard: Heard) -> Move | None:
    """Questions about training; a rest day that is named is a wish for the plan."""
    return None if words.not_days(heard.text) else topics(TRAINING)(heard)


# --------------------------------------------------------------------------- rules about the form of a message


def empty(heard: Heard) -> Move | None:
    """Nothing but punctuation; a lone question mark asks for help, and some faces say something."""
    if re.search(r"[:;]-?[)dp]|<3", heard.text):
        return Move("Good.", ends=True)
    if re.search(r"\w", heard.text) or has(heard.text, r"[👋👍💪🙏😀🙂😊🎉❤👌?]+"):
        return None
    return missed(heard.scene)


def pasted(heard: Heard) -> Move | None:
    """A long text: a training diary is logged line by line, anything else is not guessed at."""
    lines = heard.text.splitlines()
    if len(heard.text) < LONG and len(lines) < 4:
        return None
    found = [lift for line in lines for lift in words.lifts(line) if lift.exercise and lift.figures]
    if len(lines) > 1 and len(found) * 2 >= len(lines):
        return diary.log_all(found[:10])
    if len(heard.text) < LONG:
        return None
    return menu(
        f"That is a long text ({len(heard.raw.split()):,} words), and I am a rule-based stand-in: I would only pick "
        "words out of it and get it wrong. Tell me in a sentence what you want, or take one of these:"
    )


def foreign(heard: Heard) -> Move | None:
    """Another language: say so in it, and offer buttons."""
    letters = len(re.findall(r"\w", heard.text))
    for pattern, sorry in SCRIPTS:
        if 2 * len(re.findall(pattern, heard.text)) > letters:
            return menu(f"{sorry} (I only understand English.) You can click one of these:")
    for pattern, sorry in TONGUES:
        hits = len(re.findall(rf"(?<!\w)(?:{pattern})(?!\w)", heard.text))
        if hits >= 2 or (hits and heard.size <= 3):
            return menu(f"{sorry} (I only understand English.) You can click one of these:")
    return None


def answer(heard: Heard) -> Move | None:
    """A bare yes or no, to what the stand-in offered last."""
    offered = next((said for offer, said in OFFERS if offer in heard.scene.said), None)
    text = re.sub(r"^(?:(?:lol|haha|oh|well|hm+|um|ah|so|hey|coach)[,.! ]+)+", "", heard.text)
    if offered and re.fullmatch(f"{YES}|{OK}", text):
        return understand(offered, Scene())
    if re.fullmatch(YES, text):
        return menu("Yes to which of these?")
    if re.fullmatch(NO, text):
        return Move('All right. Whenever you like: "plan my week", "log a workout", or "what can you do?".')
    return None


OFFERS: Final = (
    ("Shall I plan your week?", "plan my week"),
    ("Shall I plan the week with that?", "plan my week"),
)
_MORE: Final = r"([ ,]+(please|do|sure|do it|go ahead|now|thanks|thank you))*[.! ]*"
_YES: Final = (
    r"(yes|yeah|yep|yup|ya|sure|of course|please|do it|go|go ahead|let'?s do it|definitely|absolutely|y|why not|aye"
    r"|correct|sure thing|go for it|i do)"
)
_OK: Final = r"(ok|okay|k|fine|right|sounds good|good|great|cool|alright|all right|👍|👌)"
YES: Final = rf"({_OK}[ ,]+)?{_YES}([ ,!]+({_YES}|{_OK}))*{_MORE}"
OK: Final = rf"{_OK}([ ,]+{_OK})*{_MORE}"
_NO: Final = (
    r"(no|nope|nah|no thanks|no thank you|not now|later|not yet|n|never ?mind( (that|it))?|nvm|skip( (it|this"
    r"|that))?|cancel|stop"
    r"|(just )?forget (it|that|about it)|don'?t|no need|not really|leave it|drop it|nothing|none|abort|quit|exit"
    r"|go back|back"
    r"|maybe later|not today|no way|wait|not interested|i don'?t want (to|that|this))"
)
NO: Final = rf"{_NO}([ ,]+{_NO})*{_MORE}"

RULES: Final[tuple[Rule, ...]] = (
    elsewhere.key,
    topics(URGENT),
    empty,
    pasted,
    foreign,
    answer,
    topics(SMALL),
    diary.correct,
    diary.remark,
    diary.undo,
    wishes.forget,
    topics(CAREFUL),
    elsewhere.hevy,
    elsewhere.google,
    elsewhere.services,
    elsewhere.photo,
    wishes.pain,
    wishes.due,
    wishes.known,
    diary.history,
    wishes.unit,
    wishes.weight,
    topics(ME),
    keep,
    eating,
    wishes.unwanted,
    aside,
    diary.log,
    wishes.undecided,
    wishes.effort,
    about_training,
    wishes.one_day,
    wishes.plan,
    wishes.number,
    topics(OPINIONS),
    wishes.mentioned,
)
