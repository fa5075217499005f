"""What a run cost: in the log step by step, and at the end of a run on the wire."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.models import trip
from tests.models.player import messages, player
from yourcall.agui import Encoder
from yourcall.entries import Assistant
from yourcall.events import Ended
from yourcall.log import Log
from yourcall.models import provider

pytestmark = pytest.mark.anyio

LOOK = {"type": "tool_use", "id": "t1", "name": "look", "input": {}}
ASK = {"type": "tool_use", "id": "t2", "name": "ask", "input": {"what": "color"}}
TEXT = {"type": "text", "text": "Done."}
STEP = {"provider": "anthropic", "model": "claude-sonnet-5", "input_tokens": 11, "output_tokens": 7}


def sent(frames: bytes) -> list[dict[str, Any]]:
    return [json.loads(line[6:]) for line in frames.decode().splitlines() if line.startswith("data: ")]


async def test_the_usage_of_a_run(tmp_path: Path) -> None:
    """Each step has its tokens in the log; a run's end has their sum, and the next run's end its own.

    Whoever listens from the start, or comes to the finished log, is told the same."""
    replies = [messages([LOOK]), messages([ASK]), messages([TEXT], "end_turn")]
    terminals = []
    with player(replies) as server:
        model = provider("anthropic:claude-sonnet-5", base_url=server.url, api_key="sk-test", attempts=1)
        live = Encoder("c", "r", Log())
        async with trip.engine(tmp_path, model) as engine:
            chat = engine.conversation("c", user="ada")
            async for event in chat.say("hi"):
                terminals += [frame for frame in sent(live.encode(event)) if frame["type"] == "RUN_FINISHED"]
            (question,) = await chat.interrupts()
            await chat.answer(question.id, "red")
            phase = await trip.followed(chat.events(0))
            log = await chat.log()
    late = Encoder("c", "r", log)
    terminals += sent(late.encode(Ended(phase, log.head)))
    assert [e.body.usage for e in log.entries if isinstance(e.body, Assistant)] == [STEP] * 3
    paused, done = [terminal["usage"] for terminal in terminals]
    line = {"provider": "anthropic", "model": "claude-sonnet-5"}
    assert paused == [line | {"inputTokens": 22, "outputTokens": 14, "totalTokens": 36}]
    assert done == [line | {"inputTokens": 11, "outputTokens": 7, "totalTokens": 18}]
