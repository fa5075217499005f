"""An app that is as careless with what it knows as it can be: all is logged, traced, raised, recorded and returned.

It is run as a process of its own, `python -m tests.canaries.app FOLDER SERVICE CONTROL`, with all its logs and spans in
files of FOLDER. SERVICE is the address of a service that repeats what it is sent.
"""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import repeat
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
from fastapi import FastAPI, Header
from opentelemetry.instrumentation.fastapi import FastAPIInstrumentor
from opentelemetry.instrumentation.httpx import HTTPX2ClientInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic import BaseModel

from yourcall import Agent, Confirm, Context, Declined, Engine, Form, OnceFailed, Rejected, Secret, ToolError, tool
from yourcall.connect import Account, Connect, OAuthProvider
from yourcall.log import Transcript, UserMessage
from yourcall.serve import run
from yourcall.testing import Said, ScriptedModel
from yourcall.web import create_router

log = logging.getLogger("app")


class Size(BaseModel):
    size: int


async def say_everywhere(ctx: Context, key: str, service: str, folder: Path, control: str) -> dict[str, Any]:
    """Log it, send it, have it repeated, record it, hand it to threads, and return it in all spellings."""
    token = base64.b64encode(f"ada:{key}".encode()).decode()
    log.debug("the key is %s", key, extra={"key": key, "control": control})
    log.info("sending %(key)s", {"key": [key, quote(key)]})
    await asyncio.to_thread(log.warning, f"from a thread: {key!r}")
    async with httpx2.AsyncClient() as client:
        response = await client.get(f"{service}/service", headers={"Authorization": f"Basic {token}"})
        refused = await client.post(f"{service}/refuses", json={"key": key})
        try:
            refused.raise_for_status()
        except httpx2.HTTPStatusError:
            log.exception("refused: %s", refused.text)
    recorded = await ctx.once(f"send {key}", lambda: {"you": response.json(), key: [token, quote(key)]})

    def fails() -> None:
        raise ValueError(f"could not send {key}")

    try:
        await ctx.once("fails", fails)
    except OnceFailed as error:
        log.info("%s", error, exc_info=True)
    with (folder / "children").open("ab") as out:
        subprocess.run(["cat", "/proc/self/environ", "/proc/self/cmdline"], stdout=out, check=True)
    return {"said": recorded, "header": response.headers["x-you"], key: json.dumps({"k": key}), "hex": ascii(key)}


def tools_of(service: str, folder: Path, control: str) -> list[Any]:
    """Each does another thing with what it has revealed."""
    tries: Counter[str] = Counter()

    def check(key: str) -> None:
        tries[key] += 1
        log.debug("trying %s", key)
        if tries[key] == 1:
            raise ConnectionError(f"no answer for {key}")
        if tries[key] == 2:
            raise Rejected(f"{control}: {key} was refused.", field=key)

    def declines(key: str) -> None:
        raise Declined(f"{key} is not wanted")

    async def whose(token: str) -> Account:
        log.debug("whose is %s", token)
        tries[token] += 1
        if tries[token] == 1 and "1ann" in token:
            raise ConnectionError(f"no answer for {token}")
        return Account(token, f"{control} {token}", ("sleep",))

    hevy, other = Secret("hevy", "Hevy API key", check=check), Secret("other", "Another key", check=declines)
    google = OAuthProvider(
        "google", client_id="desk", client_secret=f"{control} secret", title=control, account=whose,
        authorization_endpoint=f"{service}/authorize", token_endpoint=f"{service}/token", scopes=["sleep"],
    )  # fmt: skip

    def revealed(name: str, use: Callable[[Context, str], Any]) -> list[Any]:
        """The same use of a secret and of a token."""

        async def with_secret(ctx: Context) -> Any:
            return await use(ctx, (await ctx.reveal(hevy)).get_secret_value())

        async def with_token(ctx: Context) -> Any:
            return await use(ctx, (await ctx.token(google)).get_secret_value())

        return [tool(name=f"secret_{name}")(with_secret), tool(name=f"token_{name}")(with_token)]

    async def says(ctx: Context, key: str) -> Any:
        return await say_everywhere(ctx, key, service, folder, control)

    async def raises(ctx: Context, key: str) -> Any:
        try:
            raise ValueError(quote(key))
        except ValueError as error:
            raise ExceptionGroup(key, [RuntimeError(f"failed with {key}")]) from error

    async def tells(ctx: Context, key: str) -> Any:
        raise ToolError(f"The service did not take {key}.")

    async def cannot_be_stored(ctx: Context, key: str) -> Any:
        return {key: type(key, (), {"__repr__": lambda self: key})()}

    async def names_an_ask(ctx: Context, key: str) -> Any:
        return ctx.interrupt(f"about {key}", {"the key": key, "title": f"Use {key[:50]}?"})

    async def asks_for_consent(ctx: Context, key: str) -> Any:
        return ctx.ask(Confirm(f"Send {key[:100]}?", {"key": key[:500]}), key="consent")

    async def refuses(ctx: Context, key: str) -> Any:
        def too_small(given: Size) -> None:
            log.info("%s for %s", given, key)
            if given.size < 5:
                raise Rejected(f"{control}: too small for {key}.", field="size")
            if given.size < 9:
                raise ConnectionError(key)

        return ctx.ask(Form(Size, title="How large?", check=too_small)).size

    @tool
    def give_secret(ctx: Context) -> str:
        """Ask for the key."""
        return f"{ctx.ask(hevy)}"

    @tool
    def give_other(ctx: Context) -> str:
        """Ask for a key that is not wanted."""
        return f"{ctx.ask(other)}"

    @tool
    def give_token(ctx: Context) -> str:
        """Ask for the account."""
        return f"{ctx.ask(Connect(google, title=f'Connect {control}'))}"

    uses = {
        "says": says, "raises": raises, "tells": tells, "cannot_be_stored": cannot_be_stored,
        "names_an_ask": names_an_ask, "asks_for_consent": asks_for_consent, "refuses": refuses,
    }  # fmt: skip
    return [give_secret, give_other, give_token, *(one for name, use in uses.items() for one in revealed(name, use))]


def plays(names: list[str]) -> Callable[[Transcript], Said]:
    """First the user is asked, then what was given is used in every way at once."""

    def play(transcript: Transcript) -> Said:
        said = transcript[-1]
        if not isinstance(said, UserMessage):
            return "Thanks."
        kind = said.text.split()[0]
        return [(name, {}) for name in names if name.startswith(kind)]

    return play


async def current_user(x_user: str | None = Header(default=None)) -> str | None:
    return x_user


def loud(folder: Path) -> None:
    """Every logger, of whichever library, says all that it can into one file, with all attributes of each record."""

    class Everything(logging.Formatter):
        def format(self, record: logging.LogRecord) -> str:
            return f"{super().format(record)} {vars(record)}"

    handler = logging.FileHandler(folder / "logs", encoding="utf-8", errors="backslashreplace")
    handler.setFormatter(Everything())
    logging.basicConfig(level=1, handlers=[handler])
    logging.captureWarnings(True)
    for name in list(logging.root.manager.loggerDict):
        logging.getLogger(name).setLevel(1)
    for name in ("uvicorn", "uvicorn.access"):
        logging.getLogger(name).addHandler(handler)


def main(folder: Path, service: str, control: str) -> None:
    spans = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    HTTPX2ClientInstrumentor().instrument(tracer_provider=provider)
    listener = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    tools = tools_of(service, folder, control)
    model = ScriptedModel(repeat(plays([one.name for one in tools])))
    engine = Engine[Any](
        Agent(model, tools=tools), f"sqlite:///{folder / 'chat.db'}", blobs=str(folder / "blobs"), public_url=url
    )

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        loud(folder)
        async with engine.lifespan(app):
            print(url, flush=True)
            yield
        (folder / "requests").write_text(repr(model.requests), encoding="utf-8", errors="backslashreplace")
        shown = "\n".join(span.to_json() for span in spans.get_finished_spans())
        (folder / "spans").write_text(shown, encoding="utf-8", errors="backslashreplace")

    app = FastAPI(lifespan=lifespan)
    app.include_router(create_router(engine, user=current_user, title=control), prefix="/chat")
    FastAPIInstrumentor.instrument_app(app, tracer_provider=provider)
    run(app, listener, engine.drain, access_log=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
