"""Cases N: labels, several of them, other words, and skips, from the model's question to what the model reads."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.scene import Process, Say, Scene
from yourcall import (
    Context,
    Declined,
    Option,
    Question,
    Questions,
    Rejected,
    Skipped,
    Unavailable,
    ask_user,
    tool,
)
from yourcall.agui import interrupts
from yourcall.entries import Asked
from yourcall.errors import Closed as ClosedError
from yourcall.log import Done, ToolMessage, Waiting

pytestmark = pytest.mark.anyio


def question(prompt: str, *labels: str, **more: Any) -> dict[str, Any]:
    return {"prompt": prompt, "options": [{"label": label} for label in labels], **more}


@asynccontextmanager
async def asking(folder: Path, *questions: dict[str, Any], **options: Any) -> AsyncIterator[Process]:
    """A process in which the model has asked these questions."""
    steps = [[("ask_user", {"questions": list(questions)})]]
    async with Scene(folder).process(ask_user, steps=steps, **options) as process:
        await process.say()
        yield process


async def refused(process: Process, *answers: Any) -> list[str]:
    """The places at which an answer is refused; the question stays open, and the model is not called."""
    before = await process.open()
    with pytest.raises(Rejected) as error:
        await process.answer({"answers": list(answers)})
    assert await process.open() == before
    assert isinstance((await process.chat.snapshot())[1], Waiting)
    assert len(process.model.requests) == 1
    return [fault.pointer for fault in error.value.faults]


def read(process: Process) -> Any:
    """What the model reads of its call, in its last request."""
    (message,) = [m for m in process.model.requests[-1].transcript if isinstance(m, ToolMessage)]
    return json.loads(message.text)


async def test_N1_a_label_with_a_comma_is_one_label(tmp_path: Path) -> None:
    """Labels are never joined or split: what comes out is a list with exactly the label that was chosen."""
    async with asking(tmp_path, question("Which?", "a, b", "a", "b", multi=True)) as process:
        await process.answer({"answers": [{"selected": ["a, b"]}]})
        assert read(process)["answers"][0]["selected"] == ["a, b"]


async def test_N1_duplicate_labels_are_refused_before_anybody_is_asked(tmp_path: Path) -> None:
    """Two options of one name could not be chosen apart."""
    async with asking(tmp_path, question("Which?", "a", "b", "a")) as process:
        assert "questions.0.options.2.label looks like that of questions.0.options.0" in await process.error()


async def test_N3_own_words_beside_a_chosen_option_are_kept(tmp_path: Path) -> None:
    """In a single choice, too: both reach the model."""
    words = "but only on\nweekdays, " * 100
    async with asking(tmp_path, question("Run?", "yes", "no")) as process:
        await process.answer({"answers": [{"selected": ["yes"], "other": words, "note": "n"}]})
        answer = {"question": "Run?", "selected": ["yes"], "other": words, "note": "n", "skipped": False}
        assert read(process) == {"ok": True, "answers": [answer]}
        (shown,) = interrupts(await process.chat.log())  # and the closed card
        kept = {"selected": ["yes"], "other": words, "note": "n"}
        assert shown["metadata"]["yourcall"]["ending"]["answer"] == {"answers": [kept]}


async def test_N4_one_wrong_answer_of_three_takes_nothing_and_loses_nothing(tmp_path: Path) -> None:
    """The refusal names the place; the question is as open as before, and takes the corrected answers."""
    asked = [question("A?", "a", "b"), question("B?", "c", "d", multi=True), question("C?", "e", "f")]
    async with asking(tmp_path, *asked) as process:
        good = [{"selected": ["a"]}, {"selected": ["c", "d"]}, {"other": "own words"}]
        assert await refused(process, good[0], {"selected": "c"}, good[2]) == ["/answers/1/selected"]
        await process.answer({"answers": good})
        told = read(process)["answers"]
        assert [(one["selected"], one["other"]) for one in told] == [
            (["a"], None),
            (["c", "d"], None),
            ([], "own words"),
        ]


async def test_N5_skipping_one_question_keeps_the_answer_to_the_other(tmp_path: Path) -> None:
    """The answer is delivered; the skipped one is marked as such, with what was noted beside it."""
    async with asking(tmp_path, question("A?", "a", "b"), question("B?", "c", "d")) as process:
        await process.answer({"answers": [{"selected": ["b"]}, {"skipped": True, "note": "not sure"}]})
        one, two = read(process)["answers"]
        assert (one["selected"], one["skipped"]) == (["b"], False)
        assert (two["selected"], two["other"], two["note"], two["skipped"]) == ([], None, "not sure", True)


@pytest.mark.parametrize(("on_skip", "words"), [("proceed", "go on"), ("wait", "until the user writes")])
async def test_N7_a_skip_is_no_answer(tmp_path: Path, on_skip: Any, words: str) -> None:
    """The model reads that the user declined, whether to go on or to wait, and not to ask again; and no option."""
    options = [{"label": "Tempeh", "recommended": True}, {"label": "Seitan"}]
    async with asking(tmp_path, {"prompt": "Dinner?", "options": options}, on_skip=on_skip) as process:
        await process.skip(note="ask me later")
        told = read(process)
        assert told["note"] == "ask me later"
        assert told["skipped"] is True
        assert "answers" not in told
        for part in ("declined", "none of the options", words, "Do not ask this again"):
            assert part in told["instruction"]
        for never in ("Tempeh", "Seitan", "preference", "recommended"):
            assert never not in json.dumps(told)


@pytest.mark.parametrize(("on_skip", "words"), [("proceed", "go on"), ("wait", "until the user writes")])
async def test_N7_a_partial_answer_marks_what_was_skipped(tmp_path: Path, on_skip: Any, words: str) -> None:
    """What is said of a skip is said of the skipped question only."""
    async with asking(tmp_path, question("A?", "a", "b"), question("B?", "c", "d"), on_skip=on_skip) as process:
        await process.answer({"answers": [{"skipped": True}, {"selected": ["d"]}]})
        told = read(process)
        nothing: dict[str, Any] = {"selected": [], "other": None, "note": None}
        assert told["answers"] == [
            {"question": "A?", **nothing, "skipped": True},
            {"question": "B?", **nothing, "selected": ["d"], "skipped": False},
        ]
        assert "declined the questions marked as skipped" in told["instruction"]
        assert words in told["instruction"]


@pytest.mark.parametrize(("on_skip", "words"), [("proceed", "go on"), ("wait", "until the user writes")])
async def test_N7_a_skip_of_any_other_ask_is_no_answer_either(tmp_path: Path, on_skip: Any, words: str) -> None:
    """A tool of the app's own that lets the skip through tells the model the same."""

    @tool
    def weight(ctx: Context) -> str:
        """Ask for a weight."""
        return ctx.ask(Say("Weight?"))

    async with Scene(tmp_path).process(weight, on_skip=on_skip) as process:
        await process.say()
        await process.skip()
        told = read(process)
        assert told["error"] == "The user skipped this question and gave no answer."
        for part in (words, "Do not ask this again"):
            assert part in told["instruction"]


async def test_N7_an_answer_without_a_skip_has_no_instruction(tmp_path: Path) -> None:
    """Nothing is declined, so nothing is said of it."""
    async with asking(tmp_path, question("A?", "a", "b")) as process:
        await process.answer({"answers": [{"selected": ["a"]}]})
        assert read(process).keys() == {"ok", "answers"}


@pytest.mark.parametrize("answers", [[], [{}], [""], [None], [{"selected": []}], [{"other": ""}], [{"note": "hm"}]])
async def test_N9_an_empty_answer_is_no_answer(tmp_path: Path, answers: list[Any]) -> None:
    """Refused, and pending: the model must not make up a choice for the user."""
    async with asking(tmp_path, question("A?", "a", "b")) as process:
        assert await refused(process, *answers)


@pytest.mark.parametrize("payload", [{}, None, [], "", {"answers": None}, {"answers": {}}])
async def test_N9_an_empty_payload_is_no_answer(tmp_path: Path, payload: Any) -> None:
    """And no skip either: that has a way of its own."""
    async with asking(tmp_path, question("A?", "a", "b")) as process:
        with pytest.raises(Rejected):
            await process.answer(payload)
        assert (await process.open()).kind == "questions"


@pytest.mark.parametrize("label", ["yes", "Yes ", " Yes", "YES", "1", "2", "Yes, please", "Y", "Ｙes", ""])
async def test_N11_only_the_exact_label_chooses(tmp_path: Path, label: str) -> None:
    """No other case, spacing, width, number or beginning of it; and never the first option by default."""
    async with asking(tmp_path, question("Run?", "Yes", "No")) as process:
        assert await refused(process, {"selected": [label]}) == ["/answers/0/selected/0"]


@pytest.mark.parametrize("words", ["yes", "2", "NO!", "the second one"])
async def test_N11_own_words_choose_nothing(tmp_path: Path, words: str) -> None:
    """They reach the model as they are, even where they resemble a label."""
    async with asking(tmp_path, question("Run?", "Yes", "No")) as process:
        await process.answer({"answers": [{"other": words}]})
        (answer,) = read(process)["answers"]
        assert (answer["selected"], answer["other"]) == ([], words)


async def test_N8_a_question_that_nobody_could_see_is_no_refusal(tmp_path: Path) -> None:
    """Where there is no one to ask, the tool hears that, and not that the user said no."""
    with pytest.raises(Unavailable) as nobody:
        Context(user="ada").ask(Questions([Question("Run?", [Option("Yes"), Option("No")])]))
    assert nobody.value.ending == "unavailable"
    assert "not shown to anybody" in str(nobody.value)
    assert not isinstance(nobody.value, Declined | Skipped)


async def test_N8_a_question_whose_tool_is_gone_is_no_refusal(tmp_path: Path) -> None:
    """It closes as unavailable, and what the model reads blames no user."""
    scene = Scene(tmp_path)
    async with scene.process(ask_user, steps=[[("ask_user", {"questions": [question("A?", "a", "b")]})]]) as process:
        await process.say()
        asked = await process.open()
    async with scene.process(steps=["I go on."]) as process:
        with pytest.raises(ClosedError) as closed:
            await process.chat.answer(asked.id, {"answers": [{"selected": ["a"]}]})
        assert closed.value.ending == "unavailable"
        assert await process.rest() == Done()
        (told,) = [m for m in process.model.requests[-1].transcript if isinstance(m, ToolMessage)]
        assert "does not exist any more" in told.text
        assert "user" not in told.text.replace("ask_user", "")


async def test_N10_a_skipped_question_is_asked_twice_at_most(tmp_path: Path) -> None:
    """A model that repeats it after each skip is told to stop: the third time nothing is shown, and nobody waits."""
    same = [("ask_user", {"questions": [question("A?", "a", "b")]})]
    async with Scene(tmp_path).process(ask_user, steps=[same, same, same, same, same, "I stop asking."]) as process:
        await process.say()
        for _ in range(2):
            await process.chat.skip((await process.open()).id)
            await process.rest()
        assert await process.rest() == Done()
        log = await process.chat.log()
        assert sum(isinstance(entry.body, Asked) for entry in log.entries) == 2
        told = [m.text for m in process.model.requests[-1].transcript if isinstance(m, ToolMessage)]
        assert ["Do not ask" in text for text in told] == [True] * 5
        assert ["skipped this twice" in text for text in told] == [False, False, True, True, True]
