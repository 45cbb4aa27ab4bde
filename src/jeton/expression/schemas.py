"""What a JSON Schema says about a value, as far as expressions care: its kinds, its fields, its items.

Every answer errs towards not knowing, which is the empty schema: a schema we read too loosely hides a mistake until the
run, one we read too strictly refuses a workflow that works."""

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
TYPE_OF_KIND = {"null": "null", "bool": "boolean", "int": "integer", "double": "number", "string": "string"}
DEEPEST_REFERENCE = 8


class Type(msgspec.Struct, frozen=True):
    """A schema, with the document that its references point into."""

    schema: Schema
    document: Schema


class RuledOut(msgspec.Struct, frozen=True):
    """The schema leaves no room for what was asked of it."""

    kinds: frozenset[str]
    known: tuple[str, ...]  # the fields there are


UNKNOWN = Type({}, {})


def of_schema(schema: Json, document: Schema) -> Type:
    """The type of a schema, with a reference at its top followed; `true` and what we cannot follow is unknown."""
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
    match kind:
        case "list":
            return Type({"type": "array"}, {})
        case "map":
            return Type({"type": "object"}, {})
        case "double":
            # not every number: the kind is known, and const tells the checker of mappings nothing it could use
            return DOUBLE
        case "":
            return UNKNOWN
        case _:
            return Type({"type": TYPE_OF_KIND[kind]}, {})


DOUBLE = Type({"type": "number", "x-cel": "double"}, {})


def of_value(value: Json) -> Type:
    return Type({**of_kind(kind_of(value)).schema, "const": value}, {})


def kinds_of(of: Type) -> frozenset[str]:
    """The CEL types a value of this schema may have."""
    schema, kinds = of.schema, ALL_KINDS
    if "const" in schema:
        return frozenset({kind_of(schema["const"])})
    if schema == DOUBLE.schema:
        return frozenset({"double"})
    if isinstance(values := schema.get("enum"), list):
        kinds &= frozenset(kind_of(value) for value in values)
    names = schema.get("type", [])
    named = [names] if isinstance(names, str) else names if isinstance(names, list) else []
    if named:
        kinds &= frozenset().union(*(KINDS_OF_TYPE.get(str(name), ALL_KINDS) for name in named))
    for options in choices(of):
        kinds &= frozenset().union(*(kinds_of(option) for option in options))
    return kinds


def choices(of: Type) -> list[list[Type]]:
    """For each anyOf and oneOf its options, and for each part of allOf itself as the only one."""
    found: list[list[Type]] = []
    for keyword in ("anyOf", "oneOf"):
        if isinstance(options := of.schema.get(keyword), list) and options:
            found.append([of_schema(option, of.document) for option in options])
    if isinstance(parts := of.schema.get("allOf"), list):
        found.extend([of_schema(part, of.document)] for part in parts)
    return found


def field_of(of: Type, key: str) -> Type | RuledOut:
    """The type of the field, which need not be there; RuledOut if no value of this schema can have it."""
    if "map" not in kinds_of(of):
        return RuledOut(kinds_of(of), ())
    if isinstance(value := of.schema.get("const"), dict):
        return of_value(value[key]) if key in value else RuledOut(frozenset({"map"}), tuple(value))
    own = own_field(of, key)
    if isinstance(own, RuledOut):
        return own
    for options in choices(of):
        found = [field_of(option, key) for option in options]
        allowed = [each for each in found if isinstance(each, Type)]
        if not allowed:
            return next(each for each in found if isinstance(each, RuledOut))
        if own == UNKNOWN:
            own = union(allowed)
    return own


def own_field(of: Type, key: str) -> Type | RuledOut:
    properties, rest = of.schema.get("properties"), of.schema.get("additionalProperties")
    known = properties if isinstance(properties, dict) else {}
    if key in known:
        return of_schema(known[key], of.document)
    if "patternProperties" in of.schema or rest is None:
        return UNKNOWN
    return RuledOut(frozenset({"map"}), tuple(known)) if rest is False else of_schema(rest, of.document)


def item_of(of: Type, index: int | None = None) -> Type:
    """The type of the item at this place of a list, or of any item."""
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
    return union([item_of(option, index) for option in options]) if options else UNKNOWN


def union(types: Iterable[Type]) -> Type:
    """What is of any of these types; unknown if one of them is."""
    schemas: list[Json] = []
    for each in types:
        schema = inlined(each)
        if not schema:
            return UNKNOWN
        if schema not in schemas:
            schemas.append(schema)
    if not schemas:
        return UNKNOWN
    only = schemas[0]
    return Type(only, {}) if len(schemas) == 1 and isinstance(only, dict) else Type({"anyOf": schemas}, {})


def inlined(of: Type) -> Schema:
    """The schema without references, so that it can leave its document; those that nest too deeply are unknown."""
    schema = inline(of.schema, of.document, 0)
    return schema if isinstance(schema, dict) else {}


def inline(schema: Json, document: Schema, depth: int) -> Json:
    if isinstance(schema, list):
        return [inline(each, document, depth) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return {} if depth == DEEPEST_REFERENCE else inline(referred(schema["$ref"], document), document, depth + 1)
    kept = {key: value for key, value in schema.items() if key not in ("$defs", "definitions")}
    return {key: value if key in ("const", "enum") else inline(value, document, depth) for key, value in kept.items()}
