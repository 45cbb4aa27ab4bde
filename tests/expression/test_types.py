"""What the schemas of the variables rule out, and what they promise of a result."""

import pytest

from jeton.expression import ExpressionProblem, Json, compile_expression, literal, type_of, type_problems
from jeton.model.json import Schema
from tests.expression.given import expression

LINE: Schema = {
    "type": "object",
    "properties": {"id": {"type": "integer"}, "weight": {"type": "number"}},
    "additionalProperties": False,
}
STATE: Schema = {
    "type": "object",
    "properties": {
        "total": {"type": "integer"},
        "price": {"type": "number"},
        "name": {"type": "string"},
        "ok": {"type": "boolean"},
        "maybe": {"type": ["string", "null"]},
        "level": {"enum": ["low", "high"]},
        "lines": {"type": "array", "items": {"$ref": "#/$defs/line"}},
        "pair": {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}]},
        "tree": {"$ref": "#/$defs/tree"},
        "either": {"anyOf": [{"$ref": "#/$defs/line"}, {"type": "integer"}]},
        "open": {"type": "object", "properties": {"known": {"type": "string"}}},
        "counts": {"type": "object", "additionalProperties": {"type": "integer"}},
        "any": {},
    },
    "additionalProperties": False,
    "$defs": {
        "line": LINE,
        "tree": {"type": "object", "properties": {"value": {"type": "integer"}, "left": {"$ref": "#/$defs/tree"}}},
    },
}
TYPES: dict[str, Schema] = {"state": STATE, "input": {"type": "object"}}


def problems(source: str) -> tuple[ExpressionProblem, ...]:
    return type_problems(expression(source), TYPES)


@pytest.mark.parametrize(
    ("source", "position", "problem", "remedy"),
    [
        pytest.param("state.total % dyn(0.9)", "1:13", "there is no % for int and double",
                     "use integers, as with int(…)", id="the remainder of a double"),
        pytest.param("state.lines.map(i, i.id % dyn(0.5))", "1:25", "there is no % for int and double",
                     "use integers, as with int(…)", id="inside a loop"),
        pytest.param("'no. ' + state.total", "1:8", "there is no + for string and int",
                     'write "no. " + string(state.total)', id="text plus an int"),
        pytest.param("state.name > 3", "1:12", "there is no > for string and int", "bring both sides of > to one type",
                     id="text compared with a number"),
        pytest.param("state.totl", "1:6", "the schema of state rules out a field 'totl'", "did you mean 'total'?",
                     id="a field the schema rules out"),
        pytest.param("has(state.totl)", "1:4", "the schema of state rules out a field 'totl'", "did you mean 'total'?",
                     id="even if it is only asked for"),
        pytest.param("state['totl']", "1:6", "the schema of state rules out a field 'totl'", "did you mean 'total'?",
                     id="or read with an index"),
        pytest.param("state.?totl.orValue(1)", "1:6", "the schema of state rules out a field 'totl'",
                     "did you mean 'total'?", id="or as an optional"),
        pytest.param("state.lines[0].idd", "1:15", "the schema of state.lines[0] rules out a field 'idd'",
                     "did you mean 'id'?", id="a field of an item"),
        pytest.param("state.lines.exists(i, i.idd > 1)", "1:24", "the schema of i rules out a field 'idd'",
                     "did you mean 'id'?", id="a field of the items of a loop"),
        pytest.param("cel.bind(l, state.lines[0], l.idd)", "1:30", "the schema of l rules out a field 'idd'",
                     "did you mean 'id'?", id="a field of what a name stands for"),
        pytest.param("state.either.idd", "1:13", "the schema of state.either rules out a field 'idd'",
                     "did you mean 'id'?", id="a field of none of the alternatives"),
        pytest.param("state.name.first", "1:11", "state.name is string, which has no field 'first'",
                     "read state.name itself", id="a field of a text"),
        pytest.param("state.tree.left.value.x", "1:22", "state.tree.left.value is int, which has no field 'x'",
                     "read state.tree.left.value itself", id="through references"),
        pytest.param("state._last_error.foo", "1:18", "the schema of state._last_error rules out a field 'foo'",
                     "read one of its fields: node, step, type, message, attempts, calls",
                     id="a field of the last error"),
        pytest.param("!state.total", "1:1", "state.total is int, and what ! takes is bool",
                     "compare it with something, as in state.total == …", id="not of a number"),
        pytest.param("state.ok && state.name", "1:10", "state.name is string, and what && takes is bool",
                     "compare it with something, as in state.name == …", id="and of a text"),
        pytest.param("state.name ? 1 : 2", "1:6", "state.name is string, and the condition before ? is bool",
                     "compare it with something, as in state.name == …", id="a text as a condition"),
        pytest.param("state.lines.filter(i, i.id)", "1:24", "i.id is int, and the condition of the loop is bool",
                     "compare it with something, as in i.id == …", id="a number as the condition of a filter"),
        pytest.param("state.total.map(i, i)", "1:6", "state.total is int, and what a loop goes through is list or map",
                     "use list or map here", id="a loop over a number"),
        pytest.param("size(state.total)", "1:5", "state.total is int, and what size takes is list or map or string",
                     "use list or map or string here", id="the size of a number"),
        pytest.param("state.total.matches('1')", "1:20", "state.total is int, and what matches takes is string",
                     "write string(state.total)", id="a pattern for a number"),
        pytest.param("state.total[0]", "1:12", "state.total is int, which has no items to index",
                     "read state.total itself", id="an index into a number"),
        pytest.param("state.lines[state.name]", "1:12", "a list is indexed with string", "use an int, counted from 0",
                     id="a list indexed with text"),
        pytest.param("state.counts[state.total]", "1:13", "a map is indexed with int", "write string(state.total)",
                     id="a map indexed with a number"),
        pytest.param("-state.name", "1:1", "state.name is string, and what - takes is double or int",
                     "use double or int here", id="a negative text"),
    ],
)  # fmt: skip
def test_problems(source: str, position: str, problem: str, remedy: str) -> None:
    assert problems(source) == (ExpressionProblem(problem, remedy, position),)


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("state.total * 2", id="int times int"),
        pytest.param("double(state.total) * 0.9", id="what the remedy says"),
        pytest.param("state.price * 0.9 + state.price * 2.0", id="a number may be a double"),
        pytest.param("state.price * 2", id="a number may be an int"),
        pytest.param("state.total > 0.5", id="int and double compare"),
        pytest.param("state.name == 3", id="anything may be compared for equality"),
        pytest.param("state.maybe + 'x'", id="what may be null may be text"),
        pytest.param("state.maybe == null ? 0 : size(state.maybe)", id="and its size may be taken"),
        pytest.param("state.level + '!'", id="an enumeration of texts is text"),
        pytest.param("state.any.what.ever * 0.9", id="a schema that says nothing"),
        pytest.param("input.what * 0.9", id="an object without declared fields"),
        pytest.param("state.open.other", id="a field that is not declared, where others are allowed"),
        pytest.param("state.counts.whatever + 1", id="a field with a schema for all others"),
        pytest.param("result.what + 'x'", id="a variable without a schema"),
        pytest.param("state.either.id", id="a field of one of the alternatives"),
        pytest.param("state.pair[1] + 'x'", id="an item at a place of its own"),
        pytest.param("state._last_error.message + 'x'", id="the last error is exempt"),
        pytest.param("state.lines[0].weight * 0.5", id="a number in an item"),
        pytest.param("state.counts.exists(k, k.startsWith('x'))", id="a loop over keys"),
        pytest.param("timestamp(state.name) - duration('1h') > timestamp(state.maybe)", id="times"),
        pytest.param("[1].map(state, state * 2)", id="a loop's variable hides one of the same name"),
    ],
)
def test_what_may_work_is_no_problem(source: str) -> None:
    assert problems(source) == ()


def test_every_problem_is_reported() -> None:
    assert [each.position for each in problems("state.totl + state.nme + string(state.total % dyn(0.5))")] == [
        "1:6",
        "1:19",
        "1:45",
    ]


INTEGER: Schema = {"type": "integer"}
TEXT: Schema = {"type": "string"}


@pytest.mark.parametrize(
    ("source", "schema"),
    [
        pytest.param("state.total", INTEGER, id="a field"),
        pytest.param("state.maybe", {"type": ["string", "null"]}, id="as its schema says"),
        pytest.param("state.any", {}, id="nothing is known"),
        pytest.param("result.x", {}, id="of a variable without schema nothing is known"),
        pytest.param("state.lines", {"type": "array", "items": LINE}, id="references are written out"),
        pytest.param("state.total + 1", INTEGER, id="a sum"),
        pytest.param("state.total * 0.5", {"type": "number"}, id="an int times a double"),
        pytest.param("0.5 + state.total", {"type": "number"}, id="a double plus an int"),
        pytest.param("state.total > 1 || state.ok", {"type": "boolean"}, id="a condition"),
        pytest.param("double(state.total)", {"type": "number"}, id="a double"),
        pytest.param("state.ok ? state.total : state.name", {"anyOf": [INTEGER, TEXT]}, id="one of two"),
        pytest.param("state.ok ? state.name : 'x' + state.name", TEXT, id="two of the same"),
        pytest.param("{'a': state.total, 'b': [state.name]}",
                     {"type": "object", "properties": {"a": INTEGER, "b": {"type": "array", "items": TEXT}},
                      "required": ["a", "b"], "additionalProperties": False}, id="a map"),
        pytest.param("{state.name: 1}", {"type": "object"}, id="a map with computed keys"),
        pytest.param("state.lines.map(i, i.id)", {"type": "array", "items": INTEGER}, id="a list made by a loop"),
        pytest.param("state.lines.filter(i, i.id > 1)", {"type": "array", "items": LINE}, id="part of a list"),
        pytest.param("cel.bind(t, state.total, t)", INTEGER, id="what a name stands for"),
        pytest.param("state.?name.orValue(state.name)", TEXT, id="an optional"),
        pytest.param("'text'", {"type": "string", "const": "text"}, id="a literal"),
        pytest.param("[1, 2]", {"type": "array", "const": [1, 2]}, id="a literal list"),
        pytest.param("state.tree.left",
                     {"type": "object", "properties": {"value": INTEGER, "left": {"type": "object", "properties": {
                         "value": INTEGER, "left": {}}}}}, id="a circle of references ends in not knowing"),
    ],
)  # fmt: skip
def test_the_type_of_a_result(source: str, schema: Schema) -> None:
    assert type_of(expression(source), TYPES) == schema


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        pytest.param(5, {"type": "integer", "const": 5}, id="a number"),
        pytest.param({"a": [1]}, {"type": "object", "const": {"a": [1]}}, id="an object"),
        pytest.param(None, {"type": "null", "const": None}, id="null"),
    ],
)
def test_the_type_of_a_literal(value: Json, schema: Schema) -> None:
    assert type_of(literal(value), {}) == schema
    assert type_problems(literal(value), {}) == ()


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param({"$ref": "https://example.org/schema"}, id="a reference to elsewhere"),
        pytest.param({"$ref": "#/$defs/none"}, id="a reference to nothing"),
        pytest.param({"$ref": "#"}, id="a reference to itself"),
        pytest.param({"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}, id="alternatives that are the whole"),
        pytest.param({"enum": []}, id="nothing fits"),
        pytest.param({"type": "strange"}, id="a type that is none"),
        pytest.param({"properties": True, "items": 3, "anyOf": {}}, id="nonsense"),
    ],
)
def test_a_schema_we_cannot_read_rules_nothing_out(schema: Schema) -> None:
    assert type_problems(expression("state.a.b * 0.5 > state.c[0] || size(state.d) == state"), {"state": schema}) == ()


@pytest.mark.parametrize(
    "decimal",
    [
        pytest.param({"type": "string", "format": "decimal"}, id="msgspec's"),
        pytest.param({"anyOf": [{"type": "number"}, {"type": "string", "pattern": "^[0-9.]+$"}]}, id="pydantic's"),
    ],
)
def test_a_decimal_beside_a_number_must_be_converted(decimal: Schema) -> None:
    types: dict[str, Schema] = {"state": {"type": "object", "properties": {"total": decimal}}}
    for source in ("state.total > 100", "1.5 * state.total"):
        (problem,) = type_problems(compile_expression(source, ["state"]), types)
        assert problem.remedy == "write double(state.total)"
    for source in ("double(state.total) > 100", "state.total == '12.50'", "state.total + '!'"):
        assert type_problems(compile_expression(source, ["state"]), types) == ()
