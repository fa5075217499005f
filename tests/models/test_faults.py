"""Every way in which a provider fails, at the worst moment: right after the user has answered.

The faults are those of llmock, an independent server with its own judgement of how a client behaved, and some of our
own. After each, the run has stopped with words for the user, nothing of the broken step is in the log, and trying
again leads to the end, with the answer's effect done once.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from llmock.pytest_plugin import LLMock

from tests.models import trip
from tests.models.player import Reply, chat, messages, player, responses
from yourcall.entries import Assistant
from yourcall.errors import ModelFailed
from yourcall.events import Delta, Retracted
from yourcall.log import Done, Log, UserMessage, Waiting
from yourcall.models import Retrying, provider
from yourcall.ports import Finished, Model, ModelEvent, ModelRequest, Restarted, TextDelta

pytestmark = pytest.mark.anyio

PROVIDERS = {"anthropic:claude-sonnet-5": "anthropic", "openai:gpt-4o": "openai", "openai-responses:gpt-5": "openai"}


def model_of(name: str, llmock: LLMock, **options: Any) -> Model:
    """Two attempts, so that giving up takes no time."""
    return provider(name, base_url=llmock.base_url(PROVIDERS[name]), api_key="sk-test", **{"attempts": 2} | options)


async def asked(folder: Path, model: Model, llmock: LLMock) -> None:
    """The first step asks the user; the model has nothing more to say until the answer."""
    llmock.call_tool("ask", {"what": "color"})
    assert isinstance(await trip.say(folder, model), Waiting)
    llmock.tool_mode("off")


async def log_of(folder: Path, model: Model) -> Log:
    async with trip.engine(folder, model) as engine:
        return await engine.conversation("c", user="ada").log()


Fault = Callable[[LLMock], Any]
PASSING: dict[str, Fault] = {
    "cut cleanly": lambda llmock: llmock.truncate(after_chunks=2, times=2),
    "connection dropped": lambda llmock: llmock.disconnect(after_chunks=2, times=2),
    "a corrupt chunk": lambda llmock: llmock.corrupt(after_chunks=2, times=2),
    "stalled": lambda llmock: llmock.stall(after_chunks=2, seconds=1.0, times=2),
    "429": lambda llmock: llmock.rate_limit(times=2, retry_after=0.1),
    "500": lambda llmock: llmock.fail(500, times=2),
    "503": lambda llmock: llmock.fail(503, times=2),
    "529": lambda llmock: llmock.fail(529, times=2),
}


@pytest.mark.parametrize("name", PROVIDERS)
@pytest.mark.parametrize("fault", PASSING)
async def test_a_fault_that_may_pass(name: str, fault: str, tmp_path: Path, llmock: LLMock) -> None:
    """Two attempts fail and the run stops, to be resumed: then it ends well, and what the tool did is done once."""
    model = model_of(name, llmock)
    await asked(tmp_path, model, llmock)
    PASSING[fault](llmock)
    hasty = model_of(name, llmock, silence=0.4) if fault == "stalled" else model
    stopped = await trip.answer(tmp_path, hasty, {"color": "red"})
    assert isinstance(stopped, Done)
    assert (stopped.reason, stopped.retryable) == ("model-failed", True)
    assert stopped.message.endswith(("Try again.", "Try again in a moment."))
    log = await log_of(tmp_path, model)
    assert [len(e.body.calls) for e in log.entries if isinstance(e.body, Assistant)] == [1]
    assert len(llmock.requests) == 3
    if "cut" not in fault:  # by its rules, whoever gives up on a cut stream has believed it
        llmock.assert_resilient()
    assert await trip.resume(tmp_path, model) == Done("success")
    assert trip.effects(tmp_path) == ["color=red"]
    if "cut" in fault:
        llmock.assert_resilient()


LASTING: dict[str, tuple[Fault, str]] = {
    "too long": (lambda llmock: llmock.context_overflow(), "too long"),
    "no such key": (lambda llmock: llmock.fail(401), "whoever runs this app"),
    "refused": (lambda llmock: llmock.fail(400), "whoever runs this app"),
}


@pytest.mark.parametrize("name", PROVIDERS)
@pytest.mark.parametrize("fault", LASTING)
async def test_a_fault_that_lasts(name: str, fault: str, tmp_path: Path, llmock: LLMock) -> None:
    """It is not tried again by itself; the user reads what it was. Once it is mended, `resume` goes on."""
    model = model_of(name, llmock)
    await asked(tmp_path, model, llmock)
    inject, words = LASTING[fault]
    inject(llmock)
    stopped = await trip.answer(tmp_path, model, {"color": "red"})
    assert isinstance(stopped, Done)
    assert (stopped.reason, stopped.retryable) == ("model-failed", False)
    assert words in stopped.message
    assert len(llmock.requests) == 2
    llmock.assert_resilient()
    assert await trip.resume(tmp_path, model) == Done("success")
    assert trip.effects(tmp_path) == ["color=red"]


@pytest.mark.parametrize("name", PROVIDERS)
async def test_a_provider_that_recovers_is_not_noticed(name: str, tmp_path: Path, llmock: LLMock) -> None:
    """The third attempt succeeds, after the time that the provider asked for: the run has not stopped."""
    model = model_of(name, llmock, attempts=3)
    await asked(tmp_path, model, llmock)
    llmock.rate_limit(retry_after=1.0)  # longer than it would wait by itself
    llmock.truncate(after_chunks=2)
    assert await trip.answer(tmp_path, model, {"color": "red"}) == Done("success")
    llmock.assert_resilient(strict=True)


async def test_text_of_a_failed_attempt_is_taken_back(tmp_path: Path, llmock: LLMock) -> None:
    """What was shown of it is retracted before the next attempt begins; the log has the text of the last alone."""
    model = model_of("anthropic:claude-sonnet-5", llmock)
    llmock.tool_mode("off").reply("one two three four five", times=None).truncate(after_chunks=5)
    shown, texts = "", []
    async with trip.engine(tmp_path, model) as engine:
        async for event in engine.conversation("c", user="ada").say("hi"):
            match event:
                case Delta(_, offset, text):
                    assert offset == len(shown)
                    shown += text
                case Retracted():
                    texts.append(shown)
                    shown = ""
    assert len(texts) == 1
    assert texts[0]
    assert shown == "one two three four five"
    log = await log_of(tmp_path, model)
    assert [e.body.text for e in log.entries if isinstance(e.body, Assistant)] == [shown]


async def test_a_run_is_cancelled_while_the_model_speaks(tmp_path: Path, llmock: LLMock) -> None:
    """The request ends at once, nothing of it is recorded, and the conversation goes on with the next message."""
    model = model_of("anthropic:claude-sonnet-5", llmock)
    llmock.tool_mode("off").reply("one two three four five", times=None).stall(after_chunks=5, seconds=3600.0)
    async with trip.engine(tmp_path, model) as engine:
        talk = engine.conversation("c", user="ada")
        with anyio.fail_after(60):
            async for event in talk.say("hi"):
                if isinstance(event, Delta):
                    await talk.cancel()
            assert await trip.followed(talk.say("again")) == Done("success")
        assert len([e for e in (await talk.log()).entries if isinstance(e.body, Assistant)]) == 1


# --------------------------------------------------------------------------- what the provider says of a step

CALL = {"type": "tool_use", "id": "toolu_1", "name": "ask", "input": {"what": "color"}}
TEXT = {"type": "text", "text": "I shall"}
MESSAGE = {
    "type": "message", "id": "m", "role": "assistant", "status": "completed",
    "content": [{"type": "output_text", "text": "I shall", "annotations": []}],
}  # fmt: skip
FUNCTION = {"type": "function_call", "id": "f", "call_id": "c", "name": "ask", "arguments": '{"what":', "status": "x"}
CUT_CALL = {"id": "c", "name": "ask", "arguments": '{"what":'}
CLAUDE, GPT, RESPONSES = PROVIDERS
TOO_MANY = Reply(status=429, body={"type": "error", "error": {"type": "rate_limit_error", "message": "4242"}})
NO_QUOTA = Reply(
    status=429,
    body={"error": {"type": "insufficient_quota", "code": "insufficient_quota", "message": "4242", "param": None}},
)


def broken(reply: Reply) -> Reply:
    """With one event of the middle corrupt, as it is on the wire."""
    half = len(reply.events) // 2
    event = reply.events[half]
    return Reply([*reply.events[:half], (event["type"], str(event)), *reply.events[half + 1 :]])


ENDS = [
    pytest.param(CLAUDE, messages([TEXT], "refusal"), False, "declined", id="a refusal"),
    pytest.param(CLAUDE, messages([TEXT, CALL], "max_tokens"), False, "longer", id="a call cut off by the limit"),
    pytest.param(CLAUDE, messages([TEXT], "model_context_window_exceeded"), False, "too long", id="no room left"),
    pytest.param(CLAUDE, messages([TEXT, CALL], None), True, "ended early", id="no end: Anthropic"),
    pytest.param(CLAUDE, broken(messages([TEXT, CALL])), True, "broke", id="a corrupt event: Anthropic"),
    pytest.param(RESPONSES, broken(responses([MESSAGE])), True, "broke", id="a corrupt event: Responses"),
    pytest.param(GPT, chat("I shall", [], None), True, "ended early", id="no end: Chat"),
    pytest.param(GPT, chat("", [CUT_CALL], None), True, "ended early", id="no end in a call: Chat"),
    pytest.param(GPT, chat("", [CUT_CALL], "length"), False, "longer", id="a call cut off by the limit: Chat"),
    pytest.param(GPT, chat("I shall", [], "content_filter"), False, "declined", id="filtered: Chat"),
    pytest.param(RESPONSES, responses([MESSAGE], None), True, "ended early", id="no end: Responses"),
    pytest.param(
        RESPONSES,
        responses([MESSAGE, FUNCTION], "incomplete", incomplete_details={"reason": "max_output_tokens"}),
        False, "longer", id="a call cut off by the limit: Responses",
    ),
    pytest.param(
        RESPONSES,
        responses([MESSAGE], "incomplete", incomplete_details={"reason": "content_filter"}),
        False, "declined", id="filtered: Responses",
    ),
    pytest.param(
        RESPONSES,
        responses([MESSAGE], "failed", error={"code": "server_error", "message": "4242"}),
        True, "busy", id="failed: Responses",
    ),
    pytest.param(CLAUDE, TOO_MANY, True, "busy", id="429 without Retry-After: Anthropic"),
    pytest.param(GPT, TOO_MANY, True, "busy", id="429 without Retry-After: Chat"),
    pytest.param(RESPONSES, TOO_MANY, True, "busy", id="429 without Retry-After: Responses"),
    pytest.param(GPT, NO_QUOTA, False, "quota", id="no quota: Chat"),
    pytest.param(RESPONSES, NO_QUOTA, False, "quota", id="no quota: Responses"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "reply", "retryable", "words"), ENDS)
async def test_a_step_that_was_not_finished_does_not_count(
    name: str, reply: Reply, retryable: bool, words: str
) -> None:
    """Only a step that the provider itself calls finished is one; of the others nothing is kept."""
    with player([reply]) as server:
        model = provider(name, base_url=server.base(name), api_key="sk-test", attempts=1)
        with pytest.raises(ModelFailed, match=words) as failed:
            [event async for event in model.stream(ModelRequest((UserMessage("hi"),)))]
    assert failed.value.retryable is retryable
    assert "4242" not in str(failed.value)


@pytest.mark.parametrize(
    ("name", "reply"),
    [
        (CLAUDE, messages([TEXT], "max_tokens")),
        (GPT, chat("I shall", [], "length")),
        (RESPONSES, responses([MESSAGE], "incomplete", incomplete_details={"reason": "max_output_tokens"})),
    ],
    ids=PROVIDERS,
)
async def test_a_text_that_reached_its_limit_is_a_step(name: str, reply: Reply) -> None:
    """It ends where the app said that it may end: nothing is missing but words."""
    with player([reply]) as server:
        model = provider(name, base_url=server.base(name), api_key="sk-test", attempts=1)
        *_, last = [event async for event in model.stream(ModelRequest((UserMessage("hi"),)))]
    assert isinstance(last, Finished)
    assert last.text == "I shall"


# --------------------------------------------------------------------------- trying again


class Fails:
    """Fails with these, one after another, each after some text; then it speaks."""

    def __init__(self, *failures: ModelFailed) -> None:
        self.failures = list(failures)

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        yield TextDelta("half")
        if self.failures:
            raise self.failures.pop(0)
        yield Finished("half")


async def tried(model: Model) -> list[ModelEvent]:
    return [event async for event in model.stream(ModelRequest(()))]


async def test_the_pauses_between_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    """They double, or are what the provider asks for; one who asks for too long is not waited for."""
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr("anyio.sleep", sleep)
    half, restarted = TextDelta("half"), Restarted()
    model = Retrying(Fails(ModelFailed("a"), ModelFailed("b"), ModelFailed("c", after=3.0)), attempts=4, first=1.0)
    assert await tried(model) == [half, restarted, half, restarted, half, restarted, half, Finished("half")]
    first, second, third = slept
    assert 0.75 <= first <= 1.25
    assert 1.5 <= second <= 2.5
    assert third == 3.0

    with pytest.raises(ModelFailed, match="slow"):
        await tried(Retrying(Fails(ModelFailed("slow", after=31.0)), attempts=4))
    with pytest.raises(ModelFailed, match="no"):
        await tried(Retrying(Fails(ModelFailed("no", retryable=False)), attempts=4))
    with pytest.raises(ModelFailed, match="b"):
        await tried(Retrying(Fails(ModelFailed("a"), ModelFailed("b")), attempts=2))
    assert len(slept) == 4
