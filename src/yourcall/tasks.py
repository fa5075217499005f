"""Work that is carried to its end, whoever cancels the one who waits for it; and waiting until all of it is done.

anyio's shield keeps out anyio's own cancels. `asyncio.timeout`, `asyncio.wait_for` and `asyncio.TaskGroup` cancel the
task itself, through any shield; so what must not be cut off half way runs in a task of its own.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import anyio
import anyio.lowlevel

T = TypeVar("T")


class Tally:
    """How many are at work; whoever wants to can wait until nobody is."""

    def __init__(self) -> None:
        self.count = 0
        self._over = anyio.Event()

    def __bool__(self) -> bool:
        return self.count > 0

    def enter(self) -> None:
        """One more is at work, until `leave`."""
        if not self.count:
            self._over = anyio.Event()
        self.count += 1

    def leave(self) -> None:
        self.count -= 1
        if not self.count:
            self._over.set()

    @contextmanager
    def one(self) -> Iterator[None]:
        """One more is at work, within this block."""
        self.enter()
        try:
            yield
        finally:
            self.leave()

    async def none(self) -> None:
        """Wait until nobody is at work."""
        while self.count:
            await self._over.wait()


def cancelled_from_above() -> bool:
    """Whether a task group of ours, or one around it, is being cancelled."""
    return anyio.current_effective_deadline() == -math.inf


def not_to_keep(error: BaseException) -> bool:
    """Whether an exception out of other people's code must go on: Ctrl-C, or somebody cancels us.

    A `CancelledError` that strays out of that code, `SystemExit` and their like are ordinary failures of it.
    """
    task = asyncio.current_task()
    cancelled = cancelled_from_above() or (task is not None and task.cancelling() > 0)
    return cancelled or isinstance(error, KeyboardInterrupt)


def leaves(error: BaseException) -> Iterator[BaseException]:
    """What a group of exceptions is made of."""
    if isinstance(error, BaseExceptionGroup):
        for part in error.exceptions:
            yield from leaves(part)
    else:
        yield error


async def to_the_end(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Do this work, all of it, or none if the caller is cancelled already; a cancel that comes meanwhile waits."""
    await anyio.lowlevel.checkpoint_if_cancelled()
    task = asyncio.ensure_future(work())
    cancelled: asyncio.CancelledError | None = None
    with anyio.CancelScope(shield=True):
        while not task.done():
            try:
                await asyncio.wait((task,))
            except asyncio.CancelledError as error:
                cancelled = error
    if cancelled is not None:
        if not task.cancelled():
            task.exception()  # looked at, so that asyncio does not warn of it
        raise cancelled
    return task.result()
