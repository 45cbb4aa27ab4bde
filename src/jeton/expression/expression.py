"""Expressions: compiled once, evaluated purely."""

import re
from collections.abc import Collection, Mapping
from typing import final

import msgspec

from jeton.expression.decode import Foreign
from jeton.expression.library import CelError, Program, compile_source
from jeton.expression.problems import LONGEST_SOURCE, ExpressionInvalid, ExpressionProblem, problems_of
from jeton.expression.reads import Path, path_of, reads_of
from jeton.expression.syntax import Node
from jeton.expression.values import Failed, Missing, Outcome, path_text, shorten
from jeton.model.json import Json

NO_KEY = re.compile(r'NOT_FOUND: Key not found in map : "?(.*?)"?$', re.DOTALL)
NO_VARIABLE = re.compile(r'No value with name "(.*)" found in Activation')


@final
class Expression:
    """A condition or one side of a mapping. Immutable, so threads may share it."""

    __slots__ = ("_path", "_program", "_tree", "_value", "reads", "roots", "source")

    source: str
    roots: frozenset[str]
    reads: tuple[Path, ...]

    def __init__(self, source: str, variables: frozenset[str], program: Program | None, value: Json = None) -> None:
        self.source = source
        self._program = program
        self._value = value
        self._tree: Node | None = program.tree() if program else None
        self.reads = reads_of(self._tree, variables) if self._tree else ()
        self._path = path_of(self._tree) if self._tree and len(self.reads) == 1 else None
        self.roots = frozenset(path[0] for path in self.reads)

    def __repr__(self) -> str:
        return f"Expression({self.source!r})"

    def evaluate(self, scope: Mapping[str, Json]) -> Outcome:
        """The value as plain JSON, the key that was missing, or why there is no value. Never raises."""
        if self._program is None:
            return self._value
        try:
            return self._program.run({name: scope[name] for name in self.roots if name in scope})
        except CelError as error:
            return self._outcome(str(error), scope)

    def holds(self, scope: Mapping[str, Json]) -> bool | Missing | Failed:
        """Whether the condition is true; a result that is not a bool is a failure."""
        outcome = self.evaluate(scope)
        if isinstance(outcome, bool | Missing | Failed):
            return outcome
        return Failed("the condition gave something that is not true or false", "1:1", self.values(scope))

    def values(self, scope: Mapping[str, Json]) -> dict[str, Json]:
        """What each path it reads is now, shortened; those that are missing are left out."""
        found: dict[str, Json] = {}
        for path in self.reads:
            value: Json = dict(scope)
            for key in path:
                if not isinstance(value, dict) or key not in value:
                    break
                value = value[key]
            else:
                found[path_text(path)] = shorten(value)
        return found

    def _outcome(self, error: str, scope: Mapping[str, Json]) -> Missing | Failed:
        missing = NO_KEY.search(error) or NO_VARIABLE.search(error)
        if missing is None:
            return Failed(error, "1:1", self.values(scope))
        for path in self.reads:
            value: Json = dict(scope)
            for depth, key in enumerate(path, start=1):
                if not isinstance(value, dict):
                    break
                if key not in value:
                    if key == missing[1]:
                        return Missing(path_text(path[:depth]))
                    break
                value = value[key]
        return Missing(missing[1])


def compile_expression(source: str, variables: Collection[str]) -> Expression:
    """The expression over these variables; raises ExpressionInvalid with every problem the library finds."""
    if len(source) > LONGEST_SOURCE:
        problem = f"is {len(source)} characters long, and {LONGEST_SOURCE} are the limit"
        raise ExpressionInvalid((ExpressionProblem(problem, "split it into several mappings", "1:1"),))
    try:
        return Expression(source, frozenset(variables), compile_source(source, frozenset(variables)))
    except RuntimeError as error:
        raise ExpressionInvalid(problems_of(str(error), source, variables)) from None
    except Foreign as error:
        problem = f"makes a protobuf message, {error.name}, and expressions see plain data only"
        raise ExpressionInvalid((ExpressionProblem(problem, "write a map: {'key': value}", "1:1"),)) from None


def literal(value: Json) -> Expression:
    """An expression that is always this value: what a mapping means by anything but text."""
    return Expression(msgspec.json.encode(value).decode(), frozenset(), None, value)
