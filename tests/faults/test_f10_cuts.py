"""F10: a stream that is cut is gone on with where it was: nothing is missing and nothing comes twice, word by word."""

from __future__ import annotations

from collections.abc import AsyncIterator

import anyio
import pytest

from tests.faults.cuts import agent, cut_everywhere
from tests.faults.report import Outcome
from tests.postgres import Postgres
from tests.redis import Redis
from tests.web.serving import serve
from yourcall import Agent, Engine
from yourcall.ports import Finished, ModelEvent, ModelRequest, TextDelta

pytestmark = pytest.mark.anyio

COUNT = 10


async def test_f10_one_process() -> None:
    """Cut after each of its frames, and resumed from the same process."""
    outcome = Outcome()
    async with serve(Engine(agent(), "sqlite://")) as served:
        await cut_everywhere(COUNT, [served], outcome)
    assert not outcome.violations
    assert outcome.count > 3 * COUNT
    assert outcome.facts > 4 * COUNT, "the words came one by one"


async def test_f10_two_replicas(postgres_server: Postgres, redis_server: Redis) -> None:
    """Each time resumed from the other replica, to which Redis brings what this one says."""
    outcome, store = Outcome(), postgres_server.empty()
    engines = [Engine(agent(), store, bus=redis_server.url) for _ in range(2)]
    async with serve(engines[0]) as one, serve(engines[1]) as other:
        await cut_everywhere(COUNT, [one, other], outcome)
    assert not outcome.violations
    assert outcome.count > 3 * COUNT
    assert outcome.facts > 4 * COUNT, "the words came one by one"


class Halting:
    """A model that says half, and the rest when it may."""

    def __init__(self) -> None:
        self.go = anyio.Event()

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        yield TextDelta("Half of it, ")
        await self.go.wait()
        yield TextDelta("and the rest.")
        yield Finished("Half of it, and the rest.")


async def test_f10_what_was_said_before_comes_at_once(postgres_server: Postgres, redis_server: Redis) -> None:
    """Whoever comes in the middle of a step need not wait for its end, on the replica that speaks and on the other."""
    model, store = Halting(), postgres_server.empty()
    engines = [Engine(Agent(model), store, bus=redis_server.url) for _ in range(2)]
    async with serve(engines[0]) as one, serve(engines[1]) as other:
        users = [await one.user("ada"), await other.user("ada")]
        conversation = await users[0].create()
        seq = await users[0].say(conversation, "Go")
        for user in users * 2:
            async with user.follow(conversation, after=seq) as reader:
                await reader.read(lambda frame: frame.event.get("delta") == "Half of it, ")
        async with users[1].follow(conversation, after=seq) as reader:
            await reader.read(lambda frame: frame.type == "TEXT_MESSAGE_CONTENT")
            model.go.set()
            frames = await reader.read()
        said = [frame.event["delta"] for frame in frames if frame.type == "TEXT_MESSAGE_CONTENT"]
        assert said == ["Half of it, ", "and the rest."]
