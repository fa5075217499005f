"""What a commit must not carry: anything of the machine it was made on, or of where packages come from."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SLASH = "/"  # so that this file does not hold what it looks for
PLACES = re.compile(
    rf"(^|[^A-Za-z0-9_.]){SLASH}(work|root|tmp{SLASH}v|home{SLASH}[a-z])({SLASH}|\b)(?!\*)"
    r"|https?:" + SLASH * 2 + r"(files\.|registry\.|pypi\.|[a-z0-9.-]*pythonhosted|[a-z0-9.-]*npmjs)",
    re.MULTILINE,
)
LOCKS = sorted(ROOT.glob("requirements/*.txt"))


def tracked() -> list[Path]:
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [path for name in names.split("\0") if name and (path := ROOT / name).is_file()]


def test_no_file_names_a_machine_or_a_registry() -> None:
    """A clone works anywhere, with whatever mirror its owner uses."""
    found = []
    for path in tracked():
        text = path.read_bytes().decode("utf-8", errors="ignore")
        found += [f"{path.relative_to(ROOT)}: {match.group().strip()!r}" for match in PLACES.finditer(text)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_locked_packages_are_pinned_and_hashed(lock: Path) -> None:
    """What is installed is what was tested, byte for byte, wherever it was downloaded from."""
    text = lock.read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    assert lines
    for line in lines:
        assert re.match(r"[a-z0-9.-]+==[^ ]+ .*--hash=sha256:[0-9a-f]{64}", line), line


def pins(lock: Path) -> dict[str, str]:
    found = re.findall(r"^([a-z0-9.-]+)==([^ ]+)", lock.read_text(), re.MULTILINE)
    return dict(found)


@pytest.mark.parametrize("lock", [path for path in LOCKS if path.name != "uv.txt"], ids=lambda path: path.name)
def test_what_is_tested_is_what_the_demo_runs(lock: Path) -> None:
    """Each lock file that adds to the demo's has the demo's versions."""
    added = pins(lock)
    assert {name: added.get(name) for name in pins(ROOT / "requirements" / "demo.txt")}.items() <= added.items()


def test_the_demo_lock_covers_the_project() -> None:
    """A dependency that is added to pyproject.toml is locked in the same commit."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["web"]]
    assert {re.split(r"[<>=!~\[ ;]", line)[0] for line in wanted} <= set(pins(ROOT / "requirements" / "demo.txt"))


def test_npm_lock_has_no_addresses() -> None:
    """npm takes packages from the registry it is set up with; integrity hashes say which they are."""
    lock = json.loads((ROOT / "package-lock.json").read_text())
    packages = {name: package for name, package in lock["packages"].items() if name}
    assert packages
    assert not [name for name, package in packages.items() if "resolved" in package or "integrity" not in package]


SKIPPING = """
import pytest

@pytest.mark.skip(reason="slow")
def test_marked(): ...

def test_in_its_body():
    pytest.skip("not here")

def test_that_passes(): ...
"""


def test_a_skipped_test_fails(tmp_path: Path) -> None:
    """However a test is skipped, one by one or with its whole module, the run is red and says which it was."""
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path)
    (tmp_path / "test_some.py").write_text(SKIPPING)
    (tmp_path / "test_module.py").write_text("import pytest\npytest.importorskip('not_installed')\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--continue-on-collection-errors"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "1 failed, 1 passed, 2 errors in" in done.stdout  # a mark is an error of the setup
    assert "slow" in done.stdout
