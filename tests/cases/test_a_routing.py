"""Group A: several questions at once, and each answer in its own place."""

from __future__ import annotations

import itertools
import random

import anyio
import anyio.lowlevel
import pytest

from tests.scene import Process, Say, Scene
from yourcall import Context, tool
from yourcall.entries import Answered, Asked, Assistant, Interrupt, Result
from yourcall.errors import AlreadyAnswered, Closed, NotFound
from yourcall.log import Done, Waiting
from yourcall.testing import CallStep, ScriptStep

pytestmark = pytest.mark.anyio


async def dawdle(steps: int) -> None:
    for _ in range(steps):
        await anyio.lowlevel.checkpoint()


@tool
async def ask(ctx: Context, name: str, slow: int = 0) -> str:
    """Asks the user something, sooner or later, and takes its time with the answer."""
    await dawdle(slow)
    answer = ctx.ask(Say(f"What is {name}?"))
    await dawdle(slow)
    return f"{name}={answer}"


def asking(*names: str, slow: int = 0) -> list[CallStep]:
    return [("ask", {"name": name, "slow": slow}) for name in names]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["x-first", "y-first"])
async def test_A1_parallel_askers_get_their_own_answer(scene: Scene, order: tuple[int, int]) -> None:
    """However slow either is, in whatever order the answers come: x's result has x's, and results are in call order."""
    chance = random.Random(order[0])
    slowness = [(chance.randrange(30), chance.randrange(30)) for _ in range(10)]
    calls = [
        [("ask", {"name": name, "slow": slow}) for name, slow in zip("xy", pair, strict=True)] for pair in slowness
    ]
    steps: list[ScriptStep] = [step for batch in calls for step in (batch, "Done.")]
    async with scene.process(ask, steps=steps) as p:
        for number in range(len(calls)):
            p.chat = p.engine.conversation(str(number), user="ada")
            assert isinstance(await p.say(), Waiting)
            open = await p.chat.interrupts()
            assert [one.message for one in open] == ["What is x?", "What is y?"]
            for index in order:
                await p.chat.answer(open[index].id, "xy"[index])
                await dawdle(chance.randrange(30))
            assert await p.rest() == Done()
            assert [line.partition(": ")[2] for line in (await p.transcript())[2:4]] == ["x=x", "y=y"]


async def test_A2_parallel_askers_have_distinct_and_stable_ids(scene: Scene) -> None:
    """Three calls of one asker are three questions; their ids are the same when listed again, and in a new process."""
    async with scene.process(ask, steps=[asking("a", "b", "c")]) as p:
        phase = await p.say()
        assert isinstance(phase, Waiting)
        ids = [one.id for one in phase.interrupts]
        assert len(set(ids)) == 3
        assert [one.id for one in await p.chat.interrupts()] == ids
    async with scene.process(ask) as p:
        assert [one.id for one in await p.chat.interrupts()] == ids
        for interrupt_id, answer in zip(ids, "abc", strict=True):
            await p.chat.answer(interrupt_id, answer)
        assert await p.rest() == Done()
        assert [one.content for one in sorted(await p.bodies(Result), key=lambda one: one.call)] == [
            *("a=a", "b=b", "c=c")
        ]


async def test_A3_an_answer_that_names_no_question_is_refused_and_spoils_nothing(scene: Scene) -> None:
    """With two open, an answer goes to neither by guess; then both are answered, and the chat goes on."""
    async with scene.process(ask, steps=[asking("a", "b")]) as p:
        await p.say()
        first, second = await p.chat.interrupts()
        before = await p.chat.log()
        for nobody in ("", "no such id", "call_1_1", first.key):
            with pytest.raises(NotFound):
                await p.chat.answer(nobody, "a")
            with pytest.raises(NotFound):
                await p.chat.skip(nobody)
        assert await p.chat.log() == before
        await p.chat.answer(second.id, "2")
        await p.chat.answer(first.id, "1")
        assert await p.rest() == Done()
        assert await p.content("call_1_1") == "a=1"
        assert await p.say("still there?") == Done()


async def test_A6_two_calls_with_one_id_are_two_calls(scene: Scene) -> None:
    """The model gives both the same id: each has its own question, one answer never feeds both, nothing runs twice."""
    executions: list[str] = []

    @tool
    async def delete(ctx: Context, path: str) -> str:
        answer = ctx.ask(Say(f"Delete {path}?", "yes", "no"))
        executions.append(f"{answer} {path}")
        return answer

    calls: list[CallStep] = [("delete", {"path": "a"}, "x"), ("delete", {"path": "b"}, "x")]
    async with scene.process(delete, steps=[calls]) as p:
        await p.say()
        first, second = await p.chat.interrupts()
        assert first.id != second.id
        await p.chat.answer(first.id, "yes")
        assert (await p.rest()) == Waiting((second,))
        assert executions == ["yes a"]
        await p.answer("no", second)
        assert executions == ["yes a", "no b"]
        (step, _) = await p.bodies(Assistant)
        assert [call.id for call in step.calls] == ["x", "x-2"]
        assert [one.call for one in await p.bodies(Result)] == ["x", "x-2"]


async def test_A6_an_id_of_an_earlier_step_is_not_that_call(scene: Scene) -> None:
    """The model uses an id again: the old answer is not taken, the user is asked, and both results are kept."""
    async with scene.process(ask, steps=[[("ask", {"name": "a"}, "x")], [("ask", {"name": "a"}, "x")]]) as p:
        await p.say()
        first = await p.open()
        await p.answer("1")
        second = await p.open()
        assert second.id != first.id
        assert second.message == first.message
        assert await p.chat.answer(first.id, "1") == (await p.bodies(Answered))[0]  # a retry, and known as one
        assert (await p.open()) == second
        await p.answer("2")
        assert [one.content for one in await p.bodies(Result)] == ["a=1", "a=2"]


@pytest.mark.parametrize("first", ["P", "Q1"])
async def test_A8_resolved_questions_do_not_come_back(scene: Scene, first: str) -> None:
    """P asks once, Q twice: with P and Q's first answered only Q's second is open; P is over and done once."""
    done: list[str] = []

    @tool
    def once(ctx: Context) -> str:
        answer = ctx.ask(Say("P"))
        done.append("P")
        return answer

    @tool
    def twice(ctx: Context) -> str:
        answers = ctx.ask(Say("Q1")) + ctx.ask(Say("Q2"))
        done.append("Q")
        return answers

    async with scene.process(once, twice) as p:
        await p.say()
        p_open, q_open = await p.chat.interrupts()
        if first == "P":
            await p.chat.answer(p_open.id, "p")
            await p.until(Result)  # so P is over when Q asks again
        await p.chat.answer(q_open.id, "1")
        if first == "Q1":
            await p.until(Asked, 3)
            await p.chat.answer(p_open.id, "p")
        phase = await p.rest()
        assert isinstance(phase, Waiting)
        assert [one.message for one in phase.interrupts] == ["Q2"]
        assert done == ["P"]
    async with scene.process(once, twice) as p:
        assert [one.message for one in await p.chat.interrupts()] == ["Q2"]
        await p.answer("2")
        assert sorted(one.interrupt.message for one in await p.bodies(Asked)) == ["P", "Q1", "Q2"]
        assert await p.content("call_1_2") == "12"
    assert done == ["P", "Q"]


async def test_every_order_of_answers_leads_to_the_same_results(scene: Scene) -> None:
    """Three questions, answered in each of the six orders, each by a process that has answered none before."""
    orders = list(itertools.permutations(range(3)))

    def of(p: Process, order: tuple[int, ...]) -> Process:
        p.chat = p.engine.conversation(str(order), user="ada")
        return p

    steps: list[ScriptStep] = [asking("a", "b", "c")] * len(orders)
    async with scene.process(ask, steps=steps) as p:
        ids = {order: [one.id for one in await questions(of(p, order))] for order in orders}
    for turn in range(3):
        async with scene.process(ask) as p:
            for order in orders:
                await of(p, order).chat.answer(ids[order][order[turn]], str(order[turn]))
                await p.rest()
                if turn == 2:
                    assert (await p.transcript())[-1] == "assistant: Done."
                    assert [line.partition(": ")[2] for line in (await p.transcript())[2:5]] == ["a=0", "b=1", "c=2"]


async def questions(p: Process) -> tuple[Interrupt, ...]:
    phase = await p.say()
    assert isinstance(phase, Waiting)
    return phase.interrupts


async def test_an_answer_is_not_taken_for_the_next_question_of_its_call(scene: Scene) -> None:
    """A second click lands on the question that came after: it names the first, and changes nothing."""

    @tool
    def t(ctx: Context) -> str:
        return ctx.ask(Say("First?", "yes", "no")) + ctx.ask(Say("Delete all?", "yes", "no"))

    async with scene.process(t) as p:
        await p.say()
        first = await p.open()
        await p.answer("no")
        second = await p.open()
        with pytest.raises(AlreadyAnswered):
            await p.chat.answer(first.id, "yes")
        assert await p.open() == second
        await p.skip(second)
        with pytest.raises(Closed):
            await p.chat.answer(second.id, "yes")
