"""Every scenario built so far, on every host there is."""

import msgspec
import pytest

from tests.conformance import (
    rows_binary,
    rows_children,
    rows_credits,
    rows_failure,
    rows_fan_in,
    rows_fan_out,
    rows_flow,
    rows_flow_data,
    rows_gates,
    rows_pause,
    rows_routing,
    rows_signals,
    rows_sleep,
    rows_tasks,
    rows_triggers,
)
from tests.conformance.case import Case
from tests.conformance.hosts import Open, simulated, sqlite
from tests.conformance.play import play

HOSTS = [pytest.param(simulated, id="simulated"), pytest.param(sqlite, id="sqlite")]
ROWS = [
    *rows_routing.ROWS,
    *rows_failure.ROWS,
    *rows_fan_out.ROWS,
    *rows_fan_in.ROWS,
    *rows_children.ROWS,
    *rows_gates.ROWS,
    *rows_signals.ROWS,
    *rows_pause.ROWS,
    *rows_tasks.ROWS,
    *rows_flow.ROWS,
    *rows_flow_data.ROWS,
    *rows_credits.ROWS,
    *rows_sleep.ROWS,
    *rows_binary.ROWS,
    *rows_triggers.ROWS,
]


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("case", ROWS)
async def test_scenario(case: Case, host: Open) -> None:
    async with host() as opened:
        outcome = await play(case, opened)
    assert (outcome.status, outcome.error_type) == (case.status, case.error), outcome.error_message
    if case.output is not msgspec.UNSET:
        assert outcome.output == case.output
    assert outcome.types()[0] == "run.submitted"
    assert outcome.types()[-1] == f"run.{case.status}"
    assert [event["seq"] for event in outcome.events] == list(range(len(outcome.events)))
    assert all(token.status in ("completed", "failed", "timed_out", "cancelled") for token in outcome.tokens)
    case.also(outcome)
