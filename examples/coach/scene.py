"""What the stand-in sees when it is asked for a step, and what it may do: read a transcript, make a move."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from yourcall.entries import Status
from yourcall.log import AssistantMessage, Message, ToolMessage, UserMessage

from .words import has, plain

Args: TypeAlias = dict[str, Any]

# --------------------------------------------------------------------------- what it may do


@dataclass(frozen=True, slots=True)
class Move:
    """What to say, and which tools to call with it. `ends` says that a task is done: a next step is suggested."""

    text: str = ""
    calls: tuple[tuple[str, Args], ...] = ()
    ends: bool = False
    missed: bool = False
    """The message was not understood."""

    def plus(self, other: Move) -> Move:
        """Both, this one first."""
        text = "\n\n".join(part for part in (self.text, other.text) if part)
        return Move(text, self.calls + other.calls, self.ends or other.ends, other.missed)


def call(tool: str, text: str = "", **args: Any) -> Move:
    """Call a tool; arguments that are not known are left out."""
    return Move(text, ((tool, {name: value for name, value in args.items() if value not in (None, (), [])}),))


def choice(text: str, prompt: str, options: Iterable[tuple[str, str]]) -> Move:
    """Say something and put buttons under it. A label is something that the user could have typed."""
    buttons = [{"label": label} | ({"description": more} if more else {}) for label, more in options]
    return Move(text, (("ask_user", {"questions": [{"prompt": prompt, "options": buttons}]}),))


def menu(text: str) -> Move:
    """Say something and show what can be done here."""
    return choice(text, "What would you like to do?", MENU)


MENU: Final = (
    ("Plan my week", "A few clicks, then a plan"),
    ("Log a workout", 'Or type it: "bench 3x5 80 kg"'),
    ("Connect a service", "Hevy for workouts, Google Health for sleep"),
    ("What do you know about me?", "And forget it, if you like"),
)

# --------------------------------------------------------------------------- what it sees


@dataclass(frozen=True, slots=True)
class Outcome:
    """A tool call of the last step, with its result."""

    tool: str
    args: Args
    status: Status
    text: str

    @property
    def data(self) -> Args:
        """The result as a JSON object; an empty one if it is plain text."""
        return _object(self.text)

    @property
    def error(self) -> str | None:
        """What went wrong, in the result's own words; None if nothing did."""
        if self.data.get("ok") is False:
            return str(self.data.get("error", ""))
        return None if self.status == "ok" else self.text


@dataclass(frozen=True, slots=True)
class Scene:
    """The end of a transcript: what the stand-in said and called last, what came of it, what the user wrote since."""

    said: str = ""
    outcomes: tuple[Outcome, ...] = ()
    heard: str = ""
    passed: tuple[str, Args, str] | None = None
    """What was asked when the user said something else, and their words: the last step has done that meanwhile."""
    misses: int = 0
    """How many messages in a row were not understood before this one."""
    done: frozenset[str] = field(default_factory=frozenset)
    """The tools that have succeeded in this conversation."""
    logged: tuple[str, ...] = ()
    """The exercises that were logged in this conversation, the latest last."""
    told: str = ""
    """All that the stand-in has said in this conversation."""
    sent: tuple[str, ...] = ()
    """The names of the files that came with what the user wrote."""
    offered: frozenset[str] = field(default_factory=frozenset)
    """The tools that there are at this step: some come with what the user connects."""

    @classmethod
    def read(cls, transcript: Sequence[Message], offered: Iterable[str] = ()) -> Scene:
        steps = [n for n, message in enumerate(transcript) if isinstance(message, AssistantMessage)]
        last = transcript[steps[-1]] if steps else None
        step = last if isinstance(last, AssistantMessage) else AssistantMessage("")
        tail = transcript[steps[-1] + 1 :] if steps else transcript
        args = {call.id: _object(call.args) for call in step.calls}
        results = [message for message in tail if isinstance(message, ToolMessage)]
        texts = [message.text for message in transcript if isinstance(message, AssistantMessage)]
        return cls(
            said=step.text,
            outcomes=tuple(Outcome(r.tool, args.get(r.call_id, {}), r.status, r.text) for r in results),
            heard="\n".join(message.text for message in tail if isinstance(message, UserMessage)),
            sent=tuple(file.name for m in tail if isinstance(m, UserMessage) for file in m.files),
            passed=_passed(transcript[: steps[-1]], step) if steps else None,
            misses=_misses(texts),
            done=_done(transcript),
            logged=_logged(transcript),
            told="\n".join(texts),
            offered=frozenset(offered),
        )


MISSED: Final = ("I did not understand", "not one of the things I know", "went over my head")
"""By these words the stand-in recognises, later, that it had not understood."""


def _passed(before: Sequence[Message], step: AssistantMessage) -> tuple[str, Args, str] | None:
    """A question of the step before that the user talked past, and that this step did not take up."""
    place = max((n for n, message in enumerate(before) if isinstance(message, AssistantMessage)), default=-1)
    asked = before[place] if before else None
    if not isinstance(asked, AssistantMessage) or BACK in asked.text or BACK in step.text:
        return None
    past = {m.call_id for m in before if isinstance(m, ToolMessage) and m.status == "superseded"}
    tools = {call.tool for call in step.calls}
    said = "\n".join(m.text for m in before[place:] if isinstance(m, UserMessage))
    for call in asked.calls:
        if call.id in past and call.tool != "ask_user" and tools and tools <= BESIDE - {call.tool}:
            return call.tool, _object(call.args), said
    return None


BACK: Final = "Back to the question:"
BESIDE: Final = frozenset({
    "log_workout", "correct_workout", "undo_workout", "show_workouts", "show_plan", "show_profile", "update_profile",
    "save_progress_photo",
})  # fmt: skip
"""Tools that can be used in between."""


def _done(transcript: Sequence[Message]) -> frozenset[str]:
    """The tools that have succeeded, since everything was deleted if it was."""
    done: set[str] = set()
    for message in transcript:
        if isinstance(message, ToolMessage) and message.status == "ok":
            done.add(message.tool)
            if message.text.startswith("Everything was deleted"):
                done.clear()
    return frozenset(done)


def _logged(transcript: Sequence[Message]) -> tuple[str, ...]:
    logged: list[str] = []
    for message in transcript:
        if isinstance(message, ToolMessage) and (
            found := re.match(r"(Logged|Corrected)(?: for [^:]+)?: ([^,.(]+)", message.text)
        ):
            logged.append(found[2].strip())
    return tuple(logged)


def _misses(texts: Sequence[str]) -> int:
    for back, text in enumerate(reversed(texts)):
        if not any(sign in text for sign in MISSED):
            return back
    return len(texts)


def _object(text: str) -> Args:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


@dataclass(frozen=True, slots=True)
class Heard:
    """A message: as it was written, in plain lower case, and where in the conversation it came."""

    raw: str
    text: str
    scene: Scene = field(default_factory=Scene)

    @classmethod
    def of(cls, raw: str, scene: Scene) -> Heard:
        return cls(raw, plain(raw), scene)

    def respelled(self, text: str) -> Heard:
        return replace(self, text=text)

    @property
    def size(self) -> int:
        """How many words it has."""
        return len(self.text.split())

    @property
    def core(self) -> str:
        """Without the courtesies around it."""
        text = re.sub(rf"[,. ]+(?:{AFTERWORD})[.!]*$", "", self.text)
        return re.sub(rf"^[./!… ]*(?:(?:{COURTESY})[,.! ]+)*", "", text) or self.text

    @property
    def question(self) -> bool:
        return (
            self.text.endswith("?")
            or re.match(rf"(?:{QUESTION})(?:'[a-z]+)?(?![a-z'])", self.core.removeprefix("can't")) is not None
        )

    @property
    def wish(self) -> bool:
        """Whether it speaks of what is yet to come."""
        return has(self.text, WISH)

    def whole(self, pattern: str) -> bool:
        """Whether the pattern covers all of it, give or take courtesies and punctuation."""
        return any(re.fullmatch(rf"(?:{pattern})[.!?,) ]*", text) for text in (self.text, self.core))


COURTESY: Final = "hi|hello|hey|ok|okay|so|well|and|please|yes|yeah|no|coach|oh|um|uh|hm+|lol|haha|yo|sup|hiya"
AFTERWORD: Final = "please|pls|thanks|thank you|coach|then|lol|haha|though|tho|btw|mate|man"
QUESTION: Final = (
    r"how|what|what's|whats|why|which|when|where|who|can|could|should|is|are|does|will|would|am|do (i|you|we|they)"
    r"|did (i|you|we|they)"
)
WISH: Final = (
    r"want|wanna|rather|prefer|would like|i'?d like|goal|aim|hope|wish|will|going to|gonna|tomorrow|next (week"
    r"|month)|by summer"
    r"|target"
    r"|dream|need to|trying to|like to|able to|love to|prepare|train(ing)? for"
)

Rule: TypeAlias = Callable[[Heard], Move | None]
"""What a message means, as a move; None if the rule has nothing to say about it."""
