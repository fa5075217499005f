"""Group H: a conversation that is shortened for the model stays one that a provider takes, and loses no question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.models.checker import check
from tests.models.player import messages, player, responses
from tests.models.speaking import PROVIDERS
from tests.scene import Say, Scene
from yourcall import Context, ProgrammingError, tool
from yourcall.entries import Call
from yourcall.log import AssistantMessage, Done, ToolMessage, Transcript, UserMessage, Waiting
from yourcall.ports import Finished, ModelRequest
from yourcall.trim import TakenStep, Unit, recent, trimmed

pytestmark = pytest.mark.anyio


@tool
def ask(ctx: Context) -> str:
    """Ask the user."""
    return ctx.ask(Say("Which one?"))


@tool
def look() -> str:
    """Look around."""
    return "nothing"


def nothing(units: Sequence[Unit]) -> Sequence[Unit]:
    return []


def shape(transcript: Transcript) -> list[str]:
    """One word a message: what it says, or whose result it is."""
    words = {UserMessage: "text", AssistantMessage: "text", ToolMessage: "call_id"}
    return [str(getattr(message, words[type(message)])) for message in transcript]


CUTS = {f"the last {n}": recent(n) for n in range(1, 5)} | {"nothing": nothing}


@pytest.mark.parametrize("cut", CUTS)
async def test_H1_a_cut_parts_no_call_from_its_result(scene: Scene, cut: str) -> None:
    """Wherever the cut falls, before, at or inside the pending batch: its calls keep their results, the answer too."""
    steps: list[Any] = ["one", "two", [("ask", {}, "a"), ("look", {}, "b")], "three"]
    async with scene.process(ask, look, steps=steps, trim=CUTS[cut]) as p:
        await p.say("first")
        await p.say("second")
        assert isinstance(await p.say("third"), Waiting)
        assert await p.answer("this one") == Done()
        request = p.model.requests[-1].transcript
        assert shape(request)[-3:] == ["", "a", "b"]
        assert [m.text for m in request if isinstance(m, ToolMessage)] == ["this one", "nothing"]
        assert isinstance(request[0], UserMessage)
        assert shape(request)[-4] == "third"
        assert len(await p.transcript()) == 9  # the log has it all


async def test_H2_an_open_question_survives(scene: Scene) -> None:
    """It is not of the model's view, so no cut reaches it: the same id in another process, and its answer counts."""
    async with scene.process(ask, look, steps=[[("ask", {}, "a")]], trim=nothing) as p:
        await p.say("go")
        before = await p.open()
    async with scene.process(ask, look, trim=nothing) as p:
        assert await p.open() == before
        assert await p.answer("this one") == Done()
        assert shape(p.model.requests[-1].transcript) == ["go", "", "a"]


async def test_H2_a_message_that_closes_the_question_is_read(scene: Scene) -> None:
    """What the user wrote instead of an answer is sent with the results of what it closed, whatever is cut."""
    async with scene.process(ask, look, steps=[[("ask", {}, "a"), ("look", {}, "b")], "Fine."], trim=nothing) as p:
        await p.say("go")
        await p.say("never mind")
        assert shape(p.model.requests[-1].transcript) == ["go", "", "a", "b", "never mind"]


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("name", ["anthropic", "openai-responses"])
async def test_H4_reasoning_goes_with_its_call(name: str, keep: bool) -> None:
    """A step that was superseded is kept with its reasoning, or dropped with it, on the wire of a real provider."""
    sealed = {
        "anthropic": messages(
            [
                {"type": "thinking", "thinking": "Ask.", "signature": "sealed"},
                {"type": "tool_use", "id": "a", "name": "ask", "input": {}},
            ]
        ),
        "openai-responses": responses(
            [
                {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "sealed"},
                {"type": "function_call", "id": "fc", "call_id": "a", "name": "ask", "arguments": "{}"},
            ]
        ),
    }[name]
    make, encode = PROVIDERS[name]
    with player([sealed, encode("Fine.", []), encode("Bye.", [])]) as server:
        model = make(server)
        first = [event async for event in model.stream(ModelRequest((UserMessage("go"),)))][-1]
        assert isinstance(first, Finished)
        step = AssistantMessage("", first.calls, first.blob)
        superseded = ToolMessage("a", "ask", "The user wrote something else.", "superseded")
        said: Transcript = (UserMessage("go"), step, superseded, UserMessage("never mind"))
        second = [event async for event in model.stream(ModelRequest(said))][-1]
        assert isinstance(second, Finished)
        said = (*said, AssistantMessage("Fine.", (), second.blob), UserMessage("bye"))
        cut = trimmed(said, recent(3 if keep else 2))
        [event async for event in model.stream(ModelRequest(cut))]
    body = server.requests[-1]
    assert check(body) == int(keep)
    assert ("sealed" in str(body)) is keep
    assert ("'ask'" in str(body.get("messages", body.get("input")))) is keep


# --------------------------------------------------------------------------- the function itself


def conversation(sizes: Sequence[int]) -> Transcript:
    """A message of the user for every -1; a step of so many calls for every other number."""
    made: list[Any] = []
    for at, size in enumerate(sizes):
        if size < 0:
            made.append(UserMessage(f"u{at}"))
            continue
        calls = tuple(Call(f"c{at}.{n}", "t") for n in range(size))
        made.append(AssistantMessage(f"s{at}", calls, {"blob": at}))
        made += [ToolMessage(call.id, "t", "r") for call in calls]
    return tuple(made)


@given(st.lists(st.integers(-1, 3), max_size=8), st.sets(st.integers(0, 8)))
def test_whatever_is_chosen_is_well_formed(sizes: list[int], places: set[int]) -> None:
    """Units stay whole and in order, a user's message is first where there is one, and the unread is there."""
    whole = conversation([-1, *sizes])
    cut = trimmed(whole, lambda units: [unit for at, unit in enumerate(units) if at in places])
    assert [message for message in whole if message in cut] == list(cut)
    assert cut[0] in whole
    assert isinstance(cut[0], UserMessage)
    steps = [at for at, message in enumerate(whole) if isinstance(message, AssistantMessage)]
    unread = whole[steps[-1] :] if steps else whole
    assert cut[-len(unread) :] == unread
    body = {"messages": [_chat(message) for message in cut]}
    check(body)


def _chat(message: Any) -> dict[str, Any]:
    match message:
        case UserMessage(text):
            return {"role": "user", "content": text}
        case ToolMessage(call_id):
            return {"role": "tool", "tool_call_id": call_id}
        case _:
            return {"role": "assistant", "content": "", "tool_calls": [{"id": call.id} for call in message.calls]}


def test_a_summary_may_take_the_place_of_what_is_cut() -> None:
    """A message of the app's own is sent where it was put; a step of its own is the app's mistake."""
    whole = conversation([-1, 1, -1, 2, -1])
    cut = trimmed(whole, lambda units: [UserMessage("earlier: u0"), *units[2:]])
    assert shape(cut) == ["earlier: u0", "u2", "s3", "c3.0", "c3.1", "u4"]
    with pytest.raises(ProgrammingError, match="made a step"):
        trimmed(whole, lambda units: [TakenStep(AssistantMessage("I"))])


def test_without_a_trim_all_is_sent() -> None:
    """The default is the whole conversation."""
    whole = conversation([-1, 2, -1])
    assert trimmed(whole, None) is whole
    assert trimmed(whole, recent(9)) == whole
