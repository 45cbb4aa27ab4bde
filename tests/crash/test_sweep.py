"""A few cases of the sweep with every test run; `python -m tests.crash.sweep` has them all."""

import pytest

from tests.crash.scenario import SCENARIOS
from tests.crash.sweep import sweep


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_disturbed_store_loses_nothing_and_finishes_its_runs(scenario: str) -> None:
    assert [case for case in sweep([scenario], 1) if case.problems] == []
