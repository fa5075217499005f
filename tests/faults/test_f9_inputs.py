"""F9: Schemathesis over our OpenAPI, and bad inputs: nothing but what is described, no 5xx, a problem at each error."""

from __future__ import annotations

import logging

import pytest

from tests.faults.inputs import fuzz
from tests.faults.report import Outcome

pytestmark = pytest.mark.anyio


async def test_f9_no_input_is_a_surprise(caplog: pytest.LogCaptureFixture) -> None:
    """Whatever comes in, its answer is described; what is refused is a problem, and no bug is met."""
    outcome = Outcome()
    await fuzz(330, "sqlite://", outcome)
    print(f"F9: {outcome.count} requests, {outcome.hits} of them taken")
    assert not outcome.violations
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]
