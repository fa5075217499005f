"""What came in for a question, by which way: one contract for all of them.

The engine executes the asking call up to its question, and only then is the answer read: its limits are those of the
live ask. It is parsed and checked, what must not be in the log is laid down as a draft, and the append that records
the answer makes the draft count.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol

from yourcall.asks import Ask, payload_digest
from yourcall.entries import Channel, File, Json
from yourcall.errors import Fault, Rejected
from yourcall.faults import is_id
from yourcall.ports import Draft, Kept


class Given(Protocol):
    """An answer on its way in."""

    channel: ClassVar[Channel]

    @property
    def mark(self) -> str:
        """Identifies what was sent, so that sending it again is recognised; known once it was read."""

    async def read(self, ask: Ask[Any]) -> Any:
        """What `ask.parse` takes, within the limits of the live ask. Raises `Refused`."""

    async def keep(self, ask: Ask[Any], value: Any) -> Kept:
        """Lay down what must not be in the log of the parsed and checked answer. Raises `Refused`."""


@dataclass(frozen=True)
class FormAnswer:
    """JSON that came in the open. `named` finds the files that `user` sent ahead, by their ids."""

    payload: Json
    user: str
    named: Callable[[str, Sequence[str]], Awaitable[tuple[File, ...]]]
    channel: ClassVar[Channel] = "form"

    @cached_property
    def mark(self) -> str:
        return payload_digest(self.payload)

    async def read(self, ask: Ask[Any]) -> Json:
        if not ask.attachments or not isinstance(self.payload, dict):
            return self.payload
        return {name: value for name, value in self.payload.items() if name != "files"}

    async def keep(self, ask: Ask[Any], value: Any) -> Kept:
        files = await self.named(self.user, self._attached(ask))
        return Kept(ask.encode(value), [Draft("file", file.id, self.user) for file in files], files)

    def _attached(self, ask: Ask[Any]) -> Sequence[str]:
        match self.payload:
            case {"files": ids} if ask.attachments and ids is not None:
                if isinstance(ids, list) and all(isinstance(id, str) and is_id(id) for id in ids):
                    return ids
                raise Rejected(faults=[Fault("/files", "Expected a list of ids.")])
        return ()
