"""A transcript as pydantic-ai's messages, in the order that every provider takes.

All results of a step stand in the message after it, in call order; what the user wrote follows them. That is how a
transcript is ordered already, so the messages are one pass over it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from pydantic_ai import messages as theirs

from yourcall.entries import Call, Json
from yourcall.log import AssistantMessage, ToolMessage, Transcript, UserMessage
from yourcall.models import blobs
from yourcall.models.files import Shown

FORMAT = "pydantic-ai"

NOTHING = "(empty)"
"""In the place of text without a character: some providers refuse a message of nothing."""


def messages(transcript: Transcript, files: Shown, taped: dict[int, str], at: str) -> list[theirs.ModelMessage]:
    """The messages of a request; `taped` are the marks of steps that a tape puts in, by their place, `at` who reads."""
    made: list[theirs.ModelMessage] = []
    parts: list[theirs.ModelRequestPart] = []
    for number, message in enumerate(transcript):
        match message:
            case UserMessage(text, given):
                shown = [part for file in given for part in files[file.id]]
                said = [text] if text.strip() or not shown else []
                parts.append(theirs.UserPromptPart([*shown, *said] if shown else _some(text)))
            case ToolMessage(call_id, tool, text):
                parts.append(theirs.ToolReturnPart(tool, _some(text), call_id))
            case AssistantMessage():
                if parts:
                    made.append(theirs.ModelRequest(parts))
                    parts = []
                mark = taped.get(number)
                made.append(_response(message, at) if mark is None else theirs.ModelResponse([theirs.TextPart(mark)]))
    if parts:
        made.append(theirs.ModelRequest(parts))
    return made


def _some(text: str) -> str:
    return text if text.strip() else NOTHING


def _response(message: AssistantMessage, at: str) -> theirs.ModelResponse:
    return _theirs(message, at) or neutral(message)


def neutral(message: AssistantMessage) -> theirs.ModelResponse:
    """A step as any provider reads it: its text and its calls."""
    text = [theirs.TextPart(message.text)] if message.text.strip() else []
    calls = [theirs.ToolCallPart(call.tool, arguments(call), call.id) for call in message.calls]
    return theirs.ModelResponse([*text, *calls])


def arguments(call: Call) -> dict[str, Json]:
    """A call's arguments as the object that every provider wants back, whatever the model wrote."""
    try:
        value = json.loads(call.args or "{}")
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {"INVALID_JSON": call.args}


# --------------------------------------------------------------------------- blobs of pydantic-ai


def dump(response: theirs.ModelResponse, at: str) -> Json:
    """A response of this provider as it is kept; a later pydantic-ai reads it."""
    (data,) = theirs.ModelMessagesTypeAdapter.dump_python([response], mode="json")
    return blobs.write(FORMAT, {"at": at, "response": data})


def _theirs(message: AssistantMessage, at: str) -> theirs.ModelResponse | None:
    match blobs.read(message, FORMAT):
        case {"at": written, "response": data} if written == at:
            pass
        case _:
            return None
    try:
        (response,) = theirs.ModelMessagesTypeAdapter.validate_python([data])
        assert isinstance(response, theirs.ModelResponse)
        return _with_ids(response, message.calls)
    except Exception:  # whatever a later version makes of it
        return None


def _with_ids(response: theirs.ModelResponse, calls: Iterable[Call]) -> theirs.ModelResponse | None:
    """With the ids of the log, where one that the model repeated has got a suffix."""
    ids = [call.id for call in calls]
    made = [part for part in response.parts if isinstance(part, theirs.ToolCallPart)]
    if len(made) != len(ids):
        return None
    for part, call_id in zip(made, ids, strict=True):
        part.tool_call_id = call_id
    return response
