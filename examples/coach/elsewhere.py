"""Rules for what lies elsewhere: services to connect, read and disconnect, keys that were typed here, and photos."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from . import plans, words
from .scene import Heard, Move, call, choice
from .words import has

# --------------------------------------------------------------------------- keys


def key(heard: Heard) -> Move | None:
    """A key that was typed into the chat: it is not used, and the user is told where it belongs."""
    named = has(heard.text, KEY_WORDS)
    if has(heard.text, PASSWORD_IS) or (named and not has(heard.text, HEVY) and _like_a_key(heard.raw)):
        return Move(f"{NEVER_HERE} Whatever it opens, please change it there.", ends=True)
    if not (has(heard.text, KEY_IS) or _like_a_key(heard.raw)):
        return None
    return call(
        "connect_hevy",
        f"{NEVER_HERE} Best make a new one, and enter it on this card: from there it goes into the vault, past this "
        "chat and past the model.",
    )


NEVER_HERE: Final = (
    "Please never type a key or a password here: this chat is kept, and a model reads it. I made no use of it."
)
KEY_WORDS: Final = r"(api|access|secret)[ -]?(keys?|tokens?)|keys?|tokens?|secrets?|pass ?(word|code|phrase)"
KEY_IS: Final = r"(key|token)( is|:| ?=)? ?(?=\S*\d)\S{6,}"
PASSWORD_IS: Final = r"(my|the) ([a-z]+ )?(password|passcode|passphrase|pin)( is|:| ?=) ?\S+"


def _like_a_key(raw: str) -> bool:
    """Whether a word of it is what only a machine would write."""
    return any(re.fullmatch(MACHINE_MADE, word.strip("\"'`.,;:()<>"), re.IGNORECASE) for word in raw.split())


MACHINE_MADE: Final = r"hevy-\S{3,}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?=[^/]*\d)(?=[^/]*[a-z])[\w.+/=-]{20,}"


# --------------------------------------------------------------------------- services

HEVY: Final = r"hevy"
THERE: Final = r"in there|over there|according to (it|them)|(does|do) (it|they) (say|know|have)"
OTHER_GOOGLE: Final = (
    "calendars?|drive|docs?|sheets?|maps?|mail|photos?|keep|tasks?|home|meet|music|search|contacts|translate|play"
)
GOOGLE: Final = rf"google( (health|fit))?(?! *({OTHER_GOOGLE}))|health connect"
SLEEP: Final = (
    r"(how|what|when|did|do|have|has|was|show|tell|get|check|see|read|look|what'?s|how'?s)[^.!]* (sle(ep|pt)|nights?)"
    r"|my sleep|sleep (data|stats|history|times?|quality)|(last|the) nights?( sleep)?"
)
OFF: Final = (
    r"disconnect|dis-connect|unlink|remove|delete|forget|revoke|stop using|log ?out|sign ?out|no longer|not any ?more"
)
NEW: Final = r"new|another|other|change|replace|update|renew|wrong|expired"
ON: Final = r"connect|link|sync|import|add|set ?up|use|integrate|attach|log ?in|sign ?in|give you|hook( me)? up|pair"


def hevy(heard: Heard) -> Move | None:
    """Hevy: its key, and what it knows."""
    connected = "get_hevy_workout_history" in heard.scene.offered
    meant = connected and "Hevy" in heard.scene.said and has(heard.text, THERE)
    if not (meant or has(heard.text, HEVY)):
        return None
    if has(heard.text, OFF):
        return call("disconnect_hevy") if connected else Move("Hevy is not connected.", ends=True)
    if has(heard.text, KEY_WORDS) and has(heard.text, NEW):
        return call("connect_hevy", "Gladly: the new key takes the place of the old one.")
    if connected and has(heard.text, ON) and not has(heard.text, "train(ed|ing)?|workouts?|did i|history"):
        return Move('Hevy is connected already: "how did I train according to Hevy?", or "new Hevy key".')
    if connected:
        return call("get_hevy_workout_history", weeks=_weeks(heard.text))
    return call("connect_hevy", CONNECT_HEVY)


def google(heard: Heard) -> Move | None:
    """Google Health: the account, and the sleep in it."""
    named = has(heard.text, GOOGLE)
    if not named and not (has(heard.text, SLEEP) and has(heard.text, "sleep|slept|nights?") and _about_own(heard)):
        return None
    connected = "get_sleep" in heard.scene.offered
    if named and has(heard.text, OFF):
        return call("disconnect_google_health") if connected else Move("Google Health is not connected.", ends=True)
    if connected and has(heard.text, ON) and not has(heard.text, "sle(ep|pt)"):
        return Move('Google Health is connected already: ask "how did I sleep?".')
    if connected:
        nights = re.search(r"(\d+) (?:nights|days)", words.digits(heard.text))
        only = "Of that I see only your sleep:" if has(heard.text, BEYOND_SLEEP) else ""
        return call("get_sleep", only, nights=min(int(nights[1]), 25) if nights else None)
    return call("connect_google_health", CONNECT_GOOGLE)


BEYOND_SLEEP: Final = "steps?|heart rate|pulse|calories|weight|workouts?"


def _about_own(heard: Heard) -> bool:
    """Whether it asks how the user slept, and not what sleep is good for."""
    if heard.whole(r"(my )?sleep( data| stats)?|last nights?"):
        return True
    return has(heard.text, "i|i've|my|me") and not has(heard.text, SLEEP_AT_ALL)


SLEEP_AT_ALL: Final = r"need|should|important|improve|tips?|can'?t|cannot|how (to|can|do) (i )?(sleep|get)"


def _weeks(text: str) -> int | None:
    found = re.search(r"(?:(\d+)|last|past|this) (week|month|year)s?", words.digits(text))
    return min(int(found[1] or 1) * {"week": 1, "month": 4, "year": 52}[found[2]], 52) if found else None


CONNECT_HEVY: Final = "For that Hevy has to know that you allow it. Enter your key on this card, never in the chat:"
CONNECT_GOOGLE: Final = "Your sleep is at Google Health. You sign in there, on a page of theirs, not here:"


def services(heard: Heard) -> Move | None:
    """What can be connected at all."""
    if not (heard.whole(CONNECTABLE) or has(heard.text, r"(connect|link|sync) (a |another |any )?(service|app)s?")):
        return None
    return choice(
        "I can read your workouts at Hevy and your sleep at Google Health, if you let me.",
        "What shall I connect?",
        [("Connect Hevy", "With a key that you have from Hevy"), ("Connect Google Health", "You sign in at Google")],
    )


CONNECTABLE: Final = (
    r"((what|which|where|how) .*)?(connect|integrations?|sync|services)( (with|to|me|it|something|a service|you))*"
    r"( can| do| could)?( you| i)?( connect| have| use| support)?( to| with)?"
)

# --------------------------------------------------------------------------- photos


def photo(heard: Heard) -> Move | None:
    """A photo of the user's progress: taken and kept, but not shown and not judged."""
    if not has(heard.text, PHOTO) or has(heard.text, "of an?"):
        return None
    if words.exercise(heard.text) or has(heard.text, "form|technique|posture"):
        return Move(NOT_JUDGED, ends=True)
    if has(heard.text, "delete|remove|forget|erase"):
        return Move('I can only forget everything at once: "forget me" removes your photos, too.')
    if has(heard.text, r"how many|(show|see|view|list|where)( me)?( are| is)?( all)?( of)? (my|the)"):
        return call("show_profile", "I cannot show photos here, but I can say what there is.")
    return call("save_progress_photo", "A photo it is. Choose one on this card; I keep it, and do not judge it.")


def attached(names: Sequence[str]) -> Move:
    """Files that came with a message: a stand-in does not look into them."""
    listed = plans.listed(names)
    return Move(
        f"I have {listed}, but a rule-based stand-in cannot look at what is in a file. A progress photo I can keep: "
        'say "save a photo" and choose it there.'
    )


NOT_JUDGED: Final = (
    "I cannot judge form from a picture, and a wrong cue would do harm: a trainer, or a video by one, shows it better. "
    'What I can do with a photo is keep it, to show your progress: say "save a photo".'
)
PHOTO: Final = r"photos?|pictures?|pics?|selfies?|snapshots?|progress shots?"
