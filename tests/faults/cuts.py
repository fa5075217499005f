"""F10: the stream of a conversation is cut again and again, and resumed with the last id that came."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any, Final

from tests.faults.report import Outcome
from tests.web.agents import pick, quick
from tests.web.serving import Frame, Served, User
from yourcall import Agent
from yourcall.log import AssistantMessage, Transcript
from yourcall.testing import Said, ScriptedModel

PACE: Final = 0.004
"""Seconds before each word, so that most cuts come in the middle of a text."""
FRAMES: Final = 30
"""How many frames one conversation comes to, about."""
STEPS: Final[Sequence[Said]] = (
    [("quick", {"word": "one"}), ("quick", {"word": "two"})],
    [("pick", {"title": "Which?"})],
    "Then it is red that you shall have, as soon as there is some.",
    "And so on, and so forth, word by word.",
)


def agent() -> Agent[Any]:
    """Its model plays the same steps in each conversation, whichever process the last one was in."""
    return Agent(ScriptedModel(repeat(_step), delay=PACE), tools=[pick, quick])


def _step(transcript: Transcript) -> Said:
    return STEPS[sum(isinstance(message, AssistantMessage) for message in transcript)]


@dataclass
class Screen:
    """What a client shows, by the frames that it was given. What begins anew takes the place of what was there."""

    ids: list[int] = field(default_factory=list)
    parts: dict[str, str] = field(default_factory=dict)
    words: int = 0
    seen: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    running: bool = False

    @property
    def last(self) -> int:
        return self.ids[-1] if self.ids else 0

    def over(self) -> bool:
        """Whether the run has ended, by its own word."""
        return not self.running

    def show(self, frame: Frame) -> None:
        if frame.id is not None:
            self.ids.append(frame.id)
        match frame.event:
            case {"type": "TEXT_MESSAGE_START", "messageId": id} | {"type": "TOOL_CALL_START", "toolCallId": id}:
                self.parts[id] = ""
            case {"type": "TEXT_MESSAGE_CONTENT", "messageId": id, "delta": text}:
                self.words += 1
                self._add(id, text)
            case {"type": "TOOL_CALL_ARGS", "toolCallId": id, "delta": text}:
                self._add(id, text)
            case {"type": "TOOL_CALL_RESULT", "messageId": id, "content": text}:
                self.parts[id] = text
            case {"type": "RUN_FINISHED" | "RUN_ERROR"}:
                self.running = False

    def _add(self, id: str, text: str) -> None:
        self.parts[id] += text
        self.seen[id].add(self.parts[id])


async def cut_everywhere(count: int, replicas: Sequence[Served], outcome: Outcome, seed: int = 1) -> None:
    """Have so many conversations, each cut after another one of its frames, and then at random; each time another
    replica goes on with it."""
    chance = random.Random(seed)
    for n in range(count):
        first = 1 + n * FRAMES // count % FRAMES
        users = [await served.user(f"u{n}") for served in replicas]
        screen, conversation = Screen(), await users[0].create()
        await users[0].say(conversation, "Go")
        await _watch(users, conversation, screen, first, chance, outcome)
        [question] = await users[0].open(conversation)
        assert (await users[-1].answer(question["id"], {"pick": "red"})).status_code == 200
        await _watch(users, conversation, screen, first, chance, outcome)
        await users[0].say(conversation, "More")
        await _watch(users, conversation, screen, first, chance, outcome)
        outcome.violations += await _faults(users[0], conversation, screen)
        outcome.entries += len(screen.ids)
        outcome.facts += screen.words


async def _watch(
    users: list[User], conversation: str, screen: Screen, first: int, chance: random.Random, outcome: Outcome
) -> None:
    """Follow the run to its end, with a cut after so many frames, and then after each few more."""
    screen.running, left = True, first
    while not screen.over():
        users.append(users.pop(0))
        async with users[0].follow(conversation, after=screen.last) as reader:
            while left and not screen.over():
                left -= await _read(reader, screen, left)
        outcome.count += not screen.over()
        left = chance.randrange(2, 9)  # the first one says only that a run has begun


async def _read(reader: Any, screen: Screen, most: int) -> int:
    """Show the frames of the next piece, so many at most."""
    known = len(reader.frames)
    await reader.read(lambda frame: True)
    frames = reader.frames[known:][:most]
    for frame in frames:
        screen.show(frame)
    return len(frames)


async def _faults(user: User, conversation: str, screen: Screen) -> list[str]:
    """How what was shown differs from what somebody sees who comes now."""
    whole = Screen()
    for frame in await user.events(conversation, after=0):
        whole.show(frame)
    faults = []
    if screen.ids != whole.ids:
        faults.append(f"{conversation}: the entries {screen.ids} were shown, and there are {whole.ids}")
    if screen.parts != whole.parts:
        faults.append(f"{conversation}: {screen.parts} was shown, and it is {whole.parts}")
    return faults + [
        f"{conversation}: {text!r} was shown of {whole.parts[id]!r}"
        for id, texts in screen.seen.items()
        for text in texts
        if not whole.parts[id].startswith(text)
    ]
