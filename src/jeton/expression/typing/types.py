"""Static types of expressions: type errors and the schema of the result."""

from collections.abc import Mapping

from jeton.expression.expression import Expression
from jeton.expression.problems import ExpressionProblem
from jeton.expression.typing.infer import Inference
from jeton.expression.typing.schemas import inlined
from jeton.model.json import Schema


def type_problems(expression: Expression, types: Mapping[str, Schema]) -> tuple[ExpressionProblem, ...]:
    """Type errors for data that fits the schemas. A variable without a schema may be anything."""
    inference = Inference(expression.source, types)
    inference.type_of(expression.tree, {})
    return tuple(inference.problems)


def type_warnings(expression: Expression, types: Mapping[str, Schema]) -> tuple[ExpressionProblem, ...]:
    """Fields that an open schema does not declare, and that are probably mistakes."""
    inference = Inference(expression.source, types)
    inference.type_of(expression.tree, {})
    return tuple(inference.warnings)


def type_of(expression: Expression, types: Mapping[str, Schema]) -> Schema:
    """The schema of the result, as far as it is known; `{}` if nothing is."""
    return inlined(Inference(expression.source, types).type_of(expression.tree, {}))
