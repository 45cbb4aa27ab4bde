"""Data made from a schema fits it."""

from random import Random

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeton.executor.sample import sample
from jeton.model.json import Json, JsonObject


@st.composite
def number_schemas(draw: st.DrawFn) -> JsonObject:
    low = draw(st.integers(-50, 50))
    schema: JsonObject = {"type": draw(st.sampled_from(("integer", "number")))}
    if draw(st.booleans()):
        schema[draw(st.sampled_from(("minimum", "exclusiveMinimum")))] = low
    if draw(st.booleans()):
        schema[draw(st.sampled_from(("maximum", "exclusiveMaximum")))] = low + draw(st.integers(7, 60))
    if draw(st.booleans()):
        schema["multipleOf"] = draw(st.integers(1, 3))
    return schema


def text_schemas() -> st.SearchStrategy[JsonObject]:
    lengths = st.tuples(st.integers(0, 12), st.integers(0, 12)).map(
        lambda both: {"type": "string", "minLength": both[0], "maxLength": both[0] + both[1]}
    )
    formats = st.sampled_from(("date-time", "date", "email", "uri", "uuid", "ipv4")).map(
        lambda name: {"type": "string", "format": name}
    )
    return st.one_of(lengths, formats, st.just({"type": "string"}))


def wider(inner: st.SearchStrategy[JsonObject]) -> st.SearchStrategy[JsonObject]:
    objects = st.dictionaries(st.sampled_from(("a", "b", "c")), inner).map(
        lambda properties: {"type": "object", "properties": properties, "required": list(properties)}
    )
    lists = st.tuples(inner, st.integers(0, 5)).map(
        lambda both: {"type": "array", "items": both[0], "minItems": both[1], "maxItems": both[1] + 2}
    )
    choices = st.lists(inner, min_size=1, max_size=3).map(lambda several: {"anyOf": several})
    both = st.tuples(objects, objects).filter(
        lambda two: not set(two[0]["properties"]) & set(two[1]["properties"])  # pyright: ignore
    )
    return st.one_of(objects, lists, choices, both.map(lambda two: {"allOf": list(two)}))


LEAVES: st.SearchStrategy[JsonObject] = st.one_of(
    number_schemas(),
    text_schemas(),
    st.sampled_from(
        (
            {"type": "boolean"},
            {"type": "null"},
            {"const": {"x": 1}},
            {"enum": [1, "a", None]},
            {"type": ["string", "null"]},
            {},
        )
    ),
)


@given(st.recursive(LEAVES, wider, max_leaves=12), st.integers())
def test_what_is_made_fits(schema: JsonObject, seed: int) -> None:
    made = sample(schema, Random(seed))
    assert jsonschema_rs.is_valid(schema, made), made
    assert made == sample(schema, Random(seed))


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param(
            {
                "$ref": "#/$defs/tree",
                "$defs": {
                    "tree": {
                        "type": "object",
                        "properties": {"below": {"type": "array", "items": {"$ref": "#/$defs/tree"}}},
                    }
                },
            },
            id="a schema that contains itself comes to an end",
        ),
        pytest.param(
            {"type": "array", "items": {"type": "integer"}, "uniqueItems": True, "minItems": 5}, id="all different"
        ),
        pytest.param({"type": "array", "prefixItems": [{"const": 1}], "items": False}, id="a list of fixed length"),
        pytest.param({"type": "object", "required": ["x"]}, id="a key that is required and not described"),
        pytest.param(
            {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/n"}], "$defs": {"n": {"type": "integer"}}},
            id="a choice of parts",
        ),
    ],
)
def test_corners(schema: JsonObject) -> None:
    made: Json = sample(schema, Random(3))
    assert jsonschema_rs.is_valid(schema, made), made
