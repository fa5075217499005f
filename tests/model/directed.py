"""Scenarios for situations that chance comes to too rarely, each checked by the same reference."""

from __future__ import annotations

from tests.model.script import (
    Act,
    Advance,
    Answer,
    AskFor,
    Cancel,
    Crash,
    Deploy,
    Drive,
    Expect,
    Fail,
    Lapse,
    Once,
    Op,
    Open,
    Planned,
    Policy,
    Post,
    Raw,
    Resume,
    Scenario,
    Skip,
    Sort,
    Sweep,
    Work,
)

GO = Drive()


def _call(*ops: Op, sort: Sort = "ctx", id: str = "a") -> Planned:
    return Planned(sort, id, ops)


def _play(
    *acts: Act,
    steps: tuple[tuple[Planned, ...], ...],
    on_message: Policy = "supersede",
    faults: tuple[int, ...] = (),
    max_steps: int = 50,
    on: tuple[int, ...] = (0,),
) -> Scenario:
    return Scenario(steps, (Post("hello"), *acts), b"", on_message, faults, max_steps, directed=True, on=on)


_ASK = AskFor()
_WORDED = AskFor(worded=True)
_TWO_ASKS = ((_call(_ASK, _ASK), _call(_ASK, id="b"), _call(Work(), sort="plain", id="c")),)
_SLOW = ((_call(Work()),),)
_BOUNDED = ((_call(AskFor(expires_in=5.0)),),)

SCENARIOS: dict[str, Scenario] = {
    # identity
    "a call id twice in a step": _play(GO, steps=((_call(_ASK), _call(_ASK)),)),
    "a call id again in a later step": _play(GO, Answer(), GO, steps=((_call(_ASK),), (_call(_ASK),))),
    # who runs
    "a process comes back after another took over": _play(
        Drive(("body",)), Lapse(), Drive(("body", "renew")), steps=_SLOW
    ),
    "a process comes back with a result of the model": _play(
        Drive(("model",)), Lapse(), Drive(("model", "renew")), steps=_SLOW
    ),
    "a process comes back with an ask": _play(
        Drive(("append asked",)), Lapse(), Drive(("append asked", "renew")), steps=((_call(_ASK),),)
    ),
    "a message just before the last step is recorded": _play(
        Drive(("append assistant",)), Post("more"), Drive(("append assistant",)), steps=()
    ),
    "a message just after the last step is recorded": _play(Drive(("append assistant",)), Post("more"), steps=()),
    "a message while the lease is given back": _play(Drive(("release",)), Post("more"), Drive(("release",)), steps=()),
    "an answer while a sibling is slow": _play(
        Drive(("body",)), Answer(1), Drive(("body",)), Expect(("b",)), steps=_TWO_ASKS
    ),
    "an answer to another process while a sibling is slow": _play(
        *(Drive(("body",)), Open(), Answer(1), Drive(("body",)), Advance(5.0), Drive(("body",)), Expect(("b",))),
        steps=_TWO_ASKS,
        on=(0, 0, 0, 1, 0, 0, 0, 0),
    ),
    # answering
    "a question in other words": _play(
        *(GO, Deploy(), Answer(), GO, Answer(), GO, Answer(old=True), GO), steps=((_call(_WORDED),),)
    ),
    "an answered question in other words": _play(
        *(GO, Answer(), Drive(("append result",)), Deploy(), Advance(31.0), Sweep(), GO), steps=((_call(_WORDED),),)
    ),
    "a question behind an answered one in other words": _play(
        *(GO, Answer(), GO, Deploy(), Answer(), GO, Expect(()), Answer(), GO, Expect(("a",))),
        steps=((_call(_WORDED, _ASK),),),
    ),
    "two answers at once": _play(
        *(GO, Open(), Answer(0), Answer(1), GO, Answer(0, old=True), Answer(1, old=True)),
        steps=((_call(_ASK),),),
        on=(0, 0, 0, 0, 1),
    ),
    # batches
    "a held call behind a question": _play(
        GO, Answer(), GO, steps=((_call(_ASK), _call(Work(), sort="held-plain", id="b")),)
    ),
    "a held call that asks before another": _play(
        GO, Answer(), GO, steps=((_call(_ASK, sort="held"), _call(sort="held-plain", id="b"), _call(sort="plain")),)
    ),
    "held calls that may run": _play(
        GO, steps=((_call(Work(), sort="held-plain"), _call(sort="held-plain"), _call(Work(), sort="plain")),)
    ),
    # what re-runs
    "a crash within a plain body": _play(
        Drive(("body",)), Crash(now=True), steps=((_call(Work(), sort="plain"), _call(Work(), sort="idempotent")),)
    ),
    "a body that crashes its process each time": _play(
        *(Drive(("body",)), Crash(now=True), Advance(31.0), Sweep()) * 5, steps=_SLOW
    ),
    # effects
    "an effect before a question": _play(GO, Answer(), GO, steps=((_call(Once("mail"), _ASK),),)),
    "an effect that fails": _play(GO, Answer(), GO, steps=((_call(Once("mail", fails=True, catch=True), _ASK),),)),
    "a crash within an effect": _play(
        Drive(("effect",)),
        Crash(now=True),
        steps=((_call(Once("mail", catch=True)), _call(Once("mail", repeatable=True), id="b")),),
    ),
    # pauses
    "a swallowed pause": _play(GO, Answer(), GO, steps=((_call(AskFor(swallow="return")),),)),
    "a swallowed pause, and on": _play(
        GO, Answer(), GO, steps=((_call(AskFor(swallow="go on"), Once("mail"), AskFor(swallow="go on")),),)
    ),
    # endings
    "a message closes two questions": _play(GO, Post("never mind"), GO, steps=_TWO_ASKS),
    "a message while one asks and one runs": _play(Drive(("body",)), Post("never mind"), GO, steps=_TWO_ASKS),
    "a question after an unseen message": _play(
        Drive(("append asked",)), Post("never mind"), Drive(("append asked",)), steps=_TWO_ASKS
    ),
    "a cancel closes two questions": _play(GO, Cancel(), GO, steps=_TWO_ASKS),
    "a cancel while one asks and one runs": _play(Drive(("body",)), Cancel(), GO, steps=_TWO_ASKS),
    "a cancel within an effect": _play(Drive(("effect",)), Cancel(), GO, steps=((_call(Once("mail")),),)),
    "the same ask after two skips": _play(
        *(GO, Skip(), GO, Skip(), GO), steps=((_call(Raw("sure?")),), (_call(Raw("sure?")),), (_call(Raw("sure?")),))
    ),
    # messages
    "a message while the model thinks": _play(
        Drive(("append assistant",)), Post("more"), Drive(("append assistant",)), steps=_TWO_ASKS, on_message="keep"
    ),
    "a message that is kept": _play(GO, Post("more"), GO, steps=_TWO_ASKS, on_message="keep"),
    "a message that is refused": _play(GO, Post("more"), GO, steps=_TWO_ASKS, on_message="reject"),
    "a message that is refused while one runs": _play(
        Drive(("body",)), Post("more"), GO, steps=_TWO_ASKS, on_message="reject"
    ),
    "a message sent again while it would be refused": _play(
        GO, Post("hi", "m1"), GO, Answer(), GO, Post("hi", "m1"), steps=((), (_call(_ASK),)), on_message="reject"
    ),
    # stopping
    "a sweep after a failed step": _play(GO, Advance(31.0), Sweep(), GO, steps=_SLOW, faults=(1,)),
    "a failed step is resumed": _play(GO, Resume(), GO, steps=((_call(_ASK),),), faults=(1, 1)),
    "a cancel while the model thinks": _play(
        Drive(("model",)), Cancel(), Drive(("model",)), Advance(31.0), Sweep(), GO, steps=_SLOW
    ),
    "the step limit": _play(GO, Post("more"), GO, steps=((_call(Fail()),), (_call(),), (_call(),)), max_steps=2),
    "a message just before the step limit is recorded": _play(
        Drive(("append stopped",)), Post("more"), Drive(("append stopped",)), steps=((_call(),),), max_steps=1
    ),
    # expiry
    "an answer is decided in time and written too late": _play(
        GO, Answer(), Drive(("append",)), Advance(7.0), steps=_BOUNDED
    ),
    "a skip is decided in time and written too late": _play(
        GO, Skip(), Drive(("append",)), Advance(7.0), steps=_BOUNDED
    ),
    "a question is written late": _play(Drive(("append asked",)), Advance(7.0), GO, Answer(), steps=_BOUNDED),
    "an answer and the sweep after the time": _play(GO, Advance(7.0), Answer(), Sweep(), GO, steps=_BOUNDED),
}

CRASHES = _play(
    *(GO, Answer(), GO, Answer(payload="odd"), GO, Answer(), GO, Answer(), GO),
    steps=(
        (
            _call(_ASK, Once("mail"), AskFor("k", until=True)),
            _call(Work(), sort="plain", id="b"),
            _call(Work(), sort="held", id="c"),
        ),
        (_call(_ASK, sort="held"),),
    ),
)
"""A conversation to be crashed at every write."""
