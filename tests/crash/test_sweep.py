"""A few cases of the sweep with every test run; `python -m tests.crash.sweep` has them all."""

import pytest

from tests.crash.scenario import SCENARIOS
from tests.crash.sweep import sweep

QUICK = {"retry", "wait", "child", "gate", "signal", "migration"}
ROWS = [
    pytest.param(number % 4, name, marks=() if name in QUICK else (pytest.mark.long,))
    for number, name in enumerate(SCENARIOS)
]


@pytest.mark.parametrize(("start", "scenario"), ROWS)
def test_a_disturbed_store_loses_nothing_and_finishes_its_runs(start: int, scenario: str) -> None:
    assert [case for case in sweep([scenario], 1, start=start) if case.problems] == []
