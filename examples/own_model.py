"""A model of your own: the `Model` port on Anthropic's SDK, and nothing else in between.

This is all that it takes. It keeps a step's content as it came, so that thinking and its signatures, and blocks that
nobody knows yet, go back unchanged; and it counts a step only when the provider has said why it ended.
"""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any, Final

import anthropic
import httpx2

from yourcall import ModelFailed
from yourcall.entries import Call, File
from yourcall.errors import FileGone
from yourcall.log import AssistantMessage, ToolMessage, UserMessage
from yourcall.ports import Finished, ModelEvent, ModelRequest, TextDelta

FORMAT: Final = "anthropic-messages"
"""What yourcall's own model calls the same form, so that either reads the other's steps."""
IMAGES: Final = ("image/png", "image/jpeg", "image/gif", "image/webp")
IMAGE_BYTES: Final = 3_900_000


class AnthropicModel:
    """A `Model` for `Agent(AnthropicModel("claude-sonnet-5"))`. `Agent(settings=...)` are arguments of the SDK's."""

    def __init__(self, model: str, *, client: anthropic.AsyncAnthropic | None = None) -> None:
        self.model = model
        self.client = client or anthropic.AsyncAnthropic(max_retries=3)

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        try:
            async for event in self._stream(request):
                yield event
        except anthropic.APIStatusError as error:
            passing = error.status_code in (408, 409, 429) or error.status_code >= 500
            raise ModelFailed(f"The model answered with an error ({error.status_code}).", retryable=passing) from error
        except (anthropic.APIError, httpx2.HTTPError, json.JSONDecodeError) as error:
            raise ModelFailed("The connection to the model broke. Try again.") from error

    async def _stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        options: dict[str, Any] = {"max_tokens": 8192, **request.settings}
        if request.tools:
            options["tools"] = [
                {"name": tool.name, "description": tool.description, "input_schema": tool.schema}
                for tool in request.tools
            ]
        if request.instructions:
            options["system"] = request.instructions
        messages = await self._messages(request)
        async with self.client.messages.stream(model=self.model, messages=messages, **options) as stream:
            async for text in stream.text_stream:
                yield TextDelta(text)
            message = await stream.get_final_message()
        if message.stop_reason not in ("end_turn", "stop_sequence", "tool_use"):
            raise ModelFailed("The model did not finish its step.", retryable=message.stop_reason is None)
        content = [block.to_dict(mode="json") for block in message.content]
        yield Finished(
            text="".join(block.text for block in message.content if block.type == "text"),
            calls=tuple(
                Call(block.id, block.name, json.dumps(block.input))
                for block in message.content
                if block.type == "tool_use"
            ),
            blob={"format": FORMAT, "version": 1, "blob": {"at": self.client.base_url.host, "items": content}},
            usage=_usage(message.model, message.usage),
        )

    async def _messages(self, request: ModelRequest) -> list[Any]:
        """The transcript is in order already: here it only becomes Anthropic's, where results are the user's."""
        messages: list[Any] = []
        for message in request.transcript:
            match message:
                case AssistantMessage():
                    if content := self._content(message):
                        messages.append({"role": "assistant", "content": content})
                case ToolMessage(call_id, _, text):
                    self._user(messages, {"type": "tool_result", "tool_use_id": call_id, "content": text or "(empty)"})
                case UserMessage(text, files):
                    for file in files:
                        self._user(messages, await self._file(file, request))
                    self._user(messages, {"type": "text", "text": text or "(empty)"})
        return messages

    @staticmethod
    async def _file(file: File, request: ModelRequest) -> dict[str, Any]:
        """An image as the model sees it; of anything else it is told."""
        with suppress(FileGone):
            if file.type in IMAGES and file.size <= IMAGE_BYTES:
                data = base64.b64encode(await request.read(file)).decode()
                return {"type": "image", "source": {"type": "base64", "media_type": file.type, "data": data}}
        return {"type": "text", "text": f"[file {file.name}, {file.type}: not readable]"}

    @staticmethod
    def _user(messages: list[Any], block: dict[str, Any]) -> None:
        if not messages or messages[-1]["role"] != "user":
            messages.append({"role": "user", "content": []})
        messages[-1]["content"].append(block)

    def _content(self, message: AssistantMessage) -> list[Any]:
        """The step as it came; or, if another provider made it, its text and its calls."""
        ids = iter(message.calls)
        match message.blob:
            case {"format": "anthropic-messages", "version": 1, "blob": {"at": at, "items": [*items]}} if (
                at == self.client.base_url.host
            ):
                return [
                    # an id that the model used before has got a suffix in the log
                    block | {"id": next(ids).id} if block["type"] == "tool_use" else block
                    for block in items
                    if block["type"] != "text" or block["text"].strip()
                ]
        text = [{"type": "text", "text": message.text}] if message.text.strip() else []
        calls = [
            {"type": "tool_use", "id": call.id, "name": call.tool, "input": json.loads(call.args)}
            for call in message.calls
        ]
        return [*text, *calls]


def _usage(model: str, usage: anthropic.types.Usage) -> dict[str, Any]:
    """Anthropic counts what its cache held apart from the input; the port wants it as a part of it."""
    read, written = usage.cache_read_input_tokens or 0, usage.cache_creation_input_tokens or 0
    return {
        "provider": "anthropic",
        "model": model,
        "input_tokens": usage.input_tokens + read + written,
        "output_tokens": usage.output_tokens,
        "cached_input_tokens": read,
        "cache_write_input_tokens": written,
    }
