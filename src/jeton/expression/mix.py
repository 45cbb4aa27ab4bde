"""Expressions in which an int meets a double. CEL's checker refuses them; here the int becomes a double."""

import msgspec

from jeton.expression.compile.substitute import with_parts
from jeton.expression.library import compile_source, parse_source
from jeton.expression.problems import COMPARED, MIXING
from jeton.expression.syntax import Constant, FunctionCall, Ident, Node, children
from jeton.expression.unparse import unparse


def mixed_tree(source: str, variables: frozenset[str]) -> Node:
    """The tree with the kinds of its parts, and a conversion wherever an int meets a double.

    The checker gives the kinds once `dyn` hides operands from it. Raises RuntimeError if it finds anything else."""
    tree = parse_source(source, variables)
    return settled(tree, compile_source(unparse(loosened(tree)), variables).tree())


def mixes(node: Node) -> bool:
    """Whether the node may mix numbers. What a macro adds to its accumulator does not."""
    if not isinstance(node, FunctionCall) or node.function not in MIXING or len(node.args) != 2:
        return False
    return not any(isinstance(arg, Ident) and arg.name.startswith("@") for arg in node.args)


def loosened(node: Node) -> Node:
    """The node with `dyn` around the operands of every operator that may mix."""
    changed = with_parts(node, loosened)
    if not isinstance(changed, FunctionCall) or not mixes(node):
        return changed
    return msgspec.structs.replace(changed, args=tuple(hidden(arg) for arg in changed.args))


def hidden(node: Node) -> FunctionCall:
    return FunctionCall("dyn", (node,), False, node.at)


def settled(node: Node, checked: Node) -> Node:
    """The node with the kinds of its checked twin, which has more `dyn`."""
    twins = children(checked)
    if mixes(node):
        twins = tuple(twin for each in twins for twin in children(each))
    changed = iter([settled(part, twin) for part, twin in zip(children(node), twins, strict=True)])
    made = with_parts(node, lambda part: next(changed))
    if not isinstance(made, FunctionCall) or not mixes(node):
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
