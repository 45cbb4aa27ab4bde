"""The paths that an expression reads, found without evaluating it."""

from collections.abc import Collection, Iterator
from typing import TypeAlias

from jeton.expression.syntax import Comprehension, Constant, FunctionCall, Has, Ident, Node, Select, children

Path: TypeAlias = tuple[str, ...]


def path_of(node: Node) -> Path | None:
    """The path that the node spells; None unless it is a variable followed by constant keys."""
    match node:
        case Ident(name):
            return (name,)
        case Select(operand, field) | FunctionCall("_[_]", (operand, Constant(str(field)))):
            base = path_of(operand)
            return None if base is None else (*base, field)
        case _:
            return None


def read_by(node: Node) -> Path | None:
    """The path that the node reads: `has(a.b)` and `a.?b` read `a.b` too."""
    match node:
        case (
            Has(operand, field)
            | Select(operand, field)
            | FunctionCall("_[_]" | "_?._", (operand, Constant(str(field))))
        ):
            base = read_by(operand)
            return None if base is None else (*base, field)
        case _:
            return path_of(node)


def reads_of(node: Node, variables: Collection[str]) -> tuple[Path, ...]:
    """The longest known paths into `variables`, in order of first occurrence."""
    return tuple(dict.fromkeys(walk(node, frozenset(variables))))


def walk(node: Node, variables: frozenset[str]) -> Iterator[Path]:
    path = read_by(node)
    if path is not None:
        if path[0] in variables:
            yield path
    elif isinstance(node, Comprehension):
        yield from walk(node.range, variables)
        yield from walk(node.start, variables)
        inner = variables - {node.variable, node.accumulator}
        yield from walk(node.condition, inner)
        yield from walk(node.step, inner)
        yield from walk(node.result, inner)
    else:
        for child in children(node):
            yield from walk(child, variables)
