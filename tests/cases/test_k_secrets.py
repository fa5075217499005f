"""Cases K: what is entered as a secret is in no span, no line and no file, whatever it looks like."""

from __future__ import annotations

import base64
import json
import logging
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from itertools import repeat
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from fastapi import FastAPI, Request
from opentelemetry.instrumentation.fastapi import FastAPIInstrumentor
from opentelemetry.instrumentation.httpx import HTTPXClientInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tests.web.serving import User, current_user, serve_app
from yourcall import Agent, Context, Engine, Rejected, Secret, tool
from yourcall.log import Transcript, UserMessage
from yourcall.testing import Said, ScriptedModel
from yourcall.vault import KeyRing
from yourcall.vault.keyring import new_key
from yourcall.web import create_router

pytestmark = pytest.mark.anyio

CANARIES = ["K2-c4n4ry ü/+\"\\'&%", "abc-123"]
PLANTED = "planted-c0ntr0l"
"""Put into every sink on purpose: a scan that does not find it there would find nothing."""


def spellings(value: str) -> list[str]:
    """The value in four encodings."""
    inner = base64.b64encode(value.encode()).decode()[: len(value.encode()) * 8 // 6]
    return [value, quote(value, safe=""), json.dumps(value)[1:-1], inner]


def stored(folder: Path) -> str:
    """The bytes of the database and of its write-ahead log."""
    return b"".join(file.read_bytes() for file in folder.iterdir()).decode("latin-1")


def found(value: str, sink: str) -> list[str]:
    return [spelled for spelled in spellings(value) if spelled in sink]


# --------------------------------------------------------------------------- an app that says all it can


class Spans(InMemorySpanExporter):
    """Every span of the server, of the tool's own client, and of the app."""

    def __init__(self) -> None:
        super().__init__()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self))


@pytest.fixture
def spans() -> Iterator[Spans]:
    kept = Spans()
    HTTPXClientInstrumentor().instrument(tracer_provider=kept.provider)
    yield kept
    HTTPXClientInstrumentor().uninstrument()


@pytest.fixture(params=[*CANARIES, "§7"])
def canary(request: pytest.FixtureRequest) -> str:
    value: str = request.param
    return value


def asks(transcript: Transcript) -> Said:
    return [("connect", {}), ("use", {}, "use")] if isinstance(transcript[-1], UserMessage) else "Thanks."


def tools(where: list[str]) -> Sequence[Any]:
    """One that asks for the key with a check that breaks and refuses, one that uses it and says it everywhere."""
    tries: list[str] = []

    def check(key: str) -> None:
        tries.append(key)
        logging.getLogger("app").debug("trying %s", key)
        if len(tries) == 1:
            raise ConnectionError(f"no answer for {key}")
        if len(tries) == 2:
            raise Rejected(f"{key} was refused.", field=key)

    hevy_key = Secret("hevy", "Hevy API key", check=check)

    @tool
    def connect(ctx: Context) -> str:
        """Ask for the key."""
        return f"{ctx.ask(hevy_key)}"

    @tool
    async def use(ctx: Context) -> Any:
        """Call the service."""
        key = (await ctx.reveal(hevy_key)).get_secret_value()
        token = base64.b64encode(f"ada:{key}".encode()).decode()
        async with httpx.AsyncClient() as client:
            response = await client.get(f"{where[0]}/service", headers={"Authorization": f"Basic {token}"})
        logging.getLogger("app").info("sent %s, got %s", key, response.text, extra={"planted": PLANTED})
        await ctx.once("record", lambda: [key, token, quote(key), PLANTED])
        return {"said": response.json(), "key": key, "url": quote(key, safe=""), "json": json.dumps({"k": key})}

    return [connect, use]


@asynccontextmanager
async def app_of(path: Path, spans: Spans) -> AsyncIterator[tuple[User, Engine[Any], ScriptedModel]]:
    """A server with a service beside it that the tools call, and that repeats what it is sent."""
    model = ScriptedModel(repeat(asks))
    where: list[str] = []
    engine = Engine[Any](
        Agent(model, tools=tools(where)),
        f"sqlite:///{path}",
        keys=KeyRing(new_key()),
    )
    app = FastAPI(lifespan=engine.lifespan)
    app.include_router(create_router(engine, user=current_user), prefix="/chat")

    @app.get("/service")
    async def service(request: Request) -> dict[str, Any]:
        return {"you": request.headers.get("authorization"), "planted": PLANTED}

    FastAPIInstrumentor.instrument_app(app, tracer_provider=spans.provider)
    async with serve_app(app, engine) as served:
        where.append(served.url)
        yield await served.user("ada"), engine, model


async def test_k2_traces_and_debug_logs_get_nothing_of_a_secret(
    tmp_path: Path, spans: Spans, canary: str, caplog: pytest.LogCaptureFixture
) -> None:
    """K2, K3: a secret of any form, entered, refused, checked by what breaks, used and said by a tool, is in no sink.

    Its kind is declared, so no field's name and no vendor's prefix matters. The same scan finds the control.
    """
    caplog.set_level(logging.DEBUG)
    path = tmp_path / "chat.db"
    said: list[str] = []
    async with app_of(path, spans) as (ada, engine, model):
        conversation = await ada.create()
        await ada.say(conversation, f"Set it up, {PLANTED}")
        await ada.settled(conversation)
        for asked in await ada.open(conversation):
            for status in (502, 422, 200):
                sent = await ada.post(f"/interrupts/{asked['id']}/secret", json={"value": canary})
                said.append(sent.text)
                if sent.status_code == 200:
                    break
                assert sent.status_code == status
        snapshot = await ada.settled(conversation)
        said.append(PLANTED)
        with spans.provider.get_tracer("app").start_as_current_span(PLANTED):
            logging.getLogger("app").warning(PLANTED)
        sinks = {
            "database": stored(tmp_path),
            "stored text": str((await engine.conversation(conversation, user="ada").log()).entries),
            "log lines": caplog.text + str([vars(record) for record in caplog.records]),
            "spans": str([span.to_json() for span in spans.get_finished_spans()]),
            "events": str(await ada.events(conversation)),
            "snapshot": str(snapshot),
            "model requests": str(model.requests),
            "responses": "".join(said),
        }
    (result,) = [m for m in snapshot["messages"] if m.get("toolCallId") == "use"]
    assert "***" in result["content"]
    for name, sink in sinks.items():
        assert PLANTED in sink, f"{name}: the scan does not find what is there"
        assert found(canary, sink) == [] or len(canary) < 4, name
        assert canary not in sink, name


async def test_k3_a_secret_of_two_characters_is_scrubbed_as_any_other(tmp_path: Path, spans: Spans) -> None:
    """K3: the same guarantee, at a price: two characters are also hidden where they stand by chance."""
    async with app_of(tmp_path / "chat.db", spans) as (ada, _, _):
        conversation = await ada.create()
        await ada.say(conversation, "Set it up")
        await ada.settled(conversation)
        for asked in await ada.open(conversation):
            for _ in range(3):
                await ada.post(f"/interrupts/{asked['id']}/secret", json={"value": "an"})
        snapshot = await ada.settled(conversation)
    (result,) = [m for m in snapshot["messages"] if m.get("toolCallId") == "use"]
    content = json.loads(result["content"])
    assert (content["key"], content["json"], content["said"]["pl***ted"]) == ("***", '{"k": "***"}', "pl***ted-c0ntr0l")
