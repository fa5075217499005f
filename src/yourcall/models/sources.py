"""Models of pydantic-ai, made from a provider's name.

The protocols that are kept whole get a transport of ours under their SDK. With Google's the SDK is given the same
one for its connections alone; every other provider is opened as pydantic-ai does it.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

import httpx2
from pydantic_ai.models import infer_model
from pydantic_ai.providers import Provider, infer_provider_class

from yourcall.entries import Json
from yourcall.models.pydantic_ai import Source
from yourcall.models.tape import Deck
from yourcall.models.wire import AnthropicMessages, OpenAIResponses, Wire

WIRES: Final[dict[str, Wire]] = {"anthropic": AnthropicMessages(), "openai-responses": OpenAIResponses()}
OURS: Final = {*WIRES, "openai-chat", "google"}

DEFAULTS: Final[dict[str, dict[str, Json]]] = {"openai-responses": {"openai_store": False}}
"""A pause may last longer than a provider keeps what it stored: the log has the step, reasoning and all."""


COMMON: Final = {"image/png", "image/jpeg", "image/webp", "application/pdf"}
TAKES: Final = {
    **dict.fromkeys(("anthropic", "openai-chat", "openai-responses"), COMMON | {"image/gif"}),
    **dict.fromkeys(("google", "google-cloud"), COMMON | {"image/heic", "image/heif"}),
}
"""Media types that each provider takes as they are; where nothing is known, none."""


def named(
    provider: str,
    model: str,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    silence: float,
    takes: Collection[str] | None = None,
) -> Source:
    """The model of this name. `silence` is in seconds."""
    deck = Deck()

    def factory(name: str) -> Provider[Any]:
        options: dict[str, Any] = {"base_url": base_url, "api_key": api_key}
        options = {option: value for option, value in options.items() if value is not None}
        if name in OURS:
            options["http_client"] = httpx2.AsyncClient(
                transport=deck, timeout=httpx2.Timeout(silence, connect=10.0), follow_redirects=True
            )
        return infer_provider_class(name)(**options)

    made = infer_model(f"{provider}:{model}", factory)
    wire = WIRES.get(provider)
    known = TAKES.get(provider, ()) if takes is None else takes
    return Source(made, known, deck if wire else None, wire, DEFAULTS.get(provider, {}))
