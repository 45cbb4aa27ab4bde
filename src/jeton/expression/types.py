"""What the schemas of the variables say about an expression, before it ever runs."""

from collections.abc import Mapping

from jeton.expression.expression import Expression
from jeton.expression.problems import ExpressionProblem
from jeton.model.json import Schema


def type_problems(expression: Expression, types: Mapping[str, Schema]) -> tuple[ExpressionProblem, ...]:
    return ()


def type_of(expression: Expression, types: Mapping[str, Schema]) -> Schema:
    return {}
