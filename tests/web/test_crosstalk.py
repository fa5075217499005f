"""T16: many users at once, whose ids are all the same: each gets what is theirs."""

from __future__ import annotations

import json
from itertools import repeat
from typing import Any

import anyio
import pytest

from tests.web.agents import Pick
from tests.web.serving import User, serve
from yourcall import Agent, Context, Engine, Secret, tool
from yourcall.log import Transcript, UserMessage
from yourcall.testing import Said, ScriptedModel
from yourcall.vault.keyring import KeyRing, new_key

pytestmark = pytest.mark.anyio

USERS = 200
AT_ONCE = 20

key = Secret("key")


@tool
async def use(ctx: Context[Any], who: str) -> dict[str, str]:
    """Say everything that this call can know of its user."""
    value = (await ctx.reveal(key)).get_secret_value()
    picked = ctx.ask(Pick(f"Colour of {who}", "red", "blue"))
    seen = await ctx.once("see", lambda: [ctx.user, ctx.conversation_id, who])
    return {"user": ctx.user, "who": who, "picked": picked, "end": value[-3:], "seen": " ".join(seen)}


def calls(transcript: Transcript) -> Said:
    said = transcript[-1]
    return [("use", {"who": said.text}, "call")] if isinstance(said, UserMessage) else f"Done {len(transcript)}."


async def story(user: User, n: int) -> None:
    """A whole conversation, in which every name that a client or a model chooses is everybody's."""
    name, colour = f"user-{n:03}", ("red", "blue")[n % 2]
    await user.create(id="c")
    await user.say("c", name, id="m")
    await user.events("c")
    (asked,) = await user.open("c")
    entered = await user.post(f"/interrupts/{asked['id']}/secret", json={"value": f"secret-of-{n:03}"})
    assert entered.status_code == 200, entered.text
    await user.events("c")
    (asked,) = await user.open("c")
    assert asked["message"] == f"Colour of {name}"
    assert (await user.answer(asked["id"], {"pick": colour})).status_code == 200
    messages = (await user.settled("c"))["messages"]
    (result,) = [json.loads(one["content"]) for one in messages if one["role"] == "tool"]
    mine = {"user": name, "who": name, "picked": colour, "end": f"{n:03}", "seen": f"{name} c {name}"}
    assert result == mine


async def test_T16_two_hundred_users_with_the_same_ids() -> None:
    """Conversations, messages and calls are called alike, questions follow from these, and secrets have one name: no
    answer, secret, effect or event is another user's."""
    engine = Engine(Agent[Any](ScriptedModel(repeat(calls)), tools=[use]), "sqlite://", keys=KeyRing(new_key()))
    room = anyio.CapacityLimiter(AT_ONCE)
    async with serve(engine) as served:

        async def one(n: int) -> None:
            async with room:
                user = await served.user(f"user-{n:03}")
                await story(user, n)

        async with anyio.create_task_group() as tasks:
            for n in range(USERS):
                tasks.start_soon(one, n)
