"""A stand-in for a language model: rules that read the transcript, so that the coach runs offline and for free.

It keeps no state of its own, just as a model does not: the same transcript always gets the same step. Replace it
by a real model and the tools stay as they are.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from typing import Final

import anyio

from yourcall.entries import Call
from yourcall.ports import Finished, ModelEvent, ModelRequest, TextDelta

from .elsewhere import attached
from .messages import understand
from .outcomes import instead, report
from .scene import BACK, Move, Scene
from .wishes import undayed
from .words import plain, slots

PACE: Final = 0.012
"""Seconds between two pieces of text: fast enough not to wait for, slow enough to be seen streaming."""


class StandIn:
    """A `Model` made of rules. `pace` is in seconds between two pieces of text."""

    def __init__(self, pace: float = PACE) -> None:
        self._pace = pace

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """One step: its words a few at a time, then the calls."""
        offered = {spec.name for spec in request.tools}
        move = respond(Scene.read(request.transcript, offered))
        place = len(request.transcript)
        calls = [
            Call(f"call-{place}-{number}", tool, json.dumps(args, default=str))
            for number, (tool, args) in enumerate(move.calls, 1)
            if tool in offered
        ]
        for piece in _pieces(move.text):
            await anyio.sleep(self._pace)
            yield TextDelta(piece)
        yield Finished(move.text, tuple(calls))


def respond(scene: Scene) -> Move:
    """The stand-in's next step."""
    move = report(scene)
    if scene.sent:
        move = move.plus(attached(scene.sent))
    if scene.heard.strip() or not (scene.outcomes or scene.sent):
        heard = instead(scene) or understand(scene.heard, scene)
        move = move if scene.sent and heard.missed else move.plus(heard)
    if scene.passed and not (move.calls or scene.heard):
        tool, args, said = scene.passed
        if tool == "plan_week":
            found = slots(undayed(plain(said)))
            args |= {name: found[name] for name in ("days", "also_on", "not_on") if name in found}
        return Move(f"{move.text}\n\n{BACK}", ((tool, args),))
    if move.ends and not move.calls:
        move = move.plus(Move(suggestion(scene)))
    return move


def suggestion(scene: Scene) -> str:
    """Something to do next: what has not been done yet comes first, and nothing is suggested twice."""
    fresh = [text for tool, text in NEXT if tool not in scene.done]
    return next((text for text in (*fresh, *LATER) if text not in scene.told), "")


NEXT: Final = (
    ("plan_week", "Shall I plan your week?"),
    ("log_workout", 'When you have trained, tell me what you did, for example "bench 3x5 80 kg".'),
    ("show_workouts", 'Ask "how am I doing?" to see what you have logged.'),
    ("show_plan", 'Ask "what is on today?" to see what is due.'),
    ("get_sleep", 'Ask "how did I sleep?", and I look it up at Google Health.'),
    ("get_hevy_workout_history", 'Do you keep your workouts at Hevy? Say "connect Hevy".'),
    ("save_progress_photo", 'Say "save a progress photo", and in some weeks you will see a difference.'),
)
LATER: Final = (
    'Anything else? "What is on today?", for example, or "how am I doing?"',
    'I am here: tell me what you did, or ask "what can you do?".',
)


def _pieces(text: str) -> Iterator[str]:
    """The text in pieces of a word or two, with the white space where it was."""
    start = 0
    for end in range(len(text)):
        if text[end].isspace() and end - start >= 6:
            yield text[start:end]
            start = end
    if text[start:]:
        yield text[start:]
