"""Who may answer a question: its owner, unless its tool put it to somebody else.

An app says under which names a user can be asked, and not whether they may answer this or that: so the right to
answer and the inbox are one thing, which a store can look up. The owner of a conversation never answers what was put
to somebody else; a tool that takes their own word for it asks with `to=None`.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TypeAlias

from yourcall.errors import NotAsked, NotFound
from yourcall.ports import Found, Open, Store

MayAnswer: TypeAlias = Callable[[str], Iterable[str] | Awaitable[Iterable[str]]]
"""All values of `Ask.to` that mean this user. Sync or async."""


class Addressees:
    """Finds questions for whoever was asked them. Without `may_answer`, `Ask.to` is a user's id."""

    def __init__(self, store: Store, may_answer: MayAnswer | None) -> None:
        self._store, self._may_answer = store, may_answer

    async def find(self, user: str, interrupt_id: str) -> Found:
        """A question of theirs, or one that was put to them. Raises `NotFound` for unknown and foreign ids alike."""
        found = await self._store.find(user, interrupt_id)  # nearly always it is their own
        found = found or await self._store.find(user, interrupt_id, await self._names(user))
        if found is None:
            raise NotFound
        return found

    async def inbox(self, user: str, limit: int, before: tuple[float, str] | None) -> Sequence[Open]:
        """What is open and theirs to answer, the latest first."""
        return await self._store.inbox(user, await self._names(user), limit, before=before)

    async def _names(self, user: str) -> Sequence[str]:
        names = self._may_answer(user) if self._may_answer else [user]
        return list(await names if inspect.isawaitable(names) else names)


def by(found: Found, user: str) -> str | None:
    """Who closes the question, as its log says it: None for the owner. Raises `NotAsked`."""
    if user != found.key.owner:
        return user
    if found.interrupt.to is not None:
        raise NotAsked
    return None
