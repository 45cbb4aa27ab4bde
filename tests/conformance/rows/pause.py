"""Pausing: nothing new begins, results are still taken, and it goes on as if nothing had been."""

import pytest

from jeton.model.message import PauseRun
from tests.conformance.case import Act, Case, Outcome, mock, pauses, sets, to, unpauses, workflow

SOON_MS = 1_000  # time enough to pause the run before


def between(seen: Outcome, first: str, last: str) -> list[str]:
    start = seen.decisions.index(first)
    return list(seen.decisions[start : seen.decisions.index(last, start + 1)])


def the_result_was_taken_and_nothing_begun(seen: Outcome) -> None:
    meanwhile = between(seen, "set_paused", "set_paused")
    assert "finish_node" in meanwhile
    assert "create_token" in meanwhile
    assert "dispatch_token" not in meanwhile


def the_retry_came_afterwards(seen: Outcome) -> None:
    assert "dispatch_token" not in between(seen, "set_paused", "set_paused")
    assert seen.decisions.count("dispatch_token") == 2


def the_children_stood_still_too(seen: Outcome) -> None:
    assert [child.status for child in seen.children] == ["completed"]
    assert seen.took_ms >= SOON_MS + 100


AGAIN = {
    "again": {
        "steps": [
            {
                "action": {
                    "kind": "mock",
                    "implementation": {"output": {}, "fail": {"times": 1, "message": "not yet"}},
                },
                "on_failure": "retry",
            }
        ],
        "retry": {"max_attempts": 2, "initial_delay_ms": SOON_MS},
    }
}

CASES = [
    Case(
        "a paused run takes results and begins nothing",
        workflow({"a": mock(delay_ms=SOON_MS), "b": sets(done="true")}, to("a", "b")),
        acts=(pauses("dispatch_token", node="a"), unpauses("finish_node", node="a", after_ms=20)),
        output={"done": True},
        also=the_result_was_taken_and_nothing_begun,
        hurries=True,
    ),
    Case(
        "retries of a paused run wait",
        workflow({"a": {"task": "again"}}),
        tasks=AGAIN,
        acts=(pauses("retry_token"), unpauses("retry_token", after_ms=SOON_MS + 200)),
        also=the_retry_came_afterwards,
        hurries=True,
    ),
    Case(
        "a timer that rings in a paused run is taken, and what follows waits",
        workflow({"rest": {"wait": {"seconds": SOON_MS / 1000}}, "b": mock()}, to("rest", "b")),
        acts=(pauses("wait_for_timer"), unpauses("finish_node", node="rest", after_ms=20)),
        also=the_result_was_taken_and_nothing_begun,
        hurries=True,
    ),
    Case(
        "the children of a paused run are paused too",
        workflow({"call": {"workflow": "c"}}),
        others={"c": workflow({"x": mock(delay_ms=SOON_MS), "y": mock()}, to("x", "y"))},
        acts=(
            Act("call_workflow", lambda _: PauseRun(0), to="root"),
            unpauses("finish_node", node="x", after_ms=100),
        ),
        also=the_children_stood_still_too,
        hurries=True,
    ),
]
ROWS = [pytest.param(case, id=case.id) for case in CASES]
