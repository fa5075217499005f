"""A server whose tools are careless with what they know (`careless.py`), and that logs and traces all it can.

It is run as a process of its own, `python -m tests.canaries.app FOLDER SERVICE CONTROL`, with all its logs and spans in
files of FOLDER. SERVICE is the address of a service that repeats what it is sent.
"""

from __future__ import annotations

import logging
import socket
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import repeat
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Header
from opentelemetry.instrumentation.fastapi import FastAPIInstrumentor
from opentelemetry.instrumentation.httpx import HTTPX2ClientInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tests.canaries.careless import Careless
from yourcall import Agent, Engine
from yourcall.log import Transcript, UserMessage
from yourcall.serve import run
from yourcall.testing import Said, ScriptedModel
from yourcall.web import create_router


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
    tools = Careless(service, folder, control).tools()
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
