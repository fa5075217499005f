"""The log's pure functions: what comes next, what may be written, what the model reads. Tables, and random walks."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support import assert_well_formed
from yourcall import decisions, errors
from yourcall.entries import (
    Answered,
    Asked,
    Assistant,
    Began,
    Body,
    Call,
    Closed,
    Effect,
    Entry,
    File,
    Interrupt,
    Json,
    Result,
    Run,
    Stopped,
    User,
    dump,
    load,
)
from yourcall.log import (
    HELD,
    INTERRUPTED,
    AssistantMessage,
    CallModel,
    Done,
    Log,
    Phase,
    RunTools,
    ToolMessage,
    UserMessage,
    Waiting,
    admit,
    openings,
    phase,
    runnable,
    transcript,
)

# --------------------------------------------------------------------------- how stories are told

HI, RUN = User("hi"), Run("r1")
K1, K2, K3 = (Call(id, "ask", rerun=True) for id in ("k1", "k2", "k3"))
PLAIN = Call("k1", "charge")
H1, H2, H3 = (replace(call, hold=True) for call in (K1, K2, K3))
UNKNOWN = Call("k1", "gone", error="There is no tool of this name.")


@dataclass(frozen=True)
class Step:
    """The model's next step, whose `seen` is where it stands in the story."""

    calls: tuple[Call, ...] = ()
    runner: str = "r1"


Told: TypeAlias = Body | Step


def step(*calls: Call, runner: str = "r1") -> Step:
    return Step(calls, runner)


def story(*told: Told, at: float = 0.0) -> Log:
    return tell(Log(), told, at)


def tell(log: Log, told: Iterable[Told], at: float = 0.0) -> Log:
    for one in told:
        body = Assistant(one.runner, log.head, "So", one.calls) if isinstance(one, Step) else one
        log = log.plus([body], at)
    return log


def interrupt(id: str, call: str = "k1", digest: str = "d", expires_at: float | None = None) -> Interrupt:
    return Interrupt(id, call, "#1", "pick", {"title": "Which?"}, digest, expires_at=expires_at)


def asked(id: str, call: str = "k1", expires_at: float | None = None) -> Asked:
    return Asked(interrupt(id, call, expires_at=expires_at))


def answered(id: str, call: str = "k1") -> Answered:
    return Answered(id, call, "kg", "p")


def closed(id: str, how: Any, call: str = "k1") -> Closed:
    return Closed(id, call, how)


def result(call: str = "k1", content: Json = "ok") -> Result:
    return Result(call, content)


def failed(call: str, text: str, status: Any) -> Result:
    return Result(call, {"ok": False, "error": text}, status)


def words(phase: Phase) -> str:
    match phase:
        case CallModel():
            return "model"
        case RunTools(calls):
            return " ".join(["run", *(one.call.id for one in calls)])
        case Waiting(interrupts):
            return " ".join(["wait", *(one.id for one in interrupts)])
        case Done(reason):
            return f"done {reason}"


# --------------------------------------------------------------------------- phase

ASKED = (HI, RUN, step(K1, K2), Began(("k1", "k2")), asked("i1"))
PHASES: dict[str, tuple[tuple[Told, ...], str]] = {
    "nothing": ((), "done success"),
    "a lease on nothing": ((RUN,), "done success"),
    "a message": ((HI,), "model"),
    "a message that a runner took up": ((HI, RUN), "model"),
    "an answer without calls": ((HI, RUN, step()), "done success"),
    "the next message": ((HI, RUN, step(), HI), "model"),
    "a message that came while the model spoke": ((HI, RUN, HI, Assistant("r1", 2)), "model"),
    "calls": ((HI, RUN, step(K1, K2)), "run k1 k2"),
    "bodies that began": ((HI, RUN, step(K1, K2), Began(("k1", "k2"))), "run k1 k2"),
    "one of two results": ((HI, RUN, step(K1, K2), result("k2")), "run k1"),
    "all results": ((HI, RUN, step(K1, K2), result("k2"), result("k1")), "model"),
    "a result that is nothing": ((HI, RUN, step(K1), result("k1", None)), "model"),
    "one asked, one runs": (ASKED, "run k2"),
    "one asked, one is done": ((*ASKED, result("k2")), "wait i1"),
    "two asked, the later call first": ((HI, RUN, step(K1, K2), asked("i2", "k2"), asked("i1")), "wait i1 i2"),
    "one of two answered": ((*ASKED, asked("i2", "k2"), answered("i1")), "run k1"),
    "answered": ((*ASKED, result("k2"), answered("i1")), "run k1"),
    "skipped": ((*ASKED, result("k2"), closed("i1", "skipped")), "run k1"),
    "expired": ((*ASKED, result("k2"), closed("i1", "expired")), "run k1"),
    "asked anew": ((*ASKED, result("k2"), closed("i1", "changed"), asked("i1b")), "wait i1b"),
    "asked a second thing": ((*ASKED, result("k2"), answered("i1"), asked("i1b")), "wait i1b"),
    "superseded": ((*ASKED, result("k2"), closed("i1", "superseded"), result("k1"), HI), "model"),
    "a message that is kept": ((*ASKED, result("k2"), HI), "wait i1"),
    "a message that is kept, then the answer": ((*ASKED, result("k2"), HI, answered("i1"), result("k1")), "model"),
    "a held call waits for the others": ((HI, RUN, step(H1, K2)), "run k2"),
    "a held call waits for another's question": ((HI, RUN, step(H1, K2), asked("i2", "k2")), "wait i2"),
    "a held call's turn": ((HI, RUN, step(H1, K2), result("k2")), "run k1"),
    "held calls go one by one": ((HI, RUN, step(H1, H2, H3)), "run k1"),
    "the second held call": ((HI, RUN, step(H1, H2, H3), result("k1")), "run k2"),
    "a held call that asked keeps the next one": ((HI, RUN, step(H1, H2), asked("i1")), "wait i1"),
    "a held call that was answered goes on first": ((HI, RUN, step(H1, H2), asked("i1"), answered("i1")), "run k1"),
    "stopped": ((HI, RUN, Stopped("model-failed", True)), "done model-failed"),
    "stopped while it asked": ((*ASKED, Stopped("internal")), "done internal"),
    "a message after a stop": ((HI, RUN, Stopped("cancelled"), HI), "model"),
    "a new run after a stop": ((HI, RUN, Stopped("model-failed"), Run("r2")), "model"),
    "an answer after a stop": ((*ASKED, result("k2"), Stopped("internal"), answered("i1")), "run k1"),
    "an ending after a stop": ((*ASKED, result("k2"), Stopped("internal"), closed("i1", "expired")), "done internal"),
    "calls that were cut off by a stop": ((HI, RUN, step(K1), Began(("k1",)), Stopped("internal"), HI), "run k1"),
    "a question of an earlier step": ((HI, RUN, step(K1), result("k1"), step(K2), asked("i2", "k2")), "wait i2"),
}


@pytest.mark.parametrize("name", PHASES)
def test_what_comes_next(name: str) -> None:
    """The phase follows from the last step and what happened since; it says who is runnable."""
    told, expected = PHASES[name]
    log = story(*told)
    assert words(phase(log)) == expected
    assert runnable(log) == expected.startswith(("model", "run"))


def test_what_stopped_it_is_told() -> None:
    """A `Done` carries the reason, whether trying again helps, and the words for the user."""
    stopped = Stopped("model-failed", True, "Try again.")
    assert phase(story(HI, RUN, stopped)) == Done("model-failed", True, "Try again.")


def test_entries_of_a_nested_run_are_not_the_steps_own() -> None:
    """What is recorded under a deeper scope belongs to the call it is nested in."""
    log = story(HI, RUN, step(K1))
    nested = [Entry(4, 0.0, asked("i1"), ("k1",)), Entry(5, 0.0, result("k1"), ("k1",))]
    assert words(phase(Log(log.entries + tuple(nested)))) == "run k1"


# --------------------------------------------------------------------------- openings

BEGAN = (HI, RUN, step(K1), Began(("k1",)))
CUT_OFF = failed("k1", INTERRUPTED, "interrupted")
R2, R3, R4 = Run("r2"), Run("r3"), Run("r4")
AGAIN = Began(("k1",))
OPENINGS: dict[str, tuple[tuple[Told, ...], str, list[Body]]] = {
    "nothing runs": ((HI, RUN), "r1", []),
    "all of a step at once": ((HI, RUN, step(K1, K2)), "r1", [Began(("k1", "k2"))]),
    "begun by this runner": (BEGAN, "r1", []),
    "the one that is new": ((HI, RUN, step(K1, K2), Began(("k1",))), "r1", [Began(("k2",))]),
    "begun by another, may run again": ((*BEGAN, R2), "r2", [AGAIN]),
    "begun by another, may not": ((HI, RUN, step(PLAIN), AGAIN, R2), "r2", [CUT_OFF]),
    "not begun by anybody, whatever the tool": ((HI, RUN, step(PLAIN), R2), "r2", [AGAIN]),
    "one may, one may not": (
        (HI, RUN, step(PLAIN, K2), Began(("k1", "k2")), R2),
        "r2",
        [Began(("k2",)), CUT_OFF],
    ),
    "after its answer": ((*BEGAN, asked("i1"), answered("i1")), "r1", [AGAIN]),
    "after its answer, in a new run": ((*BEGAN, asked("i1"), answered("i1"), R2), "r2", [AGAIN]),
    "a plain tool after its answer": ((HI, RUN, step(PLAIN), AGAIN, asked("i1"), answered("i1"), R2), "r2", [AGAIN]),
    "two beginnings": ((*BEGAN, R2, AGAIN, R3), "r3", [AGAIN]),
    "three beginnings": ((*BEGAN, R2, AGAIN, R3, AGAIN, R4), "r4", [CUT_OFF]),
    "three, and an effect": (
        (*BEGAN, R2, AGAIN, R3, AGAIN, Effect("k1", "pay", "a", "begun"), R4),
        "r4",
        [AGAIN],
    ),
    "three, and a question": (
        (*BEGAN, R2, AGAIN, R3, AGAIN, asked("i1"), closed("i1", "skipped"), R4),
        "r4",
        [AGAIN],
    ),
    "three since a question": (
        (*BEGAN, asked("i1"), answered("i1"), AGAIN, R2, AGAIN, R3, AGAIN, R4),
        "r4",
        [CUT_OFF],
    ),
    "three, and a sibling's progress": (
        (HI, RUN, step(K1, K2), AGAIN, R2, AGAIN, R3, AGAIN, result("k2"), R4),
        "r4",
        [CUT_OFF],
    ),
    "no such tool": ((HI, RUN, step(UNKNOWN)), "r1", [failed("k1", "There is no tool of this name.", "failed")]),
    "held, and another asked": (
        (HI, RUN, step(H1, K2), asked("i2", "k2"), answered("i2", "k2"), result("k2")),
        "r1",
        [failed("k1", HELD, "held")],
    ),
    "held, and another did not ask": ((HI, RUN, step(H1, K2), result("k2")), "r1", [AGAIN]),
    "held, and an earlier held one asked": (
        (HI, RUN, step(H1, H2), asked("i1"), answered("i1"), result("k1")),
        "r1",
        [failed("k2", HELD, "held")],
    ),
    "held, and it asked itself": ((HI, RUN, step(H1, H2), AGAIN, asked("i1"), answered("i1")), "r1", [AGAIN]),
    "held one by one": ((HI, RUN, step(H1, H2)), "r1", [AGAIN]),
    "stopped": ((*BEGAN, Stopped("cancelled")), "r2", []),
}


@pytest.mark.parametrize("name", OPENINGS)
def test_what_is_recorded_before_bodies_start(name: str) -> None:
    """Who begins is written first; what must not run gets its result instead, in words that are true."""
    told, runner, expected = OPENINGS[name]
    assert openings(story(*told), runner) == expected


def test_what_is_in_flight_is_not_begun_again() -> None:
    """A body whose landing is on its way is left alone, even if its question was closed meanwhile."""
    log = story(HI, RUN, step(K1, K2))
    assert openings(log, "r1", {"k1"}) == [Began(("k2",))]
    assert openings(log, "r1", {"k1", "k2"}) == []


# --------------------------------------------------------------------------- admit

WAITS = story(HI, RUN, step(K1, K2), Began(("k1", "k2")), asked("i1", expires_at=100.0))
DONE_K2 = tell(WAITS, [result("k2")])
OVER = tell(WAITS, [closed("i1", "superseded"), failed("k1", "", "superseded")])
ADMITTED: dict[str, tuple[Log, Body, float, str | None]] = {
    "an answer": (WAITS, answered("i1"), 99.9, None),
    "a skip": (WAITS, closed("i1", "skipped"), 99.9, None),
    "an expiry, at its moment": (WAITS, closed("i1", "expired"), 100.0, None),
    "superseding, whenever": (WAITS, closed("i1", "superseded"), 500.0, None),
    "cancelling, whenever": (WAITS, closed("i1", "cancelled"), 500.0, None),
    "changing, whenever": (WAITS, closed("i1", "changed"), 500.0, None),
    "a message": (WAITS, HI, 0.0, None),
    "a stop": (WAITS, Stopped("cancelled"), 0.0, None),
    "a result": (WAITS, result("k2"), 0.0, "r1"),
    "a question": (WAITS, asked("i2", "k2"), 0.0, "r1"),
    "an effect": (WAITS, Effect("k2", "pay", "a", "begun"), 0.0, "r1"),
    "a beginning": (WAITS, Began(("k2",)), 0.0, "r1"),
    "a step": (story(HI, RUN), Assistant("r1", 2), 0.0, "r1"),
    "the end of an effect": (
        tell(WAITS, [Effect("k2", "pay", "a", "begun")]),
        Effect("k2", "pay", "a", "done"),
        0.0,
        "r1",
    ),
    "a take-over": (WAITS, R2, 0.0, None),
    "a run after its answer without a limit": (story(*ASKED), answered("i1"), 1e12, None),
}


@pytest.mark.parametrize("name", ADMITTED)
def test_what_may_be_written(name: str) -> None:
    """These are admitted."""
    assert admit(*ADMITTED[name]) is None


STALE = errors.Stale()
EFFECT = Effect("k2", "pay", "a", "begun")
REFUSED: dict[str, tuple[Log, Body, float, str | None, str]] = {
    "an answer too late": (WAITS, answered("i1"), 100.0, None, "Closed expired"),
    "a skip too late": (WAITS, closed("i1", "skipped"), 100.0, None, "Closed expired"),
    "a refusal too late": (WAITS, closed("i1", "declined"), 100.0, None, "Closed expired"),
    "an expiry too early": (WAITS, closed("i1", "expired"), 99.9, None, "Refused"),
    "an expiry without a limit": (story(*ASKED), closed("i1", "expired"), 1e12, None, "Refused"),
    "an answer to nothing": (WAITS, answered("i9"), 0.0, None, "NotFound"),
    "an ending of nothing": (WAITS, closed("i9", "skipped"), 0.0, None, "NotFound"),
    "a second answer": (tell(WAITS, [answered("i1")]), answered("i1"), 0.0, None, "AlreadyAnswered"),
    "a skip after an answer": (tell(WAITS, [answered("i1")]), closed("i1", "skipped"), 0.0, None, "AlreadyAnswered"),
    "an answer after a skip": (tell(WAITS, [closed("i1", "skipped")]), answered("i1"), 0.0, None, "Closed skipped"),
    "an answer after a message": (OVER, answered("i1"), 0.0, None, "Closed superseded"),
    "an answer to what changed": (tell(WAITS, [closed("i1", "changed")]), answered("i1"), 0.0, None, "Changed"),
    "a second result": (DONE_K2, result("k2"), 0.0, "r1", "Closed superseded"),
    "a result while it asks": (WAITS, result("k1"), 0.0, "r1", "Closed superseded"),
    "a result of no call": (WAITS, result("k9"), 0.0, "r1", "Closed superseded"),
    "a second question at once": (WAITS, asked("i2", "k1"), 0.0, "r1", "Closed superseded"),
    "a question after the result": (DONE_K2, asked("i2", "k2"), 0.0, "r1", "Closed superseded"),
    "an effect after the result": (DONE_K2, EFFECT, 0.0, "r1", "Closed superseded"),
    "an effect that began": (tell(WAITS, [EFFECT]), EFFECT, 0.0, "r1", "Closed superseded"),
    "the end of no effect": (WAITS, replace(EFFECT, state="done"), 0.0, "r1", "Closed superseded"),
    "a second end of an effect": (
        tell(WAITS, [EFFECT, replace(EFFECT, state="unknown")]),
        replace(EFFECT, state="done"),
        0.0,
        "r1",
        "Closed superseded",
    ),
    "a beginning of what ended": (DONE_K2, Began(("k2",)), 0.0, "r1", "Closed superseded"),
    "a beginning of what asks": (WAITS, Began(("k1",)), 0.0, "r1", "Closed superseded"),
    "a step while a result is missing": (WAITS, Assistant("r1", 5), 0.0, "r1", "Stale"),
    "a step that nobody wanted": (story(HI, RUN, step()), Assistant("r1", 3), 0.0, "r1", "Stale"),
    "another runner's result": (tell(WAITS, [R2]), result("k2"), 0.0, "r1", "Stale"),
    "a result after a stop": (tell(WAITS, [Stopped("cancelled")]), result("k2"), 0.0, "r1", "Stale"),
    "a run's entry without a run": (story(HI), result("k2"), 0.0, "r1", "Stale"),
    "a stop of another's run": (tell(WAITS, [R2]), Stopped("internal"), 0.0, "r1", "Stale"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_may_not_be_written(name: str) -> None:
    """These are refused, and the refusal says what is true of the log."""
    log, body, now, runner, expected = REFUSED[name]
    refusal = admit(log, body, now, runner)
    assert refusal is not None
    kind = type(refusal).__name__
    ending = f" {refusal.ending}" if isinstance(refusal, errors.Closed) else ""
    assert (kind + ending).startswith(expected)


# --------------------------------------------------------------------------- transcript


def test_results_follow_their_step_in_call_order() -> None:
    """However they landed, with all their blocks as they were."""
    blob = {"format": "x", "version": 1, "blob": [{"type": "thinking", "signature": "s"}]}
    log = story(HI, RUN, Assistant("r1", 2, "So", (K1, K2), blob=blob), result("k2", [1]), result("k1", None), step())
    assert transcript(log) == (
        UserMessage("hi"),
        AssistantMessage("So", (K1, K2), blob),
        ToolMessage("k1", "ask", "null"),
        ToolMessage("k2", "ask", "[1]"),
        AssistantMessage("So"),
    )


def test_the_model_is_told_of_a_messages_files() -> None:
    """They are in the transcript beside its text."""
    photo = File("f1", "me.png", "image/png", 3, "abc")
    assert transcript(story(User("look", files=(photo,)))) == (UserMessage("look", (photo,)),)


def test_a_message_written_during_a_step_comes_after_its_results() -> None:
    """The order of the log and the order of the transcript differ: a call's result directly follows it."""
    log = story(HI, RUN, User("early"), Assistant("r1", 2, "", (K1,)), User("late"), result("k1"), User("last"))
    texts = [getattr(message, "text", "") for message in transcript(log)]
    assert texts == ["hi", "", "ok", "early", "late", "last"]
    texts = [message.text for message in transcript(tell(log, [step(), User("next")]))]
    assert texts == ["hi", "", "ok", "early", "late", "last", "So", "next"]


def test_what_the_model_reads_of_a_call_that_did_not_go_well() -> None:
    """Its status comes along, so that a provider's own mark of an error can be set."""
    message = transcript(story(HI, RUN, step(K1), failed("k1", "No.", "declined")))[-1]
    assert message == ToolMessage("k1", "ask", '{"ok":false,"error":"No."}', "declined")


# --------------------------------------------------------------------------- random walks

RUNNERS = ("r1", "r2", "r3")
Choose: TypeAlias = Callable[[list[Any]], Any]


def _user(log: Log, now: float, choose: Choose) -> list[Body]:
    return decisions.say(log, "hi", None, choose(["supersede", "keep"]))


def _take(log: Log, now: float, choose: Choose) -> list[Body]:
    return [Run(choose(list(RUNNERS)))]


def _work(log: Log, now: float, choose: Choose) -> list[Body]:
    """Something that the runner may write now."""
    runner = log.runner
    match phase(log):
        case CallModel() if runner:
            calls = tuple(
                Call(f"k{log.head}{n}", "t", hold=choose([False, True]), rerun=choose([True, False]), error=error)
                for n in range(choose([0, 1, 2, 3]))
                for error in [choose([None, None, None, "no"])]
            )
            skipped = decisions.skipped(log)
            return [Assistant(runner, log.head - choose([0, 0, 0, 1]), calls=calls, skipped=skipped)]
        case RunTools(calls) if runner:
            if opening := openings(log, runner):
                return opening
            return _land(log, now, choose(list(calls)).call, choose)
    return []


def _land(log: Log, now: float, call: Call, choose: Choose) -> list[Body]:
    match choose(["result", "ask", "ask", "effect"]):
        case "result":
            return [Result(call.id, "ok")]
        case "effect":
            return [Effect(call.id, choose(["a", "b"]), "", choose(["begun", "done", "unknown"]))]
        case _:
            limit = choose([None, now, now + 3])
            new = Interrupt(f"i{log.head}", call.id, "#1", "pick", None, choose(["d", "e"]), expires_at=limit)
            return decisions.ask(log, new, None, choose(["supersede", "keep"]))


def _close(log: Log, now: float, choose: Choose) -> list[Body]:
    """What the user's side does to a question."""
    if not log.interrupts:
        return []
    one = choose(list(log.interrupts))
    match choose(["answer"] * 4 + ["skip", "decline", "expire", "changed", "give up"]):
        case "answer":
            return [Answered(one.id, one.call_id, 1, "p")]
        case "skip":
            return decisions.close(log, one, "skipped")
        case "decline":
            return decisions.close(log, one, "declined", "no")
        case "expire":
            return decisions.expire(log, now)
        case "changed":
            return decisions.ask(log, replace(one, id=one.id + "'", generation=one.generation + 1), one, "supersede")
        case _:
            return decisions.give_up(one, "unavailable", "gone")


def _stop(log: Log, now: float, choose: Choose) -> list[Body]:
    return choose([decisions.cancel(log), [Stopped("internal", True)] if log.runner else []])  # type: ignore[no-any-return]


ACTIONS = [_work] * 12 + [_close] * 6 + [_user, _take, _stop]


def walk(seed: int) -> list[Log]:
    """Every log on the way of a conversation, each write admitted as `Record` admits it."""
    choose = random.Random(seed).choice
    logs = [story(HI, RUN)]
    for now in range(60):
        action, log = choose(ACTIONS), logs[-1]
        longer = _admitted(log, action(log, float(now), choose), float(now), log.runner if action is _work else None)
        if longer.head > log.head:
            logs.append(longer)
    return logs


def _admitted(log: Log, bodies: Iterable[Body], now: float, runner: str | None) -> Log:
    longer = log
    for body in bodies:
        if admit(longer, body, now, runner) is not None:
            return log
        longer = longer.plus([body], now)
    return longer


walks = st.builds(walk, st.integers(0, 2**32))


def tail(log: Log) -> Log:
    """What a store's row says is enough: what the last request had not seen, and all since."""
    return Log(log.after(log.seen))


HOW = ("expired", "skipped", "superseded")


def facts(log: Log, now: float) -> list[object]:
    """All that a decision may ask of a log."""
    asks = [one for call in (log.step.calls.values() if log.step else ()) for one in call.asks]
    bodies: list[Body] = [HI, R2, Stopped("x"), Assistant("r1", 0), answered("i9"), result("k9")]
    for call in log.step.calls if log.step else ():
        bodies += [Began((call,)), result(call), Effect(call, "a", "", "begun"), Effect(call, "a", "", "done")]
    for one in asks:
        bodies += [answered(one.id, one.call_id), *(closed(one.id, how, one.call_id) for how in HOW)]
    return [
        phase(log),
        runnable(log),
        log.head,
        log.interrupts,
        log.runner,
        log.stopped,
        log.seen,
        log.unseen,
        log.step,
        [openings(log, runner) for runner in RUNNERS],
        [repr(admit(log, body, now, runner)) for body in bodies for runner in (None, "r1", "r2")],
        [decisions.skipped(log), decisions.cancel(log), decisions.expire(log, now)],
        decisions.say(log, "hi", None, "supersede"),
    ]


@settings(max_examples=60, deadline=None)
@given(walks)
def test_the_tail_says_what_the_whole_says(logs: list[Log]) -> None:
    """For every log on every way: its tail, however it was reached, leads to the same phase and the same decisions."""
    for log in logs:
        now = float(log.head)
        assert facts(tail(log), now) == facts(log, now)


@settings(max_examples=60, deadline=None)
@given(walks)
def test_every_log_that_is_admitted_is_sound(logs: list[Log]) -> None:
    """One result a call, one ending a question, a transcript without a gap whenever the model is next."""
    last = logs[-1]
    for kind in (Result, Answered | Closed):
        refs = [entry.ref for entry in last.entries if isinstance(entry.body, kind)]
        assert len(refs) == len(set(refs))
    for log in logs:
        match phase(log):
            case CallModel():
                assert_well_formed(log)
                assert not log.interrupts
            case RunTools(calls):
                assert calls
            case Waiting(interrupts):
                assert interrupts == log.interrupts != ()


@settings(max_examples=40, deadline=None)
@given(walks)
def test_a_cancel_leaves_nothing_open(logs: list[Log]) -> None:
    """At any moment: every call has its result, no question is open, and the next message finds order."""
    for log in logs:
        if bodies := decisions.cancel(log):
            after = log.plus(bodies, 0.0)
            assert phase(after) == Done("cancelled")
            assert not after.interrupts
            assert_well_formed(after)
            assert isinstance(phase(after.plus([HI], 0.0)), CallModel)


@settings(max_examples=40, deadline=None)
@given(walks)
def test_every_walk_is_read_back_from_disk(logs: list[Log]) -> None:
    """A log that is written down and read again is the same log."""
    log = logs[-1]
    assert Log(tuple(load(e.seq, e.at, e.kind, dump(e)) for e in log.entries)) == log


# --------------------------------------------------------------------------- on disk

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
names = st.none() | texts
jsons: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
flags, whole, moments = st.booleans(), st.integers(0, 9), st.none() | st.floats(0, 2e9)
calls = st.builds(Call, texts, texts, texts, flags, flags, names)
interrupts = st.builds(Interrupt, texts, texts, texts, texts, jsons, texts, texts, whole, whole, names, moments)
tuples = st.lists(texts, max_size=3).map(tuple)
files = st.builds(File, texts, texts, texts, whole, texts)
bodies: st.SearchStrategy[Body] = st.one_of(
    st.builds(User, texts, names, st.lists(files, max_size=2).map(tuple)),
    st.builds(Run, texts),
    st.builds(
        Assistant, texts, whole, texts, st.lists(calls, max_size=3).map(tuple), tuples, whole, tuples, jsons, jsons
    ),
    st.builds(Began, tuples),
    st.builds(Asked, interrupts),
    st.builds(Answered, texts, texts, jsons, texts, files=st.lists(files, max_size=2).map(tuple)),
    st.builds(Closed, texts, texts, st.sampled_from(["skipped", "changed"]), names),
    st.builds(Effect, texts, texts, texts, st.sampled_from(["begun", "failed"]), jsons, names),
    st.builds(Result, texts, jsons, st.sampled_from(["ok", "held"])),
    st.builds(Stopped, texts, flags, texts),
)
entries = st.builds(Entry, whole, st.floats(0, 2e9), bodies, tuples)


def plain(entry: Entry) -> Json:
    return json.loads(dump(entry))


@given(entries)
def test_an_entry_is_read_as_it_was_written(entry: Entry) -> None:
    """Every field of every kind, falsy values and nested scopes too."""
    again = load(entry.seq, entry.at, entry.kind, dump(entry))
    assert again == entry
    assert plain(again) == plain(entry)


@given(entries, jsons)
def test_fields_that_a_later_release_added_are_ignored(entry: Entry, extra: Json) -> None:
    """Within a version, fields may be added: an older release reads what it knows."""
    stored = plain(entry) | {"added": extra}
    for nested in (*stored.get("calls", ()), stored.get("interrupt")):
        if isinstance(nested, dict):
            nested["added"] = extra
    assert load(entry.seq, entry.at, entry.kind, json.dumps(stored)) == entry


def test_an_entry_without_a_version_is_of_the_first() -> None:
    """The version may be left out; a later one, and a kind that is unknown, are refused."""
    assert load(1, 0.0, "user", '{"text":"hi"}').body == User("hi")
    for kind, text in (("user", '{"v":2,"text":"hi"}'), ("dreamt", '{"v":1}')):
        with pytest.raises(errors.NewerLog, match="Upgrade"):
            load(1, 0.0, kind, text)


def test_defaults_take_no_room() -> None:
    """What is as usual is not written: an ordinary call costs its name, its id and its arguments."""
    entry = Entry(1, 0.0, Assistant("r1", 2, calls=(Call("k1", "ask"),)))
    assert dump(entry) == '{"v":1,"run":"r1","seen":2,"calls":[{"id":"k1","tool":"ask"}]}'
