"""What is installed from the wheel is all that is needed: the demo runs from it, without a clone."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import httpx
import pytest

from tests.serving import DEADLINE, serving

ROOT = Path(__file__).parents[1]
BUILD = "import hatchling.build, sys; print(hatchling.build.build_wheel(sys.argv[1]))"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-c", BUILD, str(folder)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return folder / built.stdout.split()[-1]


def test_the_wheel_holds_what_is_read_at_run_time(wheel: Path) -> None:
    """Cards, SQL and the marker of typing are data: nothing imports them, so only this test would miss them."""
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
    package = ROOT / "src" / "yourcall"
    data = [path for path in package.rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc")]
    assert {path.suffix for path in data} >= {".js", ".css", ".sql", ".typed"}
    assert {path.relative_to(package.parent).as_posix() for path in data} <= held
    assert "yourcall_examples/coach/__init__.py" in held


def test_the_demo_runs_from_the_wheel(wheel: Path, tmp_path: Path) -> None:
    """`pip install 'yourcall[web]'` and `yourcall demo` in an empty folder: the coach answers."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    empty = tmp_path / "empty"
    empty.mkdir()
    env = {"PYTHONPATH": str(tmp_path / "installed")}
    which = [sys.executable, "-c", "import yourcall; print(yourcall.__file__)"]
    found = subprocess.run(which, cwd=empty, env=os.environ | env, capture_output=True, text=True, check=True)
    assert found.stdout.startswith(str(tmp_path)), "the clone would be tested, not the wheel"
    with serving("demo", cwd=empty, env=env) as demo:
        assert httpx.get(demo.url, timeout=DEADLINE).status_code == 200
