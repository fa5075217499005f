"""What shown text may hold: everything that can be seen, in any script, and nothing that cannot."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yourcall.texts import amiss, blank, look, storable_text

FINE = [
    "Kilograms",
    "a, b",
    "日本語のラベル",
    "葛\U000e0100飾区",  # an ideographic variation
    "العربية",
    "می\u200cخواهم",  # Persian: the joiner is part of the word
    "نامه\u200cای از ه\u200d",  # and may stand at its end
    "क्\u200dष",  # Devanagari half form
    "ᠮᠣᠩᠭᠣᠯ\u180b",
    "\u06dd ٣",
    "עברית",
    "👩\u200d👩\u200d👧\u200d👦 family",
    "👁\ufe0f\u200d🗨\ufe0f",
    "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f England",
    "🏴\u200d☠\ufe0f",
    "1\ufe0f\u20e3",
    "👍🏽",
    "e\u0301",  # not composed: it goes back as it came
    "<img src=x onerror=alert(1)>",
    "**bold** [link](javascript:alert(1))",
    "\u00a0no-break\u3000wide",
    "…",
    "\U0001fae8",  # newer than this Python's Unicode
    "\\u0041 & %s {x}",
]


@pytest.mark.parametrize("text", FINE)
def test_text_of_every_script_is_fine(text: str) -> None:
    """Real writing needs joiners, selectors, marks and tags; none of it is refused."""
    assert amiss(text, 300) is None


BLANK = ["", " ", "\t", "\n", "\u00a0\u3000", "\u200b", "\u200d", "\u200c\u200d", "\ufeff", "\ufe0f", "\u0301"]
BLANK += ["\u2800", "\u3164", "\u115f \u1160", "\u00ad", "\U000e0041", "\u061c", "\u200e\u200f"]


@pytest.mark.parametrize("text", BLANK)
def test_text_that_shows_nothing_is_refused(text: str) -> None:
    """Blank is what cannot be seen, whatever it is made of."""
    assert amiss(text, 300) is not None
    assert blank(text)


HIDDEN = ["\0", "\x07", "\x1b[31m", "\x7f", "\x85", "\u2028", "\u2029", "\ufeff", "\u200b", "\u2060", "\u00ad"]
BIDI = ["\u202a", "\u202b", "\u202c", "\u202d", "\u202e", "\u2066", "\u2067", "\u2068", "\u2069", "\u200e", "\u061c"]


@pytest.mark.parametrize("char", [*HIDDEN, *BIDI, "\u3164", "\U000e0041", "\ud800", "\r", "\t"])
@pytest.mark.parametrize("text", ["{}yes", "y{}es", "yes{}"])
def test_hidden_characters_are_refused_and_named(char: str, text: str) -> None:
    """The refusal names the code point, so that whoever wrote it can leave it out; it does not repeat the text."""
    for lines in (False, True):
        wrong = amiss(text.format(char), 300, lines=lines)
        assert wrong is not None
        assert f"U+{ord(char[0]):04X}" in wrong
        assert "yes" not in wrong


@pytest.mark.parametrize(
    "text", ["\u200dyes", "a \u200db", "a\u200c\u200db", "\ufe0fyes", "a\ufe0f\ufe0f", "a\n\u200db"]
)
def test_a_joiner_follows_what_it_joins(text: str) -> None:
    """Joiners and selectors that join nothing could carry a hidden text."""
    assert amiss(text, 300, lines=True) is not None


def test_tags_belong_to_a_flag() -> None:
    """Tag characters spell out invisible text anywhere else."""
    smuggled = "yes" + "".join(chr(0xE0000 + ord(char)) for char in "no") + "\U000e007f"
    assert amiss(smuggled, 300) is not None


def test_line_feeds_where_there_are_lines() -> None:
    """A prompt may have paragraphs, a label is one line."""
    assert amiss("a\n\nb", 300, lines=True) is None
    assert amiss("a\nb", 300) is not None


@pytest.mark.parametrize(("length", "fine"), [(1, True), (24, True), (25, False), (100_000, False)])
def test_the_limit_is_inclusive_and_named(length: int, fine: bool) -> None:
    """Characters are counted, not bytes; the message has the limit."""
    wrong = amiss("界" * length, 24)
    assert (wrong is None) == fine
    assert fine or (wrong and "at most 24" in wrong)


@settings(deadline=None)
@given(st.text(max_size=20))
def test_fine_text_can_be_seen_and_stored(text: str) -> None:
    """Whatever passes has something to see, can be stored, and has no control, surrogate or bidi override."""
    if amiss(text, 20) is None:
        assert not blank(text)
        assert storable_text(text)
        assert not {unicodedata.category(char) for char in text} & {"Cc", "Cs", "Zl", "Zp"}
        assert not set(text) & set(BIDI)
        assert look(text)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Yes", "yes"),
        ("Straße", "STRASSE"),
        ("a  b", " a\u00a0b "),
        ("ﬁne", "fine"),
        ("™", "tm"),
        ("Ａ", "a"),
        ("e\u0301", "é"),
        ("yes", "y\u200des"),
        ("❤", "❤\ufe0f"),
        ("ΑΪ\u0301", "αΐ"),
    ],
)
def test_what_looks_the_same_is_the_same(one: str, two: str) -> None:
    """A reader cannot tell them apart, so they must not be two options."""
    assert look(one) == look(two)


@pytest.mark.parametrize(("one", "two"), [("a, b", "a b"), ("+1", "-1"), ("日", "曰"), ("C", "C++"), ("👍", "👎")])
def test_what_looks_different_is_different(one: str, two: str) -> None:
    """Punctuation, signs and similar letters are told apart."""
    assert look(one) != look(two)
