"""How much an evaluation may do. Everything is counted, nothing is timed: the same data gives the same answer on any machine.

One unit is about the work of one node of the tree, a tenth of a microsecond. A loop is charged for all its items before it starts."""

from collections.abc import Mapping
from typing import Any, TypeAlias

from jeton.expression.syntax import Fold, Node, children
from jeton.model.json import Json

BUDGET = 1_000_000
LARGEST_VALUE = 1_000_000  # characters of a text, items of a list, or nodes of a whole result
CHARACTERS_PER_UNIT = 8
CHEAP = 100  # a value of this length is not worth charging for

Scope: TypeAlias = Mapping[str, Any]  # Json, or in a bound variable the problem its value had


class Exhausted(Exception):
    """The budget is spent. Unlike a Problem, no `||` absorbs it: whether a bound is hit must not depend on what else is true."""


class Meter:
    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = BUDGET

    def spend(self, units: int) -> None:
        self.left -= units
        if self.left < 0:
            raise Exhausted(f"takes more than {BUDGET:,} steps to evaluate")


class Frame(dict[str, Any]):
    """The scope inside a loop or a binding: what was visible outside, the new variable, and the meter of this evaluation."""

    __slots__ = ("meter",)

    def __init__(self, outer: Scope) -> None:
        super().__init__(outer)
        self.meter: Meter = outer.meter if type(outer) is Frame else Meter()


def charge(scope: Scope, units: int) -> None:
    """Outside loops the length of the source is bound enough."""
    if type(scope) is Frame:
        scope.meter.spend(units)


def limit(scope: Scope, length: int, units: int) -> None:
    """Accounts for a text or a list that is about to be made."""
    if length > LARGEST_VALUE:
        raise Exhausted(f"makes a value larger than {LARGEST_VALUE:,} characters or items")
    charge(scope, units)


def size_of(node: Node) -> int:
    """How many nodes evaluating this once visits; the body of an inner loop is left to that loop."""
    parts = (node.range,) if isinstance(node, Fold) else children(node)
    return 1 + sum(size_of(part) for part in parts)


def weigh(value: Json, most: int) -> int:
    """The number of nodes in the value, with long texts counted by length; stops soon after `most`."""
    if isinstance(value, str):
        return 1 + len(value) // CHARACTERS_PER_UNIT
    weight = 1
    if isinstance(value, list | dict):
        for item in value if isinstance(value, list) else value.values():
            weight += weigh(item, most - weight) if isinstance(item, list | dict | str) else 1
            if weight > most:
                break
    return weight
