"""The strict reader: whatever two readers of JSON could disagree about is not JSON here."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yourcall.errors import Rejected
from yourcall.faults import is_id
from yourcall.web.bodies import DEPTH, members, optional_text_of, parse, text_of
from yourcall.web.problems import InvalidRequest, InvalidText, MalformedJson

storable = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]))
numbers = st.integers(-(10**30), 10**30) | st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | numbers | storable,
    lambda inner: st.lists(inner) | st.dictionaries(storable, inner),
    max_leaves=30,
)


@given(json_values, st.booleans())
def test_json_is_read_as_it_is(value: Any, ascii: bool) -> None:
    """Whatever another program writes as JSON comes out the same, escaped or not."""
    assert parse(json.dumps(value, ensure_ascii=ascii).encode()) == value


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" ",
        b"{",
        b"{'a': 1}",
        b'{"a": 1,}',
        b"[1] [2]",
        b'{"a": 1, "a": 2}',
        b'{"a": {"b": 1, "b": 1}}',
        b'{"a": 1, "\\u0061": 2}',
        b"NaN",
        b"[Infinity]",
        b'{"a": -Infinity}',
        b"1e999",
        b"[-1e999]",
        b"9" * 5000,
        b"\xef\xbb\xbf{}",
        b'"\xff"',
        b'"\xed\xa0\x80"',
        b'"\xc0\x80"',
        '{"a": 1}'.encode("utf-16"),
        b'"a\x00b"',
        b'"line\nbreak"',
        b"// no\n1",
        b"[" * 100_000,
        b"[" * 33 + b"]" * 33,
        b'{"a":' * 33 + b"1" + b"}" * 33,
        b"0x10",
        b"01",
        b"undefined",
        b"Authorization: Bearer x",
    ],
)
def test_what_is_not_strict_json_is_refused(body: bytes) -> None:
    """Duplicate keys, numbers that are none, other encodings, depth: one refusal, which says nothing of the body."""
    with pytest.raises(MalformedJson) as refused:
        parse(body)
    assert str(refused.value) == "The body is not valid JSON."
    assert refused.value.__cause__ is None


@pytest.mark.parametrize(
    "nested",
    [
        "[" * DEPTH + "]" * DEPTH,
        "[" * DEPTH + "1" + "]" * DEPTH,
        '{"a":' * DEPTH + "1" + "}" * DEPTH,
        "[" + "{}," * 50 + "[" * (DEPTH - 1) + "]" * DEPTH,
    ],
)
def test_the_depth_is_exact(nested: str) -> None:
    """32 containers inside one another are read, one more is not, however many stand beside one another."""
    assert parse(nested.encode()) is not None
    for deeper in (f"[{nested}]", f'{{"a":{nested}}}'):
        with pytest.raises(MalformedJson):
            parse(deeper.encode())


def test_brackets_that_do_not_nest_are_no_depth() -> None:
    """A long list of lists is shallow, and a bracket in a text is text."""
    assert parse(json.dumps("[" * 1000).encode()) == "[" * 1000
    assert len(parse(json.dumps([[]] * 1000).encode())) == 1000


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        (rb'"\u0000"', ""),
        (rb'{"text": "a\u0000"}', "/text"),
        (rb'{"a": [1, {"b/c": "\ud800"}]}', "/a/1/b~1c"),
        (rb'{"a~": {"x": "\uDFFF ok"}}', "/a~0/x"),
        (rb'{"a": {"\u0000": 1}}', "/a"),
        (rb'["\udc00\ud800"]', "/0"),
        (rb'{"a": "\ud83d", "b": "\ude00"}', "/a"),
    ],
)
def test_text_that_cannot_be_stored_is_named_by_its_place(body: bytes, pointer: str) -> None:
    """A NUL or half a surrogate pair, in a value or a key; a key itself is named by its object."""
    with pytest.raises(InvalidText) as refused:
        parse(body)
    [fault] = refused.value.faults
    assert (fault.pointer, fault.slug) == (pointer, "invalid-text")
    assert str(refused.value) == "Text contains characters that cannot be stored."


def test_what_only_looks_suspicious_is_read() -> None:
    """P7: a whole surrogate pair is a character, and an escaped backslash before `u0000` is text."""
    assert parse(rb'["\ud83d\ude00", "\\u0000", "\u00e9"]') == ["😀", "\\u0000", "é"]


@given(json_values)
def test_members_are_those_that_are_named(body: Any) -> None:
    """What our own routes take has these members and no others; nothing of a value is in the refusal."""
    if isinstance(body, dict) and set(body) <= {"text", "id"}:
        assert members(body, "text", "id") is body
        return
    with pytest.raises(Rejected) as refused:
        members(body, "text", "id")
    assert str(refused.value) in ("Expected an object.", "Unexpected field.")


@pytest.mark.parametrize("text", [None, 1, ["x"], {}, "", "  ", "\n"])
def test_a_text_has_something_in_it(text: Any) -> None:
    """P4: blank text would be refused by a provider later, when it is in the log already."""
    with pytest.raises(Rejected):
        text_of({"text": text}, "text")


def test_an_optional_text_may_be_left_out() -> None:
    """O2: absent and null are the same."""
    assert optional_text_of({}, "note") is optional_text_of({"note": None}, "note") is None
    with pytest.raises(InvalidRequest):
        optional_text_of({"note": 3}, "note")


@pytest.mark.parametrize(
    ("text", "good"),
    [("c1", True), ("a b·é", True), ("x" * 200, True), ("", False), ("x" * 201, False), ("a/b", False), ("\n", False)],
)
def test_an_id_can_stand_in_a_path(text: str, good: bool) -> None:
    """Up to 200 printable characters, without a slash."""
    assert is_id(text) is good
