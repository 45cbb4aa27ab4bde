"""Handle graphs: branches, entries, waits, limits and the record of a run."""

from collections.abc import Callable
from typing import Any

import pytest

from jeton.model.state.run import FiredBy
from tests.conformance.case import Case, Data, Outcome, answers, mock, sets, workflow
from tests.conformance.flow_nodes import MERGE, SEES, TRIGGER, case, constant, flow, given, node, wire

Check = Callable[[Outcome], None]


def statuses(**expected: str) -> Check:
    """Nodes and how they are shown; a skip by its reason."""

    def check(seen: Outcome) -> None:
        found = {name: seen.views[name].skip_reason or seen.views[name].status for name in expected}
        assert found == expected

    return check


def both(*checks: Check) -> Check:
    def check(seen: Outcome) -> None:
        for each in checks:
            each(seen)

    return check


def outputs(**expected: Any) -> Check:
    def check(seen: Outcome) -> None:
        assert {name: seen.views[name].outputs for name in expected} == expected

    return check


def started(*nodes: str) -> Check:
    """Exactly these began, in this order."""

    def check(seen: Outcome) -> None:
        assert [event["node"] for event in seen.events if event["type"] == "node.started"] == list(nodes)

    return check


def warned(node: str) -> Check:
    def check(seen: Outcome) -> None:
        (event,) = [e for e in seen.events if e["type"] == "node.completed" and e["node"] == node]
        assert event.get("warning")

    return check


def failed_with(name: str, text: str) -> Check:
    """The node failed, says so, and has no outputs; nothing else is both."""

    def check(seen: Outcome) -> None:
        view = seen.views[name]
        assert view.status == "failed"
        assert view.error is not None
        assert text in view.error.message
        assert view.outputs is None

    return check


def waited_before(after: str) -> Check:
    """It waited, and what came next began with the commit that resumed it; nothing ran twice."""

    def check(seen: Outcome) -> None:
        found = [(event["type"], event.get("node")) for event in seen.events]
        waiting, resumed = found.index(("run.waiting", None)), found.index(("run.resumed", None))
        assert waiting < min(resumed, found.index(("node.started", after)))
        kinds = seen.types()
        assert kinds.count("timer.set") == kinds.count("timer.fired") == 1
        assert kinds.index("timer.set") < kinds.index("timer.fired")
        starts = [node for kind, node in found if kind == "node.started"]
        assert len(starts) == len(set(starts))

    return check


def no_control_key(seen: Outcome) -> None:
    for view in seen.views.values():
        assert not {"_branch", "_wait", "_wait_until", "_waitUntil"} & set(view.outputs or {})


def the_run_began_as_a_trigger_says(seen: Outcome) -> None:
    assert seen.types()[:3] == ["run.submitted", "trigger.fired", "run.started"]
    assert seen.status == "completed"


def chain(count: int, **rest: Any) -> Data:
    nodes = {f"n{i}": MERGE for i in range(count)}
    return flow(nodes, *(wire(f"n{i}", f"n{i + 1}") for i in range(count - 1)), **rest)


BRANCHING = (wire("a", "b", "true"), wire("a", "c", "false"), wire("a", "d", "true"))
BAD_WAITS: tuple[tuple[str, Data], ...] = (
    ("of 0 s", {"_wait": {"seconds": 0}}),
    ("of less than nothing", {"_wait": {"seconds": -1}}),
    ("of a text", {"_wait": {"seconds": "soon"}}),
    ("until a text", {"_wait_until": {"timestamp": "soon"}}),
    ("that is no object", {"_wait": 5}),
)
CASES: list[Case] = [
    case(
        "H01 a branch is followed by its handle only, and its key is gone",
        flow({"a": given(_branch="true", x=1), "b": SEES, "c": SEES}, *BRANCHING[:2]),
        output={"x": 1, "saw": {"inputs": {"main": {"x": 1}}, "context": {"x": 1}}},
        also=both(statuses(b="completed", c="branch_not_taken"), no_control_key),
    ),
    case(
        "H02 without a branch: main, and the handles of outputs that were produced",
        flow(
            {"a": given(x=1), "m": MERGE, "x": SEES, "y": SEES},
            wire("a", "m", "main"),
            wire("a", "x", "x"),
            wire("a", "y", "y"),
        ),
        also=both(
            statuses(m="completed", x="completed", y="branch_not_taken"),
            outputs(m={"main": {"x": 1}}, x={"saw": {"inputs": {"main": 1}, "context": {"x": 1}}}),
        ),
    ),
    case(
        "a branch that nobody follows ends the path, with a warning",
        flow({"a": given(_branch="nowhere"), "b": MERGE}, wire("a", "b")),
        also=both(statuses(a="completed", b="branch_not_taken"), warned("a")),
    ),
    case("H04 a single root is the entry", flow({"b": MERGE, "a": MERGE}, wire("a", "b")), also=started("a", "b")),
    case(
        "H04 of several triggers the first begins, and other roots begin too",
        flow(
            {"one": TRIGGER, "two": TRIGGER, "root": constant(1), "a": MERGE, "b": MERGE},
            wire("one", "a"),
            wire("two", "b"),
        ),
        also=both(started("one", "root", "a"), statuses(two="branch_not_taken", b="branch_not_taken")),
    ),
    case(
        "H04 the trigger that fired begins",
        flow({"one": TRIGGER, "two": TRIGGER, "a": MERGE, "b": MERGE}, wire("one", "a"), wire("two", "b")),
        trigger=FiredBy("webhook", node="two"),
        also=both(started("two", "b"), statuses(one="branch_not_taken", a="branch_not_taken")),
    ),
    case(
        "H04 without a root the first node begins, where cycles are ignored",
        flow({"a": MERGE, "b": MERGE}, wire("a", "b"), wire("b", "a"), cycles="ignore_back_edges"),
        also=started("a", "b"),
    ),
    case(
        "H05 a connection without handles leads from main to main",
        flow({"a": given(x=1), "b": MERGE}, wire("a", "b")),
        also=outputs(b={"main": {"x": 1}}),
    ),
    case("H07 fifty nodes succeed", chain(50), also=statuses(n49="completed")),
    case(
        "H07 the fifty-first fails the run",
        chain(51),
        status="failed",
        error="limit_exceeded",
        also=statuses(n49="completed", n50="idle"),
    ),
    case("the limit can be raised", chain(60, limits={"max_nodes": 60}), also=statuses(n59="completed")),
    case(
        "H08 a run that was fired begins with its trigger",
        flow({"start": TRIGGER}),
        trigger=FiredBy("schedule", 2, "t"),
        also=the_run_began_as_a_trigger_says,
    ),
    case(
        "H09 the output is the final context",
        flow({"start": TRIGGER, "a": given(x=1), "b": given(y=2)}, wire("start", "a"), wire("a", "b")),
        input={"given": True},
        output={"given": True, "x": 1, "y": 2},
    ),
    case(
        "H10 a failure ends the run, and what comes later does not run",
        flow({"a": node("breaks", {"why": "no luck"}), "b": MERGE}, wire("a", "b"), on_error="fail"),
        status="failed",
        error="ValueError",
        also=both(failed_with("a", "no luck"), statuses(b="idle"), started("a")),
    ),
    case(
        "H10 a failure stops what runs beside it",
        flow({"slow": node("nap"), "a": node("breaks")}, on_error="fail"),
        actions={"nap": mock(delay_ms=5000)["action"]},
        status="failed",
        error="ValueError",
        also=statuses(slow="idle"),
    ),
    case(
        "H13 adjacency: true leads to b and d, false to c",
        flow({"a": given(_branch="true"), "b": MERGE, "c": MERGE, "d": MERGE}, *BRANCHING),
        also=both(started("a", "b", "d"), statuses(c="branch_not_taken")),
    ),
    case(
        "H13 adjacency, the other way",
        flow({"a": given(_branch="false"), "b": MERGE, "c": MERGE, "d": MERGE}, *BRANCHING),
        also=started("a", "c"),
    ),
    case(
        "control keys in a run's input are plain data",
        flow({"start": TRIGGER, "b": MERGE}, wire("start", "b")),
        input={"_branch": "x", "_wait": {"seconds": 900}},
        output={"_branch": "x", "_wait": {"seconds": 900}, "main": {"_branch": "x", "_wait": {"seconds": 900}}},
    ),
    case(
        "and so they are in what a merge, a wait or a choice was given",
        flow(
            {
                "m": MERGE,
                "w": {"type": "wait", "data": {"seconds": 0.01}},
                "s": {"type": "switch", "inputs": {"main": 7}, "data": {"value": "'_branch'", "cases": ["_branch"]}},
                "x": constant(1),
            },
            wire("m", "x"),
        ),
        overrides={"m": {"_branch": "h", "_wait": 5}, "w": {"_branch": 5, "_wait_until": "soon"}},
        also=both(
            outputs(m={"_branch": "h", "_wait": 5}, w={"_branch": 5, "_wait_until": "soon"}, s={"_branch": 7}),
            statuses(x="completed"),
        ),
    ),
    case(
        "G05 a node asks the run to wait, and is not run again",
        flow({"a": given(x=1, _wait={"seconds": 0.05, "label": "nap"}), "b": SEES}, wire("a", "b")),
        output={"x": 1, "saw": {"inputs": {"main": {"x": 1}}, "context": {"x": 1}}},
        also=both(waited_before("b"), no_control_key),
    ),
    case(
        "a wait delays only what comes after it",
        flow(
            {"a": given(_wait={"seconds": 0.05}), "b": MERGE, "c": constant(1), "d": MERGE},
            wire("a", "b"),
            wire("c", "d"),
        ),
        also=started("a", "c", "d", "b"),
    ),
    case(
        "a time that is past goes on at once",
        flow({"a": given(_waitUntil={"timestamp": "1999-01-01T00:00:00Z"}), "b": MERGE}, wire("a", "b")),
        also=started("a", "b"),
    ),
    *(
        case(
            f"G08 a wait {words} fails its node",
            flow({"a": given(x=1, **key), "b": MERGE, "other": constant(1)}, wire("a", "b")),
            status="failed",
            error="bad_control_key",
            also=both(failed_with("a", "_wait"), statuses(b="upstream_failure", other="completed"), no_control_key),
        )
        for words, key in BAD_WAITS
    ),
    case(
        "a gate holds its path until people answer",
        flow({"ask": node("gate", {"title": "go on?"}), "b": SEES, "c": constant(1)}, wire("ask", "b")),
        acts=(answers("yes", {"ok": True}, at="ask"),),
        also=outputs(b={"saw": {"inputs": {"main": {"ok": True}}, "context": {"ok": True}}}),
    ),
    case(
        "a flow calls a workflow, whose output is the node's",
        flow({"start": TRIGGER, "call": node("workflow", {"workflow": "child"})}, wire("start", "call")),
        others={"child": workflow({"e": {**sets(y="input.x"), "input_mapping": {"x": "input.x"}}})},
        input={"x": 5},
        output={"x": 5, "y": 5},
    ),
]
ROWS = [pytest.param(each, id=each.id) for each in CASES]
