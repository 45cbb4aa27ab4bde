"""Numbers that may come from data: quorums, limits and timeouts. A constant is never evaluated."""

from collections.abc import Collection
from typing import Literal, TypeAlias

import msgspec

from jeton.expression.expression import Expression, compile_expression
from jeton.expression.mapping import failure_text
from jeton.expression.syntax import kind_of
from jeton.expression.values import Failed, Missing
from jeton.model.json import Json, JsonObject

LARGEST_COUNT = 10**15  # sums of times still fit 64 bits

Count: TypeAlias = int | Expression


class NotACount(msgspec.Struct, frozen=True):
    """Why an expression gives no number to use."""

    type: Literal["not_a_count", "expression_error"]
    message: str


def compile_count(written: int | str, variables: Collection[str]) -> Count:
    """A number, or the expression of a text."""
    return compile_expression(written, variables) if isinstance(written, str) else written


def count_of(what: str, expression: Expression, names: JsonObject) -> int | NotACount:
    """The value of an expression that must give a whole number of at least 1."""
    value = expression.evaluate(names)
    if type(value) is int and 1 <= value <= LARGEST_COUNT:
        return value
    if isinstance(value, Failed):
        return NotACount("expression_error", failure_text(what, value))
    found = f"nothing is at {value.path}" if isinstance(value, Missing) else _shown(value)
    return NotACount("not_a_count", f"{what} {expression.source!r} must give a whole number, 1 or more: {found}")


def _shown(value: Json) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"it gives {value}"
    return f"it gives {kind_of(value)}"
