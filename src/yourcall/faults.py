"""What is wrong with what a client sends, place by place: the faults that every ask and every route may find.

A fault says where and what, for the card to show beside the field. It never repeats what the user sent.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from itertools import islice
from typing import TYPE_CHECKING, Final

from yourcall.errors import Fault
from yourcall.texts import storable_text
from yourcall.wording import resembles_key

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

MAX_WORDS: Final = 10_000
"""What a user may write into one field, in characters, unless the field has a limit of its own."""

ID_RULE: Final = "Expected up to 200 printable characters without a slash."

_SHOWN: Final = 8


def pointer(*place: str | int) -> str:
    """A JSON pointer (RFC 6901). A name that is long or cannot be printed is left out: it is the client's text."""
    names = [str(part) for part in place]
    shown = [name for name in names if len(name) <= 64 and name.isprintable()]
    return "".join(f"/{name.replace('~', '~0').replace('/', '~1')}" for name in shown)


def unexpected(given: Iterable[str], known: Container[str], *place: str | int) -> list[Fault]:
    """A fault for each name that is not known; of a flood, for the first few."""
    unknown = islice((name for name in given if name not in known), _SHOWN)
    return [Fault(pointer(*place, name), "Unexpected field.", "unknown-field") for name in unknown]


def text_fault(text: str, *place: str | int, limit: int = MAX_WORDS) -> Fault | None:
    """What keeps a user's text from being taken, if anything: it need not be seen, but it must be stored."""
    if not storable_text(text):
        return Fault(pointer(*place), "Text contains characters that cannot be stored.", "invalid-text")
    if len(text) > limit:
        return Fault(pointer(*place), f"At most {limit:,} characters.")
    if resembles_key(text):
        return Fault(pointer(*place), "This looks like a secret key. Do not enter it here: it would be kept and read.")
    return None


def is_id(chosen: str) -> bool:
    """Whether an id that a client chose is taken: it goes into paths, indexes and whatever is sent back."""
    return 0 < len(chosen) <= 200 and chosen.isprintable() and "/" not in chosen


def said(error: ErrorDetails) -> str:
    """What pydantic found, in words for whoever wrote the value: the author's own, where a validator has some."""
    cause = error.get("ctx", {}).get("error")
    match error["type"]:
        case "missing":
            return "This field is required."
        case "unexpected_keyword_argument":
            return "Unexpected field."
        case "dataclass_type":
            return "Must be an object."
        case "sequence_str" | "is_instance_of":  # of a Sequence, the one such type that we ask for
            return "Must be a list."
        case "literal_error" | "enum":
            return "Not one of the offered options."
        case "value_error" | "assertion_error" if cause is not None:
            return str(cause)
    return re.sub(r"^(Input|String|List|Value) should ", "Must ", error["msg"]) + "."
