"""How often the examples came to what they are for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Set

EXAMPLES = Counter[str]()
"""How many examples came to each situation; `""` counts all of them."""

REQUIRED = ("restart", "cancel", "supersede", "two asks")
"""Situations that at least a tenth of the examples must come to."""


def count(marks: Set[str]) -> None:
    """Count one example that ended well."""
    EXAMPLES.update({"": 1, **dict.fromkeys(marks, 1)})


def share(mark: str) -> float:
    """The part of the examples that came to this situation."""
    return EXAMPLES[mark] / max(EXAMPLES[""], 1)


def lines() -> list[str]:
    """The shares, the required ones first."""
    if not EXAMPLES[""]:
        return []
    others = sorted(set(EXAMPLES) - {"", *REQUIRED})
    return [
        f"{EXAMPLES['']} examples",
        *(f"{share(mark):7.1%}  {mark}{' (at least 10%)' * (mark in REQUIRED)}" for mark in (*REQUIRED, *others)),
    ]
