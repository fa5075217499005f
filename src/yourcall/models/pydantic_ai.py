"""Any provider that pydantic-ai's model layer knows, as our `Model`.

A step counts only when the provider said why it ended: both big SDKs hand back half a step without a word when a
stream is cut cleanly. Of pydantic-ai, `direct` and `messages` are used, not its agent.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, cast

from pydantic_ai import messages as theirs
from pydantic_ai.direct import model_request_stream
from pydantic_ai.models import Model as TheirModel
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.native_tools import AbstractNativeTool
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.usage import RequestUsage

from yourcall.entries import Call, Json
from yourcall.errors import ModelFailed
from yourcall.log import AssistantMessage, Transcript
from yourcall.models import blobs, failures, history
from yourcall.models.files import Shown, shown
from yourcall.models.tape import Deck, Tape
from yourcall.models.wire import Wire
from yourcall.ports import Finished, ModelEvent, ModelRequest, TextDelta, ToolSpec

CONTINUATIONS: Final = 10
"""How often a provider may break off a long step to be asked to go on with it."""


@dataclass(frozen=True)
class Source:
    """A model of theirs, with what keeps its steps whole on the wire, where its protocol is known.

    `takes` are the media types of files that its provider takes as they are.
    """

    model: TheirModel
    takes: Collection[str] = ()
    deck: Deck | None = None
    wire: Wire | None = None
    defaults: dict[str, Json] = field(default_factory=dict)


class PydanticAI:
    """A `Model` on one of pydantic-ai's models."""

    def __init__(self, source: Source, *, native_tools: Sequence[AbstractNativeTool] = ()) -> None:
        self._source, self._native = source, list(native_tools)

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        whole = _Whole()
        files = await shown(request, self._source.takes)
        for _ in range(CONTINUATIONS):
            async for piece in self._part(request, files, whole):
                yield piece
            if not whole.suspended:
                yield whole.finished(self._blob(whole))
                return
        raise ModelFailed(failures.CUT, retryable=False)

    async def _part(self, request: ModelRequest, files: Shown, whole: _Whole) -> AsyncIterator[TextDelta]:
        """One request and its response: a step, or as much of it as the provider gives at a time."""
        try:
            with self._playing(request.transcript, files, whole) as (messages, tape, headers):
                settings = self._settings(request, headers)
                parameters = self._parameters(request)
                async with model_request_stream(
                    self._source.model, messages, model_settings=settings, model_request_parameters=parameters
                ) as stream:
                    async for event in stream:
                        if text := _text(event):
                            yield TextDelta(text)
                    if tape and tape.torn:
                        raise ModelFailed(failures.BROKEN)
                    whole.take(_complete(stream.get()), tape.items() if tape else [])
        except Exception as error:
            if failed := failures.failure(error):
                raise failed from error
            raise

    # ----------------------------------------------------------------- what is sent

    @contextmanager
    def _playing(
        self, transcript: Transcript, files: Shown, whole: _Whole
    ) -> Iterator[tuple[list[theirs.ModelMessage], Tape | None, dict[str, str]]]:
        deck, wire = self._source.deck, self._source.wire
        if deck is None or wire is None:
            yield [*history.messages(transcript, files, {}, self._who), *whole.responses], None, {}
            return
        steps: dict[str, list[Json]] = {}
        taped: dict[int, str] = {}
        for number, message in enumerate(transcript):
            if isinstance(message, AssistantMessage) and (items := self._items(message, wire)) is not None:
                taped[number] = _mark(steps, items)
        messages = history.messages(transcript, files, taped, self._who)
        if whole.items:
            messages.append(theirs.ModelResponse([theirs.TextPart(_mark(steps, whole.items))]))
        tape = Tape.blank(wire, steps)
        with deck.playing(tape) as headers:
            yield messages, tape, headers

    def _settings(self, request: ModelRequest, headers: dict[str, str]) -> ModelSettings:
        settings: dict[str, Any] = {"max_retries": 0, **self._source.defaults, **request.settings}
        if headers:
            settings["extra_headers"] = {**settings.get("extra_headers", {}), **headers}
        return cast(ModelSettings, settings)  # whatever the app gave the agent

    def _parameters(self, request: ModelRequest) -> ModelRequestParameters:
        instructions = [theirs.InstructionPart(request.instructions)] if request.instructions else []
        return ModelRequestParameters(
            function_tools=[_tool(spec) for spec in request.tools],
            native_tools=self._native,
            instruction_parts=instructions,
        )

    # ----------------------------------------------------------------- what is kept

    def _items(self, message: AssistantMessage, wire: Wire) -> list[Json] | None:
        match blobs.read(message, wire.format):
            case {"at": at, "items": list(items)} if at == self._at:
                return wire.with_ids(items, message.calls)
            case _:
                return None

    def _blob(self, whole: _Whole) -> Json:
        wire = self._source.wire
        if wire is None:
            return history.dump(whole.joined(), self._who)
        return blobs.write(wire.format, {"at": self._at, "items": whole.items})

    @property
    def _at(self) -> str:
        """Who seals what is in a blob, and alone can read it."""
        return (self._source.model.base_url or "").split("//")[-1].split("/")[0].split(":")[0]

    @property
    def _who(self) -> str:
        """The same for a blob of pydantic-ai's, which may be any provider's."""
        return f"{self._source.model.system} {self._at}"


class _Whole:
    """A step as it comes together, of one response or of several."""

    def __init__(self) -> None:
        self.responses: list[theirs.ModelResponse] = []
        self.items: list[Json] = []

    def take(self, response: theirs.ModelResponse, items: list[Json]) -> None:
        self.responses.append(response)
        self.items += items

    @property
    def suspended(self) -> bool:
        return self.responses[-1].state == "suspended"

    def joined(self) -> theirs.ModelResponse:
        *_, last = self.responses
        last.parts = [part for response in self.responses for part in response.parts]
        return last

    def finished(self, blob: Json) -> Finished:
        parts = [part for response in self.responses for part in response.parts]
        return Finished(
            text="".join(part.content for part in parts if isinstance(part, theirs.TextPart)),
            calls=tuple(_call(part) for part in parts if isinstance(part, theirs.ToolCallPart)),
            blob=blob,
            usage=_usage(self.responses),
        )


def _mark(steps: dict[str, list[Json]], items: list[Json]) -> str:
    """A text that stands for a step until the tape puts it in; nobody can have written it before."""
    mark = f"yourcall:{secrets.token_hex(8)}"
    steps[mark] = items
    return mark


def _tool(spec: ToolSpec) -> ToolDefinition:
    return ToolDefinition(name=spec.name, parameters_json_schema=spec.schema, description=spec.description)


def _text(event: object) -> str:
    match event:
        case theirs.PartStartEvent(part=theirs.TextPart(content=text)):
            return text
        case theirs.PartDeltaEvent(delta=theirs.TextPartDelta(content_delta=text)):
            return text
        case _:
            return ""


def _complete(response: theirs.ModelResponse) -> theirs.ModelResponse:
    """The response, if the provider finished it. Raises `ModelFailed` for half of one, and for a refusal."""
    if response.finish_reason == "content_filter":
        raise ModelFailed(failures.REFUSED, retryable=False)
    why = (response.provider_details or {}).get("finish_reason")
    if why == "model_context_window_exceeded":
        raise ModelFailed(failures.TOO_LONG, retryable=False)
    if why is None or response.finish_reason == "error" or response.state not in ("complete", "suspended"):
        raise ModelFailed(failures.EARLY)
    if response.finish_reason == "length" and response.tool_calls:
        raise ModelFailed(failures.CUT, retryable=False)
    return response


def _call(part: theirs.ToolCallPart) -> Call:
    return Call(part.tool_call_id, part.tool_name, part.args if isinstance(part.args, str) else part.args_as_json_str())


def _usage(responses: Sequence[theirs.ModelResponse]) -> Json:
    """The tokens of a step, in the words of the port: all input, what of it came from a cache or went into one."""
    total = sum((response.usage for response in responses), RequestUsage())
    counts = {
        "input_tokens": total.input_tokens,
        "output_tokens": total.output_tokens,
        "cached_input_tokens": total.cache_read_tokens,
        "cache_write_input_tokens": total.cache_write_tokens,
        "reasoning_tokens": total.details.get("reasoning_tokens", 0),
    }
    names = {"provider": responses[-1].provider_name, "model": responses[-1].model_name}
    return {name: value for name, value in {**names, **counts}.items() if value}
