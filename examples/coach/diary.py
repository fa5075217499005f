"""Rules for what the user has done: logging it, correcting it, taking it back, looking at it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from . import telling, words
from .scene import Args, Heard, Move, call, choice
from .words import Lift, has

DID: Final = "What did you do?"
LIFTED: Final = ("Bench press", "Squat", "Deadlift", "Run")
MOVED: Final = ("Run", "Walk", "Ride", "Swim")

LOGGING: Final = (
    r"log|logged|record|track|add (a |an |my )?(workout|exercise|session|set|lift|run)|note down|did|done|finished"
    r"|completed|worked out|trained|lifted|benched|squatted|deadlifted|ran|jogged|swam|cycled|rode|walked|hiked"
    r"|i('ve| have)? just|just (got (back|done|home|in)|came|been)|been (to|for)|went (for|to)|played|practi[sc]ed"
)
NOT_DONE: Final = (
    r"nothing|never|i can|(did|have|has) ?n'?t|(did|have|has) not|you (said|did|have)|pull ?-?up bar|"
    r"more|less|rather|prefer|plan|plans|program|programme|routine|split|per week|a week|every|each day|days|create"
    r"|make|build|give me|can i"
    r"|should i|how (do|to|much|many)|years?|months?|weeks?"
)
SESSION: Final = r"worked out|trained|workout|session|gym|training|exercised|lifted"
REGION: Final = (
    r"(upper|lower|full|whole)( body)?|legs?|chest|back|arms?|shoulders?|abs|core|push|pull|cardio|body|glutes?|day|it"
    r"|everything|nothing|something|stuff|exercises?"
)


def log(heard: Heard) -> Move | None:
    """Something that was done, with or without all its figures."""
    if has(
        heard.text, r"(did|done|finished|completed) (it|all|everything|.*(session|workout|plan|training))"
    ) and not _found(heard.text):
        return which(Lift())
    if heard.wish or has(telling.undated(heard.text), NOT_DONE):
        return None
    verb = has(heard.text, LOGGING)
    if heard.question and not (verb and has(heard.text, r"log|record|track|add")):
        return None
    found = _found(telling.unremarked(heard.text))
    if any(lift.exercise for lift in found):
        sure = verb or heard.size <= 3 or any(lift.figures for lift in found)
        return _told(log_all([lift for lift in found if lift.exercise]), heard.text) if sure else None
    return _unnamed(heard, found[0] if found else Lift(), verb)


def done(text: str) -> Move | None:
    """What a text says beside something else that was done, as far as its figures tell."""
    text = words.plain(text)
    found = [lift for lift in _found(telling.unremarked(text)) if lift.exercise and _sure(lift)]
    return _told(log_all(found), text) if found else None


def _sure(lift: Lift) -> bool:
    return bool(lift.km or lift.minutes or (lift.sets and lift.reps))


def _told(move: Move, text: str) -> Move:
    """What was logged with its day, and what the user said of how it felt with what that follows."""
    day, note = telling.when(text), telling.remark(text)
    calls = [(tool, args | day) for tool, args in move.calls]
    if note:
        before = [lift for lift in _found(telling.unremarked(text[: text.index(note)])) if lift.exercise]
        place = min(max(len(before), 1), len(calls)) - 1
        calls[place] = (calls[place][0], calls[place][1] | {"note": note})
    vague = VAGUELY if not day and has(text, telling.VAGUE) else ""
    return replace(move, text=" ".join(filter(None, (vague, move.text))), calls=tuple(calls))


VAGUELY: Final = 'It goes into the log as of today: for another day, name it, such as "yesterday" or "on Monday".'


def _found(text: str) -> tuple[Lift, ...]:
    """The lifts of a text; a name that is spelled wrongly is mended before it is taken for a new one."""
    found = words.lifts(text)
    return found if any(lift.exercise for lift in found) else words.lifts(words.respelled(text)) or found


def _unnamed(heard: Heard, lift: Lift, verb: bool) -> Move | None:
    """Figures or a verb, but no exercise that a list knows."""
    if has(heard.text, r"have|own|got|per|max|only") and not verb:  # what there is, or may be, was not done
        return None
    telling = bool(lift.minutes or lift.km or lift.unit or (lift.sets and lift.reps))
    name = unlisted(heard.core)
    if name and not has(name.lower(), REGION) and (telling if not verb else lift.figures or heard.size <= 5):
        return log_all([replace(lift, exercise=name)])
    if verb and lift.minutes and has(heard.text, SESSION):
        return log_all([replace(lift, exercise="Workout")])
    if verb or (telling and heard.size <= 6 and not name):
        return which(lift)
    return None


def log_all(found: list[Lift]) -> Move:
    """Log these; the tool asks for what is missing."""
    calls = tuple(("log_workout", args(lift)) for lift in found)
    complete = all(lift.minutes or lift.km or (lift.sets and lift.reps and lift.weight is not None) for lift in found)
    return Move("" if complete else "Nice. I need a little more for the log:", calls)


def which(lift: Lift) -> Move:
    """Ask for the exercise with buttons; figures that are known already go into the labels."""
    told = spelled(lift)
    names = MOVED if lift.timed else LIFTED[: 3 if told else 4]
    lead = f"{told}, of which exercise?" if told else 'Good work. You can type it in one line, too: "bench 3x5 80 kg".'
    return choice(lead, DID, [(f"{name} {told}".strip(), "") for name in names])


def spelled(lift: Lift) -> str:
    """Figures in a form that `words.lifts` reads back."""
    parts = [f"{lift.sets}x{lift.reps}" if lift.sets and lift.reps else f"{lift.sets} sets" if lift.sets else ""]
    parts.append(f"{lift.weight:g} {lift.unit or ''}".strip() if lift.weight is not None else "")
    parts.append(f"{lift.minutes:g} min" if lift.minutes else "")
    parts.append(f"{lift.km:g} km" if lift.km else "")
    return " ".join(part for part in parts if part)


def unlisted(text: str) -> str | None:
    """The name of an exercise that no list knows: the one to three words that are left without the rest."""
    text = re.sub(r"\d+(?:[.,]\d+)?\s?\w*", " ", words.digits(text))
    text = re.sub(rf"(?<![a-z])(?:{LOGGING}|{FILLING})(?![a-z])", " ", text)
    if re.search(r"[^a-z\s'@:,.!-]", text):
        return None
    left = re.findall(r"[a-z][a-z'-]+", text)
    return " ".join(left).capitalize() if 1 <= len(left) <= 3 and not has(text, NO_EXERCISE) else None


FILLING: Final = (
    "i|a|an|the|my|me|some|for|of|at|with|today|yesterday|tonight|this|morning|workout|session|training|exercise|set"
    "|sets"
    "|reps|x|times|please|just|and|it|to|in|on|good|hard|great|gym|that|we|was|were|am|pm|evening|afternoon|at home"
    "|class|about|around|roughly|only|also|then|now|again|already|some|other|another"
)
NO_EXERCISE: Final = (
    "sorry|wait|oops|that|same|lot|bit|out|in|not|have|had|has|got|need|only|actually|mistake|testing|test|steps"
    "|slept|sleep|weigh|weighed|work|homework|dishes|shopping|ate|eat|drank"
    "|you|your|he|she|they|is|are|so|yes|no|well|what|why|how|first|second|third|last|one|better|worse|nothing"
    "|everything"
    "|all|wrong|done|finished|half|thing|things|script|alert|select|from|price|age|old|years|tall|cm|money|euro|dollars"
)


def args(lift: Lift) -> Args:
    """A lift as arguments of `log_workout`."""
    names = ("exercise", "sets", "reps", "weight", "unit", "minutes", "km")
    return {name: value for name in names if (value := getattr(lift, name)) is not None}


# --------------------------------------------------------------------------- second thoughts


def correct(heard: Heard) -> Move | None:
    """Second thoughts about what was logged, one clause after the other."""
    clauses = re.split(r"(?:[,;.]| and)+ (?:and )?(?=the |that )", heard.text)
    moves = [_corrected(heard.respelled(clause)) for clause in clauses]
    found = [move for move in moves if move]
    if len(moves) == 1 or len(found) < len(moves):
        return _corrected(heard)
    return Move("", tuple(one for move in found for one in move.calls))


def _corrected(heard: Heard) -> Move | None:
    """Another figure for what was logged before: `actually it was 85`, `the bench was 3 sets not one`."""
    logged = heard.scene.logged
    text = words.digits(telling.unremarked(heard.text))
    if not logged or (has(text, MORE) and not re.match(r"(?:and )?the (?:\w+ ){1,3}(?:was|were)\b", text)):
        return None
    found = next((lift for lift in words.lifts(_bare(text)) if lift.figures), Lift())
    named = words.exercise(re.sub(INSTEAD, " ", text))
    day = telling.when(heard.text)
    if day and not found.figures and has(text, r"was|were|did|meant|not today"):
        return call("correct_workout", which=named if named in logged else None, **day)
    whole = bool(found.sets and found.reps and found.weight is not None)
    restated = named in logged and has(text, "was|were|is|had") and found.figures and not (whole or heard.question)
    if not restated and not has(text, CORRECTION):
        return None
    if named is None and not found.figures:
        unit = words.unit(text)
        return call("correct_workout", unit=unit) if unit else None
    if has(text, EARLIER_ONE):
        name = (named or logged[-1]).lower()
        return Move(f'I can only correct the latest of an exercise. "Delete the {name}" takes that one back.')
    which = named if named in logged else _denied(text, logged)
    changes = args(replace(found, exercise=None if named == which else named))
    if (which or logged[-1]) in words.ACTIVITIES and "weight" in changes:
        changes["minutes"] = changes.pop("weight")
    if not found.sets or (found.sets == 1 and not re.search(r"\b1 ?(x|sets?)", text)):
        changes.pop("sets", None)
    return call("correct_workout", which=which, **changes) if changes else None


def _denied(text: str, logged: tuple[str, ...]) -> str | None:
    """The exercise that it was not: `that was squat, not bench`."""
    denied = words.exercise(" ".join(found[0] for found in re.finditer(INSTEAD, text)))
    return denied if denied in logged else None


def _bare(text: str) -> str:
    """Without the words that only say that it is a correction."""
    return re.sub(rf"(?<![a-z])(?:{CORRECTION})(?![a-z])", " ", re.sub(words.DENIED, " ", text))


INSTEAD: Final = r"\b(?:not|instead of|rather than) .*"
EARLIER_ONE: Final = (
    r"(the )?(first|second|third|earlier|other|previous) (one|bench|squat|deadlift|row|press|run|curl|set)s?"
)
MORE: Final = "also|too|then|another|more|again"


def corrected(text: str) -> str | None:
    """The exercise that is meant after all: `no, that was squat, not bench`."""
    if not has(text, CORRECTION):
        return None
    return words.exercise(re.sub(INSTEAD, " ", text))


CORRECTION: Final = (
    r"no|nope|wait|actually|sorry|i mean(t)?|i meant|(it|that) was|make (it|that|this)|should (be|have been)|(was"
    r"|were) (supposed|meant) to be|change (it"
    r"|that) to"
    r"|correct(ion)?"
    r"|not \d+\w*|instead|wrong|oops|fix"
)


def remark(heard: Heard) -> Move | None:
    """How it felt, said after it was logged."""
    said = telling.remark(heard.text)
    alone = re.sub(r"^(?:it|that|this|they|everything|all)(?: really)? ", "", heard.core).startswith(said)
    if not (heard.scene.logged and said and alone) or words.parts(heard.text):
        return None
    return call("correct_workout", note=said)


def undo(heard: Heard) -> Move | None:
    """Take back what was logged last."""
    if heard.whole(r"(undo|take (that|it) back|(delete|remove|undo|scratch|cancel) (that|it|this))( please)?"):
        return call("undo_workout")
    if has(heard.text, LAST):
        return call("undo_workout")
    named = words.exercise(heard.text)
    if named in heard.scene.logged and has(heard.core, REMOVED) and not has(heard.text, "plan"):
        return call("undo_workout", exercise=named)
    if heard.whole(WRONG):
        options = [("Undo the last workout", ""), ("Change my plan", ""), ("Change my unit", "")]
        return choice("", "What is wrong?", options)
    if heard.whole(r"oops|typo|whoops"):
        done = "log_workout" in heard.scene.done
        return Move('Say "undo" to take back the last workout.' if done else "No harm done.", ends=not done)
    return None


LAST: Final = (
    r"logged (that|it|this) twice|twice (in the log|logged)|(undo|take back|remove|delete|scratch|erase) (my |the "
    r"|this |that )?(last|latest|log|entry|set|workout|lift"
    r"|one|run)"
    r"|(edit|change|fix|correct) (my |the )?(last|latest) (one|log|entry|set|workout|lift|run)"
)
REMOVED: Final = r"^(please )?(undo|take back|remove|delete|scratch|erase|drop|forget)"
WRONG: Final = (
    r"(that|this|it)('s| is| was|s)? (all )?(wrong|a mistake|not right|incorrect|not (true|correct))|i made a mistake"
    r"|mistake|wrong"
)


# --------------------------------------------------------------------------- looking back


def history(heard: Heard) -> Move | None:
    """What was logged so far."""
    return call("show_workouts") if has(heard.text, PAST) and not has(heard.text, "plan") else None


PAST: Final = (
    r"history|progress|how am i doing|my (stats|statistics|workouts|logs?|lifts|records?|prs?|pbs?|numbers|results"
    r"|diary)"
    r"|my training log|personal (best|record)s?|what (have|did) i (do|done|lift|log|train)\w*|best lift|my (best"
    r"|heaviest|max|1 ?rm)|heaviest|one rep max"
    r"|(show|see|view|list) (me )?(the |all )?(workouts|logs?|lifts|entries)|last (workout|session|time)"
    r"|how(.s| is| does| are| do) my \w+( press)? (look|doing|going|coming).*|am i (getting|improving)"
    r"|how many workouts"
    r"|did i (train|lift|run|do|log|work ?out)|how much (did|have) i"
)
