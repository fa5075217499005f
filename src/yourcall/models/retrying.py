"""Trying again, for any `Model`: what fails in passing should not stop a run.

A failure that the provider may get over is tried again after a pause that doubles, or after the time that the
provider asked for. Text that was shown of the failed attempt is taken back first.
"""

from __future__ import annotations

import logging
import random
from collections.abc import AsyncIterator

import anyio

from yourcall.errors import ModelFailed
from yourcall.ports import Model, ModelEvent, ModelRequest, Restarted, TextDelta

log = logging.getLogger("yourcall")


class Retrying:
    """A `Model` that tries each step `attempts` times.

    It waits `first` seconds after the first failure and twice as long after each further one, give or take a
    quarter, so that many who failed together do not come back together. A provider that asks for more than
    `patience` seconds is not waited for: the run stops, and can be resumed.
    """

    def __init__(self, model: Model, *, attempts: int = 4, first: float = 0.5, patience: float = 30.0) -> None:
        self.model = model
        self.attempts, self.first, self.patience = attempts, first, patience

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        for attempt in range(1, self.attempts + 1):
            shown = False
            try:
                async for event in self.model.stream(request):
                    shown = shown or isinstance(event, TextDelta)
                    yield event
                return
            except ModelFailed as failure:
                pause = self._pause(attempt, failure)
                if not failure.retryable or attempt == self.attempts or pause > self.patience:
                    raise
                log.warning("Attempt %d of %d at a step failed: %s", attempt, self.attempts, failure)
            if shown:
                yield Restarted()
            await anyio.sleep(pause)

    def _pause(self, attempt: int, failure: ModelFailed) -> float:
        if failure.after is not None:
            return failure.after
        return self.first * 2.0 ** (attempt - 1) * random.uniform(0.75, 1.25)
