"""Data made from a schema fits it."""

from random import Random

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeton.executor.actions.sample import sample
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


@st.composite
def text_schemas(draw: st.DrawFn) -> JsonObject:
    schema: JsonObject = {"type": "string"}
    if draw(st.booleans()):
        schema["format"] = draw(st.sampled_from(("date-time", "date", "email", "uri", "uuid", "ipv4")))
    else:
        schema["minLength"] = least = draw(st.integers(0, 12))
        schema["maxLength"] = least + draw(st.integers(0, 12))
    return schema


@st.composite
def wider(draw: st.DrawFn, inner: st.SearchStrategy[JsonObject]) -> JsonObject:
    """A schema around others."""
    match draw(st.sampled_from(("object", "array", "anyOf", "allOf"))):
        case "object":
            properties: JsonObject = {name: draw(inner) for name in draw(st.sets(st.sampled_from("abc")))}
            return {"type": "object", "properties": properties, "required": list(properties)}
        case "array":
            least = draw(st.integers(0, 5))
            return {"type": "array", "items": draw(inner), "minItems": least, "maxItems": least + 2}
        case "anyOf":
            return {"anyOf": [draw(inner) for _ in range(draw(st.integers(1, 3)))]}
        case _:
            return {"allOf": [draw(inner), {"title": "laid over"}]}


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
