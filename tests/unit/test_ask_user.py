"""`ask_user` as the model sees it: a schema that any provider takes, and words that let it mend what it sent."""

from __future__ import annotations

import json
from typing import Any

import pytest

from yourcall import ask_user, make_ask_user
from yourcall.context import Context
from yourcall.entries import Call
from yourcall.errors import Paused, ProgrammingError, ToolError, Unavailable
from yourcall.log import CallLog
from yourcall.questions import Questions

GOOD: dict[str, Any] = {"prompt": "Which unit?", "options": [{"label": "kg"}, {"label": "lb"}]}


def asked(questions: Any) -> Questions:
    """What the call asks its user; raises what it does instead."""
    ctx = Context[Any](past=CallLog(Call("c", "ask_user")))
    with pytest.raises(Paused):
        ask_user(ctx, **ask_user.parse(json.dumps({"questions": questions})))
    assert ctx.pending
    assert isinstance(ctx.pending.ask, Questions)
    return ctx.pending.ask


def error(questions: Any, tool: Any = ask_user) -> str:
    ctx = Context[Any](past=CallLog(Call("c", "ask_user")))
    with pytest.raises(ToolError) as refused:
        tool(ctx, **tool.parse(json.dumps({"questions": questions})))
    assert ctx.pending is None
    return str(refused.value)


# --------------------------------------------------------------------------- what the model is told


@pytest.mark.parametrize(("questions", "options"), [(4, 4), (1, 2), (8, 12)])
def test_the_schema_states_every_limit(questions: int, options: int) -> None:
    """As keywords, and in words for where a provider drops those."""
    schema = make_ask_user(max_questions=questions, max_options=options).spec.schema["properties"]["questions"]
    question = schema["items"]["properties"]
    option = question["options"]["items"]["properties"]
    assert (schema["minItems"], schema["maxItems"]) == (1, questions)
    assert (question["options"]["minItems"], question["options"]["maxItems"]) == (2, options)
    assert f"1 to {questions} " in schema["description"]
    assert f"2 to {options} " in question["options"]["description"]
    texts = (question["prompt"], question["header"], option["label"], option["description"])
    assert [text["maxLength"] for text in texts] == [2_000, 24, 300, 1_000]
    assert all(f"At most {text['maxLength']:,} characters." in text["description"] for text in texts)


def test_there_must_be_room_for_a_question() -> None:
    """One question with two options is the least."""
    for limits in ({"max_questions": 0}, {"max_options": 1}):
        with pytest.raises(ProgrammingError):
            make_ask_user(**limits)


# --------------------------------------------------------------------------- what the model sends


@pytest.mark.parametrize(
    "questions",
    [
        [GOOD],
        json.dumps([GOOD]),
        [GOOD | {"header": None, "multi": None}],
        [GOOD | {"options": [{"label": "kg", "description": "", "recommended": None}, {"label": "lb"}]}],
    ],
)
def test_what_is_clear_is_read(questions: Any) -> None:
    """A list as JSON text, nulls, an empty description: all of them the same card."""
    assert asked(questions).payload() == {"questions": [GOOD]}


@pytest.mark.parametrize(
    ("questions", "told"),
    [
        ("kg or lb?", "questions must be a list of 1 to 4 questions; this is text, and no JSON"),
        ("[" * 100_000, "questions must be a list of 1 to 4 questions; this is text, and no JSON"),
        (json.dumps(json.dumps([GOOD])), "questions must be a list of 1 to 4 questions"),
        (json.dumps({"questions": [GOOD]}), "questions must be a list of 1 to 4 questions"),
        (GOOD, "questions must be a list of 1 to 4 questions"),
        (None, "questions must be a list of 1 to 4 questions"),
        ([], "questions must have 1 to 4 entries, not 0"),
        (["kg or lb?"], "questions.0: Must be an object."),
        ([{"question": "?"}], "questions.0.prompt: This field is required. questions.0.options: This"),
        ([GOOD | {"options": "kg"}], "questions.0.options: Must be a list."),
        ([GOOD | {"options": ["kg", "lb"]}], "questions.0.options.0: Must be an object."),
        ([GOOD | {"multiple": True}], "questions.0.multiple: Unexpected field."),
        ([GOOD, {"prompt": 1, "options": []}], "questions.1.prompt: Must be a valid string."),
    ],
)  # fmt: skip
def test_what_is_not_clear_is_told_with_its_place(questions: Any, told: str) -> None:
    """One error, in words that say what to send instead."""
    assert error(questions).startswith(told)


def test_a_flood_is_told_in_a_few_words() -> None:
    """However much is wrong, the model reads a text that it can work with."""
    assert len(error([1] * 10_000)) < 500
    assert len(error([GOOD] * 10_000)) < 500
    assert len(error([GOOD | {"options": [{"x" * 50: 1}] * 10_000}])) < 2_000


def test_limits_are_those_of_the_tool() -> None:
    """`make_ask_user` counts by its own figures."""
    small = make_ask_user(max_questions=1, max_options=2)
    assert error([GOOD, GOOD | {"header": "x"}], small) == "questions must have 1 to 1 entries, not 2"
    assert "questions.0.options must have 2 to 2 entries, not 3" in error(
        [{"prompt": "?", "options": [{"label": x} for x in "abc"]}], small
    )


def test_without_an_engine_nobody_is_asked() -> None:
    """The plain function, called by hand, says that there is no user."""
    with pytest.raises(Unavailable):
        ask_user(Context[Any](), [GOOD])
