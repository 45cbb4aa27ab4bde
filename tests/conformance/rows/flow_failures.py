"""Flows that go on after a failure: failures that are routed or replaced, and nodes that run in spite of one."""

from typing import Any

import pytest

from tests.conformance.case import Case, Data, Outcome, answers, mock, workflow
from tests.conformance.flow_nodes import MERGE, SEES, case, constant, flow, given, node, wire
from tests.conformance.rows.flow import Check, both, outputs, started, statuses, warned

BROKEN: Data = {"node": "a", "type": "ValueError", "message": "broken", "attempts": 1}
DIVIDED: Data = {"node": "a", "type": "bad_input", "message": "divide: division by zero: 'b' is 0", "attempts": 1}
ROUTED: Data = {"node": "a", "type": "bad_input", "message": "add: missing input 'b'", "attempts": 1}


def breaks(on_error: Any = None, **more: Any) -> Data:
    """A node that fails."""
    return {**node("breaks"), **({} if on_error is None else {"on_error": on_error}), **more}


def default(**outputs: Any) -> Data:
    return {"default": outputs}


def when(run_when: str, made: Data = SEES) -> Data:
    return {**made, "run_when": run_when}


def saw(inputs: Data, **context: Any) -> Data:
    return {"saw": {"inputs": inputs, "context": context}}


def inputs(**expected: Any) -> Check:
    """What the nodes were given; None for those that did not begin."""

    def check(seen: Outcome) -> None:
        assert {name: seen.views[name].inputs for name in expected} == expected

    return check


def blocked(**expected: list[str]) -> Check:
    def check(seen: Outcome) -> None:
        assert {name: list(seen.views[name].blocked_by) for name in expected} == expected

    return check


def no_error(*nodes: str) -> Check:
    """They are executed, and no event says that they failed."""

    def check(seen: Outcome) -> None:
        assert [seen.views[name].error for name in nodes] == [None] * len(nodes)
        assert "node.failed" not in seen.types()
        handled = [event["handled"]["type"] for event in seen.events if event.get("handled")]
        assert len(handled) == len(nodes)

    return check


def ended_in_order(first: str, second: str) -> Check:
    """The second begins when the first is done."""

    def check(seen: Outcome) -> None:
        found = [(event["type"], event.get("node")) for event in seen.events]
        done = [at for at, each in enumerate(found) if each in (("node.completed", first), ("node.failed", first))]
        assert done
        assert done[0] < found.index(("node.started", second))

    return check


def timed_out_once(seen: Outcome) -> None:
    assert routed(seen)["type"] == "timed_out"
    assert seen.nodes("timed_out") == ["a"]


def after_three_attempts(seen: Outcome) -> None:
    assert routed(seen)["attempts"] == 3


def routed(seen: Outcome) -> Data:
    """The failure that `a` routed."""
    outputs: Any = seen.views["a"].outputs
    error: Data = outputs["error"]
    assert error["node"] == "a"
    return error


CASES: list[Case] = [
    case(
        "a routed failure is the output 'error', and only connections from there are live",
        flow(
            {"a": breaks("route"), "b": SEES, "m": SEES, "x": SEES},
            wire("a", "b", "error"),
            wire("a", "m"),
            wire("a", "x", "x"),
        ),
        output={"error": BROKEN, **saw({"main": BROKEN}, error=BROKEN)},
        also=both(
            statuses(a="completed", b="completed", m="branch_not_taken", x="branch_not_taken"),
            outputs(a={"error": BROKEN}, b=saw({"main": BROKEN}, error=BROKEN)),
            blocked(m=["a"], x=["a"]),
            no_error("a"),
        ),
    ),
    case(
        "a built-in routes its failure too",
        flow({"a": {**node("divide", a=1, b=0), "on_error": "route"}, "b": SEES}, wire("a", "b", "error", "why")),
        also=both(statuses(a="completed"), outputs(b=saw({"why": DIVIDED}, error=DIVIDED))),
    ),
    case(
        "and so does a type that nobody knows",
        flow({"a": {**node("nobody"), "on_error": "route"}, "b": MERGE}, wire("a", "b", "error")),
        also=statuses(a="completed", b="completed"),
    ),
    case(
        "a routed failure that nobody takes is handled, with a warning",
        flow({"a": breaks("route"), "b": SEES}, wire("a", "b")),
        output={"error": BROKEN},
        also=both(statuses(a="completed", b="branch_not_taken"), warned("a")),
    ),
    case(
        "where nothing fails, 'error' is a branch not taken",
        flow(
            {"a": {**given(x=1), "on_error": "route"}, "b": SEES, "c": MERGE}, wire("a", "b"), wire("a", "c", "error")
        ),
        also=both(statuses(a="completed", b="completed", c="branch_not_taken"), blocked(c=["a"])),
    ),
    case(
        "a default replaces the outputs as if the node had succeeded, and the failure is beside them",
        flow(
            {"a": breaks(default(x=1, y=[2])), "m": SEES, "x": SEES, "e": SEES, "z": SEES},
            wire("a", "m"),
            wire("a", "x", "x"),
            wire("a", "e", "error"),
            wire("a", "z", "z"),
        ),
        also=both(
            statuses(a="completed", m="completed", x="completed", e="completed", z="branch_not_taken"),
            inputs(m={"main": {"x": 1, "y": [2], "error": BROKEN}}, x={"main": 1}, e={"main": BROKEN}, z=None),
            no_error("a"),
        ),
    ),
    case(
        "a default may choose a branch",
        flow(
            {"a": breaks(default(_branch="x", x=1)), "x": SEES, "m": SEES},
            wire("a", "x", "x"),
            wire("a", "m"),
        ),
        also=both(statuses(x="completed", m="branch_not_taken"), inputs(x={"main": 1})),
    ),
    case(
        "a handled failure does not stop a flow that stops at errors",
        flow(
            {"a": breaks("route"), "b": breaks(default()), "c": constant(1)}, wire("a", "c", "error"), on_error="fail"
        ),
        also=statuses(a="completed", b="completed", c="completed"),
    ),
    case(
        "a failure that is not handled fails the run, whatever else is",
        flow({"a": breaks("route"), "b": node("breaks", {"why": "b broke"}), "c": MERGE}, wire("a", "c", "error")),
        status="failed",
        error="ValueError",
        also=statuses(a="completed", b="failed", c="completed"),
    ),
    case(
        "what timed out can be routed",
        flow({"a": {"type": "slow", "on_error": "route"}, "b": SEES}, wire("a", "b", "error")),
        tasks={"slow": {"timeout_ms": 20, "steps": [{"action": mock(delay_ms=60_000)["action"]}]}},
        also=both(statuses(a="completed", b="completed"), timed_out_once),
    ),
    case(
        "business attempts are counted in what is routed",
        flow({"a": {"type": "tried", "on_error": "route"}, "b": MERGE}, wire("a", "b", "error")),
        tasks={
            "tried": {
                "retry": {"max_attempts": 3, "backoff": "none"},
                "steps": [{"action": mock(fail="no")["action"], "on_failure": "retry"}],
            }
        },
        also=after_three_attempts,
    ),
    case(
        "a called run that failed can be routed",
        flow(
            {"a": {**node("workflow", {"workflow": "child"}), "on_error": "route"}, "b": MERGE}, wire("a", "b", "error")
        ),
        others={"child": workflow({"x": mock(fail="no")})},
        also=statuses(a="completed", b="completed"),
    ),
    case(
        "a gate that nobody answers in time can have a default",
        flow(
            {"a": {**node("gate", {"title": "?", "timeout_ms": 20}), "on_error": default(ok=False)}, "b": SEES},
            wire("a", "b", "ok"),
        ),
        also=both(statuses(a="completed"), inputs(b={"main": False})),
    ),
    case(
        "by default one failure before a node skips it",
        flow({"a": breaks(), "c": constant(1), "b": when("all")}, wire("a", "b"), wire("c", "b")),
        status="failed",
        error="ValueError",
        also=both(statuses(b="upstream_failure"), blocked(b=["a"]), inputs(b=None)),
    ),
    case(
        "'any' runs with what was delivered, and the run still fails",
        flow(
            {"a": breaks(), "c": constant(1), "b": when("any")}, wire("a", "b", into="x"), wire("c", "b", "value", "y")
        ),
        status="failed",
        error="ValueError",
        also=both(statuses(a="failed", b="completed"), outputs(b=saw({"y": 1}, value=1)), inputs(b={"y": 1})),
    ),
    case(
        "'any' waits until all are settled",
        flow(
            {"ask": node("gate", {"title": "?"}), "c": constant(1), "b": when("any")},
            wire("ask", "b", into="x"),
            wire("c", "b", "value", "y"),
        ),
        acts=(answers("yes", {"ok": True}, at="ask"),),
        also=both(inputs(b={"x": {"ok": True}, "y": 1}), ended_in_order("ask", "b")),
    ),
    case(
        "'any' with a failure and nothing delivered is skipped for the failure",
        flow(
            {"a": breaks(), "c": given(_branch="x"), "b": when("any"), "after": when("any")},
            wire("c", "b"),
            wire("a", "b"),
            wire("b", "after"),
        ),
        status="failed",
        error="ValueError",
        also=both(statuses(b="upstream_failure", after="upstream_failure"), blocked(b=["a"], after=["b"])),
    ),
    case(
        "'any' with nothing but branches not taken is not taken",
        flow({"c": given(_branch="x"), "b": when("any")}, wire("c", "b")),
        also=both(statuses(b="branch_not_taken"), blocked(b=["c"])),
    ),
    case(
        "'settled' runs after a failure, a skip and a branch not taken, and its context is the run's input",
        flow(
            {"a": breaks(), "s": MERGE, "c": given(_branch="x"), "b": when("settled")},
            wire("a", "s"),
            wire("s", "b"),
            wire("c", "b"),
        ),
        input={"k": 1},
        status="failed",
        error="ValueError",
        also=both(statuses(s="upstream_failure", b="completed"), outputs(b=saw({}, k=1))),
    ),
    case(
        "'settled' waits until all are settled",
        flow(
            {"a": breaks(), "ask": node("gate", {"title": "?"}), "b": when("settled")},
            wire("a", "b"),
            wire("ask", "b", into="x"),
        ),
        acts=(answers("yes", {"ok": True}, at="ask"),),
        status="failed",
        error="ValueError",
        also=both(inputs(b={"x": {"ok": True}}), ended_in_order("ask", "b"), started("a", "ask", "b")),
    ),
    case(
        "'settled' runs when all went well, and the run completes",
        flow({"a": constant(1), "b": when("settled")}, wire("a", "b", "value")),
        output={"value": 1, **saw({"main": 1}, value=1)},
    ),
    case(
        "a flow that stops at errors cleans nothing up",
        flow({"a": breaks(), "b": when("settled")}, wire("a", "b"), on_error="fail"),
        status="failed",
        error="ValueError",
        also=statuses(b="idle"),
    ),
    case(
        "what a node was given: literal, override and connection",
        flow({"c": constant(1), "b": node("sees", x=1, y=2, z=3)}, wire("c", "b", "value", "x")),
        overrides={"b": {"x": 8, "y": 9}},
        also=both(inputs(c={}, b={"x": 1, "y": 9, "z": 3})),
    ),
    case(
        "what a node was given that failed, and one that did not begin",
        flow({"a": {**node("add", a=1)}, "b": MERGE}, wire("a", "b")),
        status="failed",
        error="bad_input",
        also=inputs(a={"a": 1}, b=None),
    ),
]


ROWS = [pytest.param(each, id=each.id) for each in CASES]
