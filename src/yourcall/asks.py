"""What a tool can want from its user: `Ask[T]`, and the type `T` that it gets.

An ask knows four things: what its card draws (`payload`), which answers are answers (`schema`, `parse`), what
makes it this question and no other (`identity`), and how an answer is kept (`encode`, `decode`). It does no I/O.
To make one of your own, subclass it with a `kind` and write a custom element `yc-KIND`; a page that does not
know the kind draws a form from the schema.
"""

from __future__ import annotations

import json
import math
from collections.abc import Awaitable, Callable
from typing import ClassVar, Generic, TypeAlias, TypeVar

from yourcall.entries import Channel, Json, compact, digested
from yourcall.errors import Unstorable
from yourcall.values import decode, encode

T = TypeVar("T")

Check: TypeAlias = Callable[[T], Awaitable[None] | None]
"""Looks at a parsed answer while the card is still open; raises `Rejected` to keep it open. Sync or async."""


class Ask(Generic[T]):
    """The base of every ask.

    `to` is who is asked in place of the conversation's owner: a user's id, or what `Engine(may_answer=)` makes of it,
    such as `"role:refunds"`. They see the question, and nothing else of the conversation.
    """

    kind: ClassVar[str]
    channel: ClassVar[Channel] = "form"
    """By which way its answer comes; one that comes by another is refused."""
    payload_says_all: ClassVar[bool] = False
    """Whether the answer's schema follows from the payload, so that the log need not keep both."""
    attachments: bool = False
    """Whether files may come along: the answer then has a member `files`, ids of files that were sent ahead."""
    answer_type: object = None
    """The type hint of `T`, by which stored answers get their classes back."""
    title: str = ""
    to: str | None = None
    check: Check[T] | None = None

    def payload(self) -> Json:
        """What the card draws: plain JSON, inert text."""
        raise NotImplementedError

    def schema(self) -> Json:
        """JSON Schema of the answer that the client sends."""
        raise NotImplementedError

    def identity(self) -> Json:
        """What the digest covers beside kind, key and schema: texts that would make it another question."""
        raise NotImplementedError

    def parse(self, answer: Json) -> T:
        """The client's answer as a `T`. Raises `Rejected`, with a fault for each field, and then nothing is lost;
        and `Declined` for an answer that says no."""
        raise NotImplementedError

    def encode(self, value: T) -> Json:
        """The stored form of an answer. Raises `Unstorable`."""
        return encode(value, self.answer_type, field="answer")

    def decode(self, stored: Json) -> T:
        """A stored answer with its types; it is not validated again."""
        value: T = decode(stored, self.answer_type)
        return value


class Raw(Ask[Json]):
    """`ctx.interrupt`: a name and a reason go out, the client's JSON comes back as it is."""

    kind = "interrupt"
    payload_says_all = True

    def __init__(self, name: str, reason: Json = None) -> None:
        self.name, self.reason, self.title = name, reason, name

    def payload(self) -> Json:
        return {"name": self.name, "reason": self.reason}

    def schema(self) -> Json:
        return {}

    def identity(self) -> Json:
        return [self.name, self.reason]

    def parse(self, answer: Json) -> Json:
        return answer

    def encode(self, value: Json) -> Json:
        return value

    def decode(self, stored: Json) -> Json:
        return _copied(stored)


def shown(ask: Ask[T]) -> Json:
    """The payload as any process will read it, checked to be plain JSON. Raises `Unstorable`, naming the field."""
    payload = ask.payload()
    _require_json(payload, f"{ask.kind}", 0)
    return _copied(payload)


def _copied(value: Json) -> Json:
    """The log's values are not a body's to change, nor a body's the log's."""
    return json.loads(compact(value))


def _require_json(value: object, field: str, depth: int) -> None:
    match value:
        case None | bool() | int():
            return
        case str() if value.isascii() or value.encode("utf-8", "replace").decode() == value:
            return
        case float() if math.isfinite(value):
            return
        case list() | tuple() if depth < 64:
            for index, item in enumerate(value):
                _require_json(item, f"{field}[{index}]", depth + 1)
        case dict() if depth < 64 and all(isinstance(name, str) for name in value):
            for name, item in value.items():
                _require_json(item, f"{field}.{name}", depth + 1)
        case _:
            raise Unstorable(field, type(value).__name__, "What a card shows must be plain JSON.")


def digest(ask: Ask[T], key: str, hide: Callable[[Json], Json] = lambda parts: parts) -> str:
    """What must stay the same for an answer to be this question's answer; 128 bits of SHA-256, in hex.

    `hide` takes out what must not be in the log: a short secret is found again from its hash.
    """
    parts = hide([ask.kind, key, _without_descriptions(ask.schema()), ask.identity()])
    if ask.to is not None:  # put to somebody else, it is another question
        parts.append(ask.to)
    return digested(parts)


def payload_digest(payload: Json) -> str:
    """Identifies what the client sent, so that sending it again is recognised."""
    return digested(payload)


def _without_descriptions(schema: Json) -> Json:
    """Help texts may change while a question is open; only the annotation goes, not a property of that name."""
    if isinstance(schema, list):
        return [_without_descriptions(item) for item in schema]
    if isinstance(schema, dict):
        kept = ((name, item) for name, item in schema.items() if name != "description" or not isinstance(item, str))
        return {name: _without_descriptions(item) for name, item in kept}
    return schema
