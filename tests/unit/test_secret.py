"""Secrets from ask to tool: what is recorded, what a tool gets, and what it must not say."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import json
import logging
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import anyio
import anyio.to_thread
import pytest
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import PydanticSerializationError

from tests.scene import Process, Say, Scene
from yourcall import (
    Context,
    ProgrammingError,
    Rejected,
    Secret,
    SecretReference,
    SecretValue,
    Skipped,
    Unavailable,
    tool,
)
from yourcall.entries import Answered, Asked, Effect, Json, Result, dump
from yourcall.errors import AlreadyAnswered, CheckFailed, TooManyAttempts, WrongChannel
from yourcall.errors import Closed as ClosedError
from yourcall.log import Done, Waiting
from yourcall.vault.keyring import new_key

pytestmark = pytest.mark.anyio

CANARY = "c4n4ry/+key ü"


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("YOURCALL_KEYS", new_key())


async def accepts(key: str) -> None:
    """Takes what begins with a c, and repeats what it refuses."""
    if not key.startswith("c"):
        raise Rejected(f"Hevy did not accept {key}.")


hevy_key = Secret("hevy", "Hevy API key", help="In the app, under Settings.", check=accepts)


@tool
def connect(ctx: Context) -> Json:
    """Ask for the key."""
    reference = ctx.ask(hevy_key)
    return f"Set up: {reference.name}."


@tool
async def use(ctx: Context) -> str:
    """Use the key, and say it."""
    key = await ctx.reveal(hevy_key)
    return f"I used {key.get_secret_value()}."


@tool(when=hevy_key)
async def history(ctx: Context) -> str:
    """Needs the key."""
    return f"{len((await ctx.reveal(hevy_key)).get_secret_value())} characters"


async def enter(p: Process, value: str) -> Any:
    """Answer the open question with a secret, and wait until nothing runs."""
    await p.chat.answer_secret((await p.open()).id, value)
    return await p.rest()


async def everything(p: Process, scene: Scene) -> str:
    """All that is stored, as text: the log's entries, and the bytes of the files."""
    entries = "\n".join(dump(entry) for entry in (await p.chat.log()).entries)
    files = b"".join(path.read_bytes() for path in sorted(scene.folder.iterdir()) if path.is_file())
    return entries + files.decode("latin-1")


# --------------------------------------------------------------------------- the ask


async def test_the_log_gets_a_reference_and_the_vault_the_value(scene: Scene) -> None:
    """The tool goes on with a reference; neither the log nor a file holds the value, and it can be revealed."""
    async with scene.process(connect, use) as p:
        assert isinstance(await p.say(), Waiting)
        asked = await p.bodies(Asked)
        assert {one.interrupt.channel for one in asked} == {"secret"}
        connecting = next(one.interrupt for one in asked if one.interrupt.key == "#1")
        revealing = next(one.interrupt for one in asked if one.interrupt.key == "#reveal:hevy")
        await p.chat.answer_secret(connecting.id, CANARY)
        await p.chat.answer_secret(revealing.id, CANARY)
        assert await p.rest() == Done()
        (answered, _) = await p.bodies(Answered)
        assert set(answered.value) == {"name", "version"}
        assert await p.content(connecting.call_id) == "Set up: hevy."
        assert await p.content(revealing.call_id) == "I used ***."
        assert CANARY not in await everything(p, scene)
        assert json.dumps(CANARY)[1:-1] not in await everything(p, scene)


async def test_a_refused_value_leaves_the_question_open_and_is_not_repeated(scene: Scene) -> None:
    """The check gets the plain text; what it says of it is shown without it, and nothing is kept."""
    async with scene.process(connect) as p:
        await p.say()
        with pytest.raises(Rejected) as refused:
            await enter(p, "wrong-key")
        assert str(refused.value) == "Hevy did not accept ***."
        assert [fault.message for fault in refused.value.faults] == ["Hevy did not accept ***."]
        assert await p.engine.credentials(user="ada") == []
        assert await enter(p, CANARY) == Done()


@pytest.mark.parametrize("value", ["", "  \n", "\0", "a\0b", "\ud800", "x" * (16 << 10) + "y", "ü" * (8 << 10) + "y"])
async def test_what_can_be_no_secret_is_refused(scene: Scene, value: str) -> None:
    """Blank, unstorable or endless text is refused in the open question's own words, and is no guess."""
    async with scene.process(connect) as p:
        await p.say()
        for _ in range(6):
            with pytest.raises(Rejected):
                await enter(p, value)
        assert await enter(p, CANARY) == Done()


async def test_as_much_as_fits_is_taken_as_it_is(scene: Scene) -> None:
    """16 KiB, and white space around it, come back as they were entered."""
    lengths = Secret("long")
    value = " c" + "ü" * ((8 << 10) - 2) + "\n "

    @tool
    async def length(ctx: Context) -> bool:
        """Compares."""
        return (await ctx.reveal(lengths)).get_secret_value() == value

    async with scene.process(length) as p:
        await p.say()
        await enter(p, value)
        assert await p.content() is True


async def test_the_same_value_again_is_harmless_and_another_is_refused(scene: Scene) -> None:
    """As for any answer; the two are told apart without a hash that somebody could try values against."""
    async with scene.process(connect) as p:
        await p.say()
        interrupt = await p.open()
        first = await p.chat.answer_secret(interrupt.id, CANARY)
        assert await p.chat.answer_secret(interrupt.id, CANARY) == first
        with pytest.raises(AlreadyAnswered):
            await p.chat.answer_secret(interrupt.id, "c-other")
        await p.rest()
    async with scene.process(connect) as p:
        assert await p.chat.answer_secret(interrupt.id, CANARY) == first


async def test_each_kind_has_its_own_way(scene: Scene) -> None:
    """A secret in the open, and a form's answer by the secrets' way, are refused; both questions stay open."""

    @tool
    def plain(ctx: Context) -> str:
        """Asks in the open."""
        return ctx.ask(Say("Name?"))

    async with scene.process(connect, plain) as p:
        await p.say()
        secret, form = sorted(await p.chat.interrupts(), key=lambda one: one.channel, reverse=True)
        with pytest.raises(WrongChannel, match="must not be sent in the open"):
            await p.chat.answer(secret.id, {"value": CANARY})
        with pytest.raises(WrongChannel, match="with its form"):
            await p.chat.answer_secret(form.id, CANARY)
        assert len(await p.chat.interrupts()) == 2
        assert CANARY not in await everything(p, scene)


async def test_a_secret_can_be_skipped(scene: Scene) -> None:
    """Then the tool has none, and says so."""
    async with scene.process(use) as p:
        await p.say()
        assert await p.skip() == Done()
        assert await p.error() == Skipped.text


async def test_without_keys_nobody_is_asked(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """The developer reads what to set; no card is shown that could not be answered."""
    monkeypatch.delenv("YOURCALL_KEYS")
    async with scene.process(connect, use, steps=[[("connect", {}), ("use", {})]]) as p:
        assert await p.say() == Done()
        assert [result.status for result in await p.bodies(Result)] == ["failed", "failed"]
        assert len(p.mistakes) == 2
        assert all("YOURCALL_KEYS" in mistake for mistake in p.mistakes)


def test_a_name_is_one_that_a_path_can_carry() -> None:
    """What could not be deleted by its name is refused when it is made."""
    for name in ("", " ", "a/b", "a\nb", "x" * 201):
        with pytest.raises(ProgrammingError):
            Secret(name)


# --------------------------------------------------------------------------- guessing


async def test_after_five_refused_values_no_more_are_looked_at(scene: Scene) -> None:
    """Not even the right one, also by another process, until ten minutes have passed since the first."""
    async with scene.process(connect) as p:
        await p.say()
        for n in range(5):
            scene.now += 1
            with pytest.raises(Rejected):
                await enter(p, f"wrong {n}")
        with pytest.raises(TooManyAttempts) as refused:
            await enter(p, CANARY)
        assert refused.value.after == 596
    async with scene.process(connect) as p:
        scene.now += 595
        with pytest.raises(TooManyAttempts):
            await enter(p, CANARY)
        scene.now += 1
        assert await enter(p, CANARY) == Done()


async def test_guesses_at_the_same_time_count_too(scene: Scene) -> None:
    """Of many at once, by two processes, five are looked at: each is counted before it is."""
    seen: list[str] = []

    async def look(key: str) -> None:
        seen.append(key)
        raise Rejected("No.")

    looked_at = Secret("guess", check=look)

    @tool
    def guessed(ctx: Context) -> str:
        """Asks."""
        return ctx.ask(looked_at).name

    async def guess(p: Process, interrupt: str, n: int) -> None:
        with contextlib.suppress(Rejected, TooManyAttempts):
            await p.chat.answer_secret(interrupt, f"guess {n}")

    async with scene.process(guessed) as p, scene.process(guessed) as q:
        await p.say()
        interrupt = (await p.open()).id
        async with anyio.create_task_group() as tasks:
            for n in range(32):
                tasks.start_soon(guess, (p, q)[n % 2], interrupt, n)
        assert len(seen) == 5


async def test_a_recorded_answer_cannot_be_guessed_either(scene: Scene) -> None:
    """That another value was recorded is a refusal, too: whoever tries values one after the other is stopped."""
    async with scene.process(connect) as p:
        await p.say()
        interrupt = await p.open()
        await p.chat.answer_secret(interrupt.id, CANARY)
        for n in range(5):
            with pytest.raises(AlreadyAnswered):
                await p.chat.answer_secret(interrupt.id, f"guess {n}")
        with pytest.raises(TooManyAttempts):
            await p.chat.answer_secret(interrupt.id, CANARY)


async def test_only_a_wrong_value_counts(scene: Scene) -> None:
    """Not one at which the check broke, not one to a question that closed, not the right one sent again."""
    broken = True

    async def breaks(key: str) -> None:
        if broken:
            raise ConnectionError("down")

    breaking = Secret("breaking", check=breaks)

    @tool
    def checked(ctx: Context) -> str:
        """Asks."""
        return ctx.ask(breaking).name

    async with scene.process(checked, connect) as p:
        await p.say()
        one, other = sorted(await p.chat.interrupts(), key=lambda one: one.message)
        for _ in range(6):
            with pytest.raises(CheckFailed):
                await p.chat.answer_secret(other.id, CANARY)
        broken = False
        for _ in range(7):
            await p.chat.answer_secret(other.id, CANARY)
        await p.chat.skip(one.id)
        for _ in range(7):
            with pytest.raises(ClosedError):
                await p.chat.answer_secret(one.id, CANARY)


# --------------------------------------------------------------------------- revealing


async def test_a_value_that_is_there_is_revealed_at_once(scene: Scene) -> None:
    """Also in another conversation of the user, and in another process; but never to another user."""
    async with scene.process(connect, use, steps=[[("connect", {})], "ok", [("use", {})], "ok", [("use", {})]]) as p:
        await p.say()
        await enter(p, CANARY)
        await p.say("again")
        assert [result.text for result in await p.bodies(Result)][1] == "I used ***."
        p.chat = p.engine.conversation("c", user="bob")
        assert isinstance(await p.say(), Waiting)


async def test_a_value_of_one_conversation_stays_there(scene: Scene) -> None:
    """`per="conversation"` keeps one value for each."""
    room = Secret("room", per="conversation")

    @tool
    async def enter_room(ctx: Context) -> str:
        """Opens the door."""
        await ctx.reveal(room)
        return "open"

    async with scene.process(enter_room, steps=[[("enter_room", {})], "ok"] * 2) as p:
        await p.say()
        await enter(p, CANARY)
        assert await p.content() == "open"
        p.chat = p.engine.conversation("d", user="ada")
        assert isinstance(await p.say(), Waiting)


async def test_a_conversation_cannot_pass_for_all_of_them(scene: Scene) -> None:
    """A client that calls its conversation `*` gets no value of one into all, where it outlives it."""
    room = Secret("room", per="conversation")

    @tool
    async def enter_room(ctx: Context) -> str:
        """Opens the door."""
        await ctx.reveal(room)
        return "open"

    async with scene.process(enter_room, steps=[[("enter_room", {})], "ok"]) as p:
        p.chat = p.engine.conversation("*", user="ada")
        await p.say()
        assert "keeps no secret of its own" in await p.mistake()
        assert await p.engine.credentials(user="ada") == []


async def test_who_has_none_is_asked_and_the_answer_is_taken_before_the_vault_is_looked_at(scene: Scene) -> None:
    """A re-execution takes the recorded answer though the vault has the value by now, and asks on."""

    @tool
    async def twice(ctx: Context) -> str:
        """Reveals twice, and asks."""
        await ctx.reveal(hevy_key)
        name = ctx.ask(Say("Name?"))
        await ctx.reveal(hevy_key)
        return name

    async with scene.process(twice) as p:
        await p.say()
        await enter(p, CANARY)
    async with scene.process(twice) as p:
        assert await p.answer("Ada") == Done()
        assert await p.content() == "Ada"
        assert [one.interrupt.key for one in await p.bodies(Asked)] == ["#reveal:hevy", "#1"]


async def test_the_newest_value_is_revealed(scene: Scene) -> None:
    """A key that the user entered anew is the one that tools use, and the old one is gone."""

    @tool
    async def compare(ctx: Context) -> bool:
        """Which is it?"""
        return (await ctx.reveal(hevy_key)).get_secret_value() == "c-second"

    steps: Any = [[("connect", {})], "ok", [("connect", {})], "ok", [("compare", {}, "compare")]]
    async with scene.process(connect, compare, steps=steps) as p:
        for value in ("c-first", "c-second"):
            await p.say()
            await enter(p, value)
        await p.say()
        assert await p.content("compare") is True


async def test_what_was_taken_back_meanwhile_is_gone(scene: Scene) -> None:
    """The user answered, and deleted it before the tool went on: it is not asked for again and again."""

    @tool
    async def late(ctx: Context) -> str:
        """Asks between."""
        await ctx.reveal(hevy_key)
        ctx.ask(Say("Go on?"))
        await ctx.reveal(hevy_key)
        return "done"

    async with scene.process(late) as p:
        await p.say()
        await enter(p, CANARY)
        await p.engine.forget("hevy", user="ada")
        with pytest.raises(ClosedError):
            await p.answer("yes")
        assert await p.rest() == Done()
        assert await p.error() == "The user's access to hevy is gone. Connect it again before you use this tool."


async def test_a_tool_is_offered_while_its_credential_is_there(scene: Scene) -> None:
    """From the step after it was given until it is taken back; a call already made then ends truthfully, unasked."""
    steps: Any = [[("connect", {})], [("history", {}, "h1")], "ok", [("history", {}, "h2")], "ok", "ok"]
    async with scene.process(connect, history, steps=steps) as p:
        await p.say()
        await enter(p, CANARY)
        assert await p.content("h1") == "13 characters"
        offered = [[spec.name for spec in request.tools] for request in p.model.requests]
        assert offered == [["connect"], ["connect", "history"], ["connect", "history"]]
        await p.engine.forget("hevy", user="ada")
        await p.say("once more")
        assert "There is no tool of this name now" in await p.error("h2")
        assert [spec.name for spec in p.model.requests[-1].tools] == ["connect"]


async def test_a_frozen_call_whose_credential_went_is_told_so(scene: Scene) -> None:
    """`when` is not evaluated again for a call that was made: its body finds the credential gone, and does not ask."""

    @tool(when=hevy_key)
    async def slow(ctx: Context) -> str:
        """Asks, then needs the key."""
        ctx.ask(Say("Sure?"))
        return str(len((await ctx.reveal(hevy_key)).get_secret_value()))

    async with scene.process(connect, slow, steps=[[("connect", {})], [("slow", {}, "s")]]) as p:
        await p.say()
        await enter(p, CANARY)
        await p.engine.forget("hevy", user="ada")
        await p.answer("yes")
        assert (await p.error("s")).startswith("The user's access to hevy is gone.")


async def test_a_tool_can_forget_and_ask_anew(scene: Scene) -> None:
    """What `forget` removed is removed once: the value that the user enters next is there for the re-execution."""

    @tool
    async def renew(ctx: Context) -> bool:
        """Replaces the key."""
        await ctx.forget(hevy_key)
        ctx.ask(hevy_key)
        return (await ctx.reveal(hevy_key)).get_secret_value() == "c-new"

    async with scene.process(connect, renew, steps=[[("connect", {})], [("renew", {}, "r")]]) as p:
        await p.say()
        await enter(p, "c-old")
        assert await p.engine.credentials(user="ada") == []
        assert await enter(p, "c-new") == Done()
        assert await p.content("r") is True


async def test_it_is_awaited_and_not_inside_an_effect(scene: Scene) -> None:
    """A `def` tool is told to be `async def`, at once; an effect does not reveal, since it must not ask."""

    @tool
    def sync(ctx: Context) -> str:
        """Cannot wait."""
        return str(ctx.reveal(hevy_key))

    @tool
    def sync_holds(ctx: Context) -> str:
        """Cannot wait."""
        return str(ctx.holds(hevy_key))

    @tool
    async def inside(ctx: Context) -> str:
        """Reveals in an effect."""

        async def effect() -> str:
            return repr(await ctx.reveal(hevy_key))

        return await ctx.once("effect", effect)

    async with scene.process(sync, sync_holds, inside, steps=[[("sync", {}, "s"), ("sync_holds", {}, "h")]]) as p:
        await p.say()
        assert "async def" in await p.mistake("s")
        assert "async def" in await p.mistake("h")
    with pytest.raises(Unavailable):
        await Context().reveal(hevy_key)


async def test_the_value_can_be_used_in_an_effect_without_being_recorded(scene: Scene) -> None:
    """As an argument, wrapped or plain, and in what the effect returns: the log gets neither it nor a hash of it."""
    used: list[str] = []

    def pay(key: Any, amount: int) -> Json:
        used.append(key if isinstance(key, str) else key.get_secret_value())
        return {"amount": amount, "by": used[-1]}

    @tool
    async def paying(ctx: Context) -> Json:
        """Pays twice."""
        key = await ctx.reveal(hevy_key)
        receipts = [await ctx.once("a", pay, key, 1), await ctx.once("b", pay, key.get_secret_value(), 2)]
        ctx.ask(Say("Sure?"))
        return receipts

    digests = []
    for value in ("c-1234", "c-5678"):
        scene.path.unlink(missing_ok=True)
        async with scene.process(paying, steps=[[("paying", {})]]) as p:
            await p.say()
            await enter(p, value)
            await p.answer("yes")
            assert await p.content() == [{"amount": 1, "by": "***"}, {"amount": 2, "by": "***"}]
            digests.append([effect.args for effect in await p.bodies(Effect)])
            assert value not in await everything(p, scene)
    assert used == ["c-1234", "c-1234", "c-5678", "c-5678"]
    assert digests[0] == digests[1]


# --------------------------------------------------------------------------- the value


def test_a_revealed_value_shows_itself_to_nobody() -> None:
    """Text, JSON, pickles, copies and models refuse it by a TypeError, or name it without showing it."""
    secret = SecretValue("hevy", CANARY)

    class Holder(BaseModel):
        model_config = ConfigDict(arbitrary_types_allowed=True)
        key: SecretValue

    @dataclass
    class Plain:
        key: SecretValue

    assert secret.get_secret_value() == CANARY
    assert repr(secret) == repr(Plain(secret))[repr(Plain(secret)).index("=") + 1 : -1] == "SecretValue('hevy')"
    refusing: list[Callable[[], object]] = [
        lambda: str(secret),
        lambda: f"{secret}",
        lambda: f"{secret:>10}",
        lambda: "%s" % secret,  # noqa: UP031  # another way to format it
        lambda: "" + secret,  # type: ignore[operator]  # what is tried
        lambda: json.dumps(secret),
        lambda: pickle.dumps(secret),
        lambda: copy.copy(secret),
        lambda: copy.deepcopy(secret),
        lambda: vars(secret),
    ]
    for refuse in refusing:
        with pytest.raises(TypeError) as refused:
            refuse()
        assert CANARY not in str(refused.value)
    with pytest.raises(PydanticSerializationError):
        Holder(key=secret).model_dump_json()
    with pytest.raises(ValidationError) as invalid:
        Holder.model_validate({"key": secret, "x": secret} | {"key": 1})
    assert CANARY not in str(invalid.value)


async def test_a_tool_that_returns_it_has_failed(scene: Scene) -> None:
    """A wrapper is no result; what the model reads names the type only."""

    @tool
    async def leak(ctx: Context) -> Any:
        """Returns the wrapper."""
        return {"key": await ctx.reveal(hevy_key)}

    async with scene.process(leak) as p:
        await p.say()
        await enter(p, CANARY)
        assert await p.mistake() == "leak returned a dict that cannot be turned into JSON."


# --------------------------------------------------------------------------- what is said of it


async def test_whatever_the_tool_says_is_scrubbed(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    """Results, exceptions, questions, and log records of it, its threads, tasks and libraries."""
    caplog.set_level(logging.DEBUG)

    def in_thread(key: str) -> None:
        logging.getLogger("httpx2").info("GET %s", f"https://hevy.example/?key={key}", extra={"header": {"key": key}})

    async def in_task(key: str) -> None:
        try:
            raise ValueError(f"bad {key}")
        except ValueError:
            logging.getLogger("other").exception("It failed", stack_info=True)

    @tool
    async def chatty(ctx: Context) -> str:
        """Says it everywhere."""
        revealed = anyio.Event()
        early = asyncio.create_task(late(revealed))  # it was there before there was anything to hide
        key = (await ctx.reveal(hevy_key)).get_secret_value()
        revealed.set()
        await anyio.to_thread.run_sync(in_thread, key)
        await asyncio.create_task(in_task(key))
        await early
        ctx.ask(Say(f"Use {key}?"))
        raise RuntimeError(f"no {key}")

    async def late(revealed: anyio.Event) -> None:
        await revealed.wait()
        logging.getLogger("late").warning(CANARY)

    async with scene.process(chatty) as p:
        await p.say()
        await enter(p, CANARY)
        assert (await p.open()).message == "Use ***?"
        await p.answer("yes")
        assert await p.error() == "chatty failed (RuntimeError)."
        assert CANARY not in await everything(p, scene)
    records = [record for record in caplog.records if record.name in ("httpx2", "other", "late", "yourcall")]
    assert {record.name for record in records} == {"httpx2", "other", "late", "yourcall"}
    shown = caplog.text + "".join(f"{record.__dict__}" for record in records)
    assert CANARY not in shown
    assert "GET https://hevy.example/?key=***" in shown
    assert "RuntimeError: no ***" in shown


async def test_a_check_that_breaks_says_nothing_of_the_value(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    """Neither to the user nor in the log, whatever its exception says; nor of what the body had revealed."""

    @tool
    async def second(ctx: Context) -> str:
        """Checks one key with another."""
        first = (await ctx.reveal(hevy_key)).get_secret_value()

        def check(key: str) -> None:
            raise OSError(f"{first} does not go with {key}")

        return ctx.ask(Secret("second", check=check)).name

    async with scene.process(second) as p:
        await p.say()
        await enter(p, CANARY)
        with pytest.raises(CheckFailed) as refused:
            await enter(p, "second-canary")
        assert "canary" not in str(refused.value)
    assert "OSError: *** does not go with ***" in caplog.text
    assert CANARY not in caplog.text
    assert "second-canary" not in caplog.text


async def test_one_tools_secret_changes_nothing_of_another(scene: Scene) -> None:
    """The values of one execution are its own: beside it, and after it, the same words are left alone."""
    short = Secret("pin")

    @tool
    async def reveals(ctx: Context) -> str:
        """Reveals."""
        await ctx.reveal(short)
        return "12 and 12"

    @tool
    def plain() -> Json:
        """Knows nothing."""
        return ["12", 12]

    steps: Any = [[("reveals", {}, "r"), ("plain", {}, "p")], [("plain", {}, "q")]]
    async with scene.process(reveals, plain, steps=steps) as p:
        await p.say()
        await enter(p, "12")
        assert await p.content("r") == "*** and ***"
        assert await p.content("p") == await p.content("q") == ["12", 12]


async def test_a_reference_is_what_the_tool_gets(scene: Scene) -> None:
    """In every execution, and with its type."""
    got: list[SecretReference] = []

    @tool
    def keeps(ctx: Context) -> str:
        """Asks."""
        got.append(ctx.ask(hevy_key))
        return ctx.ask(Say("Next?"))

    async with scene.process(keeps) as p:
        await p.say()
        await enter(p, CANARY)
        await p.answer("ok")
    assert len(got) >= 2
    assert len(set(got)) == 1
    assert isinstance(got[0], SecretReference)
    assert got[0].name == "hevy"
