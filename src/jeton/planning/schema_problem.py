"""Where a value does not fit a schema that may be absent."""

from jeton.expression.schema import SchemaValidator
from jeton.model.json import Json


def schema_problem(validator: SchemaValidator | None, value: Json, name: str) -> str | None:
    """The first misfit, as `name.key[0]: reason`; None if the value fits, or if there is no schema."""
    return None if validator is None else validator.problem(value, name)
