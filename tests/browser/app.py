"""The engine behind the browser tests, served by `yourcall serve tests.browser.app:engine`.

What the model does depends on the user's last message alone, so that a new process goes on where a killed one was:
the message names a scene, and each step of the scene is played once its predecessors are in the transcript.
`YOURCALL_SCENE` is a folder: its `chat.db` keeps the conversations, and a file in it opens the gate of that name.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from itertools import repeat
from pathlib import Path
from typing import Any, Final

import anyio

from tests.browser import kinds
from tests.browser.corpus import HOSTILE, LABELS
from tests.oauth.panva import Panva
from tests.oauth.stage import sleepy
from yourcall import Agent, Ask, Context, Engine, Fault, File, ModelFailed, Rejected, Secret, Upload, Visit, tool
from yourcall.entries import Json
from yourcall.log import AssistantMessage, ToolMessage, Transcript, UserMessage
from yourcall.ports import Finished, ModelEvent, ModelRequest, TextDelta
from yourcall.questions import Option, Question, QuestionAnswer, Questions
from yourcall.testing import CallStep, Said, ScriptedModel
from yourcall.vault import KeyFile

FOLDER: Final = Path(os.environ["YOURCALL_SCENE"])
URL: Final = os.environ.get("YOURCALL_SCENE_URL", "")
PREAMBLE: Final = "Let me ask you something first."
GATE: Final = "⏸"
"""A word of a model's text before which it waits for the gate `words`."""


async def opened(gate: str) -> None:
    """Wait until the test opens this gate."""
    while not await anyio.Path(FOLDER / gate).exists():  # noqa: ASYNC110  # the test is another process
        await anyio.sleep(0.01)


class GatedModel(ScriptedModel):
    """Speaks up to a gate, and on once it is open. In the scene "said and asked" a step has text and calls."""

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        async for event in super().stream(request):
            match event:
                case TextDelta(text) if text.strip() == GATE:
                    await opened("words")
                case Finished(calls=[_, *_]) if _scene(request.transcript) == "said and asked":
                    yield TextDelta(PREAMBLE)
                    yield replace(event, text=PREAMBLE)
                    return
            yield event


def _scene(transcript: Transcript) -> str:
    """What the user said last."""
    return [message.text for message in transcript if isinstance(message, UserMessage)][-1]


# --------------------------------------------------------------------------- tools


def _number_of_guests(answers: tuple[QuestionAnswer, ...]) -> None:
    if (words := answers[-1].other) and not words.isdigit():
        raise Rejected(faults=[Fault("/answers/2/other", "Write a number of guests.", "rejected")])


def _said(answers: Sequence[QuestionAnswer]) -> Json:
    """What the tool got, so that a test can read it in the model's reply."""
    return [
        "skipped" if one.skipped else "; ".join(filter(None, [*one.selected, one.other, one.note])) for one in answers
    ]


@tool
def ask(ctx: Context, questions: list[Question], seconds: float | None = None, to: str | None = None) -> Json:
    """Ask the user, or a colleague."""
    check = _number_of_guests if len(questions) == 3 else None
    answers = ctx.ask(Questions(questions, check=check, to=to), expires_in=seconds)
    return _said(answers)


@tool
def raw(ctx: Context, reason: Any) -> Json:
    """Ask with the raw primitive."""
    return repr(ctx.interrupt("release", reason))


class Measure(Ask[Json]):
    """A kind that the page has no element for."""

    kind = "measure"

    def payload(self) -> Json:
        return {"title": "Your measures"}

    def schema(self) -> Json:
        return {
            "type": "object",
            "properties": {
                "name": {"type": "string", "title": "Name", "minLength": 2, "description": "As on your card."},
                "height": {"type": "integer", "title": "Height", "minimum": 50, "maximum": 250},
                "unit": {"title": "Unit", "oneOf": [{"const": "kg", "title": "Kilograms"}, {"const": "lb"}]},
                "level": {"title": "Level", "enum": list("abcdefgh")},
                "days": {"title": "Days", "type": "array", "items": {"$ref": "#/$defs/Day"}, "minItems": 2},
                "born": {"title": "Born", "anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]},
                "remind": {"type": "boolean", "title": "Remind me", "default": True},
            },
            "required": ["name", "height", "unit", "days", "remind"],
            "$defs": {"Day": {"enum": ["Mon", "Tue", "Wed"]}},
        }

    def identity(self) -> Json:
        return self.kind

    def parse(self, answer: Json) -> Json:
        if answer["height"] == 100:
            raise Rejected("Nobody is exactly 100 cm tall.", field="height")
        return answer


async def accepts(key: str) -> None:
    """Takes what begins with `hevy-`, and repeats what it refuses."""
    if not key.startswith("hevy-"):
        raise Rejected(f"Hevy did not accept {key}.")


HEVY = Secret("hevy", "Hevy API key", "You find it in the app, under Settings → API.", check=accepts)


@tool
def connect_hevy(ctx: Context) -> str:
    """Ask for the key."""
    ctx.ask(HEVY)
    return "The user has set up Hevy access."


class Colour(Ask[str]):
    """A kind that keeps something else than what it takes, and shows no schema."""

    kind = "colour"
    answer_type = str

    def payload(self) -> Json:
        return {"title": "Your colour"}

    def schema(self) -> Json:
        return {"type": "object", "properties": {"colour": {"type": "string", "title": "Colour"}}}

    def identity(self) -> Json:
        return self.kind

    def parse(self, answer: Json) -> str:
        return str(answer["colour"])


class Seat(Measure):
    """A kind that a page may bring its own element for."""

    kind = "seat"


@tool
def measure(ctx: Context) -> Json:
    """Ask for measures."""
    return ctx.ask(Measure())


@tool
def colour(ctx: Context) -> str:
    """Ask for a colour."""
    return ctx.ask(Colour())


@tool
def seat(ctx: Context) -> Json:
    """Ask for a seat."""
    return ctx.ask(Seat())


@tool
def lease(ctx: Context) -> Json:
    """Have the user sign a lease elsewhere."""
    return ctx.ask(Visit("https://sign.example/doc/7", "Sign the lease", check=_signed))


def _signed(brought: Json) -> None:
    if brought.get("status") != "signed":
        raise Rejected("It is not signed yet.")


@tool
async def photo(ctx: Context, gate: str = "") -> str:
    """Ask for a photo; its check waits for the gate."""

    async def check(file: File) -> None:
        if gate:
            await opened(gate)
        if "cat" in file.name:
            raise Rejected("This is a cat.")

    ask = Upload(
        ["image/*"], title="Your progress photo", help="Only your coach sees it.", max_bytes=1 << 20, check=check
    )
    file = ctx.ask(ask)
    return f"{file.name}, {len(await ctx.read(file))} bytes"


@tool
async def sleep_score(ctx: Context) -> str:
    """Uses an account of the user's at the server whose address is in the folder."""
    issuer = await anyio.Path(FOLDER / "issuer").read_text()
    token = await ctx.token(sleepy(Panva(issuer)))
    return f"It knows an account{token.get_secret_value() and '.'}"


@tool
async def get_sleep(gate: str) -> str:
    """How the user slept; takes until the gate is opened."""
    await opened(gate)
    return "7 hours"


# --------------------------------------------------------------------------- scenes


def options(*labels: str) -> list[Option]:
    return [Option(label) for label in labels]


WHEN = Question(
    "When do you want to train?",
    header="Time of day",
    options=[
        Option("Before work", "Short sessions, done by eight."),
        Option("At lunch"),
        Option("In the evening", recommended=True),
    ],
)
WITH = Question("What can you train with?", multi=True, options=options("a, b", "a", "b"))
HOW_OFTEN = Question("How many days a week?", options=options("Two", "Three", "Four"))
GUESTS = Question("Who comes along?", options=options("Nobody", "My dog"))
LONG = Question(("It goes on and on. " * 106)[:2000], options=options("w" * 300, ("many words " * 30)[:300]))
WORLD = Question("أي يوم يناسبك؟", header="اليوم", options=options("الاثنين، صباحًا", "👩🏽‍🚀 früh, 6:00", "月曜日"))
NEVER: Final = "never opened"
COLLEAGUES: Final = "role:colleagues"


def asks(*questions: Question, seconds: float | None = None) -> list[CallStep]:
    return [("ask", {"questions": questions, "seconds": seconds})]


def reply(transcript: Transcript) -> Said:
    """Repeats what the tools of the last step returned."""
    results = [message.text for message in transcript if isinstance(message, ToolMessage)]
    return "Noted: " + results[-1]


Step = Said | Callable[[Transcript], Said]
SCENES: Final[dict[str, list[Step]]] = {
    "one question": [asks(WHEN), reply],
    "said and asked": [asks(WHEN), reply],
    "two in a row": [asks(WHEN), asks(HOW_OFTEN), reply],
    "put to others": [[("ask", {"questions": [WHEN, WITH], "to": COLLEAGUES})], reply],
    "several questions": [asks(WHEN, WITH, GUESTS), reply],
    "many choices": [asks(WITH), reply],
    "long": [asks(LONG), reply],
    "scripts of the world": [asks(WORLD), reply],
    "expiring": [asks(WHEN, seconds=0.5), reply],
    "held up": [[*asks(WHEN), *asks(HOW_OFTEN), ("get_sleep", {"gate": NEVER})], "never said"],
    "side by side": [[*asks(WHEN), *asks(HOW_OFTEN), ("get_sleep", {"gate": "sleep"})], "Both noted."],
    "secret": [[("connect_hevy", {})], reply],
    "account": [[("sleep_score", {})], reply],
    "raw": [[("raw", {"reason": {"service": "billing", "change": "2.14"}})], reply],
    "raw questions": [[("raw", {"reason": {"questions": [{"question": "Go?", "options": ["Now", "Later"]}]}})], reply],
    "measures": [[("measure", {})], reply],
    "colours": [[("colour", {})], reply],
    "seats": [[("seat", {})], reply],
    "step outside": [[("lease", {})], reply],
    "photo": [[("photo", {})], reply],
    "slow photo": [[("photo", {"gate": "looked"})], reply],
    "slow tool": [[("get_sleep", {"gate": NEVER})], "never said"],
    "half a text": [
        [("get_sleep", {"gate": "first"})], [("get_sleep", {"gate": "second"})], "The first half ⏸ and the second."
    ],
    "hostile": [
        *(asks(Question(text, options(text[:300], "b"), header=text[:24]), WITH) for text in HOSTILE),
        "\n".join(HOSTILE),
    ],
    "two hundred labels": [
        asks(*(Question(f"Which of these, {n}?", options(*LABELS[n * 20 : n * 20 + 20])) for n in range(10))),
        "\n".join(LABELS),
    ],
    **kinds.scenes(reply),
}  # fmt: skip


def play(transcript: Transcript) -> Said:
    """The next step of the scene that the user's last message names."""
    told = _scene(transcript)
    if told == "fail once":
        return fail_once()
    start = max(n for n, message in enumerate(transcript) if isinstance(message, UserMessage))
    done = sum(isinstance(message, AssistantMessage) for message in transcript[start:])
    step = SCENES.get(told, [f"You wrote: {told}"])[done]
    return step(transcript) if callable(step) else step


def fail_once() -> Said:
    marker = FOLDER / "failed"
    if marker.exists():
        return "This time it went well."
    marker.touch()
    return ModelFailed("The model is overloaded just now.")


model = GatedModel(repeat(play))
agent = Agent[Any](
    model, tools=[ask, connect_hevy, sleep_score, raw, measure, colour, seat, lease, photo, get_sleep, *kinds.TOOLS]
)
engine = Engine(
    agent,
    f"sqlite:///{FOLDER / 'chat.db'}",
    may_answer=lambda user: [COLLEAGUES],
    keys=KeyFile.make(FOLDER / "keys"),
    public_url=URL,
    sweep_every=0.1,
)
