"""Work that is carried to its end, whoever cancels the one who waits for it.

anyio's shield keeps out anyio's own cancels. `asyncio.timeout`, `asyncio.wait_for` and `asyncio.TaskGroup` cancel the
task itself, through any shield; so what must not be cut off half way runs in a task of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import anyio
import anyio.lowlevel

T = TypeVar("T")


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
