"""Users on their way to a provider and back, in a table of the store's database."""

from __future__ import annotations

from typing import Any, Final

from yourcall.ports import MOST_UNDER_WAY, OVER_SECONDS, Handoff, Key
from yourcall.store.postgres_pool import NOW, PostgresPool

_BEGIN: Final = f"""
WITH old AS (
    DELETE FROM handoff WHERE expires_at <= {NOW} - %(kept)s OR state IN (
        SELECT h.state FROM conversation c JOIN handoff h ON h.conversation = c.key WHERE c.owner = %(owner)s
        ORDER BY h.expires_at DESC, h.state OFFSET %(most)s - 1))
INSERT INTO handoff (state, conversation, interrupt, provider, browser, redirect_uri, issuer, names_issuer, expires_at)
SELECT %(state)s, c.key, i.id, %(provider)s, %(browser)s, %(redirect_uri)s, %(issuer)s, %(names_issuer)s,
    {NOW} + %(seconds)s
FROM interrupt i JOIN conversation c ON c.key = i.conversation
WHERE i.id = %(interrupt)s AND i.ended IS NULL AND c.owner = %(owner)s AND c.id = %(id)s
FOR KEY SHARE OF c  -- one that is just being deleted is none
RETURNING state
"""
_MINE: Final = """
state = %(state)s AND provider = %(provider)s AND browser = %(browser)s
    AND conversation IN (SELECT key FROM conversation WHERE owner = %(owner)s)
"""
_USE: Final = f"""
UPDATE handoff SET used_at = {NOW} WHERE {_MINE} AND used_at IS NULL AND expires_at > {NOW} RETURNING state
"""
_READ: Final = f"""
SELECT c.id, h.interrupt, h.redirect_uri, h.issuer, h.names_issuer
FROM handoff h JOIN conversation c ON c.key = h.conversation WHERE {_MINE}
"""


class PostgresHandoffs:
    """`HandoffRows` in an opened database."""

    def __init__(self, pool: PostgresPool) -> None:
        self._pool = pool

    async def begin(self, state: str, handoff: Handoff, seconds: float) -> bool:
        values = {
            "state": state, "interrupt": handoff.interrupt, "owner": handoff.key.owner, "id": handoff.key.id,
            "provider": handoff.provider, "browser": handoff.browser, "redirect_uri": handoff.redirect_uri,
            "issuer": handoff.issuer, "names_issuer": handoff.names_issuer, "seconds": seconds, "kept": OVER_SECONDS,
            "most": MOST_UNDER_WAY,
        }  # fmt: skip
        return bool(await self._pool.rows(_BEGIN, values | {"now": self._pool.now}))

    async def use(self, state: str, provider: str, browser: str, owner: str) -> Handoff | None:
        used = await self._pool.rows(_USE, self._mine(state, provider, browser, owner))
        return await self.find(state, provider, browser, owner) if used else None

    async def find(self, state: str, provider: str, browser: str, owner: str) -> Handoff | None:
        for id, *rest in await self._pool.rows(_READ, self._mine(state, provider, browser, owner)):
            interrupt, redirect_uri, issuer, names_issuer = rest
            return Handoff(Key(owner, id), interrupt, provider, browser, redirect_uri, issuer, names_issuer)
        return None

    def _mine(self, state: str, provider: str, browser: str, owner: str) -> dict[str, Any]:
        return {"state": state, "provider": provider, "browser": browser, "owner": owner, "now": self._pool.now}
