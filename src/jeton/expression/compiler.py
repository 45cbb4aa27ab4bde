"""The compiler of expressions: source to tree with the CEL library, and the tree to Python functions."""

import json
from functools import lru_cache

from jeton.expression.audit import audit_for
from jeton.expression.compile.build import build
from jeton.expression.expression import Expression
from jeton.expression.library import compile_source
from jeton.expression.mix import Refused, checked_tree
from jeton.expression.own import SORT_BY
from jeton.expression.problems import (
    ExpressionInvalid,
    ExpressionProblem,
    Unsupported,
    only_mixes,
    problems_of,
    unreadable,
)
from jeton.expression.reads import reads_of
from jeton.expression.refine import refined
from jeton.expression.syntax import Node, from_json
from jeton.expression.typing.infer import Inference
from jeton.expression.values import position_of
from jeton.model.json import Json


def compiled(source: str, variables: frozenset[str]) -> Expression:
    """Compile an expression. Raises ExpressionInvalid with every problem found."""
    if problem := unreadable(source):
        raise ExpressionInvalid((problem,))
    return _compiled(source, variables)


def literal_of(value: Json) -> Expression:
    """An expression that is always this value."""
    return _built(json.dumps(value, ensure_ascii=False), from_json(value), frozenset())


@lru_cache(maxsize=4096)
def _compiled(source: str, variables: frozenset[str]) -> Expression:
    """Cached, because definitions are loaded repeatedly."""
    try:
        if SORT_BY in source:
            return _reworded(source, variables)
        return _built(source, compile_source(source, variables).tree(), variables)
    except (RuntimeError, Refused) as error:
        if only_mixes(str(error)):
            return _reworded(source, variables)
        raise ExpressionInvalid(refined(problems_of(str(error), source, variables), source, variables)) from None
    except Unsupported as error:
        problem = ExpressionProblem(error.problem, error.remedy, position_of(source, error.at))
        raise ExpressionInvalid((problem,)) from None


def _reworded(source: str, variables: frozenset[str]) -> Expression:
    """Compile an expression that the checker understands in other words only. Raises Refused for what it finds, and
    ExpressionInvalid for type errors that the other words hide from it."""
    tree = checked_tree(source, variables)
    inference = Inference(source, {})
    inference.type_of(tree, {})
    if inference.problems:
        raise ExpressionInvalid(tuple(inference.problems))
    return _built(source, tree, variables)


def _built(source: str, tree: Node, variables: frozenset[str]) -> Expression:
    return Expression(source, tree, reads_of(tree, variables), build(tree, variables), audit_for(tree))
