"""What a fault test came to: how often it did what it does, and what was wrong afterwards."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.faults.checker import Facts, lines, read, violations
from tests.faults.servers import Server


@dataclass
class Outcome:
    """`count` faults, and all that they broke. `entries` says how much there was to check."""

    count: int = 0
    hits: int = 0
    """Those of them that hit a run in progress, where that is counted."""
    entries: int = 0
    facts: int = 0
    violations: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """Figures that have no column."""

    @property
    def share(self) -> float:
        return self.hits / max(self.count, 1)

    def check(self, store: str, facts: Facts, servers: Iterable[Server] = ()) -> None:
        """Look at a store after all is over, and at what its servers complained of."""
        kept = read(store)
        effects: list[str] = []
        for server in servers:
            effects = lines(server.settings.effects)
            said = lines(server.settings.log)
            self.violations += [f"a server said: {line}" for line in said if "Error" in line or "Traceback" in line]
        self.violations += violations(kept, facts, effects)
        self.entries += sum(len(one.entries) for one in kept)
        self.facts += len(facts.said) + len(facts.answered) + len(facts.shown) + len(facts.asked)
