"""The endpoints of an inbox: the open questions that a user may answer, and what became of one."""

from __future__ import annotations

from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from yourcall import agui
from yourcall.engine import Engine
from yourcall.entries import Json
from yourcall.ports import Open
from yourcall.web.cursors import cursor, place
from yourcall.web.interrupts import require_id
from yourcall.web.problems import JsonResponse
from yourcall.web.users import user_of

PAGE: Final = 50
"""Questions that are listed at once."""


class Inbox:
    """Whoever was asked in the owner's place sees the question, and nothing of its conversation."""

    def __init__(self, engine: Engine[Any]) -> None:
        self._engine = engine

    async def list(self, request: Request) -> Response:
        """What is open and the user's to answer, the latest first, with `next` as the `before` of the next page."""
        user, before = user_of(request), place(request.query_params.get("before"))
        listed = await self._engine.inbox(user=user, limit=PAGE + 1, before=before)
        page = listed[:PAGE]
        following = cursor(page[-1].asked_at, page[-1].interrupt.id) if listed[PAGE:] else None
        return JsonResponse({"interrupts": [_line(one, user) for one in page], "next": following})

    async def read(self, id: str, request: Request) -> Response:
        """One question, open or closed."""
        user = user_of(request)
        require_id(id)
        found = await self._engine.find(id, user=user)
        owned = found.key.owner == user
        return JsonResponse(agui.question(found.interrupt, found.ending, owned=owned))


def _line(one: Open, user: str) -> Json:
    """A question and when it was asked; its conversation is for the owner alone, and null where others ask."""
    question = agui.question(one.interrupt)
    question["metadata"]["yourcall"] |= {
        "askedAt": agui.iso(one.asked_at),
        "conversation": one.key.id if one.key.owner == user else None,
    }
    return question
