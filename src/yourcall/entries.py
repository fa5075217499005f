"""What a log is made of: ten kinds of entry, each immutable, each with a version and a scope.

An entry is stored as one row: `seq`, `at`, its kind, a `ref` that the database holds unique where a rule
asks for it, and a compact JSON body that leaves defaults out. Unknown fields of a known version are ignored;
a version from the future is refused, since guessing at it could lose an answer.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from typing import Any, Final, Literal, TypeAlias

from yourcall.errors import NewerLog

VERSION: Final = 1

Json: TypeAlias = Any
"""A value that `json.dumps` writes and `json.loads` reads back unchanged."""

Ending: TypeAlias = Literal[
    "answered", "skipped", "declined", "expired", "superseded", "cancelled", "unavailable", "changed"
]
Channel: TypeAlias = Literal["form", "secret", "upload", "handoff"]
"""By which way an answer comes: in the open, on a route of its own, as a file, or from outside."""
Status: TypeAlias = Literal[
    "ok", "failed", "skipped", "declined", "expired", "unavailable", "superseded", "cancelled", "interrupted", "held"
]


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call of a step, with all that recovery needs to know of its tool.

    `args` is the model's JSON text as it came. `hold` and `rerun` are frozen here, so that what happens after a
    crash does not depend on today's code; `rerun` means that the body may be executed again (it takes a
    `Context`, or is idempotent). `error` marks a call that is answered without being run.
    """

    id: str
    tool: str
    args: str = "{}"
    hold: bool = False
    rerun: bool = False
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Interrupt:
    """One recorded ask of one tool call. `ask` is what its card draws; `expires_at` is in Unix seconds.

    `schema` is the answer's JSON Schema, kept where it does not follow from `ask`.
    """

    id: str
    call_id: str
    key: str
    kind: str
    ask: Json
    digest: str
    message: str = ""
    schema: Json = None
    occurrence: int = 1
    generation: int = 0
    to: str | None = None
    expires_at: float | None = None
    channel: Channel = "form"


@dataclass(frozen=True, slots=True)
class File:
    """A file that the user gave: what the log says of it. Its bytes are elsewhere, under `id`.

    `name` is the user's own, for people to read and never a path; `type` is the media type that its content has, too;
    `size` is in bytes, `sha256` in hex.
    """

    id: str
    name: str
    type: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class User:
    """The user wrote something. `id` is the client's, so that sending it twice is harmless."""

    text: str
    id: str | None = None
    files: tuple[File, ...] = ()


@dataclass(frozen=True, slots=True)
class Run:
    """A runner took the lease: from here on only its writes are admitted."""

    runner: str


@dataclass(frozen=True, slots=True)
class Assistant:
    """One finished step of the model. `seen` is the head that its request was built from.

    `run` and `seen` name its message on the wire. `step` counts since the last user message and `skipped`
    lists the digests of the asks skipped since then, and as `no:DIGEST` those of accounts refused, so that neither
    needs a look further back. `blob` is the provider's own form of the step: `{"format", "version", "blob"}`, opaque
    to everyone else.
    """

    run: str
    seen: int
    text: str = ""
    calls: tuple[Call, ...] = ()
    offered: tuple[str, ...] = ()
    step: int = 1
    skipped: tuple[str, ...] = ()
    blob: Json = None
    usage: Json = None

    @property
    def message_id(self) -> str:
        return f"{self.run}-{self.seen}"


@dataclass(frozen=True, slots=True)
class Began:
    """The bodies of these calls are about to start."""

    calls: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """A tool asked its user; its call waits."""

    interrupt: Interrupt


@dataclass(frozen=True, slots=True)
class Answered:
    """The user answered. `value` is the ask's own encoding of `T`; `payload` identifies what the client sent.

    `by` is who did, where it was somebody else than the conversation's owner. `files` came along.
    """

    interrupt: str
    call: str
    value: Json
    payload: str
    by: str | None = None
    files: tuple[File, ...] = ()


@dataclass(frozen=True, slots=True)
class Closed:
    """The question was closed without an answer. `by` is who skipped or declined it, as in `Answered`.

    `payload` identifies a no that came as an answer.
    """

    interrupt: str
    call: str
    ending: Ending
    note: str | None = None
    by: str | None = None
    payload: str | None = None


@dataclass(frozen=True, slots=True)
class Effect:
    """`ctx.once`: begun, then done, failed or unknown. `args` identifies the arguments."""

    call: str
    name: str
    args: str
    state: Literal["begun", "done", "failed", "unknown"]
    value: Json = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """What the model reads for a call: text, or JSON that is sent as compact text."""

    call: str
    content: Json
    status: Status = "ok"

    @property
    def text(self) -> str:
        return self.content if isinstance(self.content, str) else compact(self.content)


@dataclass(frozen=True, slots=True)
class Stopped:
    """The run ended before the model was done: `reason` is a slug, `message` is for the user."""

    reason: str
    retryable: bool = False
    message: str = ""


Body: TypeAlias = User | Run | Assistant | Began | Asked | Answered | Closed | Effect | Result | Stopped


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry in its place: `seq` from 1 without gaps, `at` in Unix seconds by the store's clock."""

    seq: int
    at: float
    body: Body
    scope: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        return KINDS[type(self.body)]

    @property
    def ref(self) -> str | None:
        """What must be unique: a client's message id, a call's result, an interrupt's ending."""
        match self.body:
            case User(id=ref) | Result(call=ref) | Answered(interrupt=ref) | Closed(interrupt=ref):
                return ref
            case Asked(interrupt=interrupt):
                return interrupt.id
            case _:
                return None


_TYPES: Final[dict[str, Callable[..., Body]]] = {
    "user": User,
    "run": Run,
    "assistant": Assistant,
    "began": Began,
    "asked": Asked,
    "answered": Answered,
    "closed": Closed,
    "effect": Effect,
    "result": Result,
    "stopped": Stopped,
}
KINDS: Final[Mapping[Any, str]] = {cls: name for name, cls in _TYPES.items()}


def compact(value: Json) -> str:
    """JSON without white space; the order of keys is kept."""
    return _encode(value)


_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode


def canonical(value: Json) -> bytes:
    """The same bytes for the same JSON value: sorted keys, no white space, UTF-8."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def digested(parts: Json) -> str:
    """128 bits of the SHA-256 of their canonical form, in hex."""
    return hashlib.sha256(canonical(parts)).hexdigest()[:32]


def storable(value: Json) -> Json:
    """The value with lone surrogates replaced: they are no characters, and neither disk nor wire takes them."""
    try:
        compact(value).encode()
    except UnicodeEncodeError:
        value = json.loads(compact(value).encode("utf-8", "replace"))
    return value


def dump(entry: Entry) -> str:
    """The stored JSON of an entry's body."""
    body: dict[str, Json] = {"v": VERSION}
    if entry.scope:
        body["scope"] = entry.scope
    return _encode(body | _sparse(entry.body))


def load(seq: int, at: float, kind: str, text: str) -> Entry:
    """Read an entry back. Raises `NewerLog` for a version, or a kind, that this release does not know."""
    data = json.loads(text)
    version = data.pop("v", 1)
    make = _TYPES.get(kind)
    if version > VERSION or make is None:
        raise NewerLog(max(version, VERSION + 1), VERSION)
    scope = tuple(data.pop("scope", ()))
    match kind:
        case "assistant":
            data["calls"] = tuple(_make(Call, call) for call in data.get("calls", ()))
            data["offered"] = tuple(data.get("offered", ()))
            data["skipped"] = tuple(data.get("skipped", ()))
        case "user" | "answered":
            data["files"] = tuple(_make(File, file) for file in data.get("files", ()))
        case "asked":
            data["interrupt"] = _make(Interrupt, data["interrupt"])
        case "began":
            data["calls"] = tuple(data["calls"])
    return Entry(seq, at, _make(make, data), scope)


@cache
def _defaults(cls: Callable[..., Any]) -> tuple[tuple[str, Any], ...]:
    """The fields of a dataclass with their defaults."""
    assert is_dataclass(cls)
    return tuple((field.name, field.default) for field in fields(cls))


def _sparse(value: Any) -> Json:
    if is_dataclass(value) and not isinstance(value, type):
        pairs = ((name, getattr(value, name), default) for name, default in _defaults(type(value)))
        return {name: _sparse(got) for name, got, default in pairs if default is MISSING or got != default}
    if isinstance(value, tuple):
        return [_sparse(item) for item in value]
    return value


def _make(cls: Callable[..., Any], data: Mapping[str, Any]) -> Any:
    try:
        return cls(**data)
    except TypeError:  # a field that this release does not know
        known = {name for name, _ in _defaults(cls)}
        return cls(**{name: value for name, value in data.items() if name in known})
