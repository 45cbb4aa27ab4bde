"""The functions on lists and texts of expressions.md#functions, as plainly as they can be written."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable
from typing import Any

from tests.simulation.oracle.model import ExpressionFault, is_list, is_object

LARGEST, SMALLEST = 2**63 - 1, -(2**63)


def called(name: str, values: list[Any]) -> Any:
    """The result of a function; a method has its target as the first value."""
    if name not in KNOWN:
        raise ExpressionFault(f"unknown function {name!r}")
    try:
        return KNOWN[name](*values)
    except (TypeError, ValueError, IndexError, AttributeError) as error:
        raise ExpressionFault(f"{name}: {error}") from None


def a_list(value: Any) -> list[Any]:
    if not is_list(value):
        raise ValueError("not a list")
    return list(value)


def whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("not an integer")
    return value


def a_text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("not a text")
    return value


def total(items: Any) -> Any:
    result: Any = 0
    for item in a_list(items):
        if isinstance(item, bool) or not isinstance(item, int | float):
            raise ValueError("not a number")
        result = result + item
        if isinstance(result, int) and not SMALLEST <= result <= LARGEST:
            raise ValueError("does not fit in 64 bits")
        if result - result != 0:
            raise ValueError("not finite")
    return result


def ordered(items: Any) -> list[Any]:
    """The items, if any two of them can be compared."""
    values = a_list(items)
    kinds = {"number" if type(item) in (int, float) else type(item).__name__ for item in values}
    if not (kinds <= {"number"} or kinds <= {"str"} or kinds <= {"bool"}):
        raise ValueError("items that do not compare")
    return values


def same(one: Any, two: Any) -> bool:
    if is_list(one) and is_list(two):
        return len(one) == len(two) and all(same(a, b) for a, b in zip(one, two, strict=True))
    if is_object(one) and is_object(two):
        return one.keys() == two.keys() and all(same(one[key], two[key]) for key in one)
    return bool(one == two) and isinstance(one, bool) == isinstance(two, bool)


def distinct(items: Any) -> list[Any]:
    kept: list[Any] = []
    for item in a_list(items):
        if not any(same(item, other) for other in kept):
            kept.append(item)
    return kept


def flatten(items: Any) -> list[Any]:
    return [inner for item in a_list(items) for inner in (item if is_list(item) else [item])]


def cut(items: Any, start: Any, end: Any) -> list[Any]:
    values = a_list(items)
    if not 0 <= whole(start) <= whole(end) <= len(values):
        raise ValueError("out of range")
    return values[start:end]


def sort_by(items: Any, key: Callable[[Any], Any]) -> list[Any]:
    keys = ordered([key(item) for item in a_list(items)])
    return [item for _, _, item in sorted((key, index, items[index]) for index, key in enumerate(keys))]


def of_list(function: Callable[[list[Any]], Any]) -> Callable[[Any], Any]:
    return lambda items: function(a_list(items))


def of_ordered(function: Callable[[list[Any]], Any]) -> Callable[[Any], Any]:
    return lambda items: function(ordered(items))


def of_text(function: Callable[[str], Any]) -> Callable[[Any], Any]:
    return lambda text: function(a_text(text))


def backwards(items: Any) -> Any:
    return items[::-1] if isinstance(items, str) else a_list(items)[::-1]


def count_up(count: Any) -> list[int]:
    return list(range(whole(count)))


def json_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


KNOWN: dict[str, Callable[..., Any]] = {
    "sum": total,
    "min": of_ordered(min),
    "max": of_ordered(max),
    "sort": of_ordered(sorted),
    "sort_by": sort_by,
    "distinct": distinct,
    "flatten": flatten,
    "slice": cut,
    "reverse": backwards,
    "first": of_list(lambda items: items[0]),
    "last": of_list(lambda items: items[-1]),
    "range": count_up,
    "json.parse": of_text(json.loads),
    "json.text": json_text,
    "base64.encode": of_text(lambda text: base64.standard_b64encode(text.encode()).decode()),
    "base64.decode": of_text(lambda text: base64.b64decode(text, validate=True).decode()),
    "hash.sha256": of_text(lambda text: hashlib.sha256(text.encode()).hexdigest()),
}
