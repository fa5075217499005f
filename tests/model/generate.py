"""Scenarios by chance: what the generated examples are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from hypothesis import strategies as st

from tests.model.script import (
    Act,
    Advance,
    Answer,
    AskFor,
    Cancel,
    Crash,
    Decline,
    Deploy,
    Drop,
    Expire,
    Fail,
    Lapse,
    Listen,
    Once,
    Op,
    Open,
    Planned,
    Policy,
    Post,
    Program,
    Raw,
    Resume,
    Scenario,
    Skip,
    Sort,
    Stop,
    Stranger,
    Sweep,
    Work,
)

_asks = st.builds(
    AskFor,
    key=st.sampled_from([None, None, "k", "other"]),
    until=st.sampled_from([False, False, True]),
    expires_in=st.sampled_from([None, 5.0, 20.0]),
    unanswered=st.sampled_from(["raise", "catch", "otherwise"]),
    swallow=st.sampled_from(["no", "no", "no", "return", "go on"]),
    worded=st.booleans(),
)
_raws = st.sampled_from([Raw("raw"), Raw("other raw")])
_onces = st.builds(
    Once,
    name=st.sampled_from(["mail", "charge"]),
    repeatable=st.booleans(),
    fails=st.sampled_from([False, False, True]),
    catch=st.booleans(),
)
_work = st.just(Work())
_context = st.lists(
    st.one_of(_asks, _asks, _asks, _raws, _onces, _work, st.sampled_from([Work(), Work(), Fail()])),
    min_size=1,
    max_size=5,
)
_thread = st.lists(st.one_of(_asks, _asks, _raws), min_size=1, max_size=3)
_plain: st.SearchStrategy[list[Work | Fail]] = st.lists(
    st.sampled_from([Work(), Work(), Work(), Fail()]), min_size=1, max_size=2
)

_SORTS: list[Sort] = ["ctx", "held", "thread", "plain", "idempotent", "held-plain", "unknown", "bad-args"]
_SORTS += ["ctx", "ctx", "ctx", "ctx", "ctx", "ctx", "ctx", "held", "plain", "plain", "plain"]


def _sane(ops: Sequence[Op]) -> Program:
    """A body that the rules allow: at most three asks, and no effect twice."""
    kept: list[Op] = []
    for op in ops:
        asks = sum(isinstance(k, AskFor | Raw) for k in kept)
        if isinstance(op, AskFor | Raw) and asks == 3:
            continue
        if isinstance(op, Once) and any(isinstance(k, Once) and k.name == op.name for k in kept):
            continue
        kept.append(op)
    return tuple(kept)


@st.composite
def _planned(draw: st.DrawFn) -> Planned:
    sort = draw(st.sampled_from(_SORTS))
    name = draw(st.sampled_from("aabc"))
    match sort:
        case "ctx" | "held":
            return Planned(sort, name, _sane(draw(_context)))
        case "thread":
            return Planned(sort, name, _sane(draw(_thread)))
        case "unknown" | "bad-args":
            return Planned(sort, name)
        case _:
            return Planned(sort, name, _sane(draw(_plain)))


_answers = st.builds(
    Answer,
    pick=st.integers(0, 5),
    payload=st.sampled_from(["good", "good", "good", "odd", "wrong", "stale-digest"]),
    old=st.sampled_from([False, False, False, True]),
    twice=st.sampled_from([False, False, True]),
)
_acts: st.SearchStrategy[Act] = st.one_of(
    _answers,
    _answers,
    _answers,
    _answers,
    st.builds(Skip, pick=st.integers(0, 3), old=st.booleans()),
    st.builds(Decline, pick=st.integers(0, 3), old=st.booleans()),
    st.builds(Post, text=st.sampled_from(["and", "wait"]), id=st.sampled_from([None, "m1", "m2"]), say=st.booleans()),
    st.builds(Post, text=st.just("listen"), say=st.booleans()),
    st.just(Post("go on")),
    st.just(Post("go on")),
    st.sampled_from([Cancel(), Cancel(), Lapse()]),
    st.just(Cancel()),
    st.just(Cancel()),
    st.just(Resume()),
    st.builds(Advance, st.sampled_from([1.0, 7.0, 31.0, 61.0])),
    st.just(Expire()),
    st.just(Deploy()),
    st.sampled_from([Crash(now=True), Post("never mind")]),
    st.just(Sweep()),
    st.just(Open()),
    st.builds(Crash, skip=st.integers(0, 3), after=st.booleans(), now=st.sampled_from([False, False, True])),
    st.sampled_from([Stop(), Drop(), Drop(), Listen(), Stranger()]),
)


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    """One example: three messages' worth of calls at most, and a dozen things that happen meanwhile."""
    steps = draw(st.lists(st.lists(_planned(), min_size=1, max_size=3).map(tuple), min_size=1, max_size=3))
    acts: list[Act] = [Post("hello"), *draw(st.lists(_acts, min_size=2, max_size=10))]
    return Scenario(
        steps=tuple(steps),
        acts=tuple(acts),
        tape=draw(st.one_of(st.binary(min_size=100, max_size=100), st.binary(max_size=30))),
        on_message=cast(Policy, draw(st.sampled_from(["supersede", "supersede", "supersede", "keep", "reject"]))),
        faults=tuple(draw(st.lists(st.sampled_from([0, 0, 0, 1]), max_size=4))),
        max_steps=draw(st.sampled_from([50, 50, 50, 2])),
        fine=draw(st.booleans()),
        on=draw(st.sampled_from([(0,), (0, 1), (1, 0, 0)])),
    )
