"""Which nodes of a flow run, with what, and what comes of it. The numbers are those of the scenarios."""

import time
from typing import Any

import pytest

from jeton.definitions import library_from
from jeton.model.json import Json, JsonObject
from jeton.model.state.flow_run import NodeView
from jeton.planning.flow.node import context_after, inputs_of
from jeton.planning.program.flow import compile_flow
from tests.planning.flow_drive import NOW, Driver, Unchecked, program_of, run

Object = dict[str, Any]


def constant(value: Json) -> Object:
    return {"type": "constant", "data": {"value": value}}


def wire(source: str, target: str, output: str = "main", input: str = "main") -> Object:
    return {"from": source, "from_output": output, "to": target, "to_input": input}


WORK: Object = {"type": "work"}
MERGE: Object = {"type": "merge"}
TRIGGER: Object = {"type": "trigger"}

CHAIN: Object = {
    "nodes": {
        "num1": constant(5),
        "add": {"type": "add", "inputs": {"b": 3}},
        "mult": {"type": "multiply", "inputs": {"b": 2}},
    },
    "connections": [wire("num1", "add", "value", "a"), wire("add", "mult", "result", "a")],
}
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


class TestTheExamplesOfSeed004:
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


def test_the_life_of_a_run_as_seed_001_tells_it() -> None:
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
    assert run.view("reject") == NodeView("skipped", skip_reason="branch_not_taken")
    assert run.status == "completed"
    assert run.output == {"total": 150, "true": {"total": 150}, "main": {"total": 150}, "tracking": "x1"}


BRANCHES: Object = {
    "nodes": {"a": WORK, "b": MERGE, "c": MERGE, "d": MERGE},
    "connections": [wire("a", "b", "true"), wire("a", "c", "false"), wire("a", "d", "true")],
}


def test_connections_are_kept_by_handle() -> None:
    """H13"""
    outgoing = program_of(**BRANCHES).nodes["a"].outgoing
    assert {handle: [each.target for each in wires] for handle, wires in outgoing.items()} == {
        "true": ["b", "d"],
        "false": ["c"],
    }


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
    not_taken = NodeView("skipped", skip_reason="branch_not_taken")
    assert (done.view("u"), done.view("only_u")) == (not_taken, not_taken)
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


class TestInputs:
    def test_a_connection_wins_over_an_override_and_that_over_a_literal(self) -> None:
        flow: Object = {
            "nodes": {"a": constant(3), "b": {"type": "work", "inputs": {"x": 1, "y": 1, "z": 1}}},
            "connections": [wire("a", "b", "value", "z")],
        }
        done = Driver(program_of(**flow), overrides={"b": {"y": 2, "z": 2}})
        assert done.calls["b"].inputs == {"x": 1, "y": 2, "z": 3}

    def test_of_two_connections_into_one_handle_the_last_declared_wins(self) -> None:
        nodes: Object = {"a": constant(1), "b": constant(2), "c": WORK}
        connections = [wire("b", "c", "value"), wire("a", "c", "value")]
        assert Driver(program_of(nodes=nodes, connections=connections)).calls["c"].inputs == {"main": 1}

    def test_a_repeated_handle_collects_a_list_in_declaration_order(self) -> None:
        nodes: Object = {"a": constant(1), "b": constant(2), "c": {"type": "sum", "repeated": ["values"]}}
        connections = [wire("b", "c", "value", "values"), wire("a", "c", "value", "values")]
        program = program_of(nodes=nodes, connections=connections)
        done = Driver(program)
        assert inputs_of(program, done.state, "c") == {"values": [2, 1]}
        assert done.state.executed["c"].outputs == {"result": 3}

    def test_what_did_not_arrive_is_absent(self) -> None:
        nodes: Object = {"a": WORK, "b": WORK}
        done = Driver(program_of(nodes=nodes, connections=[wire("a", "b"), wire("a", "b", "gone", "x")]))
        done.finish("a", {"k": 1})
        assert done.calls["b"].inputs == {"main": {"k": 1}}


DIAMOND: Object = {
    "nodes": {"a": WORK, "b": WORK, "c": WORK, "d": WORK},
    "connections": [wire("a", "b"), wire("a", "c"), wire("c", "d"), wire("b", "d")],
}


class TestContext:
    def test_it_is_what_the_paths_into_a_node_produced(self) -> None:
        done = Driver(program_of(**DIAMOND), {"run": 1})
        assert done.calls["a"].context == {"run": 1}
        done.finish("a", {"k": "a"})
        done.finish("b", {"k": "b", "b": 1})
        assert done.calls["c"].context == {"run": 1, "k": "a"}
        done.finish("c", {"k": "c", "c": 1})
        # c is connected first, so b lies over it
        assert done.calls["d"].context == {"run": 1, "k": "b", "b": 1, "c": 1}

    def test_nobody_can_change_what_others_see(self) -> None:
        """D19"""
        given: Json = {"list": [1]}
        done = Driver(program_of(**DIAMOND), given)
        done.finish("a", {"seen": [1]})
        for_b, for_c = done.calls["b"], done.calls["c"]
        for call in (for_b, for_c):
            assert call.context == {"list": [1], "seen": [1]}
            assert call.inputs == {"main": {"seen": [1]}}
            taken: list[Any] = [call.inputs["main"], call.context]
            taken[0]["seen"].append(2)
            taken[1]["list"].append(2)
        assert given == {"list": [1]}
        assert done.state.executed["a"].outputs == {"seen": [1]}

    def test_control_keys_in_a_runs_input_are_plain_data(self) -> None:
        flow: Object = {
            "nodes": {"t": TRIGGER, "a": MERGE, "b": MERGE},
            "connections": [wire("t", "a"), wire("t", "b", "x")],
        }
        done = run(flow, {"_branch": "x", "_wait": {"seconds": 9}})
        assert done.view("a").outputs == {"main": {"_branch": "x", "_wait": {"seconds": 9}}}
        assert (done.view("b").status, done.status) == ("skipped", "completed")


class TestOutput:
    def test_it_is_the_contexts_of_the_last_nodes_in_declaration_order(self) -> None:
        flow: Object = {"nodes": {"a": WORK, "b": WORK}}
        done = Driver(program_of(**flow), {"x": 1})
        done.finish("b", {"k": "b"})
        done.finish("a", {"k": "a"})
        assert done.output == {"x": 1, "k": "b"}

    def test_a_node_whose_branch_led_nowhere_is_a_last_node(self) -> None:
        done = Driver(program_of(**BRANCHES))
        done.finish("a", {"_branch": "neither", "k": 1})
        assert done.output == {"k": 1}

    def test_a_mapping_says_it_otherwise(self) -> None:
        done = run({**CHAIN, "output_mapping": {"total.value": "context.result", "gone": "context.gone"}})
        assert done.output == {"total": {"value": 16}, "gone": None}

    def test_an_empty_flow_completes_with_what_it_was_given(self) -> None:
        """D10"""
        done = run({"nodes": {}}, {"x": 1})
        assert (done.status, done.output) == ("completed", {"x": 1})


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


def test_an_unknown_type_fails_its_node_and_no_other() -> None:
    """D07"""
    done = run({"nodes": {"a": {"type": "nobody"}, "b": constant(1)}})
    assert (done.state.errors["a"].type, done.view("b").status) == ("unknown_node_type", "completed")


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


def test_the_order_is_that_of_the_connections_and_else_of_the_declaration() -> None:
    """D14"""
    flow: Object = {
        "nodes": {"d": MERGE, "c": MERGE, "b": MERGE, "a": MERGE},
        "connections": [wire("a", "d"), wire("b", "c")],
    }
    assert program_of(**flow).order == ("b", "c", "a", "d")


def test_what_a_node_type_stands_for() -> None:
    mock: Object = {"kind": "mock"}
    nodes: Object = {
        "task": {"type": "judge"},
        "action": {"type": "ask@1"},
        "http": {"type": "http", "data": {"url": "https://x.example/"}},
        "gate": {"type": "gate", "data": {"schema": {}}},
        "call": {"type": "workflow", "data": {"workflow": "g", "on_failure": "catch"}},
    }
    library = library_from(
        {
            "flows": {"f": {"nodes": nodes}, "g": {"nodes": {}}},
            "tasks": {"judge": {"steps": [{"action": mock}]}},
            "actions": {"ask": mock},
        }
    ).require()
    places = compile_flow(library.flows["f"], library).nodes
    assert {name: type(place.work).__name__ for name, place in places.items()} == {
        "task": "TaskTarget",
        "action": "TaskTarget",
        "http": "TaskTarget",
        "gate": "GateTarget",
        "call": "WorkflowTarget",
    }


def test_what_a_finished_node_costs_does_not_depend_on_the_size_of_the_flow() -> None:
    def cost_us(size: int) -> float:
        nodes: Object = {f"n{number}": WORK for number in range(size)}
        connections = [wire(f"n{number}", f"n{number + 1}") for number in range(size - 1)]
        program = program_of(nodes=nodes, connections=connections, limits={"max_nodes": size})
        done = Unchecked(program)
        best = float("inf")
        for number in range(60):
            began = time.perf_counter()
            done.finish(f"n{number}", {f"key{number}": number})
            best = min(best, time.perf_counter() - began)
        return best * 1e6

    assert cost_us(6000) < 10 * cost_us(60)


def test_a_long_chain_overflows_no_stack() -> None:
    size = 5000
    nodes: Object = {f"n{number}": WORK for number in range(size)}
    connections = [wire(f"n{number}", f"n{number + 1}") for number in range(size - 1)]
    program = program_of(nodes=nodes, connections=connections, limits={"max_nodes": size})
    failed = Unchecked(program)
    failed.fail("n0")
    assert failed.view(f"n{size - 1}").blocked_by == (f"n{size - 2}",)
    done = Unchecked(program)
    for number in range(size):
        done.finish(f"n{number}", {"n": number})
    done.state.contexts.clear()
    assert context_after(program, done.state, f"n{size - 1}").plain() == {"n": size - 1}
