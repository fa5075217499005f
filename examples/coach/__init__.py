"""A fitness coach: the example of tools that ask their user. `build` makes its engine."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from yourcall import Agent, Engine

from . import plans
from .connections import GOOGLE_HEALTH, HEVY, google_account, health_tools, hevy_key, hevy_tools
from .photos import save_progress_photo
from .profile import Profiles
from .services import Services
from .stand_in import PACE, StandIn
from .tools import TOOLS, Coach

__all__ = ["SUGGESTIONS", "TITLE", "Services", "build", "notice"]

TITLE: Final = "Coach"
SUGGESTIONS: Final = ("Plan my week", "bench 3x5 80 kg", "How did I sleep?", "What can you do?")
"""What an empty page offers to begin with."""
INSTRUCTIONS: Final = (
    "You are a friendly, careful fitness coach. Use the tools to plan weeks, to log workouts and to remember things; "
    "they ask the user for whatever is missing, so call them as soon as you know what is wanted. Never ask for a key "
    "or a password yourself; if the user types one, tell them not to: connect_hevy asks for it. You are no doctor: "
    "when something hurts, note it, be careful, and send the user to one if in doubt."
)


def build(
    folder: Path, services: Services, *, pace: float = PACE, model: str | None = None, public_url: str = ""
) -> Engine[Coach]:
    """The coach's engine, with all that it keeps in `folder`.

    `model` is the name of a provider's; without one the stand-in speaks, `pace` seconds between two pieces of text.
    `public_url` is where the page is: Google sends users back there.
    """
    folder.mkdir(parents=True, exist_ok=True)
    key, google = hevy_key(services), google_account(services)
    tools = [*TOOLS, save_progress_photo, *hevy_tools(services, key), *health_tools(services, google)]
    agent = Agent[Coach](model or StandIn(pace), tools=tools, instructions=INSTRUCTIONS)
    coach = Coach(Profiles(folder / "profiles.db"), {HEVY: key, GOOGLE_HEALTH: google})
    return Engine(agent, f"sqlite:///{folder / 'conversations.db'}", deps=coach, public_url=public_url)


def notice(services: Services, model: str | None = None) -> str | None:
    """What users must know: what here is not what it seems to be."""
    played = [*([] if model else ["the language model"]), *services.stand_ins]
    if not played:
        return None
    offline = "; all of it runs offline" if len(played) == 3 else ""
    return f'Stand-ins play {plans.listed(played)}{offline}. Try "Plan my week".'
