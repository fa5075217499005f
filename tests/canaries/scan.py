"""Looks for values in bytes, however they may have been written there."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Iterator, Mapping
from urllib.parse import quote, quote_plus

CHANCE = 7
"""Characters of base64 below which a hit may be chance: random tokens are all around."""


def forms(value: str) -> set[bytes]:
    """The value as it is, and as URLs, JSON, Python, HTML and base64 write it."""
    data = value.encode()
    written = {value, value.strip()}
    for text in (value, value.strip()):
        quoted = {quote(text, safe=""), quote(text), quote_plus(text)}
        written |= quoted | {one.replace("%2F", "%2f").replace("%3D", "%3d") for one in quoted}
        escaped = {json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]}
        written |= escaped | {json.dumps(one)[1:-1] for one in escaped}
        written |= {repr(text)[1:-1], ascii(text)[1:-1], html.escape(text), str(text.encode())[2:-1]}
    return {form.encode() for form in written} | {data.hex().encode()} | set(_in_base64(data))


def _in_base64(data: bytes) -> Iterator[bytes]:
    """The characters that the value alone determines, at each of three offsets, in both alphabets."""
    for offset in range(3):
        written = base64.b64encode(bytes(offset) + data)
        core = written[(0, 2, 3)[offset] : 8 * (offset + len(data)) // 6]
        if len(core) >= CHANCE:
            yield core
            yield core.replace(b"+", b"-").replace(b"/", b"_")


def found(values: Mapping[str, str], sink: bytes) -> list[str]:
    """The names of the values that are in the sink."""
    return [name for name, value in values.items() if any(form in sink for form in forms(value))]
