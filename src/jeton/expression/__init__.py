"""Expressions of conditions and mappings: CEL, compiled once and evaluated without side effects.

Each name is found when it is first asked for, so that a process loads only what it uses.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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

_HOMES = {
    "Expression": "jeton.expression.expression",
    "compile_expression": "jeton.expression.expression",
    "literal": "jeton.expression.expression",
    "ExpressionInvalid": "jeton.expression.problems",
    "ExpressionProblem": "jeton.expression.problems",
    "type_of": "jeton.expression.typing.types",
    "type_problems": "jeton.expression.typing.types",
    "type_warnings": "jeton.expression.typing.types",
    "EvaluationResult": "jeton.expression.values",
    "Failed": "jeton.expression.values",
    "Missing": "jeton.expression.values",
    "Json": "jeton.model.json",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module '{__name__}' has no attribute {name!r}")
    found: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = found
    return found
