"""CEL's operators on plain JSON values, as the library computes them (tests/expression compares the two).

What differs from Python's: bool is no number, int and double do not mix in arithmetic, ints are 64 bit, and division goes
towards zero."""

import operator
from collections.abc import Callable
from typing import Any, TypeAlias

from jeton.expression.bounds import CHARACTERS_PER_UNIT, CHEAP, Scope, charge, limit
from jeton.expression.syntax import KINDS, kind_of
from jeton.expression.values import below

Value: TypeAlias = Any  # plain JSON: what its type is, the operators find out

LOWEST, HIGHEST = -(2**63), 2**63 - 1
ORDERED = frozenset({int, float, str, bool})
COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "_<_": operator.lt,
    "_<=_": operator.le,
    "_>_": operator.gt,
    "_>=_": operator.ge,
}


class Problem(Exception):
    """There is no value. `&&`, `||` and what is built on them may do without it."""


class KeyMissing(Problem):
    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


class Wrong(Problem):
    def __init__(self, text: str, at: int) -> None:
        super().__init__(text)
        self.text, self.at = text, at


def no_overload(function: str, at: int, *values: Value) -> Wrong:
    symbol = function.strip("_@")
    kinds = " and ".join(KINDS.get(type(value), "unknown") for value in values)
    if {type(value) for value in values} == {int, float}:
        return Wrong(f"there is no {symbol} for {kinds}: turn the int into a double", at)
    return Wrong(f"there is no {symbol} for {kinds}", at)


def in_range(value: int, at: int) -> int:
    if LOWEST <= value <= HIGHEST:
        return value
    raise Wrong("the result does not fit in 64 bits", at)


def add(a: Value, b: Value, at: int, scope: Scope) -> Value:
    kind = type(a)
    if kind is type(b):
        if kind is int:
            return in_range(a + b, at)
        if kind is float:
            return a + b
        if kind is str or kind is list:
            length = len(a) + len(b)
            if length > CHEAP:
                limit(scope, length, length if kind is list else length // CHARACTERS_PER_UNIT)
            return a + b
    raise no_overload("_+_", at, a, b)


def subtract(a: Value, b: Value, at: int) -> Value:
    kind = type(a)
    if kind is type(b) and (kind is int or kind is float):
        return in_range(a - b, at) if kind is int else a - b
    raise no_overload("_-_", at, a, b)


def multiply(a: Value, b: Value, at: int) -> Value:
    kind = type(a)
    if kind is type(b) and (kind is int or kind is float):
        return in_range(a * b, at) if kind is int else a * b
    raise no_overload("_*_", at, a, b)


def divide(a: Value, b: Value, at: int) -> Value:
    kind = type(a)
    if kind is type(b):
        if kind is int:
            if b == 0:
                raise Wrong("divides by zero", at)
            quotient = abs(a) // abs(b)
            return in_range(quotient if (a < 0) == (b < 0) else -quotient, at)
        if kind is float:
            return a / b if b else divide_by_zero(a, b)
    raise no_overload("_/_", at, a, b)


def divide_by_zero(a: float, b: float) -> float:
    """As IEEE 754 has it: Python raises instead."""
    if a == 0 or a != a:
        return float("nan")
    return float("inf") if (a > 0) == (str(b) == "0.0") else float("-inf")


def remainder(a: Value, b: Value, at: int) -> Value:
    if type(a) is not int or type(b) is not int:
        raise no_overload("_%_", at, a, b)
    if b == 0:
        raise Wrong("divides by zero", at)
    in_range(abs(a) // abs(b), at)  # the library refuses the one overflow of the division
    return abs(a) % abs(b) if a >= 0 else -(abs(a) % abs(b))


def negate(a: Value, at: int) -> Value:
    if type(a) is int:
        return in_range(-a, at)
    if type(a) is float:
        return -a
    raise no_overload("-", at, a)


def compare(function: str, a: Value, b: Value, at: int) -> bool:
    """int and double compare, unlike in arithmetic: as doubles."""
    kind, other = type(a), type(b)
    holds = COMPARISONS[function]
    if kind is other and kind in ORDERED:
        return holds(a, b)
    if kind is int and other is float:
        return holds(float(a), b)
    if kind is float and other is int:
        return holds(a, float(b))
    raise no_overload(function, at, a, b)


def equal(a: Value, b: Value, scope: Scope) -> bool:
    """Values of different types differ, except that an int and a double may be the same number."""
    kind, other = type(a), type(b)
    if kind is other:
        if kind is list:
            charge(scope, len(a))
            return len(a) == len(b) and all(equal(left, right, scope) for left, right in zip(a, b, strict=True))
        if kind is dict:
            charge(scope, len(a))
            return a.keys() == b.keys() and all(equal(a[key], b[key], scope) for key in a)
        return a == b
    if kind is int and other is float:
        return float(a) == b
    if kind is float and other is int:
        return a == float(b)
    return False


def within(item: Value, container: Value, at: int, scope: Scope) -> bool:
    if type(container) is list:
        charge(scope, len(container))
        return any(equal(item, each, scope) for each in container)
    if type(container) is dict and type(item) in ORDERED:
        return type(item) is str and item in container
    raise no_overload("in", at, item, container)


def element(container: Value, key: Value, base: str, at: int) -> Value:
    """`container[key]`; `base` is how the container is called in the path of a missing key."""
    kind = type(container)
    if kind is dict:
        if type(key) is str and key in container:
            return checked(container[key], at)
        if type(key) in ORDERED:
            raise KeyMissing(below(base, key if type(key) is str else str(key)))
        raise Wrong(f"{kind_of(key)} cannot be the key of a map", at)
    if kind is list:
        if type(key) is float and key.is_integer():
            key = int(key)
        if type(key) is not int:
            raise Wrong(f"{kind_of(key)} cannot be the index of a list", at)
        if not 0 <= key < len(container):
            raise Wrong(f"index {key} is out of range: the list has {len(container)} items", at)
        return checked(container[key], at)
    raise Wrong(f"{KINDS.get(kind, 'unknown')} has no items to index", at)


def field(container: Value, key: str, base: str, at: int) -> Value:
    """`container.key`."""
    if type(container) is not dict:
        raise Wrong(f"{base} is {KINDS.get(type(container), 'unknown')}, which has no field '{key}'", at)
    if key not in container:
        raise KeyMissing(below(base, key))
    return checked(container[key], at)


def checked(value: Value, at: int) -> Value:
    if type(value) is int and not LOWEST <= value <= HIGHEST:
        raise Wrong("an integer in the data does not fit in 64 bits", at)
    return value


def size(value: Value, at: int) -> int:
    if type(value) in (str, list, dict):
        return len(value)
    raise no_overload("size", at, value)
