"""The execution record: where a run stands, and that it stands nowhere once it has ended."""

import pytest

from jeton.actor.replay import replay
from jeton.actor.rows import RunRow
from jeton.engine.views.explain.explain import RunHistory
from jeton.engine.views.plain import plain
from jeton.engine.views.record import NoOutput, RunRecord, record_of
from jeton.model.failure import RunError
from jeton.model.ids import RunId
from jeton.model.json import JsonObject
from jeton.model.state.run import RunStatus
from tests.engine.views.journals import PANEL, WORK, branches_take, told, up_to

FIELDS = {
    *("status", "paused", "workflow", "version", "trigger_type", "trigger_id", "trigger_depth", "current_nodes"),
    *("waiting_at_node", "waiting_label", "next_step_at", "submitted_at", "started_at", "completed_at"),
    *("output", "error", "error_stack"),
}
TWO_NAPS: JsonObject = {
    "initial_node": "s",
    "nodes": {"s": {}, "long": {"wait": {"seconds": 9}}, "short": {"wait": {"seconds": 2, "label": "a nap"}}},
    "transitions": [{"from": "s", "to": "long"}, {"from": "s", "to": "short"}],
}


def record_after(run: RunHistory, entries: int) -> RunRecord:
    state = replay(run.head, up_to(run, entries).entries).state
    head = state.head
    row = RunRow(
        run=head.run,
        workflow=head.workflow,
        version=head.version,
        status=head.status,
        paused=head.paused,
        submitted_at=head.submitted_at,
        started_at=head.started_at,
        ended_at=head.ended_at,
        wake=None,
        entries=head.entries,
        error=head.error,
    )
    return record_of(row, state)


def test_a_record_has_every_documented_field() -> None:
    assert set(plain(record_after(told(TWO_NAPS), 1))) >= FIELDS


def test_a_waiting_run_points_at_the_wait_that_ends_first() -> None:
    naps = told(TWO_NAPS)
    found = record_after(naps, 1)
    assert found.status == "waiting"
    assert found.current_nodes == ("long", "short")
    assert (found.waiting_at_node, found.waiting_label) == ("short", "a nap")
    assert found.next_step_at is not None
    assert (found.next_step_at - found.submitted_at).total_seconds() == 2


def test_a_running_run_points_at_the_nodes_of_its_tokens() -> None:
    found = record_after(told(PANEL, {"judges": ["a", "b", "c"]}, {"judge": branches_take(9, 1, 5)}), 2)
    assert (found.status, found.current_nodes, found.waiting_at_node) == ("running", ("judge",), None)


def test_the_pointers_end_with_the_run() -> None:
    naps = told(TWO_NAPS)
    found = record_after(naps, len(naps.entries))
    assert (found.status, found.completed_at is not None) == ("completed", True)
    assert found.current_nodes == ()
    assert (found.waiting_at_node, found.waiting_label, found.next_step_at) == (None, None, None)


def test_times_are_rfc_3339() -> None:
    assert plain(record_after(told({"initial_node": "a", "nodes": {"a": WORK}}), 1))["submitted_at"] == (
        "2023-11-14T22:13:20.000Z"
    )


@pytest.mark.parametrize("status", ["failed", "cancelled", "timed_out", "running"])
def test_only_a_completed_run_has_an_output(status: RunStatus) -> None:
    row = RunRow(RunId("r"), "w", 1, "completed", False, 0, 0, 5, None, 1, output={"n": 1})
    assert record_of(row, None).output_or_raise() == {"n": 1}
    other = RunRow(RunId("r"), "w", 1, status, False, 0, 0, 5, None, 1, RunError("broken", "it broke"))
    with pytest.raises(NoOutput, match="it broke") as refused:
        record_of(other, None).output_or_raise()
    assert refused.value.record.status == status
