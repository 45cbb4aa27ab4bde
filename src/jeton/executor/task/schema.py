"""Schemas, compiled once, and the first reason why a value does not fit."""

import jsonschema_rs

from jeton.model.json import Json, Schema


class Validator:
    """A JSON Schema, ready for use."""

    __slots__ = ("_validator",)

    def __init__(self, schema: Schema) -> None:
        self._validator = jsonschema_rs.Draft202012Validator(schema, validate_formats=False)

    def flaw(self, value: Json, name: str) -> str | None:
        """Where and why the value does not fit, the value being called `name`; None if it does."""
        if self._validator.is_valid(value):
            return None
        for error in self._validator.iter_errors(value):
            return f"{_path(name, error.instance_path)}: {error.message}"
        return None


def validator_of(schema: Schema | None) -> Validator | None:
    """Nothing to check is no validator."""
    return None if not schema else Validator(schema)


def _path(name: str, keys: list[str | int]) -> str:
    for key in keys:
        name += f"[{key}]" if isinstance(key, int) else f".{key}"
    return name
