"""An engine behind a real server on a loopback port, in the test's own event loop, and clients of its users."""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import httpx
import uvicorn
from fastapi import FastAPI, Header

from yourcall.engine import Engine
from yourcall.web import create_router

DEADLINE = 10.0
"""Seconds after which whatever a test waits for is not going to come."""

PREFIX = "/chat"


async def current_user(x_user: str | None = Header(default=None)) -> str | None:
    """Who the header says: a stand-in for an app's own session."""
    return x_user


@dataclass(frozen=True)
class Frame:
    """One server-sent event."""

    event: dict[str, Any]
    id: int | None = None

    @property
    def type(self) -> str:
        kind: str = self.event["type"]
        return kind


@dataclass
class Reader:
    """Reads a stream as its bytes come; `raw` are all of them, `pieces` as they were sent."""

    response: httpx.Response
    pieces: list[bytes] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    _rest: str = ""

    @property
    def raw(self) -> bytes:
        return b"".join(self.pieces)

    @property
    def types(self) -> list[str]:
        return [frame.type for frame in self.frames]

    async def read(self, until: Callable[[Frame], bool] = lambda _: False) -> list[Frame]:
        """Frames up to the first that is wanted, or to the stream's end."""
        with anyio.fail_after(DEADLINE):
            async for piece in self._bytes():
                self.pieces.append(piece)
                new = list(self._parse(piece.decode()))
                self.frames += new
                if any(map(until, new)):
                    break
        return self.frames

    async def comments(self, count: int) -> None:
        """Until so many comments have come."""
        with anyio.fail_after(DEADLINE):
            async for piece in self._bytes():
                self.pieces.append(piece)
                if self.raw.count(b"\n:") + self.raw.startswith(b":") >= count:
                    break

    def _bytes(self) -> AsyncIterator[bytes]:
        if not hasattr(self, "_source"):
            self._source = self.response.aiter_raw()
        return self._source

    def _parse(self, text: str) -> Iterator[Frame]:
        *blocks, self._rest = (self._rest + text).split("\n\n")
        for block in blocks:
            fields = dict(line.split(": ", 1) for line in block.split("\n") if not line.startswith(":"))
            if "data" in fields:
                yield Frame(json.loads(fields["data"]), int(fields["id"]) if "id" in fields else None)


class User(httpx.AsyncClient):
    """A signed-in user's client."""

    async def create(self, **body: Any) -> str:
        response = await self.post("/conversations", json=body)
        assert response.status_code == 201, response.text
        created: str = response.json()["id"]
        return created

    async def say(self, conversation: str, text: str, **more: Any) -> int:
        response = await self.post(f"/conversations/{conversation}/messages", json={"text": text, **more})
        assert response.status_code == 202, response.text
        seq: int = response.json()["seq"]
        return seq

    async def snapshot(self, conversation: str) -> dict[str, Any]:
        response = await self.get(f"/conversations/{conversation}")
        assert response.status_code == 200, response.text
        found: dict[str, Any] = response.json()
        return found

    async def open(self, conversation: str) -> list[dict[str, Any]]:
        """The open questions in the order of their calls; they are listed as they were asked, and bodies race."""
        snapshot = await self.snapshot(conversation)
        calls = [call["id"] for message in snapshot["messages"] for call in message.get("toolCalls", ())]
        found = [one for one in snapshot["interrupts"] if one["metadata"]["yourcall"]["ending"] is None]
        return sorted(found, key=lambda one: calls.index(one["toolCallId"]))

    async def answer(self, interrupt: str, payload: Any, **headers: str) -> httpx.Response:
        headers["Content-Type"] = "application/json"
        return await self.post(f"/interrupts/{interrupt}/answer", content=json.dumps(payload), headers=headers)

    async def settled(self, conversation: str) -> dict[str, Any]:
        """The conversation once nothing runs."""
        await self.events(conversation)
        return await self.snapshot(conversation)

    async def events(self, conversation: str, after: object = None) -> list[Frame]:
        """Everything on `/events` until the run has ended."""
        async with self.follow(conversation, after) as reader:
            return await reader.read()

    @asynccontextmanager
    async def follow(self, conversation: str, after: object = None) -> AsyncIterator[Reader]:
        headers = {} if after is None else {"Last-Event-ID": str(after)}
        async with self.stream("GET", f"/conversations/{conversation}/events", headers=headers) as response:
            assert response.status_code == 200, await response.aread()
            yield Reader(response)

    @asynccontextmanager
    async def agui(
        self, thread: str, messages: Sequence[Any] = (), run: str = "run-1", **more: Any
    ) -> AsyncIterator[Reader]:
        body = {"threadId": thread, "runId": run, "messages": list(messages), **more}
        async with self.stream("POST", "/agui", json=body) as response:
            assert response.status_code == 200, await response.aread()
            yield Reader(response)

    async def run(self, thread: str, messages: Sequence[Any] = (), run: str = "run-1", **more: Any) -> list[Frame]:
        """Everything that one AG-UI request brings."""
        async with self.agui(thread, messages, run, **more) as reader:
            return await reader.read()


@dataclass
class Served:
    """A running server."""

    url: str
    engine: Engine[Any]
    _clients: AsyncExitStack

    async def user(self, name: str | None, **headers: str) -> User:
        """A client of the router, signed in as `name`."""
        return await self.client(self.url + PREFIX, **({"X-User": name} if name else {}), **headers)

    async def client(self, base: str, **headers: str) -> User:
        client = User(base_url=base, headers=headers, timeout=DEADLINE)
        return await self._clients.enter_async_context(client)


async def until(holds: Callable[[], Any]) -> None:
    """Wait for a condition that another task brings about."""
    with anyio.fail_after(DEADLINE):
        while not holds():  # noqa: ASYNC110  # it may be any condition, of any library
            await anyio.sleep(0.005)


class _Server(uvicorn.Server):
    """Leaves signals to the test runner, and stops when it is told to, not when it looks next."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.told = anyio.Event()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def main_loop(self) -> None:
        await self.on_tick(0)
        await self.told.wait()


@asynccontextmanager
async def serve_app(app: Any, engine: Engine[Any]) -> AsyncIterator[Served]:
    """Serve an app until the block ends; streams that are still open then are cut."""
    failure: Exception | None = None
    with socket.create_server(("127.0.0.1", 0)) as listener:
        # asyncio does this by itself only for sockets that it made: without, each response waits 40 ms for an ACK
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        config = uvicorn.Config(
            app, lifespan="on", log_level="warning", access_log=False, timeout_graceful_shutdown=1, ws="none"
        )
        server = _Server(config)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server.serve, [listener])
            await until(lambda: server.started)
            async with AsyncExitStack() as clients:
                host, port = listener.getsockname()[:2]
                try:
                    yield Served(f"http://{host}:{port}", engine, clients)
                except Exception as error:  # raised as it is below: in here, it would become a group
                    failure = error
            server.told.set()
    if failure:
        raise failure


@asynccontextmanager
async def serve(engine: Engine[Any], **options: Any) -> AsyncIterator[Served]:
    """The router in an app of its own, whose users the header `X-User` names."""
    app = FastAPI(lifespan=engine.lifespan)
    app.include_router(create_router(engine, user=current_user, **options), prefix=PREFIX)
    async with serve_app(app, engine) as served:
        yield served
