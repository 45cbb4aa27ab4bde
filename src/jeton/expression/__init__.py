"""Conditions and mappings: CEL, compiled once and evaluated purely."""

from jeton.expression.expression import Expression, compile_expression, literal
from jeton.expression.problems import ExpressionInvalid, ExpressionProblem
from jeton.expression.typing.types import type_of, type_problems
from jeton.expression.values import Failed, Missing, Outcome
from jeton.model.json import Json

__all__ = [
    "Expression",
    "ExpressionInvalid",
    "ExpressionProblem",
    "Failed",
    "Json",
    "Missing",
    "Outcome",
    "compile_expression",
    "literal",
    "type_of",
    "type_problems",
]
