"""The pages of the documentation, taken apart: their sections, and the examples of each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


@dataclass(frozen=True)
class Block:
    """An example, as it is printed."""

    language: str
    text: str


def sections(page: str) -> dict[str, list[Block]]:
    """The examples of a page by the heading that they stand under, in their order."""
    text = (DOCS / page).read_text(encoding="utf-8")
    _, *parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    return {heading: blocks(part) for heading, part in zip(parts[::2], parts[1::2], strict=True)}


def blocks(text: str) -> list[Block]:
    return [Block(*found) for found in re.findall(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)]
