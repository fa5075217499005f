"""The endpoints of credentials: what the user has given to be kept, by name, and taking it back."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from yourcall.engine import Engine
from yourcall.errors import NotFound
from yourcall.faults import is_id
from yourcall.web.problems import JsonResponse
from yourcall.web.users import user_of


class Credentials:
    """Names only: no route gives a value out."""

    def __init__(self, engine: Engine[Any]) -> None:
        self._engine = engine

    async def list(self, request: Request) -> Response:
        """What the user has given; `conversation` is null for what all of their conversations use."""
        slots = await self._engine.credentials(user=user_of(request))
        rows = [
            {"name": slot.name, "conversation": None if slot.conversation == "*" else slot.conversation}
            for slot in slots
        ]
        return JsonResponse({"credentials": rows})

    async def delete(self, name: str, request: Request) -> Response:
        """Remove what the user gave under this name; tools that need it are not offered any more."""
        if not is_id(name):
            raise NotFound("credential")
        await self._engine.forget(name, user=user_of(request))
        return Response(status_code=204, headers={"Cache-Control": "no-store"})
