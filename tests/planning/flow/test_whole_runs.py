"""Runs of whole flows, driven by hand: which nodes run, in which order, and what comes of them."""

import sys

import pytest

from jeton.model.json import Json, JsonObject
from jeton.model.state.flow_run import NodeView
from tests.planning.flow_drive import (
    CHAIN,
    MERGE,
    NOW,
    TRIGGER,
    WORK,
    Driver,
    Object,
    Unchecked,
    constant,
    program_of,
    run,
    wire,
)

DIVIDED: Object = {
    "nodes": {
        "num1": constant(10),
        "num2": constant(0),
        "div": {"type": "divide"},
        "add": {"type": "add", "inputs": {"b": 5}},
        "after": MERGE,
        "other": {"type": "add", "inputs": {"a": 1, "b": 1}},
    },
    "connections": [
        wire("num1", "div", "value", "a"),
        wire("num2", "div", "value", "b"),
        wire("div", "add", "result", "a"),
        wire("add", "after", "result"),
    ],
}


class TestSmallFlows:
    def test_a_linear_chain(self) -> None:
        """D01"""
        done = run(CHAIN)
        assert done.outputs() == {"num1": {"value": 5}, "add": {"result": 8}, "mult": {"result": 16}}
        assert (done.status, done.state.errors, done.state.skipped) == ("completed", {}, {})

    def test_a_chain_with_an_error_in_the_middle(self) -> None:
        """D02"""
        done = run(DIVIDED)
        assert sorted(done.state.executed) == ["num1", "num2", "other"]
        view = done.view("div")
        assert (view.status, view.outputs) == ("failed", None)
        assert view.error is not None
        assert "division by zero" in view.error.message
        blocked = NodeView("skipped", skip_reason="upstream_failure", blocked_by=("div",))
        assert done.view("add") == blocked
        assert done.view("after") == NodeView("skipped", skip_reason="upstream_failure", blocked_by=("add",))
        assert done.status == "failed"

    def test_a_node_with_a_missing_input_runs_and_decides(self) -> None:
        """D03"""
        done = run(
            {"nodes": {"num1": constant(5), "add": {"type": "add"}}, "connections": [wire("num1", "add", "value", "a")]}
        )
        assert "missing input 'b'" in done.state.errors["add"].message
        assert (done.state.skipped, done.status) == ({}, "failed")

    def test_a_node_that_takes_what_is_there_completes(self) -> None:
        """D04"""
        done = Driver(
            program_of(nodes={"num1": constant(5), "add": WORK}, connections=[wire("num1", "add", "value", "a")])
        )
        assert done.calls["add"].inputs == {"a": 5}
        done.finish("add", {"result": None})
        assert done.status == "completed"


def test_the_life_of_a_run() -> None:
    """A trigger, a condition, a wait, and the branch not taken."""
    flow: Object = {
        "nodes": {
            "start": TRIGGER,
            "check": {"type": "if_else", "data": {"condition": "inputs.main.total > 100"}},
            "pause": {"type": "wait", "data": {"seconds": 2, "label": "cooling off"}},
            "ship": WORK,
            "reject": WORK,
        },
        "connections": [
            wire("start", "check"),
            wire("check", "pause", "true"),
            wire("check", "reject", "false"),
            wire("pause", "ship"),
        ],
        "on_error": "fail",
    }
    run = Driver(program_of(**flow), {"total": 150})
    assert run.begun == ["start", "check", "pause"]
    waiting = run.state.waiting["pause"]
    assert (waiting.due, waiting.label) == (NOW + 2000, "cooling off")
    assert (run.view("pause").status, run.view("ship").status, run.status) == ("executing", "idle", "running")
    run.wake("pause")
    assert run.view("ship").status == "executing"
    run.finish("ship", {"tracking": "x1"})
    assert run.view("reject") == NodeView("skipped", skip_reason="branch_not_taken", blocked_by=("check",))
    assert run.status == "completed"
    assert run.output == {"total": 150, "true": {"total": 150}, "main": {"total": 150}, "tracking": "x1"}


@pytest.mark.parametrize(
    ("result", "run", "inputs"),
    [
        pytest.param({"_branch": "x", "k": 1}, ["x"], {"k": 1}, id="a chosen branch carries all of it (H01)"),
        pytest.param({"_branch": "x", "x": 5}, ["x"], 5, id="or what is under its name"),
        pytest.param({"_branch": "main", "k": 1}, ["m"], {"k": 1}, id="main can be chosen like any other"),
        pytest.param({"_branch": "main", "main": 7}, ["m"], 7, id="and then carries what is under its name"),
        pytest.param({"k": 1}, ["m"], {"k": 1}, id="without a choice main carries all of it (H02)"),
        pytest.param({"k": 1, "y": 2}, ["m", "y"], {"k": 1, "y": 2}, id="and each output that was produced its own"),
        pytest.param({"main": 7}, ["m"], {"main": 7}, id="main carries all of it even if there is an output called so"),
        pytest.param({"_branch": "nowhere"}, [], None, id="a branch without a connection ends the path"),
    ],
)
def test_which_connections_are_live(result: JsonObject, run: list[str], inputs: Json) -> None:
    names = {"m": "main", "x": "x", "y": "y"}
    connections = [wire("a", node, handle) for node, handle in names.items()]
    done = Driver(program_of(nodes={"a": WORK, **dict.fromkeys(names, MERGE)}, connections=connections))
    done.finish("a", result)
    assert [node for node in names if node in done.state.executed] == run
    if run:
        assert done.state.executed[run[0]].outputs == {"main": inputs}
    assert done.dead_ends == ([] if run else ["a"])
    assert (done.status, done.state.executed["a"].outputs.get("_branch")) == ("completed", None)


@pytest.mark.parametrize(
    ("flow", "fired", "begun"),
    [
        pytest.param(
            {"nodes": {"a": WORK, "b": WORK}, "connections": [wire("b", "a")]}, None, ["b"], id="a single root"
        ),
        pytest.param({"nodes": {"a": WORK, "b": WORK}}, None, ["a", "b"], id="every root that is no trigger"),
        pytest.param({"nodes": {"a": WORK, "t": TRIGGER, "u": TRIGGER}}, None, ["a", "t"], id="of triggers the first"),
        pytest.param({"nodes": {"a": WORK, "t": TRIGGER, "u": TRIGGER}}, "u", ["a", "u"], id="or the one that fired"),
        pytest.param({"nodes": {"a": WORK, "t": TRIGGER}}, "a", ["a", "t"], id="what fired need not be a node"),
        pytest.param(
            {
                "nodes": {"a": WORK, "b": WORK},
                "connections": [wire("a", "b"), wire("b", "a")],
                "cycles": "ignore_back_edges",
            },
            None,
            ["a"],
            id="the first node when there is no root",
        ),
    ],
)
def test_where_a_run_begins(flow: Object, fired: str | None, begun: list[str]) -> None:
    """H04"""
    assert Driver(program_of(**flow), fired=fired).begun == begun


def test_a_trigger_that_did_not_fire_is_a_branch_not_taken() -> None:
    flow: Object = {
        "nodes": {"t": TRIGGER, "u": TRIGGER, "only_u": MERGE, "both": MERGE},
        "connections": [wire("u", "only_u"), wire("t", "both"), wire("u", "both")],
    }
    done = run(flow, {"x": 1})
    assert done.view("u") == NodeView("skipped", skip_reason="branch_not_taken")
    assert done.view("only_u") == NodeView("skipped", skip_reason="branch_not_taken", blocked_by=("u",))
    assert (done.view("both").outputs, done.status) == ({"main": {"x": 1}}, "completed")


def test_with_back_edges_ignored_each_node_runs_once() -> None:
    flow: Object = {
        "nodes": {"s": WORK, "a": WORK, "b": WORK, "c": WORK},
        "connections": [wire("s", "a"), wire("a", "b"), wire("b", "a"), wire("b", "c"), wire("c", "c"), wire("c", "a")],
        "cycles": "ignore_back_edges",
    }
    done = Driver(program_of(**flow))
    done.finish_all(lambda node, call: {})
    assert (done.begun, done.status) == (["s", "a", "b", "c"], "completed")


def test_a_slow_node_delays_only_its_descendants() -> None:
    """D15"""
    flow: Object = {
        "nodes": {"slow": WORK, "a": WORK, "b": WORK, "c": WORK},
        "connections": [wire("a", "b"), wire("slow", "c")],
    }
    done = Driver(program_of(**flow))
    done.finish("a", {})
    done.finish("b", {})
    assert [done.view(node).status for node in ("slow", "a", "b", "c")] == [
        "executing",
        "completed",
        "completed",
        "idle",
    ]


def test_on_error_fail_starts_nothing_more() -> None:
    """H10"""
    flow: Object = {"nodes": {"a": WORK, "b": WORK, "c": WORK}, "connections": [wire("a", "c")], "on_error": "fail"}
    done = Driver(program_of(**flow))
    done.fail("a")
    assert (done.status, done.begun) == ("failed", ["a", "b"])
    assert [done.view(node).status for node in ("a", "b", "c")] == ["failed", "idle", "idle"]


def test_a_failure_counts_more_than_a_delivery() -> None:
    done = Driver(program_of(nodes={"a": WORK, "b": WORK, "c": MERGE}, connections=[wire("a", "c"), wire("b", "c")]))
    done.fail("a")
    done.finish("b", {})
    assert done.view("c") == NodeView("skipped", skip_reason="upstream_failure", blocked_by=("a",))


@pytest.mark.parametrize(
    ("count", "status"),
    [
        pytest.param(50, "completed", id="fifty nodes run"),
        pytest.param(51, "failed", id="the fifty-first fails the run"),
    ],
)
def test_how_many_nodes_may_run(count: int, status: str) -> None:
    """H07"""
    nodes: Object = {f"n{number}": MERGE for number in range(count)}
    connections = [wire(f"n{number}", f"n{number + 1}") for number in range(count - 1)]
    done = run({"nodes": nodes, "connections": connections, "limits": {"max_nodes": 50}})
    assert (done.status, len(done.begun)) == (status, 50)
    assert done.error is None or (done.error.type, done.error.node) == ("limit_exceeded", "n50")


def test_what_a_finished_node_costs_does_not_depend_on_the_size_of_the_flow() -> None:
    def most_calls(size: int) -> int:
        nodes: Object = {f"n{number}": WORK for number in range(size)}
        connections = [wire(f"n{number}", f"n{number + 1}") for number in range(size - 1)]
        program = program_of(nodes=nodes, connections=connections, limits={"max_nodes": size})
        done = Unchecked(program)
        most = 0
        for number in range(20):
            calls = 0

            def count(frame: object, event: str, argument: object) -> None:
                nonlocal calls
                calls += event in ("call", "c_call")

            sys.setprofile(count)
            try:
                done.finish(f"n{number}", {f"key{number}": number})
            finally:
                sys.setprofile(None)
            most = max(most, calls)
        return most

    assert most_calls(1500) <= 1.1 * most_calls(30)
