"""Reading a body: only JSON, only so much of it, and only what has one meaning and can be stored.

Python's own reader takes more than JSON: NaN, duplicate keys (the last one wins, elsewhere the first), numbers
that become infinite. Whatever two readers could disagree about is refused here, before anything looks at it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any, Final

from starlette.requests import Request

from yourcall.entries import Json
from yourcall.errors import Rejected
from yourcall.faults import ID_RULE, is_id, pointer, text_fault, unexpected
from yourcall.texts import storable_text
from yourcall.web.problems import InvalidRequest, InvalidText, MalformedJson, MediaType, TooLarge

LIMIT: Final = 256 << 10
"""Bytes that a request may bring."""
DEPTH: Final = 32

_SUSPECT: Final = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")


async def read_json(request: Request, *, limit: int = LIMIT, optional: bool = False) -> Json:
    """The request's JSON; None where there is no body and there need not be one.

    Raises what `read_bytes` and `parse` raise.
    """
    data = await read_bytes(request, limit=limit, optional=optional)
    return None if data is None else parse(data)


async def read_bytes(request: Request, *, limit: int = LIMIT, optional: bool = False) -> bytes | None:
    """The body of a request that says it is JSON, as it came.

    Raises `MediaType` or `TooLarge`. A body that is too large is not read to its end.
    """
    media_type = request.headers.get("content-type")
    if media_type is not None and not _is_json(media_type):
        raise MediaType
    data = await _read(request, limit)
    if not data and optional:
        return None
    if media_type is None:
        raise MediaType
    return data


async def _read(request: Request, limit: int) -> bytes:
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > limit:
        raise TooLarge(limit)
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
        if len(data) > limit:
            raise TooLarge(limit)
    return bytes(data)


def _is_json(media_type: str) -> bool:
    return media_type.partition(";")[0].strip().lower() == "application/json"


def parse(data: bytes) -> Json:
    """Strict JSON (RFC 8259, with unique keys) of text that can be stored. Raises `MalformedJson`, `InvalidText`."""
    try:
        text = data.decode()
        value = _decoder.decode(text)
    except (ValueError, RecursionError):
        raise MalformedJson from None
    # both walks are for what hardly ever comes: few brackets cannot nest deeply, and only an escape hides a NUL
    if text.count("[") + text.count("{") > DEPTH:
        _check_depth(value)
    if _SUSPECT.search(text):
        _check_text(value)
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("duplicate key")
    return members


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("out of range")
    return number


def _not_json(name: str) -> None:
    raise ValueError(name)


_decoder: Final = json.JSONDecoder(object_pairs_hook=_unique, parse_float=_finite, parse_constant=_not_json)


def _check_depth(value: Json) -> None:
    level = [value]
    for _ in range(DEPTH):
        level = [item for container in level for item in _containers(container)]
        if not level:
            return
    raise MalformedJson


def _containers(container: Json) -> Iterator[Json]:
    items = container.values() if isinstance(container, dict) else container
    return (item for item in items if isinstance(item, dict | list))


def _check_text(value: Json, *place: str | int) -> None:
    """The place of a key that cannot be stored is its object's: it could not be sent back either."""
    match value:
        case str() if not storable_text(value):
            raise InvalidText(pointer(*place))
        case dict():
            for name, item in value.items():
                _check_text(name, *place)
                _check_text(item, *place, name)
        case list():
            for index, item in enumerate(value):
                _check_text(item, *place, index)


# --------------------------------------------------------------------------- what our own routes take


def members(body: Json, *names: str) -> dict[str, Json]:
    """The body as an object with no other members than these. Raises `Rejected`."""
    if not isinstance(body, dict):
        raise InvalidRequest("", "Expected an object.")
    if faults := unexpected(body, names):
        raise Rejected(faults=faults)
    return body


def text_of(body: dict[str, Json], name: str, *, empty: bool = False) -> str:
    """A member that must be text, and with something in it unless it may be `empty`."""
    text = body.get(name)
    if not isinstance(text, str) or not (empty or text.strip()):
        raise InvalidRequest(f"/{name}", "Write something." if isinstance(text, str) else "Expected a text.")
    return text


def optional_text_of(body: dict[str, Json], name: str) -> str | None:
    text = body.get(name)
    if not isinstance(text, str | None):
        raise InvalidRequest(f"/{name}", "Expected a text.")
    return text


def words_of(body: dict[str, Json], name: str) -> str | None:
    """A member that may be text, of what a user may write into one field."""
    text = optional_text_of(body, name)
    if text is not None and (fault := text_fault(text, name)):
        raise Rejected(faults=[fault])
    return text


def ids_of(body: dict[str, Json], name: str) -> list[str]:
    """A member that may be a list of ids."""
    match body.get(name):
        case None:
            return []
        case [*ids] if all(isinstance(id, str) and is_id(id) for id in ids):
            return ids
    raise InvalidRequest(f"/{name}", "Expected a list of ids.")


def id_of(body: dict[str, Json], name: str) -> str | None:
    """A member that may be an id."""
    chosen = optional_text_of(body, name)
    if chosen is not None and not is_id(chosen):
        raise InvalidRequest(f"/{name}", ID_RULE)
    return chosen
