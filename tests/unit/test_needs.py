"""Mistakes in an app: its developer learns of them where they are made, and its users are not troubled with them."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from tests.scene import Say, Scene
from yourcall import (
    Agent,
    Ask,
    Choose,
    Connect,
    Context,
    Engine,
    Form,
    OAuthProvider,
    ProgrammingError,
    Secret,
    Upload,
    Visit,
    tool,
)
from yourcall.entries import Asked, Result
from yourcall.errors import StoreBusy
from yourcall.log import Done, transcript
from yourcall.store.postgres import PostgresStore
from yourcall.store.sqlite import SQLiteStore
from yourcall.testing import ScriptedModel
from yourcall.vault.keyring import new_key

pytestmark = pytest.mark.anyio


class Note(BaseModel):
    text: str


class Elsewhere:
    """A store of which nobody knows a folder beside it."""

    def __init__(self, store: SQLiteStore) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


GOOGLE = OAuthProvider("google", issuer="https://accounts.example", client_id="us")
ASKS: dict[str, tuple[Ask[Any], str]] = {
    "upload": (Upload([".pdf"]), "blobs="),
    "attachments": (Form(Note, attachments=True), "blobs="),
    "visit": (Visit("https://shop.example/pay", "Pay"), "public_url="),
    "connect": (Connect(GOOGLE), "public_url="),
    "secret": (Secret("hevy"), "YOURCALL_KEYS"),
}


@pytest.mark.parametrize("kind", ASKS)
async def test_nobody_is_asked_what_could_not_be_answered(
    tmp_path: Path, kind: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The call fails at its ask, and the log names what to set; neither the model nor the user reads of settings."""
    asked, setting = ASKS[kind]
    if kind == "secret":
        monkeypatch.delenv("YOURCALL_KEYS", raising=False)
    else:
        monkeypatch.setenv("YOURCALL_KEYS", new_key())

    @tool
    def want(ctx: Context) -> str:
        return str(ctx.ask(asked))

    store: Any = Elsewhere(SQLiteStore(str(tmp_path / "chat.db")))
    async with Engine(Agent(ScriptedModel([[("want", {})], "Done."]), tools=[want]), store) as engine:
        chat = engine.conversation("c", user="ada")
        async for _ in chat.say("go"):
            pass
        log, phase = await chat.snapshot()
    assert phase == Done()
    assert not [entry for entry in log.entries if isinstance(entry.body, Asked)]
    told = transcript(log)[2].text
    assert "does not work" in told
    assert setting not in told
    (record,) = caplog.records
    assert setting in record.getMessage()


async def test_a_mistake_in_a_tool_is_its_developer_s_to_read(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    """The log has it with its traceback; the model and the user read that the tool does not work, and not why."""

    @tool
    def seats(ctx: Context) -> str:
        return ctx.ask(Choose(["1A", "1A"], title="Which seat?"))

    async with scene.process(seats) as p:
        assert await p.say() == Done()
        assert "tell them apart" in await p.mistake()
        assert "tell" not in (await p.bodies(Result))[0].text
    (record,) = [one for one in caplog.records if one.levelno == logging.ERROR]
    assert record.exc_info is not None
    assert "test_needs.py" in str(record.exc_text or logging.Formatter().formatException(record.exc_info))


async def test_what_a_model_wrote_too_long_to_be_approved_is_the_model_s_to_mend(scene: Scene) -> None:
    """It reads the limit, and can write less; nothing is wrong with the app."""

    @tool(confirm=True)
    def send(text: str) -> str:
        return "sent"

    async with scene.process(send, steps=[[("send", {"text": "long " * 20_000})], [("send", {"text": "short"})]]) as p:
        await p.say()
        assert "can be shown" in await p.error()
        assert not p.mistakes
        assert (await p.open()).kind == "confirm"


@pytest.mark.parametrize("how", ["ask", "interrupt"])
async def test_an_ask_that_is_awaited_fails_before_anybody_is_asked(scene: Scene, how: str) -> None:
    """Not after the answer, which would be lost."""

    @tool
    async def wrong(ctx: Context) -> Any:
        if how == "ask":
            return await ctx.ask(Say("Which?"))  # type: ignore[arg-type]  # a type checker says so as well
        return await ctx.interrupt("which", {"of": [1, 2]})

    async with scene.process(wrong) as p:
        assert await p.say() == Done()
        assert f"ctx.{how} is not awaited" in await p.mistake()
        assert not await p.bodies(Asked)


async def test_what_is_awaited_beside_an_ask_is_nobody_s_mistake(scene: Scene) -> None:
    """Its answer may go straight into something that is."""

    async def joined(*words: str) -> str:
        return " ".join(words)

    @tool
    async def right(ctx: Context) -> str:
        return await joined(ctx.ask(Say("First?")), await ctx.once("seen", str.upper, "x"), ctx.ask(Say("Second?")))

    async with scene.process(right) as p:
        await p.say()
        await p.answer("a")
        await p.answer("b")
        assert await p.content() == "a X b"


@pytest.mark.parametrize(
    ("library", "opened", "extra"),
    [
        ("psycopg", "open_store('postgresql://ada:s3cret@db/chat')", "postgres"),
        ("psycopg_pool", "open_store('postgresql://ada:s3cret@db/chat')", "postgres"),
        ("redis", "open_bus('redis://:s3cret@cache')", "redis"),
        ("authlib", "open_accounts(None)", "web"),
    ],
)
def test_a_missing_driver_names_its_extra(library: str, opened: str, extra: str) -> None:
    """In a process without it, what needs it says how to get it."""
    code = f"import sys; sys.modules[{library!r}] = None; from yourcall.open import *; {opened}"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    last = ran.stderr.strip().splitlines()[-1]
    assert last.startswith("yourcall.errors.ProgrammingError")
    assert f'pip install "yourcall[{extra}]"' in last
    assert "s3cret" not in ran.stderr.replace(opened, "")


async def test_a_database_that_is_away_is_named_without_its_password(
    free_port: Callable[[], int], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Whoever starts the app reads which one, and where to look further."""
    monkeypatch.setattr("yourcall.store.postgres_pool.PATIENCE", 0.5)
    port = free_port()
    with pytest.raises(StoreBusy, match=f"'chat' at 127.0.0.1, port {port}, could not be reached") as away:
        await PostgresStore(f"postgresql://ada:s3cret@127.0.0.1:{port}/chat").open()
    assert "s3cret" not in str(away.value)
    assert any(record.name == "psycopg.pool" for record in caplog.records)
    assert "s3cret" not in caplog.text


def test_a_secret_and_a_provider_do_not_share_a_name() -> None:
    """One would be taken for the other in the vault, where a name stands for one thing."""

    @tool(when=Secret("google"))
    def one() -> str:
        return ""

    @tool(when=GOOGLE)
    def other() -> str:
        return ""

    with pytest.raises(ProgrammingError, match="both called google"):
        Agent(ScriptedModel(), tools=[one, other])
