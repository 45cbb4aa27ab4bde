"""A flow made ready for planning: its connections by handle, and what each node's type stands for."""

from jeton.definitions import library_from
from jeton.planning.program.flow import compile_flow
from tests.planning.flow_drive import BRANCHES, Object, program_of


def test_connections_are_kept_by_handle() -> None:
    """H13"""
    outgoing = program_of(**BRANCHES).nodes["a"].outgoing
    assert {handle: [each.target for each in wires] for handle, wires in outgoing.items()} == {
        "true": ["b", "d"],
        "false": ["c"],
    }


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
