"""Which data an expression reads: the fields to show in an error message, and to watch."""

from collections.abc import Collection, Iterator
from typing import TypeAlias

from jeton.expression.syntax import Comprehension, Constant, FunctionCall, Has, Ident, Node, Select, children

Path: TypeAlias = tuple[str, ...]


def path_of(node: Node) -> Path | None:
    """The path that the node spells, if it is a variable and constant keys and nothing else."""
    match node:
        case Ident(name):
            return (name,)
        case Select(operand, field) | FunctionCall("_[_]", (operand, Constant(str(field)))):
            base = path_of(operand)
            return None if base is None else (*base, field)
        case _:
            return None


def read_by(node: Node) -> Path | None:
    """The path that the node reads, which `has(a.b)` and `a.?b` do as much as `a.b`."""
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
    """The longest paths into `variables` that are known without evaluating, in order of first occurrence."""
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
