"""Routing: which transitions a finished token follows."""

from typing import Any

import pytest

from tests.conformance.case import Case, Data, Outcome, mock, sets, to, workflow

ENDS = {"b": sets(v="'b'"), "c": sets(w="'c'"), "d": sets(x="'d'")}


def plain(*edges: Data, start: Data | None = None, **rest: Any) -> Data:
    """A node that routes, and the nodes it routes to."""
    return workflow({"a": start or {}, **{edge["to"]: ENDS[edge["to"]] for edge in edges}}, *edges, **rest)


GRADES = workflow(
    {"a": {}, "approve": sets(to="'approve'"), "review": sets(to="'review'"), "reject": sets(to="'reject'")},
    to("a", "approve", "input.score >= 80", 1),
    to("a", "review", "input.score >= 50", 2),
    to("a", "reject", None, 3),
)
COUNTS = {"type": "object", "properties": {"n": {"type": "integer", "default": 2}, "seen": {"default": ["first"]}}}
DEFAULTS = workflow(
    {"a": {}, "b": {"output_mapping": {"state.n": "state.n + 1"}}},
    to("a", "b", "state.n == 2"),
    output={"n": "state.n", "seen": "state.seen"},
    state_schema=COUNTS,
)
LOOP = workflow(
    {"a": {"output_mapping": {"state.n": 0}}, "b": {"output_mapping": {"state.n": "state.n + 1"}}, "end": {}},
    to("a", "b"),
    to("b", "b", "state.n < 100", loop_config={"max_iterations": 3}),
    to("b", "end", None, 2),
    output={"n": "state.n"},
)


def once_each(seen: Outcome) -> None:
    assert seen.nodes() == ["a", "b"]


def names_the_node(seen: Outcome) -> None:
    assert "'a'" in seen.error_message
    assert "input.x == 2" in seen.error_message


def both_are_followed(seen: Outcome) -> None:
    assert sorted(seen.nodes()) == ["a", "b", "c"]


def the_loop_ran_four_times(seen: Outcome) -> None:
    assert seen.count("b") == 4


CASES = [
    Case(
        "R01 one node without transitions completes with the mapped output",
        workflow({"a": sets(n="input.n + 1")}),
        {"n": 41},
        output={"n": 42},
    ),
    Case(
        "R02 an unconditional transition makes one token at its target, and both nodes run once",
        workflow({"a": mock(), "b": mock()}, to("a", "b")),
        output={},
        also=once_each,
    ),
    Case(
        "R03 of two matching priorities only the first is followed",
        plain(to("a", "b", "true", 1), to("a", "c", "true", 2)),
        output={"v": "b"},
    ),
    Case(
        "R04 two matches at one priority are both followed",
        plain(to("a", "b"), to("a", "c")),
        also=both_are_followed,
    ),
    Case(
        "R05 of three at one priority two match: exactly two tokens",
        plain(to("a", "b", "true"), to("a", "c", "true"), to("a", "d", "false")),
        also=both_are_followed,
    ),
    Case(
        "R06 when tier 1 has no match the default in tier 2 is taken",
        plain(to("a", "b", "input.x > 10", 1), to("a", "c", None, 2)),
        {"x": 1},
        output={"w": "c"},
    ),
    Case(
        "R07 transitions and no match: the run fails and the error names the node and each condition",
        plain(to("a", "b", "input.x == 1"), to("a", "c", "input.x == 2")),
        {"x": 3},
        status="failed",
        error="no_matching_transition",
        also=names_the_node,
    ),
    Case(
        "R08 the same with on_no_match complete: the run completes",
        plain(to("a", "b", "input.x == 1"), on_no_match="complete"),
        {"x": 3},
    ),
    Case(
        "R09 first_match follows only the first declared of two equal matches",
        plain(to("a", "b"), to("a", "c"), start={"fan_out": "first_match"}),
        output={"v": "b"},
    ),
    *[
        Case(f"R10 a score of {score} is for {grade}", GRADES, {"score": score}, output={"to": grade})
        for score, grade in [(80, "approve"), (79, "review"), (50, "review"), (49, "reject")]
    ],
    Case(
        "R12 a spent loop limit is out, and its condition is not evaluated",
        workflow(
            LOOP["nodes"],
            to("a", "b"),
            to("b", "b", "state.n < 3 || state.n / 0 == 1", loop_config={"max_iterations": 2}),
            to("b", "end", None, 2),
            output={"n": "state.n"},
        ),
        output={"n": 3},
    ),
    Case(
        "R12 a loop runs as often as its limit says, beside the first time",
        LOOP,
        output={"n": 4},
        also=the_loop_ran_four_times,
    ),
    Case(
        "R14 a condition on a missing path is false, not an error",
        plain(to("a", "b", "state.nothing.here == 1", 1), to("a", "c", None, 2)),
        output={"w": "c"},
    ),
    Case(
        "R17 declaration order does not change which targets are followed",
        plain(to("a", "c"), to("a", "b")),
        also=both_are_followed,
    ),
    Case(
        "a condition that cannot be evaluated fails the run as expression_error",
        plain(to("a", "b", "input.x > 1")),
        {"x": "text"},
        status="failed",
        error="expression_error",
    ),
    Case("several terminal nodes are fine", plain(to("a", "b"), to("a", "c"), to("a", "d"))),
    Case(
        "C05 the input passes through a node without a target as its result",
        workflow({"a": {"output_mapping": {"output.seen": "result.x"}}}),
        {"x": 5},
        output={"seen": 5},
    ),
    Case("C09 a node without output mapping leaves the state unchanged", workflow({"a": mock({"x": 1})}), output={}),
    Case(
        "C10 a missing path in the workflow's output mapping is null, not a failure",
        workflow({"a": {}}, output={"x": "state.none", "y": "input.y"}),
        {"y": 1},
        output={"x": None, "y": 1},
    ),
    Case(
        "C10 a final output that violates its schema fails the run",
        workflow(
            {"a": {}},
            output={"x": "input.x"},
            output_schema={"type": "object", "properties": {"x": {"type": "integer"}}},
        ),
        {"x": "text"},
        status="failed",
        error="output_invalid",
    ),
    Case(
        "C04 a value the state schema refuses fails the node with path and reason",
        workflow(
            {"a": {"output_mapping": {"state.n": "input.n"}}},
            state_schema={"type": "object", "properties": {"n": {"type": "integer", "maximum": 9}}},
        ),
        {"n": 10},
        status="failed",
        error="state_invalid",
    ),
    Case(
        "a mapping that takes a whole section keeps it as it was",
        workflow(
            {
                "n": {"output_mapping": {"state.a": 1}},
                "m": {"output_mapping": {"output.snap": "state", "output.list": "[state]"}},
                "k": {"output_mapping": {"state.a": 2, "state.b": 3}},
            },
            to("n", "m"),
            to("m", "k"),
        ),
        output={"snap": {"a": 1}, "list": [{"a": 1}]},
    ),
    Case(
        "a section can be mapped into itself",
        workflow(
            {"n": {"output_mapping": {"output.a": 1}}, "m": {"output_mapping": {"output.self": "output"}}}, to("n", "m")
        ),
        output={"a": 1, "self": {"a": 1}},
    ),
    Case(
        "a state begins with the defaults of its schema",
        DEFAULTS,
        output={"n": 3, "seen": ["first"]},
    ),
    Case(
        "a called workflow's state begins with its own defaults",
        workflow({"a": {"workflow": "inner", "output_mapping": {"output.got": "result.n"}}}),
        others={"inner": workflow({"b": {}}, state_schema=COUNTS, output={"n": "state.n"})},
        output={"got": 2},
    ),
    Case(
        "T13 the run's timeout ends an endless loop",
        workflow({"a": mock(delay_ms=20)}, to("a", "a"), timeout_ms=150),
        status="timed_out",
        error="timed_out",
    ),
    Case(
        "limits: the run fails when it would execute more nodes than allowed, and names the limit",
        workflow({"a": {}, "b": {}}, to("a", "b"), to("b", "a"), limits={"max_node_executions": 20}, timeout_ms=60000),
        status="failed",
        error="limit_exceeded",
    ),
]

ROWS = [pytest.param(case, id=case.id) for case in CASES]
