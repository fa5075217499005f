"""One call against its recorded answers: pauses that nothing swallows, probes, and what does not replay."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from tests.scene import Say, Scene
from yourcall import Check, Context, ProgrammingError, Rejected, ReplayMismatch, ToolError, tool
from yourcall.entries import Asked, Closed, Effect, Result
from yourcall.errors import AlreadyAnswered, Changed, CheckFailed, NotFound, Paused
from yourcall.errors import Closed as ClosedError
from yourcall.log import Done, Waiting
from yourcall.replay import MISMATCH

pytestmark = pytest.mark.anyio

Body = Callable[[Context], Awaitable[Any]]


async def ask(ctx: Context) -> str:
    return ctx.ask(Say("A"))


# --------------------------------------------------------------------------- pauses cannot be swallowed


async def bare_except(ctx: Context) -> Any:
    try:
        return await ask(ctx)
    except:  # noqa: E722  # this is what must not swallow a pause
        return "swallowed"


async def except_base_exception(ctx: Context) -> Any:
    try:
        return await ask(ctx)
    except BaseException:
        return "swallowed"


async def finally_return(ctx: Context) -> Any:
    answer = "swallowed"
    try:
        answer = await ask(ctx)
    finally:
        return answer  # noqa: B012  # as above


async def suppress(ctx: Context) -> Any:
    with contextlib.suppress(BaseException):
        return await ask(ctx)
    return "swallowed"


async def exit_stack(ctx: Context) -> Any:
    with contextlib.ExitStack() as stack:
        stack.push(lambda *_: True)
        return await ask(ctx)
    return "swallowed"  # type: ignore[unreachable]  # the stack suppresses


async def raises_another(ctx: Context) -> Any:
    try:
        return await ask(ctx)
    except BaseException:
        raise ValueError("something else") from None


async def raises_a_tool_error(ctx: Context) -> Any:
    try:
        return await ask(ctx)
    except BaseException:
        raise ToolError("something else") from None


async def retries(ctx: Context) -> Any:
    for _ in range(3):
        with contextlib.suppress(BaseException):
            return await ask(ctx)
    return "swallowed"


async def asyncios_group(ctx: Context) -> Any:
    async with asyncio.TaskGroup() as tasks:
        beside = tasks.create_task(asyncio.sleep(60))
        answer = await ask(ctx)
        beside.cancel()
    return answer


async def anyios_group(ctx: Context) -> Any:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(anyio.sleep_forever)
        answer = await ask(ctx)
        tasks.cancel_scope.cancel()
    return answer


async def except_group(ctx: Context) -> Any:
    try:
        async with anyio.create_task_group():
            return await ask(ctx)
    except* Exception:
        return_value = "swallowed"
    return return_value


async def except_base_group(ctx: Context) -> Any:
    try:
        async with anyio.create_task_group():
            return await ask(ctx)
    except BaseExceptionGroup:
        return "swallowed"


async def a_failure_beside_it(ctx: Context) -> Any:
    async def fail() -> None:
        raise ValueError("beside")

    async with anyio.create_task_group() as tasks:
        if not ctx._past or not ctx._past.endings:
            tasks.start_soon(fail)
        return await ask(ctx)


async def times_out(ctx: Context) -> Any:
    async with asyncio.timeout(5):
        return await ask(ctx)


async def cleans_up_slowly(ctx: Context) -> Any:
    try:
        return await ask(ctx)
    finally:
        await anyio.lowlevel.checkpoint()


SWALLOWERS = {
    body.__name__: body
    for body in (
        bare_except,
        except_base_exception,
        finally_return,
        suppress,
        exit_stack,
        raises_another,
        raises_a_tool_error,
        retries,
        asyncios_group,
        anyios_group,
        except_group,
        except_base_group,
        a_failure_beside_it,
        times_out,
        cleans_up_slowly,
    )
}


@pytest.mark.parametrize("how", SWALLOWERS)
async def test_a_pause_is_a_pause_whatever_the_body_makes_of_it(scene: Scene, how: str) -> None:
    """The question is open, there is no result; with the answer, the body goes on where it asked."""

    @tool
    async def t(ctx: Context) -> Any:
        return await SWALLOWERS[how](ctx)

    async with scene.process(t) as p:
        assert isinstance(await p.say(), Waiting)
        assert not await p.bodies(Result)
        assert await p.answer("a") == Done()
        assert await p.content() == "a"


def sync_finally(ctx: Context) -> Any:
    answer = "swallowed"
    try:
        answer = ctx.ask(Say("A"))
    finally:
        return answer  # noqa: B012  # as above


def sync_except(ctx: Context) -> Any:
    try:
        return ctx.ask(Say("A"))
    except BaseException:
        return "swallowed"


def sync_group(ctx: Context) -> Any:
    try:
        return ctx.ask(Say("A"))
    except BaseException as error:
        raise BaseExceptionGroup("wrapped", [BaseExceptionGroup("again", [error])]) from None


@pytest.mark.parametrize("body", [sync_except, sync_finally, sync_group])
async def test_a_pause_of_a_def_tool_is_not_swallowed_either(scene: Scene, body: Callable[[Context], Any]) -> None:
    """The same in a worker thread."""

    @tool
    def t(ctx: Context) -> Any:
        return body(ctx)

    async with scene.process(t) as p:
        assert isinstance(await p.say(), Waiting)
        await p.answer("a")
        assert await p.content() == "a"


async def test_every_later_call_of_the_context_raises_the_pause_again(scene: Scene) -> None:
    """A body that went on after its pause gets nowhere: no second question, no effect."""
    raised: list[str] = []

    @tool
    async def t(ctx: Context) -> str:
        async def attempt(name: str, work: Callable[[], Any]) -> None:
            try:
                outcome = work()
                if asyncio.iscoroutine(outcome):
                    await outcome
            except Paused:
                raised.append(name)

        await attempt("ask", lambda: ctx.ask(Say("A")))
        await attempt("again", lambda: ctx.ask(Say("A")))
        await attempt("another", lambda: ctx.ask(Say("B"), key="b"))
        await attempt("otherwise", lambda: ctx.ask(Say("B"), otherwise="x"))
        await attempt("interrupt", lambda: ctx.interrupt("x"))
        await attempt("once", lambda: ctx.once("x", lambda: raised.append("done")))
        return "swallowed"

    async with scene.process(t) as p:
        assert isinstance(await p.say(), Waiting)
        assert (await p.open()).message == "A"
        assert not await p.bodies(Effect)
    assert raised == ["ask", "again", "another", "otherwise", "interrupt", "once"]


async def test_a_sibling_goes_on_while_one_pauses(scene: Scene) -> None:
    """A pause ends its own call's execution and nothing else."""
    go = anyio.Event()

    @tool
    async def slow() -> str:
        await go.wait()
        return "slow"

    @tool
    async def asks(ctx: Context) -> str:
        return ctx.ask(Say("A"))

    async with scene.process(asks, slow) as p:
        await p.chat.post("go")
        await p.until(Asked)
        go.set()
        assert isinstance(await p.rest(), Waiting)
        assert await p.content("call_1_2") == "slow"


async def test_a_question_is_recorded_once_its_body_has_unwound(scene: Scene) -> None:
    """What the body holds is let go before anybody can answer: a look with an answer never meets a running body."""
    unwinding, go = anyio.Event(), anyio.Event()

    @tool
    async def t(ctx: Context) -> str:
        try:
            return ctx.ask(Say("A"))
        finally:
            unwinding.set()
            await go.wait()

    async with scene.process(t) as p:
        await p.chat.post("go")
        await unwinding.wait()
        assert not await p.bodies(Asked)
        go.set()
        assert isinstance(await p.rest(), Waiting)


# --------------------------------------------------------------------------- exceptions become results


class Custom(Exception):
    pass


FAILURES: dict[str, tuple[Callable[[], Any], str]] = {
    "exception": (lambda: Custom("the password is 4242"), "t failed (Custom)."),
    "tool-error": (lambda: ToolError("Give a city."), "Give a city."),
    "tool-error-in-a-group": (
        lambda: ExceptionGroup("4242", [Custom("4242"), ToolError("Give a city.")]),
        "Give a city.",
    ),
    "group": (lambda: ExceptionGroup("4242", [Custom("4242")]), "t failed (Custom)."),
    "tool-error-that-is-no-text": (lambda: ToolError("No file \udcff."), "No file ?."),
    "stop-iteration": (lambda: StopIteration(4242), "t failed (RuntimeError)."),
    "exit": (lambda: SystemExit(4242), "t failed (SystemExit)."),
    "cancelled": (lambda: asyncio.CancelledError("4242"), "t failed (CancelledError)."),
    "paused-by-hand": (lambda: Paused(4242), "t failed."),
    "assertion": (lambda: AssertionError("4242"), "t failed (AssertionError)."),
}


@pytest.mark.parametrize("sync", [False, True], ids=["async", "def"])
@pytest.mark.parametrize("how", FAILURES)
async def test_an_exception_is_a_result_without_its_text(scene: Scene, how: str, sync: bool) -> None:
    """The model reads a tool's own words, or else the type; neither text nor traceback reaches it, or the file."""
    make, expected = FAILURES[how]

    @tool(name="t")
    async def fails() -> str:
        raise make()

    @tool(name="t")
    def fails_in_a_thread() -> str:
        raise make()

    async with scene.process(fails_in_a_thread if sync else fails) as p:
        assert await p.say() == Done()
        assert await p.result() == Result("call_1_1", {"ok": False, "error": expected}, "failed")
    assert b"4242" not in scene.path.read_bytes()


async def test_a_body_that_cancels_itself_has_failed(scene: Scene) -> None:
    """A cancel that nobody asked for ends the call, not the run; a sibling is not touched."""

    @tool
    async def t() -> str:
        task = asyncio.current_task()
        assert task
        task.cancel()
        await anyio.lowlevel.checkpoint()
        return "ok"

    @tool
    async def awaits_a_cancelled_task() -> str:
        other = asyncio.create_task(asyncio.sleep(60))
        other.cancel()
        await other
        return "ok"

    @tool
    async def sibling() -> str:
        await anyio.lowlevel.checkpoint()
        return "ok"

    async with scene.process(t, awaits_a_cancelled_task, sibling) as p:
        assert await p.say() == Done()
        assert [one.status for one in await p.bodies(Result)].count("failed") == 2
        assert await p.error("call_1_1") == "t failed (CancelledError)."
        assert await p.content("call_1_3") == "ok"


# --------------------------------------------------------------------------- what does not replay


async def crashed(scene: Scene, *titles: str) -> Scene:
    """The file of a process that died when the tool `t` had all these questions answered, by "1", "2" and so on."""
    reached, go = anyio.Event(), anyio.Event()

    @tool
    async def t(ctx: Context) -> Any:
        for title in titles:
            ctx.ask(Say(title), key=title)
        reached.set()
        await go.wait()

    async with scene.process(t) as p:
        await p.say()
        for number in range(1, len(titles)):
            await p.answer(str(number))
        await p.chat.answer((await p.open()).id, str(len(titles)))
        await reached.wait()
        later = scene.crashed()
        go.set()
    return later


async def carried_on(later: Scene, body: Callable[[Context], Any]) -> Result:
    """The result of the call `t` in a process where `t` is this."""

    @tool
    def t(ctx: Context) -> Any:
        return body(ctx)

    async with later.process(t) as p:
        assert await p.rest() == Done()
        return await p.result()


async def gone_wrong(later: Scene, body: Callable[[Context], Any]) -> str:
    """What the developer reads of the call `t` in a process where `t` is this."""

    @tool
    def t(ctx: Context) -> Any:
        return body(ctx)

    async with later.process(t) as p:
        assert await p.rest() == Done()
        return await p.mistake()


@pytest.mark.parametrize(
    "then",
    [lambda ctx: "returned", lambda ctx: ctx.ask(Say("C"), key="C"), sync_except],
    ids=["returns", "pauses", "swallows"],
)
async def test_a_body_that_takes_some_but_not_all_answers_ends_its_call(
    scene: Scene, then: Callable[[Context], Any]
) -> None:
    """It returned, or asks something else: the answer that the user gave would be lost without a word."""
    later = await crashed(scene, "A", "B")
    assert await gone_wrong(later, lambda ctx: [ctx.ask(Say("A"), key="A"), then(ctx)]) == MISMATCH
    assert "ctx.once" in MISMATCH
    assert "two asks need two keys" in MISMATCH


async def test_a_body_that_fails_between_two_answers_has_only_failed(scene: Scene) -> None:
    """It did not return or ask anything else: the failure is its own."""
    later = await crashed(scene, "A", "B")
    result = await carried_on(later, lambda ctx: [ctx.ask(Say("A"), key="A"), 1 // 0])
    assert result.content["error"] == "t failed (ZeroDivisionError)."


async def test_a_body_that_takes_all_answers_in_another_order_replays(scene: Scene) -> None:
    """Keys, not the order of the lines, say which answer is whose."""
    later = await crashed(scene, "A", "B")
    result = await carried_on(later, lambda ctx: [ctx.ask(Say("B"), key="B"), ctx.ask(Say("A"), key="A")])
    assert result.content == ["2", "1"]


async def test_a_body_that_takes_no_answer_may_return(scene: Scene) -> None:
    """What it was to ask for may be there already; no answer was taken for another."""
    later = await crashed(scene, "A")
    assert (await carried_on(later, lambda ctx: "there already")).content == "there already"


@pytest.mark.parametrize("hidden", [False, True], ids=["raised", "swallowed"])
async def test_an_answered_question_that_changed_ends_the_call(scene: Scene, hidden: bool) -> None:
    """An old answer is never taken for a new question; the text names the question and what to do."""
    later = await crashed(scene, "Delete?")

    def body(ctx: Context) -> str:
        try:
            return ctx.ask(Say("Delete 1,000 files?"), key="Delete?")
        except Exception:
            if hidden:
                return "all is well"
            raise

    error = await gone_wrong(later, body)
    assert "Question 'Delete?' is not the one that was answered." in error
    assert "ctx.once" in error
    assert "two keys" in error


async def test_a_probe_that_meets_a_changed_answer_is_a_miss(scene: Scene) -> None:
    """The open question is not reached by way of an answer that belongs to another one."""
    titles = ["Delete 1 file?"]

    @tool
    def t(ctx: Context) -> str:
        ctx.ask(Say(titles[0]), key="sure")
        return ctx.ask(Say("B"))

    async with scene.process(t) as p:
        await p.say()
        await p.answer("yes")
        second = await p.open()
        titles[0] = "Delete 1,000 files?"
        for _ in range(2):
            with pytest.raises(Changed):
                await p.chat.answer(second.id, "b")
        await p.rest()
        assert await p.mistake() == MISMATCH


# --------------------------------------------------------------------------- probes


async def test_a_probe_looks_and_changes_nothing(scene: Scene) -> None:
    """A wrong answer is refused by the live ask: the body ran up to it, and the log is as it was."""
    executions = []

    @tool
    def t(ctx: Context) -> str:
        executions.append(1)
        return ctx.ask(Say("A", "a"))

    async with scene.process(t) as p:
        await p.say()
        before = await p.chat.log()
        for wrong in (1, "b", None, ["a"]):
            with pytest.raises(Rejected):
                await p.chat.answer((await p.open()).id, wrong)
        assert await p.chat.log() == before
        assert len(executions) == 5
        assert isinstance(await p.rest(), Waiting)


async def test_what_the_log_decides_needs_no_probe(scene: Scene) -> None:
    """An answer that is recorded, to a question that is closed, or of somebody else executes no body."""
    executions: list[int] = []

    @tool
    def t(ctx: Context) -> Any:
        executions.append(1)
        return [ctx.interrupt("x"), ctx.ask(Say("B")), ctx.ask(Say("C"))]

    async with scene.process(t) as p:
        await p.say()
        first = await p.open()
        await p.answer({"a": 1, "b": [2]}, first)
        second = await p.open()
        await p.skip(second)
        count = len(executions)
        assert (await p.chat.answer(first.id, {"b": [2], "a": 1})).interrupt == first.id  # the same JSON value
        with pytest.raises(AlreadyAnswered):
            await p.chat.answer(first.id, {"a": 1, "b": [True]})
        with pytest.raises(ClosedError):
            await p.chat.answer(second.id, "b")
        with pytest.raises(NotFound):
            await p.engine.answer(second.id, "b", user="bob")
        with pytest.raises(NotFound):
            await p.chat.answer("f" * 32, "b")
        assert len(executions) == count


async def test_a_probe_begins_no_effect_and_takes_recorded_ones(scene: Scene) -> None:
    """New code that begins an effect before the ask: the probe stops there, and nothing has happened."""
    happened: list[str] = []
    more: list[int] = []

    def effect(name: str) -> str:
        happened.append(name)
        return name

    @tool
    async def t(ctx: Context) -> str:
        recorded = await ctx.once("old", effect, "old")
        if more:
            await ctx.once("new", effect, "new")
        return f"{recorded} {ctx.ask(Say('A'))}"

    async with scene.process(t) as p:
        await p.say()
        open = await p.open()
        more.append(1)
        before = await p.chat.log()
        with pytest.raises(Changed):
            await p.chat.answer(open.id, "a")
        assert await p.chat.log() == before
        more.clear()
        assert await p.answer("a") == Done()
        assert await p.content() == "old a"
    assert happened == ["old"]


async def test_a_probe_that_swallows_what_it_may_not_begin_is_still_a_miss(scene: Scene) -> None:
    """Without the effect, what the body asks afterwards is not what a run would ask."""
    more: list[int] = []

    @tool
    async def t(ctx: Context) -> str:
        if more:
            with contextlib.suppress(BaseException):
                await ctx.once("new", lambda: None)
        return ctx.ask(Say("A"))

    async with scene.process(t) as p:
        await p.say()
        more.append(1)
        with pytest.raises(Changed):
            await p.chat.answer((await p.open()).id, "a")


ELSEWHERE: dict[str, Callable[[Context], Any]] = {
    "returns": lambda ctx: "there already",
    "says no": lambda ctx: _raise(ToolError("Not today.")),
    "asks at another key": lambda ctx: ctx.ask(Say("A"), key="other"),
}


def _raise(error: BaseException) -> Any:
    raise error


@pytest.mark.parametrize("how", ELSEWHERE)
async def test_the_second_miss_in_a_row_closes_the_call(scene: Scene, how: str) -> None:
    """One miss may be a fault that passes: it changes nothing. Two mean that this question is not asked any more."""
    elsewhere: list[int] = []

    @tool
    def t(ctx: Context) -> Any:
        return ELSEWHERE[how](ctx) if elsewhere else ctx.ask(Say("A", "a"), key="k")

    async with scene.process(t) as p:
        await p.say()
        open = await p.open()
        elsewhere.append(1)
        with pytest.raises(Changed):
            await p.chat.answer(open.id, "a")
        elsewhere.clear()
        with pytest.raises(Rejected):  # the question was found, so the count begins anew
            await p.chat.answer(open.id, "b")
        elsewhere.append(1)
        with pytest.raises(Changed):
            await p.chat.answer(open.id, "a")
        assert await p.open() == open
        with pytest.raises(Changed):
            await p.chat.answer(open.id, "a")
        assert await p.rest() == Done()
        assert await p.mistake() == MISMATCH
        with pytest.raises(Changed):
            await p.chat.answer(open.id, "a")


async def test_a_tool_that_no_longer_exists_closes_its_question(scene: Scene) -> None:
    """Nobody can take the answer: the call has failed, the question says why, and the conversation goes on."""

    @tool
    def gone(ctx: Context) -> str:
        return ctx.ask(Say("A"))

    async with scene.process(gone) as p:
        await p.say()
        open = await p.open()
    async with scene.process() as p:
        with pytest.raises(ClosedError) as refusal:
            await p.chat.answer(open.id, "a")
        assert refusal.value.ending == "unavailable"
        assert await p.rest() == Done()
        assert await p.error() == "The tool gone does not exist any more."
        assert await p.say("and now?") == Done()


async def test_probes_of_one_call_run_one_after_the_other(scene: Scene) -> None:
    """Twenty answers at once execute the body one at a time; one of them is recorded, the others learn of it."""
    inside, most = [0], [0]

    @tool
    async def t(ctx: Context) -> str:
        inside[0] += 1
        most[0] = max(most[0], inside[0])
        for _ in range(5):
            await anyio.lowlevel.checkpoint()
        inside[0] -= 1
        return ctx.ask(Say("A"))

    async with scene.process(t) as p:
        await p.say()
        open = await p.open()
        answers = [p.chat.answer(open.id, "same") for _ in range(20)]
        endings = await asyncio.gather(*answers)
        assert len({id(one) for one in endings}) == 20
        assert all(one == endings[0] for one in endings)
        assert await p.rest() == Done()
        assert await p.content() == "same"
    assert most == [1]


async def test_a_probe_in_a_def_tool_may_be_cut_off(scene: Scene) -> None:
    """A thread cannot be stopped; whoever answers is free all the same, and nothing was written."""
    first, reached, go = [True], threading.Event(), threading.Event()

    @tool
    def t(ctx: Context) -> str:
        if not first[0]:
            reached.set()
            assert go.wait(10)
        first[0] = False
        return ctx.ask(Say("A"))

    async with scene.process(t) as p:
        await p.say()
        before = await p.chat.log()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(p.chat.answer, (await p.open()).id, "a")
            await anyio.to_thread.run_sync(reached.wait, 5)
            tasks.cancel_scope.cancel()
        assert await p.chat.log() == before
        go.set()
        await p.answer("a")
        assert await p.content() == "a"


@pytest.mark.parametrize("native", [True, False], ids=["asyncio", "anyio"])
async def test_an_answer_that_is_given_up_is_no_miss(scene: Scene, native: bool) -> None:
    """A request that times out while the body runs changes nothing, however often; the question can be answered."""
    slow, go = [False], anyio.Event()

    @tool
    async def t(ctx: Context) -> str:
        if slow[0]:
            await go.wait()
        return ctx.ask(Say("A"))

    async with scene.process(t) as p:
        await p.say()
        open, before = await p.open(), await p.chat.log()
        slow[0] = True
        for _ in range(3):
            with pytest.raises(TimeoutError):
                await (_natively if native else _within)(0.02, p.chat.answer(open.id, "a"))
        assert await p.chat.log() == before
        go.set()
        assert await p.answer("a") == Done()


async def _within(seconds: float, work: Awaitable[Any]) -> None:
    with anyio.fail_after(seconds):
        await work


async def _natively(seconds: float, work: Awaitable[Any]) -> None:
    async with asyncio.timeout(seconds):
        await work


@pytest.mark.parametrize("error", [ConnectionError("4242"), asyncio.CancelledError()], ids=["breaks", "strays"])
async def test_a_body_that_breaks_on_its_way_to_the_question_is_no_miss(scene: Scene, error: BaseException) -> None:
    """A service that it needs is down: that says nothing of the question, which stays open, however often it is so."""
    down: list[int] = []

    @tool
    async def t(ctx: Context) -> str:
        if down:
            raise error
        return ctx.ask(Say("A"))

    async with scene.process(t) as p:
        await p.say()
        open, before = await p.open(), await p.chat.log()
        down.append(1)
        for _ in range(3):
            with pytest.raises(CheckFailed) as broken:
                await p.chat.answer(open.id, "a")
            assert "4242" not in str(broken.value)
        assert await p.chat.log() == before
        down.clear()
        assert await p.answer("a") == Done()


# --------------------------------------------------------------------------- checks


@pytest.mark.parametrize("flavour", ["def", "async", "awaitable"])
async def test_a_check_keeps_the_question_open_until_it_is_content(scene: Scene, flavour: str) -> None:
    """What it rejects is shown on the card; where it breaks, nobody is blamed; then the answer is taken."""

    def check(answer: str) -> None:
        if answer == "wrong":
            raise Rejected("The service did not accept this.")
        if answer == "breaks":
            raise ConnectionError("4242")

    async def acheck(answer: str) -> None:
        await anyio.lowlevel.checkpoint()
        check(answer)

    def awaitable(answer: str) -> Awaitable[None]:
        return acheck(answer)

    checks: dict[str, Check[str]] = {"def": check, "async": acheck, "awaitable": awaitable}

    @tool
    def t(ctx: Context) -> str:
        return ctx.ask(Say("A", check=checks[flavour]))

    async with scene.process(t) as p:
        await p.say()
        open, before = await p.open(), await p.chat.log()
        with pytest.raises(Rejected, match="did not accept"):
            await p.chat.answer(open.id, "wrong")
        with pytest.raises(CheckFailed) as broken:
            await p.chat.answer(open.id, "breaks")
        assert (broken.value.status, "4242" in str(broken.value)) == (502, False)
        assert await p.chat.log() == before
        assert await p.answer("right") == Done()


async def test_a_check_may_use_what_the_body_knows(scene: Scene) -> None:
    """It is made in the body, so it needs no registry: here it closes over an argument of the call."""

    @tool
    def t(ctx: Context, limit: int) -> str:
        def check(answer: str) -> None:
            if len(answer) > limit:
                raise Rejected("Too long.")

        return ctx.ask(Say("A", check=check))

    async with scene.process(t, steps=[[("t", {"limit": 2})]]) as p:
        await p.say()
        with pytest.raises(Rejected):
            await p.chat.answer((await p.open()).id, "abc")
        await p.answer("ab")
        assert await p.content() == "ab"


# --------------------------------------------------------------------------- other


async def test_a_retry_decorator_does_not_ask_twice(scene: Scene) -> None:
    """Middleware of the app around a body: an ordinary `except Exception` never sees the pause."""
    tries = []

    def retrying(fn: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(fn)
        async def again(*args: Any, **kwargs: Any) -> Any:
            for _ in range(3):
                try:
                    tries.append(1)
                    return await fn(*args, **kwargs)
                except Exception:
                    continue

        return again

    @tool
    @retrying
    async def t(ctx: Context, x: int = 1) -> str:
        return ctx.ask(Say("A"))

    async with scene.process(t) as p:
        assert isinstance(await p.say(), Waiting)
        assert len(tries) == 1
        await p.answer("a")
        assert await p.content() == "a"


async def test_closing_a_question_needs_no_probe(scene: Scene) -> None:
    """A skip is written at once; the body is executed for it only by the run that goes on."""
    executions: list[int] = []

    @tool
    def t(ctx: Context) -> str:
        executions.append(1)
        return ctx.ask(Say("A"))

    async with scene.process(t) as p:
        await p.say()
        await p.skip()
        assert [one.ending for one in await p.bodies(Closed)] == ["skipped"]
    assert len(executions) == 2


def test_a_mismatch_is_the_apps_to_mend() -> None:
    """It is a programming error, so one `except` tells it from an answer that did not come."""
    assert issubclass(ReplayMismatch, ProgrammingError)
