"""A fitness coach: the example of tools that ask their user. `build` makes its engine."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from yourcall import Agent, Engine

from .profile import Profiles
from .stand_in import PACE, StandIn
from .tools import TOOLS, Coach

TITLE: Final = "Coach"
NOTICE: Final = (
    "A rule-based stand-in for a language model; it runs offline. It plans your training week, logs what you did and "
    'remembers it: try "Plan my week".'
)
SUGGESTIONS: Final = ("Plan my week", "bench 3x5 80 kg", "What can you do?")
"""What an empty page offers to begin with."""
INSTRUCTIONS: Final = (
    "You are a friendly, careful fitness coach. Use the tools to plan weeks, to log workouts and to remember things; "
    "they ask the user for whatever is missing, so call them as soon as you know what is wanted. You are no doctor: "
    "when something hurts, note it, be careful, and send the user to one if in doubt."
)


def build(folder: Path, *, pace: float = PACE, model: str | None = None) -> Engine[Coach]:
    """The coach's engine, with all that it keeps in `folder`.

    `model` is the name of a provider's; without one the stand-in speaks, `pace` seconds between two pieces of text.
    """
    folder.mkdir(parents=True, exist_ok=True)
    agent = Agent[Coach](model or StandIn(pace), tools=TOOLS, instructions=INSTRUCTIONS)
    return Engine(agent, store=f"sqlite:///{folder / 'conversations.db'}", deps=Coach(Profiles(folder / "profiles.db")))
