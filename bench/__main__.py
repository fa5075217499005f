"""`make bench`: what we cost by ourselves, and with BENCH_DIR in one table with our peers.

BENCH_DIR is a folder with a `compare.py` that runs every peer through the same scenarios, each in a virtual
environment of its own, which is made here. `peer_ours.py` beside this file puts us among them. What is given on the
command line goes to `compare.py`: `make bench BENCH_DIR=... BENCH="--only A,F --rounds 5"`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, TypeAlias

HERE: Final = Path(__file__).resolve().parent
ROOT: Final = HERE.parent
KEPT: Final = ROOT / ".bench"

PEERS: Final = ("langgraph", "strands", "pyai", "oai")
OUR_OWN: Final = ("import_time.py", "pause_cost.py")

Wanted: TypeAlias = list[str | Path]


def main(arguments: Sequence[str]) -> int:
    for script in OUR_OWN:
        subprocess.run([sys.executable, HERE / script], check=True)
    if folder := os.environ.get("BENCH_DIR"):
        return compare(Path(folder).resolve(), arguments)
    print("\nTo compare with peers: make bench BENCH_DIR=/folder/with/compare.py")
    return 0


def compare(folder: Path, arguments: Sequence[str]) -> int:
    """Make the environments, then let the benchmark run and print its tables."""
    locked: Wanted = ["--require-hashes", "-r", ROOT / "requirements" / "bench.txt"]
    ours = environment("ours", locked, editable=True)
    if ours is None or environment("reference", requirements(folder, "reference")) is None:
        return 1
    for peer in PEERS:
        environment(peer, requirements(folder, peer))
    work = KEPT / "work"
    work.mkdir(parents=True, exist_ok=True)
    where: Wanted = ["--venvs", KEPT / "venvs", "--work", work, "--out", KEPT / "results.json"]
    env = os.environ | {"BENCH_OURS": str(HERE / "peer_ours.py"), "BENCH_PY_OURS": str(ours)}
    return subprocess.run([sys.executable, folder / "compare.py", *where, *arguments], env=env, check=False).returncode


def requirements(folder: Path, name: str) -> Wanted:
    return ["-r", folder / "requirements" / f"{name}.txt"]


def environment(name: str, wanted: Wanted, *, editable: bool = False) -> Path | None:
    """The interpreter of an environment with these requirements, made if need be; None if it cannot be made."""
    uv = Path(sys.executable).parent / "uv"
    home = KEPT / "venvs" / name
    python, stamp = home / "bin" / "python", home / "installed"
    asked = "\n".join(part.read_text() if isinstance(part, Path) else part for part in wanted)
    if stamp.exists() and stamp.read_text() == asked:
        return python
    print(f"# environment {name}", file=sys.stderr, flush=True)
    into: Wanted = [uv, "pip", "install", "--quiet", "--python", python]
    steps: list[Wanted] = [
        [uv, "venv", "--quiet", "--clear", "--python", sys.executable, home],
        [*into, *wanted],
    ]
    if editable:
        steps.append([*into, "--no-deps", "--no-build-isolation", "--editable", ROOT])
    if any(subprocess.run(step, check=False).returncode for step in steps):
        print(f"# {name} is left out: its environment cannot be made here", file=sys.stderr)
        return None
    stamp.write_text(asked)
    return python


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
