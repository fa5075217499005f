"""What two processes hear of each other by Redis: two buses on one server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

from tests.contracts.test_bus import ADA, take
from tests.redis import Redis
from tests.support import PATIENCE, until
from yourcall.bus.redis import LARGEST, RedisBus, _name
from yourcall.entries import Assistant, Entry, User
from yourcall.events import Delta, Ended, Event, Retracted
from yourcall.log import Done
from yourcall.ports import Key

pytestmark = pytest.mark.anyio


@pytest.fixture
async def here(redis_server: Redis) -> AsyncIterator[RedisBus]:
    redis_server.clear()
    bus = RedisBus(redis_server.url)
    async with bus.opened():
        yield bus


@pytest.fixture
async def there(redis_server: Redis) -> AsyncIterator[RedisBus]:
    bus = RedisBus(redis_server.url)
    async with bus.opened():
        yield bus


def said(text: str, *, message: str = "m", offset: int = 0) -> list[Event]:
    return [Delta(message, offset + n, letter) for n, letter in enumerate(text)]


async def text_of(live: AsyncIterator[Event], length: int, *, start: int = 0) -> str:
    """The next so many characters, each in its place."""
    text = ""
    while len(text) < length:
        (event,) = await take(live, 1)
        assert isinstance(event, Delta)
        assert event.offset == start + len(text)
        text += event.text
    return text


async def arrived(bus: RedisBus, count: int) -> None:
    """So many events of the conversation are with Redis."""

    async def all_there() -> bool:
        length: int = await bus._redis.xlen(_name(ADA))
        return length == count

    await until(all_there)


async def test_what_one_says_the_other_hears(here: RedisBus, there: RedisBus) -> None:
    """Words and small entries, in order; of another conversation nothing."""
    entry = Entry(7, 1.5, User("hi", "m1"))
    async with there.listen(ADA) as live:
        here.publish(Key("bob", "c1"), said("no"))
        here.publish(ADA, [*said("abc"), entry, Retracted("m")])
        assert await text_of(live, 3) == "abc"
        assert await take(live, 2) == [entry, Retracted("m")]


async def test_who_comes_late_hears_the_step_from_its_beginning(here: RedisBus, there: RedisBus) -> None:
    """In the midst of a step: what was said so far as one piece, then what comes, without a gap or a double."""
    here.publish(ADA, [*said("old", message="m0"), Entry(3, 0.0, Assistant("r", 2, "old")), *said("hello ")])
    await arrived(here, 10)
    async with there.listen(ADA) as live:
        assert await take(live, 1) == [Delta("m", 0, "hello ")]
        here.publish(ADA, said("world", offset=6))
        assert await text_of(live, 5, start=6) == "world"


async def test_two_who_come_at_different_times_hear_the_same(here: RedisBus, there: RedisBus) -> None:
    """The second listener of a process gets the beginning of its own, whatever the first has read already."""
    async with there.listen(ADA) as first:
        here.publish(ADA, said("one "))
        assert await text_of(first, 4) == "one "
        async with there.listen(ADA) as second:
            here.publish(ADA, said("two", offset=4))
            assert await text_of(first, 3, start=4) == "two"
            assert await text_of(second, 7) == "one two"


async def test_very_many_who_come_at_once_all_hear_it(
    here: RedisBus, there: RedisBus, caplog: pytest.LogCaptureFixture
) -> None:
    """More than Redis has connections for: they take turns, and none goes without. Each hears every word once."""
    here.publish(ADA, said("so "))
    await arrived(here, 3)
    joined, heard = list[None](), list[str]()

    async def hear() -> None:
        async with there.listen(ADA) as live:
            assert await take(live, 1) == [Delta("m", 0, "so ")]
            joined.append(None)
            heard.append(await text_of(live, 4, start=3))

    async with anyio.create_task_group() as tasks:
        for _ in range(200):
            tasks.start_soon(hear)
        await until(lambda: len(joined) == 200)
        here.publish(ADA, said("many", offset=3))
    assert heard == ["many"] * 200
    assert not caplog.records


async def test_what_must_be_read_from_the_log_ends_the_stream(here: RedisBus, there: RedisBus) -> None:
    """A large entry, or the end of a run, does not go through Redis: the listener is sent to the log."""
    for event in (Entry(1, 0.0, User("x" * LARGEST)), Ended(Done(), 1)):
        async with there.listen(ADA) as live:
            here.publish(ADA, said("a", message=str(event.__class__)))
            assert len(await take(live, 1)) == 1
            here.publish(ADA, [event])
            with anyio.fail_after(PATIENCE):
                assert [late async for late in live] == []


async def test_an_outage_costs_live_words_and_nothing_else() -> None:
    """While Redis is away publishing goes on, a listener of the same process hears all, others are sent to the log;
    when it is back, what is said anew is heard again."""
    server = Redis()
    server.start()
    try:
        here, there = RedisBus(server.url), RedisBus(server.url)
        async with here.opened(), there.opened():
            async with there.listen(ADA) as far:
                here.publish(ADA, said("a"))
                assert await text_of(far, 1) == "a"
                server.stop()
                with anyio.fail_after(PATIENCE):
                    assert [event async for event in far] == []
            async with here.listen(ADA) as near:
                here.publish(ADA, said("b", message="m2"))
                assert await take(near, 1) == said("b", message="m2")
            server.start()
            with anyio.fail_after(PATIENCE):
                heard: list[Event] = []
                while not heard:
                    async with there.listen(ADA) as far:
                        here.publish(ADA, said("c", message="m3"))
                        with anyio.move_on_after(0.5):
                            heard = [await anext(far)]
            assert isinstance(heard[0], Delta)
            assert heard[0].text in ("b", "c")
    finally:
        server.stop()


@pytest.mark.parametrize(
    "fields",
    [{"x": "y"}, {"o": "else", "e": "{"}, {"o": "else", "e": '{"entry": [1, 2, "no kind", "{}"]}'},
     {"o": "else", "e": '{"delta": [null, "x", 3]}'}, {"o": b"\xff", "e": b"\xff"}],
)  # fmt: skip
async def test_what_cannot_be_read_costs_nothing(here: RedisBus, there: RedisBus, fields: Any) -> None:
    """Whatever stands in a stream: who listens looks at the log, and the bus goes on for everybody."""
    await here._redis.xadd(_name(ADA), fields)
    async with here.listen(ADA) as live:
        assert [event async for event in _until_look(here, live, fields)] == []
    async with here.listen(ADA) as live:
        there.publish(ADA, said("on"))
        assert await text_of(live, 2) == "on"


async def _until_look(bus: RedisBus, live: AsyncIterator[Event], fields: Any) -> AsyncIterator[Event]:
    await bus._redis.xadd(_name(ADA), fields)
    with anyio.fail_after(PATIENCE):
        async for event in live:
            yield event


async def test_a_mistake_of_ours_ends_no_engine(
    here: RedisBus, there: RedisBus, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """An unexpected error costs what is live for a moment: it is logged, and the bus goes on."""
    read, broken = here._read, anyio.Event()

    def once(fields: Any) -> Any:
        monkeypatch.setattr(here, "_read", read)
        broken.set()
        raise AssertionError

    monkeypatch.setattr("yourcall.bus.redis.RETRY_SECONDS", 0.01)
    async with here.listen(ADA) as live:
        monkeypatch.setattr(here, "_read", once)
        there.publish(ADA, said("lost"))
        with anyio.fail_after(PATIENCE):
            await broken.wait()
            assert [event async for event in live] == []
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    async with here.listen(ADA) as live:
        there.publish(ADA, said("on", offset=4))
        assert await text_of(live, 6) == "loston"


@pytest.mark.parametrize("anyio_backend", [("asyncio", {"use_uvloop": True})], ids=["uvloop"])
async def test_a_connection_that_is_just_gone_is_no_mistake_of_ours(
    here: RedisBus, there: RedisBus, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Redis went away between a look at a connection and its use: that is told as any outage, and the bus goes on."""
    monkeypatch.setattr("yourcall.bus.redis.RETRY_SECONDS", 0.01)
    await here._redis.ping()
    for connection in here._redis.connection_pool._available_connections:
        connection._writer.transport.close()
    here.publish(ADA, said("lost"))
    with anyio.fail_after(PATIENCE):
        while not caplog.records:  # noqa: ASYNC110  # another task's
            await anyio.sleep(0.01)
    assert {record.levelname for record in caplog.records} == {"WARNING"}
    async with there.listen(ADA) as live:
        here.publish(ADA, said("on"))
        assert await text_of(live, 2) == "on"
