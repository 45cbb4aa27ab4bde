"""Functions that CEL does not have: on lists, JSON, base64 and hashes (docs/semantics/expressions.md#functions)."""

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jeton.expression import (
    ExpressionInvalid,
    Failed,
    Json,
    Missing,
    compile_expression,
    type_of,
    type_problems,
)
from jeton.expression.compile.functions import APPLY
from jeton.expression.own import OWN
from jeton.model.json import Schema
from tests.expression.given import evaluate, expression
from tests.expression.grammar import VALUES
from tests.simulation.oracle.expression import tiny_evaluate
from tests.simulation.oracle.model import ExpressionFault, MissingKey

SCOPE: dict[str, Json] = {
    "input": {
        "numbers": [3, 1, 2.5],
        "none": [],
        "text": '{"a": [1, 2.0, null]}',
        "people": [
            {"name": "Bo", "age": 41, "at": "2026-01-02T00:00:00Z"},
            {"name": "Al", "age": 41, "at": "2026-01-01T00:00:00.5Z"},
            {"name": "Cy", "age": 7, "at": "2026-01-01T00:00:00Z"},
        ],
        "large": 2**63 - 1,
    }
}


def test_every_declared_function_can_be_called() -> None:
    assert OWN.keys() == APPLY.keys()


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("input.numbers.sum()", 6.5),
        ("[1, 2].sum()", 3),
        ("input.none.sum()", 0),
        ("[0.5, 0.5].sum()", 1.0),
        ("input.numbers.min()", 1),
        ("['b', 'a'].max()", "b"),
        ("[1.0, 1].max()", 1.0),
        ("input.numbers.sort()", [1, 2.5, 3]),
        ("['b', 'B', 'a'].sort()", ["B", "a", "b"]),
        ("[true, false].sort()", [False, True]),
        ("input.none.sort()", []),
        ("input.people.sort_by(p, p.age).map(p, p.name)", ["Cy", "Bo", "Al"]),
        ("input.people.sort_by(p, -p.age * 1.5).map(p, p.name)", ["Bo", "Al", "Cy"]),
        ("input.people.sort_by(p, timestamp(p.at)).map(p, p.name)", ["Cy", "Al", "Bo"]),
        ("input.people.sort_by(p, size(p.name))[0].name", "Bo"),
        ("[[2, 1], [1]].sort_by(l, l.sort_by(x, x)[0] + size(l))", [[1], [2, 1]]),
        ("[1, 1.0, true, [1], [1.0], {'a': 1}, {'a': 1.0}].distinct()", [1, True, [1], {"a": 1}]),
        ("[1, [2, [3]], []].flatten()", [1, 2, [3]]),
        ("input.numbers.slice(1, 3)", [1, 2.5]),
        ("input.numbers.slice(3, 3)", []),
        ("input.numbers.reverse()", [2.5, 1, 3]),
        ("'abc'.reverse()", "cba"),
        ("input.numbers.first()", 3),
        ("input.numbers.last()", 2.5),
        ("range(3)", [0, 1, 2]),
        ("range(0)", []),
        ("range(-1)", []),
        ("json.parse(input.text)", {"a": [1, 2.0, None]}),
        ("json.parse(input.text).a[1]", 2.0),
        ("json.text({'b': 3.0, 'a': [null, true, 'é']})", '{"a":[null,true,"é"],"b":3.0}'),
        ("json.text('a')", '"a"'),
        ("base64.encode('hé')", "aMOp"),
        ("base64.decode('aMOp')", "hé"),
        ("hash.sha256('hé')", hashlib.sha256("hé".encode()).hexdigest()),
        ("math.abs(-1) * 0.5", 0.5),
        ("input.people.map(p, timestamp(p.at)).max()", "2026-01-02T00:00:00Z"),
        ("json.text([timestamp(0)])", '["1970-01-01T00:00:00Z"]'),
    ],
)
def test_what_they_give(source: str, value: Json) -> None:
    result = evaluate(source, SCOPE)
    assert result == value
    assert repr(result) == repr(value)  # which tells 1 from 1.0 and true


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        *((f"input.none.{name}()", f"no {name} of an empty list") for name in ("first", "last", "min", "max")),
        ("input.numbers.slice(1, 4)", "out of range: the list has 3 items"),
        ("input.numbers.slice(2, 1)", "out of range"),
        ("input.numbers.slice(-1, 1)", "out of range"),
        ("input.numbers.slice(0, dyn(1.0))", "no slice for"),
        ("[dyn(1), 'a'].sort()", "no sort for items that are int and string"),
        ("[dyn(1), true].min()", "no min for items that are int and bool"),
        ("[{}].sort()", "no sort for items that are map"),
        ("[timestamp(0), dyn('a')].sort()", "times beside other values"),
        ("input.people.sort_by(p, p)", "no sort_by for items that are map"),
        ("input.text.sum()", "no sum for string"),
        ("['a'].sum()", "no sum for items that are string"),
        ("[input.large, 1].sum()", "64 bits"),
        ("[1e308, 1e308].sum()", "inf"),
        ("range(dyn(2.0))", "no range for double"),
        ("json.parse('{')", "not JSON"),
        ("json.parse('NaN')", "not JSON"),
        ("json.parse('99999999999999999999')", "64 bits"),
        ("json.parse(input.numbers)", "no json.parse for list"),
        ("base64.decode('?')", "not base64"),
        ("base64.decode('/w==')", "not UTF-8"),
        ("hash.sha256(input.numbers)", "no hash.sha256 for list"),
    ],
)  # fmt: skip
def test_what_is_an_error(source: str, problem: str) -> None:
    found = evaluate(source, SCOPE)
    assert isinstance(found, Failed), found
    assert problem in found.problem


def test_a_missing_list_is_missing() -> None:
    assert evaluate("input.gone.sum()", SCOPE) == Missing("input.gone")
    assert evaluate("input.people.sort_by(p, p.gone)", SCOPE) == Missing("input.people[].gone")


@pytest.mark.parametrize(
    "source",
    [
        "range(1000001)",
        "range(100000).map(i, range(20).sum())",
        "range(1000000).sort()",
        "[" + ", ".join(["range(900000)"] * 3) + "].flatten()",
        "[" + ", ".join(["range(300000).reverse()"] * 3) + "]",
        "json.text(range(1000000))",
        "range(700000).sort_by(i, -i)",
        "json.parse(input.deep)",
    ],
)
def test_what_comes_out_is_bounded(source: str) -> None:
    scope: dict[str, Json] = {"input": {"deep": "[" * 300 + "]" * 300}}
    found = evaluate(source, scope)
    assert isinstance(found, Failed)


@pytest.mark.parametrize(
    ("source", "position", "problem", "remedy"),
    [
        ("input.numbers.srot()", "1:19", "no function 'srot'", "did you mean 'sort'?"),
        ("sum(input.numbers)", "1:4", "no function 'sum'", "write list.sum()"),
        ("input.numbers.slice(1)", "1:20", "no function 'slice'", "write list.slice(number, number)"),
        ("input.numbers.range()", "1:20", "no function 'range'", "write range(number)"),
        ("input.numbers.sortby(x, x.a + x)", "1:21", "no function 'sortby'", "did you mean 'sort_by'?"),
        ("input.numbers.fliter(x, x > 1).map(y, y)", "1:21", "no function 'fliter'", "did you mean 'filter'?"),
        ("input.numbers.sort_by(x.a)", "1:22", "the name of a variable", "write list.sort_by(item, item.key)"),
        ("input.numbers.sort_by(x, sate.z)", "1:30", "no variable 'sate'", "did you mean 'state'?"),
        ("input.numbers.sort_by(x, 1) + foo(1)", "1:34", "no function 'foo'", "CEL"),
        ("input.numbers.sort_by(x, 'a' + 1)", "1:30", "no + for string and int", "string(1)"),
        ("hash.sha265('a')", "1:12", "no function 'hash.sha265'", "did you mean 'hash.sha256'?"),
        ("jsn.parse('1')", "1:10", "no function 'jsn.parse'", "did you mean 'json.parse'?"),
        ("'a'.sum()", "1:8", "what sum takes is list", "list"),
        ("range('a')", "1:6", "what range takes is int", "int"),
        ("json.parse(1)", "1:11", "what json.parse takes is string", "string(1)"),
        ("[timestamp(0)].map(t, [t.getSeconds()].sum())", "1:19", "calls sum in a loop over values", "text"),
        ("[timestamp(0)].sort_by(t, t)", "1:23", "calls sort_by in a loop over values", "text"),
    ],
)
def test_one_problem_when_it_is_loaded(source: str, position: str, problem: str, remedy: str) -> None:
    with pytest.raises(ExpressionInvalid) as refused:
        expression(source)
    (found,) = refused.value.problems
    assert problem in found.problem
    assert remedy in found.remedy
    assert found.position == position


INPUT: Schema = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "n": {"type": "integer"},
        "words": {"type": "array", "items": {"type": "string"}},
        "rows": {
            "type": "array",
            "items": {"type": "object", "properties": {"id": {"type": "integer"}}, "additionalProperties": False},
        },
        "table": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
    },
}


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("input.words.sum()", "the items of input.words are string, and sum takes double or int"),
        ("input.rows.sort()", "the items of input.rows are map"),
        ("input.rows.max()", "the items of input.rows are map"),
        ("input.rows.sort_by(r, r)", "the key of sort_by is"),
        ("input.rows.sort_by(r, r.name)", "rules out a field 'name'"),
        ("input.n.first()", "input.n is int, and what first takes is list"),
        ("input.rows.first().name", "rules out a field 'name'"),
        ("input.rows.sort_by(r, r.id)[0].name", "rules out a field 'name'"),
        ("input.rows.slice(0, input.words)", None),
        ("input.words.slice(0, input.words)", "input.words is list, and what slice takes is int"),
        ("input.words.first() + 1", "no + for string and int"),
        ("json.parse(input.n)", "input.n is int, and what json.parse takes is string"),
        ("input.table.flatten().sum() + 'a'", "no + for int and string"),
        ("range(input.words)", "input.words is list, and what range takes is int"),
        ("input.words.reverse().first() + 1", "no + for string and int"),
    ],
)
def test_types_are_known(source: str, problem: str | None) -> None:
    found = type_problems(compile_expression(source, {"input"}), {"input": INPUT})
    assert len(found) == 1
    assert problem is None or problem in found[0].problem


@pytest.mark.parametrize(
    ("source", "schema"),
    [
        ("input.words.first()", {"type": "string"}),
        ("input.words.sort()", {"type": "array", "items": {"type": "string"}}),
        ("input.table.flatten().max()", {"type": "integer"}),
        ("range(3)", {"type": "array", "items": {"type": "integer"}}),
        ("json.text(input)", {"type": "string"}),
        ("json.parse(input.words[0])", {}),
    ],
)
def test_the_type_of_the_result(source: str, schema: Schema) -> None:
    assert type_of(compile_expression(source, {"input"}), {"input": INPUT}) == schema


CALLS = [
    *(f"input.{name}()" for name in ("sum", "min", "max", "sort", "distinct", "flatten", "reverse", "first", "last")),
    "input.sort_by(x, x)",
    "input.sort_by(x, size(x))",
    "input.distinct().flatten().sort()",
    "input.slice(1, 2)",
    "json.parse(json.text(input)) == input",
    "json.text(input)",
    "range(size(input)).sum()",
    "base64.decode(base64.encode(json.text(input))) == json.text(input)",
]


@pytest.mark.parametrize("source", CALLS)
@settings(max_examples=60)
@given(items=st.lists(VALUES, max_size=4) | st.lists(st.integers(-3, 3) | st.sampled_from([0.5, 1.0]), max_size=5))
def test_they_agree_with_the_oracle(source: str, items: list[Json]) -> None:
    scope: dict[str, Any] = {"input": items}
    ours = compile_expression(source, {"input"}).evaluate(scope)
    try:
        theirs = tiny_evaluate(source, scope)
    except (ExpressionFault, MissingKey):
        assert isinstance(ours, Failed | Missing), ours
    else:
        if source == "json.text(input)":  # doubles may be spelled in more than one way
            ours, theirs = json.loads(str(ours)), json.loads(theirs)
        assert repr(ours) == repr(theirs)
