"""F9: whatever is sent, each answer is one that our own OpenAPI describes, and each refusal a problem.

Schemathesis makes the requests, those that fit the description and those that do not; half of them name things that
are there, and some bring nearly the right answer. `BAD` is sent to every operation that takes a body beside them.
"""

from __future__ import annotations

import json
import random
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Literal
from urllib.parse import quote

import anyio.to_thread
import httpx
import hypothesis
import schemathesis
from hypothesis import HealthCheck, Phase, given
from hypothesis import strategies as st
from hypothesis.errors import HypothesisDeprecationWarning
from pydantic import BaseModel, Field
from schemathesis import GenerationMode
from schemathesis.core.failures import FailureGroup
from schemathesis.core.result import Ok
from schemathesis.specs.openapi import checks as described
from starlette.requests import Request

from tests import hostile
from tests.faults.report import Outcome
from tests.web.serving import serve_app
from yourcall import Agent, Choose, Confirm, Context, Engine, Form, Option, Question, Questions, Secret, Upload, tool
from yourcall.entries import Json
from yourcall.log import Transcript, UserMessage
from yourcall.testing import Said, ScriptedModel
from yourcall.vault.keyring import KeyRing, new_key
from yourcall.web import create_app

PATIENCE: Final = 30.0
"""Seconds after which a server does not answer."""
FRESH: Final = 20
"""After so many requests there are new things to be named, since most questions are answered by then."""


# --------------------------------------------------------------------------- a server with a question of every kind


class Table(BaseModel):
    people: Annotated[int, Field(ge=1, le=12)]
    where: Literal["in", "out"] = "in"
    note: str = ""


def _asker(ask: Any) -> Any:
    @tool(name=ask.kind)
    def asks(ctx: Context) -> str:
        """Ask."""
        return type(ctx.ask(ask)).__name__

    return asks


RIGHT: Final[Mapping[str, Json]] = {
    "form": {"people": 2, "where": "out", "note": "by the window"},
    "choose": {"choice": ["One"]},
    "confirm": {"approved": True, "edits": {"n": 2}},
    "questions": {"answers": [{"selected": ["1"], "other": None, "note": "perhaps"}]},
}
"""What answers a question, by its kind."""


def engine(store: str, blobs: str | None) -> Engine[Any]:
    """Its model calls every tool after each message, and then thanks."""
    asks = (
        Form(Table, title="Your table"),
        Choose({"One": 1, "Two": 2}, "Which?", multi=True),
        Confirm("Send it?", {"n": 1}, editable=["n"]),
        Questions([Question("How?", [Option("1"), Option("2")])]),
        Secret("hevy", "Hevy API key"),
        Upload(["image/*", "text/*"]),
    )
    tools = [_asker(ask) for ask in asks]

    def play(transcript: Transcript) -> Said:
        return [(one.name, {}) for one in tools] if isinstance(transcript[-1], UserMessage) else "Thanks."

    def plays() -> Iterator[Any]:
        while True:
            yield play

    return Engine(Agent[Any](ScriptedModel(plays()), tools=tools), store, keys=KeyRing(new_key()), blobs=blobs)


async def _user(request: Request) -> str | None:
    return request.headers.get("x-user")


async def fuzz(count: int, store: str, outcome: Outcome, *, blobs: str | None = None, seed: int = 1) -> None:
    """Send so many requests that Schemathesis makes, and every bad one. `blobs` is where files are kept, if not beside
    the store."""
    served = engine(store, blobs)
    app = create_app(served, user=_user)
    async with serve_app(app, served) as server:
        await anyio.to_thread.run_sync(_send_all, count, server.url, outcome, seed)


# --------------------------------------------------------------------------- what there is to be named


@dataclass
class Things:
    """Conversations, questions and files of a user's, and a question of somebody else's."""

    http: httpx.Client
    random: random.Random
    conversations: list[str] = field(default_factory=list)
    questions: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By id: the interrupts of the latest conversation."""
    files: list[str] = field(default_factory=list)
    foreign: str = ""
    _used: int = FRESH

    def refresh(self) -> None:
        """New ones from time to time."""
        self._used += 1
        if self._used > FRESH:
            self._used = 0
            (self.foreign, *_) = self._ask({"X-User": "bob"})[1]
            conversation, self.questions = self._ask({})
            self.conversations = [*self.conversations[-3:], conversation]
            sent = self.http.post("/files", files={"file": ("note.txt", b"A note.")})
            self.files = [*self.files[-3:], sent.json()["id"]]

    def _ask(self, who: dict[str, str]) -> tuple[str, dict[str, dict[str, Any]]]:
        conversation = self.http.post("/conversations", json={}, headers=who).json()["id"]
        path = f"/conversations/{conversation}"
        self.http.post(f"{path}/messages", json={"text": "Ask me"}, headers=who)
        self.http.get(f"{path}/events", headers=who)
        asked = self.http.get(path, headers=who).json()["interrupts"]
        return conversation, {one["id"]: one for one in asked}

    def name(self, path: str, parameter: str, *, sure: bool = False) -> str:
        """Something that is there, for a parameter of a path; not always what belongs there, unless it is `sure`."""
        match path.split("/")[1], parameter:
            case _, "file":
                named = self.random.choice(self.files)
            case "conversations", _:
                named = self.random.choice(self.conversations)
            case "interrupts", _:
                fit = self.fit(path.rsplit("/", maxsplit=1)[-1])
                named = self.random.choice([*fit, *fit, *fit, *([] if sure else [*self.questions, self.foreign])])
            case _:
                named = "hevy"
        return quote(named, safe="")

    def fit(self, route: str) -> list[str]:
        """The questions that are answered by this route."""
        kind = {"secret": "secret", "files": "upload"}.get(route)
        return [id for id in self.questions if kind in (None, self.kind(id))]

    def kind(self, id: str) -> str:
        kind: str = self.questions[id]["metadata"]["yourcall"]["kind"] if id in self.questions else "none"
        return kind

    def digest(self, id: str) -> str:
        digest: str = self.questions[id]["metadata"]["yourcall"]["digest"] if id in self.questions else "unknown"
        return digest

    def nearly(self, id: str) -> Json:
        """The right answer to a question, or one that is wrong in one place."""
        return self._bend(RIGHT.get(self.kind(id), {}))

    def run(self, body: Json) -> Json:
        """What an AG-UI client sends, in its place or beside what was made up."""
        resume = [{"interruptId": id, "status": "resolved", "payload": self.nearly(id)} for id in self.questions]
        said = {"id": f"m{self.random.random()}", "role": "user", "content": "And now?"}
        run = {"threadId": self.random.choice(self.conversations), "runId": "r", "messages": [said], "resume": resume}
        return self._bend({**(body if isinstance(body, dict) else {}), **run})

    def _bend(self, value: Json) -> Json:
        odd: list[Json] = [None, "", [], {}, -1, 1e300, True, "Ł" * 5000, {"x": [0]}]
        match value:
            case dict() if value and self.random.random() < 0.8:
                name = self.random.choice(sorted(value))
                return {**value, name: self._bend(value[name])}
            case [first, *rest] if self.random.random() < 0.8:
                return [self._bend(first), *rest]
            case _:
                return self.random.choice([value, value, *odd])


# --------------------------------------------------------------------------- what Schemathesis makes


def _send_all(count: int, url: str, outcome: Outcome, seed: int) -> None:
    chance = random.Random(seed)
    schema = schemathesis.openapi.from_url(f"{url}/openapi.json", headers={"X-User": "ada"})
    operations = [found.ok() for found in schema.get_all_operations() if isinstance(found, Ok)]
    with warnings.catch_warnings(), httpx.Client(base_url=url, headers={"X-User": "ada"}, timeout=PATIENCE) as http:
        # Hypothesis sees the server's jitter, in another thread, and takes it for ours.
        warnings.filterwarnings("ignore", "Do not use the `random` module", HypothesisDeprecationWarning)
        things = Things(http, chance)
        for n, operation in enumerate(operations):
            share = count * (n + 1) // len(operations) - count * n // len(operations)
            _send_some(share, operation, things, outcome, seed)
        for operation in operations:
            _send_bad(operation, things, outcome)


def _send_some(count: int, operation: Any, things: Things, outcome: Outcome, seed: int) -> None:
    """So many requests for one operation, or as many as differ."""
    fits = operation.as_strategy(GenerationMode.POSITIVE)

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=count, database=None, deadline=None, phases=[Phase.generate], suppress_health_check=[*HealthCheck]
    )
    @given(case=st.one_of(fits, fits, operation.as_strategy(GenerationMode.NEGATIVE)))
    def send(case: Any) -> None:
        things.refresh()
        there = things.random.random() < 0.75
        if there:
            case.path_parameters = {name: things.name(case.path, name) for name in case.path_parameters}
        id = case.path_parameters.get("id", "")
        if there and case.path.endswith("/answer") and things.random.random() < 0.7:
            case.body = things.nearly(id)
            case.headers["If-Match"] = things.digest(id)
        if there and case.path == "/agui":
            case.body = things.run(case.body)
        response = case.call(headers={"X-User": "ada"}, timeout=PATIENCE)
        outcome.count += 1
        outcome.hits += response.status_code < 400
        what = f"{operation.label} {case.as_curl_command()}"
        amiss = _amiss(response.status_code, response.headers, response.content)
        outcome.violations += [f"{what}: {text}" for text in amiss]
        checks = CHECKS[:-1] if "text/event-stream" in _values(response.headers, "content-type")[0] else CHECKS
        try:
            case.validate_response(response, checks=checks)
        except FailureGroup as failures:
            outcome.violations += [f"{what}: {failure}" for failure in failures.exceptions]

    send()


CHECKS: Final = [
    described.status_code_conformance,
    described.content_type_conformance,
    described.response_headers_conformance,
    described.response_schema_conformance,  # the last: it has a notion of its own of what describes a stream
]


def _amiss(status: int, headers: Mapping[str, Any], content: bytes) -> Iterator[str]:
    """What no answer may be."""
    if status >= 500:
        yield f"{status} {content[:200]!r}"
    if status >= 400:
        [kind] = _values(headers, "content-type")
        problem = json.loads(content) if kind == "application/problem+json" else None
        if not isinstance(problem, dict) or problem.get("status") != status:
            yield f"{status}, and no problem: {kind} {content[:200]!r}"


def _values(headers: Mapping[str, Any], name: str) -> list[str]:
    """httpx has one value, Schemathesis a list of them."""
    value = headers.get(name, "")
    return list(value) if isinstance(value, list) else [value]


# --------------------------------------------------------------------------- bad input, by hand


@dataclass(frozen=True)
class Bad:
    """A request that is refused whatever it is for; `status` is what it is told."""

    status: int
    content: bytes = b"{}"
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})


_JSON: Final = {"Content-Type": "application/json"}

BAD: Final[Mapping[str, Bad]] = {
    "nobody is signed in": Bad(401, headers=_JSON | {"X-User": ""}),
    "a page of another site": Bad(403, headers=_JSON | {"Sec-Fetch-Site": "cross-site"}),
    "a sibling's page": Bad(403, headers=_JSON | {"Sec-Fetch-Site": "same-site"}),
    "an origin of null": Bad(403, headers=_JSON | {"Origin": "null"}),
    "text": Bad(415, headers={"Content-Type": "text/plain"}),
    "a form": Bad(415, b"a=b", {"Content-Type": "application/x-www-form-urlencoded"}),
    "files": Bad(415, b"--x--", {"Content-Type": "multipart/form-data; boundary=x"}),
    "no type": Bad(415, headers={}),
    "half of an object": Bad(400, b'{"text": "x"'),
    "no UTF-8": Bad(400, b'{"text": "\xff"}'),
    "a key twice": Bad(400, b'{"text": "x", "text": "y"}'),
    "NaN": Bad(400, b'{"text": NaN}'),
    "infinity": Bad(400, b'{"text": 1e999}'),
    "too deep": Bad(400, b'{"text": ' + b"[" * 40 + b"]" * 40 + b"}"),
    "far too deep": Bad(400, b"[" * 100_000),
    "a number of many digits": Bad(400, b'{"text": ' + b"9" * 10_000 + b"}"),
    "NUL": Bad(422, b'{"text": "\\u0000"}'),
    "half a surrogate": Bad(422, b'{"text": "\\ud800"}'),
    "a name with NUL": Bad(422, b'{"\\u0000": "x"}'),
    "too large": Bad(413, b'{"text": "' + b"x" * (5 << 20) + b'"}'),
}

FORM: Final = {"Content-Type": "multipart/form-data; boundary=x"}


def _part(name: str, content: bytes, of: str = "file") -> bytes:
    return (
        f'--x\r\nContent-Disposition: form-data; name="{of}"; filename="{name}"\r\n'.encode()
        + b"Content-Type: image/png\r\n\r\n" + content + b"\r\n"
    )  # fmt: skip


BAD_FILES: Final[Mapping[str, Bad]] = {
    "nobody is signed in": Bad(401, _part("a.png", hostile.image()) + b"--x--", FORM | {"X-User": ""}),
    "a page of another site": Bad(403, b"--x--", FORM | {"Sec-Fetch-Site": "cross-site"}),
    "JSON": Bad(415, b'{"file": {"path": "/etc/passwd"}}', _JSON),
    "HTML under another name": Bad(415, _part("a.png", hostile.HTML) + b"--x--", FORM),
    "SVG": Bad(415, _part("a.svg", hostile.SVG) + b"--x--", FORM),
    "an archive": Bad(415, _part("a.zip", hostile.bomb_zip(1)) + b"--x--", FORM),
    "a script in an image": Bad(415, _part("a.js", hostile.gif_script()) + b"--x--", FORM),
    "a bomb": Bad(422, _part("a.png", hostile.bomb_png()) + b"--x--", FORM),
    "no file": Bad(422, b"--x--", FORM),
    "another name": Bad(422, _part("a.png", hostile.image(), of="path") + b"--x--", FORM),
    "no end": Bad(400, _part("a.png", hostile.image()), FORM),
    "no parts": Bad(400, b"nothing", FORM),
    "no boundary": Bad(415, b"--x--", {"Content-Type": "multipart/form-data"}),
}


def _send_bad(operation: Any, things: Things, outcome: Outcome) -> None:
    taken = operation.definition.raw.get("requestBody", {}).get("content", {})
    many = BAD if "application/json" in taken else BAD_FILES if taken else {}
    for name, bad in many.items():
        things.refresh()
        response = _sent(operation, bad, things)
        outcome.count += 1
        what = f"{operation.label}, {name}"
        outcome.violations += [
            f"{what}: {text}" for text in _amiss(response.status_code, response.headers, response.content)
        ]
        wanted = 403 if operation.path.startswith("/visits/") else bad.status  # whoever has no link hears no more
        if response.status_code != wanted:
            outcome.violations.append(f"{what}: {response.status_code} in place of {wanted}")


def _sent(operation: Any, bad: Bad, things: Things) -> httpx.Response:
    path = operation.path
    for parameter in operation.path_parameters:
        path = path.replace(f"{{{parameter.name}}}", things.name(operation.path, parameter.name, sure=True))
    return things.http.request(operation.method, path, content=bad.content, headers=bad.headers)
