"""Cases Q2 and Q3: what is pending is plain JSON, and what cannot be is refused before anybody sees it."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from tests.scene import Say, Scene
from yourcall import Ask, Context, Form, ask_user, tool
from yourcall.agui import interrupts
from yourcall.entries import Asked, Entry, Json, dump, load
from yourcall.log import Done

pytestmark = pytest.mark.anyio


class Profile(BaseModel):
    name: str
    born: datetime | None = None


@tool
def profile(ctx: Context) -> Json:
    """Ask with a form."""
    return ctx.ask(Form(Profile, title="Who are you?"))


@tool
def raw(ctx: Context) -> Json:
    """Ask with the raw primitive."""
    return ctx.interrupt("release", {"versions": ("1.0", None, 2.5), "of": {"a": True}})


@tool
def own(ctx: Context) -> str:
    """Ask with an ask of the app's own, whose schema is kept beside it."""
    return ctx.ask(Say("Which?", "a", "b"))


QUESTIONS = {"questions": [{"prompt": "Run?", "options": [{"label": "yes"}, {"label": "no"}]}]}


async def test_Q2_whatever_is_pending_is_json(tmp_path: Path) -> None:
    """Every open question and every event goes through JSON unchanged: structures, not the text of objects."""
    steps = [[("ask_user", QUESTIONS), ("profile", {}), ("raw", {}), ("own", {})]]
    async with Scene(tmp_path).process(ask_user, profile, raw, own, steps=steps) as process:
        await process.chat.post("go")
        live = [event async for event in process.chat.events(0) if isinstance(event, Entry)]
        assert [load(entry.seq, entry.at, entry.kind, dump(entry)) for entry in live] == live
        pending = await process.chat.interrupts()
        assert [interrupt.kind for interrupt in pending] == ["questions", "form", "interrupt", "say"]
        assert pending[2].ask == {"name": "release", "reason": {"versions": ["1.0", None, 2.5], "of": {"a": True}}}
        assert pending[3].schema == {"type": "string", "description": "", "enum": ["a", "b"]}
        for interrupt in pending:
            assert json.loads(json.dumps(asdict(interrupt), allow_nan=False)) == asdict(interrupt)
            assert isinstance(interrupt.ask, dict)
        for entry in (await process.chat.log()).entries:
            assert load(entry.seq, entry.at, entry.kind, dump(entry)) == entry
        wire = interrupts(await process.chat.log())
        assert json.loads(json.dumps(wire, allow_nan=False)) == wire
        assert " object at 0x" not in json.dumps(wire)


class Client:
    """What a developer holds in their hand when they ask."""

    def __repr__(self) -> str:
        return "<Client key=canary>"


class Careless(Ask[str]):
    """An ask whose payload has what no page can show."""

    kind = "careless"

    def __init__(self, payload: Any) -> None:
        self._payload = payload

    def payload(self) -> Json:
        return self._payload

    def schema(self) -> Json:
        return {}

    def identity(self) -> Json:
        return []

    def parse(self, answer: Json) -> str:
        return str(answer)


BAD: dict[str, tuple[Any, str]] = {
    "client": ({"user": {"clients": [1, Client()]}}, "user.clients[1]"),
    "date": ({"at": datetime(2026, 1, 1, tzinfo=UTC)}, "at"),
    "nan": ([1, float("nan")], "[1]"),
    "set": ({"tags": {"a"}}, "tags"),
    "bytes": (b"x", ""),
    "key": ({"a": {1: 2}}, "a"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("kind", ["interrupt", "careless"])
async def test_Q3_a_member_that_is_no_json_is_named_before_anybody_is_asked(
    tmp_path: Path, name: str, kind: str
) -> None:
    """The developer reads which field it is; nothing is recorded as asked, and the value is told to nobody."""
    payload, field = BAD[name]

    @tool
    def ask(ctx: Context) -> Any:
        """Ask something that cannot be shown."""
        return ctx.ask(Careless(payload)) if kind == "careless" else ctx.interrupt("x", payload)

    async with Scene(tmp_path).process(ask) as process:
        assert isinstance(await process.say(), Done)
        assert not await process.bodies(Asked)
        text = await process.mistake()
        assert "cannot be stored" in text
        assert "canary" not in text
        path = text.partition(":")[0].removeprefix(kind).removeprefix(".reason").lstrip(".")
        assert path == field


async def test_Q3_a_model_is_not_called_for_what_it_did_not_do(tmp_path: Path) -> None:
    """The call fails like any other, and the conversation goes on."""

    @tool
    def ask(ctx: Context) -> Any:
        """Ask something that cannot be shown."""
        return ctx.interrupt("x", {"client": Client()})

    async with Scene(tmp_path).process(ask) as process:
        await process.say()
        assert (await process.result()).status == "failed"
        assert all(isinstance(entry, Entry) for entry in (await process.chat.log()).entries)
        assert isinstance(await process.say("And now?"), Done)
