"""What a ready node of a flow is given, and what becomes of it."""

from typing import Any

from jeton.model.json import Json
from jeton.planning.flow.node import context_after, inputs_of
from tests.planning.flow_drive import MERGE, TRIGGER, WORK, Driver, Object, Unchecked, constant, program_of, run, wire


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


def test_an_unknown_type_fails_its_node_and_no_other() -> None:
    """D07"""
    done = run({"nodes": {"a": {"type": "nobody"}, "b": constant(1)}})
    assert (done.state.errors["a"].type, done.view("b").status) == ("unknown_node_type", "completed")


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
