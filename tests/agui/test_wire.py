"""A log in AG-UI's words: messages for any client, and questions that can be read back from history alone."""

from __future__ import annotations

import json
from datetime import date, datetime
from enum import Enum
from typing import Literal

import pytest
from ag_ui import core
from pydantic import BaseModel

from tests.agui.streams import MESSAGE, answered, log, question, result, step, superseded, waiting
from yourcall.agui import faults, interrupts, messages
from yourcall.asks import Ask, shown
from yourcall.entries import Asked, Channel, Closed, Entry, Json, User
from yourcall.errors import CheckFailed, Fault, Rejected
from yourcall.forms import Form
from yourcall.log import Log
from yourcall.questions import Option, Question, Questions


def roles(full: Log) -> list[str]:
    """Who spoke, in order; each message must be one of AG-UI's, with nothing that its type does not have."""
    found = messages(full)
    for message in found:
        assert not MESSAGE.validate_python(message).model_extra, message
    return [message["role"] for message in found]


def test_a_call_that_waits_is_there_without_a_result() -> None:
    """C7: a page that loads the messages alone sees the call, and sees that it has no result."""
    full = waiting()
    assert roles(full) == ["user", "assistant"]
    assert [call["function"]["name"] for call in messages(full)[1]["toolCalls"]] == ["paint", "paint"]


def test_results_follow_their_step_and_messages_follow_the_results() -> None:
    """What was written while a question was open comes after that step's results, as the model reads it."""
    nothing = result(1, {"ok": False}, status="superseded")
    full = waiting(superseded(1), nothing, User("Never mind", "m2"), answered(2), result(2), step(text="Fine.", seen=9))
    assert roles(full) == ["user", "assistant", "tool", "tool", "user", "assistant"]
    tool = messages(full)[2]
    assert (tool["content"], tool["toolCallId"]) == ('{"ok":false}', "call-1")
    assert tool["metadata"] == {"yourcall": {"status": "superseded"}}


def test_a_message_that_came_while_the_model_spoke_is_not_put_before_its_words() -> None:
    """The step was made without it."""
    full = log(User("Hi", "m1"), User("And?", "m2"), step(text="Hello.", seen=1))
    assert [message["id"] for message in messages(full)] == ["m1", "run-a-1", "m2"]


def test_messages_have_the_ids_that_the_stream_gave_them() -> None:
    """A client that has seen the stream and then reads a snapshot has no message twice."""
    full = log(User("Hi"), step("call-1", text="One moment."), result())
    assert [message["id"] for message in messages(full)] == ["user-1", "run-a-1", "call-1-result"]


def test_nested_messages_stay_inside_their_call() -> None:
    """A sub-agent's steps are not the conversation's."""
    full = log(User("Hi"), step("call-1"))
    nested = (Entry(3, 0, step("x", text="Hm."), ("call-1",)), Entry(4, 0, result(1), ("call-1",)))
    assert roles(Log((*full.entries, *nested))) == ["user", "assistant"]


def test_every_question_is_listed_with_what_became_of_it() -> None:
    """E7: a closed question still says what was asked, and how it closed."""
    full = waiting(Closed("ask-1", "call-1", "expired"), Asked(question(3)))
    first, second, third = interrupts(full)
    assert [one["id"] for one in (first, second, third)] == ["ask-1", "ask-2", "ask-3"]
    assert first["metadata"]["yourcall"]["ask"] == {"name": "colour", "reason": 1}
    assert first["metadata"]["yourcall"]["ending"] == {"kind": "expired"}
    assert second["metadata"]["yourcall"]["ending"] is None
    assert not core.Interrupt.model_validate(third).model_extra
    json.dumps([first, second, third], allow_nan=False)


@pytest.mark.parametrize(
    ("kind", "ask", "expected"),
    [
        ("form", {"title": "T", "schema": {"type": "object"}}, {"type": "object"}),
        ("interrupt", {"name": "n", "reason": None}, None),
        ("odd", ["no", "object"], None),
        ("odd", {"schema": "public"}, None),
    ],
)
def test_a_question_says_which_answers_it_takes(kind: str, ask: Json, expected: Json) -> None:
    """A client that does not know the kind can draw a form; where anything goes, nothing is said."""
    [one] = interrupts(log(step("call-1"), Asked(question(1, kind=kind, ask=ask))))
    assert one.get("responseSchema") == expected


@pytest.mark.parametrize("channel", ["secret", "upload", "handoff"])
def test_what_comes_by_another_way_has_no_schema(channel: Channel) -> None:
    """A client that draws forms would send it in the open, whatever schema was recorded."""
    asked = question(1, kind="odd", channel=channel, schema={"type": "string"}, ask={})
    [one] = interrupts(log(step("call-1"), Asked(asked)))
    assert one.get("responseSchema") is None


class Seat(Ask[date]):
    """A kind that nobody knows: what it takes is not what it shows, and not what it keeps."""

    kind = "seat"
    answer_type = date

    def payload(self) -> Json:
        return {"rows": 9}

    def schema(self) -> Json:
        return {"type": "object", "properties": {"day": {"type": "string"}}}

    def parse(self, answer: Json) -> date:
        return date.fromisoformat(answer["day"])


def test_a_kind_of_ones_own_says_which_answers_it_takes_and_shows_them() -> None:
    """Its schema was recorded with it, so no code of its own is needed; its answer has no trace of classes."""
    ask = Seat()
    asked = question(1, kind=ask.kind, ask=shown(ask), schema=ask.schema())
    full = log(step("call-1"), Asked(asked), answered(1, ask.encode(ask.parse({"day": "2026-12-24"}))))
    [one] = interrupts(full)
    assert one["responseSchema"] == ask.schema()
    assert one["metadata"]["yourcall"]["ending"] == {"kind": "answered", "answer": "2026-12-24"}


@pytest.mark.parametrize("sent", ["red", None, {"$": 5}, {"$": ["dict", {"a": 1}]}, {"$": ["dict", 5]}])
def test_the_answer_to_a_raw_interrupt_is_shown_as_it_was_sent(sent: Json) -> None:
    """Any JSON is an answer, also what looks like the log's own marks."""
    [one] = interrupts(log(step("call-1"), Asked(question(1)), answered(1, sent)))
    assert one["metadata"]["yourcall"]["ending"] == {"kind": "answered", "answer": sent}


def test_questions_take_one_answer_each() -> None:
    """One for each question, with its own options, whatever the question's other members are."""
    ask = Questions(
        [
            Question("Which wall?", [Option("North"), Option("South", "the sunny one", True)], multi=True),
            Question("Which colour?", [Option("Red"), Option("Blue")], header="Colour"),
        ]
    )
    asked = question(1, kind=ask.kind, ask=shown(ask))
    [one] = interrupts(log(step("call-1"), Asked(asked)))
    answers = one["responseSchema"]["properties"]["answers"]
    assert (answers["minItems"], answers["maxItems"]) == (2, 2)
    walls, colours = (item["properties"]["selected"] for item in answers["prefixItems"])
    assert (walls["items"]["enum"], walls["maxItems"]) == (["North", "South"], 2)
    assert (colours["items"]["enum"], colours["maxItems"]) == (["Red", "Blue"], 1)
    assert one["responseSchema"] == ask.schema()


def test_the_answer_to_questions_is_shown_as_it_was_sent() -> None:
    """A second tab, or the page after a reload, shows what was chosen."""
    ask = Questions([Question("Which?", [Option("Red"), Option("Blue")]), Question("Why?", [Option("A"), Option("B")])])
    sent = {"answers": [{"selected": ["Red"], "other": "dark", "note": "please"}, {"skipped": True}]}
    full = log(
        step("call-1"), Asked(question(1, kind="questions", ask=shown(ask))), answered(1, ask.encode(ask.parse(sent)))
    )
    [one] = interrupts(full)
    assert one["metadata"]["yourcall"]["ending"]["answer"] == {
        "answers": [
            {"selected": ["Red"], "other": "dark", "note": "please"},
            {"selected": [], "skipped": True},
        ]
    }


class Size(Enum):
    SMALL = "s"
    LARGE = "l"


class Order(BaseModel):
    name: str
    size: Size
    colours: list[Literal["red", "blue"]]
    due: date
    at: datetime
    express: bool = False
    note: str | None = None


def test_the_answer_to_a_form_is_shown_as_it_was_sent() -> None:
    """The log remembers classes; the page gets the fields."""
    sent = {
        "name": "Ada",
        "size": "l",
        "colours": ["red"],
        "due": "2026-12-24",
        "at": "2026-12-24T18:00:00+01:00",
        "note": None,
    }
    form = Form(Order)
    asked = question(1, kind="form", ask=shown(form))
    [one] = interrupts(log(step("call-1"), Asked(asked), answered(1, form.encode(form.parse(sent)))))
    assert one["metadata"]["yourcall"]["ending"]["answer"] == sent | {"express": False}
    assert one["responseSchema"] == form.schema()


def test_faults_keep_their_places() -> None:
    """N4: a message for each field; a check that broke is about the whole answer."""
    rejected = Rejected(faults=[Fault("/age", "Too young."), Fault("/name", "Too short.", "rejected")])
    assert faults(rejected) == [
        {"pointer": "/age", "detail": "Too young.", "type": "invalid-answer"},
        {"pointer": "/name", "detail": "Too short.", "type": "rejected"},
    ]
    [broken] = faults(CheckFailed())
    assert (broken["pointer"], broken["type"]) == ("", "check-failed")
