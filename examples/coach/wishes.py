"""Rules for what the user wants: a plan, another plan, a unit, to be shown or forgotten, care for what hurts."""

from __future__ import annotations

import re
from typing import Final

from . import words
from .diary import which
from .plans import AIMS, KITS, listed
from .scene import Args, Heard, Move, call, choice, menu
from .topics import FOOD, TECHNIQUE
from .words import Lift, has

CHANGED: Final = r"change|update|set|new|another|different|adjust|modify|redo|replan|re-plan|other|more|fewer|less|edit"

# --------------------------------------------------------------------------- a plan


def spelled_out(found: Args) -> str:
    """Slots in words."""
    parts = [AIMS[found["goal"]]] if "goal" in found else []
    parts += ["every day" if len(found["days"]) == 7 else listed(found["days"])] if "days" in found else []
    parts += [f"also on {listed(found['also_on'])}"] if "also_on" in found else []
    parts += [f"not on {listed(found['not_on'])}"] if "not_on" in found else []
    parts += [listed(KITS[name] for name in found["equipment"])] if "equipment" in found else []
    return "; ".join(parts)


def one_day(heard: Heard) -> Move | None:
    """Another thing on one day: the card of the plan is where that can be written."""
    if not re.search(rf"\b(?:{words.ONE_DAY})\b", heard.text) or words.slots(undayed(heard.text)):
        return None
    return Move(ON_THE_CARD, ends=True)


def undayed(text: str) -> str:
    """The text without wishes about what is on a day."""
    return re.sub(rf"\b(?:{words.ONE_DAY})\b", " ", text)


ON_THE_CARD: Final = (
    "What is on a day I cannot change by words: write it anew on the plan's card, before you save it, or do the first "
    "exercises and stop."
)


def plan(heard: Heard) -> Move | None:
    """Plan a week, with whatever the message says about it."""
    rest = undayed(heard.text)
    noted, heard = rest != heard.text, heard.respelled(rest)
    found = words.slots(heard.text)
    if heard.wish and "goal" not in found and (named := words.exercise(heard.text)):
        found["goal"] = "fitness" if named in words.ACTIVITIES else "strength"
    level = words.level(heard.text)
    proposed = re.match(r"(what|how) about|(can|could|shall|would) (we|i|you)|help", heard.core)
    asked = bool(found and proposed) and not words.exercise(heard.text)
    asked = (
        asked
        or has(words.digits(heard.text), PLANNING)
        or heard.whole(r"(a )?(work ?outs?|exercises?|training|sport|session)")
    )
    if heard.question and not (asked or heard.wish or "goal" in found):
        return None
    if level and not (found or asked):
        return call("update_profile", level=level)
    if not (asked or found):
        return None
    again = False if has(heard.text, CHANGED) and not found else None
    text = _lead(found)
    if "days" in found and words.days_guessed(heard.text):
        text = f"{text} {GUESSED}"
    if has(heard.text, SPORTS) and found.get("goal", "fitness") == "fitness":
        text = f"Running and other sports have no plans of their own here; this one is for all-round fitness. {text}"
    if has(heard.text, FOOD[0].pattern):
        text = f"{FOOD[0].text} {text}"
    if has(heard.text, r"kettle ?bells?|kb"):
        text = f"{text} A kettlebell does for a dumbbell here."
    text = f"{text} {ON_THE_CARD}" if noted else text
    return call("plan_week", text, **found, level=level, reuse=again)


SPORTS: Final = (
    r"marathon|\d+ ?k|triathlon|race|ironman|hyrox|football|soccer|tennis|basketball|climbing|boxing|surfing"
)


def _lead(found: Args) -> str:
    """What was understood: nothing of it is kept before there is a plan."""
    if not found:
        return "Gladly. A few clicks and you have a plan."
    return f"A plan, then: {spelled_out(found)}."


GUESSED: Final = "You said how many days, not which: if mine do not suit, name yours."


PLANNING: Final = (
    r"(sort|figure|work|straighten|map|lay|help|fix|get|organi[sz]e|structure|improve|arrange|set up"
    r"|put together|build)( me)?( out| up| with| on| in order)* (my|a|an|the|some|this) "
    r"(training|work ?outs?|gym|fitness|exercises?|lifting|(?:next )?\d+ days|week|weeks|sessions?)"
    r"( out| up| in order| sorted| going| together)*|"
    r"(gimme|give me) something|something for|what should i be doing|plan|plans|planning|program|programme|routine"
    r"|schedule|split|ppl|train me|coach me|get(ting)? started|(get"
    r"|got) going"
    r"|(give|make|build|create|write|design|suggest|recommend|find|get) (me )?(a |an |some |my )?(new )?(good )?"
    r"(workout|exercise|training|session)s?|start (training|working out|exercising|lifting|at the gym|again)"
    r"|(what|which) (exercises?|workouts?|training)|exercises? (for|to)|work ?outs? (for|plan)|what should i (do|train)"
    r"|i (want|need|have|would like|'d like|wanna) (to )?(train|work ?out|exercise|start|move|do sports?)"
    r"|let'?s (start|begin|go|train|work out|do this)|(change|set|update) (my |the )?(goal|days|equipment|schedule|kit)"
    r"|(more|fewer|less|other|different) (days|sessions|equipment|goal)|(my )?goals?|(need|want) (a )?workout"
    r"|first workout|begin|tell me what to do|what (would|do) you (recommend|suggest|advise)|recommend(ations?)?"
    r"|[a-z0-9]+ (minute )?workout"
)


def undecided(heard: Heard) -> Move | None:
    """The user leaves it to the coach; who is merely in doubt gets something to choose from."""
    if heard.whole(DOUBT):
        return menu("No hurry. Perhaps one of these?")
    if not (heard.whole(TRUST) or has(heard.text, LEFT_OPEN)):
        return None
    return call("plan_week", LEAD_DECIDED, **words.slots(heard.text), decide=True)


LEAD_DECIDED: Final = "No questions, then: what you leave open, I decide."
LEFT_OPEN: Final = (
    r"(skip|without|no|no more|no time for|enough|stop with)( all| any| the| your| these| those| of| asking| more)*"
    r" questions?"
    r"|(don'?t|do not|stop|quit|without) (ask|asking)( me)?( (any|so many|more|all|the|these))*( questions?| things?"
    r"| stuff| anything)?|(you|u) (choose|decide|pick)|surprise me|whatever you (think|like|want|say)|up to you"
    r"|your (choice|call|pick)|(use|take|with)( the| your| sensible)* defaults?|plan it for me|just plan( it)?"
    r"|(the )?defaults? (is|are) (fine|ok|okay|good)|(don'?t|do not) (want|like|wish|feel like|need)( to| any| be"
    r"| answer(ing)?| asked| your| all| these)* questions?|you tell me"
    r"|just (give|make|get) me (a|any|some) (plan|program|programme|routine)"
)
"""The user does not want to be asked."""
TRUST: Final = rf"(?:{LEFT_OPEN})(?: for me| please)*|whatever|random"
DOUBT: Final = (
    r"anything|i don'?t (know|care|mind)|idk|dunno|no idea|(i'?m )?not sure|no preference|doesn'?t matter|any"
    r"|don'?t care"
    r"|maybe|both|all of (it|them)|hard to say|everything|either"
)
UNDECIDED: Final = f"(?:{TRUST}|{DOUBT})"


def due(heard: Heard) -> Move | None:
    """The plan that there is, and what it says for today."""
    if heard.whole(AGAIN):
        return call("plan_week", reuse=True)
    if has(heard.text, CHANGED) or has(heard.text, "did|done|finished|completed|skipped|missed"):
        return None
    return call("show_plan") if has(heard.text, PLANNED) or heard.whole("today|tomorrow|tonight|next") else None


AGAIN: Final = r"again|repeat|same (again|as (always|before|usual|last (week|time)))|the usual"
PLANNED: Final = (
    r"what'?s first|where do i start|"
    r"(what'?s|whats|what is|what do i have|anything) (on |up |due |there )?(for |my )?(today|tomorrow|next|this week)"
    r"|(today|tomorrow)'?s (workout|session|training|plan)|what'?s the plan|what did you plan|is today an?"
    r"|what (i should|i have to|to) do|what (do|should|shall|can|must) i (do|train|have) on|what (do|should|shall"
    r"|can|must) i (do|train|have) (today|tomorrow|now|next|this week|tonight)"
    r"|(show|see|view|read|repeat|open|give|tell|what'?s|what is|where is|where'?s|explain) (me )?(my|the) (current "
    r"|weekly "
    r"|training |workout )?(plan|week|schedule|program|programme|routine)|my (current |weekly )?plan\??$"
    r"|(workout|training|session|train|anything) (for )?(today|tomorrow|tonight)\??$|next (workout|session|training)"
)


def unwanted(heard: Heard) -> Move | None:
    """An exercise that the user does not want."""
    named = words.exercise(heard.text) or ("cardio" if has(heard.text, "cardio") else None)
    unclear = re.search(r"\d", heard.text) or has(heard.text, "was|were|did|meant")
    if not named or unclear or not has(heard.text, UNWANTED):
        return None
    return Move(f"{ON_THE_CARD_ONLY} {HURTS}", ends=True)


ON_THE_CARD_ONLY: Final = (
    "I cannot change single exercises by words, sorry: on the plan's card you can, in the text of each day."
)
HURTS: Final = 'If it is because something hurts, say where, for example "my knee hurts".'
UNWANTED: Final = (
    r"less|fewer|more|add|"
    r"(don'?t|do not|can'?t|cannot|won'?t) (like|do|want|stand|love)|hate|dislike|no|replace|swap|substitute|without"
    r"|remove"
    r"|avoid|instead of|alternatives?|other than|boring|not a fan"
)


def effort(heard: Heard) -> Move | None:
    """The plan is too easy or too hard: that is a matter of level."""
    if not heard.whole(EFFORT):
        return None
    return choice(
        "How much a plan asks of you goes by your experience.",
        "How long have you been training?",
        [("I'm a beginner", ""), ("I have trained for about a year", ""), ("I have trained for many years", "")],
    )


EFFORT: Final = (
    r"(i want |can (you )?|please )?(make |give me )?(something |this |it |that |the plan |my plan |the workouts? )?"
    r"(is |it'?s |that'?s |was |are )?(way |much |a bit |far |all )?(too |even )?(easy|easier|hard|harder|difficult"
    r"|tough"
    r"|intense|much|heavy|light|lighter|simple|long|longer|short|shorter|many exercises|few exercises"
    r"|slow)( plan| week| version| workouts?| one)?( for me)?( right now| now| today)?"
    r"|(my )?(level|experience)|change my (level|experience)|challenge me|more (challenging|exercises|sets)"
    r"|fewer (exercises|sets)"
)


# --------------------------------------------------------------------------- units, numbers


def unit(heard: Heard) -> Move | None:
    """Kilograms or pounds: which to use, or one as the other."""
    kilos, pounds = r"kgs?|kilos?|kilograms?", r"lbs?|pounds?"
    value = r"(\d+(?:\.\d+)?)"
    either = f"{kilos}|{pounds}"
    if m := re.search(rf"{value} ?({either}) ?(?:in|to|into|as|is how many|=) ?(?:{either})", heard.text):
        return Move(_converted(float(m[1]), m[2].startswith("k")), ends=True)
    if m := re.search(rf"how many ({either}) (?:is|are|in|makes?) (?:an? )?{value}", heard.text):
        return Move(_converted(float(m[2]), not m[1].startswith("k")), ends=True)
    if has(heard.text, r"stones?"):
        return call("weight_unit", "Stones I cannot count in. These I can:")
    named = words.unit(heard.text)
    if has(heard.text, UNITS):
        return call("weight_unit", unit=named)
    about = bool(re.search(r"\d", words.digits(heard.text))) or words.exercise(heard.text) or heard.question
    if named and not about and heard.size <= 8:
        return call("weight_unit", unit=named)
    return None


UNITS: Final = (
    r"(which|what|change|switch|set|different|other|wrong|choose|ask|use)( the| my| to)?( weight)? units?"
    r"|units?( of measure\w*)?"
    r"|measurements?|kgs? or (lbs?|pounds?)|kilos? or pounds|(lbs?|pounds?) or (kgs?|kilos?)"
)


def _converted(value: float, kilos: bool) -> str:
    other = value * 2.20462 if kilos else value / 2.20462
    names = ("kg", "lb") if kilos else ("lb", "kg")
    return f"{value:g} {names[0]} is {other:.1f} {names[1]}."


def number(heard: Heard) -> Move | None:
    """A number that nobody asked for: say what it could be."""
    value = words.number(heard.text)
    if value is None or not re.search(r"\d", words.digits(heard.text)) or has(heard.text, "one$"):
        return None
    lift = next(iter(words.lifts(heard.text)), Lift(weight=value))
    if lift.weight is None or lift.unit:
        return which(lift)
    options = [(f"Log a lift at {value:g}", "The weight of an exercise")]
    if 1 <= value <= 7 and value == int(value):
        options.insert(0, (f"Train {value:g} day{'s' if value > 1 else ''} a week", "Plan a week with that"))
    return choice("", f"{value:g} of what?", [*options, ("Never mind", "")])


def weight(heard: Heard) -> Move | None:
    """The bare word, which could mean several things."""
    if not heard.whole(r"(my )?weights?|scales?"):
        return None
    options = [("I want to lose weight", ""), ("Log a workout", ""), ("Change my unit", "")]
    return choice("", "What about weight?", options)


def mentioned(heard: Heard) -> Move | None:
    """An exercise or a part of the body, and nothing that says what about it."""
    if named := words.exercise(heard.text):
        if heard.core.startswith("why"):
            return Move(WHY_THIS, ends=True)
        if heard.question:
            return Move(TECHNIQUE, ends=True)
        options = [(f"Log {named.lower()}", ""), ("Plan my week", ""), ("Never mind", "")]
        return choice("", f"What about {named.lower()}?", options)
    parts = words.parts(heard.text)
    if len(parts) != 1 or heard.wish or heard.size > 6:
        return None
    options = [(f"My {parts[0]} hurts", ""), (f"My {parts[0]} is better", ""), ("Never mind", "")]
    return choice("", f"What about your {parts[0]}?", options)


# --------------------------------------------------------------------------- what is known


WHY_THIS: Final = (
    "A session takes one exercise for each way to move, such as squatting, bending, pushing and pulling: the first "
    "that your equipment allows and nothing that hurts rules out."
)


def known(heard: Heard) -> Move | None:
    """What the coach knows about the user."""
    if has(heard.text, f"who (can|sees?|has|gets)|where|{CHANGED}"):
        return None
    return call("show_profile") if has(heard.text, KNOWN) else None


KNOWN: Final = (
    r"show me everything|"
    r"(what|how much|which things) (do|did|have) you (know|remember|store|have|saved?)( about me)?|about me"
    r"|my (profile|data|info|details|goal|equipment|level)\??$|who am i|know me"
    r"|(show|see|view|what'?s|what is|what are|whats) (me )?my (profile|data|info|details|goals?|equipment|days|level"
    r"|injur\w+|units?)|do you (remember|know) (me|my \w+)"
)


def forget(heard: Heard) -> Move | None:
    """Remove all that is known."""
    if words.parts(heard.text):  # an injury, not everything
        return None
    if has(heard.text, FORGET) and has(heard.text, "injur(y|ies)|pains?"):
        return Move('Say which one is over, for example "my knee is fine again".')
    return call("forget_profile") if has(heard.text, FORGET) else None


FORGET: Final = (
    r"forget (me|everything|all|what you know|my|about me)"
    r"|(delete|erase|remove|clear|wipe|reset) (me|everything|all|(all )?(of )?(my|the) (data|profile|account|info"
    r"|information"
    r"|history|workouts|everything|stuff|memory|plan|logs?|goal|details))"
)


# --------------------------------------------------------------------------- pain


def pain(heard: Heard) -> Move | None:
    """Something hurts, or is well again: noted, with care."""
    better = words.healed(heard.text)
    if not better and has(heard.text, r"forget|delete|remove|clear"):
        better = words.parts(heard.text)
    if not better and has(heard.text, PAINLESS):
        better = tuple(re.findall(r"loads the (\w+)\.", heard.scene.said))
        if not better:
            return Move("Good, then nothing needs sparing.", ends=True)
    if better:
        return call("update_profile", f"Good to hear about the {listed(better)}.", healed=better)
    parts = words.injuries(heard.text)
    if parts and has(heard.text, SORE) and not has(heard.text, ACUTE):
        return choice(
            "Soreness a day or two after training is normal and goes away by itself; pain is not.",
            "Which is it?",
            [("Just sore muscles", ""), (f"My {parts[0]} hurts", "Plans will leave it alone")],
        )
    if parts:
        sorry = (
            f"Sorry to hear about your {listed(parts)}. I am no doctor: if it is sharp, swollen, numb or does not go"
        )
        return call("update_profile", f"{sorry} away, please see one.", injuries=parts)
    if heard.whole(r"just sore( muscles)?"):
        return Move("Then it should pass in a day or two. Easy movement helps; rest is fine, too.", ends=True)
    if has(heard.text, r"hurts?|pain(ful)?|injur(y|ed|ies)|ache|aching|sore|soreness|doms|ouch|ow+") and not heard.wish:
        return choice(
            "Sorry to hear that. I am no doctor: if it is strong, new or does not go away, please see one.",
            "Which part should the plan leave alone?",
            [("My knee hurts", ""), ("My back hurts", ""), ("My shoulder hurts", ""), ("Just sore muscles", "")],
        )
    return None


PAINLESS: Final = (
    r"(does ?n'?t|do ?n'?t|not|no longer|stopped|nothing) hurt(s|ing)?|no pain|painless|no injur(y|ies)"
    r"|(not|never) injured|uninjured"
)
SORE: Final = "sore|soreness|stiff|stiffness|doms"
ACUTE: Final = "hurts?|pain(ful)?|injur(y|ed|ies)|torn|sprain(ed)?|broken?|swollen|surgery"
