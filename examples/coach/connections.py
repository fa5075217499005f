"""Tools that reach what users have elsewhere: a key of theirs unlocks Hevy, a sign-in unlocks Google Health.

They are made for services that may be the real ones or stand-ins, and know no difference. `when=` offers a tool to
the model as long as the user's key or account is there. Neither the model nor the log ever sees one.
"""

from __future__ import annotations

from typing import Final

import httpx2

from yourcall import Connect, Context, OAuthProvider, Rejected, Secret, Tool, ToolError, tool

from .health import SLEEP_SCOPE, GoogleHealth, NoAccess, spoken
from .hevy import Hevy, KeyRefused
from .services import Services
from .tools import Coach

HEVY, GOOGLE_HEALTH = "Hevy", "Google Health"
"""The services as people call them."""

WHERE: Final = "Hevy shows it under Settings, Developer; it is part of Hevy Pro."
WHERE_IN_THE_STAND_IN: Final = 'There is only a stand-in for Hevy here: make up a key that begins with "hevy-".'


def hevy_key(services: Services) -> Secret:
    """The user's own key, which Hevy itself has to accept while the card is still open."""
    hevy = Hevy(services.hevy)

    async def accepted(key: str) -> None:
        if not await hevy.accepts(key):
            raise Rejected("Hevy does not accept this key.")

    help = WHERE_IN_THE_STAND_IN if HEVY in services.stand_ins else WHERE
    return Secret("hevy", title=f"Your API key for {services.called(HEVY)}", help=help, check=accepted)


def google_account(services: Services) -> OAuthProvider:
    """The user's account at Google, for their sleep and nothing else."""
    return OAuthProvider(
        "google",
        issuer=services.issuer,
        client_id=services.client_id,
        client_secret=services.client_secret,
        scopes=["email", SLEEP_SCOPE],
        title=services.called(GOOGLE_HEALTH),
        parameters={"access_type": "offline", "prompt": "consent"},
    )


def hevy_tools(services: Services, key: Secret) -> tuple[Tool[Coach], ...]:
    """Set up Hevy, read from it, and take its key away again."""
    hevy = Hevy(services.hevy)

    @tool
    def connect_hevy(ctx: Context[Coach]) -> str:
        """Ask the user for their Hevy API key, also for a new one. Never ask for it in any other way."""
        ctx.ask(key)
        return "The user has set up Hevy access."

    @tool(when=key)
    async def get_hevy_workout_history(ctx: Context[Coach], weeks: int = 4) -> str:
        """The user's workouts of the last weeks, as they are kept at Hevy."""
        secret = await ctx.reveal(key)
        try:
            workouts = await hevy.workouts(secret.get_secret_value(), weeks)
        except KeyRefused:
            raise ToolError("Hevy does not accept the key any more. connect_hevy asks for a new one.") from None
        except (httpx2.HTTPError, ValueError):
            raise ToolError("Hevy does not answer as it should. Try again later.") from None
        span = "the last week" if weeks == 1 else f"the last {weeks} weeks"
        if not workouts:
            return f"Hevy has no workouts of {span}."
        return "\n".join([f"From Hevy, {span}:", *(f"- {workout}" for workout in workouts)])

    @tool(when=key)
    async def disconnect_hevy(ctx: Context[Coach]) -> str:
        """Remove the user's Hevy API key."""
        await ctx.forget(key)
        return "The Hevy key was removed. What was logged here stays."

    return connect_hevy, get_hevy_workout_history, disconnect_hevy


def health_tools(services: Services, google: OAuthProvider) -> tuple[Tool[Coach], ...]:
    """Connect Google Health, read the user's sleep, and give the access back."""
    health = GoogleHealth(services.health)

    @tool
    def connect_google_health(ctx: Context[Coach]) -> str:
        """Ask the user to connect Google Health."""
        account = ctx.ask(Connect(google))
        return f"The user has connected {GOOGLE_HEALTH} as {account.label}."

    @tool(when=google)
    async def get_sleep(ctx: Context[Coach], nights: int = 7) -> str:
        """The user's sleep of the last nights, from Google Health."""
        token = await ctx.token(google)
        try:
            slept = await health.sleep(token.get_secret_value(), nights)
        except NoAccess:
            raise ToolError("Google Health gives no access any more. connect_google_health asks for it.") from None
        except (httpx2.HTTPError, ValueError):
            raise ToolError("Google Health does not answer as it should. Try again later.") from None
        if not slept:
            return "Google Health knows of no sleep in these nights."
        average = spoken(sum(night.minutes for night in slept) // len(slept))
        return "\n".join([f"From Google Health, {average} on average:", *(f"- {night}" for night in slept)])

    @tool(when=google)
    async def disconnect_google_health(ctx: Context[Coach]) -> str:
        """Give the access to the user's Google Health account back."""
        await ctx.forget(google)
        return "Google Health was disconnected."

    return connect_google_health, get_sleep, disconnect_google_health
