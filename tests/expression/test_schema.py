"""Where a value does not fit its schema, as every layer reports it."""

import pytest

from jeton.expression.schema import SchemaInvalid, SchemaValidator, compile_schema, dotted_path
from jeton.model.json import Json, Schema

ORDER: Schema = {
    "type": "object",
    "properties": {"lines": {"type": "array", "items": {"type": "integer"}}, "by": {"type": "string"}},
    "required": ["lines"],
}


@pytest.mark.parametrize(
    ("value", "then"),
    [
        pytest.param({"lines": [1, 2]}, None, id="a value that fits has no problem"),
        pytest.param({"lines": [1, "x"]}, 'input.lines[1]: "x" is not of type "integer"', id="positions in brackets"),
        pytest.param({"lines": [], "by": 3}, 'input.by: 3 is not of type "string"', id="keys after a dot"),
        pytest.param({}, 'input: "lines" is a required property', id="the value itself by its name alone"),
    ],
)
def test_the_first_problem_of_a_value(value: Json, then: str | None) -> None:
    assert SchemaValidator(ORDER).problem(value, "input") == then


def test_every_misfit_with_its_path_and_the_part_that_does_not_fit() -> None:
    found = list(SchemaValidator(ORDER).misfits({"lines": [1, "x", None], "by": 3}))
    assert sorted((misfit.path, misfit.value) for misfit in found if misfit.path[0] == "lines") == [
        (("lines", 1), "x"),
        (("lines", 2), None),
    ]
    assert [misfit.value for misfit in found if misfit.path == ("by",)] == [3]


@pytest.mark.parametrize("schema", [None, {}], ids=["no schema", "an empty schema"])
def test_what_everything_fits_needs_no_validator(schema: Schema | None) -> None:
    assert compile_schema(schema) is None


def test_false_as_a_schema_fits_nothing() -> None:
    assert SchemaValidator(False).problem(1, "state.x") is not None
    assert SchemaValidator(True).problem(1, "state.x") is None


def test_formats_are_not_checked() -> None:
    assert SchemaValidator({"type": "string", "format": "date"}).problem("tomorrow", "input") is None


@pytest.mark.parametrize(
    ("schema", "path", "problem"),
    [
        pytest.param({"type": "strin"}, ("type",), "strin", id="an unknown type"),
        pytest.param({"pattern": "("}, (), "(", id="a pattern that does not compile"),
        pytest.param({"$ref": "https://example.org/order"}, (), "outside the definition", id="a reference outside"),
        pytest.param({"$ref": "#/$defs/order"}, (), "$defs", id="a reference to nothing"),
    ],
)
def test_a_schema_that_cannot_be_compiled(schema: Schema, path: tuple[str | int, ...], problem: str) -> None:
    with pytest.raises(SchemaInvalid) as invalid:
        SchemaValidator(schema)
    assert invalid.value.path[: len(path)] == path
    assert problem in invalid.value.problem


def test_a_path_in_dots_and_brackets() -> None:
    assert dotted_path("output", ["a", 1, 2, "b"]) == "output.a[1][2].b"
