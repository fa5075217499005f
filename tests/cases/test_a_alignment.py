"""Cases A9 and A10: each answer arrives at its own question."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.scene import Scene
from yourcall import Rejected, ask_user
from yourcall.log import Waiting

pytestmark = pytest.mark.anyio


def question(prompt: str, header: str, *labels: str) -> dict[str, Any]:
    return {"prompt": prompt, "header": header, "options": [{"label": label} for label in labels or ("yes", "no")]}


async def test_A9_answers_have_no_key_but_their_place(tmp_path: Path) -> None:
    """Neither prompt nor header is a key: questions that share one of them get their own answers."""
    questions = [
        question("Which day?", "Start"),
        question("Which day?", "End"),
        question("And the hour?", "End"),
    ]
    async with Scene(tmp_path).process(ask_user, steps=[[("ask_user", {"questions": questions})]]) as process:
        await process.say()
        await process.answer({"answers": [{"other": "Monday"}, {"other": "Friday"}, {"selected": ["no"]}]})
        told = (await process.content())["answers"]
        assert [(one["question"], one["selected"], one["other"]) for one in told] == [
            ("Which day?", [], "Monday"),
            ("Which day?", [], "Friday"),
            ("And the hour?", ["no"], None),
        ]


async def test_A9_questions_that_nobody_can_tell_apart_are_refused(tmp_path: Path) -> None:
    """The same prompt under the same header is a mistake, told to the model before anybody sees it."""
    twice = [question("Which day?", "Day", "Monday", "Friday"), question("which  day?", "DAY", "June", "July")]
    async with Scene(tmp_path).process(ask_user, steps=[[("ask_user", {"questions": twice})]]) as process:
        await process.say()
        assert "questions.1 has the prompt and the header of questions.0" in await process.error()


@pytest.mark.parametrize("count", [0, 1, 2, 4, 5])
async def test_A10_an_answer_for_each_question_or_none_is_taken(tmp_path: Path, count: int) -> None:
    """A list of another length is refused as a whole; nothing is spread, shifted or taken from it."""
    questions = [question(f"Question {n}?", f"Q{n}") for n in range(3)]
    async with Scene(tmp_path).process(ask_user, steps=[[("ask_user", {"questions": questions})]]) as process:
        await process.say()
        with pytest.raises(Rejected, match="Expected 3 answers") as refused:
            await process.answer({"answers": [{"selected": ["yes"]}] * count})
        assert (refused.value.status, refused.value.faults[0].pointer) == (422, "/answers")
        assert isinstance((await process.chat.snapshot())[1], Waiting)
        await process.answer({"answers": [{"selected": ["yes"]}, {"selected": ["no"]}, {"skipped": True}]})
        told = (await process.content())["answers"]
        assert [(one["selected"], one["skipped"]) for one in told] == [(["yes"], False), (["no"], False), ([], True)]
