"""Schemas at a path, and whether values of one schema can fit another.

Only certain misfits are found: what a schema leaves open is checked when it runs.
"""

from collections.abc import Sequence

import msgspec

from jeton.definitions.check_schema import value_problem
from jeton.definitions.report import did_you_mean, shown
from jeton.expression.typing.schemas import FieldNotAllowed, Type, field_of, inlined, item_of, kinds_of, of_schema
from jeton.model.json import Json, Schema

WORDS = {
    "null": "null",
    "bool": "true or false",
    "int": "a whole number",
    "double": "a number",
    "string": "a text",
    "list": "a list",
    "map": "an object",
}


LIST, MAP = frozenset(("list",)), frozenset(("map",))


class PathNotAllowed(msgspec.Struct, frozen=True):
    """A path that no value of the schema has."""

    problem: str
    remedy: str


def below(schema: Schema, keys: Sequence[str]) -> Schema | PathNotAllowed:
    """The schema at a path; empty if anything is allowed there."""
    here = of_schema(schema, schema)
    for depth, key in enumerate(keys):
        found = field_of(here, key)
        if isinstance(found, FieldNotAllowed):
            where = shown(".".join(keys[:depth])) if depth else "it"
            if "map" not in found.kinds:
                problem = f"the schema says that {where} is {worded(found.kinds)}, so it has no {shown(key)}"
                return PathNotAllowed(problem, "shorten the path, or change the schema")
            problem = f"the schema allows no {shown(key)}" + (f" in {where}" if depth else "")
            return PathNotAllowed(problem, did_you_mean(key, found.known, f"add {shown(key)} to the schema"))
        here = found
    return inlined(here)


def items_of(schema: Schema) -> Schema:
    """The schema of the items of a list."""
    return inlined(item_of(of_schema(schema, schema)))


def excludes(schema: Schema, wanted: str) -> str | None:
    """What the schema allows instead of this CEL type; None if it may allow it."""
    kinds = kinds_of(of_schema(schema, schema))
    fitting = {"double": {"int", "double"}, "id": {"string", "null"}}.get(wanted, {wanted})
    return None if fitting & kinds else worded(kinds)


def misfit(given: Json, wanted: Json) -> str | None:
    """Why no value of `given` can fit `wanted`; None if one can, or if that is not certain."""
    if not isinstance(given, dict) or not isinstance(wanted, dict):
        return None
    if "const" in given:
        problem = value_problem(wanted, given["const"])
        return problem[1] if problem else None
    there, here = of_schema(given, given), of_schema(wanted, wanted)
    kinds = kinds_of(there)
    if not kinds & kinds_of(here):
        return f"it is {worded(kinds)}, and {worded(kinds_of(here))} is wanted"
    if kinds == MAP:
        return _object_misfit(there, here)
    if kinds == LIST:
        inner = misfit(inlined(item_of(there)), inlined(item_of(here)))
        return f"of its items, {inner}" if inner else None
    return None


def _object_misfit(given: Type, wanted: Type) -> str | None:
    for key in required_keys(wanted.schema):
        if isinstance(field_of(given, key), FieldNotAllowed):
            return f"it never has {shown(key)}, which is required"
    known = given.schema.get("properties")
    for key in known if isinstance(known, dict) else ():
        there, here = field_of(given, key), field_of(wanted, key)
        if isinstance(there, Type) and isinstance(here, Type):
            inner = misfit(inlined(there), inlined(here))
            if inner is not None:
                return f"of its {shown(key)}, {inner}"
    return None


def worded(kinds: frozenset[str]) -> str:
    """CEL types in words."""
    several = kinds - {"int"} if "double" in kinds else kinds
    return " or ".join(WORDS[kind] for kind in WORDS if kind in several)


def required_keys(schema: Schema) -> list[str]:
    """The required keys."""
    required = schema.get("required")
    return [key for key in required if isinstance(key, str)] if isinstance(required, list) else []
