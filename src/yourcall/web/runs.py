"""The endpoint that any AG-UI client speaks to."""

from __future__ import annotations

from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from yourcall import agui
from yourcall.engine import Engine
from yourcall.web.bodies import LIMIT, read_json
from yourcall.web.problems import TooLarge
from yourcall.web.streams import Streams
from yourcall.web.users import user_of

HISTORY_LIMIT: Final = 4 << 20
"""Bytes of a `RunAgentInput`: clients send the whole history each time. What is taken of it stays below `LIMIT`."""


class Runs:
    """New messages and answers go in, the run's events come out."""

    def __init__(self, engine: Engine[Any], streams: Streams) -> None:
        self._engine, self._streams = engine, streams

    async def run(self, request: Request) -> Response:
        """Take new messages and answers, and stream the run.

        The log decides what was said: a client that believes something else is given a snapshot of it first. So is
        one that brings nothing new, as after a reload, and it finds its open questions again.
        """
        asked = agui.read(await read_json(request, limit=HISTORY_LIMIT))
        if asked.weight > LIMIT:
            raise TooLarge(LIMIT)
        return self._streams.run(self._engine.conversation(asked.thread, user=user_of(request)), asked)
