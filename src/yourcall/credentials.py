"""What users have given to be kept, as the tools of one conversation reach it.

A credential is a `Secret` or anything else with a name that stands for one value in the vault; `when=` takes one, and
offers a tool while the user has it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from yourcall.errors import ProgrammingError
from yourcall.ports import Opened, Slot, Vault


@runtime_checkable
class Credential(Protocol):
    """Names what is kept. The user has one value under it in all conversations, or one in each."""

    @property
    def name(self) -> str: ...

    @property
    def per(self) -> Literal["user", "conversation"]: ...


@dataclass(frozen=True, slots=True)
class Credentials:
    """The credentials of a user, seen from one conversation."""

    vault: Vault
    user: str
    conversation: str

    def slot(self, credential: Credential) -> Slot:
        """Where the credential's value is kept. Raises `ProgrammingError` in a conversation that is called `*`."""
        match credential.per:
            case "conversation" if self.conversation == "*":
                raise ProgrammingError(
                    "A conversation called '*' keeps no secret of its own: '*' stands for all of them."
                )
            case "user":
                return Slot(self.user, credential.name)
            case "conversation":
                return Slot(self.user, credential.name, self.conversation)

    async def open(self, credential: Credential) -> Opened | None:
        """The value; None if the user has none. Raises `Busy` if the store does not answer."""
        return await self.vault.open(self.slot(credential))

    async def holds(self, credential: Credential) -> bool:
        """Whether the user has one; nothing is opened."""
        return await self.vault.holds(self.slot(credential))

    async def forget(self, credential: Credential) -> bool:
        """Remove it; False if the user has none."""
        return await self.vault.forget(self.slot(credential))
