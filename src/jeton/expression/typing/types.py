"""What the schemas of the variables say about an expression, before it ever runs."""

from collections.abc import Mapping

from jeton.expression.expression import Expression
from jeton.expression.problems import ExpressionProblem
from jeton.expression.typing.infer import Inference
from jeton.expression.typing.schemas import inlined
from jeton.model.json import Schema


def type_problems(expression: Expression, types: Mapping[str, Schema]) -> tuple[ExpressionProblem, ...]:
    """What cannot work for any data that fits the schemas; a variable without a schema is no ground for a problem."""
    inference = Inference(expression.source, types)
    inference.type_of(expression.tree, {})
    return tuple(inference.problems)


def type_of(expression: Expression, types: Mapping[str, Schema]) -> Schema:
    """The schema of the results, as far as it is known: `{}` is anything."""
    return inlined(Inference(expression.source, types).type_of(expression.tree, {}))
