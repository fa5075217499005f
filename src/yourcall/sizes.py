"""How large something is, in words: a card, a refusal and the model say the same of the same file."""

from __future__ import annotations

import math


def size(count: int) -> str:
    """`count` bytes in the largest unit that fits, to one decimal: "312 B", "195.3 KiB", "10 MiB"."""
    unit, one = ("B", 1) if count < 1 << 10 else ("KiB", 1 << 10) if count < 1 << 20 else ("MiB", 1 << 20)
    return f"{math.floor(count / one * 10 + 0.5) / 10:.6g} {unit}"  # halves up, as the cards round them
