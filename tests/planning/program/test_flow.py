"""A flow made ready for planning: its connections by handle, and what each node's type stands for."""

import msgspec
import pytest

from jeton.definitions import library_from
from jeton.model.definition.flow import Flow, FlowNode
from jeton.model.definition.task import Action, Step, Task
from jeton.model.definition.workflow import AgentTarget, GateTarget, Library, TaskTarget, WorkflowTarget
from jeton.planning.program.flow import (
    BuiltinNode,
    CompiledConnection,
    FlowProgram,
    NodeWork,
    TriggerNode,
    UnknownNode,
    compile_flow,
)
from tests.planning.flow_drive import BRANCHES, MERGE, Object, program_of, wire

MOCK: Object = {"kind": "mock"}
STEPS: Object = {"steps": [{"ref": "s", "action": MOCK}]}
TASK = Task((Step(Action("mock"), ref="s"),))


def compiled(**nodes: Object) -> FlowProgram:
    """Beside the tasks `judge` and `sum`, and the actions `ask` and `look`, the second a Python node."""
    library = library_from(
        {
            "flows": {"f": {"nodes": nodes}, "g": {"nodes": {}}},
            "tasks": {"judge": STEPS, "sum": STEPS},
            "actions": {"ask": MOCK},
        }
    ).require()
    actions = {**library.actions, "look": Action("node", {"function": "look"})}
    return compile_flow(library.flows["f"], msgspec.structs.replace(library, actions=actions))


@pytest.mark.parametrize(
    ("node", "then"),
    [
        pytest.param({"type": "trigger"}, TriggerNode(), id="a trigger"),
        pytest.param({"type": "judge"}, TaskTarget(TASK), id="a task"),
        pytest.param({"type": "judge@1"}, TaskTarget(TASK), id="a task with its version"),
        pytest.param(
            {"type": "ask@1"}, TaskTarget(Task((Step("ask", ref="n"),))), id="an action, as a task of one step"
        ),
        pytest.param(
            {"type": "http", "data": {"url": "https://x.example/"}},
            TaskTarget(Task((Step(Action("http", {"url": "https://x.example/"}), ref="n"),))),
            id="a built-in action, with its data for its implementation",
        ),
        pytest.param({"type": "gate", "data": {"schema": {}}}, GateTarget("n", {}), id="a gate, named like its node"),
        pytest.param({"type": "gate", "data": {"title": "t"}}, GateTarget("t"), id="or as it says"),
        pytest.param(
            {"type": "workflow", "data": {"workflow": "g", "on_failure": "catch"}},
            WorkflowTarget("g", "catch"),
            id="a call",
        ),
        pytest.param({"type": "nobody"}, UnknownNode("nobody"), id="a type that nobody registered"),
    ],
)
def test_what_a_type_stands_for(node: Object, then: NodeWork) -> None:
    assert compiled(n=node).nodes["n"].work == then


def test_a_new_task_does_not_change_what_a_flow_means_by_a_built_in() -> None:
    assert isinstance(compiled(n={"type": "sum"}).nodes["n"].work, BuiltinNode)


@pytest.mark.parametrize(
    ("type", "then"),
    [
        pytest.param("look", True, id="a Python node can read a context"),
        pytest.param("gate", True, id="so can a gate's title"),
        pytest.param("ask", False, id="an action cannot"),
        pytest.param("judge", False, id="nor can a task"),
    ],
)
def test_who_is_given_a_context(type: str, then: bool) -> None:
    assert compiled(n={"type": type}).nodes["n"].wants_context is then


def test_connections_are_kept_by_handle() -> None:
    """H13"""
    node = program_of(**BRANCHES).nodes["a"]
    assert {handle: [each.target for each in connections] for handle, connections in node.outgoing.items()} == {
        "true": ["b", "d"],
        "false": ["c"],
    }
    assert [each.target for each in node.leaving] == ["b", "d", "c"]


def test_a_connection_keeps_its_place_in_the_declaration() -> None:
    nodes = {"a": MERGE, "b": MERGE, "c": {**MERGE, "repeated": ["x"]}}
    program = program_of(nodes=nodes, connections=[wire("b", "c", "o", "x"), wire("a", "c")])
    assert program.nodes["c"].incoming == (
        CompiledConnection(0, "b", "o", "c", "x"),
        CompiledConnection(1, "a", "main", "c", "main"),
    )
    assert program.nodes["c"].repeated == {"x"}
    assert [program.nodes[name].position for name in "abc"] == [0, 1, 2]


def test_a_connection_that_closes_a_cycle_leads_nowhere() -> None:
    nodes = {"a": MERGE, "b": MERGE}
    program = program_of(nodes=nodes, connections=[wire("a", "b"), wire("b", "a")], cycles="ignore_back_edges")
    assert (program.roots, program.nodes["a"].incoming, program.nodes["b"].leaving) == (("a",), (), ())


def test_an_output_mapping_reads_the_context() -> None:
    program = program_of(nodes={"a": MERGE}, output_mapping={"x": "context.y", "z": 3})
    assert program.output_mapping is not None
    assert {target: source.evaluate({"context": {"y": 1}}) for target, source in program.output_mapping} == {
        "x": 1,
        "z": 3,
    }


@pytest.mark.parametrize(
    ("node", "then"),
    [
        pytest.param(
            FlowNode("llm", data={"prompt": "p"}),
            TaskTarget(Task((Step(Action("llm", {"prompt": "p"}), ref="n"),))),
            id="a call of a model, as a task of one step",
        ),
        pytest.param(FlowNode("agent", data={"agent": "x"}), AgentTarget("x"), id="an agent"),
    ],
)
def test_what_a_type_stands_for_that_needs_more_than_a_file(node: FlowNode, then: NodeWork) -> None:
    assert compile_flow(Flow("f", {"n": node}), Library()).nodes["n"].work == then
