"""The stream as bytes: alive while nothing comes, in one piece what comes together, gone with its reader."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any

import anyio
import pytest
from starlette.types import Message

from tests.web.serving import DEADLINE, until
from yourcall.errors import Busy, NotFound
from yourcall.web.sse import AHEAD, BEAT, HEARTBEAT, TURNS, Buffer, EventStream, Put, Source

pytestmark = pytest.mark.anyio

SCOPE = {"type": "http", "asgi": {"version": "3.0"}}


class Reader:
    """The server's side of a connection: what was sent to it, and when it leaves.

    It takes `takes` messages at once, and more when it is `ready`.
    """

    def __init__(self, *, takes: int = 1_000_000) -> None:
        self.sent: list[Message] = []
        self.gone, self.ready = anyio.Event(), anyio.Event()
        self._takes = takes

    @property
    def pieces(self) -> list[bytes]:
        """What was sent, but for the time after which it should come back, which differs."""
        return [re.sub(rb"retry: \d{4}\n", b"retry: ms\n", message["body"]) for message in self.sent[1:]]

    @property
    def retry(self) -> int:
        found = re.search(rb"retry: (\d+)\n", self.sent[1]["body"])
        assert found
        return int(found[1])

    @property
    def status(self) -> int:
        status: int = self.sent[0]["status"]
        return status

    async def receive(self) -> Message:
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        if len(self.sent) >= self._takes:
            await self.ready.wait()
        self.sent.append(message)


Frames = Callable[[], AsyncGenerator[bytes, None]]


async def stream(frames: Frames, reader: Reader, **options: Any) -> None:
    """Send these frames to the reader."""

    async def source(put: Put) -> None:
        async with aclosing(frames()) as pieces:
            async for piece in pieces:
                await put(piece)

    await respond(source, reader, **options)


async def respond(source: Source, reader: Reader, **options: Any) -> None:
    with anyio.fail_after(DEADLINE):
        await EventStream(source, **options)(SCOPE, reader.receive, reader.send)


OPENING = b": open\nretry: ms\n\n"
FIRST = b"data: 0\n\n"


async def test_the_headers_keep_proxies_from_holding_it_back() -> None:
    """Nothing caches, compresses or buffers it; a comment and the first frame go out before there is another."""
    release = anyio.Event()

    async def late() -> AsyncGenerator[bytes, None]:
        yield FIRST
        await release.wait()
        yield b"data: 1\n\n"

    reader = Reader()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(stream, late, reader)
        await until(lambda: len(reader.sent) == 2)
        release.set()
    headers = {name.decode(): value.decode() for name, value in reader.sent[0]["headers"]}
    assert reader.status == 200
    assert headers == {
        "content-type": "text/event-stream; charset=utf-8",
        "cache-control": "no-cache, no-store, no-transform",
        "x-accel-buffering": "no",
    }
    assert reader.pieces == [OPENING + FIRST, b"data: 1\n\n", b""]
    assert reader.sent[-1]["more_body"] is False


@pytest.mark.parametrize(("error", "status"), [(Busy(), 503), (NotFound(), 404), (RuntimeError("a bug"), 500)])
async def test_the_status_is_decided_by_the_first_frame(
    error: Exception, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    """What is raised before it is the response: a client never has to look into a stream for a refusal."""

    async def refused(put: Put) -> None:
        await anyio.lowlevel.checkpoint()
        raise error

    reader = Reader()
    await respond(refused, reader)
    assert reader.status == status
    assert b"a bug" not in b"".join(reader.pieces)
    assert bool(caplog.records) is (status == 500)


async def test_nothing_at_all_is_an_empty_stream() -> None:
    """A source without a frame is odd, and no error."""

    async def nothing(put: Put) -> None:
        await anyio.lowlevel.checkpoint()

    reader = Reader()
    await respond(nothing, reader)
    assert (reader.status, reader.pieces) == (200, [OPENING, b""])


async def test_readers_of_a_server_that_stops_do_not_come_back_at_once() -> None:
    """Each is told another time for its return, of one to four seconds."""

    async def nothing(put: Put) -> None:
        await anyio.lowlevel.checkpoint()

    readers = [Reader() for _ in range(20)]
    for reader in readers:
        await respond(nothing, reader)
    assert len({reader.retry for reader in readers}) > 10
    assert all(1_000 <= reader.retry < 4_000 for reader in readers)


async def test_a_silent_stream_is_kept_alive() -> None:
    """I1: a comment after each silence, for as long as it lasts; every 15 seconds, if nothing else is said."""
    release = anyio.Event()

    async def silent() -> AsyncGenerator[bytes, None]:
        yield FIRST
        await release.wait()
        yield b"data: 2\n\n"

    reader = Reader()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: stream(silent, reader, heartbeat=0.01))
        await until(lambda: reader.pieces.count(BEAT) >= 3)
        release.set()
    assert b"".join(reader.pieces).replace(BEAT, b"") == OPENING + FIRST + b"data: 2\n\n"
    assert HEARTBEAT == 15


async def test_what_is_ready_together_is_sent_in_one_piece() -> None:
    """Fifty events cost one write, not fifty."""
    send, receive = anyio.create_memory_object_stream[bytes](200)

    async def queued() -> AsyncGenerator[bytes, None]:
        yield FIRST
        async with receive:
            async for piece in receive:
                yield piece

    reader = Reader()
    async with anyio.create_task_group() as tasks, send:
        tasks.start_soon(stream, queued, reader)
        await until(lambda: reader.pieces == [OPENING + FIRST])
        for n in range(50):
            send.send_nowait(b"data: %d\n\n" % n)
        await until(lambda: b"".join(reader.pieces).endswith(b"data: 49\n\n"))
        assert len(reader.pieces) == 2
        await send.aclose()


async def test_a_source_that_never_rests_is_not_waited_for() -> None:
    """Coalescing ends after some turns: an endless burst is sent in parts, while it lasts."""

    async def endless() -> AsyncGenerator[bytes, None]:
        while True:
            yield FIRST
            await anyio.lowlevel.checkpoint()

    reader = Reader()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(stream, endless, reader)
        await until(lambda: len(reader.pieces) > 3)
        reader.gone.set()
    assert max(map(len, reader.pieces)) < 2 * TURNS * len(FIRST)


async def test_a_slow_reader_holds_its_source_back() -> None:
    """What is encoded ahead is bounded; the rest waits where the events come from."""
    drawn = 0

    async def much() -> AsyncGenerator[bytes, None]:
        nonlocal drawn
        for _ in range(1000):
            drawn += 1
            yield b"data: " + b"x" * 1000 + b"\n\n"

    reader = Reader(takes=2)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(stream, much, reader)
        await until(lambda: drawn > AHEAD // 1008)
        for _ in range(100):
            await anyio.lowlevel.checkpoint()
        assert drawn < 4 * AHEAD // 1008  # one lot written, one on its way, one ahead
        reader.ready.set()
    assert drawn == 1000
    assert max(map(len, reader.pieces)) <= AHEAD + 2 * 1008
    assert sum(map(len, reader.pieces)) == len(OPENING) + 1000 * 1008


async def test_the_buffer_is_bounded() -> None:
    """A put over the limit waits until something was taken."""
    buffer = Buffer(ahead=10)
    async with anyio.create_task_group() as tasks:
        await buffer.put(b"x" * 11)
        tasks.start_soon(buffer.put, b"y")
        for _ in range(10):
            await anyio.lowlevel.checkpoint()
        assert buffer.take() == b"x" * 11
    assert buffer.take() == b"y"


@pytest.mark.parametrize("when", ["before", "waiting", "full"])
async def test_a_reader_that_leaves_ends_the_listening(when: str) -> None:
    """The source is cancelled at once, wherever it is, so that nobody is listened for any more."""
    started, closed = anyio.Event(), anyio.Event()

    async def listening() -> AsyncGenerator[bytes, None]:
        try:
            started.set()
            if when == "before":
                await anyio.sleep_forever()
            while True:
                yield b"data: " + (b"x" * AHEAD if when == "full" else b"x") + b"\n\n"
                if when == "waiting":
                    await anyio.sleep_forever()
        finally:
            closed.set()

    reader = Reader(takes=3)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(stream, listening, reader)
        await started.wait()
        await until(lambda: when == "before" or len(reader.sent) == (2 if when == "waiting" else 3))
        reader.gone.set()
        with anyio.fail_after(DEADLINE):
            await closed.wait()


async def test_a_server_that_tells_of_the_leaving_by_an_error_is_understood() -> None:
    """Newer ASGI servers raise OSError from `send`: that is no failure."""

    async def one() -> AsyncGenerator[bytes, None]:
        yield FIRST

    class Gone(Reader):
        async def send(self, message: Message) -> None:
            await super().send(message)
            if message["type"] == "http.response.body":
                raise OSError

    reader = Gone()
    await stream(one, reader)
    assert reader.pieces == [OPENING + FIRST]


async def test_a_source_that_fails_is_heard_of() -> None:
    """A bug is not silenced: it reaches the server, and the stream ends without its last chunk."""
    release = anyio.Event()

    async def broken() -> AsyncGenerator[bytes, None]:
        yield FIRST
        await release.wait()
        raise RuntimeError("a bug")

    class Releasing(Reader):
        async def send(self, message: Message) -> None:
            await super().send(message)
            if self.pieces:
                release.set()

    reader = Releasing()
    with pytest.raises(ExceptionGroup) as group:
        await stream(broken, reader)
    assert group.group_contains(RuntimeError, match="a bug")
    assert reader.sent[-1]["more_body"] is True
