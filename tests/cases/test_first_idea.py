"""The function that this project began with: plain, with a hand-written pause, and nothing adapted but its context."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.scene import Scene
from yourcall import Context, tool
from yourcall.log import Done, Waiting

pytestmark = pytest.mark.anyio

NAME = "ask_user_questions"


@tool
def ask(ctx: Context, questions: list[dict[str, Any]]) -> str:
    """Ask the user one to four questions, each with two to four options."""
    if not 1 <= len(questions) <= 4:
        return json.dumps({"error": f"Ask 1 to 4 questions, not {len(questions)}."})
    for question in questions:
        if not question.get("question") or not 2 <= len(question.get("options", [])) <= 4:
            return json.dumps({"error": "Each question needs a text and 2 to 4 options."})

    reply = ctx.interrupt(NAME, reason={"questions": questions})

    if reply.get("skipped"):
        return json.dumps({"skipped": True})
    lines = []
    for question, answer in zip(questions, reply["answers"], strict=True):
        chosen = answer.get("other") or ", ".join(answer.get("selected", []))
        lines.append(f"{question['question']} {chosen}")
    return json.dumps({"answers": lines})


QUESTIONS = [
    {"question": "Which goal?", "options": [{"label": "Strength"}, {"label": "Endurance"}]},
    {"question": "How often?", "options": [{"label": "Twice"}, {"label": "Daily"}]},
]
STEPS = [[("ask", {"questions": QUESTIONS})]]


async def test_it_pauses_and_reads_the_answers_in_order(tmp_path: Path) -> None:
    """What it validated is what is shown; what the client sent is what it reads, in a new process too."""
    scene = Scene(tmp_path)
    async with scene.process(ask, steps=STEPS) as process:
        assert isinstance(await process.say(), Waiting)
        interrupt = await process.open()
        assert interrupt.kind == "interrupt"
        assert interrupt.ask == {"name": NAME, "reason": {"questions": QUESTIONS}}
    async with scene.process(ask) as process:
        assert await process.open() == interrupt
        assert isinstance(
            await process.answer({"answers": [{"selected": ["Strength"]}, {"selected": [], "other": "Mondays"}]}), Done
        )
        assert json.loads(await process.content()) == {"answers": ["Which goal? Strength", "How often? Mondays"]}


async def test_a_skip_reads_as_skipped(tmp_path: Path) -> None:
    """`reply.get("skipped")` is true, with no answers beside it."""
    async with Scene(tmp_path).process(ask, steps=STEPS) as process:
        await process.say()
        assert isinstance(await process.skip(), Done)
        assert json.loads(await process.content()) == {"skipped": True}


@pytest.mark.parametrize("questions", [[], QUESTIONS * 3, [{"question": "Which?", "options": []}]])
async def test_what_it_refuses_never_pauses(tmp_path: Path, questions: Any) -> None:
    """Its own validation comes before its pause, and its words reach the model."""
    async with Scene(tmp_path).process(ask, steps=[[("ask", {"questions": questions})]]) as process:
        assert isinstance(await process.say(), Done)
        assert "error" in json.loads(await process.content())
