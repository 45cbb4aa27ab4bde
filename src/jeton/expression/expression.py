"""Expressions: compiled once, evaluated without side effects."""

import json
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import final

from jeton.expression.audit import ResultCheck, audit_for
from jeton.expression.bounds import LimitExceeded
from jeton.expression.compile.build import build
from jeton.expression.compile.operators import EvaluationError, KeyMissing
from jeton.expression.library import compile_source
from jeton.expression.mix import Refused, checked_tree
from jeton.expression.own import SORT_BY
from jeton.expression.problems import (
    ExpressionInvalid,
    ExpressionProblem,
    Unsupported,
    only_mixes,
    position_of,
    problems_of,
    unreadable,
)
from jeton.expression.reads import Path, reads_of
from jeton.expression.refine import refined
from jeton.expression.syntax import Node, from_json, kind_of
from jeton.expression.typing.infer import Inference
from jeton.expression.values import EvaluationResult, Failed, Missing, path_text, shorten
from jeton.model.json import Json


@final
class Expression:
    """A condition, or the right side of a mapping. Immutable, so threads may share it."""

    __slots__ = ("_audit", "_run", "reads", "roots", "source", "tree", "whole")

    def __init__(self, source: str, tree: Node, variables: frozenset[str]) -> None:
        self.source = source
        self.tree = tree
        self.reads: tuple[Path, ...] = reads_of(tree, variables)
        self.roots: frozenset[str] = frozenset(path[0] for path in self.reads)
        self.whole: frozenset[str] = frozenset(path[0] for path in self.reads if len(path) == 1)
        self._run = build(tree, variables)
        self._audit: ResultCheck = audit_for(tree)

    def __repr__(self) -> str:
        return f"Expression({self.source!r})"

    def evaluate(self, scope: Mapping[str, Json]) -> EvaluationResult:
        """The value, the missing key, or the failure. Never raises."""
        try:
            value: Json = self._run(scope)
            if self._audit is not None:
                self._audit(value)
            return value
        except Exception as problem:
            return self._outcome(problem, scope)

    def holds(self, scope: Mapping[str, Json]) -> bool | Missing | Failed:
        """Evaluate a condition. A result that is not a bool is a failure."""
        try:
            value = self._run(scope)
            if value is True or value is False:
                return value
            raise EvaluationError(f"the condition gives {kind_of(value)}, not bool", 0)
        except Exception as problem:
            return self._outcome(problem, scope)

    def values(self, scope: Mapping[str, Json]) -> dict[str, Json]:
        """The shortened value of every path it reads, without missing ones."""
        found: dict[str, Json] = {}
        for path in self.reads:
            if path[0] in scope:
                value = scope[path[0]]
                for key in path[1:]:
                    if not isinstance(value, dict) or key not in value:
                        break
                    value = value[key]
                else:
                    found[path_text(path)] = shorten(value)
        return found

    def _outcome(self, problem: Exception, scope: Mapping[str, Json]) -> Missing | Failed:
        match problem:
            case KeyMissing():
                return Missing(problem.path)
            case EvaluationError():
                return Failed(problem.text, position_of(self.source, problem.at), self.values(scope))
            case RecursionError():
                return Failed("the data is nested too deeply", "1:1", self.values(scope))
            case LimitExceeded():
                return Failed(str(problem), "1:1", self.values(scope))
            case _:  # an error of ours: it fails the node, and not whoever evaluates
                problem_text = f"cannot be evaluated: {type(problem).__name__}: {problem}"
                return Failed(problem_text, "1:1", self.values(scope))


def compile_expression(source: str, variables: Collection[str]) -> Expression:
    """Compile an expression over these variables. Raises ExpressionInvalid with every problem found."""
    if problem := unreadable(source):
        raise ExpressionInvalid((problem,))
    return compiled(source, frozenset(variables))


@lru_cache(maxsize=4096)
def compiled(source: str, variables: frozenset[str]) -> Expression:
    """Compile an expression. Cached, because definitions are loaded repeatedly."""
    try:
        if SORT_BY in source:
            return reworded(source, variables)
        return Expression(source, compile_source(source, variables).tree(), variables)
    except (RuntimeError, Refused) as error:
        if only_mixes(str(error)):
            return reworded(source, variables)
        raise ExpressionInvalid(refined(problems_of(str(error), source, variables), source, variables)) from None
    except Unsupported as error:
        problem = ExpressionProblem(error.problem, error.remedy, position_of(source, error.at))
        raise ExpressionInvalid((problem,)) from None


def reworded(source: str, variables: frozenset[str]) -> Expression:
    """Compile an expression that the checker understands in other words only. Raises Refused for what it finds, and
    ExpressionInvalid for type errors that the other words hide from it."""
    tree = checked_tree(source, variables)
    inference = Inference(source, {})
    inference.type_of(tree, {})
    if inference.problems:
        raise ExpressionInvalid(tuple(inference.problems))
    return Expression(source, tree, variables)


def literal(value: Json) -> Expression:
    """An expression that is always this value, for mapping values that are not text."""
    return Expression(json.dumps(value, ensure_ascii=False), from_json(value), frozenset())
