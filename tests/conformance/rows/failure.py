"""Failures: who handles them, and what an unhandled one does."""

import pytest

from tests.conformance.case import Case, Outcome, each, join, mock, sets, to, workflow

RESCUE = "has(state._last_error) && state._last_error.node == 'a'"


def the_default_was_not_taken(seen: Outcome) -> None:
    assert "b" not in seen.nodes()
    assert seen.count("a", "failed") == 1


CASES = [
    Case(
        "T18 a transition that reads state._last_error handles the failure",
        workflow(
            {
                "a": mock(fail="nope"),
                "b": {},
                "rescue": {**sets(m="input.m"), "input_mapping": {"m": "state._last_error.message"}},
            },
            to("a", "rescue", RESCUE, 1),
            to("a", "b", None, 2),
        ),
        output={"m": "nope"},
        also=the_default_was_not_taken,
    ),
    Case(
        "an unconditional transition never swallows a failure",
        workflow({"a": mock(fail="nope"), "b": {}}, to("a", "b")),
        status="failed",
        error="mock_failure",
        also=the_default_was_not_taken,
    ),
    Case(
        "the next success clears the last error after its mapping and before routing",
        workflow(
            {
                "a": mock(fail="nope"),
                "b": {"output_mapping": {"output.seen": "state._last_error.type"}},
                "c": {"output_mapping": {"output.after": "has(state._last_error)"}},
                "wrong": sets(wrong="true"),
            },
            to("a", "b", "has(state._last_error)"),
            to("b", "wrong", "has(state._last_error)", 1),
            to("b", "c", None, 2),
        ),
        output={"seen": "mock_failure", "after": False},
    ),
    Case(
        "a failure handler is not followed after a success",
        workflow(
            {"a": mock(), "bad": sets(x="1"), "b": sets(ok="true")},
            to("a", "bad", "has(state._last_error)", 1),
            to("a", "b", None, 2),
        ),
        output={"ok": True},
    ),
    Case(
        "T04 a business retry runs the whole task again and uses the last result",
        workflow({"a": {"task": "t", "output_mapping": {"output.n": "result.n"}}}),
        output={"n": 1},
        tasks={
            "t": {
                "retry": {"max_attempts": 3, "initial_delay_ms": 5},
                "steps": [
                    {
                        "ref": "x",
                        "on_failure": "retry",
                        "action": {
                            "kind": "mock",
                            "implementation": {
                                "output": {"n": 1},
                                "fail": {"times": 2, "message": "again", "transient": False},
                            },
                        },
                    }
                ],
            }
        },
    ),
    Case(
        "T07 spent attempts leave the failure with step, message and count",
        workflow(
            {"a": {"task": "t"}, "r": {"output_mapping": {"output.e": "state._last_error"}}},
            to("a", "r", "has(state._last_error)"),
        ),
        output={"e": {"node": "a", "step": "x", "type": "mock_failure", "message": "again", "attempts": 2}},
        tasks={
            "t": {
                "retry": {"max_attempts": 2, "initial_delay_ms": 1},
                "steps": [
                    {
                        "ref": "x",
                        "on_failure": "retry",
                        "action": {
                            "kind": "mock",
                            "implementation": {
                                "output": {},
                                "fail": {"times": 9, "message": "again", "transient": False},
                            },
                        },
                    }
                ],
            }
        },
    ),
    Case(
        "an expression error in a mapping fails the node, and can be handled",
        workflow(
            {"a": {"output_mapping": {"state.x": "input.n / 0"}}, "r": sets(ok="true")},
            to("a", "r", "state._last_error.type == 'expression_error'"),
        ),
        {"n": 1},
        output={"ok": True},
    ),
    Case(
        "an unhandled failure in a branch fails the run when the join says nothing else",
        workflow({"s": {}, "w": mock(fail="nope"), "end": {}}, each("s", "w", "[1, 2]"), join("w", "end")),
        status="failed",
        error="mock_failure",
    ),
]

ROWS = [pytest.param(case, id=case.id) for case in CASES]
