"""Expressions that CEL's checker refuses, although they are meant: an int meets a double, or a list is sorted by a key.

The checker is given the same expression in other words. What it finds out about the parts is put on the author's
tree, and the problems it finds are put where the author wrote them."""

import re
from collections.abc import Iterator

import msgspec

from jeton.expression.compile.substitute import with_parts
from jeton.expression.library import compile_source, parse_source
from jeton.expression.problems import COMPARED, MIXING, only_mixes
from jeton.expression.sorting import is_sorting, key_of, with_key, with_sorting
from jeton.expression.syntax import Comprehension, Constant, FunctionCall, Ident, ListOf, Node, children
from jeton.expression.unparse import unparse
from jeton.expression.values import position_of

COLUMN = re.compile(r"ERROR: <input>:1:(\d+):")


class Refused(Exception):
    """What the checker says, with the positions of the author's text."""


def checked_tree(source: str, variables: frozenset[str]) -> Node:
    """The tree with the kinds of its parts, and a conversion wherever an int meets a double.

    The checker gives the kinds once `dyn` hides operands from it. Raises Refused if it finds anything else."""
    tree = with_sorting(parse_source(source, variables))
    try:
        return settled(tree, checked(tree, False, source, variables), False)
    except Refused as refused:
        if not only_mixes(str(refused)):
            raise
    return settled(tree, checked(tree, True, source, variables), True)


def checked(tree: Node, loose: bool, source: str, variables: frozenset[str]) -> Node:
    """The tree that the checker makes of the expression in other words."""
    text = unparse(reworded(tree, loose))
    try:
        return compile_source(text, variables).tree()
    except RuntimeError as error:
        places = dict(positions(tree, parse_source(text, variables), loose))
        raise Refused(
            COLUMN.sub(
                lambda found: f"ERROR: <input>:{position_of(source, places.get(int(found[1]) - 1, 0))}:", str(error)
            )
        ) from None


def mixes(node: Node) -> bool:
    """Whether the node may mix numbers. What a macro adds to its accumulator does not."""
    if not isinstance(node, FunctionCall) or node.function not in MIXING or len(node.args) != 2:
        return False
    return not any(isinstance(arg, Ident) and arg.name.startswith("@") for arg in node.args)


def reworded(node: Node, loose: bool) -> Node:
    """The node with `map` for `sort_by`, and if loose with `dyn` around the operands of every operator that may mix."""
    if isinstance(node, Comprehension) and is_sorting(node):
        return hidden(mapped(node, reworded(node.range, loose), reworded(key_of(node), loose)))
    changed = with_parts(node, lambda part: reworded(part, loose))
    if not isinstance(changed, FunctionCall) or not (loose and mixes(node)):
        return changed
    return msgspec.structs.replace(changed, args=tuple(hidden(arg) for arg in changed.args))


def mapped(node: Comprehension, items: Node, key: Node) -> Comprehension:
    """`items.map(variable, dyn(key))`."""
    result = Ident("@result", node.at)
    step = FunctionCall("_+_", (result, ListOf((hidden(key),), frozenset(), node.at)), False, node.at)
    return Comprehension(node.variable, items, result.name, node.start, node.condition, step, result, node.at)


def hidden(node: Node) -> FunctionCall:
    return FunctionCall("dyn", (node,), False, node.at)


def twins(node: Node, checked: Node, loose: bool) -> Iterator[tuple[Node, Node]]:
    """The author's parts of the node, each with its twin in the tree of the checker."""
    match checked:
        case FunctionCall("dyn", (Comprehension(_, items, step=FunctionCall(_, (_, ListOf((key,))))),)) if isinstance(
            node, Comprehension
        ) and is_sorting(node):
            yield node.range, items
            yield key_of(node), children(key)[0]
        case _ if loose and mixes(node):
            yield from zip(children(node), (children(each)[0] for each in children(checked)), strict=True)
        case _:
            yield from zip(children(node), children(checked), strict=True)


def positions(node: Node, checked: Node, loose: bool) -> Iterator[tuple[int, int]]:
    """Where the checker has the parts of the node, and where the author has them."""
    yield checked.at, node.at
    for part, twin in twins(node, checked, loose):
        yield from positions(part, twin, loose)


def settled(node: Node, checked: Node, loose: bool) -> Node:
    """The node with the kinds of its checked twin."""
    parts = [settled(part, twin, loose) for part, twin in twins(node, checked, loose)]
    if isinstance(node, Comprehension) and is_sorting(node):
        return with_key(node, *parts)
    changed = iter(parts)
    made = with_parts(node, lambda part: next(changed))
    if not isinstance(made, FunctionCall) or not (loose and mixes(node)):
        return msgspec.structs.replace(made, kind=checked.kind)
    left, right = made.args
    compares = made.function in COMPARED
    result = "bool" if compares else left.kind if left.kind == right.kind else ""
    if {left.kind, right.kind} == {"int", "double"}:
        convert = hidden if compares else as_double
        made = msgspec.structs.replace(
            made, args=tuple(convert(arg) if arg.kind == "int" else arg for arg in made.args)
        )
        result = result or "double"
    return msgspec.structs.replace(made, kind=result)


def as_double(node: Node) -> Node:
    """The node converted to a double."""
    if isinstance(node, Constant) and isinstance(node.value, int):
        return Constant(float(node.value), node.at, "double")
    return FunctionCall("double", (node,), False, node.at, "double")
