"""Where a value does not fit its schema: said in one way, whoever sent it."""

from typing import Any

from jeton.model.json import Json


def schema_problem(validator: Any, value: Json, root: str) -> str | None:
    """The first place that does not fit, and why; None if all does, or if there is no schema."""
    if validator is None:
        return None
    for error in validator.iter_errors(value):
        where = ".".join([root, *(str(part) for part in error.instance_path)])
        return f"{where}: {error.message}"
    return None
