"""Where a value does not fit its schema."""

import pytest

from jeton.expression.schema import compile_schema
from jeton.model.json import Json, JsonObject
from jeton.planning.schema_problem import schema_problem

SCHEMA: JsonObject = {
    "type": "object",
    "required": ["n"],
    "properties": {"n": {"type": "integer"}, "list": {"items": {"type": "integer"}}},
}


@pytest.mark.parametrize(
    ("value", "then"),
    [
        pytest.param({"n": 1}, None, id="what fits is no problem"),
        pytest.param([1], 'input: [1] is not of type "object"', id="the root is named as it is asked for"),
        pytest.param({"n": "x"}, 'input.n: "x" is not of type "integer"', id="a key by its path"),
        pytest.param(
            {"n": 1, "list": [1, "x"]}, 'input.list[1]: "x" is not of type "integer"', id="an item by its place"
        ),
        pytest.param({}, 'input: "n" is a required property', id="what is missing where it is missed"),
    ],
)
def test_what_does_not_fit(value: Json, then: str | None) -> None:
    assert schema_problem(compile_schema(SCHEMA), value, "input") == then


def test_of_several_problems_one_is_said() -> None:
    said = schema_problem(compile_schema(SCHEMA), {"n": "x", "list": ["x"]}, "input")
    assert said in ('input.n: "x" is not of type "integer"', 'input.list[0]: "x" is not of type "integer"')


def test_without_a_schema_everything_fits() -> None:
    assert schema_problem(None, {"n": "x"}, "input") is None
