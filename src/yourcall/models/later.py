"""A model that is made when it is first used: importing a provider's SDK takes a second or two."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import anyio.to_thread

from yourcall.ports import Model, ModelEvent, ModelRequest


class Later:
    """A `Model` that `make` makes, in a thread, so that the other conversations go on meanwhile."""

    def __init__(self, make: Callable[[], Model]) -> None:
        self._make = make
        self._made: Model | None = None

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        if self._made is None:
            self._made = await anyio.to_thread.run_sync(self._make)
        async for event in self._made.stream(request):
            yield event
