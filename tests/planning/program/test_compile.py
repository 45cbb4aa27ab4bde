"""A workflow or a flow of a library, made ready for planning."""

import pytest

from jeton.definitions import library_from
from jeton.model.definition.workflow import GateTarget, Library, TaskTarget
from jeton.model.failure import BrokenInvariant
from jeton.model.json import JsonObject
from jeton.planning.program.compile import compile_definition
from jeton.planning.schema_problem import schema_problem

FLOW: JsonObject = {
    "nodes": {
        "ask": {"type": "gate", "data": {"title": "t"}},
        "work": {"type": "work"},
        "add": {"type": "add"},
        "odd": {"type": "nobody"},
    },
    "connections": [{"from": "ask", "to": "work"}],
    "timeout_ms": 7,
    "input_schema": {"type": "object"},
    "output_schema": {"type": "object"},
}
WORKFLOW: JsonObject = {"initial_node": "a", "nodes": {"a": {"task": "work"}}}


def library(**credits: object) -> Library:
    source: dict[str, object] = {
        "workflows": {"w": WORKFLOW},
        "flows": {"f": FLOW, "empty": {"nodes": {}}},
        "tasks": {"work": {"steps": [{"action": {"kind": "mock"}}]}},
        "project": {"settings": {"credits": credits} if credits else {}},
    }
    return library_from(source).require()


def test_a_workflow_is_no_flow() -> None:
    program = compile_definition(library(), "w")
    assert (program.flow, program.workflow.name, program.nodes["a"].task is None) == (None, "w", False)


def test_a_flow_shares_tasks_gates_and_calls_with_workflows() -> None:
    program = compile_definition(library(), "f")
    targets = {name: type(node.definition.target) for name, node in program.nodes.items()}
    assert targets == {"ask": GateTarget, "work": TaskTarget, "add": type(None), "odd": type(None)}
    assert program.nodes["work"].task is not None
    assert program.nodes["ask"].text is not None
    assert program.transitions == (), "its connections stay with the flow"
    assert program.flow is not None
    assert [each.target for each in program.flow.nodes["ask"].leaving] == ["work"]


def test_a_flow_keeps_its_time_and_its_schemas() -> None:
    program = compile_definition(library(), "f")
    assert program.workflow.timeout_ms == 7
    assert schema_problem(program.input_validator, 1, "value") is not None
    assert schema_problem(program.output_validator, 1, "value") is not None


def test_an_empty_flow_can_be_compiled() -> None:
    assert compile_definition(library(), "empty").nodes == {}


def test_a_definition_that_is_not_there_is_our_bug() -> None:
    with pytest.raises(BrokenInvariant):
        compile_definition(library(), "gone")


@pytest.mark.parametrize(
    ("credits", "metered"),
    [
        pytest.param({}, False, id="without a balance there is no limit"),
        pytest.param({"costs": {"add": 3}}, False, id="prices alone are no limit"),
        pytest.param({"balance": 0}, True, id="a balance is one, also of nothing"),
    ],
)
def test_whether_the_project_pays(credits: JsonObject, metered: bool) -> None:
    assert compile_definition(library(**credits), "w").metered is metered


def test_a_node_of_a_flow_costs_what_is_written_for_its_type() -> None:
    program = compile_definition(library(costs={"add": 3, "gate": 2, "nobody": 5}), "f")
    assert [program.price(node) for node in ("add", "ask", "odd", "work")] == [3, 2, 5, 1]
