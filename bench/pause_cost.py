"""What a pause costs as the log grows: ask, end, answer, resume and finish, with a durable store.

It should not depend on what was said before, but for the transcript that every step sends to the model.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import AsyncIterator
from typing import Any, Final

from yourcall import Agent, Context, Engine, tool
from yourcall.entries import Assistant, Call, Entry, User
from yourcall.log import ToolMessage
from yourcall.ports import Finished, Key, ModelRequest, Row, TextDelta

LENGTHS: Final = (2, 50, 500, 2000)
ROUNDS: Final = 15
TEXT: Final = "a message of about two hundred characters " * 5


@tool
def pick(ctx: Context) -> str:
    """Ask for a unit."""
    return str(ctx.interrupt("unit", {"options": ["kg", "lb"]}))


class Asking:
    """Calls `pick` for each user message, and says what was picked."""

    async def stream(self, request: ModelRequest) -> AsyncIterator[TextDelta | Finished]:
        last = request.transcript[-1]
        if isinstance(last, ToolMessage):
            yield TextDelta(last.text)
            yield Finished(last.text)
        else:
            yield Finished(calls=(Call(f"call-{len(request.transcript)}", "pick"),))


async def seed(engine: Engine, conversation: str, length: int) -> None:
    bodies = [User(TEXT) if n % 2 == 0 else Assistant(run="seed", seen=n, text=TEXT) for n in range(length)]
    entries = [Entry(seq, time.time(), body) for seq, body in enumerate(bodies, 1)]
    await engine.store.append(Key("ada", conversation), 0, entries, Row(tail=length - 1))


async def pause_and_resume(engine: Engine, conversation: str) -> None:
    chat = engine.conversation(conversation, user="ada")
    head = 0
    async for event in chat.say("Which unit?"):
        head = event.seq if isinstance(event, Entry) else head
    (question,) = await chat.interrupts()
    await chat.answer(question.id, "kg")
    async for _ in chat.events(after=head):
        pass


async def timed(engine: Engine[Any], length: int, rounds: int = ROUNDS) -> tuple[float, float]:
    """Median CPU and wall milliseconds of a round trip."""
    cpu, wall = [], []
    for n in range(rounds):
        conversation = f"{length}-{n}-{time.monotonic_ns()}"
        await seed(engine, conversation, length)
        started, used = time.perf_counter(), time.process_time()
        await pause_and_resume(engine, conversation)
        wall.append((time.perf_counter() - started) * 1e3)
        cpu.append((time.process_time() - used) * 1e3)
    return statistics.median(cpu), statistics.median(wall)


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with Engine(Agent(Asking(), tools=[pick]), store=f"sqlite:///{folder}/bench.db") as engine:
            await timed(engine, 2)
            print("messages   CPU ms   wall ms")
            for length in LENGTHS:
                cpu, wall = await timed(engine, length)
                print(f"{length:8} {cpu:8.2f} {wall:9.2f}")


if __name__ == "__main__":
    asyncio.run(main())
