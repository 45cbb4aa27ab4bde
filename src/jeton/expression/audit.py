"""The last look at a result: it must be JSON, and not larger than what may be stored.

A path gives what was in the scope, so only results that an expression has made up need the look."""

from collections.abc import Callable
from typing import TypeAlias

from jeton.expression.bounds import LARGEST_VALUE, Exhausted, weigh
from jeton.expression.operators import Wrong
from jeton.expression.syntax import Call, Fold, Ident, ListOf, Literal, MapOf, Node, descend
from jeton.model.json import Json

Audit: TypeAlias = Callable[[Json], None] | None

MOST_COPIES = 64  # a result without loops is at most this many times as large as the data
WITHOUT_NUMBERS = frozenset({"_[_]", "_?_:_", "dyn", "orJson", "value", "split"})


def audit_for(tree: Node) -> Audit:
    """What to check of the tree's results; None if they are beyond doubt."""
    if tree.kind in ("bool", "null", "int", "string"):
        return None
    nodes = list(descend(tree))
    computes = any(isinstance(node, Call) and node.function not in WITHOUT_NUMBERS and not settled(node) for node in nodes)
    infinite = any(isinstance(node, Literal) and not_finite(node.value) for node in nodes)
    copies = any(isinstance(node, Fold) for node in nodes) or sum(isinstance(node, Ident) for node in nodes) > MOST_COPIES
    if not (computes or infinite or copies):
        return None
    return audit_all if any(isinstance(node, ListOf | MapOf | Fold) for node in nodes) else audit_number


def settled(node: Call) -> bool:
    return node.kind in ("bool", "null", "int", "string")


def not_finite(value: Json) -> bool:
    return type(value) is float and value - value != 0


def audit_number(value: Json) -> None:
    if type(value) is float and value - value != 0:
        raise Wrong(f"the result is {value}, which JSON does not have", 0)


def audit_all(value: Json) -> None:
    if weigh(value, LARGEST_VALUE) > LARGEST_VALUE:
        raise Exhausted(f"gives a result of more than {LARGEST_VALUE:,} values")
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
