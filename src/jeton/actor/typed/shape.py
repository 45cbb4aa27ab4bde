"""The part of a JSON Schema that tables can use: types, properties, items, and limits that SQL can check.

A value that does not fit its column is stored in the rest table, so a wrong guess does no harm. Unions and values
without a type become JSON.
"""

from typing import Literal, TypeAlias

import msgspec

from jeton.model.json import Json, JsonObject, Schema

SMALLEST_INTEGER, LARGEST_INTEGER = -(2**63), 2**63 - 1
MOST_PLACES = 5_000
MOST_CHOICES = 100  # a longer enum is not checked again, because the run has checked it

Kind: TypeAlias = Literal["text", "integer", "number", "boolean", "json"]
Choice: TypeAlias = str | int | float
_KINDS: dict[str, Kind] = {"string": "text", "integer": "integer", "number": "number", "boolean": "boolean"}


class ColumnLimits(msgspec.Struct, frozen=True, omit_defaults=True):
    """The limits that a column checks. Booleans among the choices are 0 and 1."""

    choices: tuple[Choice, ...] | None = None
    minimum: int | float | None = None
    maximum: int | float | None = None
    above: int | float | None = None
    below: int | float | None = None
    min_length: int | None = None
    max_length: int | None = None


NO_LIMITS = ColumnLimits()


class Scalar(msgspec.Struct, frozen=True):
    """One column."""

    kind: Kind
    limits: ColumnLimits = NO_LIMITS


class Properties(msgspec.Struct, frozen=True):
    """An object whose properties are known by name."""

    shapes: "dict[str, Shape]"


class Items(msgspec.Struct, frozen=True):
    """A list whose items are all of one shape."""

    shape: "Shape"


Shape: TypeAlias = Scalar | Properties | Items
ANYTHING = Scalar("json")


def shape_of_state(schema: Schema) -> Properties:
    """The shape of the state. A schema without properties gives one without columns."""
    found = _SchemaReader(schema).shape(schema)
    return found if isinstance(found, Properties) else Properties({})


class _SchemaReader:
    """Reads one schema, up to a limit, because a few nested references can stand for millions of places."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._left = MOST_PLACES
        self._inside: list[str] = []

    def shape(self, schema: Json) -> Shape | None:
        """The shape of a schema; None if it refers to itself or is too large, and the value goes to the rest table."""
        self._left -= 1
        if self._left < 0:
            return None
        if not isinstance(schema, dict):
            return ANYTHING
        if isinstance(reference := schema.get("$ref"), str):
            return self._resolved(reference)
        for word in ("anyOf", "oneOf", "allOf"):
            only = _only_choice(schema, word)
            if only is not None:
                return self.shape(only)
        match _type(schema):
            case "object":
                return self._properties(schema)
            case "array":
                return self._items(schema)
            case "string" | "integer" | "number" | "boolean" as plain:
                kind = _KINDS[plain]
                return Scalar(kind, _limits(schema, kind))
            case _:
                return ANYTHING

    def _resolved(self, reference: str) -> Shape | None:
        if reference in self._inside:
            return None
        found: Json = self._root
        for key in reference.removeprefix("#").split("/")[1:]:
            name = key.replace("~1", "/").replace("~0", "~")
            found = found.get(name) if isinstance(found, dict) else None
        self._inside.append(reference)
        shape = self.shape(found)
        self._inside.pop()
        return shape

    def _properties(self, schema: JsonObject) -> Shape:
        declared = schema.get("properties")
        if not isinstance(declared, dict) or not declared:
            return ANYTHING
        shapes = {name: self.shape(inner) for name, inner in declared.items()}
        return Properties({name: shape for name, shape in shapes.items() if shape is not None})

    def _items(self, schema: JsonObject) -> Shape | None:
        if "prefixItems" in schema:
            return ANYTHING
        shape = self.shape(schema.get("items", {}))
        return None if shape is None else Items(shape)


def _only_choice(schema: JsonObject, word: str) -> Json:
    """The only choice beside null: `anyOf: [X, {type: null}]` is an optional X, and a null needs no column."""
    choices = schema.get(word)
    if not isinstance(choices, list) or "type" in schema:
        return None
    some = [choice for choice in choices if choice != {"type": "null"}]
    return some[0] if len(some) == 1 else None


def _type(schema: JsonObject) -> str | None:
    """The only type beside null; None if there are several."""
    declared = schema.get("type")
    if isinstance(declared, str):
        return declared
    if isinstance(declared, list):
        types = {each for each in declared if isinstance(each, str)} - {"null"}
    elif "const" in schema or "enum" in schema:
        types = {_type_of_value(choice) for choice in _choices(schema)} - {"null"}
    else:
        return "object" if "properties" in schema else "array" if "items" in schema else None
    if types == {"integer", "number"}:
        return "number"
    return types.pop() if len(types) == 1 else None


def _limits(schema: JsonObject, kind: Kind) -> ColumnLimits:
    choices = _limited_choices(schema, kind)
    if kind == "text":
        return ColumnLimits(choices, min_length=_length(schema, "minLength"), max_length=_length(schema, "maxLength"))
    if kind == "boolean":
        return ColumnLimits(choices)
    return ColumnLimits(
        choices,
        _number(schema.get("minimum")),
        _number(schema.get("maximum")),
        _number(schema.get("exclusiveMinimum")),
        _number(schema.get("exclusiveMaximum")),
    )


def _choices(schema: JsonObject) -> list[Json]:
    if "const" in schema:
        return [schema["const"]]
    choices = schema.get("enum")
    return choices if isinstance(choices, list) else []


def _limited_choices(schema: JsonObject, kind: Kind) -> tuple[Choice, ...] | None:
    if "const" not in schema and "enum" not in schema:
        return None
    found: list[Choice] = []
    for choice in _choices(schema):
        match choice:
            case bool():
                found += [int(choice)] if kind == "boolean" else []
            case str():
                found += [choice] if kind == "text" and "\0" not in choice else []
            case int() | float():
                number = _number(choice) if kind in ("integer", "number") else None
                found += [number] if number is not None else []
            case _:
                pass
    return tuple(found) if len(found) <= MOST_CHOICES else None


def _number(value: Json) -> int | float | None:
    """A limit for SQL; None past 64 bits, where it would be rounded."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if SMALLEST_INTEGER <= value <= LARGEST_INTEGER else None


def _length(schema: JsonObject, word: str) -> int | None:
    value = schema.get(word)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST_INTEGER else None


def _type_of_value(value: Json) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case dict():
            return "object"
