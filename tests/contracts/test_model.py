"""What every `Model` keeps, and the scripted one's own rules. A model that is new to the library joins them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from itertools import repeat
from typing import TypeAlias

import pytest

from tests.models.speaking import PROVIDERS, speaking
from yourcall.entries import Call
from yourcall.errors import ModelFailed
from yourcall.log import Transcript, UserMessage
from yourcall.ports import Finished, Model, ModelEvent, ModelRequest, TextDelta
from yourcall.testing import CallStep, ScriptedModel, ScriptStep

pytestmark = pytest.mark.anyio

Saying: TypeAlias = Callable[[Sequence[ScriptStep]], Model]
"""Makes one that says these steps."""


@pytest.fixture(params=["scripted", *PROVIDERS])
def saying(request: pytest.FixtureRequest) -> Iterator[Saying]:
    if request.param == "scripted":
        yield ScriptedModel
        return
    with ExitStack() as servers:
        yield lambda steps: servers.enter_context(speaking(request.param, steps))


HELLO = ModelRequest((UserMessage("hello"),))


async def step(model: Model, request: ModelRequest = HELLO) -> list[ModelEvent]:
    return [event async for event in model.stream(request)]


# --------------------------------------------------------------------------- every model


@pytest.mark.parametrize("text", ["Hi", "Plan your week", "  two  spaces\n and a line ", "ทดสอบ 🏋️‍♀️ e\u0301"])
async def test_the_pieces_are_the_whole(saying: Saying, text: str) -> None:
    """What was shown piece by piece is what is recorded; the end of a step is said once, and last."""
    *pieces, finished = await step(saying([text]))
    assert isinstance(finished, Finished)
    assert (finished.text, finished.calls) == (text, ())
    assert [type(piece) for piece in pieces] == [TextDelta] * len(pieces)
    assert "".join(piece.text for piece in pieces if isinstance(piece, TextDelta)) == text


async def test_calls_come_with_the_end_of_the_step(saying: Saying) -> None:
    """In the model's order, each with an id of its own and its arguments as JSON text."""
    (finished,) = await step(saying([[("ask", {"unit": "kg", "n": [1, None]}), ("ask", {})]]))
    assert isinstance(finished, Finished)
    assert [call.tool for call in finished.calls] == ["ask", "ask"]
    assert [json.loads(call.args) for call in finished.calls] == [{"unit": "kg", "n": [1, None]}, {}]
    assert len({call.id for call in finished.calls}) == 2


async def test_a_provider_that_fails(saying: Saying) -> None:
    """A failure is a `ModelFailed`, in words for the user; the next request is not hindered by it."""
    model = saying([ModelFailed("Overloaded. Try again."), "Hi"])
    with pytest.raises(ModelFailed) as failed:
        await step(model)
    assert failed.value.retryable
    assert "4242" not in str(failed.value)  # the provider's own words
    finished = (await step(model))[-1]
    assert isinstance(finished, Finished)
    assert finished.text == "Hi"


# --------------------------------------------------------------------------- the scripted one


async def test_a_script_may_look_at_the_transcript_and_have_no_end() -> None:
    """A step can be a function of what is sent; the steps can be endless."""

    def echo(transcript: Transcript) -> str:
        last = transcript[-1]
        assert isinstance(last, UserMessage)
        return last.text.upper()

    model = ScriptedModel(repeat(echo))
    assert [(await step(model))[-1] for _ in range(3)] == [Finished("HELLO")] * 3


async def test_it_records_every_request() -> None:
    """In order, as they came, failed ones too."""
    model = ScriptedModel(["a", ModelFailed("no"), "b"])
    requests = [ModelRequest((UserMessage(str(n)),), instructions=str(n)) for n in range(3)]
    await step(model, requests[0])
    with pytest.raises(ModelFailed):
        await step(model, requests[1])
    await step(model, requests[2])
    assert model.requests == requests


async def test_ids_and_arguments_may_be_given_as_they_are() -> None:
    """A repeated id, broken JSON and values that JSON lacks reach the library as a model would send them."""
    calls: list[CallStep] = [("ask", "{broken", "twice"), ("ask", {"n": float("nan")}, "twice"), ("ask", None)]
    (finished,) = await step(ScriptedModel([calls]))
    assert finished == Finished(
        calls=(Call("twice", "ask", "{broken"), Call("twice", "ask", '{"n":NaN}'), Call("call_1_3", "ask", "null"))
    )


async def test_a_script_that_is_too_short_says_so() -> None:
    """The test's author learns at which request the script had nothing to say."""
    model = ScriptedModel(["only"])
    await step(model)
    with pytest.raises(AssertionError, match="request 2"):
        await step(model)


async def test_an_empty_text_is_a_step() -> None:
    """A model may say nothing at all."""
    assert await step(ScriptedModel([""])) == [Finished()]
