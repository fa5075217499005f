"""`@tool(confirm=...)`: what a model wants to do is shown to the user before it is done.

The arguments of the recorded call are what is shown, approved, perhaps edited, and then run: the model is not asked
again in between. The question has a key of its own, so that it is the same one in every execution of the call.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic_core import to_jsonable_python

from yourcall.confirm import Confirm, require_editable
from yourcall.context import Context
from yourcall.errors import ToolError, TooMuchToShow
from yourcall.words import title_of


@dataclass(frozen=True, slots=True)
class Consent:
    """What a tool needs a yes to: `hints` are its parameters' types, `editable` those that the user may change."""

    title: str
    hints: Mapping[str, Any]
    editable: Iterable[str] | bool

    @classmethod
    def of(cls, name: str, confirm: bool | str, hints: Mapping[str, Any], editable: Iterable[str] | bool) -> Consent:
        """For the tool `name`. Raises `ProgrammingError` for parameters that cannot be edited."""
        require_editable(hints, editable)
        title = confirm if isinstance(confirm, str) else f"{title_of(name)}?"
        return cls(title, hints, editable if isinstance(editable, bool) else tuple(editable))

    def given(self, ctx: Context[Any], arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments as the user approved them; until then, a pause. Raises `Declined`."""
        try:
            ask = Confirm(self.title, arguments, editable=self.editable, hints=self.hints)
        except TooMuchToShow as problem:  # the model wrote them, and can write them shorter
            raise ToolError(str(problem)) from None
        approved = ctx._ask(ask, "#confirm", None)
        changed = {name: value for name, value in approved.items() if value != arguments[name]}
        ctx.edited = to_jsonable_python(changed, bytes_mode="base64")
        return approved
