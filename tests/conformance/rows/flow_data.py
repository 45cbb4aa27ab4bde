"""Dataflow: what nodes are given, what their failures mean for others, and in which order they run."""

import pytest

from tests.conformance.case import Case, Data, Outcome, cancels, mock
from tests.conformance.flow_nodes import MERGE, SEES, TRIGGER, case, constant, flow, given, node, wire
from tests.conformance.rows.flow import both, failed_with, outputs, started, statuses


def the_divider_blocks_the_rest(seen: Outcome) -> None:
    view = seen.views["add"]
    assert (view.status, view.skip_reason, view.blocked_by) == ("skipped", "upstream_failure", ("div",))
    assert "zero" in seen.error_message


def each_settled_once(seen: Outcome) -> None:
    ended = [e["node"] for e in seen.events if e["type"] in ("node.completed", "node.failed", "node.skipped")]
    assert sorted(ended) == sorted(seen.views)
    for view in seen.views.values():
        assert (view.outputs is not None) == (view.status == "completed")
        assert (view.error is not None) == (view.status == "failed")


def after_its_dependencies(seen: Outcome) -> None:
    order = [(event["type"], event.get("node")) for event in seen.events]
    for first, second in (("a", "c"), ("b", "c"), ("c", "d")):
        assert order.index(("node.completed", first)) < order.index(("node.started", second))


def the_quick_path_did_not_wait(seen: Outcome) -> None:
    order = [(event["type"], event.get("node")) for event in seen.events]
    assert order.index(("node.started", "quick")) < order.index(("node.completed", "slow"))
    assert order.index(("node.completed", "last")) < order.index(("node.completed", "slow"))


def executing_then_completed(seen: Outcome) -> None:
    told = [event["type"] for event in seen.events if event.get("node") == "b" and event["type"].startswith("node.")]
    assert told == ["node.started", "node.completed"]


def nobody_was_spoiled(seen: Outcome) -> None:
    saw = {"inputs": {"main": {"list": [1]}}, "context": {"list": [1]}}
    assert seen.views["b"].outputs == {"saw": saw}
    assert seen.output["list"] == [1]


BROKEN: Data = {"num1": constant(10), "num2": constant(0), "div": node("divide"), "add": node("add", b=5)}
DIVIDES = (
    wire("num1", "div", "value", "a"),
    wire("num2", "div", "value", "b"),
    wire("div", "add", "result", "a"),
)
CASES: list[Case] = [
    case(
        "D01 5, plus 3, times 2",
        flow(
            {"num1": constant(5), "add": node("add", b=3), "mult": node("multiply", b=2)},
            wire("num1", "add", "value", "a"),
            wire("add", "mult", "result", "a"),
        ),
        output={"value": 5, "result": 16},
        also=both(outputs(num1={"value": 5}, add={"result": 8}, mult={"result": 16}), each_settled_once),
    ),
    case(
        "D02 10 by 0, plus 5",
        flow(BROKEN, *DIVIDES),
        status="failed",
        error="bad_input",
        also=both(
            statuses(num1="completed", num2="completed"),
            failed_with("div", "zero"),
            the_divider_blocks_the_rest,
            each_settled_once,
        ),
    ),
    case(
        "D03 a missing input, and the node validates",
        flow({"num1": constant(5), "add": node("must_have")}, wire("num1", "add", "value", "a")),
        status="failed",
        error="input_invalid",
        also=both(failed_with("add", "Missing required input: b"), each_settled_once),
    ),
    case(
        "D04 a missing input, and the node accepts",
        flow({"num1": constant(5), "add": node("may_have")}, wire("num1", "add", "value", "a")),
        also=outputs(add={"result": None}),
    ),
    case(
        "D07 a type nobody has fails its node, and the others go on",
        flow({"a": node("nobody"), "b": MERGE, "c": constant(1)}, wire("a", "b")),
        status="failed",
        error="unknown_node_type",
        also=both(failed_with("a", "nobody"), statuses(b="upstream_failure", c="completed"), each_settled_once),
    ),
    case("D10 an empty flow completes", flow({}), input={"x": 1}, output={"x": 1}),
    case(
        "D10 D11 failed, skipped and done, each exactly one thing",
        flow(
            {"a": node("breaks"), "b": MERGE, "c": given(_branch="x"), "d": MERGE, "e": MERGE, "f": MERGE},
            wire("a", "b"),
            wire("c", "d", "y"),
            wire("b", "e"),
            wire("c", "e", "x"),
            wire("d", "f"),
            wire("c", "f", "x"),
        ),
        status="failed",
        error="ValueError",
        also=both(
            statuses(b="upstream_failure", c="completed", d="branch_not_taken", e="upstream_failure", f="completed"),
            each_settled_once,
        ),
    ),
    case(
        "D14 every node after those it depends on, whatever the order they are written in",
        flow(
            {"d": MERGE, "c": MERGE, "b": constant(2), "a": constant(1)},
            wire("c", "d"),
            wire("b", "c", "value", "b"),
            wire("a", "c", "value", "a"),
        ),
        also=both(started("b", "a", "c", "d"), after_its_dependencies),
    ),
    case(
        "D15 a slow node delays only what depends on it",
        flow(
            {"slow": node("nap"), "quick": constant(1), "then": MERGE, "last": MERGE, "behind": MERGE},
            wire("quick", "then"),
            wire("then", "last"),
            wire("slow", "behind"),
        ),
        actions={"nap": mock({"x": 1}, delay_ms=200)["action"]},
        also=the_quick_path_did_not_wait,
    ),
    case(
        "D18 a node is seen executing, and then completed",
        flow({"a": constant(1), "b": SEES}, wire("a", "b")),
        also=executing_then_completed,
    ),
    case(
        "D18 before it is reached a node is idle",
        flow({"a": node("nap"), "b": MERGE}, wire("a", "b")),
        actions={"nap": mock(delay_ms=5000)["action"]},
        acts=(cancels("dispatch_token", node="a"),),
        status="cancelled",
        error="cancelled",
        also=statuses(b="idle"),
    ),
    case(
        "D19 nobody can change what others are given",
        flow(
            {"start": TRIGGER, "a": node("spoils", {"list": [1]}), "b": SEES},
            wire("start", "a"),
            wire("start", "b"),
        ),
        input={"list": [1]},
        also=nobody_was_spoiled,
    ),
    case(
        "a literal is under an override, and both are under what a connection brings",
        flow(
            {"one": constant(1), "a": node("sees", x="literal", y="literal", z="literal")},
            wire("one", "a", "value", "z"),
        ),
        overrides={"a": {"y": "override", "z": "override"}},
        also=outputs(a={"saw": {"inputs": {"x": "literal", "y": "override", "z": 1}, "context": {"value": 1}}}),
    ),
    case(
        "two connections into one handle: the last declared wins, and a repeated one collects",
        flow(
            {"one": constant(1), "two": constant(2), "last": node("sees"), "all": node("sees", repeated=("main",))},
            wire("two", "last", "value"),
            wire("one", "last", "value"),
            wire("two", "all", "value"),
            wire("one", "all", "value"),
        ),
        also=outputs(
            last={"saw": {"inputs": {"main": 1}, "context": {"value": 1}}},
            all={"saw": {"inputs": {"main": [2, 1]}, "context": {"value": 1}}},
        ),
    ),
    case(
        "an output that does not fit its schema fails the run",
        flow({"one": constant(1)}, output_schema={"type": "object", "required": ["x"]}),
        status="failed",
        error="output_invalid",
        also=statuses(one="completed"),
    ),
    case(
        "an output mapping reads the final context",
        flow({"one": constant(1)}, output_mapping={"a.b": "context.value", "none": "context.nothing"}),
        output={"a": {"b": 1}, "none": None},
    ),
    case(
        "a flow has a timeout like any run",
        flow({"a": node("nap"), "b": MERGE}, wire("a", "b"), timeout_ms=50),
        actions={"nap": mock(delay_ms=5000)["action"]},
        status="timed_out",
        error="timed_out",
        also=statuses(a="idle", b="idle"),
    ),
    case(
        "D09 with nothing to spend no node runs, and the run is recorded",
        flow({"a": constant(1), "b": MERGE}, wire("a", "b")),
        credits=0,
        status="exhausted",
        error="credits_exhausted",
        also=both(started(), statuses(a="idle", b="idle")),
    ),
    case(
        "D09 credits that run out midway end the run exhausted",
        flow({"a": constant(1), "b": MERGE, "c": MERGE}, wire("a", "b"), wire("b", "c")),
        credits=2,
        status="exhausted",
        error="credits_exhausted",
        also=both(started("a", "b"), statuses(a="completed", b="completed", c="idle")),
    ),
    case(
        "D09 enough credits are enough",
        flow({"a": constant(1), "b": MERGE}, wire("a", "b")),
        credits=2,
        also=statuses(a="completed", b="completed"),
    ),
]
ROWS = [pytest.param(each, id=each.id) for each in CASES]
