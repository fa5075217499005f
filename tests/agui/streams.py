"""What the tests of streams share: logs made by hand, frames read back, and what AG-UI says of a whole stream."""

from __future__ import annotations

import json
from typing import Any

from ag_ui import core
from ag_ui_validate.pytest_plugin import validate_agui
from pydantic import TypeAdapter

from yourcall.entries import Answered, Asked, Assistant, Body, Call, Closed, Interrupt, Json, Result, User
from yourcall.log import Log

EVENT: TypeAdapter[core.Event] = TypeAdapter(core.Event)
MESSAGE: TypeAdapter[core.Message] = TypeAdapter(core.Message)

NOW = 1_700_000_000.0


def log(*bodies: Body) -> Log:
    return Log().plus(bodies, NOW)


def question(number: int = 1, *, call: str = "", kind: str = "interrupt", ask: Json = None, **more: Any) -> Interrupt:
    """An interrupt of the call of the same number."""
    payload = {"name": "colour", "reason": number} if ask is None else ask
    return Interrupt(f"ask-{number}", call or f"call-{number}", "#1", kind, payload, f"digest-{number}", **more)


def step(*calls: str, text: str = "", seen: int = 1) -> Assistant:
    return Assistant("run-a", seen, text, tuple(Call(call, "paint", '{"wall":1}') for call in calls))


def waiting(*more: Body) -> Log:
    """A user's message, a step of two calls, and both of them asking."""
    asked = (Asked(question(1)), Asked(question(2)))
    return log(User("Paint it", "m1"), step("call-1", "call-2", text="Sure."), *asked, *more)


def answered(number: int = 1, value: Json = "red") -> Answered:
    return Answered(f"ask-{number}", f"call-{number}", value, "payload")


def superseded(number: int = 1, note: str | None = None) -> Closed:
    return Closed(f"ask-{number}", f"call-{number}", "superseded", note)


def result(number: int = 1, content: Json = "done", **more: Any) -> Result:
    return Result(f"call-{number}", content, **more)


def events(data: bytes) -> list[dict[str, Any]]:
    """The events of a stream; each must be one of AG-UI's, with nothing that its type does not have."""
    assert b"\r" not in data
    found = []
    for block in data.decode().split("\n\n")[:-1]:
        lines = [line for line in block.split("\n") if not line.startswith(":")]
        if not lines:
            continue
        *marks, payload = lines
        assert all(mark.startswith("id: ") for mark in marks), block
        event = json.loads(payload.removeprefix("data: "))
        assert not EVENT.validate_python(event).model_extra, event
        found.append(event)
    return found


def types(data: bytes) -> list[str]:
    """The types of a stream's events, ours by their own names."""
    return [event.get("name") or event["type"] for event in events(data)]


def assert_conforms(stream: list[dict[str, Any]], *, resumed: bool = False) -> None:
    """The stream breaks no rule of AG-UI.

    The validator takes a result whose call an earlier stream announced for a mistake (AGUI207); in a resumed run
    it is the rule.
    """
    report = validate_agui(stream)
    found = [d for d in report.diagnostics if d.severity != "info" and not (resumed and d.rule == "AGUI207")]
    assert not found, "\n".join(d.message for d in found)
    assert not report.internal_errors
