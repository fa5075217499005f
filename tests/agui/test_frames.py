"""One listener's stream: what it is shown, when, and how often."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.agui.streams import (
    answered,
    assert_conforms,
    events,
    log,
    question,
    result,
    step,
    superseded,
    types,
    waiting,
)
from yourcall.agui import Encoder, Frames
from yourcall.entries import Asked, Assistant, Began, Body, Closed, Effect, Entry, Run, Stopped, User
from yourcall.events import Delta, Ended, Event, Retracted
from yourcall.log import Done, Log, Waiting

DONE = Ended(Done(), 0)


def encoder(known: Log = Log(), **options: Any) -> Encoder:  # noqa: B008  # a log is immutable
    return Encoder("c1", "r1", known, **options)


def stream(*happened: Event, known: Log = Log(), **options: Any) -> bytes:  # noqa: B008
    """All that a listener gets, from its first frame on."""
    one = encoder(known, after=options.pop("after", 0), **options)
    return one.start() + b"".join(map(one.encode, happened))


def text_of(stream: list[dict[str, Any]]) -> dict[str, str]:
    """The messages as a client builds them up."""
    texts: dict[str, str] = {}
    for event in stream:
        match event:
            case {"type": "TEXT_MESSAGE_START", "messageId": one}:
                assert one not in texts
                texts[one] = ""
            case {"type": "TEXT_MESSAGE_CONTENT", "messageId": one, "delta": delta}:
                texts[one] += delta
            case {"type": "CUSTOM", "name": "yourcall.retracted", "value": {"messageId": one}}:
                del texts[one]
    return texts


def ids(data: bytes) -> list[int]:
    return [int(line.removeprefix("id: ")) for line in data.decode().split("\n") if line.startswith("id: ")]


# --------------------------------------------------------------------------- text


@given(st.text(min_size=1, max_size=12), st.lists(st.integers(0, 12)), st.integers(0, 20))
def test_whoever_joins_whenever_reads_the_whole_text(text: str, cuts: list[int], joined: int) -> None:
    """However a text is cut into deltas, and wherever a listener comes in, it ends up with that text, once."""
    at = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    deltas = [Delta("run-a-1", a, text[a:b]) for a, b in pairwise(at)]
    entry = log(User("hi"), step(text=text)).entries[1]
    happened: list[Event] = [*deltas, entry, Ended(Done(), 2)]
    sent = stream(*happened[min(joined, len(deltas)) :])
    assert text_of(events(sent)) == {"run-a-1": text}
    assert_conforms(events(sent))


def test_text_is_shown_while_it_is_written() -> None:
    """A delta goes out as it comes; the entry brings only what is left."""
    one = encoder()
    assert types(one.encode(Delta("run-a-1", 0, "Hel"))) == ["TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT"]
    assert types(one.encode(Delta("run-a-1", 3, "lo"))) == ["TEXT_MESSAGE_CONTENT"]
    assert types(one.encode(log(step(text="Hello")).entries[0])) == ["TEXT_MESSAGE_END"]


def test_a_delta_out_of_place_waits_for_the_entry() -> None:
    """After a gap nothing is shown until the text is recorded: a listener never reads it with a hole in it."""
    one = encoder()
    shown = one.encode(Delta("run-a-1", 0, "Hel"))
    assert one.encode(Delta("run-a-1", 4, "o")) == b""
    assert one.encode(Delta("run-a-1", 3, "")) == b""
    shown += one.encode(log(step(text="Hello")).entries[0])
    assert text_of(events(shown)) == {"run-a-1": "Hello"}


def test_a_retracted_text_is_taken_back() -> None:
    """The message is closed, as AG-UI wants, and then withdrawn; who saw nothing of it hears nothing."""
    assert types(stream(Delta("m", 0, "Hel"), Retracted("m"), DONE))[1:] == [
        "TEXT_MESSAGE_START",
        "TEXT_MESSAGE_CONTENT",
        "TEXT_MESSAGE_END",
        "yourcall.retracted",
        "RUN_FINISHED",
    ]
    assert types(stream(Retracted("m"), DONE)) == ["RUN_STARTED", "RUN_FINISHED"]


def test_text_without_an_entry_is_taken_back_at_the_end() -> None:
    """What was never recorded was never said, whatever became of its retraction."""
    sent = events(stream(Delta("m", 0, "Hel"), Ended(Done("cancelled"), 3)))
    assert text_of(sent) == {}
    assert_conforms(sent)


def test_half_a_surrogate_pair_breaks_nothing() -> None:
    """A provider may cut a character in two; the delta is sent all the same, and the entry has it whole."""
    assert json.loads(encoder().encode(Delta("m", 0, "\ud83d")).split(b"data: ")[2])["delta"] == "?"


# --------------------------------------------------------------------------- entries


def test_each_entry_is_shown_once() -> None:
    """B13: a call is announced once and its result comes once, also if an entry should come again."""
    happened = waiting(answered(), result()).entries
    sent = types(stream(*happened, *happened, Ended(Waiting((question(2),)), 6)))
    assert sent.count("TOOL_CALL_START") == 2
    assert sent.count("TOOL_CALL_RESULT") == 1
    assert sent.count("yourcall.interrupt") == 2


def test_a_listener_that_has_an_entry_is_not_sent_it_again() -> None:
    """`after` is what it has seen."""
    full = waiting(answered(), result())
    sent = types(stream(*full.entries, DONE, known=full, after=5))
    assert sent == ["RUN_STARTED", "TOOL_CALL_RESULT", "RUN_FINISHED"]


def test_the_id_of_an_entry_stands_on_its_last_frame() -> None:
    """Whoever was cut off between two frames of an entry gets all of them again."""
    sent = stream(*waiting().entries)
    assert ids(sent) == [1, 2, 3, 4]
    assert b'id: 2\ndata: {"type":"TOOL_CALL_END","toolCallId":"call-2"}' in sent
    text_only = stream(log(step(text="Hi")).entries[0])
    assert b'id: 1\ndata: {"type":"TEXT_MESSAGE_END"' in text_only


def test_a_call_is_announced_under_its_message() -> None:
    """START names the tool and the message it belongs to, ARGS brings the model's own text."""
    start, args, end, *_ = [event for event in events(stream(*waiting().entries)) if "toolCallId" in event]
    assert (start["toolCallName"], start["parentMessageId"]) == ("paint", "run-a-1")
    assert args["delta"] == '{"wall":1}'
    assert (start["toolCallId"], args["toolCallId"], end["toolCallId"]) == ("call-1",) * 3


def test_the_log_s_own_bookkeeping_is_not_shown() -> None:
    """Runs, beginnings, effects and stops are no news to a reader; how the run ended is."""
    inner: list[Body] = [Run("r"), Began(("call-1",)), Effect("call-1", "charge", "x", "begun"), Stopped("cancelled")]
    assert stream(*log(*inner).entries) == encoder().start()


def test_of_what_happens_inside_a_call_only_the_questions_are_shown() -> None:
    """A nested agent's chatter is its own; its question is the user's."""
    inside: list[Body] = [step("call-1", text="Hm."), Asked(question()), answered(), result()]
    nested = [Entry(n, 0, body, ("call-0",)) for n, body in enumerate(inside, 1)]
    assert types(stream(*nested)) == ["RUN_STARTED", "yourcall.interrupt", "yourcall.closed"]


def test_a_user_s_message_is_told_to_every_listener() -> None:
    """Another tab of the same user shows it, too; one without an id of the client's is named by its place."""
    told = [event["value"] for event in events(stream(*log(User("Hi", "m1"), User("You?")).entries))[1:]]
    assert told == [{"id": "m1", "text": "Hi"}, {"id": "user-2", "text": "You?"}]


def test_a_closed_question_says_how() -> None:
    """Never as another ending; a note goes along, and so does an answer."""
    form = question(1, kind="form", ask={"title": "Who?", "schema": {}})
    happened = log(step("call-1", "call-2"), Asked(form), Asked(question(2)), answered(1, {"n": 0}), answered(2))
    closed = [e["value"] for e in events(stream(*happened.entries)) if e.get("name") == "yourcall.closed"]
    assert closed == [
        {"id": "ask-1", "ending": {"kind": "answered", "answer": {"n": 0}}},
        {"id": "ask-2", "ending": {"kind": "answered", "answer": "red"}},
    ]
    [skipped] = events(encoder().encode(log(Closed("ask-1", "call-1", "skipped", "not now")).entries[0]))
    assert skipped["value"]["ending"] == {"kind": "skipped", "note": "not now"}


def test_a_result_that_is_none_says_so() -> None:
    """C5: the status goes along, so that nobody takes a superseded call for a success."""
    fine, closed = (
        events(encoder().encode(log(body).entries[0]))[0] for body in (result(), result(status="superseded"))
    )
    assert "metadata" not in fine
    assert closed["metadata"] == {"yourcall": {"status": "superseded"}}


def test_an_answer_is_told_in_its_own_form_also_where_the_question_was_asked_before() -> None:
    """A listener that comes back after the question was asked knows it from the log."""
    asked = question(1, kind="questions", ask={"questions": [{"prompt": "?", "options": []}]})
    full = log(step("call-1"), Asked(asked), answered(1, [{"selected": ["a"]}]))
    [_, closed] = events(stream(*full.entries, known=full, after=2))
    assert closed["value"]["ending"]["answer"] == {"answers": [{"selected": ["a"]}]}


# --------------------------------------------------------------------------- sharing


def test_an_entry_is_encoded_once_for_all_its_listeners() -> None:
    """However many listen, they are handed the same bytes; what each was shown before is still its own."""
    shared, happened = Frames(), waiting(answered(), result()).entries
    first, *others = (encoder(frames=shared, after=0) for _ in range(20))
    first.encode(Delta("run-a-1", 0, "Su"))
    for entry in happened:
        sent = first.encode(entry)
        again = [other.encode(entry) for other in others]
        if isinstance(entry.body, Assistant):
            assert types(again[0])[0] == "TEXT_MESSAGE_START"
            assert types(sent)[0] == "TEXT_MESSAGE_CONTENT"
        else:
            assert all(one is sent for one in again)
    assert len(shared._kept) == len(happened)


def test_what_is_kept_is_bounded() -> None:
    """Old entries make room; an evicted one is encoded anew."""
    shared = Frames(limit=300)
    happened = log(*(User("x" * 50) for _ in range(20))).entries
    first, second = (encoder(frames=shared, after=0) for _ in range(2))
    assert [first.encode(e) for e in happened] == [second.encode(e) for e in happened]
    assert sum(len(kept) for _, kept in shared._kept.values()) <= 300
    assert len(shared._kept) == 2


def test_a_replay_is_nobody_else_s() -> None:
    """Entries read from the store for one listener do not push live ones out."""
    shared, full = Frames(), waiting()
    replayed = stream(*full.entries, known=full, frames=shared)
    assert not shared._kept
    assert replayed == stream(*full.entries, frames=shared)
    assert shared._kept


# --------------------------------------------------------------------------- the end


@pytest.mark.parametrize(
    ("phase", "expected"),
    [
        (Done(), {"type": "RUN_FINISHED", "outcome": {"type": "success"}}),
        (Done("cancelled"), {"type": "RUN_FINISHED", "outcome": {"type": "cancelled"}}),
        (Done("model-failed", True, "Busy."), {"type": "RUN_ERROR", "code": "model-failed", "message": "Busy."}),
        (Done("step-limit"), {"type": "RUN_ERROR", "code": "step-limit"}),
    ],
)
def test_a_stream_says_how_the_run_ended(phase: Done, expected: dict[str, Any]) -> None:
    """I2: one explicit terminal event, after which nothing comes."""
    one = encoder()
    [last] = events(one.encode(Ended(phase, 3)))
    assert last | expected == last
    assert one.ended
    late: list[Event] = [DONE, Delta("m", 0, "x"), Retracted("m"), *waiting().entries]
    assert b"".join(map(one.encode, late)) + one.fail("x", "y") == b""


def test_a_failed_run_says_whether_it_can_be_retried() -> None:
    """A client offers "again" where it may help."""
    [last] = events(encoder().encode(Ended(Done("model-failed", True), 3)))
    assert last["metadata"] == {"yourcall": {"retryable": True}}
    assert last["message"]


def test_an_interrupted_run_names_every_open_question() -> None:
    """Each in AG-UI's own form, with ours under `metadata.yourcall`, and the errors of this request beside it."""
    full = waiting(Asked(question(3, expires_at=1_700_000_000.5, message="Which?", to="role:boss")))
    errors = {"ask-2": [{"pointer": "/pick", "detail": "No.", "type": "invalid-answer"}]}
    one = encoder(full, errors=errors)
    [last] = events(one.encode(Ended(Waiting((question(2), question(3, expires_at=1_700_000_000.5, to="x"))), 5)))
    second, third = last["outcome"]["interrupts"]
    assert (second["id"], second["reason"], second["toolCallId"]) == ("ask-2", "input_required", "call-2")
    assert second["metadata"]["yourcall"] == {
        "kind": "interrupt",
        "ask": {"name": "colour", "reason": 2},
        "digest": "digest-2",
        "tool": "paint",
        "errors": errors["ask-2"],
        "ending": None,
    }
    assert third["expiresAt"] == "2023-11-14T22:13:20.500Z"
    assert third["metadata"]["yourcall"]["to"] == "x"
    assert "errors" not in third["metadata"]["yourcall"]


def test_a_stream_that_fails_says_so() -> None:
    """Something of ours broke: that is told apart from a run that failed."""
    one = encoder()
    [last] = events(one.fail("Broken.", "stream-failed"))
    assert (last["type"], last["code"]) == ("RUN_ERROR", "stream-failed")
    assert one.fail("Broken.", "stream-failed") == b""


def test_whole_streams_conform() -> None:
    """A run that pauses, and the run that goes on with it, as AG-UI's own rules see them."""
    asked = waiting()
    paused = stream(*asked.entries, Ended(Waiting((question(1), question(2))), 4))
    assert_conforms(events(paused))
    full = asked.plus([superseded(1), result(1, status="superseded"), answered(2), result(2), step(text="Ok.")], 0)
    resumed = stream(*full.entries, Ended(Done(), full.head), known=full, after=asked.head)
    assert_conforms(events(resumed), resumed=True)


def test_a_snapshot_holds_what_this_listener_has_been_shown() -> None:
    """What comes later comes as events: it is not in the snapshot too."""
    full = log(User("Hi", "m1"), step(text="Hello."))
    [snapshot] = events(encoder(full, after=1).snapshot(full))
    assert [message["id"] for message in snapshot["messages"]] == ["m1"]


def test_warnings_follow_the_start() -> None:
    """Before anything else, a client hears what was not taken."""
    opening = encoder(waiting()).start(waiting(), [{"interruptId": "x", "type": "not-found", "detail": "No."}])
    assert types(opening) == ["RUN_STARTED", "MESSAGES_SNAPSHOT", "yourcall.warning"]
    assert events(opening)[0] == {
        "type": "RUN_STARTED",
        "threadId": "c1",
        "runId": "r1",
        "protocolVersion": "1.0",
    }
