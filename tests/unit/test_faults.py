"""What every kind of ask says of a wrong answer: its place, and nothing of its text."""

from __future__ import annotations

import pytest

from yourcall.errors import Fault
from yourcall.faults import is_id, pointer, text_fault, unexpected


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ((), ""),
        (("answers", 0), "/answers/0"),
        (("a/b", "c~d"), "/a~1b/c~0d"),
        (("a", "x" * 65), "/a"),
        (("\x1b",), ""),
    ],
)
def test_a_pointer_is_a_pointer_whatever_the_name(parts: tuple[str | int, ...], expected: str) -> None:
    """RFC 6901 escapes; a client's endless or unprintable name is not echoed, its place is enough."""
    assert pointer(*parts) == expected


def test_unknown_names_are_told_by_their_place() -> None:
    """The first few of them; the rest will be the same mistake."""
    assert unexpected({"a": 1, "b": 2}, ("a",), "x", 0) == [Fault("/x/0/b", "Unexpected field.", "unknown-field")]
    assert len(unexpected(map(str, range(1_000)), ())) == 8


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("", None),
        ("\u202e 👩\u200d🚀 \x1b \t\n", None),
        ("x" * 10_000, None),
        ("x" * 10_001, "invalid-answer"),
        ("a\0b", "invalid-text"),
        ("\udc80", "invalid-text"),
    ],
)
def test_a_users_text_is_theirs(text: str, slug: str | None) -> None:
    """Anything that can be stored is taken as it is; only NUL, lone surrogates and more than the limit are not."""
    fault = text_fault(text, "note")
    assert (fault and (fault.pointer, fault.slug)) == (slug and ("/note", slug))


@pytest.mark.parametrize("text", ["c1", "x" * 200, "対話", "3f2b-7", "a b"])
def test_an_id_is_what_the_client_likes(text: str) -> None:
    """Of any script, as long as it fits into a path."""
    assert is_id(text)


@pytest.mark.parametrize("text", ["", "x" * 201, "a/b", "a\nb", "a\0", "\ud800"])
def test_an_id_fits_into_paths_and_indexes(text: str) -> None:
    """Neither endless nor with what cannot be printed; a slash would make it two."""
    assert not is_id(text)
