"""The users of a measurement, in a process of their own; what they saw is printed as JSON.

They speak HTTP over plain sockets, one request a connection: a client library would cost as much as the server that
is measured, on the same cores.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4


class Site:
    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._host, self._port = parts.hostname, parts.port

    async def pieces(self, user: str, method: str, path: str, body: Any = None) -> AsyncGenerator[bytes, None]:
        """The body of a response as it comes, chunk headers and all. Raises what is no 2xx."""
        content = b"" if body is None else json.dumps(body).encode()
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nX-User: {user}\r\n"
        if body is not None:
            head += f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n"
        reader, writer = await asyncio.open_connection(self._host, self._port, limit=1 << 20)
        try:
            writer.write(f"{head}\r\n".encode() + content)
            answered = await reader.readuntil(b"\r\n\r\n")
            if not answered.startswith(b"HTTP/1.1 2"):
                raise RuntimeError(f"{method} {path}: {answered!r} {await reader.read()!r}")
            while piece := await reader.read(1 << 16):
                yield piece
        finally:
            writer.close()

    async def whole(self, user: str, method: str, path: str, body: Any = None) -> bytes:
        return b"".join([piece async for piece in self.pieces(user, method, path, body)])

    async def asked(self, user: str) -> tuple[str, str, int]:
        """A new conversation that waits: its id, its question's, and the end of its log."""
        conversation = uuid4().hex
        await self.whole(user, "POST", "/conversations", {"id": conversation})
        await self.whole(user, "POST", f"/conversations/{conversation}/messages", {"text": "ask"})
        await self.whole(user, "GET", f"/conversations/{conversation}/events")
        found = json.loads(await self.whole(user, "GET", f"/conversations/{conversation}"))
        return conversation, found["interrupts"][0]["id"], found["head"]

    async def answer(self, user: str, conversation: str, question: str, head: int) -> float:
        """Answer, and hear it out; seconds from the answer to the first word that followed."""
        started, first, last = time.perf_counter(), 0.0, b""
        await self.whole(user, "POST", f"/interrupts/{question}/answer", {"unit": "kg"})
        async with aclosing(self.pieces(user, "GET", f"/conversations/{conversation}/events?after={head}")) as pieces:
            async for piece in pieces:
                last += piece
                if not first and b"TEXT_MESSAGE_CONTENT" in last:
                    first = time.perf_counter() - started
        if not first or b"RUN_FINISHED" not in last:
            raise RuntimeError(f"The run did not end: {last!r}")
        return first


async def answers(site: Site, clients: int, each: int) -> Any:
    """So many users answer at once, `each` questions one after the other, all of which wait already."""

    async def prepare(n: int) -> list[tuple[str, str, int]]:
        return [await site.asked(f"u{n}") for _ in range(each)]

    async def answer(n: int, asked: list[tuple[str, str, int]]) -> list[float]:
        return [await site.answer(f"u{n}", *one) for one in asked]

    prepared = await asyncio.gather(*map(prepare, range(clients)))
    print(json.dumps("prepared"), flush=True)
    await asyncio.to_thread(input)
    started = time.perf_counter()
    firsts = await asyncio.gather(*(answer(n, asked) for n, asked in enumerate(prepared)))
    return {"seconds": time.perf_counter() - started, "firsts": [one for some in firsts for one in some]}


async def look(site: Site, users: int, times: int) -> Any:
    """What users by chance wait for, in seconds: their inbox, their list, a conversation, an answer's first word."""
    seen: dict[str, list[float]] = {"inbox": [], "list": [], "open": [], "answer": []}

    async def timed(what: str, user: str, path: str) -> Any:
        started = time.perf_counter()
        found = await site.whole(user, "GET", path)
        seen[what].append(time.perf_counter() - started)
        return json.loads(found)

    chance = random.Random(1)
    for n in chance.sample(range(users), times):
        user = f"u{n}"
        waits = (await timed("inbox", user, "/interrupts"))["interrupts"]
        listed = (await timed("list", user, "/conversations"))["conversations"]
        if not len(waits) == len(listed):
            raise RuntimeError(f"{len(listed)} conversations wait with {len(waits)} questions")
        conversation = chance.choice(listed)["id"]
        found = await timed("open", user, f"/conversations/{conversation}")
        question = found["interrupts"][0]["id"]
        seen["answer"].append(await site.answer(user, conversation, question, found["head"]))
    return seen


async def listen(site: Site, listeners: int, words: int) -> Any:
    """So many listeners on one run: milliseconds from each word to the first and to the last of them.

    Raises if one of them did not hear every word once, in order.
    """
    conversation = uuid4().hex
    await site.whole("ada", "POST", "/conversations", {"id": conversation})
    await site.whole("ada", "POST", f"/conversations/{conversation}/messages", {"text": f"say {words}"})
    arrived: list[int] = []

    def arrive() -> int:
        arrived.append(time.monotonic_ns())
        if len(arrived) == listeners:
            print(json.dumps("listening"), flush=True)
        return arrived[-1]

    async def hear() -> tuple[int, list[tuple[int, int]]]:
        began, heard, rest = 0, [], b""
        path = f"/conversations/{conversation}/events?after=1"
        async with aclosing(site.pieces("ada", "GET", path)) as pieces:
            async for piece in pieces:
                now = time.monotonic_ns()
                began = began or arrive()
                *lines, rest = (rest + piece).split(b"\n")
                for line in lines:
                    if line.startswith(b"data: ") and b"TEXT_MESSAGE_CONTENT" in line:
                        said = json.loads(line.removeprefix(b"data: "))["delta"]
                        heard += [(int(word), now) for word in said.split()]
        return began, heard

    all_heard = await asyncio.gather(*(hear() for _ in range(listeners)))
    spoken = [word for word, _ in all_heard[0][1]]
    broken = [heard for _, heard in all_heard if [word for word, _ in heard] != sorted(set(spoken))]
    if len(spoken) != words or broken:
        raise RuntimeError(f"{len(broken)} of {listeners} listeners did not hear every word once, in order")
    late = sum(began > spoken[0] for began, _ in all_heard)
    moments = [[heard[n][1] - word for _, heard in all_heard] for n, word in enumerate(spoken)]
    return {"late": late, "first": [min(m) / 1e9 for m in moments], "last": [max(m) / 1e9 for m in moments]}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["answers", "look", "listen"])
    parser.add_argument("url")
    parser.add_argument("numbers", type=int, nargs=2)
    asked = parser.parse_args()
    does = {"answers": answers, "look": look, "listen": listen}[asked.what]
    print(json.dumps(asyncio.run(does(Site(asked.url), *asked.numbers))))


if __name__ == "__main__":
    main()
