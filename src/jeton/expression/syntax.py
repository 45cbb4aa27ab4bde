"""The tree of a parsed expression.

`at` is where the parser puts a node, as a count of characters: the operator of `a + b`, the dot of `a.b`, the bracket
of `f(a)`. `kind` is what the checker knows the value to be, if that is one of null, bool, int, double and string."""

from collections.abc import Iterator
from typing import TypeAlias

import msgspec

from jeton.model.json import Json


class Constant(msgspec.Struct, frozen=True):
    value: bool | int | float | str | None
    at: int
    kind: str


class ForeignConstant(msgspec.Struct, frozen=True):
    """A constant that JSON does not have, an unsigned number or bytes, as CEL source."""

    source: str
    at: int
    kind: str = ""


class Ident(msgspec.Struct, frozen=True):
    name: str
    at: int
    kind: str = ""


class Select(msgspec.Struct, frozen=True):
    operand: "Node"
    field: str
    at: int
    kind: str = ""


class Has(msgspec.Struct, frozen=True):
    operand: "Node"
    field: str
    at: int
    kind: str = "bool"


class FunctionCall(msgspec.Struct, frozen=True):
    """An operator, a function or, with its target as first argument, a method."""

    function: str
    args: tuple["Node", ...]
    method: bool
    at: int
    kind: str = ""


class ListOf(msgspec.Struct, frozen=True):
    elements: tuple["Node", ...]
    optional: frozenset[int]
    at: int
    kind: str = ""


class MapEntry(msgspec.Struct, frozen=True):
    key: "Node"
    value: "Node"
    optional: bool


class MapOf(msgspec.Struct, frozen=True):
    entries: tuple[MapEntry, ...]
    at: int
    kind: str = ""


class Comprehension(msgspec.Struct, frozen=True):
    """What the macros `all`, `exists`, `exists_one`, `map`, `filter` and `cel.bind` turn into (see macros.py)."""

    variable: str
    range: "Node"
    accumulator: str
    start: "Node"
    condition: "Node"
    step: "Node"
    result: "Node"
    at: int
    kind: str = ""


Node: TypeAlias = Constant | ForeignConstant | Ident | Select | Has | FunctionCall | ListOf | MapOf | Comprehension


def children(node: Node) -> tuple[Node, ...]:
    """The node's parts, in the order of evaluation."""
    match node:
        case Constant() | ForeignConstant() | Ident():
            return ()
        case Select(operand) | Has(operand):
            return (operand,)
        case FunctionCall():
            return node.args
        case ListOf(elements):
            return elements
        case MapOf(entries):
            return tuple(part for entry in entries for part in (entry.key, entry.value))
        case Comprehension():
            return (node.range, node.start, node.condition, node.step, node.result)


def descend(node: Node) -> Iterator[Node]:
    """The node and everything below it."""
    yield node
    for child in children(node):
        yield from descend(child)


def from_json(value: Json) -> Node:
    """The tree of an expression for this value."""
    match value:
        case list():
            return ListOf(tuple(from_json(item) for item in value), frozenset(), 0)
        case dict():
            return MapOf(tuple(MapEntry(from_json(key), from_json(item), False) for key, item in value.items()), 0)
        case _:
            return Constant(value, 0, kind_of(value))


def constant_of(node: Node) -> tuple[Json] | None:
    """The constant value of the node, in a tuple because it may be null; None if it is not constant."""
    match node:
        case Constant(value):
            return (value,)
        case ListOf(elements) if not node.optional:
            items = [constant_of(element) for element in elements]
            return None if None in items else ([item[0] for item in items if item is not None],)
        case MapOf(entries):
            found: dict[str, Json] = {}
            for entry in entries:
                key = entry.key.value if isinstance(entry.key, Constant) else None
                item = constant_of(entry.value)
                if entry.optional or item is None or not isinstance(key, str) or key in found:
                    return None
                found[key] = item[0]
            return (found,)
        case _:
            return None


def kind_of(value: Json) -> str:
    """CEL's name for the type of a JSON value."""
    return KINDS.get(type(value), "unknown")


KINDS: dict[type, str] = {
    type(None): "null",
    bool: "bool",
    int: "int",
    float: "double",
    str: "string",
    list: "list",
    dict: "map",
}
