"""Mappings and conditions inside a task: what they are once compiled, and what they give."""

from collections.abc import Collection, Mapping
from typing import NamedTuple, TypeAlias

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


class Values(NamedTuple):
    """What a mapping gives: a value for each target, and the paths that were missing, which gave null."""

    values: list[tuple[list[str], Json]]
    missing: tuple[str, ...]

    def tree(self) -> JsonObject:
        """The object that the targets describe."""
        tree: JsonObject = {}
        for keys, value in self.values:
            tree = written(tree, keys, value)
        return tree


def mapped(mapping: Mapped, scope: Mapping[str, Json]) -> Values | Failed:
    """Every value before the first is written. A missing key is null; any other problem is the whole mapping's."""
    values: list[tuple[list[str], Json]] = []
    missing: tuple[str, ...] = ()
    for keys, expression in mapping:
        value = expression.evaluate(scope)
        if isinstance(value, Failed):
            return value
        if isinstance(value, Missing):
            missing, value = (*missing, value.path), None
        values.append((keys, value))
    return Values(values, missing)


def holds(condition: Expression, scope: Mapping[str, Json]) -> bool | Failed:
    """Whether a condition is true; one that asks for a missing key is not."""
    answer = condition.holds(scope)
    return False if isinstance(answer, Missing) else answer


def expression_problem(where: str, failed: Failed) -> str:
    """Why there is no value, with what its author needs to see it."""
    return f"{where} at {failed.position}: {failed.problem} with {failed.values}"
