"""The endpoints of files: answer a question with one, send one ahead of a message, get one back.

What is given back is never a page of ours: it is saved, not shown, and whoever shows it all the same runs nothing.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Final
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from yourcall import agui, errors
from yourcall.engine import Engine
from yourcall.entries import Answered, Closed, File, Json
from yourcall.faults import is_id
from yourcall.files import MOST_NAMED, FileAnswer
from yourcall.ports import Found, Key
from yourcall.upload import ACTIVE, MAX_BYTES, Rules
from yourcall.web.interrupts import digest_of, ended, require_id
from yourcall.web.multipart import file_of, require_length
from yourcall.web.problems import JsonResponse
from yourcall.web.users import user_of

SENT: Final = Rules(
    accept=("image/*", "text/*", "audio/*", "video/*", ".pdf", ".json", ".docx", ".xlsx", ".pptx"), max_bytes=MAX_BYTES
)
"""The files that may come with a message, when nobody has asked for one."""

INERT: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}


class FileRoutes:
    """A file is read only as far as whoever asked for it allows; `sent` is what may come with a message."""

    def __init__(self, engine: Engine[Any], sent: Rules = SENT) -> None:
        self._engine, self._sent = engine, sent

    def taken(self) -> Json:
        """What may be sent ahead, for a file picker; None where files have no place."""
        if not self._engine.takes_files:
            return None
        return {"accept": self._sent.shown, "maxBytes": self._sent.max_bytes, "most": MOST_NAMED}

    async def answer(self, id: str, request: Request) -> Response:
        """Answer a question with a file. The same file again, by name and content, gets the recorded outcome."""
        user = user_of(request)
        require_id(id)
        found = await self._engine.find(id, user=user)
        if found.interrupt.channel != "upload":
            raise errors.WrongChannel(found.interrupt.channel)
        require_length(request, _limit(found))
        # Whoever answers, it is a file of that conversation.
        given = FileAnswer(self._engine.files, found.key.owner, file_of(request))
        try:
            return await ended(self._engine, id, user, self._take(found, given, request))
        finally:
            await given.release()

    async def _take(self, found: Found, given: FileAnswer, request: Request) -> Answered | Closed:
        id, user, digest = found.interrupt.id, user_of(request), digest_of(request)
        try:
            return await self._engine.answering.take(id, given, user=user, digest=digest)
        except errors.AlreadyAnswered:
            if given.mark:
                raise
        await given.recognise(_limit(found))
        return await self._engine.answering.take(id, given, user=user, digest=digest)

    async def send(self, request: Request) -> Response:
        """Send a file ahead; a message that names its `id` within an hour keeps it."""
        source, user = file_of(request), user_of(request)
        require_length(request, self._sent.max_bytes)
        file, _ = await self._engine.files.receive(user, source, self._sent)
        return JsonResponse(agui.file(file), 201)

    async def read(self, id: str, file: str, request: Request) -> Response:
        """A file of a conversation, to be saved."""
        files, key = self._engine.files, Key(user_of(request), id)
        kept = await files.kept(key) if is_id(id) else ()
        found = next((one for one in kept if one.id == file), None)
        if found is None:
            raise errors.NotFound("file")
        pieces = files.blobs.stream(found.id)
        try:
            first = await anext(pieces, b"")
        except errors.FileGone:
            raise errors.NotFound("file") from None
        return StreamingResponse(_all(first, pieces), headers=INERT | _described(found))


async def _all(first: bytes, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for piece in pieces:
        yield piece


def _described(file: File) -> dict[str, str]:
    """The name as RFC 6266 and RFC 8187 have it: percent-encoded, so that nothing in it is a header's."""
    return {
        "Content-Type": "application/octet-stream" if file.type in ACTIVE else file.type,
        "Content-Length": str(file.size),
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(file.name, safe='')}",
    }


def _limit(found: Found) -> int:
    """What the card says of the size; the live ask has the last word."""
    limit: Json = found.interrupt.ask.get("maxBytes")
    return limit if isinstance(limit, int) else MAX_BYTES
