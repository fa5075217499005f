"""The endpoints of questions: answer one, or skip it."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from yourcall import agui, entries
from yourcall.engine import Engine
from yourcall.errors import AlreadyAnswered, Closed, NotFound
from yourcall.faults import is_id
from yourcall.web.bodies import members, read_json, words_of
from yourcall.web.problems import DigestRequired, JsonResponse, ProblemResponse
from yourcall.web.users import user_of


class Interrupts:
    """What was recorded is what comes back, also to whoever sends the same answer again."""

    def __init__(self, engine: Engine[Any]) -> None:
        self._engine = engine

    async def answer(self, id: str, request: Request) -> Response:
        """Answer a question: the body is the answer. `If-Match` with the question's digest answers no other.

        A consent is given with it only: whoever approves says what they were shown.
        """
        payload, user = await read_json(request), user_of(request)
        digest = digest_of(request)
        require_id(id)
        if digest is None and (await self._engine.find(id, user=user)).interrupt.kind == "confirm":
            raise DigestRequired
        return await ended(self._engine, id, user, self._engine.answer(id, payload, user=user, digest=digest))

    async def skip(self, id: str, request: Request) -> Response:
        """Close a question without an answer; a `note` tells the agent why."""
        body, user = members(await read_json(request, optional=True) or {}, "note"), user_of(request)
        note = words_of(body, "note") or None
        require_id(id)
        return await ended(self._engine, id, user, self._engine.skip(id, user=user, note=note))


async def ended(
    engine: Engine[Any], id: str, user: str, ending: Awaitable[entries.Answered | entries.Closed]
) -> Response:
    """How a question ended, or was ended before: that goes along, so that a second tab can show it at once."""
    try:
        recorded = await ending
    except (Closed, AlreadyAnswered) as refusal:
        found = await engine.find(id, user=user)
        return ProblemResponse(refusal, ending=found.ending and agui.ending(found.ending, found.interrupt))
    return JsonResponse({"id": id, "ending": agui.ending(recorded)})


def require_id(id: str) -> None:
    """There is no question of another id; no store has to look for it."""
    if not is_id(id):
        raise NotFound


def digest_of(request: Request) -> str | None:
    """The entity tag of `If-Match`; `*` is any question that is there."""
    tag = request.headers.get("if-match", "").strip().removeprefix("W/").strip('"')
    return tag if tag and tag != "*" else None
