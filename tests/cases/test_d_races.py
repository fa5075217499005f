"""Group D: double submits, two tabs, two processes, answers and messages at the same instant."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from itertools import permutations
from typing import Any

import anyio
import pytest

from tests.scene import Process, Say, Scene
from tests.support import assert_well_formed
from yourcall import Context, Refused, Tool, tool
from yourcall.entries import Answered, Assistant, Result, User
from yourcall.errors import AlreadyAnswered
from yourcall.errors import Closed as ClosedError
from yourcall.errors import Waiting as WaitingError
from yourcall.log import Done, Waiting
from yourcall.testing import CallStep, ScriptStep

pytestmark = pytest.mark.anyio


@tool
def asks(ctx: Context) -> str:
    return ctx.ask(Say("Which?", "a", "b"))


@tool
def asks_twice(ctx: Context) -> str:
    return f"{ctx.ask(Say('First?'))} {ctx.ask(Say('Second?'))}"


@tool
def approves(ctx: Context, what: str) -> str:
    """The wording is the same, whatever is approved."""
    return f"{what}: {ctx.ask(Say('Go ahead?', 'yes', 'no'))}"


async def at_once(*attempts: Callable[[], Awaitable[object]]) -> list[object]:
    """Start all at the same moment; what each returned, or the refusal it got."""
    outcomes: list[object] = [None] * len(attempts)

    async def make(n: int) -> None:
        try:
            outcomes[n] = await attempts[n]()
        except Refused as refusal:
            outcomes[n] = refusal

    async with anyio.create_task_group() as tasks:
        for n in range(len(attempts)):
            tasks.start_soon(make, n)
    return outcomes


@asynccontextmanager
async def processes(
    scene: Scene, count: int, *tools: Tool[Any], calls: list[CallStep], **options: Any
) -> AsyncIterator[list[Process]]:
    """Processes on one file: the first one's model makes the calls, and whichever goes on with them says "Done."."""
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(scene.process(*tools, steps=[calls], **options))
        others = [scene.process(*tools, steps=[], **options) for _ in range(count - 1)]
        yield [first, *[await stack.enter_async_context(other) for other in others]]


@pytest.fixture(params=[1, 2], ids=["one process", "two processes"])
def count(request: pytest.FixtureRequest) -> int:
    number: int = request.param
    return number


# --------------------------------------------------------------------------- D2


@pytest.mark.parametrize("again", ["first", "other"])
@pytest.mark.parametrize("step", ["one call", "two steps"])
async def test_D2_a_double_click_does_not_answer_the_next_question(scene: Scene, step: str, again: str) -> None:
    """The second click has the first question's id: it is harmless, or refused, and the next question stays open."""
    tools = [asks_twice] if step == "one call" else [asks]
    steps: list[ScriptStep] = [[("asks_twice", {})]] if step == "one call" else [[("asks", {})], [("asks", {})]]
    first = "a"
    async with scene.process(*tools, steps=steps) as p:
        await p.say()
        question = await p.open()
        assert isinstance(await p.answer(first), Waiting)
        following = await p.open()
        assert following.id != question.id
        before = await p.chat.log()
        if again == "first":
            recorded = await p.chat.answer(question.id, first)
            assert recorded == next(iter(await p.bodies(Answered)))
        else:
            with pytest.raises(AlreadyAnswered):
                await p.chat.answer(question.id, "b")
        assert await p.chat.log() == before
        assert await p.open() == following
        assert await p.answer("b") == Done()


async def test_D2_two_clicks_at_once_are_one_answer(scene: Scene) -> None:
    """Both are told the same recorded answer; one is recorded, and the body goes on once."""
    went_on: list[str] = []

    @tool
    def asks(ctx: Context) -> str:
        went_on.append(ctx.ask(Say("Which?")))
        return went_on[-1]

    async with scene.process(asks) as p:
        await p.say()
        question = await p.open()
        answers = await at_once(*[partial(p.chat.answer, question.id, "a")] * 8)
        assert await p.rest() == Done()
        assert answers == await p.bodies(Answered) * 8
        assert await p.content() == "a"
    assert went_on == ["a"]


# --------------------------------------------------------------------------- D3


async def test_D3_the_other_tab_cannot_approve_what_it_does_not_show(scene: Scene) -> None:
    """Tab 2 still shows A when B is open, in the same words: its click is A's, refused, and B waits for its own."""
    steps: list[ScriptStep] = [[("approves", {"what": "a small one"})], [("approves", {"what": "everything"})]]
    async with scene.process(approves, steps=steps) as p:
        await p.say()
        shown = await p.open()
        await p.answer("no")
        following = await p.open()
        assert (following.ask, following.message) == (shown.ask, shown.message)
        with pytest.raises(AlreadyAnswered):
            await p.chat.answer(shown.id, "yes", digest=shown.digest)
        truth = await p.engine.find(shown.id, user="ada")
        assert isinstance(truth.ending, Answered)
        assert truth.ending.value == "no"
        assert await p.chat.interrupts() == (following,)
        await p.answer("no")
        assert [result.content for result in await p.bodies(Result)] == ["a small one: no", "everything: no"]


# --------------------------------------------------------------------------- D4, D5


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)], ids=str)
async def test_D4_answers_at_once_are_all_kept(scene: Scene, count: int, order: tuple[int, ...]) -> None:
    """Three questions, three requests at the same moment: no answer is lost, and the model is called once more."""
    async with processes(scene, count, asks, calls=[("asks", {})] * 3) as ps:
        await ps[0].say()
        questions = await ps[0].chat.interrupts()
        outcomes = await at_once(*(partial(ps[n % count].chat.answer, questions[n].id, "aba"[n]) for n in order))
        assert all(isinstance(outcome, Answered) for outcome in outcomes)
        assert await ps[0].rest() == Done()
        assert_well_formed(await ps[0].chat.log())
        contents = {result.call: result.content for result in await ps[0].bodies(Result)}
        assert contents == {"call_1_1": "a", "call_1_2": "b", "call_1_3": "a"}
        assert len(await ps[0].bodies(Assistant)) == 2
        assert sum(len(p.model.requests) for p in ps) == 2


@pytest.mark.parametrize("order", list(permutations(range(3))), ids=str)
async def test_D5_the_model_is_called_after_the_last_answer(scene: Scene, order: tuple[int, ...]) -> None:
    """Not after the first nor the second, in whatever order, each in a process of its own; and then exactly once."""
    async with scene.process(asks, steps=[[("asks", {})] * 3]) as p:
        await p.say()
        questions = await p.chat.interrupts()
    for place, n in enumerate(order):
        async with scene.process(asks) as p:
            phase = await p.answer("a", questions[n])
            assert isinstance(phase, Waiting if place < 2 else Done)
            assert len(p.model.requests) == (place == 2)
            if isinstance(phase, Waiting):
                assert {question.id for question in phase.interrupts} == {questions[m].id for m in order[place + 1 :]}


# --------------------------------------------------------------------------- D6


MAY: dict[str, set[str]] = {
    "supersede": {"both", "superseded"},
    "reject": {"both", "message refused"},
    "keep": {"both"},
}


@pytest.mark.parametrize("policy", MAY)
@pytest.mark.parametrize("first", ["answer", "message"])
async def test_D6_a_message_and_an_answer_at_once_are_put_in_order(
    scene: Scene, count: int, policy: str, first: str
) -> None:
    """One comes first, and the other meets what it left: never an error of ours, a lost message or half an answer."""
    async with processes(scene, count, asks, calls=[("asks", {})], on_message=policy) as ps:
        await ps[0].say()
        question = await ps[0].open()
        attempts: list[Callable[[], Awaitable[object]]] = [
            partial(ps[0].chat.answer, question.id, "a"),
            partial(ps[-1].chat.post, "but"),
        ]
        if first == "answer":
            answered, posted = await at_once(*attempts)
        else:
            posted, answered = await at_once(*reversed(attempts))
        assert _told(answered, posted) in MAY[policy]
        assert await ps[0].rest() == Done()
        assert_well_formed(await ps[0].chat.log())
        assert [user.text for user in await ps[0].bodies(User)] == ["go", "but"][: 1 + isinstance(posted, int)]
        assert len(await ps[0].bodies(Answered)) == isinstance(answered, Answered)


def _told(answered: object, posted: object) -> str:
    match answered, posted:
        case Answered(), int():
            return "both"
        case ClosedError(ending="superseded"), int():
            return "superseded"
        case Answered(), WaitingError():
            return "message refused"
    return f"{answered!r} {posted!r}"


async def test_D6_many_messages_at_once(scene: Scene) -> None:
    """All are recorded, each once, and answered; one run at a time is at work."""
    async with scene.process() as p:
        outcomes = await at_once(*(partial(p.chat.post, f"{n}", id=f"m{n % 5}") for n in range(10)))
        assert all(isinstance(outcome, int) for outcome in outcomes)
        assert await p.rest() == Done()
        await p.engine.drain()
        log = await p.chat.log()
        assert_well_formed(log)
        assert sorted(user.id or "" for user in await p.bodies(User)) == [f"m{n}" for n in range(5)]
        assert not log.unseen
