"""Where a page of a list ended: a moment and an id, for a client to hand back and not to read."""

from __future__ import annotations

import base64
import json
import math

from yourcall.entries import canonical
from yourcall.faults import is_id
from yourcall.web.problems import InvalidRequest


def cursor(moment: float, id: str) -> str:
    return base64.urlsafe_b64encode(canonical([moment, id])).decode()


def place(cursor: str | None) -> tuple[float, str] | None:
    """Raises `InvalidRequest` for what is no cursor of ours."""
    if cursor is None:
        return None
    try:
        match json.loads(base64.urlsafe_b64decode(cursor)):
            case [float(moment), str(id)] if is_id(id) and math.isfinite(moment):
                return moment, id
    except (ValueError, RecursionError):
        pass
    raise InvalidRequest("/before", "Expected the `next` of a list.")
