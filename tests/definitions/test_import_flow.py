"""Graphs that other editors export become library files."""

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from jeton.definitions.import_flow import import_flow, library_text
from jeton.definitions.report import Report
from jeton.definitions.text.yaml import read_yaml
from jeton.model.definition.flow import Connection, Flow, FlowNode
from jeton.model.failure import DefinitionError
from tests.definitions.given import loaded
from tests.planning.flow_drive import Driver, program_of

SEED_001: Any = {
    "id": "wf_1",
    "name": "Order intake",
    "nodes": [
        {"id": "cl8x1", "name": "Start", "type": "MANUAL_TRIGGER", "position": {"x": 0, "y": 0}, "data": {}},
        {"id": "cl8x2", "type": "IF_ELSE", "data": {"condition": "inputs.main.total > 100"}},
        {"id": "9f-wait", "name": "Cool off", "type": "WAIT", "data": {"seconds": 2}},
        {"id": "cl8x4", "type": "SET", "data": {"note": "'small'"}},
    ],
    "connections": [
        {"id": "c1", "fromNodeId": "cl8x1", "toNodeId": "cl8x2"},
        {"id": "c2", "fromNodeId": "cl8x2", "toNodeId": "9f-wait", "fromOutput": "true", "toInput": "main"},
        {"id": "c3", "fromNodeId": "cl8x2", "toNodeId": "cl8x4", "fromOutput": "false"},
    ],
}
SEED_004: Any = {
    "workflow": {
        "name": "sums",
        "nodes": [
            {"id": "num1", "type": "number-input", "inputs": [{"name": "value", "type": "number", "value": 5}]},
            {
                "id": "add",
                "type": "addition",
                "inputs": [{"name": "a", "type": "number"}, {"name": "b", "type": "number", "value": 3}],
                "outputs": [{"name": "result", "type": "number"}],
            },
            {"id": "all", "type": "sum", "inputs": [{"name": "values", "repeated": True}]},
        ],
        "edges": [
            {"source": "num1", "target": "add", "sourceOutput": "value", "targetInput": "a"},
            {"source": "num1", "target": "all", "sourceOutput": "value", "targetInput": "values"},
            {"source": "add", "target": "all", "sourceOutput": "result", "targetInput": "values"},
        ],
    }
}


def imported(export: object) -> Flow:
    """The flow that the imported text loads as."""
    found = import_flow(json.dumps(export), "export.json")
    return loaded(found.text).require().flows[found.name]


def test_a_graph_with_connections() -> None:
    assert imported(SEED_001) == Flow(
        name="wf_1",
        nodes={
            "cl8x1": FlowNode("trigger"),
            "cl8x2": FlowNode("if_else", data={"condition": "inputs.main.total > 100"}),
            "Cool_off": FlowNode("wait", data={"seconds": 2}),
            "cl8x4": FlowNode("set", data={"note": "'small'"}),
        },
        declared=("cl8x1", "cl8x2", "Cool_off", "cl8x4"),
        connections=(
            Connection("cl8x1", "cl8x2"),
            Connection("cl8x2", "Cool_off", from_output="true"),
            Connection("cl8x2", "cl8x4", from_output="false"),
        ),
        on_error="fail",
    )


def test_a_graph_with_edges() -> None:
    assert imported(SEED_004) == Flow(
        name="sums",
        nodes={
            "num1": FlowNode("constant", inputs={"value": 5}),
            "add": FlowNode("add", inputs={"b": 3}),
            "all": FlowNode("sum", repeated=("values",)),
        },
        declared=("num1", "add", "all"),
        connections=(
            Connection("num1", "add", from_output="value", to_input="a"),
            Connection("num1", "all", from_output="value", to_input="values"),
            Connection("add", "all", from_output="result", to_input="values"),
        ),
    )


def test_what_is_imported_runs() -> None:
    library: Any = import_flow(json.dumps(SEED_004), "export.json").library
    assert Driver(program_of(**library["flows"]["sums"])).state.executed["all"].outputs == {"result": 13}


def test_a_cycle_that_was_walked_once_still_is() -> None:
    back = {"fromNodeId": "cl8x4", "toNodeId": "cl8x2"}
    assert imported({**SEED_001, "connections": [*SEED_001["connections"], back]}).cycles == "ignore_back_edges"


@pytest.mark.parametrize(
    ("written", "type"),
    [
        pytest.param("STRIPE_TRIGGER", "trigger", id="any trigger"),
        pytest.param("webhookTrigger", "trigger", id="in any spelling"),
        pytest.param("HTTP_REQUEST", "http", id="a built-in of another name"),
        pytest.param("waitUntil", "wait_until", id="a built-in in another spelling"),
        pytest.param("slack-message", "slack-message", id="what is no built-in stays"),
        pytest.param("image.resize", "image_resize", id="as a name"),
    ],
)
def test_a_type(written: str, type: str) -> None:
    library: Any = import_flow(json.dumps({"nodes": [{"id": "a", "type": written}], "edges": []}), "x.json").library
    assert library["flows"]["imported"]["nodes"]["a"]["type"] == type


def test_names_that_become_alike_stay_apart() -> None:
    nodes = [{"id": "1 a", "type": "merge"}, {"id": "1-a", "type": "merge"}, {"id": 1, "type": "merge"}]
    assert imported({"nodes": nodes, "edges": []}).order == ("_1_a", "_1_a_2", "_1")


@pytest.mark.parametrize(
    ("export", "code", "path"),
    [
        pytest.param([], "wrong_type", "", id="no object"),
        pytest.param({"edges": []}, "missing_key", "", id="no nodes"),
        pytest.param({"nodes": []}, "missing_key", "", id="nothing between them"),
        pytest.param({"nodes": [{"id": "a"}], "edges": []}, "missing_key", "nodes[0]", id="a node without a type"),
        pytest.param(
            {"nodes": [{"id": "a", "type": "merge"}] * 2, "edges": []},
            "duplicate_name",
            "nodes[1].id",
            id="an id twice",
        ),
        pytest.param(
            {"nodes": [{"id": "a", "type": "merge"}], "edges": [{"source": "a", "target": "b"}]},
            "unknown_node",
            "edges[0].target",
            id="an edge to nowhere",
        ),
        pytest.param(
            {"nodes": [{"id": "a", "type": "merge"}], "edges": [{"source": "a"}]},
            "missing_key",
            "edges[0]",
            id="an edge without a target",
        ),
        pytest.param({"nodes": 5, "edges": []}, "wrong_type", "nodes", id="nodes that are none"),
        pytest.param(
            {"nodes": [{"id": "a", "type": "merge", "data": [1]}], "edges": []},
            "wrong_type",
            "nodes[0].data",
            id="data that is a list",
        ),
        pytest.param(
            {"nodes": [{"id": "a", "type": "merge", "inputs": "x"}], "edges": []},
            "wrong_type",
            "nodes[0].inputs",
            id="inputs that are a text",
        ),
    ],
)
def test_what_is_no_graph(export: object, code: str, path: str) -> None:
    with pytest.raises(DefinitionError) as error:
        import_flow(json.dumps(export, indent=1), "export.json")
    (problem,) = error.value.problems
    assert (problem.code, problem.path) == (code, path)
    assert problem.line


def test_a_graph_that_has_neither_nodes_nor_edges_is_told_both() -> None:
    with pytest.raises(DefinitionError) as error:
        import_flow('{"nodes": 5}', "export.json")
    assert [(problem.code, problem.path) for problem in error.value.problems] == [
        ("wrong_type", "nodes"),
        ("missing_key", ""),
    ]


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
WORDS = st.sampled_from(
    ("true", "No", "on", "null", "~", "1e3", "0o17", "0x1f", "1_000", "12:30", "- a", "a: b", "=", "<<", "")
)
SCALARS = (
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
)
DATA = st.recursive(
    SCALARS | TEXTS | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS | WORDS, inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(TEXTS | WORDS, DATA, max_size=4))
def test_what_is_written_reads_back_as_it_was(data: Any) -> None:
    text = library_text(data)
    report = Report()
    document = read_yaml(text, "library.yaml", report)
    assert (None if document is None else document.value, report.problems) == (data, ())
    assert yaml.safe_load(text) == data
