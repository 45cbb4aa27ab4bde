"""`list.sort_by(item, key)`: a macro that the library does not have. Its parser takes it for a call."""

import msgspec

from jeton.expression.compile.substitute import with_parts
from jeton.expression.own import SORT_BY
from jeton.expression.problems import Unsupported
from jeton.expression.syntax import Comprehension, Constant, FunctionCall, Ident, ListOf, Node

ACCUMULATOR = "@sorted"


def with_sorting(node: Node) -> Node:
    """The tree with a comprehension instead of every call of `sort_by`."""
    changed = with_parts(node, with_sorting)
    if not isinstance(changed, FunctionCall) or changed.function != SORT_BY:
        return changed
    match changed.args:
        case (items, Ident(name), key) if changed.method:
            return sorting(name, items, key, changed.at)
        case _:
            problem = "sort_by takes the name of a variable, and the key of each item"
            raise Unsupported(problem, "write list.sort_by(item, item.key)", changed.at)


def sorting(name: str, items: Node, key: Node, at: int) -> Comprehension:
    made = Ident(ACCUMULATOR, at)
    step = FunctionCall(SORT_BY, (made, key), False, at)
    return Comprehension(
        name, items, ACCUMULATOR, ListOf((), frozenset(), at), Constant(True, at, "bool"), step, made, at
    )


def is_sorting(node: Node) -> bool:
    return isinstance(node, Comprehension) and node.accumulator == ACCUMULATOR


def key_of(node: Comprehension) -> Node:
    """The key of a comprehension that sorts."""
    assert isinstance(node.step, FunctionCall)
    return node.step.args[1]


def with_key(node: Comprehension, items: Node, key: Node) -> Comprehension:
    assert isinstance(node.step, FunctionCall)
    step = msgspec.structs.replace(node.step, args=(node.step.args[0], key))
    return msgspec.structs.replace(node, range=items, step=step)
