"""Cases D, E, I and Q2 with two replicas: the tests of `tests/cases`, with each request at the other of two servers.

The two have an engine each, and share what replicas share, a database and a bus; and the model of the test, which
counts what it was asked. Left out is what looks into a server's memory, or stands on a store or bus of the test's own.
"""

from __future__ import annotations

import inspect
import itertools
import json
import re
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass
from types import ModuleType
from typing import Any

import httpx
import pytest

from tests.cases import test_d_races_http as d_races
from tests.cases import test_e_http as e_http
from tests.cases import test_i_streams as i_streams
from tests.cases import test_q_serialization as serialization
from tests.postgres import Postgres
from tests.redis import Redis
from tests.web import serving
from tests.web.serving import DEADLINE, Served, User
from yourcall import Agent, Engine, ask_user
from yourcall.entries import Entry, dump, load
from yourcall.store.postgres import PostgresStore
from yourcall.store.sqlite import SQLiteStore
from yourcall.testing import ScriptedModel, ScriptStep

pytestmark = pytest.mark.anyio

NAMES = re.compile(r"test_([DEI]\d+_|one_of_many_answers_wins)")
NOT_HERE = {
    "test_I1_without_comments_it_would_be_cut",  # shows that the test before it can fail
    "test_I2_a_cut_stream_is_no_finished_one",
}


class InTurn(httpx.AsyncBaseTransport):
    """Sends each request to the next of the servers, whatever address it has."""

    def __init__(self, urls: Sequence[str]) -> None:
        self._real = httpx.AsyncHTTPTransport()
        self._ports = itertools.cycle(httpx.URL(url).port for url in urls)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        request.url = request.url.copy_with(port=next(self._ports))
        return await self._real.handle_async_request(request)

    async def aclose(self) -> None:
        await self._real.aclose()


@dataclass
class Both(Served):
    """Two servers, of which clients need not know."""

    urls: Sequence[str] = ()

    async def client(self, base: str, **headers: str) -> User:
        client = User(base_url=base, headers=headers, timeout=DEADLINE, transport=InTurn(self.urls))
        return await self._clients.enter_async_context(client)


def on_two(store: str, bus: str) -> Callable[..., Any]:
    """What serves an engine of a test as two replicas on this store."""

    def replica(engine: Engine[Any]) -> Engine[Any]:
        assert isinstance(engine.store, SQLiteStore)
        return Engine(engine.agent, PostgresStore(store, clock=engine.store.file.clock), bus=bus)

    @asynccontextmanager
    async def serve(engine: Engine[Any], **options: Any) -> AsyncIterator[Served]:
        async with AsyncExitStack() as stack:
            one, other = [await stack.enter_async_context(serving.serve(replica(engine), **options)) for _ in range(2)]
            clients = await stack.enter_async_context(AsyncExitStack())
            yield Both(one.url, one.engine, clients, [one.url, other.url])

    return serve


def cases() -> Iterator[Any]:
    for module in (d_races, e_http, i_streams):
        for name, case in inspect.getmembers(module, inspect.iscoroutinefunction):
            if NAMES.match(name) and name not in NOT_HERE:
                for more in _parameters(case):
                    text = "-".join(getattr(value, "__name__", str(value)) for value in more.values())
                    yield pytest.param(module, case, more, id=f"{name.removeprefix('test_')}-{text}".rstrip("-"))


def _parameters(case: Any) -> list[dict[str, Any]]:
    for mark in getattr(case, "pytestmark", ()):
        if mark.name == "parametrize":
            return [{mark.args[0]: value} for value in mark.args[1]]
    return [{}]


start = e_http.start  # a fixture


@pytest.mark.parametrize(("module", "case", "more"), list(cases()))
async def test_with_two_replicas(
    module: ModuleType,
    case: Any,
    more: dict[str, Any],
    postgres_server: Postgres,
    redis_server: Redis,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    """It holds, though no request comes to the server that the one before it came to."""
    monkeypatch.setattr(module, "serve", on_two(postgres_server.empty(), redis_server.url))
    wanted = [name for name in inspect.signature(case).parameters if name not in more]
    await case(**more, **{name: request.getfixturevalue(name) for name in wanted})


async def test_Q2_with_two_replicas(postgres_server: Postgres) -> None:
    """What one replica asked, the other reads as it was, structures of JSON and nothing else."""
    tools = [ask_user, serialization.profile, serialization.raw, serialization.own]
    steps: list[ScriptStep] = [[("ask_user", serialization.QUESTIONS), ("profile", {}), ("raw", {}), ("own", {})]]
    agent, store = Agent[Any](ScriptedModel(steps), tools=tools), postgres_server.empty()
    async with Engine(agent, store) as one, Engine(agent, store) as other:
        here, there = (engine.conversation("c", user="ada") for engine in (one, other))
        live = [event async for event in here.say("Go") if isinstance(event, Entry)]
        assert list((await there.log()).entries) == live
        assert [load(entry.seq, entry.at, entry.kind, dump(entry)) for entry in live] == live
        pending = await there.interrupts()
        assert pending == await here.interrupts()
        assert sorted(interrupt.kind for interrupt in pending) == ["form", "interrupt", "questions", "say"]
        for interrupt in pending:
            assert json.loads(json.dumps(asdict(interrupt), allow_nan=False)) == asdict(interrupt)
