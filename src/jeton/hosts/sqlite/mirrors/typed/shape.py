"""What a JSON Schema says about the form of a value, as far as a table can use it.

A guess may be wrong without harm, since what does not fit its column is kept beside it. So only plain facts are taken:
the type, the properties, the items, and limits that SQL can check. Unions and whatever is left open become JSON.
"""

from typing import Literal, TypeAlias

import msgspec

from jeton.model.json import Json, JsonObject, Schema

SMALLEST_INTEGER, LARGEST_INTEGER = -(2**63), 2**63 - 1
MOST_PLACES = 5_000
MOST_CHOICES = 100  # a longer enum is not worth checking twice: the run checked it before

Kind: TypeAlias = Literal["text", "integer", "number", "boolean", "json"]
Choice: TypeAlias = str | int | float
_KINDS: dict[str, Kind] = {"string": "text", "integer": "integer", "number": "number", "boolean": "boolean"}


class Limits(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a column checks. Booleans among the choices are 0 and 1."""

    choices: tuple[Choice, ...] | None = None
    minimum: int | float | None = None
    maximum: int | float | None = None
    above: int | float | None = None
    below: int | float | None = None
    min_length: int | None = None
    max_length: int | None = None


NO_LIMITS = Limits()


class Scalar(msgspec.Struct, frozen=True):
    """One column."""

    kind: Kind
    limits: Limits = NO_LIMITS


class Properties(msgspec.Struct, frozen=True):
    """An object whose properties are known by name."""

    shapes: "dict[str, Shape]"


class Items(msgspec.Struct, frozen=True):
    """A list whose items are all of one shape."""

    shape: "Shape"


Shape: TypeAlias = Scalar | Properties | Items
ANYTHING = Scalar("json")


def shape_of_state(schema: Schema) -> Properties:
    """The context as a state schema describes it. One that names no properties describes an object without columns."""
    found = _Reading(schema).shape(schema)
    return found if isinstance(found, Properties) else Properties({})


class _Reading:
    """One schema being read. It is bounded: a few references to references can stand for millions of places."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._left = MOST_PLACES
        self._inside: list[str] = []

    def shape(self, schema: Json) -> Shape | None:
        """None: the schema refers to itself here, or has grown too large, and the value is kept as it comes."""
        self._left -= 1
        if self._left < 0:
            return None
        if not isinstance(schema, dict):
            return ANYTHING
        if isinstance(reference := schema.get("$ref"), str):
            return self._referred(reference)
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

    def _referred(self, reference: str) -> Shape | None:
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
        written = schema.get("properties")
        if not isinstance(written, dict) or not written:
            return ANYTHING
        shapes = {name: self.shape(inner) for name, inner in written.items()}
        return Properties({name: shape for name, shape in shapes.items() if shape is not None})

    def _items(self, schema: JsonObject) -> Shape | None:
        if "prefixItems" in schema:
            return ANYTHING
        shape = self.shape(schema.get("items", {}))
        return None if shape is None else Items(shape)


def _only_choice(schema: JsonObject, word: str) -> Json:
    """`anyOf: [X, {type: null}]`, which is how an optional X is written, is X: a null needs no column."""
    choices = schema.get(word)
    if not isinstance(choices, list) or "type" in schema:
        return None
    some = [choice for choice in choices if choice != {"type": "null"}]
    return some[0] if len(some) == 1 else None


def _type(schema: JsonObject) -> str | None:
    """The one type a value has unless it is null; None if there may be several."""
    written = schema.get("type")
    if isinstance(written, str):
        return written
    if isinstance(written, list):
        types = {each for each in written if isinstance(each, str)} - {"null"}
    elif "const" in schema or "enum" in schema:
        types = {_type_of_value(choice) for choice in _choices(schema)} - {"null"}
    else:
        return "object" if "properties" in schema else "array" if "items" in schema else None
    if types == {"integer", "number"}:
        return "number"
    return types.pop() if len(types) == 1 else None


def _limits(schema: JsonObject, kind: Kind) -> Limits:
    choices = _limited_choices(schema, kind)
    if kind == "text":
        return Limits(choices, min_length=_length(schema, "minLength"), max_length=_length(schema, "maxLength"))
    if kind == "boolean":
        return Limits(choices)
    return Limits(
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
    """A limit SQL can write; one past 64 bits would be rounded, and so is left to the run."""
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
