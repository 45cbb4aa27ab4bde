"""CEL's operators on plain JSON values, as the library computes them: tests/expression compares the two.

What differs from the library's: beside a double an int becomes one, an int and a double compare exactly, and a result
that is infinite or not a number is an error. What differs from Python's: bool is no number, ints are 64 bit, and
division goes towards zero. (`type(a) is int` rather than isinstance, because to Python a bool is an int.)"""

import operator
from collections.abc import Callable
from typing import Any

from jeton.expression.bounds import CHARACTERS_PER_UNIT, CHEAP, Scope, charge, limit
from jeton.expression.syntax import kind_of
from jeton.expression.values import below
from jeton.model.json import Json

LOWEST, HIGHEST = -(2**63), 2**63 - 1
COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "_<_": operator.lt,
    "_<=_": operator.le,
    "_>_": operator.gt,
    "_>=_": operator.ge,
}


class EvaluationProblem(Exception):
    """There is no value. `&&`, `||` and the macros may still have a result."""


class KeyMissing(EvaluationProblem):
    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


class EvaluationError(EvaluationProblem):
    def __init__(self, text: str, at: int) -> None:
        super().__init__(text)
        self.text, self.at = text, at


def no_overload(function: str, at: int, *values: Json) -> EvaluationError:
    return EvaluationError(f"there is no {function.strip('_@')} for {' and '.join(map(kind_of, values))}", at)


def in_range(value: int, at: int) -> int:
    if LOWEST <= value <= HIGHEST:
        return value
    raise EvaluationError("the result does not fit in 64 bits", at)


def finite(value: float, at: int) -> float:
    """A double that was computed. Raises EvaluationError for infinity and NaN."""
    if value - value == 0:
        return value
    raise EvaluationError(f"the result is {value}, which JSON does not have", at)


def doubles(function: str, at: int, a: Json, b: Json) -> tuple[float, float]:
    """Two numbers as doubles. Raises EvaluationError if one is no number."""
    if (type(a) is int or type(a) is float) and (type(b) is int or type(b) is float):
        return float(a), float(b)
    raise no_overload(function, at, a, b)


def checked(value: Json, at: int) -> Json:
    """A value from the scope. Raises EvaluationError for an integer beyond 64 bits."""
    if type(value) is int and not LOWEST <= value <= HIGHEST:
        raise EvaluationError("an integer in the data does not fit in 64 bits", at)
    return value


def add(a: Json, b: Json, at: int, scope: Scope) -> Json:
    if type(a) is int and type(b) is int:
        return in_range(a + b, at)
    if type(a) is float and type(b) is float:
        return finite(a + b, at)
    if type(a) is str and type(b) is str:
        length = len(a) + len(b)
        if length > CHEAP:
            limit(scope, length, length // CHARACTERS_PER_UNIT)
        return a + b
    if type(a) is list and type(b) is list:
        limit(scope, len(a) + len(b), len(a) + len(b))
        return a + b
    left, right = doubles("+", at, a, b)
    return finite(left + right, at)


def subtract(a: Json, b: Json, at: int) -> Json:
    if type(a) is int and type(b) is int:
        return in_range(a - b, at)
    if type(a) is float and type(b) is float:
        return finite(a - b, at)
    left, right = doubles("-", at, a, b)
    return finite(left - right, at)


def multiply(a: Json, b: Json, at: int) -> Json:
    if type(a) is int and type(b) is int:
        return in_range(a * b, at)
    if type(a) is float and type(b) is float:
        return finite(a * b, at)
    left, right = doubles("*", at, a, b)
    return finite(left * right, at)


def divide(a: Json, b: Json, at: int) -> Json:
    if type(a) is int and type(b) is int:
        if b == 0:
            raise EvaluationError("divides by zero", at)
        quotient = abs(a) // abs(b)
        return in_range(quotient if (a < 0) == (b < 0) else -quotient, at)
    left, right = doubles("/", at, a, b)
    if right == 0:
        raise EvaluationError("divides by zero", at)
    return finite(left / right, at)


def remainder(a: Json, b: Json, at: int) -> Json:
    if type(a) is not int or type(b) is not int:
        raise no_overload("%", at, a, b)
    if b == 0:
        raise EvaluationError("divides by zero", at)
    if a == LOWEST and b == -1:  # the one division that overflows
        raise EvaluationError("the result does not fit in 64 bits", at)
    return a % abs(b) if a >= 0 else -(-a % abs(b))


def negate(a: Json, at: int) -> Json:
    if type(a) is int:
        return in_range(-a, at)
    if type(a) is float:
        return -a
    raise no_overload("-", at, a)


def compare(function: str, a: Json, b: Json, at: int) -> bool:
    """Compare two values. An int and a double compare exactly."""
    if (type(a) is type(b) and type(a) in ORDERED) or (type(a) in NUMBERS and type(b) in NUMBERS):
        return COMPARISONS[function](a, b)
    raise no_overload(function, at, a, b)


ORDERED = frozenset({int, float, str, bool})
NUMBERS = frozenset({int, float})


def equal(a: Json, b: Json, scope: Scope) -> bool:
    """Equality. Values of different types differ, except that an int may equal a double."""
    if type(a) is list and type(b) is list:
        charge(scope, len(a))
        return len(a) == len(b) and all(equal(left, right, scope) for left, right in zip(a, b, strict=True))
    if type(a) is dict and type(b) is dict:
        charge(scope, len(a))
        return a.keys() == b.keys() and all(equal(a[key], b[key], scope) for key in a)
    if type(a) in NUMBERS and type(b) in NUMBERS:
        return a == b
    return type(a) is type(b) and a == b


def within(item: Json, container: Json, at: int, scope: Scope) -> bool:
    if type(container) is list:
        charge(scope, len(container))
        return any(equal(item, each, scope) for each in container)
    if type(container) is dict and type(item) in ORDERED:
        return type(item) is str and item in container
    raise no_overload("in", at, item, container)


def element(container: Json, key: Json, base: str, at: int) -> Json:
    """`container[key]`; `base` is how the container is called in the path of a missing key."""
    if type(container) is dict:
        if type(key) is str and key in container:
            return checked(container[key], at)
        if type(key) in ORDERED:
            raise KeyMissing(below(base, key) if type(key) is str else f"{base}[{str(key).lower()}]")
        raise EvaluationError(f"{kind_of(key)} cannot be the key of a map", at)
    if type(container) is list:
        if type(key) is float and key.is_integer():
            key = int(key)
        if type(key) is not int:
            raise EvaluationError(f"{kind_of(key)} cannot be the index of a list", at)
        if not 0 <= key < len(container):
            raise EvaluationError(f"index {key} is out of range: the list has {len(container)} items", at)
        return checked(container[key], at)
    raise EvaluationError(f"{base} is {kind_of(container)}, which has no items to index", at)


def field(container: Json, key: str, base: str, at: int) -> Json:
    """`container.key`."""
    if type(container) is not dict:
        raise EvaluationError(f"{base} is {kind_of(container)}, which has no field '{key}'", at)
    if key not in container:
        raise KeyMissing(below(base, key))
    return checked(container[key], at)


def size(value: Json, at: int) -> Json:
    if type(value) is str or type(value) is list or type(value) is dict:
        return len(value)
    raise no_overload("size", at, value)
