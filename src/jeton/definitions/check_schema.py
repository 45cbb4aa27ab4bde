"""Whether a JSON Schema can be used: valid by 2020-12, and whole without asking anyone else for the rest of it."""

from collections.abc import Iterator
from functools import cache
from typing import Never

import jsonschema_rs

from jeton.definitions.read.place import Path, Place
from jeton.definitions.report import Report, did_you_mean, shown
from jeton.model.json import Json, JsonObject, Schema

DRAFT = "https://json-schema.org/draft/2020-12/schema"
REFERENCES = ("$ref", "$dynamicRef")
TYPES = ("string", "integer", "number", "boolean", "object", "array", "null")
REMEDY = "write a JSON Schema (2020-12)"


def check_schema(schema: Schema, place: Place, report: Report) -> bool:
    """Whether the schema can be compiled; every reason why not is reported."""
    before = report.error_count
    _check_references(schema, place, report)
    draft = schema.get("$schema", DRAFT)
    if draft not in (DRAFT, DRAFT + "#"):
        problem = f"is for {shown(draft)}, and schemas are JSON Schema 2020-12"
        report.error(place / "$schema", "schema_invalid", problem, "remove '$schema'")
    if report.error_count == before:
        for path, value, problem in _meta_errors(schema):
            if path[-1:] == ("type",) and isinstance(value, str):
                problem = f"{shown(value)} is no type"
                report.error(place.at(path), "schema_invalid", problem, did_you_mean(value, TYPES, "leave it out"))
            else:
                report.error(place.at(path), "schema_invalid", problem, REMEDY)
    if report.error_count == before:
        _compile(schema, place, report)
    return report.error_count == before


def value_problem(schema: Schema, value: Json) -> tuple[Path, str] | None:
    """Where and why a value does not fit; nothing if the schema, perhaps a part of a larger one, cannot say."""
    try:
        validator = _validator(schema)
    except (jsonschema_rs.ReferencingError, ValueError):
        return None
    for error in validator.iter_errors(value):
        return tuple(error.instance_path), error.message
    return None


def _check_references(schema: Schema, place: Place, report: Report) -> None:
    """A reference outwards would be fetched, from disk or network, by whoever compiles the schema."""
    for path, reference in _references(schema, ()):
        if isinstance(reference, str) and not reference.startswith("#"):
            problem = f"refers to {shown(reference)}, and nothing outside a definition is ever read"
            report.error(place.at(path), "schema_invalid", problem, "copy it into '$defs' and write '#/$defs/…'")


def _references(value: Json, path: Path) -> Iterator[tuple[Path, Json]]:
    match value:
        case dict():
            for key, inner in value.items():
                if key in REFERENCES:
                    yield (*path, key), inner
                yield from _references(inner, (*path, key))
        case list():
            for index, inner in enumerate(value):
                yield from _references(inner, (*path, index))
        case _:
            pass


@cache
def _meta_validator() -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator({"$ref": DRAFT}, retriever=_refuse)


def _meta_errors(schema: Schema) -> Iterator[tuple[Path, object, str]]:
    for error in _meta_validator().iter_errors(schema):
        yield tuple(error.instance_path), error.instance, error.message


def _compile(schema: Schema, place: Place, report: Report) -> None:
    """Patterns and references inside are only looked at here."""
    try:
        _validator(schema)
    except jsonschema_rs.ValidationError as error:
        report.error(place.at(tuple(error.instance_path)), "schema_invalid", error.message, REMEDY)
    except (jsonschema_rs.ReferencingError, ValueError) as error:
        report.error(place, "schema_invalid", str(error), REMEDY)


def _validator(schema: JsonObject) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(schema, retriever=_refuse)


def _refuse(uri: str) -> Never:
    raise ValueError(f"{uri} is outside the definition")
