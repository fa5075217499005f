"""What holds for every kind of ask: A1, C5, J2 and J4, refusals, several asks in one body, in any process.

To add a kind is to add a line to `KINDS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint
from pydantic import BaseModel

from tests.scene import Process, Scene
from yourcall import Ask, Choose, Confirm, Context, Form, Option, Question, Questions, Rejected, tool
from yourcall.entries import Answered, Closed, Interrupt
from yourcall.errors import Closed as ClosedError
from yourcall.log import Done, Waiting

pytestmark = pytest.mark.anyio


class Table(BaseModel):
    people: int


@dataclass(frozen=True)
class Kind:
    """How to make one, two different answers to it, and what each of them says to the tool."""

    make: Callable[[str, Any], Ask[Any]]
    one: Any
    two: Any
    said: Callable[[Any], str] = str


KINDS = {
    "questions": Kind(
        lambda title, check: Questions([Question(title, [Option("1"), Option("2")])], check=check),
        {"answers": [{"selected": ["1"]}]},
        {"answers": [{"selected": ["2"]}]},
        lambda answers: str(answers[0].selected[0]),
    ),
    "form": Kind(
        lambda title, check: Form(Table, title=title, check=check),
        {"people": 1},
        {"people": 2},
        lambda table: str(table.people),
    ),
    "choose": Kind(
        lambda title, check: Choose({"One": 1, "Two": 2}, title, check=check), {"choice": "One"}, {"choice": "Two"}
    ),
    "choose several": Kind(
        lambda title, check: Choose({"One": 1, "Two": 2}, title, multi=True, check=check),
        {"choice": ["One"]},
        {"choice": ["Two"]},
        lambda chosen: str(chosen[0]),
    ),
    "confirm": Kind(
        lambda title, check: Confirm(title, {"n": 1}, editable=["n"], check=check),
        {"approved": True},
        {"approved": True, "edits": {"n": 2}},
        lambda value: str(value["n"]),
    ),
}


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> Kind:
    return KINDS[request.param]


def asker(kind: Kind, *titles: str, check: Any = None, **options: Any) -> Any:
    """A tool that asks once under each title, and returns what it was told."""

    @tool(name="asker")
    def ask_all(ctx: Context) -> str:
        """Ask."""
        return " ".join(kind.said(ctx.ask(kind.make(title, check), **options)) for title in titles)

    return ask_all


async def by_title(process: Process, title: str) -> Interrupt:
    return next(one for one in await process.chat.interrupts() if one.message == title)


async def test_an_answer_reaches_the_tool_in_any_process(tmp_path: Path, kind: Kind) -> None:
    """Asked in one, answered in another with the same id and digest, read again in a third."""
    scene = Scene(tmp_path)
    async with scene.process(asker(kind, "First?", "Second?")) as process:
        await process.say()
        asked = await process.open()
    async with scene.process(asker(kind, "First?", "Second?")) as process:
        assert await process.open() == asked
        await process.answer(kind.two)
    async with scene.process(asker(kind, "First?", "Second?")) as process:
        await process.answer(kind.one)
        assert await process.content() == "2 1"


async def test_the_same_answer_again_is_harmless_and_another_is_too_late(tmp_path: Path, kind: Kind) -> None:
    """The first one counts; what is recorded is returned."""
    async with Scene(tmp_path).process(asker(kind, "First?")) as process:
        await process.say()
        asked = await process.open()
        recorded = await process.chat.answer(asked.id, kind.one, digest=asked.digest)
        assert await process.chat.answer(asked.id, kind.one) == recorded
        with pytest.raises(Exception, match="already answered"):
            await process.chat.answer(asked.id, kind.two)
        await process.rest()
        assert len(await process.bodies(Answered)) == 1


async def test_a_refused_answer_leaves_the_question_open(tmp_path: Path, kind: Kind) -> None:
    """Under its id, as often as it takes; the words are the check's, and the tool's body is not told."""
    tries: list[str] = []

    def only_two(value: Any) -> None:
        tries.append(kind.said(value))
        if kind.said(value) != "2":
            raise Rejected("Only two will do.")

    async with Scene(tmp_path).process(asker(kind, "First?", check=only_two)) as process:
        await process.say()
        asked = await process.open()
        for _ in range(3):
            with pytest.raises(Rejected, match="Only two will do"):
                await process.chat.answer(asked.id, kind.one)
            assert await process.open() == asked
        await process.answer(kind.two)
        assert (tries, await process.content()) == (["1", "1", "1", "2"], "2")


async def test_a_check_that_breaks_takes_nothing(tmp_path: Path, kind: Kind) -> None:
    """502, and the question is open: a service that is down refuses nobody's answer."""
    broken = True

    def service(value: Any) -> None:
        if broken:
            raise OSError("down")

    async with Scene(tmp_path).process(asker(kind, "First?", check=service)) as process:
        await process.say()
        with pytest.raises(Exception, match="could not be checked"):
            await process.answer(kind.one)
        broken = False
        await process.answer(kind.one)
        assert await process.content() == "1"


async def test_A1_in_parallel_calls_each_gets_its_own(tmp_path: Path, kind: Kind) -> None:
    """Three calls, answered in another order than asked; only then the model goes on, with results in call order."""

    @tool
    def named(ctx: Context, title: str) -> str:
        """Ask."""
        return f"{title} {kind.said(ctx.ask(kind.make(title, None)))}"

    step = [("named", {"title": title}, title) for title in ("A?", "B?", "C?")]
    async with Scene(tmp_path).process(named, steps=[step]) as process:
        await process.say()
        assert len({one.id for one in await process.chat.interrupts()}) == 3
        for title, answer in (("C?", kind.one), ("A?", kind.two), ("B?", kind.one)):
            assert len(process.model.requests) == 1
            await process.answer(answer, await by_title(process, title))
        assert await process.rest() == Done()
        assert [line for line in await process.transcript() if "?: " in line] == ["A?: A? 2", "B?: B? 1", "C?: C? 1"]


async def test_an_expired_question_says_so_and_takes_no_answer(tmp_path: Path, kind: Kind) -> None:
    """C5: the tool hears that it expired, and not that anybody said no; a late answer is told the same."""
    scene = Scene(tmp_path)
    async with scene.process(asker(kind, "First?", expires_in=60)) as process:
        await process.say()
        asked = await process.open()
        scene.now += 59
        await process.engine.sweep()
        assert await process.open() == asked
        scene.now += 1
        with pytest.raises(ClosedError) as late:
            await process.chat.answer(asked.id, kind.one)
        assert late.value.ending == "expired"
        await process.rest()
        assert [one.ending for one in await process.bodies(Closed)] == ["expired"]
        assert (await process.result()).status == "expired"
        assert "No answer was given" in await process.error()


async def test_J4_the_clock_starts_when_the_question_is_recorded(tmp_path: Path, kind: Kind) -> None:
    """Not when its step began: what a body did before its question, and what a slow sibling does, are not counted."""
    scene = Scene(tmp_path)
    done = anyio.Event()

    def work() -> None:
        scene.now += 3

    @tool
    async def late(ctx: Context) -> str:
        """Take long, then ask."""
        await ctx.once("work", work)
        return kind.said(ctx.ask(kind.make("First?", None), expires_in=2))

    @tool
    async def slow() -> str:
        """Take longer."""
        await done.wait()
        return "slow"

    async with scene.process(late, slow) as process:
        await process.chat.post("go")
        while not (asked := await process.chat.interrupts()):  # noqa: ASYNC110  # a run of its own brings it about
            await anyio.sleep(0.001)
        assert asked[0].expires_at == scene.now + 2
        await process.chat.answer(asked[0].id, kind.one)
        done.set()
        assert await process.rest() == Done()


async def test_J2_the_users_time_is_not_the_tools(tmp_path: Path, kind: Kind) -> None:
    """A tool that limits its own time by the clock of its work may be answered a week later."""
    scene = Scene(tmp_path)

    @tool
    async def limited(ctx: Context) -> str:
        """Ask within a limit of a second for each execution."""
        with anyio.fail_after(1):
            await checkpoint()
            return kind.said(ctx.ask(kind.make("First?", None)))

    async with scene.process(limited) as process:
        assert isinstance(await process.say(), Waiting)
        scene.now += 7 * 86_400
        await process.engine.sweep()
        await process.answer(kind.one)
        assert await process.content() == "1"


async def test_each_ending_is_told_as_what_it_was(tmp_path: Path, kind: Kind) -> None:
    """Skipped, declined, cancelled and superseded by a message: four truths, and never a success."""
    for n, (end, status) in enumerate(
        [("skip", "skipped"), ("decline", "declined"), ("cancel", "cancelled"), ("message", "superseded")]
    ):
        (tmp_path / str(n)).mkdir()
        async with Scene(tmp_path / str(n)).process(asker(kind, "First?")) as process:
            await process.say()
            asked = await process.open()
            match end:
                case "skip":
                    await process.chat.skip(asked.id)
                case "decline":
                    await process.chat.decline(asked.id, "No.")
                case "cancel":
                    await process.chat.cancel()
                case "message":
                    await process.chat.post("something else")
            await process.rest()
            assert (await process.result()).status == status
            assert [one.ending for one in await process.bodies(Closed)] == [status]
