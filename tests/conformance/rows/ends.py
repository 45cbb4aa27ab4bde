"""Nodes that end the whole run: at once, with everything else cancelled, completed or failed."""

from collections.abc import Callable

import pytest

from tests.conformance.case import Case, Data, Outcome, each, join, mock, sets, to, workflow

STOP: Data = {"end": "completed"}
FAILED: Data = {"end": {"failed": {"type": "too_dear", "message": "{{ input.n }} is too much"}}}
SLOW = workflow({"slow": mock(delay_ms=5000)})
REST: Data = {"wait": {"seconds": 0.03}}
CATCH = "has(state._last_error)"


def cancelled(*nodes: str) -> Callable[[Outcome], None]:
    def check(seen: Outcome) -> None:
        assert sorted(seen.nodes("cancelled")) == sorted(nodes)
        assert seen.sections == ()

    return check


def the_child_was_cancelled(seen: Outcome) -> None:
    assert [child.status for child in seen.children] == ["cancelled"]
    assert seen.types().count("child.cancelled") == 1
    assert seen.nodes("cancelled") == ["call"]


def the_gate_was_cancelled(seen: Outcome) -> None:
    assert seen.types().count("gate.opened") == 1
    assert seen.nodes("cancelled") == ["ask"]


def the_end_failed_alone(seen: Outcome) -> None:
    assert seen.nodes("failed") == ["stop"]
    assert "fail_node" not in seen.decisions
    assert seen.error_message == "5 is too much"


def no_branch_was_lost(seen: Outcome) -> None:
    the_end_failed_alone(seen)
    assert "t" not in [token.node for token in seen.tokens]


def nothing_followed(seen: Outcome) -> None:
    assert "after" not in [token.node for token in seen.tokens]


def it_was_tried_twice(seen: Outcome) -> None:
    assert seen.error_message == "5!"
    assert seen.types().count("task.retrying") == 1


def the_node_failed(seen: Outcome) -> None:
    assert seen.error_message.endswith("5 and dear")
    assert seen.views["b"].skip_reason == "upstream_failure"


def beside(node: Data, end: Data) -> Data:
    """A node beside which the run ends."""
    name = "call" if "workflow" in node else "ask" if "gate" in node else "work"
    return workflow(
        {"s": sets(x="7"), name: node, "rest": REST, "stop": end},
        to("s", name),
        to("s", "rest"),
        to("rest", "stop"),
        output={"x": "output.x"},
    )


CASES = [
    Case(
        "an end completes the run, with its output mapped as usual",
        workflow({"a": sets(x="7"), "stop": STOP}, to("a", "stop"), output={"y": "output.x"}),
        output={"y": 7},
    ),
    Case(
        "an end stops the tasks that are under way",
        beside(mock(delay_ms=5000), STOP),
        output={"x": 7},
        also=cancelled("work"),
    ),
    Case(
        "an end leaves no child running",
        beside({"workflow": "slow"}, STOP),
        others={"slow": SLOW},
        output={"x": 7},
        also=the_child_was_cancelled,
    ),
    Case(
        "an end cancels gates", beside({"gate": {"title": "Sure?"}}, STOP), output={"x": 7}, also=the_gate_was_cancelled
    ),
    Case(
        "a failed end leaves no child running",
        beside({"workflow": "slow"}, FAILED),
        {"n": 5},
        others={"slow": SLOW},
        status="failed",
        error="too_dear",
        also=the_child_was_cancelled,
    ),
    Case(
        "an end in a branch ends the run, and what the branches wrote is in no output",
        workflow(
            {
                "s": {},
                "b": {"output_mapping": {"_branch.output.x": "item"}},
                "hold": {"wait": {"signal": "go"}},
                "stop": STOP,
                "t": {},
            },
            each("s", "b", "[1, 2, 3]"),
            to("b", "stop", "_branch.index == 1"),
            to("b", "hold", priority=2),
            join("hold", "t", merge={"target": "state.all"}),
            output={"all": "has(state.all)"},
        ),
        output={"all": False},
    ),
    Case(
        "tokens at a fan-in are cancelled too",
        workflow(
            {"s": {}, "b": {}, "late": REST, "stop": STOP, "t": {}},
            each("s", "b", "[1, 2, 3]"),
            to("b", "late", "_branch.index == 2"),
            join("b", "t", priority=2),
            to("late", "stop"),
        ),
        output={},
        also=cancelled("b", "b"),
    ),
    Case(
        "a failed end has the type and the message",
        workflow({"stop": FAILED}),
        {"n": 5},
        "failed",
        error="too_dear",
        also=the_end_failed_alone,
    ),
    Case(
        "a failed end is no failure to be routed, and loses no branch",
        workflow(
            {"s": {}, "b": {}, "stop": FAILED, "t": sets(went_on="true")},
            each("s", "b", "[1, 2]"),
            to("b", "stop", "_branch.index == 0"),
            join("b", "t", priority=2, on_branch_failure="continue"),
        ),
        {"n": 5},
        "failed",
        error="too_dear",
        also=no_branch_was_lost,
    ),
    Case(
        "a transition from an end is never followed",
        workflow({"stop": FAILED, "after": {}}, to("stop", "after", CATCH)),
        {"n": 5},
        "failed",
        error="too_dear",
        also=nothing_followed,
    ),
    Case(
        "an end whose message cannot be rendered fails like any node",
        workflow({"stop": FAILED}),
        {},
        "failed",
        error="template_error",
    ),
    Case(
        "an end in a sub-workflow ends that run alone",
        workflow(
            {"call": {"workflow": "inner", "output_mapping": {"output.v": "result.v"}}, "after": sets(on="true")},
            to("call", "after"),
        ),
        others={
            "inner": workflow(
                {"a": sets(v="3"), "stop": STOP, "never": {}},
                to("a", "stop", "output.v == 3"),
                to("a", "never", priority=2),
            )
        },
        output={"v": 3, "on": True},
    ),
    Case(
        "a failed end of a sub-workflow fails the node that called, which may handle it",
        workflow(
            {"call": {"workflow": "inner"}, "after": {"output_mapping": {"output.why": "state._last_error.type"}}},
            to("call", "after", CATCH),
        ),
        {"n": 5},
        others={"inner": workflow({"stop": FAILED})},
        output={"why": "too_dear"},
    ),
    Case(
        "an end whose output does not fit the schema fails the run",
        workflow({"stop": STOP}, output={"y": "input.n"}, output_schema={"properties": {"y": {"type": "string"}}}),
        status="failed",
        error="output_invalid",
    ),
    Case(
        "a failure on purpose is handled by its type",
        workflow(
            {
                "check": {"action": {"kind": "fail", "implementation": {"type": "dear", "message": "{{ input.n }}!"}}},
                "other": {},
                "ask": {"output_mapping": {"output.why": "state._last_error.message"}},
            },
            to("check", "other", "state._last_error.type == 'late'"),
            to("check", "ask", "state._last_error.type == 'dear'"),
        ),
        {"n": 5},
        output={"why": "5!"},
    ),
    Case(
        "an assert fails as it is told, and is retried as its task says",
        workflow({"check": {"task": "picky"}}),
        {"n": 5},
        "failed",
        error="dear",
        tasks={
            "picky": {
                "retry": {"max_attempts": 2},
                "steps": [
                    {
                        "action": {
                            "kind": "assert",
                            "implementation": {"that": "input.n < 5", "type": "dear", "message": "{{ input.n }}!"},
                        },
                        "on_failure": "retry",
                    }
                ],
            }
        },
        also=it_was_tried_twice,
    ),
    Case(
        "a flow's node fails on purpose, and what hangs on it is skipped",
        {},
        flow={
            "nodes": {
                "a": {"type": "fail", "data": {"type": "dear", "message": "{{ context.n }} and {{ data.type }}"}},
                "b": {"type": "set", "data": {"x": "1"}},
            },
            "connections": [{"from": "a", "to": "b"}],
        },
        input={"n": 5},
        status="failed",
        error="dear",
        also=the_node_failed,
    ),
]
ROWS = [pytest.param(case, id=case.id) for case in CASES]
