"""The built-in nodes of a flow."""

import pytest

from jeton.model.definition.flow import FlowNode
from jeton.model.failure import TaskFailed
from jeton.model.json import JsonObject
from jeton.model.state.overlay import Overlay
from jeton.planning.flow.builtins import compile_builtin
from jeton.planning.flow.control_keys import SplitResult

ENDLESS = "{% for i in range(9999) %}{% for j in range(9999) %}x{% endfor %}{% endfor %}"
CONTEXT = Overlay({"name": "Ada", "tags": ["x"]})


def result(type: str, inputs: JsonObject, data: JsonObject | None = None) -> JsonObject | TaskFailed:
    found = compile_builtin(FlowNode(type, data=data or {}))(inputs, CONTEXT, {})
    return {**found.outputs, **found.keys} if isinstance(found, SplitResult) else found


@pytest.mark.parametrize(
    ("type", "inputs", "data", "then"),
    [
        pytest.param("constant", {}, {"value": [1]}, {"value": [1]}, id="a constant"),
        pytest.param("constant", {"value": 2}, {"value": 1}, {"value": 2}, id="a constant that a run was given"),
        pytest.param("sum", {"values": [10, 20]}, {}, {"result": 30}, id="a sum"),
        pytest.param("sum", {"values": []}, {}, {"result": 0}, id="a sum of nothing"),
        pytest.param("add", {"a": 5, "b": 3}, {}, {"result": 8}, id="add"),
        pytest.param("subtract", {"a": 5, "b": 3.5}, {}, {"result": 1.5}, id="subtract"),
        pytest.param(
            "multiply", {"a": 30, "b": 0.9}, {}, {"result": 27.0}, id="multiply mixes whole and broken numbers"
        ),
        pytest.param("divide", {"a": 10, "b": 4}, {}, {"result": 2.5}, id="divide"),
        pytest.param("divide", {"a": 10, "b": 5}, {}, {"result": 2}, id="what divides evenly stays whole"),
        pytest.param(
            "set",
            {"main": 2},
            {"x": "inputs.main + 1", "y": "context.name", "z": 7},
            {"x": 3, "y": "Ada", "z": 7},
            id="set evaluates each key",
        ),
        pytest.param("set", {}, {"x": "context.gone"}, {"x": None}, id="a path that is missing maps to null"),
        pytest.param("set", {}, {"x": "context"}, {"x": {"name": "Ada", "tags": ["x"]}}, id="a whole context"),
        pytest.param(
            "if_else",
            {"main": 30},
            {"condition": "inputs.main > 25"},
            {"true": 30, "_branch": "true"},
            id="if_else gives what came in to the handle it chose",
        ),
        pytest.param(
            "if_else",
            {"main": 3},
            {"condition": "inputs.main > 25"},
            {"false": 3, "_branch": "false"},
            id="or to the other",
        ),
        pytest.param(
            "if_else",
            {},
            {"condition": "inputs.main > 25"},
            {"false": None, "_branch": "false"},
            id="a condition on what is missing is false",
        ),
        pytest.param(
            "if_else", {}, {"condition": True}, {"true": None, "_branch": "true"}, id="a condition may be fixed"
        ),
        pytest.param(
            "switch",
            {"main": 1},
            {"value": "context.name", "cases": ["Ada"]},
            {"Ada": 1, "_branch": "Ada"},
            id="switch takes the handle of that name",
        ),
        pytest.param(
            "switch",
            {"main": 3},
            {"value": "inputs.main", "cases": ["3"]},
            {"3": 3, "_branch": "3"},
            id="a number by its text",
        ),
        pytest.param(
            "switch",
            {"main": 4},
            {"value": "inputs.main", "cases": ["3"]},
            {"default": 4, "_branch": "default"},
            id="and else the default",
        ),
        pytest.param(
            "switch",
            {},
            {"value": "inputs.main", "cases": ["3"]},
            {"default": None, "_branch": "default"},
            id="also for what is missing",
        ),
        pytest.param(
            "switch",
            {"main": True},
            {"value": "inputs.main", "cases": ["true", "false"]},
            {"true": True, "_branch": "true"},
            id="true by its text",
        ),
        pytest.param(
            "switch",
            {"main": False},
            {"value": "inputs.main", "cases": ["true", "false"]},
            {"false": False, "_branch": "false"},
            id="and false",
        ),
        pytest.param(
            "switch",
            {"main": [1]},
            {"value": "inputs.main", "cases": ["3"]},
            {"default": [1], "_branch": "default"},
            id="what has no text takes the default",
        ),
        pytest.param("add", {"a": 2**63 - 2, "b": 1}, {}, {"result": 2**63 - 1}, id="the largest whole number"),
        pytest.param("subtract", {"a": -(2**63) + 1, "b": 1}, {}, {"result": -(2**63)}, id="the smallest"),
        pytest.param("merge", {"main": 1, "b": 2}, {}, {"main": 1, "b": 2}, id="merge passes on whatever arrived"),
        pytest.param(
            "template",
            {"n": 2},
            {"template": "{{ context.name }} has {{ inputs.n }}"},
            {"text": "Ada has 2"},
            id="template",
        ),
        pytest.param(
            "wait",
            {"main": 1},
            {"seconds": 2, "label": "nap"},
            {"main": 1, "_wait": {"seconds": 2, "label": "nap"}},
            id="wait",
        ),
        pytest.param(
            "wait",
            {"seconds": 3},
            {"seconds": 2},
            {"seconds": 3, "_wait": {"seconds": 3}},
            id="wait as long as it was told",
        ),
        pytest.param(
            "wait",
            {"main": 1},
            {"seconds": "inputs.main * 60"},
            {"main": 1, "_wait": {"seconds": 60}},
            id="wait as long as an expression says",
        ),
        pytest.param(
            "wait_until",
            {},
            {"timestamp": "2027-02-01T00:00:00Z"},
            {"_wait_until": {"timestamp": "2027-02-01T00:00:00Z"}},
            id="wait until a time",
        ),
        pytest.param(
            "wait_until",
            {"main": "2027-02-01T00:00:00Z"},
            {"timestamp": "inputs.main"},
            {"main": "2027-02-01T00:00:00Z", "_wait_until": {"timestamp": "2027-02-01T00:00:00Z"}},
            id="wait until a time that came in",
        ),
    ],
)
def test_a_built_in(type: str, inputs: JsonObject, data: JsonObject, then: JsonObject) -> None:
    assert result(type, inputs, data) == then


@pytest.mark.parametrize(
    ("type", "inputs", "data", "says"),
    [
        pytest.param("add", {"a": 1}, {}, "add: missing input 'b'", id="a missing input"),
        pytest.param("add", {"a": None, "b": 1}, {}, "add: missing input 'a'", id="null is missing"),
        pytest.param("add", {"a": "1", "b": 1}, {}, "'a' must be a number, and is a text", id="a text"),
        pytest.param("add", {"a": True, "b": 1}, {}, "'a' must be a number, and is a boolean", id="a boolean"),
        pytest.param("add", {"a": 1, "b": "1"}, {}, "'b' must be a number, and is a text", id="a text for the other"),
        pytest.param(
            "add", {"a": 2**63 - 1, "b": 1}, {}, "does not fit 64 bits", id="one more than the largest number"
        ),
        pytest.param("subtract", {"a": -(2**63), "b": 1}, {}, "does not fit 64 bits", id="one less than the smallest"),
        pytest.param(
            "switch", {"main": "x"}, {"value": "inputs.main + 1", "cases": []}, "data.value at", id="a value that fails"
        ),
        pytest.param(
            "template", {"template": 3}, {}, "'template' must be a text, and is a number", id="a template of 3"
        ),
        pytest.param("divide", {"a": 1, "b": 0}, {}, "division by zero", id="division by zero"),
        pytest.param("divide", {"a": 1, "b": -0.0}, {}, "division by zero", id="division by minus zero"),
        pytest.param("multiply", {"a": 2**62, "b": 4}, {}, "does not fit 64 bits", id="too large for an integer"),
        pytest.param("multiply", {"a": 1e308, "b": 10}, {}, "too large", id="too large for any number"),
        pytest.param("sum", {}, {}, "missing input 'values'", id="a sum of what is missing"),
        pytest.param("sum", {"values": 3}, {}, "'values' must be a list", id="a sum of no list"),
        pytest.param("sum", {"values": [1, "2"]}, {}, "'values[1]' must be a number", id="a sum with a text in it"),
        pytest.param("constant", {}, {}, "constant needs 'value'", id="a constant of nothing"),
        pytest.param("set", {"main": "x"}, {"y": "inputs.main + 1"}, "data.y at", id="an expression that fails"),
        pytest.param(
            "if_else", {"main": 3}, {"condition": "inputs.main"}, "data.condition", id="a condition that is 3"
        ),
        pytest.param("template", {}, {"template": "{{ inputs.gone }}"}, "data.template", id="an undefined name"),
        pytest.param("template", {}, {"template": ENDLESS}, "data.template", id="a template that does not end"),
    ],
)
def test_a_built_in_says_what_it_cannot_do(type: str, inputs: JsonObject, data: JsonObject, says: str) -> None:
    failed = result(type, inputs, data)
    assert isinstance(failed, TaskFailed)
    assert says in failed.message
    kind = "template_error" if "data.template" in says else "expression_error" if "data." in says else "bad_input"
    assert failed.type == kind


@pytest.mark.parametrize(
    ("inputs", "data", "then"),
    [
        pytest.param({}, {"type": "dear"}, TaskFailed("dear", "it was told to fail"), id="with a type"),
        pytest.param(
            {"main": 3},
            {"type": "dear", "message": "{{ inputs.main }} for {{ context.name }}, {{ data.type }}"},
            TaskFailed("dear", "3 for Ada, dear"),
            id="the message is a template",
        ),
        pytest.param(
            {"type": "late", "message": "{{ x }}"},
            {"type": "dear", "message": "no"},
            TaskFailed("late", "{{ x }}"),
            id="what comes in at a handle goes before the data, and is no template",
        ),
        pytest.param(
            {},
            {},
            TaskFailed("bad_input", "fail: 'type' must be a name, and is null"),
            id="without a type it fails too",
        ),
        pytest.param(
            {"message": 3},
            {"type": "dear"},
            TaskFailed("bad_input", "fail: 'message' must be a text, and is a number"),
            id="a message is a text",
        ),
    ],
)
def test_fail_always_fails(inputs: JsonObject, data: JsonObject, then: TaskFailed) -> None:
    assert result("fail", inputs, data) == then


def test_a_message_that_cannot_be_rendered_is_the_failure() -> None:
    found = result("fail", {}, {"type": "dear", "message": "{{ inputs.gone }}"})
    assert isinstance(found, TaskFailed)
    assert found.type == "template_error"
