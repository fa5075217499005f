"""The forms in which providers send a step and want it back: read from their stream, piece by piece, nothing dropped.

Two protocols are kept whole here, since they seal parts of a step (thinking, reasoning, results of their own tools)
and refuse them when a byte is missing. A block that nobody knows yet is kept like any other. The calls' ids follow
those in the log: an id that the model repeated has got a suffix there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Protocol

from yourcall.entries import Call, Json


class Wire(Protocol):
    """One provider's protocol."""

    @property
    def format(self) -> str:
        """The name of the blobs."""

    def reader(self) -> Reader:
        """What listens to one response."""

    def with_ids(self, items: Sequence[Json], calls: Sequence[Call]) -> list[Json] | None:
        """The items as they are sent back; None where they are not the form of these calls."""

    def placed(self, body: dict[str, Json], steps: Mapping[str, Sequence[Json]]) -> dict[str, Json]:
        """A request's body with each step in the place of the mark that stands for it."""


class Reader(Protocol):
    """Takes the events of one response."""

    def take(self, event: Json) -> None: ...

    def items(self) -> list[Json]:
        """The step's parts, once the stream is over."""


# --------------------------------------------------------------------------- Anthropic Messages


class AnthropicReader:
    """Puts content blocks together. A delta of an unknown kind goes by the rule that the known ones follow."""

    def __init__(self) -> None:
        self._blocks: dict[int, dict[str, Json]] = {}
        self._input: dict[int, str] = {}

    def take(self, event: Json) -> None:
        match event:
            case {"type": "content_block_start", "index": int(index), "content_block": dict(block)}:
                self._blocks[index] = dict(block)
            case {"type": "content_block_delta", "index": int(index), "delta": dict(delta)} if index in self._blocks:
                self._add(index, {key: value for key, value in delta.items() if key != "type"})

    def _add(self, index: int, delta: dict[str, Json]) -> None:
        block = self._blocks[index]
        for key, value in delta.items():
            if key == "partial_json":
                self._input[index] = self._input.get(index, "") + value
            elif key == "citation":
                block["citations"] = [*(block.get("citations") or ()), value]
            elif isinstance(value, str) and isinstance(block.get(key), str):
                block[key] += value
            elif value is not None:
                block[key] = value

    def items(self) -> list[Json]:
        return [self._whole(index, block) for index, block in sorted(self._blocks.items())]

    def _whole(self, index: int, block: dict[str, Json]) -> Json:
        if text := self._input.get(index):
            block = block | {"input": _object(text)}
        return block


def _object(text: str) -> Json:
    """Arguments as an object. What is none is wrapped: the provider takes nothing else back."""
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {"INVALID_JSON": text}


class AnthropicMessages:
    format: Final = "anthropic-messages"

    def reader(self) -> Reader:
        return AnthropicReader()

    def with_ids(self, items: Sequence[Json], calls: Sequence[Call]) -> list[Json] | None:
        return _with_ids(items, calls, "tool_use", "id")

    def placed(self, body: dict[str, Json], steps: Mapping[str, Sequence[Json]]) -> dict[str, Json]:
        messages: list[Json] = []
        for message in body.get("messages", ()):
            mark = _mark(message.get("content"), steps) if message.get("role") == "assistant" else None
            if mark is None:
                messages.append(message)
            elif content := _ended([block for block in steps[mark] if not _void(block)]):
                messages.append(message | {"content": content})
        return body | {"messages": messages}


def _void(block: Json) -> bool:
    """A text block of nothing, which the provider writes but refuses to read."""
    return isinstance(block, dict) and block.get("type") == "text" and not str(block.get("text", "")).strip()


# --------------------------------------------------------------------------- OpenAI Responses


class ResponsesReader:
    """Collects output items, each as its own last event has it; the final event may hold them all."""

    def __init__(self) -> None:
        self._items: dict[int, Json] = {}

    def take(self, event: Json) -> None:
        match event:
            case {"type": "response.output_item.done", "output_index": int(index), "item": item}:
                self._items[index] = item
            case {"type": "response.completed", "response": {"output": [_, *_] as output}}:
                self._items = dict(enumerate(output))

    def items(self) -> list[Json]:
        return [item for _, item in sorted(self._items.items())]


class OpenAIResponses:
    format: Final = "openai-responses"

    def reader(self) -> Reader:
        return ResponsesReader()

    def with_ids(self, items: Sequence[Json], calls: Sequence[Call]) -> list[Json] | None:
        return _with_ids(items, calls, "function_call", "call_id")

    def placed(self, body: dict[str, Json], steps: Mapping[str, Sequence[Json]]) -> dict[str, Json]:
        sent: list[Json] = []
        for item in body.get("input", ()):
            mark = _mark(item.get("content"), steps) if item.get("role") == "assistant" else None
            sent.extend([item] if mark is None else _ended(steps[mark]))
        return body | {"input": sent}


# --------------------------------------------------------------------------- both

REASONING: Final = ("thinking", "redacted_thinking", "reasoning")


def _with_ids(items: Sequence[Json], calls: Sequence[Call], kind: str, field: str) -> list[Json] | None:
    ids = iter([call.id for call in calls])
    mended: list[Json] = []
    for item in items:
        if isinstance(item, dict) and item.get("type") == kind:
            call_id = next(ids, None)
            if call_id is None:
                return None
            item = item if item.get(field) == call_id else item | {field: call_id}  # noqa: PLW2901  # the one with its id
        mended.append(item)
    return None if next(ids, None) is not None else mended


def _ended(items: Sequence[Json]) -> Sequence[Json]:
    """Without reasoning that leads to nothing: providers refuse it where no text and no call follows."""
    end = len(items)
    while end and isinstance(items[end - 1], dict) and items[end - 1].get("type") in REASONING:
        end -= 1
    return items[:end]


def _mark(content: Any, steps: Iterable[str]) -> str | None:
    """The mark that an assistant's message consists of, if it is one."""
    match content:
        case str():
            text = content
        case [{"text": str(text)}]:
            pass
        case _:
            return None
    return text if text in steps else None
