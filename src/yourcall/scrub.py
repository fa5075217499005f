"""What a body has revealed is taken out of whatever it says: results, recorded effects, exceptions, log records.

A value is found as it is, and as URLs, JSON and base64 write it, whatever its length and format: not by the name of a
field, not by how some vendor's keys begin. Each execution hides its own values, in a context variable that its child
tasks and worker threads inherit, so one tool's secret never changes what another one says.

A character is matched by all of its spellings, so it does not matter which characters an encoder leaves alone. In
base64 a value may begin at any of three offsets, as a key does in `user:key`, so it is known by the characters that
it alone determines. Up to three bytes determine too few for that, and are known only by their own complete encoding.
A short value is also found where it stands by chance: the text is then worse, and nothing is shown.
"""

from __future__ import annotations

import base64
import json
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from yourcall.entries import Json, compact

MASKS: Final = "*•·#~"
"""What stands in a value's place is three of the first of these that no value contains, so that it makes none up."""

_BASE64: Final = "A-Za-z0-9+/_-"
_SHORT: Final = 3

_hidden: ContextVar[Hidden | None] = ContextVar("yourcall_hidden", default=None)


class Hidden:
    """The values that one execution must not show. They may be added while others are at work with it."""

    def __init__(self) -> None:
        self._values: set[str] = set()
        self._found: re.Pattern[str] | None = None
        self._mask = ""

    def add(self, value: str) -> None:
        """Hide this value from now on; the white space around it is no part of the secret."""
        if (value := value.strip()) and value not in self._values:
            self._values.add(value)
            # The longest first: of two at one place, all of it goes.
            found = [form for one in sorted(self._values, key=len, reverse=True) for form in _forms(one)]
            self._mask = next((mark * 3 for mark in MASKS if not any(mark in one for one in self._values)), "")
            self._found = re.compile("|".join(found))
            _watch_logging()

    def text(self, text: str) -> str:
        return self._found.sub(self._mask, text) if self._found else text

    def json(self, value: Json) -> Json:
        """Without the values, in keys and numbers, too."""
        return self._without(value) if self._found else value

    def _without(self, value: Any) -> Any:
        match value:
            case str():
                return self.text(value)
            case list() | tuple():
                return [self._without(item) for item in value]
            case dict():
                return {self._without(name): self._without(item) for name, item in value.items()}
            case None | bool():
                return value
        written = compact(value) if isinstance(value, int | float) else str(value)
        shown = self.text(written)
        return value if shown == written else shown

    def record(self, record: logging.LogRecord) -> None:
        """Take the values out of a log record, before any handler has seen it."""
        if not self._found:
            return
        if record.args:
            message = record.getMessage()  # a value may be put together from parts
            said = f"{message}{record.args!r}"
            if self.text(said) != said:
                record.msg, record.args = self.text(message), None
        else:
            record.msg = self._without(record.msg)
        if record.exc_info and record.exc_info[0]:
            raised = _plain.formatException(record.exc_info)
            if (shown := self.text(raised)) != raised:
                record.exc_text, record.exc_info = shown, None
        if record.stack_info:
            record.stack_info = self.text(record.stack_info)
        record.__dict__ = _Attributes(record.__dict__, self)  # `extra=` is put there later, and goes by no setter


@contextmanager
def hiding(hidden: Hidden) -> Iterator[None]:
    """Within this block, and in what it starts, these values are kept out of log records."""
    token = _hidden.set(hidden)
    try:
        yield
    finally:
        _hidden.reset(token)


def hide(value: str) -> None:
    """Hide a value within the innermost `hiding`."""
    hidden = _hidden.get()
    assert hidden is not None
    hidden.add(value)


def shown(text: str) -> str:
    """The text without what is hidden here."""
    hidden = _hidden.get()
    return hidden.text(text) if hidden else text


# --------------------------------------------------------------------------- how a value may be written


def _forms(value: str) -> Iterator[str]:
    """Patterns of the value."""
    yield "".join(map(_spelled, re.findall(r"\\+|[^\\]", value)))
    data = value.encode("utf-8", "replace")
    if len(data) <= _SHORT:
        alone = "".join(map(_base64_character, base64.b64encode(data).decode().rstrip("=")))
        yield f"(?<![{_BASE64}]){alone}(?:=|%3[dD])*(?![{_BASE64}])"
    else:
        yield from map(_in_base64, range(3), [data] * 3)


def _in_base64(offset: int, data: bytes) -> str:
    """The value in base64, begun at this offset of a triple; at its ends, the character that it shares goes with it."""
    bits = 8 * (offset + len(data))
    written = base64.b64encode(bytes(offset) + data).decode()
    core = "".join(map(_base64_character, written[(0, 2, 3)[offset] : bits // 6]))
    return f"{f'[{_BASE64}]' if offset else ''}{core}{f'[{_BASE64}]?' if bits % 6 else ''}"


def _base64_character(char: str) -> str:
    match char:
        case "+":
            return r"(?:[+-]|%2[bB])"
        case "/":
            return r"(?:\\*/|_|%2[fF])"
    return char


def _spelled(run: str) -> str:
    """A character, or a run of backslashes: as it is, percent-encoded or escaped, any number of times over.

    Each is an atomic group, whose first fit counts: a value that is made to fit in many ways costs no more than others.
    Not so one of which a spelling begins another, and a percent sign: what follows may look like its own encoding, and
    only what comes then tells.
    """
    if run.isascii() and run.isalnum():
        return run
    if run[0] == "\\":
        return r"(?i:(?>\\+|(?:%(?:25)*5c)+))"
    data = run.encode("utf-8", "replace")
    percent = "".join(f"%(?:25)*{byte:02x}" for byte in data)
    escaped = [run, ascii(run)[1:-1], json.dumps(run)[1:-1], "".join(f"\\x{byte:02x}" for byte in data)]
    tails = dict.fromkeys(re.escape(form.lstrip("\\")).replace(r"\\", r"\\+") for form in escaped)
    begins = any(long != short and long.startswith(short) for short in tails for long in tails)
    group = "(?:" if begins or run == "%" else "(?>"
    return rf"(?i:{group}{percent}|\\*(?:{'|'.join(tails)}){'|[+]' if run == ' ' else ''}))"


# --------------------------------------------------------------------------- log records

_plain: Final = logging.Formatter()


class _Attributes(dict[str, Any]):
    """A record's attributes: what is added to them is scrubbed as well."""

    def __init__(self, attributes: dict[str, Any], hidden: Hidden) -> None:
        super().__init__(attributes)
        self._hidden = hidden

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, self._hidden.json(value))


class _Scrubbing:
    """Makes log records: in a context that hides something, without it. Handlers may be anybody's, and anywhere."""

    def __init__(self, make: Any) -> None:
        self._make = make

    def __call__(self, *args: Any, **kwargs: Any) -> logging.LogRecord:
        record: logging.LogRecord = self._make(*args, **kwargs)
        if (hidden := _hidden.get()) is not None:
            hidden.record(record)
        return record


def _watch_logging() -> None:
    """Logging is the process's own; it is touched only once there is something to hide."""
    make = logging.getLogRecordFactory()
    if not isinstance(make, _Scrubbing):
        logging.setLogRecordFactory(_Scrubbing(make))
