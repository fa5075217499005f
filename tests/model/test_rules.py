"""Whatever the model, the tools, the users and the machines do, every rule of pausing holds."""

from __future__ import annotations

import dataclasses
import os

import pytest
from hypothesis import HealthCheck, given, settings

from tests.model import report
from tests.model.directed import CRASHES, SCENARIOS
from tests.model.generate import scenarios
from tests.model.script import Crash, Scenario
from tests.model.world import play

EXAMPLES = int(os.environ.get("YOURCALL_EXAMPLES", "500"))
"""How many examples; for more than the usual number they differ from one session to the next."""


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize="YOURCALL_EXAMPLES" not in os.environ,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(scenarios())
def generated(scenario: Scenario) -> None:
    """One example by chance."""
    report.count(play(scenario).marks)


def test_no_write_request_or_outcome_breaks_a_rule() -> None:
    """In no interleaving, with crashes and two processes; and the examples come to what they are for."""
    generated()
    rare = [f"{mark}: {report.share(mark):.1%}" for mark in report.REQUIRED if report.share(mark) < 0.1]
    assert not rare


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_directed_scenario_breaks_no_rule(name: str) -> None:
    """Situations that matter and that chance comes to too rarely."""
    play(SCENARIOS[name])


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_crash_at_every_write_breaks_no_rule(after: bool) -> None:
    """The process dies before, or right after, its nth write, for every n; and everything is brought to its end."""
    for skip in range(100):
        acts = (Crash(skip, after), *CRASHES.acts)
        if "restart" not in play(dataclasses.replace(CRASHES, acts=acts)).marks:
            assert skip > 15
            return
    pytest.fail("this conversation has no end")
