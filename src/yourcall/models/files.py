"""What a model reads of the files that a message of the user brings.

Text is put into words for every provider. An image or a document goes as it is where the provider takes its type.
In the place of anything else stands one line that says what was given and why it cannot be read: a request that the
provider would refuse could not be mended by anyone. What is sent of a file is the same in every request.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final, TypeAlias

from pydantic_ai.messages import BinaryContent

from yourcall.entries import File
from yourcall.errors import FileGone
from yourcall.log import UserMessage
from yourcall.ports import ModelRequest
from yourcall.sizes import size

TEXTS: Final = frozenset({"application/json", "application/xml", "application/yaml"})
"""Media types that are text, beside `text/*`."""

TEXT_BYTES: Final = 200_000
IMAGE_BYTES: Final = 3_900_000
"""Anthropic refuses an image whose base64 is longer than 5 MiB."""
REQUEST_BYTES: Final = 14_000_000
"""All files of a request together, the latest first: Google takes 20 MB of base64, the others more."""

Shown: TypeAlias = Mapping[str, Sequence[str | BinaryContent]]
"""What stands for a file in its message, by its id."""


async def shown(request: ModelRequest, takes: Collection[str]) -> Shown:
    """Read the files of the messages that are sent; `takes` are the media types that go as they are."""
    left, made = REQUEST_BYTES, dict[str, Sequence[str | BinaryContent]]()
    for message in reversed(request.transcript):
        for file in message.files if isinstance(message, UserMessage) else ():
            made[file.id] = await _shown(file, request, takes, left)
            if any(isinstance(part, BinaryContent) for part in made[file.id]):
                left -= file.size
    return made


async def _shown(file: File, request: ModelRequest, takes: Collection[str], left: int) -> Sequence[str | BinaryContent]:
    text = file.type.startswith("text/") or file.type in TEXTS
    if not text and file.type not in takes:
        return [_line(file, "not readable by this model")]
    most = TEXT_BYTES if text else IMAGE_BYTES if file.type.startswith("image/") else left
    if file.size > min(most, left):
        return [_line(file, "too large to be sent")]
    try:
        data = await request.read(file)
        return [f"{_line(file)}\n{data.decode()}"] if text else [_line(file), BinaryContent(data, media_type=file.type)]
    except FileGone:
        return [_line(file, "not there any more")]
    except UnicodeDecodeError:
        return [_line(file, "not readable by this model")]


def _line(file: File, why: str = "") -> str:
    return f"[file {file.name}, {file.type}, {size(file.size)}{why and ': '}{why}]"
