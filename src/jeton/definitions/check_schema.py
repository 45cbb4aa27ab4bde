"""Checks of JSON Schemas: valid by 2020-12, and without references outside the definition."""

from functools import cache

from jeton.definitions.read.location import Path, SourceLocation, parts_of
from jeton.definitions.report import Report, did_you_mean, shown
from jeton.expression.schema import SchemaInvalid, SchemaValidator
from jeton.model.json import Json, Schema

DRAFT = "https://json-schema.org/draft/2020-12/schema"
REFERENCES = (("$ref",), ("$dynamicRef",))
TYPES = ("string", "integer", "number", "boolean", "object", "array", "null")
REMEDY = "write a JSON Schema (2020-12)"


def check_schema(schema: Schema, location: SourceLocation, report: Report) -> bool:
    """Whether the schema is valid. Every problem is reported."""
    before = report.error_count
    _check_references(schema, location, report)
    draft = schema.get("$schema", DRAFT)
    if draft not in (DRAFT, DRAFT + "#"):
        problem = f"is for {shown(draft)}, and schemas are JSON Schema 2020-12"
        report.error(location / "$schema", "schema_invalid", problem, "remove '$schema'")
    if report.error_count == before:
        for path, value, problem in _meta_validator().misfits(schema):
            if path[-1:] == ("type",) and isinstance(value, str):
                problem = f"{shown(value)} is not a type"
                report.error(location.at(path), "schema_invalid", problem, did_you_mean(value, TYPES, "leave it out"))
            else:
                report.error(location.at(path), "schema_invalid", problem, REMEDY)
    if report.error_count == before:
        _compile(schema, location, report)
    return report.error_count == before


def check_defaults(schema: Schema, location: SourceLocation, report: Report) -> None:
    """Report defaults of properties that do not fit, since a run would begin with them."""
    properties = schema.get("properties")
    shared: Schema = {key: schema[key] for key in ("$defs", "definitions") if key in schema}
    for key, below in properties.items() if isinstance(properties, dict) else ():
        if isinstance(below, dict) and "default" in below:
            found = value_problem({**shared, **below}, below["default"])
            if found is not None:
                problem = f"the default does not fit its own schema: {found[1]}"
                at = location.at(("properties", key, "default"))
                report.error(at, "schema_invalid", problem, "write a value that fits, or leave it out")


def value_problem(schema: Schema, value: Json) -> tuple[Path, str] | None:
    """The path and reason of the first misfit; None if the value fits, or the schema cannot be compiled alone."""
    try:
        validator = SchemaValidator(schema)
    except SchemaInvalid:
        return None
    for path, _, problem in validator.misfits(value):
        return path, problem
    return None


def _check_references(schema: Schema, location: SourceLocation, report: Report) -> None:
    """Report references outside the definition, which compiling would otherwise fetch."""
    for path, reference in parts_of(schema):
        if path[-1:] in REFERENCES and isinstance(reference, str) and not reference.startswith("#"):
            problem = f"refers to {shown(reference)}, and nothing outside a definition is ever read"
            report.error(location.at(path), "schema_invalid", problem, "copy it into '$defs' and write '#/$defs/…'")


@cache
def _meta_validator() -> SchemaValidator:
    return SchemaValidator({"$ref": DRAFT})


def _compile(schema: Schema, location: SourceLocation, report: Report) -> None:
    """Compile the schema, which also checks its patterns and references."""
    try:
        SchemaValidator(schema)
    except SchemaInvalid as invalid:
        report.error(location.at(invalid.path), "schema_invalid", invalid.problem, REMEDY)
