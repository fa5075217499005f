"""What an agent is: a model, its tools, its instructions, and what it makes of messages and skips."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, Literal

from typing_extensions import TypeVar

from yourcall.connect import OAuthProvider
from yourcall.context import Context
from yourcall.credentials import Credential
from yourcall.decisions import OnMessage
from yourcall.entries import Json
from yourcall.errors import ProgrammingError
from yourcall.ports import Model
from yourcall.scrub import hiding
from yourcall.tools import Tool
from yourcall.trim import Trim

log = logging.getLogger("yourcall")

D = TypeVar("D", default=Any)


@dataclass(frozen=True)
class Agent(Generic[D]):
    """A model with tools.

    `model` is a `Model`, or the name of a provider's, such as `"anthropic:claude-sonnet-5"`.
    `on_message` says what a message does to open questions: "supersede" closes them, "reject" refuses the
    message (409), "keep" leaves them open and lets the model read the message after their results. What was put to
    somebody else (`Ask.to`) is never closed by a message, but kept. `on_skip` is
    what the model is told of a skipped question: "proceed" on its own judgment, or "wait" until the user writes.
    `max_steps` bounds the steps after one user message. `settings` goes to the model as it is.
    `trim` chooses what of a long conversation the model reads: see `yourcall.trim`.
    """

    model: Model | str
    tools: Sequence[Tool[D]] = ()
    instructions: str = ""
    on_message: OnMessage = "supersede"
    on_skip: Literal["proceed", "wait"] = "proceed"
    max_steps: int = 50
    settings: Mapping[str, Json] = field(default_factory=dict)
    trim: Trim | None = None

    def __post_init__(self) -> None:
        names = [tool.name for tool in self.tools]
        if twice := {name for name in names if names.count(name) > 1}:
            raise ProgrammingError(f"Two tools are called {', '.join(sorted(twice))}: give one another `name=`.")
        kept = [tool.when for tool in self.tools if isinstance(tool.when, Credential)]
        providers = {one.name for one in kept if isinstance(one, OAuthProvider)}
        if both := providers & {one.name for one in kept if not isinstance(one, OAuthProvider)}:
            raise ProgrammingError(
                f"A secret and a provider are both called {', '.join(sorted(both))}: rename one of them."
            )
        _ = self.opened  # a wrong name is the app's mistake: it learns of it here

    @property
    def opened(self) -> Model:
        """The model itself."""
        return self._named if isinstance(self.model, str) else self.model

    @cached_property
    def _named(self) -> Model:
        from yourcall.open import open_model

        return open_model(str(self.model))

    def tool(self, name: str) -> Tool[D] | None:
        return next((tool for tool in self.tools if tool.name == name), None)

    async def offered(self, ctx: Context[D]) -> list[Tool[D]]:
        """The tools whose `when` holds at this step; one whose `when` breaks is not offered."""
        return [tool for tool in self.tools if await _holds(tool, ctx)]


async def _holds(tool: Tool[D], ctx: Context[D]) -> bool:
    if tool.when is None:
        return True
    with hiding(ctx.hidden):
        try:
            holds = ctx.holds(tool.when) if isinstance(tool.when, Credential) else tool.when(ctx)
            return bool(await holds if inspect.isawaitable(holds) else holds)
        except Exception:
            log.exception("The `when` of the tool %s failed; it is not offered", tool.name)
            return False
