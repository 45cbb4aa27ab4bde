"""Limits of an evaluation: counted, not timed, so that the same data gives the same result on every machine.

One unit is about the work of one tree node, a tenth of a microsecond. A loop is charged for all its items at its
start."""

from collections.abc import Mapping
from typing import Any, TypeAlias

from jeton.expression.syntax import Comprehension, Node, children
from jeton.model.json import Json

BUDGET = 1_000_000
LARGEST_VALUE = 1_000_000  # characters of a text, items of a list, or nodes of a whole result
CHARACTERS_PER_UNIT = 8
DEEPEST_DATA = 200  # the library would overrun its stack some thousand levels deep
CHEAP = 100  # a value of this length is not worth charging for

Scope: TypeAlias = Mapping[str, Any]  # plain JSON, or in a bound variable the problem that its value had


class LimitExceeded(Exception):
    """The budget is spent. No `||` absorbs it, unlike an EvaluationProblem: the rest was not evaluated."""


class Budget:
    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = BUDGET

    def spend(self, units: int) -> None:
        self.left -= units
        if self.left < 0:
            raise LimitExceeded(f"takes more than {BUDGET:,} steps to evaluate")


class LocalScope(dict[str, Any]):
    """The scope inside a loop or a binding: the outer scope, a new variable, and the budget of the evaluation."""

    __slots__ = ("meter",)

    def __init__(self, outer: Scope) -> None:
        super().__init__(outer)
        self.meter: Budget = outer.meter if type(outer) is LocalScope else Budget()


def charge(scope: Scope, units: int) -> None:
    """Spend units of the budget. Outside loops the length of the source limits the work."""
    if type(scope) is LocalScope:
        scope.meter.spend(units)


def limit(scope: Scope, length: int, units: int) -> None:
    """Check the length of a text or list before it is made, and spend units on it."""
    if length > LARGEST_VALUE:
        raise LimitExceeded(f"makes a value larger than {LARGEST_VALUE:,} characters or items")
    charge(scope, units)


def size_of(node: Node) -> int:
    """The number of nodes that one evaluation visits, without the bodies of inner loops."""
    parts = (node.range, node.start) if isinstance(node, Comprehension) else children(node)
    return 1 + sum(size_of(part) for part in parts)


def weigh(value: Json, most: int, depth: int = DEEPEST_DATA) -> int:
    """The number of nodes in the value, with long texts counted by length. Stops soon after `most`."""
    if isinstance(value, str):
        return 1 + len(value) // CHARACTERS_PER_UNIT
    if not isinstance(value, list | dict):
        return 1
    if depth == 0:
        raise LimitExceeded(f"the data is nested more than {DEEPEST_DATA} levels deep")
    weight = 1
    for item in value if isinstance(value, list) else value.values():
        weight += weigh(item, most - weight, depth - 1)
        if weight > most:
            break
    return weight
