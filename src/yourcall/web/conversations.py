"""The endpoints of conversations: start, list, read and delete them, write to them, follow them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final
from uuid import uuid4

from starlette.requests import Request
from starlette.responses import Response

from yourcall import agui
from yourcall.engine import Conversation, Engine
from yourcall.entries import Json
from yourcall.errors import NotFound
from yourcall.faults import is_id
from yourcall.log import Done, Phase, Waiting
from yourcall.ports import Listed
from yourcall.web.bodies import id_of, ids_of, members, read_json, text_of
from yourcall.web.cursors import cursor, place
from yourcall.web.problems import JsonResponse
from yourcall.web.streams import Streams
from yourcall.web.users import user_of

PAGE: Final = 100
"""Conversations that are listed at once."""


class Conversations:
    """`about` names the agent in every snapshot."""

    def __init__(self, engine: Engine[Any], streams: Streams, about: Json) -> None:
        self._engine, self._streams, self._about = engine, streams, about

    async def create(self, request: Request) -> Response:
        """Start a conversation. The client may choose its id, which is this user's alone."""
        body = members(await read_json(request, optional=True) or {}, "id")
        chosen = id_of(body, "id") or uuid4().hex
        await self._engine.conversation(chosen, user=user_of(request)).create()
        return JsonResponse({"id": chosen}, 201)

    async def list(self, request: Request) -> Response:
        """The user's conversations, the latest first: a page of them, and as `next` the `before` of the next page."""
        before = place(request.query_params.get("before"))
        listed = await self._engine.store.conversations(user_of(request), PAGE + 1, before=before)
        page = listed[:PAGE]
        following = cursor(page[-1].updated_at, page[-1].id) if listed[PAGE:] else None
        return JsonResponse({"conversations": [_row(one) for one in page], "next": following})

    async def read(self, id: str, request: Request) -> Response:
        """All there is to know of a conversation: its messages, and its questions, open and closed."""
        log, phase = await self._named(id, request).snapshot()
        snapshot = {
            "id": id,
            "head": log.head,
            **_phase(phase),
            "agent": self._about,
            "messages": agui.messages(log),
            "interrupts": agui.interrupts(log),
        }
        return JsonResponse(snapshot)

    async def delete(self, id: str, request: Request) -> Response:
        """Remove a conversation with all that belongs to it."""
        if not await self._named(id, request).delete():
            raise NotFound("conversation")
        return Response(status_code=204, headers={"Cache-Control": "no-store"})

    async def say(self, id: str, request: Request) -> Response:
        """Write a message; the run that answers it is followed on `/events`. Its `id` makes a retry harmless."""
        body = members(await read_json(request), "text", "id", "files")
        message_id, files = id_of(body, "id"), ids_of(body, "files")
        text = text_of(body, "text", empty=bool(files))  # a file may say it all
        chat = await self._existing(id, request)
        return JsonResponse({"seq": await chat.post(text, id=message_id, files=files)}, 202)

    async def resume(self, id: str, request: Request) -> Response:
        """Let a stopped run go on."""
        members(await read_json(request, optional=True) or {})
        await (await self._existing(id, request)).resume()
        return JsonResponse({}, 202)

    async def cancel(self, id: str, request: Request) -> Response:
        """Stop the run: its open questions and unfinished calls are closed."""
        members(await read_json(request, optional=True) or {})
        await (await self._existing(id, request)).cancel()
        return JsonResponse({}, 202)

    async def events(self, id: str, request: Request) -> Response:
        """AG-UI events newer than `Last-Event-ID` (or `?after=`), then live ones, until nothing runs.

        Without either, or with one that this conversation never gave out, everything is replayed.
        """
        chat = self._named(id, request)
        log, _ = await chat.snapshot()
        return self._streams.events(chat, uuid4().hex, log, _after(request, log.head))

    def _named(self, id: str, request: Request) -> Conversation[Any]:
        if not is_id(id):
            raise NotFound("conversation")
        return self._engine.conversation(id, user=user_of(request))

    async def _existing(self, id: str, request: Request) -> Conversation[Any]:
        chat = self._named(id, request)
        if not (await self._engine.store.load(chat.key)).exists:
            raise NotFound("conversation")
        return chat


def _row(listed: Listed) -> Json:
    updated_at = agui.iso(listed.updated_at)
    return {"id": listed.id, "phase": listed.phase, "updatedAt": updated_at, "opening": listed.opening}


def _phase(phase: Phase) -> Mapping[str, Json]:
    match phase:
        case Waiting():
            return {"phase": "waiting", "done": None}
        case Done(reason, retryable, message):
            return {"phase": "done", "done": {"reason": reason, "retryable": retryable, "message": message}}
        case _:
            return {"phase": "run", "done": None}


def _after(request: Request, head: int) -> int:
    """The entry to go on after. One that was never given out counts as none: better shown twice than never."""
    given = request.headers.get("last-event-id") or request.query_params.get("after") or "0"
    after = int(given) if re.fullmatch(r"[0-9]{1,15}", given) else 0
    return after if after <= head else 0
