"""How a node of a flow is shown."""

import pytest

from jeton.model.state.flow_run import NodeView
from jeton.planning.flow.progress import flow_of
from jeton.planning.flow.view import node_view
from tests.planning.flow.test_readiness import LONG, PAIR, STRICT
from tests.planning.given import BOOM, Given, done, failed, flow, given, started

WAITS = flow("nodes: {a: {type: wait, data: {seconds: 2}}}")


@pytest.mark.parametrize(
    ("run", "node", "then"),
    [
        pytest.param(given(PAIR, started()), "b", NodeView("idle"), id="not reached"),
        pytest.param(given(PAIR, started()), "a", NodeView("executing", {}), id="at work"),
        pytest.param(given(WAITS, started()), "a", NodeView("executing", {}), id="waiting counts as that"),
        pytest.param(
            given(PAIR, started(), done(0, {"x": 1})),
            "a",
            NodeView("completed", {}, {"x": 1}),
            id="done, with outputs",
        ),
        pytest.param(
            given(PAIR, started(), failed(0)), "a", NodeView("failed", {}, error=BOOM), id="failed, with the error"
        ),
        pytest.param(
            given(LONG, started(), failed(0)),
            "c",
            NodeView("skipped", skip_reason="upstream_failure", blocked_by=("b",)),
            id="skipped for a failure, with the nodes right before it that stand in its way",
        ),
        pytest.param(
            given(PAIR, started(), done(0, {"_branch": "x"})),
            "b",
            NodeView("skipped", skip_reason="branch_not_taken", blocked_by=("a",)),
            id="or because no branch led there",
        ),
        pytest.param(
            given(PAIR, started(), done(0, {"x": 1})),
            "b",
            NodeView("executing", {"main": {"x": 1}}),
            id="with what it was given",
        ),
        pytest.param(
            given(
                flow("nodes: {a: {type: work}, b: {type: work, run_when: any}}\nconnections: [{from: a, to: b}]"),
                started(),
                failed(0),
            ),
            "b",
            NodeView("skipped", skip_reason="upstream_failure", blocked_by=("a",)),
            id="skipped for a failure, though something delivered would have been enough",
        ),
        pytest.param(
            given(STRICT, started(), failed(0)), "b", NodeView("idle"), id="in a run that failed nobody works"
        ),
    ],
)
def test_how_a_node_is_shown(run: Given, node: str, then: NodeView) -> None:
    assert node_view(flow_of(run.program), run.state().flow, node) == then
