"""For tests of agents: a model that says what the test tells it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import Any, TypeAlias

import anyio
from pydantic_core import to_json

from yourcall.entries import Call
from yourcall.log import Transcript
from yourcall.ports import Finished, ModelEvent, ModelRequest, TextDelta

CallStep: TypeAlias = tuple[str, Any] | tuple[str, Any, str]
Said: TypeAlias = str | Sequence[CallStep] | BaseException
ScriptStep: TypeAlias = Said | Callable[[Transcript], Said]


class ScriptedModel:
    """A `Model` that plays `steps`, one a request; they may be endless.

    A step is a text, a list of `(tool, args)` or `(tool, args, call_id)`, an exception to raise, or a function of
    the transcript that returns one of these. `args` is anything that becomes a JSON object, or JSON text as it
    is. `delay` is in seconds before each delta. `requests` records every request.
    """

    def __init__(self, steps: Iterable[ScriptStep] = (), *, delay: float = 0) -> None:
        self._steps = iter(steps)
        self.delay = delay
        self.requests: list[ModelRequest] = []

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        self.requests.append(request)
        number = len(self.requests)
        step = next(self._steps, None)
        if step is None:
            raise AssertionError(f"The script has no step for request {number}.")
        said = step(request.transcript) if callable(step) else step
        match said:
            case BaseException():
                raise said
            case str():
                for delta in _deltas(said):
                    await anyio.sleep(self.delay)
                    yield TextDelta(delta)
                yield Finished(text=said)
            case _:
                yield Finished(calls=tuple(_call(number, n, call) for n, call in enumerate(said, 1)))


def _call(request: int, n: int, call: CallStep) -> Call:
    name, args = call[0], call[1]
    call_id = call[2] if len(call) == 3 else f"call_{request}_{n}"
    return Call(call_id, name, args if isinstance(args, str) else to_json(args, inf_nan_mode="constants").decode())


def _deltas(text: str) -> list[str]:
    """Words, each with the space after it."""
    words = text.split(" ")
    return [word + " " for word in words[:-1]] + [words[-1]] if text else []
