"""One file out of a `multipart/form-data` body (RFC 7578), handed on as it comes; nothing is collected.

The body has one part, named `file`. What is in its headers is a name for people and nothing else; its own word for
its type is not believed. https://datatracker.ietf.org/doc/html/rfc7578
"""

from __future__ import annotations

from typing import Any, Final

from python_multipart import MultipartParser
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import parse_options_header
from starlette.requests import Request

from yourcall.errors import FileTooLarge, Refused
from yourcall.files import Put, Source
from yourcall.web.problems import InvalidRequest

FIELD: Final = b"file"
FRAME: Final = 16 << 10
"""Bytes that a body may have around its file."""


class NotMultipart(Refused):
    """A file is sent as a form sends it, and in no other way: JSON that describes one is none."""

    slug, status = "media-type", 415

    def __init__(self) -> None:
        super().__init__("Send the file as multipart/form-data.")


class Malformed(Refused):
    """The parts of the body cannot be told apart, or its last one has no end."""

    slug, status = "malformed-body", 400

    def __init__(self) -> None:
        super().__init__("The body is not valid multipart/form-data.")


def file_of(request: Request) -> Source:
    """The one file that the request brings, to be read once. Raises `NotMultipart` before anything is read."""
    media_type, options = parse_options_header(request.headers.get("content-type"))
    if media_type != b"multipart/form-data" or not options.get(b"boundary"):
        raise NotMultipart

    async def source(put: Put) -> str:
        part = _Part()
        try:
            parser = MultipartParser(options[b"boundary"], part.callbacks)  # type: ignore[arg-type]  # all of ours fit
            async for chunk in request.stream():
                parser.write(chunk)
                if data := part.take():
                    await put(data)
                part.weigh(len(chunk))
        except FormParserError:
            raise Malformed from None
        return part.ended()

    return source


def require_length(request: Request, limit: int) -> None:
    """Refuse what says by itself that it is too large. Raises `FileTooLarge`."""
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > limit + FRAME:
        raise FileTooLarge(limit)


class _Part:
    """What the parser has found: the headers of the part, and data that is not handed on yet."""

    def __init__(self) -> None:
        self.callbacks: dict[str, Any] = {
            "on_part_begin": self._begin,
            "on_header_field": self._field,
            "on_header_value": self._value,
            "on_header_end": self._header,
            "on_headers_finished": self._headers,
            "on_part_data": self._data,
            "on_end": self._end,
        }
        self._parts, self._frame = 0, 0
        self._name, self._text = bytearray(), bytearray()
        self._disposition = b""
        self._file: str | None = None
        self._pending: list[bytes] = []
        self._over = False

    def take(self) -> bytes:
        """What came of the file since."""
        taken = b"".join(self._pending)
        self._pending.clear()
        self._frame -= len(taken)
        return taken

    def weigh(self, read: int) -> None:
        """Whatever is no part of the file, before it, around it and behind it, is not much."""
        self._frame += read
        if self._frame > FRAME:
            raise Malformed

    def ended(self) -> str:
        """The file's name, once all of it was read."""
        if not self._over:
            raise Malformed
        if self._file is None:
            raise InvalidRequest("/file", "Send one file.")
        return self._file

    def _begin(self) -> None:
        self._parts += 1
        if self._parts > 1:
            raise InvalidRequest("", "Send one file, and nothing else.")

    def _field(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end]

    def _value(self, data: bytes, start: int, end: int) -> None:
        self._text += data[start:end]

    def _header(self) -> None:
        if self._name.lower() == b"content-disposition":
            self._disposition = bytes(self._text)
        self._name.clear()
        self._text.clear()

    def _headers(self) -> None:
        _, options = parse_options_header(self._disposition.decode("latin-1"))
        if options.get(b"name") != FIELD or b"filename" not in options:
            raise InvalidRequest("", "Expected a file under the name `file`.")
        # Browsers write the name in the page's encoding and these two characters escaped (WHATWG HTML, 4.10.21.8).
        self._file = options[b"filename"].decode("utf-8", "replace").replace("%22", '"').replace("%0D%0A", " ")

    def _data(self, data: bytes, start: int, end: int) -> None:
        self._pending.append(data[start:end])

    def _end(self) -> None:
        self._over = True
