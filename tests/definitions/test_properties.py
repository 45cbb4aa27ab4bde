"""Whatever is handed over, loading says what is wrong with it and never breaks."""

import ast
import json
import re
from pathlib import Path

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from jeton.definitions import definition_hash, library_from
from jeton.definitions.library import SECTIONS
from jeton.definitions.read.action import ACTION_KEYS, KINDS
from jeton.definitions.read.fields import Fields
from jeton.definitions.read.flow import CONNECTION_KEYS, FLOW_KEYS, FLOW_NODE_KEYS
from jeton.definitions.read.location import NOWHERE, SourceLocation
from jeton.definitions.read.node import GATE_KEYS, NODE_KEYS, WAIT_KEYS
from jeton.definitions.read.task import STEP_KEYS, TASK_KEYS
from jeton.definitions.read.transition import FOREACH_KEYS, MERGE_KEYS, SYNCHRONIZATION_KEYS, TRANSITION_KEYS
from jeton.definitions.read.trigger import TRIGGER_KEYS
from jeton.definitions.read.workflow import WORKFLOW_KEYS
from jeton.definitions.report import Report
from jeton.definitions.text.json import read_json
from jeton.definitions.text.yaml import read_yaml
from jeton.model.failure import Problem
from jeton.model.json import Json

SAYING = {"error", "warning"}
PATH = re.compile(r'([A-Za-z_][\w-]*|\[\d+\]|\["([^"\\]|\\.)*"\])(\.[A-Za-z_][\w-]*|\[\d+\]|\["([^"\\]|\\.)*"\])*|')

KEYS = sorted(
    {
        *WORKFLOW_KEYS,
        *NODE_KEYS,
        *TRANSITION_KEYS,
        *SYNCHRONIZATION_KEYS,
        *TASK_KEYS,
        *STEP_KEYS,
        *ACTION_KEYS,
        *GATE_KEYS,
        *WAIT_KEYS,
        *FOREACH_KEYS,
        *MERGE_KEYS,
        *FLOW_KEYS,
        *FLOW_NODE_KEYS,
        *CONNECTION_KEYS,
        *TRIGGER_KEYS,
        *("flows", "triggers", "value", "cases", "seconds", "timestamp", "max_nodes"),
        *("workflows", "tasks", "actions", "project", "settings", "m_of_n", "max_iterations", "a", "b", "set", "that"),
    }
)
TEXTS = st.sampled_from(
    (
        *("a", "b", "all", "any", "append", "continue", "input.x", "state.x", "output.x", "state._last_error", "item"),
        *("1 +", "_branch.output", "_branch.output.x", "'x'", "a@3", "", *KINDS),
    )
)
SCALARS = st.none() | st.booleans() | st.integers(-2, 5) | st.floats(allow_nan=True) | TEXTS | st.text(max_size=5)


def nested(inner: SearchStrategy[Json]) -> SearchStrategy[Json]:
    return st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=3), inner, max_size=5)


ANYTHING: SearchStrategy[Json] = st.recursive(SCALARS, nested, max_leaves=30)


def one_of(*values: Json) -> SearchStrategy[Json]:
    return st.sampled_from(values)


NODES = ("a", "b", "c", "d")
SYNCHRONIZATIONS: SearchStrategy[Json] = st.fixed_dictionaries(
    {},
    optional={
        "strategy": one_of("all", "any", {"m_of_n": 2}),
        "sibling_group": one_of("g", "a", "b"),
        "merge": one_of({"target": "state.x"}, {"target": "output.y", "source": "_branch.output.x"}),
        "on_branch_failure": one_of("continue", "fail"),
    },
)
TRANSITIONS: SearchStrategy[Json] = st.fixed_dictionaries(
    {"from": st.sampled_from(NODES), "to": st.sampled_from(NODES)},
    optional={
        "condition": one_of(True, False, "input.x", "has(state._last_error)", "item == 1", "result.x > 2"),
        "priority": one_of(1, 2),
        "foreach": one_of({"collection": "input.items", "item_var": "item"}, {"collection": [1, 2]}),
        "sibling_group": one_of("g", "h"),
        "synchronization": SYNCHRONIZATIONS,
        "loop_config": one_of({"max_iterations": 2}),
    },
)
NODE: SearchStrategy[Json] = st.fixed_dictionaries(
    {},
    optional={
        "action": one_of({"kind": "mock"}, "x"),
        "input_mapping": one_of({"x": "item"}, {"y": "state.x"}, {}),
        "output_mapping": one_of({"state.x": "result.x"}, {"output.x": "1", "state.x": "state.x"}),
        "fan_out": one_of("first_match", "all"),
        "fan_in": one_of("all", {"m_of_n": 3}),
    },
)
GRAPHS: SearchStrategy[object] = st.fixed_dictionaries(
    {
        "initial_node": st.just("a"),
        "nodes": st.fixed_dictionaries(dict.fromkeys(NODES, NODE)),
        "transitions": st.lists(TRANSITIONS, max_size=7),
    },
    optional={
        "state_schema": one_of({"type": "object", "properties": {"x": {"type": "integer"}}}),
        "input_schema": one_of({"type": "object", "properties": {"items": {"type": "array"}}}),
        "output_mapping": one_of({"x": "state.x"}),
    },
)


def is_well_formed(problem: Problem) -> bool:
    return (
        problem.severity in ("error", "warning")
        and bool(problem.code and problem.problem and problem.remedy)
        and PATH.fullmatch(problem.path) is not None
        and problem.line >= 0
        and json.dumps([problem.file, problem.path, problem.problem, problem.remedy]) != ""
    )


@given(st.text())
def test_any_text_as_yaml(text: str) -> None:
    report = Report()
    read_yaml(text, "library.yaml", report)
    assert all(is_well_formed(problem) for problem in report.problems)


@given(st.text(alphabet="{}[]:,-&*!|>?#%@'\"\n\t ab1~<\\."))
def test_any_punctuation_as_yaml(text: str) -> None:
    report = Report()
    read_yaml(text, "library.yaml", report)
    assert all(is_well_formed(problem) for problem in report.problems)


@given(st.text(alphabet='{}[]:,"\\ntrue1e-+.\n '))
def test_any_punctuation_as_json_is_read_as_python_reads_it(text: str) -> None:
    report = Report()
    document = read_json(text, "library.json", report)
    assert all(is_well_formed(problem) for problem in report.problems)
    if not report.problems:
        assert document is not None
        assert document.value == json.loads(text)


@given(ANYTHING)
def test_anything_as_a_library(data: Json) -> None:
    loaded = library_from(data)  # type: ignore[arg-type] # what no type checker would let through comes in all the same
    assert all(is_well_formed(problem) for problem in loaded.problems)


@given(st.dictionaries(st.sampled_from(SECTIONS), ANYTHING, max_size=4))
def test_anything_under_a_known_section(data: dict[str, Json]) -> None:
    assert all(is_well_formed(problem) for problem in library_from(data).problems)


@given(GRAPHS)
@settings(max_examples=300)
def test_any_graph(graph: object) -> None:
    loaded = library_from({"workflows": {"w": graph}})
    assert all(is_well_formed(problem) for problem in loaded.problems)


@given(GRAPHS)
def test_a_graph_is_the_same_from_values_and_from_yaml_and_json(graph: object) -> None:
    data = {"workflows": {"w": graph}}
    report = Report()
    from_yaml = read_yaml(yaml.safe_dump(data), "library.yaml", report)
    from_json = read_json(json.dumps(data), "library.json", report)
    assert from_yaml is not None
    assert from_json is not None
    assert from_yaml.value == from_json.value == data


@given(GRAPHS)
def test_a_definition_written_out_again_is_the_same_version(graph: object) -> None:
    first = library_from({"workflows": {"w": graph}}).library.workflows["w"]
    again = library_from({"workflows": {"w": json.loads(json.dumps(graph, sort_keys=True))}}).library.workflows["w"]
    assert definition_hash(first) == definition_hash(again)


def codes_in(file: Path) -> set[str]:
    """What is written as the second argument of `error` and `warning`."""
    calls = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)]
    said = [node for node in calls if isinstance(node.func, ast.Attribute) and node.func.attr.lstrip("_") in SAYING]
    codes = [node.args[1] for node in said if len(node.args) > 1]
    return {str(code.value) for code in codes if isinstance(code, ast.Constant)}


def test_every_code_has_a_test() -> None:
    """Codes are what people search for and tools match on: none may be there that no row of these tables breaks."""
    source = Path(__file__).parents[2] / "src" / "jeton" / "definitions"
    codes = {code for file in source.rglob("*.py") for code in codes_in(file)}
    assert len(codes) > 40
    tested = "".join(file.read_text() for file in Path(__file__).parent.rglob("test_*.py"))
    assert {code for code in codes if f'"{code}"' not in tested} == set()


def test_fields_are_read_without_surprise() -> None:
    fields = Fields({"n": 5, "on": True}, SourceLocation("", NOWHERE), Report())
    assert (fields.integer("n", 0), fields.flag("on", False), fields.text("missing")) == (5, True, None)
