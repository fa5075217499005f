"""Text that is shown to a person or kept in the log: what may be in it.

What is shown must be seen. A label must not look like another one, hide a part of itself or turn the text around
it, so control, format and bidirectional characters are refused; never removed, since text is passed on as it
came. The joiners and variation selectors that emoji and the Arabic, Persian, Indic and Mongolian scripts are
written with stay, where they follow something visible, and so does a flag's whole sequence of tags.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_UNSTORABLE: Final = re.compile("[\0\ud800-\udfff]")
_FLAG: Final = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f")
_ONE: Final = re.compile(f"{_FLAG.pattern}|\r\n|.", re.DOTALL)
_JOINERS: Final = "\u200c\u200d"
_SELECTORS: Final = "\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef"
_JOINING: Final = re.compile(f"[{_JOINERS}{_SELECTORS}]")
_LOOSE: Final = re.compile(f"(?:^|(?<=[\\s{_JOINERS}]))[{_JOINERS}{_SELECTORS}]|(?<=[{_SELECTORS}])[{_SELECTORS}]")
_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_SEEN: Final = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")
"""Signs of Arabic, Syriac and Kaithi that Unicode counts among the format characters, and that are seen."""
_FILLERS: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")
"""Letters and marks that show nothing."""


def storable_text(text: str) -> bool:
    """Whether disk and wire take it: no NUL, no lone surrogate."""
    return _UNSTORABLE.search(text) is None


def blank(text: str) -> bool:
    """Whether nothing of it can be seen: white space, what is hidden, marks without a letter."""
    return all(_is_hidden(char) or unicodedata.category(char)[0] in "ZM" or char == "\u2800" for char in text)


def amiss(text: str, limit: int, *, lines: bool = False) -> str | None:
    """What keeps this text from being shown, as words that follow its name; None if nothing does.

    `limit` is in characters (code points); `lines` allows line feeds.
    """
    if not text:
        return f"is empty; write 1 to {limit:,} characters"
    if len(text) > limit:
        return f"has {len(text):,} characters, at most {limit:,} are allowed"
    if blank(text):
        return "is blank; write something that can be seen"
    if char := _first_hidden(text.replace("\n", " ") if lines else text):
        return f"has the character U+{ord(char):04X}, which is not allowed here; leave it out"
    return None


def look(text: str) -> str:
    """The text as a reader tells it from others: one case, one width, no joiners, single spaces."""
    folded = unicodedata.normalize("NFKC", _JOINING.sub("", text)).casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).split())


def seen(text: str) -> str:
    """The text, in which each character that is not seen, or that turns others around, is shown by its number."""
    return text if text.isascii() and text.isprintable() else _ONE.sub(lambda one: _numbered(one[0]), text)


def _numbered(char: str) -> str:
    plain = len(char) > 1 or char in "\n\t" or char in _JOINERS or not _is_hidden(char)
    return char if plain else f"[U+{ord(char):04X}]"


def _first_hidden(text: str) -> str | None:
    text = _FLAG.sub("\U0001f3f4", text)
    if loose := _LOOSE.search(text):
        return loose[0]
    return next((char for char in text if _is_hidden(char) and char not in _JOINERS), None)


def _is_hidden(char: str) -> bool:
    return char in _FILLERS or (unicodedata.category(char) in _HIDDEN and char not in _SEEN)
