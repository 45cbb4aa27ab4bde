"""Hypothesis strategies: state schemas, and states that often fit them and often do not."""

from hypothesis import strategies as st

from jeton.model.json import Json, JsonObject, Schema

names = st.text(max_size=4) | st.sampled_from(["a", "A", "a_b", "a.b", "select", "run_id", "value", 'a"b', "a'b"])
integers = st.integers(-(2**64), 2**64)
floats = st.floats(allow_nan=False, allow_infinity=False)
texts = st.text(max_size=6) | st.just("x" * 4_001)
plain = st.none() | st.booleans() | integers | floats | texts
values: st.SearchStrategy[Json] = st.recursive(
    plain, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3), max_leaves=8
)
bounds = st.integers(-5, 5) | st.floats(-5, 5)
scalar_schemas: st.SearchStrategy[Json] = st.one_of(
    st.just({"type": "boolean"}),
    st.just({}),
    st.just(True),
    st.fixed_dictionaries(
        {"type": st.sampled_from(["integer", "number", ["number", "null"]])},
        optional={"minimum": bounds, "maximum": bounds, "exclusiveMinimum": bounds, "exclusiveMaximum": bounds},
    ),
    st.fixed_dictionaries(
        {"type": st.just("string")}, optional={"minLength": st.integers(0, 3), "maxLength": st.integers(0, 6)}
    ),
    st.fixed_dictionaries({"enum": st.lists(plain, max_size=4)}),
    st.fixed_dictionaries({"const": plain}),
    st.fixed_dictionaries({"type": st.just("boolean"), "const": plain}),
)


def _around(inner: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    described: st.SearchStrategy[Json] = st.dictionaries(names, inner, max_size=4).map(
        lambda found: {"properties": found}
    )
    listed: st.SearchStrategy[Json] = inner.map(lambda found: {"type": "array", "items": found})
    optional: st.SearchStrategy[Json] = inner.map(lambda found: {"anyOf": [found, {"type": "null"}]})
    return described | listed | optional


schemas = st.recursive(scalar_schemas, _around, max_leaves=8)
state_schemas: st.SearchStrategy[Schema] = st.fixed_dictionaries(
    {"properties": st.dictionaries(names, schemas, max_size=4)}
)


def properties_of(schema: Schema) -> JsonObject:
    properties = schema["properties"]
    assert isinstance(properties, dict)
    return properties


def documents(schema: Json) -> st.SearchStrategy[Json]:
    """Values that often fit the schema, and often do not."""
    match schema:
        case {"properties": dict() as properties}:
            known = {name: documents(inner) for name, inner in properties.items()}
            return objects(known) | values
        case {"items": items}:
            return st.lists(documents(items), max_size=3) | values
        case {"anyOf": [inner, _]}:
            return st.none() | documents(inner)
        case {"enum": list() as choices} if choices:
            return st.sampled_from(choices) | values
        case {"const": constant}:
            return st.just(constant) | values
        case {"type": "string"}:
            return st.text(max_size=6) | values
        case {"type": "integer" | "number" | ["number", "null"]}:
            return bounds | values
        case _:
            return values


def objects(known: dict[str, st.SearchStrategy[Json]]) -> st.SearchStrategy[JsonObject]:
    """Some of the known properties, and sometimes others."""
    return st.builds(_laid_over, st.fixed_dictionaries({}, optional=known), st.dictionaries(names, values, max_size=2))


def _laid_over(known: JsonObject, others: JsonObject) -> JsonObject:
    return {**others, **known}


@st.composite
def contexts(draw: st.DrawFn, count: int = 1) -> tuple[Schema, list[JsonObject]]:
    """A state schema, and states that often fit it."""
    schema: Schema = draw(state_schemas)
    known = {name: documents(inner) for name, inner in properties_of(schema).items()}
    return schema, draw(st.lists(objects(known), min_size=count, max_size=count))
