"""Checks of results: a result must be JSON, and not too large to store.

A path gives a value from the scope, so only computed results are checked."""

import math
from collections.abc import Callable, Mapping
from typing import TypeAlias

from jeton.expression.bounds import LARGEST_VALUE, LimitExceeded, weigh
from jeton.expression.compile.macros import Binding, Collected, Sorted, macro_of, written
from jeton.expression.compile.operators import HIGHEST, LOWEST, EvaluationError
from jeton.expression.own import OWN
from jeton.expression.syntax import Comprehension, Constant, FunctionCall, Ident, ListOf, MapOf, Node, children
from jeton.model.json import Json

ResultCheck: TypeAlias = Callable[[Json], None] | None

MOST_COPIES = 64  # a result that has the data in it no more often than this need not be measured
SETTLED = frozenset({"bool", "null", "int", "string"})  # kinds that need no look, and double is the one that does
NEW_DATA = frozenset({"range", "json.parse"})  # what they give is in no data
WITHOUT_NUMBERS = frozenset({"_[_]", "_?_:_", "dyn", "orValue", "value", "split", *OWN})


def audit_for(tree: Node) -> ResultCheck:
    """The check that the tree's results need; None if they need none."""
    if any(
        isinstance(node, Constant) and type(node.value) is int and not in_64_bits(node.value) for node in written(tree)
    ):
        return refuse
    if tree.kind in SETTLED:
        return None
    if copies(tree, {}, 1) > MOST_COPIES:
        return audit_all
    if not any(makes_numbers(node) for node in written(tree)):
        return None
    return (
        audit_all if any(isinstance(node, ListOf | MapOf | Comprehension) for node in written(tree)) else audit_number
    )


def makes_numbers(node: Node) -> bool:
    """Whether the node may compute a double."""
    if isinstance(node, Constant):
        return not_finite(node.value)
    return isinstance(node, FunctionCall) and node.kind not in SETTLED and node.function not in WITHOUT_NUMBERS


def copies(node: Node, known: Mapping[str, float], unknown: float) -> float:
    """How often the result may contain the data. Inside a loop, outer data may be contained any number of times."""
    if node.kind:
        return 0
    match node:
        case Ident(name):
            return known.get(name, unknown)
        case FunctionCall("_?_:_", (_, then, otherwise)):
            return max(copies(then, known, unknown), copies(otherwise, known, unknown))
        case FunctionCall(function) if function in NEW_DATA:
            return math.inf
        case Comprehension():
            return fold_copies(node, known, unknown)
        case _:
            return sum(copies(child, known, unknown) for child in children(node))


def fold_copies(node: Comprehension, known: Mapping[str, float], unknown: float) -> float:
    match macro_of(node):
        case Binding(variable, value, body):
            return copies(body, {**known, variable: copies(value, known, unknown)}, unknown)
        case Collected(variable, items, _, value):
            return copies(value, {variable: copies(items, known, unknown)}, math.inf)
        case Sorted(_, items, _):
            return copies(items, known, unknown)
        case _:
            return math.inf


def in_64_bits(value: int) -> bool:
    return LOWEST <= value <= HIGHEST


def refuse(value: Json) -> None:
    raise EvaluationError("an integer in the literal does not fit in 64 bits", 0)


def not_finite(value: Json) -> bool:
    return type(value) is float and value - value != 0


def audit_number(value: Json) -> None:
    if type(value) is float and value - value != 0:
        raise EvaluationError(f"the result is {value}, which JSON does not have", 0)


def audit_all(value: Json) -> None:
    if weigh(value, LARGEST_VALUE) > LARGEST_VALUE:
        raise LimitExceeded(f"gives a result of more than {LARGEST_VALUE:,} values")
    audit_numbers(value)


def audit_numbers(value: Json) -> None:
    if isinstance(value, dict):
        for item in value.values():
            audit_numbers(item)
    elif isinstance(value, list):
        for item in value:
            audit_numbers(item)
    else:
        audit_number(value)
