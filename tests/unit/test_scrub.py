"""What is hidden is found however it is written, and nothing else is touched."""

from __future__ import annotations

import base64
import json
import logging
import re
import time
from collections.abc import Callable
from urllib.parse import quote, quote_plus, unquote, urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yourcall.scrub import MASKS, Hidden, hide, hiding, shown

SPELLINGS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "url path": quote,
    "url component": lambda value: quote(value, safe=""),
    "url form": quote_plus,
    "url twice": lambda value: quote(quote(value, safe=""), safe=""),
    "query": lambda value: urlencode({"key": value}),
    "lower-case percent": lambda value: "".join(
        c if c.isascii() and c.isalnum() else "".join(f"%{b:02x}" for b in c.encode()) for c in value
    ),
    "json": json.dumps,
    "json in unicode": lambda value: json.dumps(value, ensure_ascii=False),
    "json in json": lambda value: json.dumps(json.dumps({"key": value})),
    "json with escaped slashes": lambda value: json.dumps(value).replace("/", "\\/"),
    "repr": repr,
    "repr of bytes": lambda value: repr(value.encode()),
    "ascii": ascii,
}
AWKWARD = [
    "abc-123",
    "q7",
    "p\"ä\\s/ w+%&='\n😀x",
    "a\\b",
    "--",
    "%41%42",
    "a%2500%252e",
    "(?:x)|.*",
    "ключ/+",
    "0x1F",
    "k\tv",
    "Ã0",
    "$1\\1",
]

secrets = st.text(min_size=1, max_size=40).filter(lambda text: text.strip() and "\0" not in text and text.isprintable())


def hidden(*values: str) -> Hidden:
    made = Hidden()
    for value in values:
        made.add(value)
    return made


def is_masked(text: str) -> bool:
    return any(mark * 3 in text for mark in MASKS)


# --------------------------------------------------------------------------- spellings


@pytest.mark.parametrize("spell", SPELLINGS.values(), ids=SPELLINGS)
@pytest.mark.parametrize("value", AWKWARD)
def test_it_is_found_however_it_is_spelled(value: str, spell: Callable[[str], str]) -> None:
    """In a URL, in JSON, in Python's own forms, once and twice; what stands around it stays."""
    text = hidden(value).text(f"before, {spell(value)}, after")
    assert text.startswith("before, ")
    assert text.endswith(", after")
    assert is_masked(text)
    assert value not in text
    assert spell(value) not in text


@settings(max_examples=300, deadline=None)
@given(secrets, st.sampled_from(sorted(SPELLINGS)), st.text(max_size=20), st.text(max_size=20))
def test_nothing_hidden_is_left(value: str, spelling: str, before: str, after: str) -> None:
    """For any value between any texts: neither it nor this spelling of it is there afterwards."""
    spelled = SPELLINGS[spelling](value.strip())
    text = hidden(value).text(before + spelled + after)
    assert value.strip() not in text
    assert spelled not in text


@pytest.mark.parametrize("value", [value for value in AWKWARD if len(value.encode()) > 3])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
@pytest.mark.parametrize("before", ["", "u", "us", "use", "user:"])
@pytest.mark.parametrize("after", ["", "x", "xy", "\n"])
def test_base64_is_found_wherever_the_value_begins(
    value: str, encode: Callable[[bytes], bytes], before: str, after: str
) -> None:
    """As in `Authorization: Basic`, where it stands behind a name: hardly more is left than what stood around it."""
    text = encode(f"{before}{value}{after}".encode()).decode()
    for written in (text, quote(text, safe="")):
        scrubbed = hidden(value).text(written)
        assert is_masked(scrubbed)
        rest = re.sub("[*•]{3}|=", "", unquote(scrubbed))
        assert len(rest) <= len(base64.b64encode(before.encode()).strip(b"=")) + 2 * len(after)


def test_short_values_are_hidden_as_they_are_and_encoded_alone() -> None:
    """Three bytes and fewer determine too few characters of a longer base64 text to be known in it."""
    pin = hidden("q7")
    assert pin.text("pin q7, or cTc=, or cTc%3D, or cTc.") == "pin ***, or ***, or ***, or ***."
    assert pin.text("cTcx is another") == "cTcx is another"


def test_what_stands_for_it_makes_no_new_one() -> None:
    """The mask has no character that a value has: next to what was left, it would spell one."""
    assert "**x" not in hidden("*x").text("a*xx**x")
    assert hidden(*MASKS).text("a * b") == "a  b"


def test_the_longer_of_two_goes_whole() -> None:
    """A value that begins with another one leaves no rest."""
    assert hidden("abc", "abc-123").text("abc-123") == "***"


# --------------------------------------------------------------------------- values


def test_json_is_scrubbed_in_all_its_parts() -> None:
    """Texts, keys and numbers at any depth; what has nothing of it stays what it is."""
    value = {"a": ["1234", 1234, 12345, 12.34, True, None], "x1234": {"b": "no"}}
    assert hidden("1234").json(value) == {"a": ["***", "***", "***5", 12.34, True, None], "x***": {"b": "no"}}
    assert Hidden().json(value) is value


# --------------------------------------------------------------------------- time


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ('"' * 2_000 + "x", '\\"' * 2_000 + "y"),
        ("\\" * 2_000 + "x", "\\" * 9_000 + "y"),
        ("\\ä" * 300 + "x", "\\\\\\u00e4" * 300 + "y"),
        ("%25" * 700 + "x", "%2525" * 2_000 + "y"),
        (" +" * 900 + "x", "+%20" * 2_000 + "y"),
    ],
)
def test_no_value_takes_long_to_look_for(value: str, text: str) -> None:
    """A user may choose a secret that fits in many ways, almost: each text is read about once, not once a way."""
    long_one = hidden(value)
    began = time.process_time()
    long_one.text(text)
    once = time.process_time() - began
    began = time.process_time()
    long_one.text(text * 4)
    assert time.process_time() - began < 40 * once + 0.5


# --------------------------------------------------------------------------- log records


def test_a_record_is_scrubbed_before_any_handler_sees_it(caplog: pytest.LogCaptureFixture) -> None:
    """Its message, put together from parts, too; its arguments, what `extra` adds, its traceback and its stack."""
    log = logging.getLogger("library")
    with hiding(hidden("abc-123")):
        log.warning("%s%s and %d", "abc-", "123", 5, extra={"key": {"value": ["abc-123"]}})
        log.warning({"event": "abc-123"})
        try:
            raise ValueError("abc-123")
        except ValueError:
            log.exception("Failed", stack_info=True)
    log.warning("abc-123 is nobody's secret here")
    parts, mapping, failed, other = caplog.records
    assert parts.getMessage() == "*** and 5"
    assert vars(parts)["key"] == {"value": ["***"]}
    assert mapping.msg == {"event": "***"}
    assert failed.exc_info is None
    assert "ValueError: ***" in (failed.exc_text or "")
    assert other.getMessage().startswith("abc-123")
    assert all("abc-123" not in str(vars(record)) for record in (parts, mapping, failed))


def test_a_record_without_it_is_left_as_it_is(caplog: pytest.LogCaptureFixture) -> None:
    """Who groups messages by their template, or reads the exception itself, still can."""
    with hiding(hidden("abc-123")):
        try:
            raise ValueError("else")
        except ValueError:
            logging.getLogger("library").exception("Failed: %s", "so")
    (record,) = caplog.records
    assert (record.msg, record.args) == ("Failed: %s", ("so",))
    assert record.exc_info


def test_a_block_hides_what_is_added_in_it() -> None:
    """And nothing once it is over."""
    with hiding(Hidden()):
        hide("abc-123")
        assert shown("abc-123") == "***"
    assert shown("abc-123") == "abc-123"
