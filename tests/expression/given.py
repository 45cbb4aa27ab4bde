"""Shorthands that the tests of expressions share."""

from collections.abc import Mapping

from jeton.expression import EvaluationResult, Expression, Json, compile_expression

VARIABLES = frozenset({"input", "state", "output", "result", "item", "_branch"})


def expression(source: str) -> Expression:
    return compile_expression(source, VARIABLES)


def evaluate(source: str, scope: Mapping[str, Json]) -> EvaluationResult:
    return expression(source).evaluate(scope)


def over(value: Json) -> dict[str, Json]:
    """A scope in which `state.x` is the value."""
    return {"state": {"x": value}}
