"""Trees back into CEL source: for parts that the library evaluates, paths in messages, and remedies."""

import math

from jeton.expression.compile.macros import Binding, Collected, Counted, Quantified, Sorted, macro_of
from jeton.expression.syntax import (
    Comprehension,
    Constant,
    ForeignConstant,
    FunctionCall,
    Has,
    Ident,
    ListOf,
    MapOf,
    Node,
    Select,
)
from jeton.expression.values import below, quoted

PRECEDENCE = (
    ("_?_:_",),
    ("_||_",),
    ("_&&_",),
    ("_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_", "@in"),
    ("_+_", "_-_"),
    ("_*_", "_/_", "_%_"),
    ("!_", "-_"),
)
LEVELS = {function: level for level, functions in enumerate(PRECEDENCE) for function in functions}
ATOM = len(PRECEDENCE)


def unparse(node: Node) -> str:
    """CEL source for the node, with as few brackets as possible."""
    match node:
        case Constant(value):
            return quoted(value) if isinstance(value, str) else literal_text(value)
        case ForeignConstant(source):
            return source
        case Ident(name):
            return name
        case Select(operand, field):
            return below(within(operand, ATOM), field)
        case Has(operand, field):
            return f"has({below(within(operand, ATOM), field)})"
        case FunctionCall():
            return unparse_call(node)
        case ListOf(elements, optional):
            texts = (f"?{unparse(each)}" if index in optional else unparse(each) for index, each in enumerate(elements))
            return f"[{', '.join(texts)}]"
        case MapOf(entries):
            pairs = (f"{'?' * each.optional}{unparse(each.key)}: {unparse(each.value)}" for each in entries)
            return f"{{{', '.join(pairs)}}}"
        case Comprehension():
            return unparse_fold(node)


def literal_text(value: bool | int | float | None) -> str:
    if isinstance(value, float) and math.isinf(value):
        return "1e999" if value > 0 else "-1e999"
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def within(node: Node, level: int) -> str:
    """The node's source, in brackets if its precedence is below the level."""
    source = unparse(node)
    own = ATOM
    if isinstance(node, FunctionCall):
        own = LEVELS.get(node.function, ATOM)
    elif isinstance(node, Constant) and source.startswith("-"):
        own = LEVELS["-_"]
    return source if own >= level else f"({source})"


def unparse_call(node: FunctionCall) -> str:
    match node.function, node.args:
        case "_?_:_", (condition, then, otherwise):
            return f"{within(condition, 1)} ? {within(then, 1)} : {within(otherwise, 0)}"
        case "!_" | "-_", (operand,):
            return node.function[0] + within(operand, ATOM)
        case "_[_]", (operand, key):
            return f"{within(operand, ATOM)}[{unparse(key)}]"
        case "_[?_]", (operand, key):
            return f"{within(operand, ATOM)}[?{unparse(key)}]"
        case "_?._", (operand, Constant(str(key))):
            return f"{within(operand, ATOM)}.?{key}"
        case ("_&&_" | "_||_") as function, (left, right):  # without brackets: the parser nests a chain as it likes
            level = LEVELS[function]
            return f"{within(left, level)} {function.strip('_')} {within(right, level)}"
        case function, (left, right) if function in LEVELS:
            level = LEVELS[function]
            return f"{within(left, level)} {function.strip('_@')} {within(right, level + 1)}"
        case function, (target, *args) if node.method:
            return f"{within(target, ATOM)}.{function}({', '.join(map(unparse, args))})"
        case function, args:
            return f"{function.replace('@max', 'greatest').replace('@min', 'least')}({', '.join(map(unparse, args))})"


def unparse_fold(node: Comprehension) -> str:
    match macro_of(node):
        case Quantified(decisive, variable, items, body):
            return f"{within(items, ATOM)}.{'exists' if decisive else 'all'}({variable}, {unparse(body)})"
        case Counted(variable, items, body):
            return f"{within(items, ATOM)}.exists_one({variable}, {unparse(body)})"
        case Collected(variable, items, where, Ident(name)) if where is not None and name == variable:
            return f"{within(items, ATOM)}.filter({variable}, {unparse(where)})"
        case Collected(variable, items, where, value):
            parts = [variable, *([unparse(where)] if where is not None else []), unparse(value)]
            return f"{within(items, ATOM)}.map({', '.join(parts)})"
        case Sorted(variable, items, key):
            return f"{within(items, ATOM)}.sort_by({variable}, {unparse(key)})"
        case Binding(variable, value, body):
            return f"cel.bind({variable}, {unparse(value)}, {unparse(body)})"
        case None:
            return "…"
