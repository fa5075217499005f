"""What every `Bus` keeps. One that is new to the library joins `BUSES`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sized

import anyio
import anyio.abc
import pytest

from tests.redis import Redis
from tests.support import PATIENCE, until
from yourcall.bus.local import LocalBus
from yourcall.bus.redis import RedisBus
from yourcall.entries import Entry, User
from yourcall.events import Delta, Ended, Event
from yourcall.log import Done
from yourcall.ports import Bus, Key

pytestmark = pytest.mark.anyio

ADA = Key("ada", "c1")
BUSES = ("local", "redis")


@pytest.fixture(params=BUSES)
async def bus(request: pytest.FixtureRequest) -> AsyncIterator[Bus]:
    if request.param == "local":
        yield LocalBus()
        return
    server: Redis = request.getfixturevalue("redis_server")
    server.clear()
    bus = RedisBus(server.url)
    async with bus.opened():
        yield bus


def deltas(count: int, name: str = "m") -> list[Event]:
    return [Delta(name, n, "x") for n in range(count)]


async def take(live: AsyncIterator[Event], count: int) -> list[Event]:
    with anyio.fail_after(PATIENCE):
        return [await anext(live) for _ in range(count)]


async def rest(live: AsyncIterator[Event]) -> list[Event]:
    with anyio.fail_after(PATIENCE):
        return [event async for event in live]


async def assert_holds_nothing(bus: Bus) -> None:
    """It remembers nothing of anybody, once what is on its way has gone."""
    held = (value for value in vars(bus).values() if isinstance(value, Sized) and not isinstance(value, str))
    kept = [*held]
    await until(lambda: not any(map(len, kept)))


async def test_every_listener_gets_every_event_in_order(bus: Bus) -> None:
    """Of any kind, one by one or in a row, whether the listener waits already or comes to read later."""
    events: list[Event] = [Delta("m", 0, "hi"), Entry(1, 0.0, User("hi")), *deltas(20), Ended(Done(), 1)]
    got: list[list[Event]] = []

    async def listen(*, task_status: anyio.abc.TaskStatus[None]) -> None:
        async with bus.listen(ADA) as live:
            task_status.started()
            got.append(await take(live, len(events)))

    async with anyio.create_task_group() as tasks, bus.listen(ADA) as late:
        await tasks.start(listen)
        await tasks.start(listen)
        bus.publish(ADA, events[:1])
        bus.publish(ADA, events[1:])
        got.append(await take(late, len(events)))
    assert got == [events] * 3


async def test_a_listener_hears_its_own_conversation_from_its_entering_on(bus: Bus) -> None:
    """Nothing of before, nothing of another conversation, not even of the same id of another user."""
    bus.publish(ADA, deltas(1, "before"))
    async with bus.listen(ADA) as live:
        for key in (Key("bob", "c1"), Key("ada", "c2")):
            bus.publish(key, deltas(1, "foreign"))
        bus.publish(ADA, deltas(1))
        assert await take(live, 1) == deltas(1)


async def test_a_listener_that_does_not_keep_up_is_dropped(bus: Bus) -> None:
    """A run waits for nobody: the slow one's stream ends, without a gap before; others go on; it may return."""
    async with bus.listen(ADA) as slow, bus.listen(ADA) as fast:
        heard: list[Event] = []
        for n in range(50):
            bus.publish(ADA, deltas(200, str(n)))
            heard += await take(fast, 200)
        everything = [event for n in range(50) for event in deltas(200, str(n))]
        assert heard == everything
        got = await rest(slow)
        assert 0 < len(got) < len(everything)
        assert got == everything[: len(got)]
        async with bus.listen(ADA) as again:
            bus.publish(ADA, deltas(2))
            assert await take(again, 2) == await take(fast, 2) == deltas(2)
    await assert_holds_nothing(bus)


async def test_a_listener_that_was_dropped_leaves_like_any_other(bus: Bus) -> None:
    """Leaving late takes nothing from who listens since."""
    async with bus.listen(ADA):
        for _ in range(50):
            bus.publish(ADA, deltas(200))
        stay = bus.listen(ADA)
        live = await stay.__aenter__()
    bus.publish(ADA, deltas(1))
    assert await take(live, 1) == deltas(1)
    await stay.__aexit__(None, None, None)
    await assert_holds_nothing(bus)


async def test_nothing_is_kept_of_listeners_that_left(bus: Bus) -> None:
    """By the end of the block, an error, a cancel, or with events unread: all is let go."""
    async with bus.listen(ADA):
        bus.publish(ADA, deltas(9))
    with pytest.raises(LookupError):
        async with bus.listen(ADA):
            raise LookupError
    async with anyio.create_task_group() as tasks:
        waiting: list[AsyncIterator[Event]] = []

        async def listen() -> None:
            async with bus.listen(ADA) as live:
                waiting.append(live)
                await anext(live)

        tasks.start_soon(listen)
        await until(lambda: waiting)
        tasks.cancel_scope.cancel()
    await assert_holds_nothing(bus)


async def test_nobody_listens(bus: Bus) -> None:
    """Events to nobody are gone, and no conversation is remembered for them."""
    bus.publish(ADA, deltas(3))
    await assert_holds_nothing(bus)
