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
from jeton.model.json import Json
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
        pytest.param("CONTACT_CREATED", "trigger", id="one that tells what happened"),
        pytest.param("INVOICE_RECEIVED", "trigger", id="one that we do not know"),
        pytest.param("SCHEDULE", "trigger", id="a schedule"),
        pytest.param("HTTP_REQUEST", "http", id="a built-in of another name"),
        pytest.param("textInput", "constant", id="a built-in in another spelling"),
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


EDITOR: Any = {
    "id": "cm5w0",
    "name": "Review follow-up",
    "nodes": [
        {"id": "t1", "name": "REVIEW_RECEIVED", "type": "REVIEW_RECEIVED", "position": {"x": 0, "y": 0}, "data": {}},
        {
            "id": "i1",
            "name": "Good review?",
            "type": "IF_ELSE",
            "position": {"x": 200, "y": 0},
            "data": {"condition": {"field": "review.rating", "operator": "gte", "value": 4}},
        },
        {"id": "w1", "name": "WAIT", "type": "WAIT", "data": {"amount": 30, "unit": "minutes"}},
        {"id": "s1", "name": "thank", "type": "SET", "data": {"sms": "'thank you'"}},
        {"id": "s2", "name": "sorry", "type": "SET", "data": {"sms": "'we are sorry'"}},
    ],
    "connections": [
        {"id": "c1", "fromNodeId": "t1", "toNodeId": "i1", "fromOutput": "source-1", "toInput": "target-1"},
        {"id": "c2", "fromNodeId": "i1", "toNodeId": "w1", "fromOutput": "true", "toInput": "target-1"},
        {"id": "c3", "fromNodeId": "w1", "toNodeId": "s1", "fromOutput": "source-1", "toInput": "target-1"},
        {"id": "c4", "fromNodeId": "i1", "toNodeId": "s2", "fromOutput": "false", "toInput": "target-1"},
    ],
}
DATAFLOW: Any = {
    "name": "branches",
    "nodes": [
        {"id": "yes", "type": "boolean-input", "inputs": [{"name": "value", "type": "boolean", "value": True}]},
        {
            "id": "num",
            "type": "number-input",
            "inputs": [{"name": "value", "type": "number", "value": 5}, {"name": "min", "value": 0, "hidden": True}],
        },
        {
            "id": "fork",
            "type": "conditional-fork",
            "inputs": [{"name": "condition", "type": "boolean"}, {"name": "value", "type": "any"}],
            "outputs": [{"name": "true", "type": "any"}, {"name": "false", "type": "any"}],
        },
        {"id": "add", "type": "addition", "inputs": [{"name": "a"}, {"name": "b", "value": 10}]},
        {"id": "mul", "type": "multiplication", "inputs": [{"name": "a"}, {"name": "b", "value": 2}]},
        {"id": "join", "type": "conditional-join", "inputs": [{"name": "a"}, {"name": "b"}]},
    ],
    "edges": [
        {"source": "yes", "sourceOutput": "value", "target": "fork", "targetInput": "condition"},
        {"source": "num", "sourceOutput": "value", "target": "fork", "targetInput": "value"},
        {"source": "fork", "sourceOutput": "true", "target": "add", "targetInput": "a"},
        {"source": "fork", "sourceOutput": "false", "target": "mul", "targetInput": "a"},
        {"source": "add", "sourceOutput": "result", "target": "join", "targetInput": "a"},
        {"source": "mul", "sourceOutput": "result", "target": "join", "targetInput": "b"},
    ],
}


def played(export: object, given: Json = None) -> Driver:
    """A run of what was imported; waits are over at once."""
    library: Any = import_flow(json.dumps(export), "export.json").library
    (flow,) = library["flows"].values()
    run = Driver(program_of(**flow), given)
    while run.state.waiting:
        run.wake(next(iter(run.state.waiting)))
    return run


def test_the_default_handles_of_an_editor_are_main() -> None:
    assert [(each.from_output, each.to_input) for each in imported(EDITOR).connections] == [
        ("main", "main"), ("true", "main"), ("main", "main"), ("false", "main"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("given", "begun"),
    [
        pytest.param({"review": {"rating": 5}}, ["t1", "i1", "w1", "s1"], id="a good one"),
        pytest.param({"review": {"rating": "4"}}, ["t1", "i1", "w1", "s1"], id="a number as a text"),
        pytest.param({"review": {"rating": 3}}, ["t1", "i1", "s2"], id="a bad one"),
        pytest.param({}, ["t1", "i1", "s2"], id="none"),
    ],
)
def test_what_an_editor_exported_runs_past_its_trigger(given: Json, begun: list[str]) -> None:
    run = played(EDITOR, given)
    assert (run.begun, run.status) == (begun, "completed")


def test_a_wait_of_an_amount_of_a_unit() -> None:
    assert imported(EDITOR).nodes["w1"].data == {"seconds": 1800, "label": "30 minutes"}


@pytest.mark.parametrize(("condition", "result"), [(True, 15), (False, 10)])
def test_a_fork_and_a_join(condition: bool, result: int) -> None:
    export = json.loads(json.dumps(DATAFLOW))
    export["nodes"][0]["inputs"][0]["value"] = condition
    run = played(export)
    assert run.state.executed["join"].outputs == {"result": result}
    assert run.status == "completed"


def choosing(field: str, operator: str, value: Json = None) -> Any:
    nodes = [
        {"id": "t", "type": "MANUAL_TRIGGER"},
        {"id": "i", "type": "IF_ELSE", "data": {"field": field, "operator": operator, "value": value}},
        {"id": "yes", "type": "SET", "data": {"x": 1}},
    ]
    wires = [{"fromNodeId": "t", "toNodeId": "i"}, {"fromNodeId": "i", "toNodeId": "yes", "fromOutput": "true"}]
    return {"nodes": nodes, "connections": wires}


@pytest.mark.parametrize(
    ("field", "operator", "value", "holds", "does_not"),
    [
        ("a.b", "eq", "Hot", {"a": {"b": "hOT"}}, {"a": {"b": "cold"}}),
        ("a", "equals", 4, {"a": "4"}, {}),
        ("a", "neq", "x", {}, {"a": "X"}),
        ("a", "gt", "4", {"a": 4.5}, {"a": 4}),
        ("a", "less_than", 4, {"a": 3}, {"a": None}),
        ("a", "<=", 4, {"a": 4}, {"a": 5}),
        ("a", "contains", "IT", {"a": "with"}, {"a": "without"[:2]}),
        ("a", "contains", "x", {"a": ["y", "X"]}, {"a": ["xy"]}),
        ("a", "not_contains", "x", {"a": "y"}, {"a": "xy"}),
        ("a", "in", "hot, warm", {"a": "Warm"}, {"a": "cold"}),
        ("a.b-c", "exists", None, {"a": {"b-c": 0}}, {"a": {"b-c": ""}}),
        ("a.b", "notExists", None, {}, {"a": {"b": 1}}),
        ("{{ a.b }}", "eq", "it's", {"a": {"b": "it's"}}, {"a": {"b": "its"}}),
    ],
)
def test_a_condition_of_a_field(field: str, operator: str, value: Json, holds: Json, does_not: Json) -> None:
    export = choosing(field, operator, value)
    assert [played(export, given).view("yes").status for given in (holds, does_not)] == ["completed", "skipped"]


@pytest.mark.parametrize(
    ("node", "says"),
    [
        pytest.param({"type": "IF_ELSE", "data": {}}, "has no condition", id="no condition"),
        pytest.param(
            {"type": "IF_ELSE", "data": {"condition": {"field": "a", "operator": "sounds_like", "value": 1}}},
            "the operator 'sounds_like'",
            id="an operator",
        ),
        pytest.param(
            {"type": "IF_ELSE", "data": {"field": "_categories", "operator": "contains", "value": "vip"}},
            "no path into the context",
            id="a field that is looked up elsewhere",
        ),
        pytest.param(
            {"type": "IF_ELSE", "data": {"field": "a", "operator": "gt", "value": "many"}}, "no number", id="a number"
        ),
        pytest.param({"type": "WAIT", "data": {}}, "says no time", id="no time"),
        pytest.param({"type": "WAIT", "data": {"amount": 2, "unit": "moons"}}, "the unit 'moons'", id="a unit"),
        pytest.param({"type": "WAIT_UNTIL", "data": {}}, "says no time", id="no moment"),
        pytest.param({"type": "conditional-join"}, "nothing leads to it", id="nothing to join"),
        pytest.param(
            {"type": "HTTP_REQUEST", "data": {"endpoint": "https://a.example/{{ id }}"}},
            "template",
            id="a template",
        ),
        pytest.param(
            {"type": "HTTP_REQUEST", "data": {"endpoint": "https://a.example", "variableName": "my items"}},
            "'my items', which is no name",
            id="a variable",
        ),
        pytest.param(
            {"type": "HTTP_REQUEST", "data": {"endpoint": "https://a.example", "method": "POST", "body": "n = 3"}},
            "which is no JSON",
            id="a body",
        ),
        pytest.param({"type": "SWITCH", "data": {"field": "a", "cases": [{"when": 1}]}}, "cases", id="cases"),
    ],
)
def test_what_cannot_be_translated_names_its_node(node: Any, says: str) -> None:
    export = {"nodes": [{"id": "cl9", "name": "Which one?", **node}], "connections": []}
    with pytest.raises(DefinitionError) as error:
        import_flow(json.dumps(export, indent=1), "export.json")
    (problem,) = error.value.problems
    assert (problem.code, problem.path) == ("not_translatable", "nodes[0]")
    assert f"node 'Which one?' ({node['type']})" in problem.problem
    assert says in problem.problem


def test_an_output_that_a_node_does_not_have_is_no_path() -> None:
    export = json.loads(json.dumps(EDITOR))
    export["connections"][3]["fromOutput"] = "source-1"
    with pytest.raises(DefinitionError) as error:
        import_flow(json.dumps(export), "export.json")
    (problem,) = error.value.problems
    assert (problem.code, problem.path) == ("not_translatable", "connections[3]")
    assert "node 'i1' (IF_ELSE) has no output 'main'" in problem.problem


def test_the_only_output_of_a_trigger_is_main_whatever_it_is_called() -> None:
    export = json.loads(json.dumps(EDITOR))
    export["connections"][0]["fromOutput"] = "out"
    assert played(export, {"review": {"rating": 5}}).begun == ["t1", "i1", "w1", "s1"]


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
