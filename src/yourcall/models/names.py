"""What a model is called: `provider:model`. Checked where the agent is made, long before anything is imported."""

from __future__ import annotations

import re
from importlib.util import find_spec
from typing import Final

from yourcall.errors import ProgrammingError

NEEDS: Final = {
    "anthropic": ("anthropic", "anthropic"),
    "openai": ("openai", "openai"),
    "openai-chat": ("openai", "openai"),
    "openai-responses": ("openai", "openai"),
    "google": ("google", "google.genai"),
    "google-gla": ("google", "google.genai"),
    "google-vertex": ("google", "google.genai"),
}
"""By provider: our extra, and the module that it brings. Others are pydantic-ai's: its error says what to install."""

THEIRS: Final = {"openai": "openai-chat", "google-gla": "google", "google-vertex": "google-cloud"}
"""Our names for what pydantic-ai calls otherwise. `openai` is Chat Completions, which every compatible server has."""


def checked(name: str) -> tuple[str, str]:
    """The provider, as pydantic-ai calls it, and the model."""
    provider, _, model = name.partition(":")
    if not re.fullmatch(r"[a-z][a-z0-9/-]*", provider) or not model:
        raise ProgrammingError(f'{name!r} names no model: write "provider:model", as "anthropic:claude-sonnet-5".')
    extra, module = NEEDS.get(provider, ("models", "pydantic_ai"))
    if not all(map(_installed, ("pydantic_ai", module))):
        raise ProgrammingError(f'The model {name!r} needs more to be installed: pip install "yourcall[{extra}]"')
    return THEIRS.get(provider, provider), model


def _installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ModuleNotFoundError, ValueError):  # of a package that holds it; or it was put out of reach
        return False
