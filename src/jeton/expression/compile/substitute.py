"""Substitution of bindings: `cel.bind(v, a, f(v))` becomes `f(a)`.

Used where the library would evaluate the binding: after `exists` or `all` ends a loop early, version 0.1.3 gives a
bound variable the loop's item instead of its value. A loop that compares with a bound time can
then be compiled here."""

from collections.abc import Callable

from jeton.expression.compile.macros import Binding, macro_of
from jeton.expression.problems import Unsupported
from jeton.expression.syntax import (
    Comprehension,
    FunctionCall,
    Has,
    Ident,
    ListOf,
    MapEntry,
    MapOf,
    Node,
    Select,
    children,
    descend,
)

MOST_NODES = 1_000


def without_bindings(node: Node) -> Node:
    """The tree with every binding substituted."""
    macro = macro_of(node) if isinstance(node, Comprehension) else None
    if isinstance(macro, Binding):
        return without_bindings(written_out(macro, node.at))
    return with_parts(node, without_bindings)


def written_out(binding: Binding, at: int) -> Node:
    """The body with the value instead of the variable. Nested bindings multiply, so the size is limited."""
    caught = (names_read(binding.value) - names_made(binding.value)) & names_made(binding.body)
    if caught:
        raise Unsupported(f"uses the name '{min(caught)}' twice", "give the inner variable another name", at)
    uses = sum(isinstance(each, Ident) and each.name == binding.variable for each in descend(binding.body))
    if count(binding.body) + uses * count(binding.value) > MOST_NODES:
        raise Unsupported("is too complex: its bindings need to be written out", "split it into several mappings", at)
    return substituted(binding.body, binding.variable, binding.value)


def names_read(node: Node) -> set[str]:
    return {each.name for each in descend(node) if isinstance(each, Ident)}


def names_made(node: Node) -> set[str]:
    folds = [each for each in descend(node) if isinstance(each, Comprehension)]
    return {name for fold in folds for name in (fold.variable, fold.accumulator)}


def substituted(node: Node, name: str, value: Node) -> Node:
    def change(part: Node) -> Node:
        return substituted(part, name, value)

    if isinstance(node, Ident):
        return value if node.name == name else node
    if isinstance(node, Comprehension) and name in (node.variable, node.accumulator):
        # inside, the name means something else
        return with_fold_parts(node, change(node.range), change(node.start), node.condition, node.step, node.result)
    return with_parts(node, change)


def with_parts(node: Node, change: Callable[[Node], Node]) -> Node:
    """The node with each of its parts changed; the node itself if none is."""
    parts = [change(part) for part in children(node)]
    if all(new is old for new, old in zip(parts, children(node), strict=True)):
        return node
    match node:
        case Select():
            return Select(parts[0], node.field, node.at, node.kind)
        case Has():
            return Has(parts[0], node.field, node.at, node.kind)
        case FunctionCall():
            return FunctionCall(node.function, tuple(parts), node.method, node.at, node.kind)
        case ListOf():
            return ListOf(tuple(parts), node.optional, node.at, node.kind)
        case MapOf():
            pairs = zip(node.entries, parts[::2], parts[1::2], strict=True)
            return MapOf(tuple(MapEntry(key, value, each.optional) for each, key, value in pairs), node.at, node.kind)
        case Comprehension():
            return with_fold_parts(node, *parts)
        case _:
            return node


def with_fold_parts(
    node: Comprehension, items: Node, start: Node, condition: Node, step: Node, result: Node
) -> Comprehension:
    return Comprehension(node.variable, items, node.accumulator, start, condition, step, result, node.at, node.kind)


def count(node: Node) -> int:
    return sum(1 for _ in descend(node))
