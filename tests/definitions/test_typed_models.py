"""Typos in what has a Python type are errors when the workflow is loaded."""

from dataclasses import dataclass

import pytest

import jeton
from jeton.engine.build.source import load_source
from jeton.model.json import JsonObject
from tests.definitions.given import problems


@dataclass
class Order:
    """An order."""

    id: str
    total: float


@dataclass
class State:
    """What is known of it."""

    id: str = ""


@jeton.action
def fetch(order: str, extra: int = 1) -> Order:
    """Fetch an order."""
    return Order(order, extra)


@jeton.action
def fetch_with(order: str, **more: int) -> Order:
    """Fetch an order by anything."""
    return Order(order, len(more))


GIVEN: JsonObject = {"order": "input.id"}
KEPT: JsonObject = {"state.id": "result.id"}


def found(given: JsonObject, kept: JsonObject, action: object = fetch) -> list[tuple[str, str, str]]:
    """The severities, paths and remedies of the problems of a workflow of one node."""
    workflow = jeton.Workflow("w", input=Order, state=State)
    workflow.node("a", action=action, input=given, output=kept)  # type: ignore[arg-type] # any of the two
    return [(each.severity, each.path, each.remedy) for each in load_source(workflow).problems]


@pytest.mark.parametrize(
    ("given", "kept", "path", "remedy"),
    [
        pytest.param(GIVEN, {"state.id": "result.idd"}, 'output_mapping["state.id"]', "'id'", id="a field of a result"),
        pytest.param(
            {"order": "string(input.totl)"}, KEPT, "input_mapping.order", "'total'", id="a field of the input"
        ),
        pytest.param({**GIVEN, "extr": 1}, KEPT, "input_mapping.extr", "'extra'", id="an argument"),
        pytest.param(
            GIVEN, {"state.idd": "result.id"}, 'output_mapping["state.idd"]', "'id'", id="a field of the state"
        ),
    ],
)
def test_a_typo_is_an_error(given: JsonObject, kept: JsonObject, path: str, remedy: str) -> None:
    ((severity, where, what),) = found(given, kept)
    assert (severity, where) == ("error", f"workflows.w.nodes.a.{path}")
    assert remedy in what


def test_without_a_typo_there_is_no_problem() -> None:
    assert found(GIVEN, KEPT) == []
    assert found({**GIVEN, "whatever": 1}, KEPT, fetch_with) == []


OPEN = """
workflows:
  w:
    initial_node: a
    input_schema: {{type: object, properties: {{total: {{type: number}}}}}}
    nodes: {{a: {{output_mapping: {{output.x: "{source}"}}}}}}
"""


@pytest.mark.parametrize(
    ("source", "severities"),
    [
        ("input.totl", ["warning"]),
        ("input['totl']", ["warning"]),
        ("input.total", []),
        ("has(input.totl)", []),
        ("input.?totl.orValue(0)", []),
    ],
)
def test_a_field_that_an_open_schema_does_not_declare_is_a_warning(source: str, severities: list[str]) -> None:
    reported = [each for each in problems(OPEN.format(source=source)) if each.code == "expression_type"]
    assert [each.severity for each in reported] == severities
    assert all("did you mean 'total'?" in each.remedy for each in reported)


@jeton.node
def priced(order: str, discount: float | None, currency: str = "EUR") -> Order:
    """A node with input handles of its own."""
    return Order(order, discount or 0)


@jeton.node
def priced_by_inputs(inputs: dict[str, object]) -> JsonObject:
    """A node that takes any handle."""
    return {"count": len(inputs)}


def flow_problems(type: object, handle: str, output: str = "main") -> list[tuple[str, str, str]]:
    """The severities, paths and problems of a flow with a connection into a node, and one out of it."""
    flow = jeton.Flow("f")
    flow.node("begin", type="trigger")
    flow.node("work", type=type, inputs={"order": "x"})  # type: ignore[arg-type] # any of these
    flow.node("end", type="merge")
    flow.connect("begin", "work", input=handle)
    flow.connect("work", "end", output=output)
    return [(each.severity, each.path, f"{each.problem}: {each.remedy}") for each in load_source(flow).problems]


@pytest.mark.parametrize(
    ("type", "handle", "nearest"),
    [
        (priced, "discunt", "discount"),
        (priced, "curency", "currency"),
        (fetch, "extr", "extra"),
        ("sum", "value", "values"),
    ],
)
def test_a_typo_in_an_input_handle_is_an_error(type: object, handle: str, nearest: str) -> None:
    given = [each for each in flow_problems(type, handle) if each[1] == "flows.f.connections[0].to_input"]
    ((severity, _, problem),) = given
    assert severity == "error"
    assert f"'work' has no input handle '{handle}'" in problem
    assert f"write '{nearest}'" in problem


def test_a_typo_in_an_output_handle_is_a_warning() -> None:
    for type in (priced, fetch):
        ((severity, path, problem),) = flow_problems(type, "main", "totl")
        assert (severity, path) == ("warning", "flows.f.connections[1].from_output")
        assert "write 'total'" in problem


def test_handles_that_a_node_has() -> None:
    for handle in ("order", "discount", "currency", "main"):
        assert flow_problems(priced, handle, "total") == []
    assert flow_problems(priced_by_inputs, "whatever", "whatever") == []
    assert flow_problems(fetch, "extra", "id") == []


def test_a_typo_in_an_argument_of_a_node_in_a_workflow_is_an_error() -> None:
    ((severity, path, remedy),) = found({**GIVEN, "discunt": 1}, KEPT, priced)
    assert (severity, path) == ("error", "workflows.w.nodes.a.input_mapping.discunt")
    assert "'discount'" in remedy
