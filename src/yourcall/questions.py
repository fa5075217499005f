"""`Questions`: a few questions, each with options to choose from, answered together.

The card always adds a free text and a way to skip, so an option that stands for either is refused. Answers are
aligned with the questions by index, and options are chosen by their exact labels: there is no nearest match and
no default, and whatever is not an answer is refused with the place where it is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from yourcall.asks import Ask, Check
from yourcall.entries import Json, canonical
from yourcall.errors import Fault, ProgrammingError, Rejected
from yourcall.faults import MAX_WORDS, pointer, text_fault, unexpected
from yourcall.texts import amiss, blank, look
from yourcall.wording import INSTEAD, asks_for_secret

MAX_HEADER: Final = 24
MAX_PROMPT: Final = 2_000
MAX_LABEL: Final = 300
MAX_DESCRIPTION: Final = 1_000
"""In characters."""

MAX_BYTES: Final = 64 * 1024
"""A whole card as JSON. Four questions fit whose prompts, headers and labels are all as long as they may be, in
any script; what this bounds is the descriptions, and cards that an app makes much larger."""

_SHOWN_PROBLEMS: Final = 8


@dataclass(frozen=True, slots=True)
class Option:
    """One thing to choose. `label` is also its value; `description` says what choosing it means."""

    label: str
    description: str | None = None
    recommended: bool = False

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}


@dataclass(frozen=True, slots=True)
class Question:
    """One question. `header` is a word or two above it; `multi` allows several options."""

    prompt: str
    options: Sequence[Option]
    header: str | None = None
    multi: bool = False

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}


@dataclass(frozen=True, slots=True)
class QuestionAnswer:
    """What the user said to one question: labels, their own words or both; or that they skipped it."""

    selected: list[str] = field(default_factory=list)
    other: str | None = None
    note: str | None = None
    skipped: bool = False


class Questions(Ask[tuple[QuestionAnswer, ...]]):
    """Ask one to `max_questions` questions of two to `max_options` options each.

    With `attachments`, the answer may name files that were sent ahead; then they are `ctx.attachments`.

    Raises `ProgrammingError`, naming every problem with its place and the limit that it breaks.
    """

    kind = "questions"
    payload_says_all = True
    answer_type = tuple[QuestionAnswer, ...]

    def __init__(
        self,
        questions: Sequence[Question],
        *,
        max_questions: int = 10,
        max_options: int = 20,
        to: str | None = None,
        attachments: bool = False,
        check: Check[tuple[QuestionAnswer, ...]] | None = None,
    ) -> None:
        problems = list(_problems(questions, max_questions, max_options))
        if problems:
            raise ProgrammingError("; ".join(problems[:_SHOWN_PROBLEMS]))
        self.questions = tuple(questions)
        self.title = "\n".join(question.prompt for question in self.questions)
        self.to, self.attachments, self.check = to, attachments, check
        if (size := len(canonical(self.payload()))) > MAX_BYTES:
            raise ProgrammingError(f"questions has {size:,} bytes of JSON, at most {MAX_BYTES:,} are allowed")

    def payload(self) -> Json:
        drawn = {"questions": [_drawn(question) for question in self.questions]}
        return drawn | ({"attachments": True} if self.attachments else {})

    def schema(self) -> Json:
        return answer_schema(self.payload())

    def identity(self) -> Json:
        return [[q.prompt, q.header, q.multi, [option.label for option in q.options]] for q in self.questions]

    def parse(self, answer: Json) -> tuple[QuestionAnswer, ...]:
        faults: list[Fault] = []
        given = _answers(answer, len(self.questions), faults)
        answers = tuple(_parse(q, one, n, faults) for n, (q, one) in enumerate(zip(self.questions, given, strict=True)))
        if faults:
            raise Rejected(faults=faults)
        return answers

    def encode(self, value: tuple[QuestionAnswer, ...]) -> Json:
        """As the client might have sent it, which is plain JSON: no class is named."""
        return [
            {"selected": one.selected}
            | ({"other": one.other} if one.other is not None else {})
            | ({"note": one.note} if one.note is not None else {})
            | ({"skipped": True} if one.skipped else {})
            for one in value
        ]

    def decode(self, stored: Json) -> tuple[QuestionAnswer, ...]:
        return tuple(
            QuestionAnswer(list(one["selected"]), one.get("other"), one.get("note"), one.get("skipped", False))
            for one in stored
        )


def _drawn(question: Question) -> Json:
    options = [
        {"label": option.label}
        | ({"description": option.description} if option.description else {})
        | ({"recommended": True} if option.recommended else {})
        for option in question.options
    ]
    head = {"prompt": question.prompt} | ({"header": question.header} if question.header else {})
    return head | ({"multi": True} if question.multi else {}) | {"options": options}


def answer_schema(payload: Json) -> Json:
    """JSON Schema of the answer to questions, as it follows from what their card draws."""
    drawn = payload["questions"]
    answers = {
        "type": "array",
        "prefixItems": [_one_schema(**question) for question in drawn],
        "minItems": len(drawn),
        "maxItems": len(drawn),
    }
    return {
        "type": "object",
        "properties": {"answers": answers},
        "required": ["answers"],
        "additionalProperties": False,
    }


def _one_schema(prompt: str, options: Sequence[Json], multi: bool = False, **_: Json) -> Json:
    labels = [option["label"] for option in options]
    words = {"type": ["string", "null"], "maxLength": MAX_WORDS}
    selected = {
        "type": ["array", "null"],
        "items": {"type": "string", "enum": labels},
        "uniqueItems": True,
        "maxItems": len(labels) if multi else 1,
    }
    return {
        "type": "object",
        "title": prompt,
        "properties": {"selected": selected, "other": words, "note": words, "skipped": {"type": ["boolean", "null"]}},
        "additionalProperties": False,
    }


# --------------------------------------------------------------------------- what may be asked

_OTHER: Final = re.compile(
    r"(an ?)?others?( (option|answer|choice|one|thing)s?)?( (please )?(specify|describe|explain|type|write|enter)\b.*)?"
    r"|(something|anything|someone|somewhere) else|none of (these|those|them|the (above|options))( options)?"
    r"|skip( (it|this|that|for now))?( (question|one|step))?|(custom|free text) (answer|option|input|response)"
    r"|(i ?(will|ll) |let me )?(type|write|enter) ((my|your) own|(it|something) (in|else|myself|yourself))( answer)?"
    # what models write for it in other languages
    r"|autres?|andere[ns]?|sonstiges?|otr[oa]s?|outr[oa]s?|altr[oi]|inne|annat|diğer|другое|أخرى|其他|其它|その他|기타"
)


def _problems(questions: Sequence[Question], max_questions: int, max_options: int) -> Iterator[str]:
    """Everything that keeps these questions from being asked."""
    if not 1 <= len(questions) <= max_questions:
        yield f"questions must have 1 to {max_questions} entries, not {len(questions):,}"
        return
    seen: dict[tuple[str, str], int] = {}
    for n, question in enumerate(questions):
        at = f"questions.{n}"
        if wrong := amiss(question.prompt, MAX_PROMPT, lines=True):
            yield f"{at}.prompt {wrong}"
        if question.header is not None and (wrong := amiss(question.header, MAX_HEADER)):
            yield f"{at}.header {wrong}"
        if asks_for_secret(f"{question.header}: {question.prompt}" if question.header else question.prompt):
            yield f"{at}.prompt {INSTEAD}"
        first = seen.setdefault((look(question.prompt), look(question.header or "")), n)
        if first != n:
            yield f"{at} has the prompt and the header of questions.{first}; ask it once, or tell them apart"
        if 2 <= len(question.options) <= max_options:
            yield from _option_problems(question.options, f"{at}.options")
        else:
            yield f"{at}.options must have 2 to {max_options} entries, not {len(question.options):,}"


def _option_problems(options: Sequence[Option], at: str) -> Iterator[str]:
    seen: dict[str, int] = {}
    for n, option in enumerate(options):
        if wrong := amiss(option.label, MAX_LABEL):
            yield f"{at}.{n}.label {wrong}"
        elif _OTHER.fullmatch(re.sub(r"[\W_]+", " ", look(option.label)).strip()):
            yield f"{at}.{n}.label is reserved: the card always adds a free text and a skip; leave this option out"
        elif (first := seen.setdefault(look(option.label), n)) != n:
            yield f"{at}.{n}.label looks like that of {at}.{first}; labels must differ in more than case or spaces"
        if option.description is not None and (wrong := amiss(option.description, MAX_DESCRIPTION, lines=True)):
            yield f"{at}.{n}.description {wrong}"


# --------------------------------------------------------------------------- what is an answer


def _answers(answer: Json, count: int, faults: list[Fault]) -> list[Json]:
    """The list of answers, if there is one for each question; otherwise a fault, and nothing."""
    match answer:
        case {"answers": list(answers)} if len(answers) == count:
            faults += unexpected(answer, ("answers",))
            return answers
        case {"answers": list()}:
            faults.append(Fault("/answers", f"Expected {count} answers, one for each question, in order."))
        case {"answers": _}:
            faults.append(Fault("/answers", "Expected a list of answers."))
        case _:
            faults.append(Fault("", "Expected an object with a list of answers."))
    raise Rejected(faults=faults)


def _parse(question: Question, given: Json, n: int, faults: list[Fault]) -> QuestionAnswer:
    place = ("answers", n)
    if not isinstance(given, dict):
        faults.append(Fault(pointer(*place), "Expected an object that says what was selected."))
        return QuestionAnswer()
    before = len(faults)
    faults += unexpected(given, ("selected", "other", "note", "skipped"), *place)
    selected = _selected(question, given.get("selected"), place, faults)
    other = _words(given.get("other"), (*place, "other"), faults)
    note = _words(given.get("note"), (*place, "note"), faults)
    skipped = False if given.get("skipped") is None else given["skipped"]
    if not isinstance(skipped, bool):
        faults.append(Fault(pointer(*place, "skipped"), "Expected true or false."))
    elif other is not None and blank(other):
        faults.append(Fault(pointer(*place, "other"), "Write your answer, or leave this out."))
    elif skipped and (selected or other):
        faults.append(Fault(pointer(*place, "skipped"), "Answer this question or skip it, not both."))
    elif len(faults) == before and not (skipped or selected or other):
        faults.append(Fault(pointer(*place), "Choose an option, write your own answer, or skip this question."))
    return QuestionAnswer(selected, other, None if note is None or blank(note) else note, bool(skipped))


def _selected(question: Question, given: Json, place: tuple[str | int, ...], faults: list[Fault]) -> list[str]:
    place = (*place, "selected")
    if given is None:
        return []
    if not isinstance(given, list):
        faults.append(Fault(pointer(*place), "Expected a list of labels."))
        return []
    most = len(question.options) if question.multi else 1
    if len(given) > most:
        faults.append(Fault(pointer(*place), f"Choose at most {most}." if most > 1 else "Choose only one option."))
        return []
    labels = [option.label for option in question.options]
    for n, label in enumerate(given):
        if label not in labels:
            faults.append(Fault(pointer(*place, n), "Not one of the offered options."))
        elif label in given[:n]:
            faults.append(Fault(pointer(*place, n), "Each option can be chosen once."))
    return list(given)


def _words(given: Json, place: tuple[str | int, ...], faults: list[Fault]) -> str | None:
    if given is None:
        return None
    fault = text_fault(given, *place) if isinstance(given, str) else Fault(pointer(*place), "Expected text.")
    if fault is None:
        return str(given)
    faults.append(fault)
    return None
