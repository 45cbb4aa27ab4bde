"""What a schema says about a path, and whether what one schema allows can fit another.

Only what is certain is said: a schema that leaves something open lets everything pass here, and the run decides.
"""

from collections.abc import Sequence

import msgspec

from jeton.definitions.check_schema import value_problem
from jeton.definitions.report import did_you_mean, shown
from jeton.model.json import Json, JsonObject, Schema

OPEN_ENDED = ("patternProperties", "allOf", "anyOf", "oneOf", "if", "not", "dependentSchemas", "$dynamicRef")
ARTICLES = {"integer": "a whole number", "number": "a number", "string": "a text", "boolean": "true or false",
            "object": "an object", "array": "a list", "null": "null"}  # fmt: skip


class RuledOut(msgspec.Struct, frozen=True):
    """A path that no value of the schema has."""

    problem: str
    remedy: str


def below(schema: Schema, keys: Sequence[str]) -> Schema | RuledOut:
    """The schema of what is at a path; empty where anything goes."""
    here: Json = schema
    for depth, key in enumerate(keys):
        here = _resolved(here, schema)
        if not isinstance(here, dict):
            return {}
        found = _property(here, key)
        if found is False:
            where = f"'{'.'.join(keys[:depth])}'" if depth else "it"
            types = types_of(here)
            if types is not None and "object" not in types:
                return RuledOut(
                    f"the schema says that {where} is {_worded(types)}, so it has no {shown(key)}", "shorten the path"
                )
            known = here.get("properties")
            names = list(known) if isinstance(known, dict) else []
            problem = f"the schema allows no {shown(key)} " + (f"in {where}" if depth else "here")
            return RuledOut(problem, did_you_mean(key, names, f"add {shown(key)} to the schema"))
        here = found
    found_schema = _resolved(here, schema)
    return _with_definitions(found_schema, schema) if isinstance(found_schema, dict) else {}


def _property(schema: JsonObject, key: str) -> Json:
    """The schema of one property; false if there can be none."""
    types = types_of(schema)
    if types is not None and "object" not in types:
        return False
    properties = schema.get("properties")
    if isinstance(properties, dict) and key in properties:
        return properties[key]
    if any(word in schema for word in OPEN_ENDED):
        return {}
    return schema.get("additionalProperties", {})


def _resolved(schema: Json, root: Schema) -> Json:
    """The schema that a reference within the definition stands for; references to references a few times over."""
    for _ in range(8):
        reference = schema.get("$ref") if isinstance(schema, dict) else None
        if not isinstance(reference, str):
            return schema
        found: Json = root
        for key in reference.removeprefix("#").split("/")[1:]:
            key = key.replace("~1", "/").replace("~0", "~")
            found = found.get(key, {}) if isinstance(found, dict) else {}
        schema = found
    return {}


def _with_definitions(schema: JsonObject, root: Schema) -> Schema:
    """A part of a schema still refers to the definitions of the whole."""
    return schema if schema is root or "$defs" not in root else {**schema, "$defs": root["$defs"]}


def types_of(schema: Json) -> frozenset[str] | None:
    """The types a value can have; nothing if the schema does not say."""
    if not isinstance(schema, dict):
        return None
    match schema:
        case {"type": str() as one}:
            return frozenset((one,))
        case {"type": list() as several}:
            return frozenset(str(each) for each in several)
        case {"const": constant}:
            return frozenset((_type_of_value(constant),))
        case {"enum": list() as values}:
            return frozenset(_type_of_value(value) for value in values)
        case {"anyOf": list() as choices} | {"oneOf": list() as choices}:
            found = [types_of(choice) for choice in choices]
            known = [types for types in found if types is not None]
            return frozenset[str]().union(*known) if len(known) == len(found) else None
        case _:
            return None


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


def excludes(schema: Schema, wanted: str) -> str | None:
    """What the schema allows instead, if it surely does not allow a type."""
    types = types_of(schema)
    if types is None or wanted in types or (wanted == "integer" and "number" in types):
        return None
    return None if wanted == "number" and "integer" in types else _worded(types)


def misfit(given: Json, wanted: Json) -> str | None:
    """Why nothing that `given` describes can fit `wanted`; none if it can, or if that is not certain."""
    if not isinstance(given, dict) or not isinstance(wanted, dict) or "$ref" in given or "$ref" in wanted:
        return None
    if "const" in given:
        problem = value_problem(wanted, given["const"])
        return problem[1] if problem else None
    there, here = types_of(given), types_of(wanted)
    if there is not None and here is not None and not _overlap(there, here):
        return f"it is {_worded(there)}, and {_worded(here)} is wanted"
    if there == frozenset(("object",)):
        return _object_misfit(given, wanted)
    if there == frozenset(("array",)):
        inner = misfit(given.get("items"), wanted.get("items"))
        return f"of its items, {inner}" if inner else None
    return None


def _object_misfit(given: JsonObject, wanted: JsonObject) -> str | None:
    required = wanted.get("required")
    for key in required if isinstance(required, list) else ():
        if isinstance(key, str) and _property(given, key) is False:
            return f"it never has {shown(key)}, which is required"
    properties = wanted.get("properties")
    for key, schema in properties.items() if isinstance(properties, dict) else ():
        given_properties = given.get("properties")
        if isinstance(given_properties, dict) and key in given_properties:
            inner = misfit(given_properties[key], schema)
            if inner is not None:
                return f"of its {shown(key)}, {inner}"
    return None


def _overlap(there: frozenset[str], here: frozenset[str]) -> bool:
    """A whole number is a number, and a number may be whole."""
    numeric = frozenset(("integer", "number"))
    return bool(there & here) or bool(there & numeric and here & numeric)


def _worded(types: frozenset[str]) -> str:
    return " or ".join(ARTICLES.get(each, each) for each in sorted(types))


def required_keys(schema: Schema) -> list[str]:
    """The keys that must be there."""
    required = schema.get("required")
    return [key for key in required if isinstance(key, str)] if isinstance(required, list) else []
