"""Mappings and conditions inside a task: what they are once compiled, and what they give."""

from collections.abc import Collection, Mapping
from typing import TypeAlias

from jeton.expression import Expression, Failed, Missing, compile_expression, literal
from jeton.model.json import Json, JsonObject
from jeton.model.paths import written

CONTEXT = ("input", "state", "output")

Mapped: TypeAlias = tuple[tuple[list[str], Expression], ...]
"""Target path, by its keys, and the expression that gives the value."""


def compiled(source: Json, variables: Collection[str]) -> Expression:
    """A text is an expression, anything else stands for itself."""
    return compile_expression(source, variables) if isinstance(source, str) else literal(source)


def compiled_mapping(mapping: Mapping[str, Json], variables: Collection[str]) -> Mapped:
    """Every target with its expression."""
    return tuple((target.split("."), compiled(source, variables)) for target, source in mapping.items())


def mapped(mapping: Mapped, scope: Mapping[str, Json]) -> JsonObject | Failed:
    """The object the mapping describes. A missing key is null; any other problem is the whole mapping's."""
    tree: JsonObject = {}
    for keys, expression in mapping:
        value = expression.evaluate(scope)
        if isinstance(value, Failed):
            return value
        tree = written(tree, keys, None if isinstance(value, Missing) else value)
    return tree


def holds(condition: Expression, scope: Mapping[str, Json]) -> bool | Failed:
    """Whether a condition is true; one that asks for a missing key is not."""
    answer = condition.holds(scope)
    return False if isinstance(answer, Missing) else answer


def expression_problem(where: str, failed: Failed) -> str:
    """Why there is no value, with what its author needs to see it."""
    return f"{where} at {failed.position}: {failed.problem} with {failed.values}"
