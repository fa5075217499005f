"""F7: what a server does to its disk before it answers, as strace sees it, and what it says when a sync fails.

Each of the four things that a user does to a conversation is done to a waiting one. By the trace, its own words are
written to the file, a sync that began afterwards succeeds, and only then its response goes out.
"""

from __future__ import annotations

import random
import re
import subprocess
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.faults.checker import Facts
from tests.faults.load import Client
from tests.faults.report import Outcome
from tests.faults.servers import Server, replicas
from yourcall.entries import Json

CALLS: Final = "trace=pwrite64,fdatasync,fsync,write,sendto"
FAILS: Final = "inject=fdatasync,fsync:error=EIO"


@dataclass(frozen=True)
class Deed:
    """What a user does: its path, its body, and words that stand in the entries that come of it."""

    name: str
    path: str
    body: Json
    words: str


def deeds(conversation: str, question: str) -> list[Deed]:
    """One of each kind; of one conversation only one can be done."""
    return [
        Deed("say", f"/conversations/{conversation}/messages", {"id": "said", "text": "said-by-me: "}, "said-by-me"),
        Deed("answer", f"/interrupts/{question}/answer", {"number": 918273645}, "918273645"),
        Deed("skip", f"/interrupts/{question}/skip", {"note": "no-thank-you"}, "no-thank-you"),
        Deed("cancel", f"/conversations/{conversation}/cancel", None, "the user cancelled the run"),
    ]


async def sync_before_each_answer(count: int, folder: Path, outcome: Outcome) -> None:
    """Do each, so many times, under a trace."""
    async with _served(folder) as (server, ada):
        for n in range(count):
            for which in range(4):
                conversation = f"c{n}-{which}"
                deed = deeds(conversation, await _asked(ada, conversation))[which]
                trace = folder / f"trace-{n}-{which}"
                with traced(server, trace, CALLS):
                    response = await ada.http.post(server.url + deed.path, json=deed.body)
                outcome.count += 1
                if response.status_code not in (200, 202):
                    outcome.violations.append(f"{deed.name}: {response.status_code} {response.text}")
                outcome.violations += [f"{deed.name}: {text}" for text in unsynced(trace.read_text(), deed.words)]


async def fail_each_sync(count: int, folder: Path, outcome: Outcome) -> None:
    """Do each, so many times, while no sync succeeds; then kill the server, and see what its successor knows."""
    async with _served(folder) as (server, ada):
        for n in range(count):
            for which in range(4):
                conversation = f"c{n}-{which}"
                question = await _asked(ada, conversation)
                deed = deeds(conversation, question)[which]
                with traced(server, folder / f"trace-{n}-{which}", CALLS, FAILS):
                    response = await ada.http.post(server.url + deed.path, json=deed.body)
                outcome.count += 1
                if response.status_code != 503 or "retry-after" not in response.headers:
                    outcome.violations.append(f"{deed.name}: a failed sync is answered with {response.status_code}")
                await server.kill()
                await server.start()
                if await ada.open(conversation) != [question]:
                    outcome.violations.append(f"{deed.name}: the question is not open any more")
                again = await ada.http.post(server.url + deed.path, json=deed.body)
                if again.status_code not in (200, 202):
                    outcome.violations.append(f"{deed.name}: sent again, it is answered with {again.status_code}")


@asynccontextmanager
async def _served(folder: Path) -> AsyncIterator[tuple[Server, Client]]:
    """A server that writes nothing but what is asked of it, and its user."""
    with replicas(1, f"sqlite:///{folder}/chat.db", folder, sweep=3600.0) as [server]:
        await server.start()
        async with Client("ada", [server.url], Facts(), random.Random(1)).opened() as ada:
            yield server, ada


async def _asked(ada: Client, conversation: str) -> str:
    await ada.sure("POST", "/conversations", {"id": conversation})
    await ada.say(conversation, "m", f"{conversation}: asks")
    [question] = await ada.open(conversation) or []
    return question


@contextmanager
def traced(server: Server, trace: Path, *expressions: str) -> Iterator[None]:
    """While strace looks at a server, and perhaps makes its calls fail."""
    asked = [option for expression in expressions for option in ("-e", expression)]
    command = ["strace", "-f", "-y", "-s", "9000", "-o", str(trace), *asked, "-p", str(server.pid)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        said = process.stderr.readline()
        assert "attached" in said, said
        try:
            yield
        finally:
            process.terminate()


def unsynced(trace: str, words: str) -> Iterator[str]:
    """What is wrong with the order in which a server has written, synced and answered, if anything."""
    written = synced = False
    syncs: Mapping[str, bool] = {}
    for process, call, path, data, result in _calls(trace.splitlines()):
        match call:
            case "pwrite64" if path.endswith("-wal") and words in data:
                written, syncs = True, {}
            case "fdatasync" | "fsync" if path.endswith("-wal"):
                syncs = {**syncs, process: written}
                synced = synced or (written and result == "0")
            case "resumed":
                synced = synced or (syncs.get(process, False) and result == "0")
            case "write" | "sendto" if data.startswith("HTTP/1.1 2"):  # by uvloop, or by asyncio
                if not synced:
                    yield "it was answered before it was synced" if written else "it was answered before it was written"
                return
    yield "it was not answered"


_BEGUN: Final = re.compile(r'(\d+) +(\w+)\(\d+<([^>]*)>(?:, "(.*)")?.*?(?:= (-?\d+).*|<unfinished \.\.\.>)')
_RESUMED: Final = re.compile(r"(\d+) +<\.\.\. (?:fdatasync|fsync) resumed>.*= (-?\d+).*")


def _calls(lines: Iterable[str]) -> Iterator[tuple[str, str, str, str, str]]:
    """Of each line its process, the call, what it is about, its data and its result; a call that others have come
    between has a second line."""
    for line in lines:
        if found := _BEGUN.fullmatch(line):
            process, call, path, data, result = found.groups(default="")
            yield process, call, path, data, result
        elif found := _RESUMED.fullmatch(line):
            yield found[1], "resumed", "", "", found[2]
