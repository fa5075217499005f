"""F6, where what servers stand on does not go away but freezes: its connections stay, and nothing comes over them."""

from __future__ import annotations

from pathlib import Path

import anyio
import httpx
import pytest

from tests.postgres import postgres
from tests.redis import redis
from tests.web.agents import free
from tests.web.serving import User, serve
from yourcall import Agent, Context, Engine, record, tool
from yourcall import engine as engines
from yourcall.errors import StoreBusy
from yourcall.log import Done
from yourcall.store import postgres_pool
from yourcall.testing import ScriptedModel, ScriptStep

pytestmark = pytest.mark.anyio

ASKING: list[ScriptStep] = [[("free", {})], "Thanks."]
AT_ONCE = 24
"""Requests; more than the pool has connections."""


async def test_f6_a_frozen_postgres_refuses_everybody_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks is refused, those too who wait for a connection; nothing is taken, and all goes on by itself."""
    monkeypatch.setattr(postgres_pool, "PATIENCE", 1.0)
    monkeypatch.setattr(postgres_pool, "LONGEST", 2.0)
    with postgres() as database:
        engine = Engine(Agent(ScriptedModel(ASKING), tools=(free,)), database.empty())
        async with serve(engine) as served:
            ada = await served.user("ada")
            conversation = await ada.create()
            await ada.say(conversation, "Ask me")
            await ada.settled(conversation)
            [question] = await ada.open(conversation)

            with database.frozen():
                asked = [("GET", f"/conversations/{conversation}"), ("GET", "/interrupts")] * (AT_ONCE // 2)
                asked += [("POST", f"/interrupts/{question['id']}/answer")]
                for response in await _all(ada, asked):
                    assert (response.status_code, response.json()["type"]) == (503, "urn:yourcall:problem/busy")
                    assert int(response.headers["retry-after"]) > 0

            await _answered(ada, question["id"])
            snapshot = await ada.settled(conversation)
            assert snapshot["phase"] == "done"
            assert [message["role"] for message in snapshot["messages"]] == ["user", "assistant", "tool", "assistant"]


async def test_f6_postgres_comes_back_after_a_long_while(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long it was away, whoever comes once it is there is served, not only when the pool tries anew."""
    monkeypatch.setattr(postgres_pool, "PATIENCE", 0.5)
    with postgres() as database:
        store = postgres_pool.PostgresPool(database.empty())
        await store.open()
        database.stop()
        for _ in range(12):
            with pytest.raises(StoreBusy):
                await store.rows("SELECT 1", ())
        database.start()
        assert await store.rows("SELECT 1", ()) == [(1,)]
        await store.close()


async def test_f6_a_server_closes_while_postgres_is_frozen(monkeypatch: pytest.MonkeyPatch) -> None:
    """In good order and in bounded time, with a run that has something to record; the next one carries it on."""
    monkeypatch.setattr(postgres_pool, "PATIENCE", 1.0)
    monkeypatch.setattr(postgres_pool, "LONGEST", 2.0)
    monkeypatch.setattr(engines, "GRACE_SECONDS", 0.5)
    monkeypatch.setattr(record, "LEASE_SECONDS", 0.5)
    started, go_on = anyio.Event(), anyio.Event()

    @tool
    async def slow(ctx: Context) -> str:
        """Takes its time."""
        started.set()
        await go_on.wait()
        return "done"

    agent = Agent[None](ScriptedModel([[("slow", {})], "Thanks."]), tools=(slow,))
    with postgres() as database:
        store = database.empty()
        engine = await Engine(agent, store).__aenter__()
        await engine.conversation("c", user="ada").post("Begin")
        await started.wait()
        with database.frozen():
            go_on.set()
            await engine.__aexit__(None, None, None)
        async with Engine(agent, store, sweep_every=0.1) as engine:
            async for _ in engine.conversation("c", user="ada").events(after=0):
                pass
            _, phase = await engine.conversation("c", user="ada").snapshot()
            assert phase == Done()


async def test_f6_a_frozen_redis_costs_only_live_words(tmp_path: Path) -> None:
    """Streams begin, runs go on and streams end: what is recorded is shown. After that words come live again."""
    with redis() as bus:
        agent = Agent(ScriptedModel([*ASKING, "Later."]), tools=(free,))
        store = f"sqlite:///{tmp_path}/chat.db"
        async with serve(Engine(agent, store, bus=bus.url)) as one, serve(Engine(agent, store, bus=bus.url)) as other:
            ada, elsewhere = await one.user("ada"), await other.user("ada")
            conversation = await ada.create()
            with bus.frozen():
                await ada.say(conversation, "Ask me")
                frames = await elsewhere.events(conversation, after=0)
                assert frames[-1].type == "RUN_FINISHED"
                [question] = await ada.open(conversation)
                assert (await ada.answer(question["id"], "red")).status_code == 200
                await elsewhere.settled(conversation)
            await ada.say(conversation, "Still there?")
            assert (await elsewhere.settled(conversation))["messages"][-1]["content"] == "Later."


async def _all(user: User, requests: list[tuple[str, str]]) -> list[httpx.Response]:
    responses: list[httpx.Response] = []

    async def ask(method: str, path: str) -> None:
        responses.append(await user.request(method, path, json="red" if method == "POST" else None))

    async with anyio.create_task_group() as tasks:
        for method, path in requests:
            tasks.start_soon(ask, method, path)
    return responses


async def _answered(user: User, interrupt: str) -> None:
    """As soon as the database is back."""
    while (response := await user.answer(interrupt, "red")).status_code == 503:  # noqa: ASYNC110  # a server
        await anyio.sleep(float(response.headers["retry-after"]) / 10)
    assert response.status_code == 200
