"""Types from JSON Schemas: the CEL types, fields and items that a schema allows.

When in doubt the type is unknown, the empty schema: too loose a type hides a mistake until the run, too strict a one
refuses a workflow that works."""

from collections.abc import Iterable

import msgspec

from jeton.expression.syntax import kind_of
from jeton.model.json import Json, Schema

ALL_KINDS = frozenset({"null", "bool", "int", "double", "string", "list", "map"})
KINDS_OF_TYPE: dict[str, frozenset[str]] = {
    "null": frozenset({"null"}),
    "boolean": frozenset({"bool"}),
    "integer": frozenset({"int"}),
    "number": frozenset({"int", "double"}),
    "string": frozenset({"string"}),
    "array": frozenset({"list"}),
    "object": frozenset({"map"}),
}
TYPE_OF_KIND = {
    "null": "null",
    "bool": "boolean",
    "int": "integer",
    "double": "number",
    "string": "string",
    "list": "array",
    "map": "object",
}
DEEPEST_REFERENCE = 8
DEEPEST_CHOICE = 3  # alternatives among alternatives: they may refer to themselves
MOST_INLINED = 2_000


CLOSED = "x-closed"  # marks a schema made from a Python type: values may have more fields, which nobody is to read


class Type(msgspec.Struct, frozen=True):
    """A schema, with the document that its references point into."""

    schema: Schema
    document: Schema
    double: bool = False  # JSON Schema has no word for a number that is no int


class FieldNotAllowed(msgspec.Struct, frozen=True):
    """The schema does not allow the field or item asked for."""

    kinds: frozenset[str]
    known: tuple[str, ...]  # the fields there are


UNKNOWN = Type({}, {})


def of_schema(schema: Json, document: Schema) -> Type:
    """The type of a schema. A reference at its top is followed; if that fails, the type is unknown."""
    for _ in range(DEEPEST_REFERENCE):
        if not isinstance(schema, dict):
            return UNKNOWN
        if "$ref" not in schema:
            return Type(schema, document)
        schema = referred(schema["$ref"], document)
    return UNKNOWN


def referred(reference: Json, document: Schema) -> Json:
    if not isinstance(reference, str) or not reference.startswith("#"):
        return {}
    found: Json = document
    for key in reference.removeprefix("#").strip("/").split("/") if reference != "#" else ():
        key = key.replace("~1", "/").replace("~0", "~")
        found = found.get(key, {}) if isinstance(found, dict) else {}
    return found


def of_kind(kind: str) -> Type:
    """The type of all values of one CEL type; unknown for the empty name."""
    return Type({"type": TYPE_OF_KIND[kind]}, {}, kind == "double") if kind else UNKNOWN


def of_value(value: Json) -> Type:
    return Type({**of_kind(kind_of(value)).schema, "const": value}, {})


def kinds_of(of: Type, depth: int = 0) -> frozenset[str]:
    """The CEL types a value of this schema may have."""
    schema, kinds = of.schema, ALL_KINDS
    if depth == DEEPEST_CHOICE:
        return ALL_KINDS
    if "const" in schema:
        return frozenset({kind_of(schema["const"])})
    if of.double:
        return frozenset({"double"})
    if isinstance(values := schema.get("enum"), list) and values:
        kinds &= frozenset(kind_of(value) for value in values)
    names = schema.get("type", [])
    named = [names] if isinstance(names, str) else names if isinstance(names, list) else []
    if named:
        kinds &= frozenset().union(*(KINDS_OF_TYPE.get(str(name), ALL_KINDS) for name in named))
    for options in choices(of):
        kinds &= frozenset().union(*(kinds_of(option, depth + 1) for option in options))
    return kinds or ALL_KINDS  # a schema that nothing fits is somebody else's problem


def is_decimal(of: Type) -> bool:
    """Whether the schema is that of a Python Decimal, which is a text in JSON: msgspec's, or pydantic's."""
    if of.schema.get("format") == "decimal":
        return True
    options = of.schema.get("anyOf")
    texts = (
        [each for each in options if isinstance(each, dict) and "pattern" in each] if isinstance(options, list) else []
    )
    return bool(texts) and {"int", "double", "string"} <= kinds_of(of)


def choices(of: Type) -> list[list[Type]]:
    """For each anyOf and oneOf its options, and for each part of allOf itself as the only one."""
    found: list[list[Type]] = []
    for keyword in ("anyOf", "oneOf"):
        if isinstance(options := of.schema.get(keyword), list) and options:
            found.append([of_schema(option, of.document) for option in options])
    if isinstance(parts := of.schema.get("allOf"), list):
        found.extend([of_schema(part, of.document)] for part in parts)
    return found


def field_of(of: Type, key: str, depth: int = 0) -> Type | FieldNotAllowed:
    """The type of a field that values may have; FieldNotAllowed if no value of this schema can have it."""
    if depth == DEEPEST_CHOICE:
        return UNKNOWN
    if "map" not in kinds_of(of):
        return FieldNotAllowed(kinds_of(of), ())
    if isinstance(value := of.schema.get("const"), dict):
        return of_value(value[key]) if key in value else FieldNotAllowed(frozenset({"map"}), tuple(value))
    own = own_field(of, key)
    if isinstance(own, FieldNotAllowed):
        return own
    for options in choices(of):
        found = [field_of(option, key, depth + 1) for option in options]
        allowed = [each for each in found if isinstance(each, Type)]
        if not allowed:
            return next(each for each in found if isinstance(each, FieldNotAllowed))
        if own == UNKNOWN:
            own = union(allowed)
    return own


def own_field(of: Type, key: str) -> Type | FieldNotAllowed:
    properties, rest = of.schema.get("properties"), of.schema.get("additionalProperties")
    known = properties if isinstance(properties, dict) else {}
    if key in known:
        return of_schema(known[key], of.document)
    if rest is None and CLOSED in of.schema:
        return FieldNotAllowed(frozenset({"map"}), tuple(known))
    if "patternProperties" in of.schema or rest is None:
        return UNKNOWN
    return FieldNotAllowed(frozenset({"map"}), tuple(known)) if rest is False else of_schema(rest, of.document)


def undeclared(of: Type, key: str) -> tuple[str, ...] | None:
    """The fields that an open schema declares, if this one is not among them; None if it may be meant."""
    properties, rest = of.schema.get("properties"), of.schema.get("additionalProperties", True)
    if not isinstance(properties, dict) or not properties or key in properties or rest is not True:
        return None
    return None if "patternProperties" in of.schema or choices(of) else tuple(properties)


def item_of(of: Type, index: int | None = None, depth: int = 0) -> Type:
    """The type of the item at this index of a list, or of any item."""
    if depth == DEEPEST_CHOICE:
        return UNKNOWN
    if isinstance(value := of.schema.get("const"), list):
        items = [of_value(item) for item in value]
        return items[index] if index is not None and 0 <= index < len(items) else union(items)
    first = of.schema.get("prefixItems")
    if isinstance(first, list) and first:
        if index is not None and 0 <= index < len(first):
            return of_schema(first[index], of.document)
        return UNKNOWN
    if "items" in of.schema:
        return of_schema(of.schema["items"], of.document)
    options = [option for each in choices(of) for option in each if "list" in kinds_of(option)]
    return union([item_of(option, index, depth + 1) for option in options]) if options else UNKNOWN


def union(types: Iterable[Type]) -> Type:
    """The union of the types; unknown if one of them is."""
    members = list(types)
    schemas = [inlined(each) for each in members]
    if not schemas or {} in schemas:
        return UNKNOWN
    distinct: list[Json] = []
    for schema in schemas:
        if schema not in distinct:
            distinct.append(schema)
    double = all(each.double for each in members)
    return Type(schemas[0] if len(distinct) == 1 else {"anyOf": distinct}, {}, double)


def inlined(of: Type) -> Schema:
    """The schema with its references written out; a circular one becomes the empty schema."""
    schema = inline(of.schema, of.document, (), [MOST_INLINED])
    return schema if isinstance(schema, dict) else {}


def inline(schema: Json, document: Schema, followed: tuple[Json, ...], room: list[int]) -> Json:
    room[0] -= 1
    if isinstance(schema, list):
        return [inline(each, document, followed, room) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        reference = schema["$ref"]
        if reference in followed or room[0] < 0:
            return {}
        return inline(referred(reference, document), document, (*followed, reference), room)
    kept = {key: value for key, value in schema.items() if key not in ("$defs", "definitions")}
    return {
        key: value if key in ("const", "enum") else inline(value, document, followed, room)
        for key, value in kept.items()
    }
