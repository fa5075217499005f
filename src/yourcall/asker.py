"""`ask_user`: the tool with which a model asks its user a few questions, each with options.

The schema tells the model every limit, and is flat enough for any provider: plain types only, every field
required. What comes is read more kindly: a field may be left out or null, and a list that was sent as JSON text
is read as the list. Whatever is still wrong is told to the model with its place and the limit; it never pauses.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Final

from pydantic import TypeAdapter, ValidationError, WithJsonSchema

from yourcall.context import Context
from yourcall.entries import Json
from yourcall.errors import ProgrammingError, Skipped, ToolError
from yourcall.faults import said
from yourcall.questions import (
    MAX_DESCRIPTION,
    MAX_HEADER,
    MAX_LABEL,
    MAX_PROMPT,
    Question,
    QuestionAnswer,
    Questions,
)
from yourcall.replay import INSTRUCTIONS
from yourcall.texts import blank
from yourcall.tools import Tool, tool

_QUESTIONS: Final = TypeAdapter(list[Question])
_SHOWN_PROBLEMS: Final = 8


def make_ask_user(*, max_questions: int = 4, max_options: int = 4) -> Tool[Any]:
    """The tool `ask_user` with other limits: up to so many questions in a call, and options in a question."""
    if max_questions < 1 or max_options < 2:
        raise ProgrammingError("ask_user needs room for one question with two options.")

    @tool
    def ask_user(ctx: Context, questions: Annotated[Any, WithJsonSchema(_schema(max_questions, max_options))]) -> Json:
        """Ask the user questions with options to choose from, and wait for the answers.

        Use it for a decision that only the user can make and that changes what you do next. Do not use it for
        what you can find out or reasonably decide yourself. Put related questions into one call. The user sees
        a card with your questions; it always adds a field for an answer in their own words and a way to skip,
        so do not offer options such as "Other" or "Skip". An answer in their own words counts like a chosen
        option, or adds to it. Never ask for passwords, keys or other secrets here.
        """
        try:
            ask = Questions(_read(questions, max_questions), max_questions=max_questions, max_options=max_options)
        except ProgrammingError as problem:
            raise ToolError(str(problem)) from None
        try:
            return _told(ask.questions, ctx.ask(ask), INSTRUCTIONS[ctx.on_skip])
        except Skipped as skip:
            instruction = f"The user declined to answer and chose none of the options. {INSTRUCTIONS[ctx.on_skip]}"
            return {"ok": True, "skipped": True, "note": skip.note, "instruction": instruction}

    return ask_user


def _told(questions: tuple[Question, ...], answers: tuple[QuestionAnswer, ...], on_skip: str) -> Json:
    told: dict[str, Json] = {
        "ok": True,
        "answers": [
            {
                "question": question.prompt,
                "selected": answer.selected,
                "other": answer.other,
                "note": answer.note,
                "skipped": answer.skipped,
            }
            for question, answer in zip(questions, answers, strict=True)
        ],
    }
    if any(answer.skipped for answer in answers):
        told["instruction"] = (
            f"The user declined the questions marked as skipped and chose none of their options. For these: {on_skip}"
        )
    return told


# --------------------------------------------------------------------------- what the model sends


def _read(questions: Json, most: int) -> list[Question]:
    """The model's JSON as questions; their limits are still to be checked. Raises `ToolError`."""
    if isinstance(questions, str):
        try:
            questions = json.loads(questions)
        except (ValueError, RecursionError):
            raise ToolError(f"questions must be a list of 1 to {most} questions; this is text, and no JSON") from None
    if not isinstance(questions, list):
        raise ToolError(f"questions must be a list of 1 to {most} questions")
    try:
        return _QUESTIONS.validate_python(_tidied(questions))
    except ValidationError as error:
        found = error.errors(include_url=False)[:_SHOWN_PROBLEMS]
        problems = [f"{'.'.join(map(str, ('questions', *one['loc'])))}: {said(one)}" for one in found]
        raise ToolError(" ".join(problems)) from None


def _tidied(value: Json, levels: int = 4) -> Json:
    """Without what says nothing: a null, a description that is blank. As deep as questions are."""
    if levels and isinstance(value, list):
        return [_tidied(item, levels - 1) for item in value]
    if levels and isinstance(value, dict):
        return {
            name: _tidied(item, levels - 1)
            for name, item in value.items()
            if item is not None and not (name == "description" and isinstance(item, str) and blank(item))
        }
    return value


# --------------------------------------------------------------------------- what the model is told


def _schema(max_questions: int, max_options: int) -> Json:
    option = _object(
        label=_text(MAX_LABEL, "What the user can choose, in a few words. No two options may look alike."),
        description=_text(MAX_DESCRIPTION, "What choosing it means or leads to; empty if the label says it all."),
        recommended={"type": "boolean", "description": "Whether you recommend it; at most one, and put it first."},
    )
    question = _object(
        prompt=_text(MAX_PROMPT, "The whole question, which can be understood on its own."),
        header=_text(MAX_HEADER, "One or two words that name its subject, in one line."),
        multi={"type": "boolean", "description": "Whether several options can be chosen together."},
        options={
            "type": "array",
            "items": option,
            "minItems": 2,
            "maxItems": max_options,
            "description": f'2 to {max_options} different options. Leave out "Other", "None of these" and "Skip".',
        },
    )
    return {
        "type": "array",
        "items": question,
        "minItems": 1,
        "maxItems": max_questions,
        "description": f"1 to {max_questions} questions, shown together.",
    }


def _object(**properties: Json) -> Json:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _text(limit: int, description: str) -> Json:
    return {"type": "string", "maxLength": limit, "description": f"{description} At most {limit:,} characters."}


ask_user: Final = make_ask_user()
"""The tool with its usual limits: one to four questions of two to four options."""
