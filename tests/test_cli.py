"""The command `yourcall`, as a process: what it serves, what it refuses, and how it stops."""

from __future__ import annotations

import os
import re
import socket
import stat
import subprocess
from pathlib import Path

import httpx
import pytest

from tests.serving import COMMAND, DEADLINE, serving
from yourcall.cli import main

ENGINE = """
from pathlib import Path
import anyio
from yourcall import Agent, Engine
from yourcall.ports import Finished, TextDelta

class Slow:
    async def stream(self, request):
        yield TextDelta("It is")
        while not Path("go").exists():
            await anyio.sleep(0.05)
        yield Finished("It is done.")

engine = Engine(Agent(Slow()), store="sqlite:///chat.db")
number = 7
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "app.py").write_text(ENGINE)
    return tmp_path


def test_demo_serves_the_coach_and_keeps_its_data_where_one_sees_it(tmp_path: Path) -> None:
    """One command, and there is a page; all that it keeps is in one folder, the cookie's key for its owner only."""
    with serving("demo", "--data", "kept", cwd=tmp_path) as demo:
        page = httpx.get(demo.url, timeout=DEADLINE)
        assert page.status_code == 200
        assert page.headers["content-type"].startswith("text/html")
        assert httpx.get(demo.url + "readyz", timeout=DEADLINE).status_code == 200
        demo.stop()
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
    assert stat.S_IMODE((tmp_path / "kept" / "cookie-secret").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "kept").stat().st_mode) == 0o700


def test_a_visitor_is_known_after_a_restart(tmp_path: Path) -> None:
    """The cookie of the first start still names the same visitor, whose conversation is still there."""
    with httpx.Client(timeout=DEADLINE) as browser:
        with serving("demo", "--data", "kept", cwd=tmp_path) as demo:
            browser.get(demo.url).raise_for_status()
            browser.post(demo.url + "conversations", json={"id": "c1"}).raise_for_status()
            said = browser.post(demo.url + "conversations/c1/messages", json={"text": "hello"})
            assert said.status_code == 202
            demo.stop()
        with serving("demo", "--data", "kept", cwd=tmp_path) as demo:
            listed = browser.get(demo.url + "conversations").json()["conversations"]
            assert [one["id"] for one in listed] == ["c1"]


def test_serve_finds_an_engine_of_ones_own(home: Path) -> None:
    """`yourcall serve app:engine` in the folder of app.py is all it takes, and the access log keeps no query string."""
    with serving("serve", "app:engine", cwd=home) as app:
        assert httpx.get(app.url + "healthz?code=canary", timeout=DEADLINE).status_code == 200
        printed = app.stop()
    assert "/healthz" in printed
    assert "canary" not in printed


def test_a_stopping_server_lets_readers_go_and_runs_end(home: Path) -> None:
    """SIGTERM ends a stream at once, in good order; the run that it showed is finished and recorded all the same."""
    with httpx.Client(timeout=DEADLINE) as browser, serving("serve", "app:engine", cwd=home) as app:
        browser.get(app.url).raise_for_status()
        browser.post(app.url + "conversations", json={"id": "c1"}).raise_for_status()
        browser.post(app.url + "conversations/c1/messages", json={"text": "Is it?"}).raise_for_status()
        with browser.stream("GET", app.url + "conversations/c1/events") as events:
            lines = events.iter_lines()
            assert any("Is it?" in line for line in lines)
            app.terminate()
            assert not [line for line in lines if "RUN_FINISHED" in line]
        (home / "go").touch()
        printed, _ = app.process.communicate(timeout=DEADLINE)
        assert "Traceback" not in printed
        with serving("serve", "app:engine", cwd=home) as again:
            snapshot = browser.get(again.url + "conversations/c1").json()
    assert snapshot["phase"] == "done"
    assert snapshot["messages"][-1]["content"] == "It is done."


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.com"])
def test_only_this_computer_is_served(host: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A page that knows its users by a cookie only is not for others, and the refusal says what is."""
    assert main(["demo", "--host", host, "--data", str(tmp_path)]) == 2
    assert "user=" in capsys.readouterr().err


def test_a_busy_port_is_said_plainly(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Somebody else listens there: one line, no traceback, and nothing was made."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert main(["demo", "--port", str(port), "--data", str(tmp_path / "kept")]) == 2
    assert f"port {port} is in use" in capsys.readouterr().err
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize("port", ["-1", "65536", "http", "8 0"])
def test_what_is_no_port_is_refused(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A number that no socket has is refused by name."""
    with pytest.raises(SystemExit):
        main(["demo", f"--port={port}"])
    assert "is not a port" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("app", "MODULE:ENGINE"),
        (":engine", "MODULE:ENGINE"),
        ("absent:engine", "no module 'absent'"),
        ("absent.app:engine", "no module 'absent.app'"),
        ("app:other", "is no yourcall.Engine"),
        ("app:number", "is no yourcall.Engine"),
    ],
)
def test_what_is_no_engine_is_refused(home: Path, target: str, reason: str) -> None:
    """Each mistake in naming the engine has its own words."""
    command = [*COMMAND, "serve", target, "--port", "0"]
    done = subprocess.run(command, cwd=home, capture_output=True, text=True, timeout=DEADLINE, check=False)
    assert (done.returncode, reason in done.stderr, "Traceback" in done.stderr) == (2, True, False), done.stderr


def test_a_mistake_in_the_apps_own_code_keeps_its_traceback(tmp_path: Path) -> None:
    """A module that the app imports and that is not there is the app's error: its line is shown."""
    (tmp_path / "app.py").write_text("import not_installed\n")
    command = [*COMMAND, "serve", "app:engine"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=DEADLINE, check=False)
    assert done.returncode == 1
    assert "import not_installed" in done.stderr


def test_a_key_that_was_cut_off_is_not_used(tmp_path: Path) -> None:
    """A crash while the cookie's key was written must not leave a guessable one."""
    (tmp_path / "cookie-secret").write_text("ab")
    command = [*COMMAND, "demo", "--port", "0", "--data", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=DEADLINE, check=False)
    assert done.returncode == 2
    assert "Delete it" in done.stderr


def yourcall(*args: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Run the command to its end, with no keys in its environment but these."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("YOURCALL_")}
    return subprocess.run(
        [*COMMAND, *args], cwd=cwd, env=inherited | env, capture_output=True, text=True, timeout=DEADLINE, check=False
    )


def test_demo_and_serve_have_a_key_file_of_their_own(home: Path) -> None:
    """Made at the first start, readable by its owner only, and kept: what was sealed opens after a restart."""
    for _ in range(2):
        with serving("serve", "app:engine", "--data", "kept", cwd=home) as app:
            httpx.get(app.url + "readyz", timeout=DEADLINE).raise_for_status()
            app.stop()
        assert stat.S_IMODE((home / "kept" / "vault-keys").stat().st_mode) == 0o600
    listed = yourcall("keys", "list", "sqlite:///chat.db", "--key-file", "kept/vault-keys", cwd=home)
    assert re.fullmatch(r"[0-9a-f]{16}  active       1 sealed\n", listed.stdout)
    (home / "kept" / "vault-keys").chmod(0o644)
    refused = yourcall("serve", "app:engine", "--data", "kept", cwd=home)
    assert (refused.returncode, "chmod 600" in refused.stderr) == (2, True)


def test_serve_takes_the_keys_of_its_environment(home: Path) -> None:
    """Then no file is made. A server whose keys are not those of its database does not start, and says which it is."""
    keys = [yourcall("keys", "new", cwd=home).stdout.strip() for _ in range(2)]
    with serving("serve", "app:engine", "--data", "kept", cwd=home, env={"YOURCALL_KEYS": keys[0]}) as app:
        httpx.get(app.url + "readyz", timeout=DEADLINE).raise_for_status()
        app.stop()
    assert not (home / "kept" / "vault-keys").exists()
    refused = yourcall("serve", "app:engine", "--port", "0", cwd=home, YOURCALL_KEYS=keys[1])
    assert refused.returncode != 0
    assert "not here" in refused.stderr
    assert not [key for key in keys if key in refused.stdout + refused.stderr]


def test_keys_are_rotated_while_a_server_is_at_work(home: Path) -> None:
    """`rotate`, then `rewrap`: the old key has sealed nothing any more, and none of them was ever shown."""
    with serving("serve", "app:engine", "--data", "kept", cwd=home) as app:
        httpx.get(app.url + "readyz", timeout=DEADLINE).raise_for_status()
        said = [
            yourcall("keys", *args, "--key-file", "kept/vault-keys", cwd=home)
            for args in (["rotate"], ["rewrap", "sqlite:///chat.db"], ["list", "sqlite:///chat.db"])
        ]
        app.stop()
    assert [one.returncode for one in said] == [0, 0, 0], said
    assert said[1].stdout.startswith("1 wrapped anew")
    new, old = said[2].stdout.splitlines()
    assert re.fullmatch(r"[0-9a-f]{16}  active       1 sealed", new)
    assert re.fullmatch(r"[0-9a-f]{16}               0 sealed", old)
    assert "yck_" not in "".join(one.stdout + one.stderr for one in said)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["rotate"], "Only keys in a file"),
        (["rotate", "--key-file", "none"], "cannot be read"),
        (["rewrap", "sqlite:///none.db"], "no file none.db"),
        (["list", "chat.db"], "Name a store"),
    ],
)
def test_what_cannot_be_done_with_keys_is_said(tmp_path: Path, args: list[str], words: str) -> None:
    """In one line, with a status that tells, and without a file that was not there."""
    done = yourcall("keys", *args, cwd=tmp_path)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
