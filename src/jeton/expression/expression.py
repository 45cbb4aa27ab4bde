"""Expressions: compiled once, evaluated without side effects.

The compiler is loaded with the first expression: most of what a process does needs none, or only those it is given.
"""

import json
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, final

from jeton.expression.bounds import LimitExceeded
from jeton.expression.compile.operators import EvaluationError, KeyMissing
from jeton.expression.syntax import from_json, kind_of
from jeton.expression.values import EvaluationResult, Failed, Missing, path_text, position_of, shorten
from jeton.model.json import Json

if TYPE_CHECKING:
    from jeton.expression.audit import ResultCheck
    from jeton.expression.compile.closures import Evaluator
    from jeton.expression.reads import Path
    from jeton.expression.syntax import Node

SAFE_INTEGER = 2**53  # what JSON holds exactly, and the compiler has nothing to say about


@final
class Expression:
    """A condition, or the right side of a mapping. Immutable, so threads may share it."""

    __slots__ = ("_audit", "_run", "reads", "roots", "source", "tree", "whole")

    def __init__(
        self, source: str, tree: "Node", reads: "tuple[Path, ...]", run: "Evaluator", audit: "ResultCheck" = None
    ) -> None:
        """`run` evaluates the tree, and `audit` checks what it gives."""
        self.source = source
        self.tree = tree
        self.reads = reads
        self.roots: frozenset[str] = frozenset(path[0] for path in reads)
        self.whole: frozenset[str] = frozenset(path[0] for path in reads if len(path) == 1)
        self._run = run
        self._audit = audit

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
    from jeton.expression.compiler import compiled

    return compiled(source, frozenset(variables))


def literal(value: Json) -> Expression:
    """An expression that is always this value, for mapping values that are not text."""
    if value is None or isinstance(value, bool) or (isinstance(value, int) and abs(value) <= SAFE_INTEGER):
        return Expression(json.dumps(value), from_json(value), (), lambda scope: value)
    from jeton.expression.compiler import literal_of

    return literal_of(value)
