"""Macros recognised in comprehensions: the parser expands `all`, `map` and the others."""

from collections.abc import Iterator
from typing import TypeAlias

import msgspec

from jeton.expression.syntax import Comprehension, Constant, FunctionCall, Ident, ListOf, Node, children


class Quantified(msgspec.Struct, frozen=True):
    """`range.exists(variable, body)` if one item decides by being true, `range.all(…)` if by being false."""

    decisive: bool
    variable: str
    range: Node
    body: Node


class Counted(msgspec.Struct, frozen=True):
    """`range.exists_one(variable, body)`."""

    variable: str
    range: Node
    body: Node


class Collected(msgspec.Struct, frozen=True):
    """`range.map(variable, value)`, `range.map(variable, where, value)` or `range.filter(variable, where)`."""

    variable: str
    range: Node
    where: Node | None
    value: Node


class Sorted(msgspec.Struct, frozen=True):
    """`range.sort_by(variable, key)`. The library has no such macro; sorting.py makes it of the call."""

    variable: str
    range: Node
    key: Node


class Binding(msgspec.Struct, frozen=True):
    """`cel.bind(variable, value, body)`."""

    variable: str
    value: Node
    body: Node


Macro: TypeAlias = Quantified | Counted | Collected | Sorted | Binding


def macro_of(fold: Comprehension) -> Macro | None:
    """The macro that was expanded to this comprehension; None if it has another shape."""
    if fold.variable == "#unused":
        return Binding(fold.accumulator, fold.start, fold.result)
    match fold.step:
        case FunctionCall("sort_by", (Ident(), key)):
            return Sorted(fold.variable, fold.range, key)
        case FunctionCall("_||_", (Ident(), body)):
            return Quantified(True, fold.variable, fold.range, body)
        case FunctionCall("_&&_", (Ident(), body)):
            return Quantified(False, fold.variable, fold.range, body)
        case FunctionCall("_+_", (Ident(), ListOf((value,)))):
            return Collected(fold.variable, fold.range, None, value)
        case FunctionCall("_?_:_", (where, FunctionCall("_+_", (Ident(), ListOf((value,)))), Ident())):
            return Collected(fold.variable, fold.range, where, value)
        case FunctionCall("_?_:_", (body, FunctionCall("_+_", (Ident(), Constant(1))), Ident())):
            return Counted(fold.variable, fold.range, body)
        case _:
            return None


def written(node: Node) -> Iterator[Node]:
    """The node and everything below it, without the nodes that expanding macros added."""
    yield node
    macro = macro_of(node) if isinstance(node, Comprehension) else None
    for part in children(node) if macro is None else parts_of(macro):
        yield from written(part)


def parts_of(macro: Macro) -> tuple[Node, ...]:
    match macro:
        case Quantified(_, _, items, body) | Counted(_, items, body):
            return (items, body)
        case Collected(_, items, where, value):
            return (items, value) if where is None else (items, where, value)
        case Sorted(_, items, key):
            return (items, key)
        case Binding(_, value, body):
            return (value, body)
