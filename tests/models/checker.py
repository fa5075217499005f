"""An independent reading of request bodies: what every provider demands of calls and their results.

It knows nothing of yourcall. It reads the three protocols as they are on the wire, and aimock's journal, which is in
the form of Chat Completions whatever the protocol was.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

Said: TypeAlias = tuple[str, str]
"""`("call", id)`, `("result", id)`, `("user", "")` or `("text", "")`, in the order of the request."""


class Malformed(AssertionError):
    """The provider would refuse this request."""


def check(body: dict[str, Any]) -> int:
    """Read one request; how many results it has. Raises `Malformed`."""
    said = list(_said(body))
    results = 0
    at = 0
    while at < len(said):
        kind, call_id = said[at]
        if kind == "result":
            raise Malformed(f"a result without its call, doubled, or not next to it: {call_id}")
        if kind != "call":
            at += 1
            continue
        end = at
        while end < len(said) and said[end][0] in ("call", "text"):
            end += 1
        calls = [name for word, name in said[at:end] if word == "call"]
        found = [name for _, name in said[end : end + len(calls)]]
        if [word for word, _ in said[end : end + len(calls)]] != ["result"] * len(calls):
            raise Malformed(f"results missing or not adjacent: wanted {calls}, found {said[end : end + len(calls)]}")
        if found != calls:
            raise Malformed(f"results in another order than their calls, or doubled: {found} for {calls}")
        results += len(calls)
        at = end + len(calls)
    return results


def _said(body: dict[str, Any]) -> Iterator[Said]:
    for message in body.get("input", body.get("messages", ())):
        match message:
            case {"type": "function_call", "call_id": call_id}:
                yield "call", call_id
            case {"type": "function_call_output", "call_id": call_id}:
                yield "result", call_id
            case {"role": "tool", "tool_call_id": call_id}:
                yield "result", call_id
            case {"role": "assistant"}:
                yield from _assistant(message)
            case {"role": "user", "content": list(blocks)}:
                yield from _user(blocks)
            case {"role": "user"}:
                yield "user", ""


def _assistant(message: dict[str, Any]) -> Iterator[Said]:
    content = message.get("content")
    for block in content if isinstance(content, list) else [{"type": "text"}] if content else []:
        yield ("call", block["id"]) if block["type"] == "tool_use" else ("text", "")
    for call in message.get("tool_calls") or ():
        yield "call", call["id"]


def _user(blocks: list[dict[str, Any]]) -> Iterator[Said]:
    for block in blocks:
        yield ("result", block["tool_use_id"]) if block["type"] == "tool_result" else ("user", "")
