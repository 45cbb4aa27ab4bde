"""Every scenario built so far, on every host there is."""

import msgspec
import pytest

from tests.conformance.case import Case, Outcome
from tests.conformance.hosts import Open, postgres, simulated, sqlite
from tests.conformance.play import play
from tests.conformance.rows import (
    binary,
    children,
    counts,
    credits,
    ends,
    failure,
    fan_in,
    fan_out,
    flow,
    flow_data,
    flow_failures,
    gates,
    pause,
    questions,
    routing,
    run_facts,
    signals,
    sleep,
    tasks,
    triggers,
)
from tests.conformance.rows.talk import agents

HOSTS = [
    pytest.param(simulated, id="simulated"),
    pytest.param(sqlite, id="sqlite"),
    pytest.param(postgres, id="postgres"),
]
ROWS = [
    *routing.ROWS,
    *failure.ROWS,
    *fan_out.ROWS,
    *fan_in.ROWS,
    *children.ROWS,
    *ends.ROWS,
    *gates.ROWS,
    *signals.ROWS,
    *pause.ROWS,
    *tasks.ROWS,
    *flow.ROWS,
    *flow_data.ROWS,
    *flow_failures.ROWS,
    *credits.ROWS,
    *sleep.ROWS,
    *questions.ROWS,
    *binary.ROWS,
    *triggers.ROWS,
    *run_facts.ROWS,
    *counts.ROWS,
    *agents.ROWS,
]


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("case", ROWS)
async def test_scenario(case: Case, host: Open) -> None:
    async with host() as opened:
        outcome = await play(case, opened)
    check_outcome(case, outcome)


def check_outcome(case: Case, outcome: Outcome) -> None:
    """Fail if a case came to something else than it says."""
    assert (outcome.status, outcome.error_type) == (case.status, case.error), outcome.error_message
    if case.output is not msgspec.UNSET:
        assert outcome.output == case.output
    assert outcome.types()[0] == "run.submitted"
    assert outcome.types()[-1] == f"run.{case.status}"
    assert [event["seq"] for event in outcome.events] == list(range(len(outcome.events)))
    assert all(token.status in ("completed", "failed", "timed_out", "cancelled") for token in outcome.tokens)
    case.also(outcome)
