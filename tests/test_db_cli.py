"""The commands `yourcall db ...`, on both stores: what they say, what they change, and what they leave alone."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import psycopg
import pytest

from tests import hostile
from tests.postgres import Postgres
from tests.unit.test_upload import sent
from yourcall import Agent, Context, Engine, Secret, ask_user, tool
from yourcall.cli import main
from yourcall.errors import SealBroken
from yourcall.ports import Slot
from yourcall.testing import ScriptedModel
from yourcall.upload import Rules
from yourcall.vault import new_key

QUESTION = {"prompt": "Which?", "header": "Which", "options": [{"label": "This"}, {"label": "That"}]}
ASK = [("ask_user", {"questions": [QUESTION]})]
YEAR = 365 * 86_400


@tool
def hevy_key(ctx: Context) -> str:
    """Ask for a key."""
    ctx.ask(Secret("hevy", title="Hevy API key"))
    return "It is kept."


@dataclass(frozen=True)
class Place:
    """A store by its name, what is in its tables, and where its files are."""

    name: str
    files: Path

    def do(self, statement: str) -> list[Any]:
        """Behind the back of the library."""
        if self.name.startswith("sqlite:///"):
            with closing(sqlite3.connect(self.name.removeprefix("sqlite:///"), isolation_level=None)) as file:
                return file.execute(statement).fetchall()
        with psycopg.connect(self.name) as db:
            cursor = db.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def engine(self, steps: Sequence[Any] = ()) -> Engine[None]:
        agent = Agent[None](ScriptedModel(steps), tools=[ask_user, hevy_key])
        return Engine(agent, self.name, blobs=str(self.files))

    def conversations(self) -> set[str]:
        return {id for (id,) in self.do("SELECT id FROM conversation")}


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """An empty store, and keys for its vault."""
    monkeypatch.setenv("YOURCALL_KEYS", new_key())
    if request.param == "sqlite":
        (tmp_path / "chat.db").touch()
        return Place(f"sqlite:///{tmp_path}/chat.db", tmp_path / "files")
    server: Postgres = request.getfixturevalue("postgres_server")
    return Place(server.empty(), tmp_path / "files")


async def _fill(place: Place) -> None:
    """`secret` and `file` are over, with what they kept; `open` waits."""
    async with place.engine([[("hevy_key", {})], "Thanks.", "Read.", ASK]) as engine:
        secret, file, waits = (engine.conversation(id, user="ada") for id in ("secret", "file", "open"))
        async for _ in secret.say("Connect"):
            pass
        [question] = await secret.interrupts()
        await secret.answer_secret(question.id, "hunter2hunter2")
        async for _ in secret.events(after=0):
            pass
        photo, _ = await engine.files.receive("ada", sent("a.png", hostile.image()), Rules(["image/*"]))
        async for _ in file.say("Look", files=[photo.id]):
            pass
        async for _ in waits.say("Ask me"):
            pass


@pytest.fixture
def filled(place: Place) -> Place:
    anyio.run(_fill, place)
    return place


# --------------------------------------------------------------------------- upgrade


def test_upgrade_says_from_and_to(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    """A new store gets the schema of this release, and one that has it stays as it is."""
    assert main(["db", "upgrade", place.name]) == 0
    assert "it was of version 0" in capsys.readouterr().out
    assert main(["db", "upgrade", place.name]) == 0
    assert "already" in capsys.readouterr().out


@pytest.mark.parametrize("command", [["check"], ["prune", "--days", "1", "--yes"]], ids=["check", "prune"])
def test_only_upgrade_changes_a_schema(place: Place, capsys: pytest.CaptureFixture[str], command: list[str]) -> None:
    """Servers of an older release may be at work: whoever only looks does not leave them a schema that they refuse."""
    assert main(["db", command[0], place.name, *command[1:]]) == 2
    assert "yourcall db upgrade" in capsys.readouterr().err
    main(["db", "upgrade", place.name])
    assert "it was of version 0" in capsys.readouterr().out


def test_a_mistyped_name_makes_no_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is upgraded that was not there."""
    assert main(["db", "upgrade", f"sqlite:///{tmp_path}/caht.db"]) == 2
    assert "There is no file" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


# --------------------------------------------------------------------------- check


def test_check_of_what_is_in_order(filled: Place, capsys: pytest.CaptureFixture[str]) -> None:
    """What the library wrote by itself is in order: logs, rows, index and seals."""
    assert main(["db", "check", filled.name]) == 0
    assert capsys.readouterr().out == "3 conversations and 2 sealed values: nothing wrong.\n"


SPOILED = {
    "an entry is gone": (
        "DELETE FROM entry WHERE seq = 2 AND conversation = (SELECT key FROM conversation WHERE id = 'secret')",
        "'secret' of 'ada': its log ends at",
    ),
    "a body is cut off": ("UPDATE entry SET body = '{' WHERE kind = 'result'", "'secret' of 'ada': it cannot be read"),
    "a result is of another call": (
        "UPDATE entry SET body = replace(body, 'call_1_1', 'other') WHERE kind = 'result'",
        "is of other, which nobody called",
    ),
    "a call has no result": (
        "UPDATE entry SET kind = 'began', ref = NULL, body = '{\"v\":1,\"calls\":[]}' WHERE kind = 'result'",
        "came before the result of call_1_1",
    ),
    "a question was never asked": (
        "UPDATE entry SET kind = 'began', ref = NULL, body = '{\"v\":1,\"calls\":[]}' WHERE kind = 'asked'",
        "never asked",
    ),
    "a row says that something runs": (
        "UPDATE conversation SET phase = 'run' WHERE id = 'file'",
        "'file' of 'ada': its row says",
    ),
    "a row has another limit": ("UPDATE conversation SET expires_at = 1 WHERE id = 'open'", "its row says"),
    "an answered question is in the inbox": (
        "UPDATE interrupt SET ended = NULL WHERE ended IS NOT NULL",
        "'secret' of 'ada': the index",
    ),
    "an open question is not": ("UPDATE interrupt SET ended = 9 WHERE ended IS NULL", "'open' of 'ada': the index"),
    "a question is in another's inbox": (
        "UPDATE interrupt SET owner = 'bob' WHERE ended IS NULL",
        "'open' of 'ada': the index",
    ),
    "a secret is another's": ("UPDATE sealed SET owner = 'bob' WHERE name = 'hevy'", "'hevy' of 'bob'"),
}


@pytest.mark.parametrize(("statement", "said"), SPOILED.values(), ids=SPOILED)
def test_check_says_what_is_wrong(filled: Place, capsys: pytest.CaptureFixture[str], statement: str, said: str) -> None:
    """Each kind of damage has a line that says where it is; the status is 1, and no value is shown."""
    filled.do(statement)
    assert main(["db", "check", filled.name]) == 1
    out = capsys.readouterr().out
    assert said in out
    assert "nothing wrong" not in out
    assert "hunter2" not in out


def test_check_without_the_keys(
    filled: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who has no keys may check the logs; that the seals were not tried is said."""
    monkeypatch.setenv("YOURCALL_KEYS", new_key())
    assert main(["db", "check", filled.name]) == 0
    assert "2 sealed values were not tried" in capsys.readouterr().out


# --------------------------------------------------------------------------- prune


async def _secret_opens(place: Place) -> bool:
    async with place.engine() as engine:
        try:
            return await engine.vault.open(Slot("ada", "hevy")) is not None
        except SealBroken:
            return False


APP = """
from yourcall import Agent, Engine
from yourcall.testing import ScriptedModel
engine = Engine(Agent(ScriptedModel()), {name!r}, blobs={files!r})
"""


def test_prune_removes_what_is_over_with_its_files(
    filled: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is over and untouched goes, with its files; an open question, what was touched, and secrets stay.

    Without `--yes` it is only counted. The store is named by its engine, which knows where the files are.
    """
    module = "app_" + filled.name.partition(":")[0]
    (tmp_path / f"{module}.py").write_text(APP.format(name=filled.name, files=str(filled.files)))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    command = ["db", "prune", f"{module}:engine", "--days", "90"]
    assert main([*command, "--yes"]) == 0
    assert filled.conversations() == {"secret", "file", "open"}, "all were touched a moment ago"

    filled.do(f"UPDATE conversation SET updated_at = updated_at - {YEAR}")
    capsys.readouterr()
    assert main(command) == 0
    assert capsys.readouterr().out.startswith("2 conversations are over")
    assert filled.conversations() == {"secret", "file", "open"}
    [kept] = [path for path in filled.files.rglob("*") if path.is_file()]

    assert main([*command, "--yes"]) == 0
    assert capsys.readouterr().out.startswith("2 conversations removed")
    assert filled.conversations() == {"open"}
    assert not kept.exists()
    assert filled.do("SELECT id FROM file") == []
    assert anyio.run(_secret_opens, filled)


def test_prune_leaves_a_stopped_conversation_whose_question_is_open(filled: Place) -> None:
    """However long ago it stopped, its user may still answer."""
    filled.do(f"UPDATE conversation SET updated_at = updated_at - {YEAR}, phase = 'done'")
    assert main(["db", "prune", filled.name, "--days", "1", "--yes"]) == 0
    assert filled.conversations() == {"open"}


@pytest.mark.parametrize("days", ["0", "-1", "nan", "soon"])
def test_prune_takes_no_days_that_mean_all(place: Place, days: str) -> None:
    """A slip does not remove everything."""
    with pytest.raises(SystemExit):
        main(["db", "prune", place.name, f"--days={days}", "--yes"])
