"""`deploy/nginx.conf`, with real nginx before two replicas."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.faults.checker import Facts
from tests.faults.load import users
from tests.faults.report import Outcome
from tests.faults.servers import replicas
from tests.faults.strict import StrictClient
from tests.faults.terms import stop
from tests.faults.test_f10_cuts import Halting
from tests.nginx import nginx
from tests.postgres import Postgres
from tests.redis import Redis
from tests.web.serving import PREFIX, Served, serve
from yourcall import Agent, Engine

pytestmark = pytest.mark.anyio


async def test_words_come_as_they_are_said(tmp_path: Path, postgres_server: Postgres, redis_server: Redis) -> None:
    """Through nginx: half of a text while the model has not said the rest; and a stream goes on after its
    Last-Event-ID, whichever replica has it."""
    model, store = Halting(), postgres_server.empty()
    engines = [Engine(Agent(model), store, bus=redis_server.url) for _ in range(2)]
    async with serve(engines[0]) as one, serve(engines[1]) as other:
        with nginx(tmp_path, (_port(one), _port(other))) as url:
            ada = await one.client(url + PREFIX, **{"X-User": "ada"})
            conversation = await ada.create()
            seq = await ada.say(conversation, "Go")
            for _ in range(2):
                async with ada.follow(conversation, after=seq) as reader:
                    await reader.read(lambda frame: frame.event.get("delta") == "Half of it, ")
            model.go.set()
            frames = await ada.events(conversation, after=seq)
            assert all(frame.id is None or frame.id > seq for frame in frames)
            assert frames[-1].type == "RUN_FINISHED"


async def test_a_replica_is_replaced_and_nobody_notices(
    tmp_path: Path, postgres_server: Postgres, redis_server: Redis
) -> None:
    """Each of two is stopped and started under load, behind nginx: no request fails, and no stream breaks."""
    outcome, facts, store, chance = Outcome(), Facts(), postgres_server.empty(), random.Random(1)
    with replicas(2, store, tmp_path, bus=redis_server.url) as servers:
        for server in servers:
            await server.start()
        with nginx(tmp_path, (servers[0].settings.port, servers[1].settings.port)) as url:
            async with users(4, [url], facts, chance.randrange(9), StrictClient):
                for server in servers:
                    await stop(server, outcome)
                    await server.start()
        outcome.check(store, facts, servers)
    assert not outcome.violations


def _port(served: Served) -> int:
    return int(served.url.rpartition(":")[2])
