"""`ctx.ask` and `ctx.interrupt`: which question it is, what comes back, and where it may be asked."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, NamedTuple

import anyio
import anyio.from_thread
import anyio.to_thread
import pytest

from tests.scene import Say, Scene
from yourcall import Context, Declined, Expired, NotAnswered, Rejected, Skipped, Unavailable, tool
from yourcall.entries import Asked, Closed, Effect, Entry, Interrupt, Json, Result
from yourcall.errors import AlreadyAnswered, Changed, NotFound
from yourcall.errors import Closed as ClosedError
from yourcall.log import Done, Waiting

pytestmark = pytest.mark.anyio


def words(ask: Interrupt) -> tuple[str, int, int]:
    return ask.key, ask.occurrence, ask.generation


# --------------------------------------------------------------------------- which question it is


@tool
def two_names(ctx: Context) -> str:
    """Asks twice without a key, and twice under one."""
    return " ".join(
        [
            ctx.ask(Say("A")),
            ctx.ask(Say("B"), key="b"),
            ctx.ask(Say("C"), key="b"),
            ctx.ask(Say("D")),
        ]
    )


async def test_a_question_is_named_by_its_key_or_by_its_order_among_those_without(scene: Scene) -> None:
    """Keyed asks do not count among the unkeyed ones; the nth use of a key is its nth occurrence."""
    async with scene.process(two_names) as p:
        await p.say()
        for letter in "abcd":
            await p.answer(letter)
        asked = [entry.interrupt for entry in await p.bodies(Asked)]
        assert [words(one) for one in asked] == [("#1", 1, 0), ("b", 1, 0), ("b", 2, 0), ("#2", 1, 0)]
        assert len({one.id for one in asked}) == 4
        assert await p.content() == "a b c d"


async def test_an_id_is_the_same_in_every_execution_and_process(scene: Scene) -> None:
    """What a client holds stays good: through executions, probes and restarts, the question keeps its id."""
    ids = []
    async with scene.process(two_names) as p:
        await p.say()
        ids.append((await p.open()).id)
        with pytest.raises(Rejected):
            await p.chat.answer(ids[0], 1)
        ids.append((await p.open()).id)
    for _ in range(2):
        async with scene.process(two_names) as p:
            ids.append((await p.open()).id)
    assert len(set(ids)) == 1
    async with scene.process(two_names) as p:
        await p.chat.answer(ids[0], "a")


async def test_the_same_ask_elsewhere_is_another_question(scene: Scene) -> None:
    """Calls, conversations and users do not share ids, though the call ids, keys and texts are the same."""
    async with scene.process(two_names, steps=[[("two_names", {}, "x"), ("two_names", {}, "y")]]) as p:
        await p.say()
        ids = {one.id for one in await p.chat.interrupts()}
    for conversation, user in (("d", "ada"), ("c", "bob")):
        async with scene.process(two_names, steps=[[("two_names", {}, "x")]]) as p:
            p.chat = p.engine.conversation(conversation, user=user)
            await p.say()
            ids.add((await p.open()).id)
    assert len(ids) == 4


async def test_a_key_keeps_its_answer_when_the_order_changes(scene: Scene) -> None:
    """Asks with keys may change places between two processes."""

    @tool(name="t")
    def before(ctx: Context) -> str:
        a, b = ctx.ask(Say("A"), key="a"), ctx.ask(Say("B"), key="b")
        return a + b

    @tool(name="t")
    def after(ctx: Context) -> str:
        b, a = ctx.ask(Say("B"), key="b"), ctx.ask(Say("A"), key="a")
        return a + b

    async with scene.process(before) as p:
        await p.say()
        await p.answer("1")
    async with scene.process(after) as p:
        await p.answer("2")
        assert await p.content() == "12"


async def test_a_key_must_not_look_like_a_place(scene: Scene) -> None:
    """`#1` is the name of the first ask without a key."""

    @tool
    def t(ctx: Context) -> str:
        return ctx.ask(Say("A"), key="#1")

    async with scene.process(t) as p:
        assert await p.say() == Done()
        assert "must not start with '#'" in await p.mistake()


# --------------------------------------------------------------------------- what the digest covers


class Tell(Say):
    kind = "tell"


class Version(NamedTuple):
    """What the tool asks in one process: this is all that differs."""

    ask: Callable[[Context], Json]


BEFORE = Version(lambda ctx: ctx.ask(Say("Which?", "a", "b"), key="k"))
OTHERS = {
    "kind": Version(lambda ctx: ctx.ask(Tell("Which?", "a", "b"), key="k")),
    "schema": Version(lambda ctx: ctx.ask(Say("Which?", "a", "b", "c"), key="k")),
    "title": Version(lambda ctx: ctx.ask(Say("Which one?", "a", "b"), key="k")),
}


def asking(version: Version) -> Any:
    @tool
    def t(ctx: Context) -> Json:
        return version.ask(ctx)

    return t


@pytest.mark.parametrize("what", OTHERS)
async def test_a_question_that_changed_while_it_was_open_is_asked_anew(scene: Scene, what: str) -> None:
    """On the next answer the old one is closed as changed and the new one opened, in one write; the old id is dead."""
    async with scene.process(asking(BEFORE)) as p:
        await p.say()
        old = await p.open()
    async with scene.process(asking(OTHERS[what])) as p:
        with pytest.raises(Changed):
            await p.chat.answer(old.id, "a")
        assert (await p.kinds()).endswith("asked closed asked")
        new = await p.open()
        assert words(new) == ("k", 1, 1)
        assert new.id != old.id
        assert new.digest != old.digest
        for again in (p.chat.answer(old.id, "a"), p.chat.skip(old.id)):
            with pytest.raises(Changed):
                await again
        assert await p.open() == new
        assert await p.answer("a") == Done()
        assert await p.content() == "a"


async def test_the_reason_of_a_raw_interrupt_is_part_of_the_question(scene: Scene) -> None:
    """Its payload is the question: another amount is not what the user agreed to."""
    async with scene.process(asking(Version(lambda ctx: ctx.interrupt("pay", {"amount": 10})))) as p:
        await p.say()
        old = await p.open()
    async with scene.process(asking(Version(lambda ctx: ctx.interrupt("pay", {"amount": 1000})))) as p:
        with pytest.raises(Changed):
            await p.chat.answer(old.id, True)
        assert (await p.open()).ask == {"name": "pay", "reason": {"amount": 1000}}


async def test_the_key_is_part_of_the_question(scene: Scene) -> None:
    """The same words under two keys are two questions: an answer names one of them by its digest."""

    def body(ctx: Context) -> Json:
        return [ctx.ask(Say("A"), key="a"), ctx.ask(Say("A"), key="b")]

    async with scene.process(asking(Version(body))) as p:
        await p.say()
        await p.answer("1")
        first, second = [one.interrupt.digest for one in await p.bodies(Asked)]
        assert first != second


async def test_help_and_descriptions_may_change_while_a_question_is_open(scene: Scene) -> None:
    """The wording of a hint does not make it another question."""
    async with scene.process(asking(Version(lambda ctx: ctx.ask(Say("Which?", help="Choose."))))) as p:
        await p.say()
    async with scene.process(asking(Version(lambda ctx: ctx.ask(Say("Which?", help="Choose well."))))) as p:
        assert await p.answer("a") == Done()
        assert await p.content() == "a"


async def test_a_question_that_changes_back_is_still_a_new_one(scene: Scene) -> None:
    """Each generation has its own id, so an answer to the first is never taken for the third."""
    other, ids = OTHERS["title"], []
    async with scene.process(asking(BEFORE)) as p:
        await p.say()
        ids.append((await p.open()).id)
    for version in (other, BEFORE):
        async with scene.process(asking(version)) as p:
            with pytest.raises(Changed):
                await p.chat.answer(ids[-1], "a")
            ids.append((await p.open()).id)
    assert len(set(ids)) == 3
    async with scene.process(asking(BEFORE)) as p:
        with pytest.raises(Changed):
            await p.chat.answer(ids[0], "b")
        await p.answer("a")
        assert await p.content() == "a"


async def test_a_client_may_say_which_question_it_saw(scene: Scene) -> None:
    """An answer with another digest is refused and changes nothing; the right one is taken."""
    async with scene.process(asking(BEFORE)) as p:
        await p.say()
        open = await p.open()
        with pytest.raises(Changed):
            await p.chat.answer(open.id, "a", digest="0" * 32)
        assert await p.open() == open
        await p.chat.answer(open.id, "a", digest=open.digest)


async def test_what_cannot_be_shown_is_named_before_anybody_sees_it(scene: Scene) -> None:
    """A client object in a payload is the developer's error: the field is named, the value is not."""

    @tool
    def t(ctx: Context) -> Json:
        return ctx.interrupt("x", {"to": [1, threading.Event()]})

    async with scene.process(t) as p:
        assert await p.say() == Done()
        error = await p.mistake()
        assert "interrupt.reason.to[1]: a value of type Event" in error
        assert "object at" not in error


# --------------------------------------------------------------------------- what comes back

ASKS: dict[str, Callable[[Context], Json]] = {
    "bare": lambda ctx: ctx.ask(Say("A"), expires_in=10),
    "otherwise": lambda ctx: ctx.ask(Say("A"), expires_in=10, otherwise="else"),
    "otherwise-none": lambda ctx: ctx.ask(Say("A"), expires_in=10, otherwise=None),
}


def caught(ctx: Context) -> Json:
    try:
        return ctx.ask(Say("A"), expires_in=10)
    except NotAnswered as ending:
        return [type(ending).__name__, ending.note]


async def ended(scene: Scene, ending: str, body: Callable[[Context], Json]) -> Result:
    """The result of a tool with this body, whose question ends in this way."""
    async with scene.process(asking(Version(body))) as p:
        await p.say()
        match ending:
            case "skipped":
                await p.chat.skip((await p.open()).id, "later")
            case "declined":
                await p.engine.decline((await p.open()).id, user="ada", note="no way")
            case "expired":
                scene.now += 10
                await p.engine.sweep()
        assert await p.rest() == Done()
        (closed,) = await p.bodies(Closed)
        assert closed.ending == ending
        return await p.result()


PROCEED = "Use your best judgment and go on. Do not ask this again."
UNCAUGHT = {
    "skipped": {
        "ok": False,
        "error": "The user skipped this question and gave no answer.",
        "note": "later",
        "instruction": PROCEED,
    },
    "declined": {"ok": False, "error": "The user declined. It was not done.", "note": "no way"},
    "expired": {"ok": False, "error": "The question expired before the user answered. No answer was given."},
}
CAUGHT = {"skipped": ["Skipped", "later"], "declined": ["Declined", "no way"], "expired": ["Expired", None]}


@pytest.mark.parametrize("ending", UNCAUGHT)
async def test_an_ending_that_is_not_caught_is_reported_as_what_it_is(scene: Scene, ending: str) -> None:
    """Each has its own truthful text and its own status; none is reported as another."""
    assert await ended(scene, ending, ASKS["bare"]) == Result("call_1_1", UNCAUGHT[ending], ending)  # type: ignore[arg-type]


@pytest.mark.parametrize("ending", CAUGHT)
async def test_an_ending_that_is_caught_is_the_bodys_to_decide(scene: Scene, ending: str) -> None:
    """The line that asks raises it, with the user's note."""
    assert await ended(scene, ending, caught) == Result("call_1_1", CAUGHT[ending])


@pytest.mark.parametrize("ending", UNCAUGHT)
async def test_otherwise_covers_silence_but_never_a_no(scene: Scene, ending: str) -> None:
    """A skip and an expiry give the fallback; a decline is raised all the same."""
    expected = Result("call_1_1", "else")
    if ending == "declined":
        expected = Result("call_1_1", UNCAUGHT["declined"], "declined")
    assert await ended(scene, ending, ASKS["otherwise"]) == expected


async def test_none_is_a_fallback_like_any_other(scene: Scene) -> None:
    """`otherwise=None` is not the same as no `otherwise`."""
    assert await ended(scene, "skipped", ASKS["otherwise-none"]) == Result("call_1_1", None)


@pytest.mark.parametrize("ending", ["skipped", "declined", "expired"])
async def test_a_raw_interrupt_returns_a_skip_as_json_and_raises_all_else(scene: Scene, ending: str) -> None:
    """A skip is a value the client could have sent; a decline is not."""

    def body(ctx: Context) -> Json:
        try:
            return ctx.interrupt("x")
        except NotAnswered as unanswered:
            return type(unanswered).__name__

    if ending == "expired":  # a raw interrupt has no time limit: this one stays open
        async with scene.process(asking(Version(body))) as p:
            await p.say()
            scene.now += 1e9
            await p.engine.sweep()
            assert isinstance(await p.rest(), Waiting)
        return
    content = (await ended(scene, ending, body)).content
    assert content == ({"skipped": True, "note": "later"} if ending == "skipped" else "Declined")


async def test_a_skip_without_a_note_is_only_a_skip(scene: Scene) -> None:
    """`{"skipped": true}`, as documented."""
    async with scene.process(asking(Version(lambda ctx: ctx.interrupt("x")))) as p:
        await p.say()
        await p.skip()
        assert await p.content() == {"skipped": True}


@pytest.mark.parametrize("value", [None, False, 0, "", [], {}, {"skipped": False}])
async def test_a_falsy_answer_is_an_answer(scene: Scene, value: Json) -> None:
    """Nothing that a client sends is mistaken for no answer."""
    async with scene.process(asking(Version(lambda ctx: ["got", ctx.interrupt("x")]))) as p:
        await p.say()
        assert await p.answer(value) == Done()
        assert await p.content() == ["got", value]


async def test_closing_twice_is_told_apart_from_closing_otherwise(scene: Scene) -> None:
    """The same ending again returns the recorded one; any other is refused and names what is recorded."""

    def body(ctx: Context) -> Json:
        ctx.ask(Say("A"), otherwise=None)
        return ctx.ask(Say("B"))

    async with scene.process(asking(Version(body))) as p:
        await p.say()
        first = await p.open()
        closed = await p.chat.skip(first.id, "later")
        assert await p.chat.skip(first.id, "another note") == closed
        with pytest.raises(ClosedError) as refusal:
            await p.chat.answer(first.id, "a")
        assert refusal.value.ending == "skipped"
        await p.rest()
        second = await p.open()
        answered = await p.chat.answer(second.id, "b")
        assert await p.chat.answer(second.id, "b") == answered
        for other in (p.chat.answer(second.id, "c"), p.chat.skip(second.id)):
            with pytest.raises(AlreadyAnswered):
                await other
        with pytest.raises(NotFound):
            await p.engine.answer(second.id, "b", user="bob")


async def test_superseded_and_cancelled_never_come_back_to_the_body(scene: Scene) -> None:
    """The endings that the user gave to the whole run are results; the body is not executed for them."""
    executions = []

    def body(ctx: Context) -> Json:
        executions.append(1)
        try:
            return ctx.ask(Say("A"))
        except NotAnswered:
            return "the body decided"

    async with scene.process(asking(Version(body)), steps=[[("t", {})], "Hm.", [("t", {})]]) as p:
        await p.say()
        await p.say("never mind")
        await p.say("again")
        await p.chat.cancel()
        assert await p.rest() == Done("cancelled")
        first, second = await p.bodies(Result)
        assert (first.status, second.status) == ("superseded", "cancelled")
        assert first.content["error"] == "Not answered: the user wrote a message instead. It follows."
        assert second.content["error"] == "Not answered: the user cancelled the run."
        assert len(executions) == 2


async def test_a_context_made_by_hand_has_nobody_to_ask() -> None:
    """A tool's own logic can be tested without an engine: asking raises `Unavailable`, which has no fallback."""
    ctx = Context(user="ada", deps=[1])
    for ask in (lambda: ctx.ask(Say("A")), lambda: ctx.ask(Say("A"), otherwise="x"), lambda: ctx.interrupt("x")):
        with pytest.raises(Unavailable):
            ask()
    assert await ctx.once("x", lambda: 3) == 3
    assert (ctx.user, ctx.deps) == ("ada", [1])


@pytest.mark.parametrize(
    ("policy", "text"),
    [
        ("proceed", PROCEED),
        ("wait", "Do nothing about this until the user writes. Do not ask this again."),
    ],
)
async def test_the_app_says_what_a_skip_means(scene: Scene, policy: str, text: str) -> None:
    """`on_skip` is the instruction that the model gets with a skip."""
    async with scene.process(asking(BEFORE), on_skip=policy) as p:
        await p.say()
        await p.skip()
        assert (await p.content())["instruction"] == text


async def test_a_question_skipped_twice_is_not_asked_a_third_time(scene: Scene) -> None:
    """The same ask after two skips fails at once, in a new process too; a message of the user begins anew."""
    call = [("t", dict[str, Json]())]
    async with scene.process(asking(BEFORE), steps=[call, call]) as p:
        await p.say()
        await p.skip()
    async with scene.process(asking(BEFORE), steps=[call]) as p:
        assert await p.skip() == Done()
        assert [one.status for one in await p.bodies(Result)] == ["skipped", "skipped", "failed"]
        assert "skipped this twice" in (await p.bodies(Result))[-1].content["error"]
        assert len(await p.bodies(Asked)) == 2
    async with scene.process(asking(BEFORE), steps=[call]) as p:
        assert isinstance(await p.say("do ask me"), Waiting)


async def test_a_question_that_was_declined_twice_is_not_asked_a_third_time(scene: Scene) -> None:
    """No is an answer as well: a model that tries again is told so, until the user writes something new."""
    call: list[Any] = [("t", {})]
    async with scene.process(asking(BEFORE), steps=[call, call, call, "Well.", call]) as p:
        await p.say()
        for _ in range(2):
            await p.engine.decline((await p.open()).id, user="ada")
            await p.rest()
        assert [one.status for one in await p.bodies(Result)] == ["declined", "declined", "failed"]
        assert "declined this twice" in (await p.bodies(Result))[-1].content["error"]
        assert isinstance(await p.say("do ask me"), Waiting)


async def test_a_body_that_insists_after_a_skip_is_ended(scene: Scene) -> None:
    """Asking the same in a loop until it is answered is the same as asking in three calls."""

    def body(ctx: Context) -> Json:
        while True:
            try:
                return ctx.ask(Say("A"), key="k")
            except Skipped:
                continue

    async with scene.process(asking(Version(body))) as p:
        await p.say()
        await p.skip()
        assert await p.skip() == Done()
        assert "skipped this twice" in await p.error()


async def test_expiry_counts_from_the_record_of_the_question(scene: Scene) -> None:
    """What a body did before it asked does not shorten the time to answer; a later probe does not prolong it."""
    reached, go = anyio.Event(), anyio.Event()

    @tool
    async def t(ctx: Context) -> str:
        reached.set()
        await go.wait()
        return ctx.ask(Say("A", "a"), expires_in=10)

    async with scene.process(t) as p:
        await p.chat.post("go")
        await reached.wait()
        scene.now += 100
        go.set()
        await p.rest()
        open = await p.open()
        assert open.expires_at == scene.now + 10
        scene.now += 9
        with pytest.raises(Rejected):
            await p.chat.answer(open.id, "no option")
        scene.now += 1
        with pytest.raises(ClosedError) as refusal:
            await p.chat.answer(open.id, "a")
        assert refusal.value.ending == "expired"
        assert await p.rest() == Done()
        assert (await p.result()).status == "expired"


async def test_expiry_is_decided_when_the_answer_is_written(scene: Scene) -> None:
    """A check that takes longer than the question lasts: the answer came in time, but is not recorded in time."""

    def check(answer: str) -> None:
        scene.now += 10

    def body(ctx: Context) -> Json:
        return ctx.ask(Say("A", check=check), expires_in=10)

    async with scene.process(asking(Version(body))) as p:
        await p.say()
        with pytest.raises(ClosedError) as refusal:
            await p.chat.answer((await p.open()).id, "a")
        assert refusal.value.ending == "expired"
        assert await p.rest() == Done()
        assert (await p.result()).status == "expired"


async def test_a_recorded_answer_is_decoded_and_not_checked_again(scene: Scene) -> None:
    """Parsing and checks look at what the user sends, once; the body gets the recorded value in every execution."""
    looks: list[str] = []

    class Strict(Say):
        def parse(self, answer: Json) -> str:
            looks.append("parse")
            return super().parse(answer)

    def check(answer: str) -> None:
        looks.append("check")

    def body(ctx: Context) -> Json:
        first = ctx.ask(Strict("A", check=check))
        ctx.interrupt("more")
        ctx.interrupt("even more")
        return first

    async with scene.process(asking(Version(body))) as p:
        await p.say()
        for value in ("a", 1, 2):
            await p.answer(value)
        assert await p.content() == "a"
    assert looks == ["parse", "check"]


async def test_what_a_body_does_to_its_answer_is_gone_in_the_next_execution(scene: Scene) -> None:
    """The log in memory is not the body's to change: each execution has an answer of its own."""
    go, seen = anyio.Event(), list[Json]()

    @tool
    async def slow() -> None:
        await go.wait()

    @tool
    async def t(ctx: Context) -> Json:
        answer = ctx.interrupt("x")
        seen.append(dict(answer))
        answer["more"] = True
        return [answer, ctx.ask(Say("A"))]

    async with scene.process(slow, t) as p:  # while the slow one runs, it is all one run
        await p.chat.post("go")
        for number, answer in enumerate([{"$": 1}, "a"]):
            await p.until(Asked, number + 1)
            await p.chat.answer((await p.open()).id, answer)
        await p.until(Result)
        go.set()
        await p.rest()
        assert await p.content("call_1_2") == [{"$": 1, "more": True}, "a"]
    assert seen == [{"$": 1}] * len(seen)


async def test_what_is_recorded_of_a_question_is_not_changed_afterwards(scene: Scene) -> None:
    """A payload belongs to the log once it is shown, whatever the body does to its own object; lists are lists."""
    shown: list[Json] = []

    @tool
    async def t(ctx: Context) -> Json:
        reason = {"seats": (1, 2), "left": 3}
        try:
            return ctx.interrupt("x", reason)
        finally:
            reason["left"] = 0

    async with scene.process(t) as p:
        async for event in p.chat.say("go"):
            if isinstance(event, Entry) and isinstance(event.body, Asked):
                shown.append(event.body.interrupt)
        assert shown == [await p.open()]
        assert shown[0].ask["reason"] == {"seats": [1, 2], "left": 3}


async def test_a_recorded_answer_that_fits_no_more_ends_the_call(scene: Scene) -> None:
    """A value that cannot be read back is said to be so, and is not passed on in another form."""

    class Count(Say):
        def encode(self, value: str) -> Json:
            return {"count": int(value)}

        def decode(self, stored: Json) -> str:
            return str(stored["counter"])

    def body(ctx: Context) -> Json:
        try:
            return ctx.ask(Count("A"))
        except Exception:
            return "nothing wrong"

    async with scene.process(asking(Version(body))) as p:
        await p.say()
        await p.answer("3")
        assert await p.mistake() == "The recorded answer does not fit the say ask any more (KeyError)."


# --------------------------------------------------------------------------- where it may be asked

Body = Callable[[Context], Awaitable[Any]]


async def ask(ctx: Context) -> str:
    return ctx.ask(Say("A"))


async def in_a_task(ctx: Context) -> Any:
    return await asyncio.create_task(ask(ctx))


async def in_gather(ctx: Context) -> Any:
    return str(await asyncio.gather(ask(ctx), return_exceptions=True))


async def in_a_task_group(ctx: Context) -> Any:
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(ask(ctx))


async def in_anyios_task_group(ctx: Context) -> Any:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask, ctx)


async def in_to_thread(ctx: Context) -> Any:
    return await asyncio.to_thread(ctx.ask, Say("A"))


async def in_anyios_thread(ctx: Context) -> Any:
    return await anyio.to_thread.run_sync(ctx.ask, Say("A"))


async def in_an_effect(ctx: Context) -> Any:
    return await ctx.once("x", lambda: ask(ctx))


async def in_a_sync_effect(ctx: Context) -> Any:
    return await ctx.once("x", lambda: ctx.interrupt("A"))


async def in_an_effect_within_an_effect(ctx: Context) -> Any:
    return await ctx.once("x", lambda: ctx.once("y", lambda: 1))


MISPLACED = {
    body.__name__: body
    for body in (
        in_a_task,
        in_gather,
        in_a_task_group,
        in_anyios_task_group,
        in_to_thread,
        in_anyios_thread,
        in_an_effect,
        in_a_sync_effect,
        in_an_effect_within_an_effect,
    )
}


@pytest.mark.parametrize("hidden", [False, True], ids=["raised", "swallowed"])
@pytest.mark.parametrize("where", MISPLACED)
async def test_asking_outside_the_bodys_own_task_is_refused_loudly(scene: Scene, where: str, hidden: bool) -> None:
    """Their order would change between executions. The result says so, even if the body hides the error."""

    @tool
    async def t(ctx: Context) -> str:
        try:
            return str(await MISPLACED[where](ctx))
        except BaseException:
            if hidden:
                return "all is well"
            raise

    async with scene.process(t) as p:
        assert await p.say() == Done()
        error = await p.mistake()
        assert ("inside once('x')" if "effect" in where else "in another task or thread than the tool's own") in error
        assert not await p.bodies(Asked)


async def test_asking_in_another_thread_than_a_def_tools_own_is_refused_loudly(scene: Scene) -> None:
    """A `def` tool asks in its own worker thread only; not in a thread that it started, nor back in the event loop."""

    @tool
    def threads(ctx: Context) -> str:
        thread = threading.Thread(target=lambda: swallowed(lambda: ctx.ask(Say("A"))))
        thread.start()
        thread.join()
        return "all is well"

    @tool
    def loops(ctx: Context) -> str:
        swallowed(lambda: anyio.from_thread.run(ask, ctx))
        return "all is well"

    def swallowed(work: Callable[[], object]) -> None:
        try:
            work()
        except BaseException:
            return

    async with scene.process(threads, loops) as p:
        assert await p.say() == Done()
        for call in ("call_1_1", "call_1_2"):
            assert "in another task or thread" in await p.mistake(call)


async def test_wait_for_either_asks_or_refuses(scene: Scene) -> None:
    """`asyncio.wait_for` starts a task of its own before Python 3.12; the pause is never lost either way."""

    @tool
    async def t(ctx: Context) -> str:
        try:
            return await asyncio.wait_for(ask(ctx), 1)
        except BaseException:
            return "all is well"

    async with scene.process(t) as p:
        if await p.say() == Done():
            assert "asyncio.wait_for" in await p.mistake()
        else:
            assert (await p.open()).message == "A"


async def test_helpers_may_ask_as_long_as_they_are_awaited(scene: Scene) -> None:
    """Coroutines, generators and callbacks of the body's own task are the body."""

    @tool
    async def t(ctx: Context) -> str:
        def letters() -> Iterator[str]:
            yield ctx.ask(Say("B"))
            yield ctx.ask(Say("C"))

        async with asyncio.timeout(5):
            first = await ask(ctx)
        return first + "".join(letters())

    async with scene.process(t) as p:
        await p.say()
        for letter in "abc":
            await p.answer(letter)
        assert await p.content() == "abc"


async def test_a_body_that_hid_its_misuse_gets_nowhere(scene: Scene) -> None:
    """Nothing is asked and nothing done after it, whatever else the body tries."""
    done: list[int] = []

    @tool
    async def t(ctx: Context) -> str:
        for attempt in (in_to_thread(ctx), ctx.once("x", lambda: done.append(1)), ask(ctx)):
            with contextlib.suppress(Exception):
                await attempt
        return "all is well"

    async with scene.process(t) as p:
        assert await p.say() == Done()
        assert "in another task or thread" in await p.mistake()
        assert not await p.bodies(Asked, Effect)
    assert done == []


def test_the_tree_of_endings_can_be_caught_as_one() -> None:
    """`except NotAnswered` is all that a body needs to know."""
    assert {cls.ending for cls in (Skipped, Declined, Expired, Unavailable)} == {
        "skipped",
        "declined",
        "expired",
        "unavailable",
    }
    assert all(issubclass(cls, NotAnswered) for cls in (Skipped, Declined, Expired, Unavailable))


async def test_a_conversation_that_is_begun_anew_has_questions_of_its_own(scene: Scene) -> None:
    """Though all its ids are the same: neither an old card nor an old idempotency key means anything there."""
    keys: list[str] = []

    @tool
    async def t(ctx: Context) -> str:
        keys.append(ctx.effect_key("charge"))
        return ctx.ask(Say("Sure?"))

    steps: list[Any] = [[("t", {})], "Done."]
    questions = []
    for _ in range(2):
        async with scene.process(t, steps=steps) as p:
            await p.say()
            questions.append(await p.open())
            await p.answer("yes")
            assert await p.chat.delete()
    first, second = questions
    assert (first.call_id, first.digest) == (second.call_id, second.digest)
    assert first.id != second.id
    assert len(set(keys)) == 2
    assert len(keys) > 3  # in each, one for all executions
