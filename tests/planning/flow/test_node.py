"""What a ready node of a flow is given, and what becomes of it."""

from typing import Any

import pytest

from jeton.model.definition.task import Action, Step, Task
from jeton.model.definition.workflow import GateTarget, TaskTarget
from jeton.model.failure import TaskFailed
from jeton.model.json import Json, JsonObject
from jeton.model.state.flow_run import Executed, FlowState, WaitingNode
from jeton.planning.flow.node import (
    BeginResult,
    NodeCall,
    begin_node,
    context_after,
    context_before,
    delivered,
    initial_context,
    inputs_of,
)
from jeton.planning.flow.progress import flow_of
from jeton.planning.program.flow import CompiledConnection
from tests.planning.flow_drive import MERGE, TRIGGER, WORK, Driver, Object, Unchecked, constant, program_of, run, wire
from tests.planning.given import Given, at, done, flow, given, started

NOW = 9
TRIGGERED = flow("nodes: {a: {type: trigger}}")
SUM = flow("nodes: {a: {type: add, inputs: {a: 1, b: 2}}}")
BAD_SUM = flow("nodes: {a: {type: add}}")
PAUSE = flow("nodes: {a: {type: wait, inputs: {main: 1}, data: {seconds: 2}}}")
SWITCH = flow("nodes: {a: {type: if_else, inputs: {main: 1}, data: {condition: inputs.main > 0}}}")
UNKNOWN = flow("nodes: {a: {type: nobody}}")
HTTP = flow("nodes: {a: {type: http, inputs: {main: {x: 1}}, data: {url: 'https://x.example/'}}}")
GATE = flow("nodes: {a: {type: gate, inputs: {x: [1]}, data: {title: t}}}")
STEERING: JsonObject = {"_branch": "x", "_wait": {"seconds": 9}}


@pytest.mark.parametrize(
    ("run", "then"),
    [
        pytest.param(at("a", TRIGGERED, started(STEERING)), Executed(STEERING), id="a trigger passes on plain data"),
        pytest.param(at("a", TRIGGERED, started(3)), Executed({"input": 3}), id="what is no object under a name"),
        pytest.param(at("a", SUM, started()), Executed({"result": 3}), id="a built-in is worked out"),
        pytest.param(
            at("a", BAD_SUM, started()), TaskFailed("bad_input", "add: missing input 'a'"), id="or says what it lacks"
        ),
        pytest.param(
            at("a", PAUSE, started()), WaitingNode(Executed({"main": 1}), NOW + 2000), id="or asks the run to wait"
        ),
        pytest.param(at("a", SWITCH, started()), Executed({"true": 1}, "true"), id="or chooses a branch"),
        pytest.param(
            at("a", UNKNOWN, started()),
            TaskFailed("unknown_node_type", "no task, action, built-in or Python node is called 'nobody'"),
            id="a type that nobody registered fails",
        ),
        pytest.param(
            at("a", HTTP, started({"c": 1})),
            NodeCall(
                TaskTarget(Task((Step(Action("http", {"url": "https://x.example/"}), ref="a"),))),
                {"main": {"x": 1}},
                {"url": "https://x.example/"},
            ),
            id="work is handed to somebody, without a context that they cannot read",
        ),
        pytest.param(
            at("a", GATE, started({"c": 1})),
            NodeCall(GateTarget("t"), {"x": [1]}, {"title": "t"}, {"c": 1}),
            id="or with one that they can",
        ),
    ],
)
def test_what_a_ready_node_does(run: Given, then: BeginResult) -> None:
    assert begin_node(flow_of(run.program), run.state().flow, "a", NOW, {}) == then


def carried(handle: str) -> CompiledConnection:
    return CompiledConnection(0, "a", handle, "b", "main")


@pytest.mark.parametrize(
    ("executed", "handle", "then"),
    [
        pytest.param(Executed({"x": 1}), "main", {"x": 1}, id="main carries all of it"),
        pytest.param(Executed({"main": 1}), "main", {"main": 1}, id="also if there is an output of that name"),
        pytest.param(Executed({"x": 1}), "x", 1, id="another handle what is under it"),
        pytest.param(Executed({"x": 1, "y": 2}, "x"), "x", 1, id="so does a branch that was chosen"),
        pytest.param(Executed({"y": 2}, "x"), "x", {"y": 2}, id="or all of it, if nothing is under it"),
        pytest.param(Executed({"main": 1}, "main"), "main", 1, id="main too, when it was chosen"),
    ],
)
def test_what_a_connection_carries(executed: Executed, handle: str, then: Json) -> None:
    assert delivered(executed, carried(handle)) == then


@pytest.mark.parametrize(
    ("given_input", "then"),
    [
        pytest.param({"x": 1}, {"x": 1}, id="an object as it is"),
        pytest.param(None, {}, id="nothing is empty"),
        pytest.param([1], {"input": [1]}, id="anything else under a name"),
    ],
)
def test_the_context_a_run_begins_with(given_input: Json, then: JsonObject) -> None:
    assert initial_context(FlowState(given_input)) == then


MEETING = flow("""
nodes: {a: {type: work}, b: {type: work}, c: {type: work}}
connections: [{from: b, to: c}, {from: a, to: c, from_output: x}]
""")


@pytest.mark.parametrize(
    ("first", "then"),
    [
        pytest.param(
            {"k": "a", "x": 1}, {"i": 0, "k": "a", "x": 1}, id="the later declared connection lies over the other"
        ),
        pytest.param({"k": "a"}, {"i": 0, "k": "b"}, id="a path that delivered nothing brings nothing"),
    ],
)
def test_the_context_before_a_node(first: JsonObject, then: JsonObject) -> None:
    state = given(MEETING, started({"i": 0}), done(0, first), done(1, {"k": "b"})).state().flow
    assert context_before(flow_of(MEETING), state, "c").plain() == then
    assert context_before(flow_of(MEETING), state, "a").plain() == {"i": 0}
    assert context_after(flow_of(MEETING), state, "b").plain() == {"i": 0, "k": "b"}


def test_a_node_that_was_skipped_passes_no_context_on() -> None:
    program = flow("""
nodes: {a: {type: work}, b: {type: work}, c: {type: work}}
connections: [{from: a, to: b, from_output: x}, {from: b, to: c}, {from: a, to: c}]
""")
    state = given(program, started({"i": 0}), done(0, {"k": "a"}), done(1, {"l": "c"})).state().flow
    assert list(state.skipped) == ["b"]
    state.contexts.clear()
    assert context_after(flow_of(program), state, "c").plain() == {"i": 0, "k": "a", "l": "c"}


class TestInputs:
    def test_a_connection_wins_over_an_override_and_that_over_a_literal(self) -> None:
        graph: Object = {
            "nodes": {"a": constant(3), "b": {"type": "work", "inputs": {"x": 1, "y": 1, "z": 1}}},
            "connections": [wire("a", "b", "value", "z")],
        }
        driven = Driver(program_of(**graph), overrides={"b": {"y": 2, "z": 2}})
        assert driven.calls["b"].inputs == {"x": 1, "y": 2, "z": 3}

    def test_of_two_connections_into_one_handle_the_last_declared_wins(self) -> None:
        nodes: Object = {"a": constant(1), "b": constant(2), "c": WORK}
        connections = [wire("b", "c", "value"), wire("a", "c", "value")]
        assert Driver(program_of(nodes=nodes, connections=connections)).calls["c"].inputs == {"main": 1}

    def test_a_repeated_handle_collects_a_list_in_declaration_order(self) -> None:
        nodes: Object = {"a": constant(1), "b": constant(2), "c": {"type": "sum", "repeated": ["values"]}}
        connections = [wire("b", "c", "value", "values"), wire("a", "c", "value", "values")]
        program = program_of(nodes=nodes, connections=connections)
        driven = Driver(program)
        assert inputs_of(program, driven.state, "c") == {"values": [2, 1]}
        assert driven.state.executed["c"].outputs == {"result": 3}

    def test_what_did_not_arrive_is_absent(self) -> None:
        nodes: Object = {"a": WORK, "b": WORK}
        driven = Driver(program_of(nodes=nodes, connections=[wire("a", "b"), wire("a", "b", "gone", "x")]))
        driven.finish("a", {"k": 1})
        assert driven.calls["b"].inputs == {"main": {"k": 1}}


DIAMOND: Object = {
    "nodes": {"a": WORK, "b": WORK, "c": WORK, "d": WORK},
    "connections": [wire("a", "b"), wire("a", "c"), wire("c", "d"), wire("b", "d")],
}


class TestContext:
    def test_it_is_what_the_paths_into_a_node_produced(self) -> None:
        driven = Driver(program_of(**DIAMOND), {"run": 1})
        assert driven.calls["a"].context == {"run": 1}
        driven.finish("a", {"k": "a"})
        driven.finish("b", {"k": "b", "b": 1})
        assert driven.calls["c"].context == {"run": 1, "k": "a"}
        driven.finish("c", {"k": "c", "c": 1})
        # c is connected first, so b lies over it
        assert driven.calls["d"].context == {"run": 1, "k": "b", "b": 1, "c": 1}

    def test_nobody_can_change_what_others_see(self) -> None:
        """D19"""
        given: Json = {"list": [1]}
        driven = Driver(program_of(**DIAMOND), given)
        driven.finish("a", {"seen": [1]})
        for_b, for_c = driven.calls["b"], driven.calls["c"]
        for call in (for_b, for_c):
            assert call.context == {"list": [1], "seen": [1]}
            assert call.inputs == {"main": {"seen": [1]}}
            taken: list[Any] = [call.inputs["main"], call.context]
            taken[0]["seen"].append(2)
            taken[1]["list"].append(2)
        assert given == {"list": [1]}
        assert driven.state.executed["a"].outputs == {"seen": [1]}

    def test_control_keys_in_a_runs_input_are_plain_data(self) -> None:
        graph: Object = {
            "nodes": {"t": TRIGGER, "a": MERGE, "b": MERGE},
            "connections": [wire("t", "a"), wire("t", "b", "x")],
        }
        driven = run(graph, {"_branch": "x", "_wait": {"seconds": 9}})
        assert driven.view("a").outputs == {"main": {"_branch": "x", "_wait": {"seconds": 9}}}
        assert (driven.view("b").status, driven.status) == ("skipped", "completed")


def test_an_unknown_type_fails_its_node_and_no_other() -> None:
    """D07"""
    driven = run({"nodes": {"a": {"type": "nobody"}, "b": constant(1)}})
    assert (driven.state.errors["a"].type, driven.view("b").status) == ("unknown_node_type", "completed")


def test_a_long_chain_overflows_no_stack() -> None:
    size = 3000  # three times the depth at which Python refuses to go on
    nodes: Object = {f"n{number}": WORK for number in range(size)}
    connections = [wire(f"n{number}", f"n{number + 1}") for number in range(size - 1)]
    program = program_of(nodes=nodes, connections=connections, limits={"max_nodes": size})
    failed = Unchecked(program)
    failed.fail("n0")
    assert failed.view(f"n{size - 1}").blocked_by == (f"n{size - 2}",)
    driven = Unchecked(program)
    for number in range(size):
        driven.finish(f"n{number}", {"n": number})
    driven.state.contexts.clear()
    assert context_after(program, driven.state, f"n{size - 1}").plain() == {"n": size - 1}
