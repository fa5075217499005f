"""Without any one of the rules that nothing works without, the property test breaks."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.model.calls import Broken
from tests.model.directed import SCENARIOS
from tests.model.generate import scenarios
from tests.model.mutants import MUTANTS, Mutant
from tests.model.script import Scenario
from tests.model.world import play

SEARCH = 3000
"""So many generated examples must suffice to break an engine that lacks a rule. The first few hundred do, as a rule:
which are drawn depends on the constants that Hypothesis finds in whatever modules are loaded."""

_each = pytest.mark.parametrize("mutant", MUTANTS, ids=str)


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """A broken engine has much to say."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def _breaks(scenario: Scenario) -> bool:
    try:
        play(scenario)
    except Broken as broken:
        return broken.rule != "machinery"
    return False


@_each
def test_a_directed_scenario_breaks_without_the_rule(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    """The shortest way to the situation that the rule is about."""
    mutant.patch(monkeypatch)
    assert any(_breaks(SCENARIOS[name]) for name in mutant.scenarios), mutant.shows


@_each
def test_generated_examples_break_without_the_rule(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chance finds it, too."""
    mutant.patch(monkeypatch)

    class Found(Exception):
        """Enough."""

    @settings(
        max_examples=SEARCH,
        deadline=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(scenarios())
    def search(scenario: Scenario) -> None:
        if _breaks(scenario):
            raise Found

    with pytest.raises(Found):
        search()
