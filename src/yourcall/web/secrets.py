"""The way of a secret in: a route of its own, so that what is logged or traced of other bodies leaves this one out.

Nothing of the body is said again, not even the names of its members: somebody may have pasted a key there.
"""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from yourcall.engine import Engine
from yourcall.web.bodies import read_json
from yourcall.web.interrupts import digest_of, ended, require_id
from yourcall.web.problems import InvalidRequest
from yourcall.web.users import user_of


class Secrets:
    """Takes what the user entered on the card of a `Secret`."""

    def __init__(self, engine: Engine[Any]) -> None:
        self._engine = engine

    async def enter(self, id: str, request: Request) -> Response:
        """Answer a question for a secret, `{"value": "..."}`. `If-Match` is as for `/answer`.

        After five values that were refused, ten minutes must pass.
        """
        value, user = _value(await read_json(request)), user_of(request)
        require_id(id)
        entered = self._engine.answer_secret(id, value, user=user, digest=digest_of(request))
        return await ended(self._engine, id, user, entered)


def _value(body: object) -> str:
    match body:
        case {"value": str(value), **rest} if not rest:
            return value
    raise InvalidRequest("", "Expected an object with one member, the text `value`.")
