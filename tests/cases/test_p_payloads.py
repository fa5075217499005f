"""Cases P: what a model puts into `ask_user`. Bad payloads never pause; good ones arrive as they are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.scene import Process, Scene
from yourcall import ask_user
from yourcall.entries import Asked
from yourcall.log import Done, ToolMessage

pytestmark = pytest.mark.anyio


def question(*labels: str, prompt: str = "Which?", **more: Any) -> dict[str, Any]:
    return {"prompt": prompt, "options": [{"label": label} for label in labels], **more}


async def told(folder: Path, questions: Any) -> str:
    """What the model reads of a call with a bad payload, after which the run went on without a pause."""
    args = questions if isinstance(questions, str) else {"questions": questions}
    async with Scene(folder).process(ask_user, steps=[[("ask_user", args)]]) as process:
        assert isinstance(await process.say(), Done)
        assert not await process.bodies(Asked)
        assert len(process.model.requests) == 2
        return await process.error()


async def shown(process: Process) -> list[dict[str, Any]]:
    """The questions of the open card, through JSON text, as a page gets them."""
    questions: list[dict[str, Any]] = json.loads(json.dumps((await process.open()).ask))["questions"]
    return questions


@pytest.mark.parametrize("length", [0, 25, 40])
async def test_P2_a_header_beyond_its_limit_is_the_models_to_mend(tmp_path: Path, length: int) -> None:
    """The error names the limit; nobody is asked, and nobody is said to have answered."""
    assert "24" in await told(tmp_path, [question("a", "b", header="h" * length)])


async def test_P2_the_schema_states_the_limit_too(tmp_path: Path) -> None:
    """The model can know it before it errs."""
    async with Scene(tmp_path).process(ask_user, steps=[]) as process:
        await process.say()
        (offered,) = process.model.requests[0].tools
        header = offered.schema["properties"]["questions"]["items"]["properties"]["header"]
        assert header["maxLength"] == 24
        assert "At most 24 characters" in header["description"]


@pytest.mark.parametrize("header", ["h" * 13, "h" * 24, "🏋️ 👩‍👩‍👧‍👦", "é" * 24])
async def test_P2_a_header_within_its_limit_is_shown(tmp_path: Path, header: str) -> None:
    """Thirteen characters are fine, and so are emoji."""
    steps = [[("ask_user", {"questions": [question("a", "b", header=header)]})]]
    async with Scene(tmp_path).process(ask_user, steps=steps) as process:
        await process.say()
        assert (await shown(process))[0]["header"] == header


@pytest.mark.parametrize("twin", ["Yes", "yes", " Yes ", "Y\u200des", "Ｙｅｓ", "YE\u017f"])
async def test_P3_labels_that_look_the_same_are_refused(tmp_path: Path, twin: str) -> None:
    """Case, spaces, width, joiners and old letters do not make another option; the reason lets the model mend it."""
    reason = await told(tmp_path, [question("Yes", "No", twin)])
    assert reason.startswith("questions.0.options.2.label looks like that of questions.0.options.0")


async def test_P3_the_same_question_twice_is_refused(tmp_path: Path) -> None:
    """It would be answered twice, and differently."""
    assert "questions.1 has the prompt" in await told(tmp_path, [question("a", "b"), question("c", "d")])


@pytest.mark.parametrize("blank", ["", "   ", "\u200b", "\u200d\u200d", "\ufeff", "\u3164", "\n"])
async def test_P4_blank_text_is_refused(tmp_path: Path, blank: str) -> None:
    """In a question and in a label, whatever the blank is made of."""
    reason = await told(tmp_path, [question("a", blank, prompt=blank)])
    assert "questions.0.prompt is" in reason
    assert "questions.0.options.1.label is" in reason


@pytest.mark.parametrize("label", ["Other", "other…", "None of these", "Something else", "Skip"])
async def test_P4_reserved_options_are_refused(tmp_path: Path, label: str) -> None:
    """The card adds them itself, with a field for the words."""
    assert "the card always adds a free text and a skip" in await told(tmp_path, [question("a", "b", label)])


@pytest.mark.parametrize("count", [0, 5, 100])
async def test_P5_too_few_or_too_many_questions(tmp_path: Path, count: int) -> None:
    """The error has the exact limits and the count."""
    questions = [question("a", "b", prompt=f"{n}?") for n in range(count)]
    assert await told(tmp_path, questions) == f"questions must have 1 to 4 entries, not {count}"


@pytest.mark.parametrize("count", [0, 1, 5])
async def test_P5_too_few_or_too_many_options(tmp_path: Path, count: int) -> None:
    """Of one question among good ones: its place, the limits and the count."""
    questions = [question("a", "b", prompt="Good?"), question(*"abcde"[:count])]
    assert await told(tmp_path, questions) == f"questions.1.options must have 2 to 4 entries, not {count}"


async def test_P5_the_schema_states_the_counts_too(tmp_path: Path) -> None:
    """The model can know them before it errs."""
    async with Scene(tmp_path).process(ask_user, steps=[]) as process:
        await process.say()
        (offered,) = process.model.requests[0].tools
        questions = offered.schema["properties"]["questions"]
        options = questions["items"]["properties"]["options"]
        assert (questions["minItems"], questions["maxItems"]) == (1, 4)
        assert (options["minItems"], options["maxItems"]) == (2, 4)


async def test_P5_uneven_counts_are_fine(tmp_path: Path) -> None:
    """One question or four, of two options or four."""
    questions = [question(*"abcd"[: 2 + n % 3], prompt=f"{n}?") for n in range(4)]
    async with Scene(tmp_path).process(ask_user, steps=[[("ask_user", {"questions": questions})]]) as process:
        await process.say()
        assert [len(one["options"]) for one in await shown(process)] == [2, 3, 4, 2]


def objects(schema: Any) -> Iterator[Any]:
    """Every schema in a schema."""
    yield schema
    for inner in (*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])):
        yield from objects(inner)


OF_EVERY_PROVIDER = {
    *("type", "description", "properties", "required", "additionalProperties", "items"),
    *("minItems", "maxItems", "maxLength"),
}


async def test_P6_the_schema_is_in_the_subset_of_every_provider(tmp_path: Path) -> None:
    """As it is offered: plain types, items for each array, all properties required and no others."""
    async with Scene(tmp_path).process(ask_user, steps=[]) as process:
        await process.say()
        (offered,) = process.model.requests[0].tools
        for schema in objects(offered.schema):
            assert schema.keys() <= OF_EVERY_PROVIDER
            assert isinstance(schema["type"], str)
            assert ("items" in schema) == (schema["type"] == "array")
            if schema["type"] == "object":
                assert schema["required"] == list(schema["properties"])
                assert schema["additionalProperties"] is False


WORLD = [
    "日本語",
    "العربية",
    "می\u200cخواهم",
    "क्\u200dष",
    "👩\u200d👩\u200d👧\u200d👦",
    "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "❤\ufe0f\u200d🔥",
    "e\u0301",
    "Ω≠\u2126",
    "\\u0041 \\n %s {x} &amp;",
]


@pytest.mark.parametrize("label", WORLD)
@pytest.mark.parametrize("ensure_ascii", [True, False])
async def test_P7_a_label_of_any_script_comes_back_identical(tmp_path: Path, label: str, ensure_ascii: bool) -> None:
    """From the model's JSON, escaped or not, to the card, back as an answer, and to the model: the same code points."""
    args = json.dumps({"questions": [question(label, "-", prompt=label, header=label)]}, ensure_ascii=ensure_ascii)
    if len(label) > 24:
        args = json.dumps({"questions": [question(label, "-", prompt=label)]}, ensure_ascii=ensure_ascii)
    async with Scene(tmp_path).process(ask_user, steps=[[("ask_user", args)]]) as process:
        await process.say()
        (card,) = await shown(process)
        assert (card["prompt"], card["options"][0]["label"]) == (label, label)
        await process.answer({"answers": [{"selected": [card["options"][0]["label"]], "other": label}]})
        (message,) = [m for m in process.model.requests[-1].transcript if isinstance(m, ToolMessage)]
        (answer,) = json.loads(message.text)["answers"]
        assert (answer["question"], answer["selected"], answer["other"]) == (label, [label], label)


@pytest.mark.parametrize("escape", ["\\ud800", "\\udc00", "\\u0000", "\\u202e", "\\u2066", "\\u200b", "\\u001b"])
@pytest.mark.parametrize("as_text", [False, True])
async def test_P7_characters_that_have_no_place_are_refused_without_a_crash(
    tmp_path: Path, escape: str, as_text: bool
) -> None:
    """Half a character, NUL, controls and what turns the text around: an error that the model can read."""
    questions = json.dumps([question("a", "XX")]).replace("XX", f"b{escape}c")
    args = json.dumps({"questions": questions}) if as_text else f'{{"questions": {questions}}}'
    reason = await told(tmp_path, args)
    assert "U+" in reason or "Invalid JSON" in reason


async def test_P8_long_texts_are_not_cut(tmp_path: Path) -> None:
    """A prompt of 2,000 characters and labels of 300 arrive whole, with their line breaks."""
    prompt = ("Which of these?\n\n" + "Consider it well. " * 200)[:2_000]
    labels = ["l" * 300, "界" * 300]
    async with Scene(tmp_path).process(
        ask_user, steps=[[("ask_user", {"questions": [question(*labels, prompt=prompt)]})]]
    ) as process:
        await process.say()
        (card,) = await shown(process)
        assert (card["prompt"], [option["label"] for option in card["options"]]) == (prompt, labels)
        await process.answer({"answers": [{"selected": [labels[1]]}]})
        (answer,) = (await process.content())["answers"]
        assert (answer["question"], answer["selected"]) == (prompt, [labels[1]])


@pytest.mark.parametrize(
    "markup",
    [
        "<img src=x onerror=alert(1)>",
        "</script><script>alert(1)</script>",
        "[click](javascript:alert(1))",
        "![](https://evil.example/?q=1)",
        "{{7*7}} ${7*7} <%= 7*7 %>",
        "&lt;b&gt;",
        "javascript:alert(1)",
    ],
)
async def test_P9_markup_is_text(tmp_path: Path, markup: str) -> None:
    """It is neither cleaned nor escaped nor read: the data is what the model wrote, for the page to show as text."""
    asked = {"prompt": markup, "options": [{"label": markup, "description": markup}, {"label": "b"}]}
    async with Scene(tmp_path).process(ask_user, steps=[[("ask_user", {"questions": [asked]})]]) as process:
        await process.say()
        assert await shown(process) == [asked]
        await process.answer({"answers": [{"selected": [markup], "note": markup}]})
        (answer,) = (await process.content())["answers"]
        assert (answer["question"], answer["selected"], answer["note"]) == (markup, [markup], markup)
