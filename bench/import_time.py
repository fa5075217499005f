"""How long `import yourcall` takes, beside what it cannot do without.

Every measurement is a fresh process; the two alternate, so that a slow moment of the machine hits both.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from typing import Final

ROUNDS: Final = 15
NEEDED: Final = "from pydantic import BaseModel, create_model; import anyio, asyncio, sqlite3"
OURS: Final = "from yourcall import Agent, Context, Engine, ask_user, tool"
TIMED: Final = "import time; t = time.perf_counter(); {}; print(time.perf_counter() - t)"


def seconds(statement: str) -> float:
    code = TIMED.format(statement)
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


def main() -> None:
    seconds(OURS)  # compiles what was never imported before
    pairs = [(seconds(NEEDED), seconds(OURS)) for _ in range(ROUNDS)]
    needed, ours = (statistics.median(times) * 1e3 for times in zip(*pairs, strict=True))
    ratio = statistics.median(ours / needed for needed, ours in pairs)
    print(f"{NEEDED}: {needed:.0f} ms\n{OURS}: {ours:.0f} ms, x {ratio:.2f}")


if __name__ == "__main__":
    main()
