"""The models of providers, behind the `Model` port. What each needs is imported when it is first used.

`provider` makes one from a name, as `Agent("anthropic:claude-sonnet-5")` does; `openai_compatible` one for any server
that speaks OpenAI's protocol; `pydantic_ai` takes a model that was made with that library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from yourcall.models.later import Later
from yourcall.models.names import checked
from yourcall.models.retrying import Retrying

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from pydantic_ai.models import Model as TheirModel
    from pydantic_ai.native_tools import AbstractNativeTool

    from yourcall.ports import Model

__all__ = ["Retrying", "openai_compatible", "provider", "pydantic_ai"]

ATTEMPTS = 4
SILENCE = 300.0


def provider(
    name: str,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    native_tools: Sequence[AbstractNativeTool] = (),
    attempts: int = ATTEMPTS,
    silence: float = SILENCE,
    takes: Collection[str] | None = None,
) -> Model:
    """A provider's model by its name, such as `"anthropic:claude-sonnet-5"`.

    `base_url` and `api_key` are the provider's own by default, the key from its usual environment variable.
    `native_tools` are tools that the provider itself runs. A step is tried `attempts` times before the run stops; a
    stream that brings nothing for `silence` seconds counts as broken. `takes` are the media types of users' files that
    go to the model as they are: by default common images and PDF with Anthropic, OpenAI and Google, else none; text
    goes to every model. Raises `ProgrammingError` for a name that is
    none, or one whose extra is not installed.
    """
    theirs, model = checked(name)

    def make() -> Model:
        from yourcall.models.pydantic_ai import PydanticAI
        from yourcall.models.sources import named

        source = named(theirs, model, base_url=base_url, api_key=api_key, silence=silence, takes=takes)
        return PydanticAI(source, native_tools=native_tools)

    return Retrying(Later(make), attempts=attempts)


def openai_compatible(model: str, *, base_url: str, api_key: str = "none", **options: Any) -> Model:
    """A model behind a server that speaks OpenAI's Chat Completions: llama.cpp, vLLM, Ollama, a gateway.

    The options are those of `provider`. Many such models read text alone: one that sees has
    `takes=["image/png", "image/jpeg"]`.
    """
    return provider(f"openai-chat:{model}", base_url=base_url, api_key=api_key, **{"takes": ()} | options)


def pydantic_ai(
    model: TheirModel,
    *,
    native_tools: Sequence[AbstractNativeTool] = (),
    attempts: int = ATTEMPTS,
    takes: Collection[str] = (),
) -> Model:
    """A model that was made with pydantic-ai, for whatever a name cannot say.

    What it streams is kept in pydantic-ai's own form: blocks that pydantic-ai does not know are not sent back.
    `takes` are the media types of users' files that it takes as they are.
    """
    from yourcall.models.pydantic_ai import PydanticAI, Source

    return Retrying(PydanticAI(Source(model, takes), native_tools=native_tools), attempts=attempts)
