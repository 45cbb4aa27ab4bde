"""Compilation of a tree into one Python function from scope to value.

We walk the tree ourselves rather than hand the scope to the library: its conversion of the data costs more than most
expressions do, its `map` and `filter` take time and memory in the square of the list, its maps have no order, and its
errors do not say where. What it alone can do, it does for us on an island of the tree (see island.py)."""

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from jeton.expression import syntax
from jeton.expression.bounds import size_of
from jeton.expression.compile import closures, functions, loops
from jeton.expression.compile.closures import Evaluator
from jeton.expression.compile.island import NATIVE, ForeignValues, LocalVariable, find_island, island_evaluator
from jeton.expression.compile.macros import Binding, Collected, Counted, Macro, Quantified, Sorted, macro_of
from jeton.expression.compile.operators import (
    COMPARISONS,
    add,
    divide,
    multiply,
    negate,
    remainder,
    size,
    subtract,
    within,
)
from jeton.expression.compile.optionals import (
    NOTHING,
    OPENERS,
    Optional,
    either,
    item_of_optional,
    opened,
    optional_item,
    plain_parts,
)
from jeton.expression.compile.substitute import written_out
from jeton.expression.own import OWN
from jeton.expression.reads import path_of
from jeton.expression.unparse import unparse
from jeton.expression.values import below, path_text

Names: TypeAlias = Mapping[str, LocalVariable]

ARITHMETIC = {"_-_": subtract, "_*_": multiply, "_/_": divide, "_%_": remainder}
SCOPED = {"_+_": add, "@in": within}


def build(tree: syntax.Node, variables: frozenset[str]) -> Evaluator:
    run = Builder(variables).run(tree, {})
    nodes = [*syntax.descend(tree)]
    several_loops = sum(isinstance(node, syntax.Comprehension) for node in nodes) > 1
    charged = any(isinstance(node, syntax.FunctionCall) and node.function in OWN for node in nodes)
    return loops.metered(run) if several_loops or charged else run


class Builder:
    def __init__(self, variables: frozenset[str]) -> None:
        self.foreign = ForeignValues(variables)

    def run(self, node: syntax.Node, names: Names) -> Evaluator:
        constant = syntax.constant_of(node)
        if constant is not None:
            return closures.always(constant[0])
        macro = macro_of(node) if isinstance(node, syntax.Comprehension) else None
        if isinstance(macro, Binding) and self.foreign(macro.value, names):
            return self.run(written_out(macro, node.at), names)
        if self.foreign(node, names) or self.needs_library(node, names):
            return self.island(node, names)
        match node:
            case syntax.Ident(name):
                is_bound = name in names and names[name].bound
                return closures.bound_variable(name) if is_bound else closures.variable(name, node.at)
            case syntax.Select():
                return self.select(node, names)
            case syntax.Has(operand, field):
                return closures.has(self.run(operand, names), field, shown_text(operand, names), node.at)
            case syntax.FunctionCall():
                return self.call(node, names)
            case syntax.ListOf(elements):
                return loops.list_of(tuple(self.run(element, names) for element in elements))
            case syntax.MapOf(entries):
                pairs = tuple((self.run(each.key, names), self.run(each.value, names)) for each in entries)
                return loops.map_of(pairs, node.at)
            case syntax.Comprehension():
                return self.fold(macro_of(node), names, node)
            case syntax.Constant() | syntax.ForeignConstant():
                return self.island(node, names)

    def needs_library(self, node: syntax.Node, names: Names) -> bool:
        match node:
            case syntax.FunctionCall(function) if function in OWN:
                return False
            case syntax.FunctionCall(function, args) if function in OPENERS:
                return plain_parts(args[0]) is None
            case syntax.FunctionCall(function, args):
                return function not in NATIVE or any(self.foreign(arg, names) for arg in args)
            case syntax.Comprehension():
                macro = macro_of(node)
                return macro is None or any(self.foreign(part, names) for part in outer_parts(macro))
            case _:
                return any(self.foreign(child, names) for child in syntax.children(node))

    def island(self, node: syntax.Node, names: Names) -> Evaluator:
        island = find_island(node, lambda part: self.foreign(part, names))
        return island_evaluator(island, tuple(self.run(each, names) for each in island.inputs), node)

    def comparable(self, node: syntax.Node, names: Names) -> Evaluator:
        """The evaluator of something to compare, which may have times in it."""
        if not self.foreign(node, names):
            return self.run(node, names)
        island = find_island(node, lambda part: self.foreign(part, names))
        return island_evaluator(island, tuple(self.run(each, names) for each in island.inputs), node, plain=False)

    def own(self, node: syntax.FunctionCall, names: Names) -> Evaluator:
        if not OWN[node.function].orders or not self.foreign(node.args[0], names):
            return functions.own_function(node.function, tuple(self.run(arg, names) for arg in node.args), node.at)
        args = tuple(self.comparable(arg, names) for arg in node.args)
        return functions.in_json(functions.own_function(node.function, args, node.at))

    def select(self, node: syntax.Select, names: Names) -> Evaluator:
        keys = path_of(node)
        if keys is None or (keys[0] in names and names[keys[0]].bound):
            return closures.select(self.run(node.operand, names), node.field, shown_text(node.operand, names), node.at)
        return closures.path(keys, shown(keys, names), node.at)

    def call(self, node: syntax.FunctionCall, names: Names) -> Evaluator:
        if node.function in OPENERS:
            optional, *otherwise = node.args
            runs = [self.run(each, names) for each in otherwise]
            return opened(node.function, self.optional(optional, names), runs[0] if runs else None, node.at)
        if node.function in OWN:
            return self.own(node, names)
        if node.function == "_[_]":
            return self.index(node, names)
        if node.function in ("_&&_", "_||_"):
            return self.junction(node, names)
        args = [self.run(arg, names) for arg in node.args]
        if node.function in COMPARISONS or node.function in ("_==_", "_!=_"):
            return comparing(node, *args)
        return self.operator(node, args, names)

    def operator(self, node: syntax.FunctionCall, args: list[Evaluator], names: Names) -> Evaluator:
        match node.function, args:
            case "_?_:_", [condition, then, otherwise_run]:
                return closures.choice(condition, then, otherwise_run, node.at)
            case "!_", [operand]:
                return closures.negation(operand, node.at)
            case "dyn", [operand]:
                return operand
            case "-_" | "size", [operand]:
                return closures.unary(negate if node.function == "-_" else size, operand, node.at)
            case "double" | "int" | "string", [operand]:
                island = find_island(
                    node, lambda part: self.foreign(part, names)
                )  # its one input, if any, is the operand
                return closures.conversion(
                    node.function, operand, island_evaluator(island, (operand,) * len(island.inputs), node)
                )
            case "contains" | "startsWith" | "endsWith", [left, right]:
                return closures.text_test(node.function, left, right, node.at)
            case function, [left, right] if function in ARITHMETIC:
                return closures.binary(ARITHMETIC[function], left, right, node.at)
            case function, [left, right] if function in SCOPED:
                return closures.scoped(SCOPED[function], left, right, node.at)
            case _:
                return self.island(node, names)

    def junction(self, node: syntax.FunctionCall, names: Names) -> Evaluator:
        decisive = node.function == "_||_"
        parts = tuple(self.run(part, names) for part in flattened(node, node.function))
        if len(parts) == 2:
            return closures.junction(decisive, node.function, *parts, node.at)
        return closures.chain(decisive, parts, self.nested(node, node.function, iter(parts)))

    def nested(self, node: syntax.Node, function: str, parts: Iterator[Evaluator]) -> Evaluator:
        """The same parts, nested in pairs as the parser has them."""
        if not isinstance(node, syntax.FunctionCall) or node.function != function:
            return next(parts)
        left, right = (self.nested(arg, function, parts) for arg in node.args)
        return closures.junction(function == "_||_", function, left, right, node.at)

    def index(self, node: syntax.FunctionCall, names: Names) -> Evaluator:
        operand, key = node.args
        keys = path_of(node)
        if keys is not None and not (keys[0] in names and names[keys[0]].bound):
            return closures.path(keys, shown(keys, names), node.at)
        return closures.index(self.run(operand, names), self.run(key, names), shown_text(operand, names), node.at)

    def fold(self, macro: Macro | None, names: Names, node: syntax.Comprehension) -> Evaluator:
        match macro:
            case Binding(variable, value, body):
                inner = {**names, variable: LocalVariable(variable, True, False)}
                return loops.bound(variable, self.run(value, names), self.run(body, inner), size_of(body))
            case Quantified(decisive, variable, items, body):
                body_run, cost = self.body(body, variable, items, names), size_of(body)
                return loops.quantified(decisive, variable, self.run(items, names), body_run, cost, node.at)
            case Counted(variable, items, body):
                body_run = self.body(body, variable, items, names)
                return loops.counted(variable, self.run(items, names), body_run, size_of(body), node.at)
            case Collected(variable, items, where, value):
                where_run = None if where is None else self.body(where, variable, items, names)
                value_run = self.body(value, variable, items, names)
                cost = size_of(value) + (0 if where is None else size_of(where))
                return loops.collected(variable, self.run(items, names), where_run, value_run, cost, node.at)
            case Sorted(variable, items, key):
                inner = {**names, variable: LocalVariable(f"{shown_text(items, names)}[]", False, False)}
                key_run = self.comparable(key, inner)
                return functions.sorted_by(variable, self.run(items, names), key_run, size_of(key), node.at)
            case None:
                return self.island(node, names)

    def body(self, node: syntax.Node, variable: str, items: syntax.Node, names: Names) -> Evaluator:
        """The evaluator of a loop's body."""
        return self.run(node, {**names, variable: LocalVariable(f"{shown_text(items, names)}[]", False, False)})

    def optional(self, node: syntax.Node, names: Names) -> Optional:
        """The evaluator of an optional that `plain_parts` knows."""
        if plain_parts(node) is None:
            return self.run(node, names)
        match node:
            case syntax.FunctionCall("_?._" | "_[?_]", (operand, key)):
                by_name = node.function == "_?._"
                return optional_item(self.optional(operand, names), self.run(key, names), by_name, node.at)
            case syntax.Select(operand, field):
                return item_of_optional(self.optional(operand, names), closures.always(field), node.at)
            case syntax.FunctionCall("_[_]", (operand, key)):
                return item_of_optional(self.optional(operand, names), self.run(key, names), node.at)
            case syntax.FunctionCall("or", (left, right)):
                return either(self.optional(left, names), self.optional(right, names))
            case syntax.FunctionCall("_?_:_", (condition, left, right)):
                sides = self.optional(left, names), self.optional(right, names)
                return closures.choice(self.run(condition, names), *sides, node.at)
            case syntax.Comprehension():
                return self.optional_binding(node, names)
            case syntax.FunctionCall("optional.of", (value,)):
                return self.run(value, names)
            case _:
                return lambda scope: NOTHING

    def optional_binding(self, node: syntax.Comprehension, names: Names) -> Optional:
        """What `optMap` and `optFlatMap` turn into: a binding around an optional."""
        inner = {**names, node.accumulator: LocalVariable(node.accumulator, True, False)}
        body = self.optional(node.result, inner)
        return loops.bound(node.accumulator, self.run(node.start, names), body, size_of(node.result))


def comparing(node: syntax.FunctionCall, left: Evaluator, right: Evaluator) -> Evaluator:
    constant = syntax.constant_of(node.args[1])
    if node.function in COMPARISONS:
        if constant is not None:
            return closures.comparison_with(node.function, left, constant[0], node.at)
        return closures.comparison(node.function, left, right, node.at)
    same = node.function == "_==_"
    return closures.equality(same, left, right) if constant is None else closures.equality_with(same, left, constant[0])


def flattened(node: syntax.Node, function: str) -> Iterator[syntax.Node]:
    """The parts of `a && b && c`, which the parser nests."""
    if isinstance(node, syntax.FunctionCall) and node.function == function:
        for arg in node.args:
            yield from flattened(arg, function)
    else:
        yield node


def outer_parts(macro: Macro) -> tuple[syntax.Node, ...]:
    """The parts evaluated outside the loop or binding. If they are foreign, so is its variable."""
    return (macro.value,) if isinstance(macro, Binding) else (macro.range,)


def shown(keys: tuple[str, ...], names: Names) -> tuple[str, ...]:
    """The path for messages, with the loop's items instead of a loop variable."""
    return (names[keys[0]].shown, *keys[1:]) if keys[0] in names else keys


def shown_text(node: syntax.Node, names: Names) -> str:
    """The text of the node in the path of a missing key."""
    match node:
        case syntax.Ident(name):
            return path_text(shown((name,), names))
        case syntax.Select(operand, field) | syntax.FunctionCall("_[_]", (operand, syntax.Constant(str(field)))):
            return below(shown_text(operand, names), field)
        case syntax.FunctionCall("dyn", (operand,)):
            return shown_text(operand, names)
        case _:
            return unparse(node)
