"""Questions put to somebody else than the conversation's owner: who sees them, who may answer, what is recorded."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Literal

import pytest

from tests.scene import Process, Say, Scene
from yourcall import Context, Declined, Tool, tool
from yourcall.entries import Answered, Closed, Interrupt
from yourcall.errors import Changed, NotAsked, NotFound, Rejected
from yourcall.log import Done, Waiting
from yourcall.store.sqlite import _INBOX, SQLiteStore

pytestmark = pytest.mark.anyio

STAFF = {"ruth", "rob"}


def roles(user: str) -> list[str]:
    return ["role:refunds"] if user in STAFF else []


def asks(to: str | None, title: str = "Refund 40?", *options: str) -> Tool[Any]:
    """A tool that puts a question to somebody, and says who owns the call."""

    @tool
    def refund(ctx: Context) -> str:
        ask = Say(title, *options)
        ask.to = to
        return f"{ctx.user}: {ctx.ask(ask)}"

    return refund


async def put(p: Process) -> Interrupt:
    """The owner says something, and a tool puts a question to somebody else."""
    await p.say()
    return await p.open()


async def test_who_was_asked_answers_and_the_call_stays_its_owner_s(scene: Scene) -> None:
    """The answer of who was asked goes into the owner's log, with who gave it; the tool runs for the owner."""
    async with scene.process(asks("role:refunds"), may_answer=roles) as p:
        question = await put(p)
        await p.engine.answer(question.id, "yes", user="ruth")
        await p.rest()
        assert await p.content() == "ada: yes"
        (answered,) = await p.bodies(Answered)
        assert answered.by == "ruth"


async def test_only_who_was_asked_may_answer(scene: Scene) -> None:
    """For everybody else the question is not there; its owner sees it and may not answer it, nor skip or decline."""
    async with scene.process(asks("role:refunds"), may_answer=roles) as p:
        question = await put(p)
        for stranger in ("bob", "role:refunds", ""):
            with pytest.raises(NotFound):
                await p.engine.find(question.id, user=stranger)
            with pytest.raises(NotFound):
                await p.engine.answer(question.id, "yes", user=stranger)
            for close in (p.engine.skip, p.engine.decline):
                with pytest.raises(NotFound):
                    await close(question.id, user=stranger, note="forged")
        with pytest.raises(NotAsked):
            await p.chat.answer(question.id, "yes")
        for close in (p.engine.skip, p.engine.decline):
            with pytest.raises(NotAsked):
                await close(question.id, user="ada")
        assert await p.open() == question


async def test_an_owner_with_the_role_does_not_answer_for_themselves(scene: Scene) -> None:
    """Four eyes: what a tool puts to others is not for the one whose conversation it is."""

    def everybody(user: str) -> list[str]:
        return ["role:refunds"]

    async with scene.process(asks("role:refunds"), may_answer=everybody) as p:
        question = await put(p)
        with pytest.raises(NotAsked):
            await p.chat.answer(question.id, "yes")
        assert await p.engine.inbox(user="ada") == []
        assert [one.interrupt for one in await p.engine.inbox(user="bob")] == [question]


async def test_without_roles_a_question_goes_to_a_user(scene: Scene) -> None:
    """`Ask.to` is a user's id where the app says nothing else."""
    async with scene.process(asks("bob")) as p:
        question = await put(p)
        with pytest.raises(NotFound):
            await p.engine.answer(question.id, "yes", user="rob")
        await p.engine.answer(question.id, "yes", user="bob")
        await p.rest()
        assert await p.content() == "ada: yes"


async def _later(user: str) -> Iterable[str]:
    return frozenset(roles(user))


@pytest.mark.parametrize("may_answer", [roles, _later])
async def test_an_app_may_look_names_up(
    scene: Scene, may_answer: Callable[[str], Iterable[str] | Awaitable[Iterable[str]]]
) -> None:
    """`may_answer` is sync or async, and gives any iterable."""
    async with scene.process(asks("role:refunds"), may_answer=may_answer) as p:
        await put(p)
        assert len(await p.engine.inbox(user="ruth")) == 1
        assert len(await p.engine.inbox(user="bob")) == 0


async def test_a_role_that_is_lost_is_lost_at_once(scene: Scene) -> None:
    """The right is looked up at each request, not remembered from when the question was shown."""
    names = {"ruth": ["role:refunds"]}
    async with scene.process(asks("role:refunds"), may_answer=lambda user: names.get(user, ())) as p:
        question = await put(p)
        assert (await p.engine.find(question.id, user="ruth")).key.owner == "ada"
        names.clear()
        with pytest.raises(NotFound):
            await p.engine.answer(question.id, "yes", user="ruth")


async def test_a_wrong_answer_leaves_it_open(scene: Scene) -> None:
    """Who was asked is told what is wrong, as an owner would be."""
    async with scene.process(asks("bob", "Which?", "red", "blue")) as p:
        question = await put(p)
        with pytest.raises(Rejected):
            await p.engine.answer(question.id, "green", user="bob")
        await p.engine.answer(question.id, "red", user="bob")
        await p.rest()
        assert await p.content() == "ada: red"


@pytest.mark.parametrize("how", ["skip", "decline"])
async def test_the_model_reads_who_did_not_want_to(scene: Scene, how: Literal["skip", "decline"]) -> None:
    """No ending is told as somebody else's: it was not the user who skipped or declined."""
    async with scene.process(asks("role:refunds"), may_answer=roles) as p:
        question = await put(p)
        close = p.engine.skip if how == "skip" else p.engine.decline
        await close(question.id, user="ruth", note="Not without a receipt.")
        await p.rest()
        content = await p.content()
        assert content["error"].startswith("This question was put to role:refunds, who ")
        assert content["note"] == "Not without a receipt."
        (closed,) = await p.bodies(Closed)
        assert closed.by == "ruth"


async def test_it_expires_as_what_it_was(scene: Scene) -> None:
    """Also of an expired question the model reads whose it was."""

    @tool
    def refund(ctx: Context) -> str:
        ask = Say("Refund?")
        ask.to = "role:refunds"
        return ctx.ask(ask, expires_in=60)

    async with scene.process(refund, may_answer=roles) as p:
        await put(p)
        scene.now += 61
        await p.engine.sweep()
        await p.rest()
        assert "put to role:refunds, and expired" in await p.error()


async def test_the_owner_s_way_out_is_to_cancel(scene: Scene) -> None:
    """A question that nobody answers does not hold its owner, who calls it off and writes on."""
    async with scene.process(asks("role:refunds"), may_answer=roles) as p:
        question = await put(p)
        await p.chat.cancel()
        await p.rest()
        assert await p.engine.inbox(user="ruth") == []
        found = await p.engine.find(question.id, user="ruth")
        assert isinstance(found.ending, Closed)
        assert (found.ending.ending, found.ending.by) == ("cancelled", None)
        assert await p.say("Never mind") == Done()


async def test_the_first_of_many_wins(scene: Scene) -> None:
    """Two of a role answer: the second is told so, and nothing is recorded twice."""
    async with scene.process(asks("role:refunds"), may_answer=roles) as p:
        question = await put(p)
        await p.engine.answer(question.id, "yes", user="ruth")
        again = await p.engine.answer(question.id, "yes", user="rob")
        assert again.by == "ruth"
        await p.rest()
        assert len(await p.bodies(Answered)) == 1


async def test_put_to_somebody_else_it_is_another_question(scene: Scene) -> None:
    """A tool that changes its mind about whom to ask asks anew: nobody answers what they were not asked."""
    async with scene.process(asks("bob")) as p:
        question = await put(p)
    async with scene.process(asks("eve")) as p:
        with pytest.raises(Changed):
            await p.engine.answer(question.id, "yes", user="bob")
        anew = await p.open()
        assert (anew.to, anew.id != question.id) == ("eve", True)
        with pytest.raises(NotFound):
            await p.engine.find(anew.id, user="bob")


@pytest.mark.parametrize("channel", ["secret", "handoff"])
async def test_a_secret_is_never_somebody_else_s_to_give(scene: Scene, channel: Literal["secret", "handoff"]) -> None:
    """What is kept for a user comes from that user: such an ask with `to` is a mistake, and is told as one."""

    class Key(Say):
        pass

    Key.channel = channel

    @tool
    def connect(ctx: Context) -> str:
        ask = Key("Your key")
        ask.to = "bob"
        return ctx.ask(ask)

    async with scene.process(connect) as p:
        await p.say()
        assert "leave `to` out" in await p.mistake()


async def test_a_tool_may_catch_what_others_declined(scene: Scene) -> None:
    """In the body it is the same exception as for the owner's own no; `to` says whose it was."""

    @tool
    def refund(ctx: Context) -> str:
        ask = Say("Refund?")
        ask.to = "bob"
        try:
            return ctx.ask(ask)
        except Declined as no:
            return f"{no.to} said no"

    async with scene.process(refund) as p:
        question = await put(p)
        await p.engine.decline(question.id, user="bob")
        await p.rest()
        assert await p.content() == "bob said no"


# --------------------------------------------------------------------------- the inbox


async def test_an_inbox_has_what_is_one_s_own_and_what_was_put_to_one(scene: Scene) -> None:
    """Open questions of all one's conversations and of others, the latest first, in pages; closed ones are gone."""

    @tool
    def ask(ctx: Context, title: str, to: str | None = None) -> str:
        ask = Say(title)
        ask.to = to
        return ctx.ask(ask)

    places = [
        ("ruth", {"title": "her own"}),
        ("ada", {"title": "put to her", "to": "role:refunds"}),
        ("ada", {"title": "Ada's"}),
        ("ruth", {"title": "put by her", "to": "role:refunds"}),
        ("ruth", {"title": "hers too"}),
    ]
    async with scene.process(ask, steps=[[("ask", args)] for _, args in places], may_answer=roles) as p:
        for n, (user, _) in enumerate(places):
            scene.now += 1
            chat = p.engine.conversation(str(n), user=user)
            await chat.post("go")
            [_ async for _ in chat.events(0)]

        async def titles(user: str, **page: Any) -> list[str]:
            return [one.interrupt.message for one in await p.engine.inbox(user=user, **page)]

        assert await titles("ruth") == ["hers too", "put to her", "her own"]
        assert await titles("rob") == ["put by her", "put to her"]
        assert await titles("ada") == ["Ada's"]
        assert await titles("bob") == []
        (first,) = await p.engine.inbox(user="ruth", limit=1)
        assert await titles("ruth", before=(first.asked_at, first.interrupt.id)) == ["put to her", "her own"]
        await p.engine.skip(first.interrupt.id, user="ruth")
        assert await titles("ruth") == ["put to her", "her own"]
        await p.engine.conversation("1", user="ada").delete()
        assert await titles("rob") == ["put by her"]


async def test_an_inbox_is_read_by_an_index(scene: Scene) -> None:
    """However many questions were ever asked, only those that are open and the user's are looked at."""
    async with scene.process(asks(None)) as p:
        store = p.engine.store
        assert isinstance(store, SQLiteStore)
        names = json.dumps(["a", "b"])
        plan = [row[-1] for row in await store.file.read(f"EXPLAIN QUERY PLAN {_INBOX}", ("ada", names, 1.0, "", 10))]
        searched = [line for line in plan if "interrupt_" in line]
        assert any("interrupt_own (owner=?" in line for line in searched), plan
        assert any("interrupt_put (addressee=?" in line for line in searched), plan
        assert not any(line.startswith(("SCAN interrupt", "SCAN a")) for line in plan), plan


async def test_a_message_of_the_owner_closes_nothing_that_others_were_asked(scene: Scene) -> None:
    """It stays in their inbox and takes their answer; the message is kept, and the model reads it after that."""

    @tool
    def own(ctx: Context) -> str:
        return ctx.ask(Say("For yourself?"))

    async with scene.process(asks("role:refunds"), own, may_answer=roles) as p:
        await p.say()
        theirs, mine = await p.chat.interrupts()
        assert await p.say("How long will it take?") == Waiting((theirs,))
        assert [closed.interrupt for closed in await p.bodies(Closed)] == [mine.id]
        assert [one.interrupt.id for one in await p.engine.inbox(user="ruth")] == [theirs.id]
        await p.engine.answer(theirs.id, "yes", user="ruth")
        assert await p.rest() == Done()
        assert await p.content("call_1_1") == "ada: yes"
        assert (await p.transcript())[-2:] == ["user: How long will it take?", "assistant: Done."]


async def test_nobody_is_asked_through_their_own_owner(scene: Scene) -> None:
    """Who asked on their behalf could not answer it, and nobody else would see it: the tool is told at once."""
    async with scene.process(asks("ada")) as p:
        assert await p.say() == Done()
        assert "leave it out" in await p.mistake()
