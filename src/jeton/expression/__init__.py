"""Expressions of conditions and mappings: CEL, compiled once and evaluated without side effects."""

from jeton.expression.expression import Expression, compile_expression, literal
from jeton.expression.problems import ExpressionInvalid, ExpressionProblem
from jeton.expression.typing.types import type_of, type_problems, type_warnings
from jeton.expression.values import EvaluationResult, Failed, Missing
from jeton.model.json import Json

__all__ = [
    "EvaluationResult",
    "Expression",
    "ExpressionInvalid",
    "ExpressionProblem",
    "Failed",
    "Json",
    "Missing",
    "compile_expression",
    "literal",
    "type_of",
    "type_problems",
    "type_warnings",
]
