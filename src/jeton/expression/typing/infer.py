"""Type inference: the type of every part of an expression, from the schemas of its variables, with type errors."""

import difflib
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from jeton.expression import syntax
from jeton.expression.compile.macros import Binding, Collected, Counted, Macro, Quantified, Sorted, macro_of
from jeton.expression.own import OWN
from jeton.expression.problems import ExpressionProblem
from jeton.expression.typing.lists import ITEMS, list_of, result_of
from jeton.expression.typing.schemas import (
    ALL_KINDS,
    UNKNOWN,
    Type,
    field_of,
    inlined,
    is_decimal,
    item_of,
    kinds_of,
    of_kind,
    of_schema,
    of_value,
    undeclared,
    union,
)
from jeton.expression.typing.signatures import ARGUMENTS, PAIRS, RESULTS
from jeton.expression.unparse import unparse
from jeton.expression.values import position_of
from jeton.model.json import Json, Schema

Types: TypeAlias = Mapping[str, Type]

LIST, MAP, BOOL = frozenset({"list"}), frozenset({"map"}), frozenset({"bool"})
LAST_ERROR: Schema = {
    "type": "object",
    "properties": {
        "node": {"type": "string"},
        "step": {"type": "string"},
        "type": {"type": "string"},
        "message": {"type": "string"},
        "attempts": {"type": "integer"},
        "calls": {"type": "integer"},
    },
    "additionalProperties": False,
}


class Inference:
    """One walk over one tree, which collects problems."""

    def __init__(self, source: str, schemas: Mapping[str, Schema]) -> None:
        self.source, self.schemas = source, schemas
        self.problems: list[ExpressionProblem] = []
        self.warnings: list[ExpressionProblem] = []

    def type_of(self, node: syntax.Node, local: Types) -> Type:
        constant = syntax.constant_of(node)
        if constant is not None:
            return of_value(constant[0])
        match node:
            case syntax.Constant() | syntax.ForeignConstant():
                return UNKNOWN
            case syntax.Ident(name):
                return local[name] if name in local else self.variable(name)
            case syntax.Select(operand, field):
                return self.field(node, operand, field, local)
            case syntax.Has(operand, field):
                self.field(node, operand, field, local)
                return of_kind("bool")
            case syntax.FunctionCall():
                return self.call(node, local)
            case syntax.ListOf(elements):
                items = [self.type_of(element, local) for element in elements]
                return Type({"type": "array", "items": inlined(union(items))}, {})
            case syntax.MapOf():
                return self.map_of(node, local)
            case syntax.Comprehension():
                return self.fold(macro_of(node), node, local)

    def variable(self, name: str) -> Type:
        schema = self.schemas.get(name, {})
        return of_schema(schema, schema)

    def field(self, node: syntax.Node, operand: syntax.Node, key: str, local: Types) -> Type:
        if (
            key == "_last_error"
            and isinstance(operand, syntax.Ident)
            and operand.name == "state"
            and "state" not in local
        ):
            return Type(LAST_ERROR, LAST_ERROR)
        of = self.type_of(operand, local)
        found, text = field_of(of, key), unparse(operand)
        if isinstance(found, Type):
            known = None if asks(node) else undeclared(of, key)
            if known is not None:
                self.warn(node, f"the schema of {text} declares no field '{key}'", did_you_mean(key, known))
            return found
        if "map" not in found.kinds:
            self.report(node, f"{text} is {listed(found.kinds)}, which has no field '{key}'", f"read {text} itself")
        else:
            self.report(node, f"the schema of {text} rules out a field '{key}'", did_you_mean(key, found.known))
        return UNKNOWN

    def call(self, node: syntax.FunctionCall, local: Types) -> Type:
        match node.function, node.args:
            case "_[_]", (operand, syntax.Constant(str(key))):
                return self.field(node, operand, key, local)
            case "_?._", (operand, syntax.Constant(str(key))):
                return self.field(node, operand, key, local)
            case "_[_]" | "_[?_]", (operand, key):
                return self.item(node, operand, key, local)
            case "_?_:_", (condition, then, otherwise):
                self.expect(condition, self.type_of(condition, local), BOOL, "the condition before ?")
                return union([self.type_of(then, local), self.type_of(otherwise, local)])
            case "orValue", (optional, otherwise):
                return union([self.type_of(optional, local), self.type_of(otherwise, local)])
            case "dyn" | "value", (operand,):
                return self.type_of(operand, local)
            case function, (left, right) if function in PAIRS:
                return self.pair(node, left, right, local)
            case _:
                return self.function(node, local)

    def item(self, node: syntax.Node, operand: syntax.Node, key: syntax.Node, local: Types) -> Type:
        of, keys = self.type_of(operand, local), kinds_of(self.type_of(key, local))
        kinds = kinds_of(of) & (LIST | MAP)
        if not kinds:
            text = unparse(operand)
            self.report(node, f"{text} is {listed(kinds_of(of))}, which has no items to index", f"read {text} itself")
        elif kinds == LIST and not keys & {"int", "double"}:
            self.report(node, f"a list is indexed with {listed(keys)}", "use an int, counted from 0")
        elif kinds == MAP and "string" not in keys:
            self.report(node, f"a map is indexed with {listed(keys)}", f"write string({unparse(key)})")
        if kinds != LIST:
            return UNKNOWN
        return item_of(of, key.value if isinstance(key, syntax.Constant) and isinstance(key.value, int) else None)

    def pair(self, node: syntax.FunctionCall, left: syntax.Node, right: syntax.Node, local: Types) -> Type:
        """A binary operator, whose operand types must match."""
        symbol = node.function.strip("_@")
        of_left, of_right = self.type_of(left, local), self.type_of(right, local)
        lefts, rights = kinds_of(of_left), kinds_of(of_right)
        for part, of, others in ((left, of_left, rights), (right, of_right, lefts)):
            if is_decimal(of) and others <= {"int", "double"}:
                text = unparse(part)
                self.report(node, f"{text} is a decimal, which is a text in JSON", f"write double({text})")
                return UNKNOWN
        results = {result for a, b, result in PAIRS[node.function] if a in lefts and b in rights}
        if ALL_KINDS in (lefts, rights):
            return of_kind(node.kind)  # a value we know nothing of may be of a kind that JSON does not have
        if not results:
            remedy = mixed_remedy(node, lefts, rights) or f"bring both sides of {symbol} to one type"
            self.report(node, f"there is no {symbol} for {listed(lefts)} and {listed(rights)}", remedy)
            return UNKNOWN
        return union(of_kind(result) for result in sorted(results))

    def function(self, node: syntax.FunctionCall, local: Types) -> Type:
        args = [self.type_of(arg, local) for arg in node.args]
        for arg, of, expected in zip(node.args, args, ARGUMENTS.get(node.function, ()), strict=False):
            self.expect(arg, of, expected, f"what {node.function.strip('_')} takes", node)
        if node.function == "-_":
            numbers = kinds_of(args[0]) & {"int", "double"}
            return of_kind(node.kind or (min(numbers) if len(numbers) == 1 else ""))
        if node.function in OWN and OWN[node.function].takes[0] == "list":
            self.expect_items(node, node.args[0], args[0])
            return result_of(node.function, args[0])
        if node.function == "range":
            return list_of(of_kind("int"))
        return of_kind(node.kind or RESULTS.get(node.function, ""))

    def expect_items(self, node: syntax.FunctionCall, items: syntax.Node, of: Type) -> None:
        """Report a list whose items cannot be what the function takes."""
        expected = ITEMS.get(node.function)
        kinds = kinds_of(item_of(of)) if kinds_of(of) == LIST else ALL_KINDS
        if expected is not None and not kinds & expected:
            problem = f"the items of {unparse(items)} are {listed(kinds)}, and {node.function} takes {listed(expected)}"
            self.report(node, problem, f"use {listed(expected)} here")

    def map_of(self, node: syntax.MapOf, local: Types) -> Type:
        properties: dict[str, Json] = {}
        closed = True
        for entry in node.entries:
            schema: Json = inlined(self.type_of(entry.value, local))
            if isinstance(entry.key, syntax.Constant) and isinstance(entry.key.value, str) and not entry.optional:
                properties[entry.key.value] = schema
            else:
                self.type_of(entry.key, local)
                closed = False
        if not closed:
            return of_kind("map")
        required: list[Json] = [*properties]
        shape: Schema = {"properties": properties, "required": required, "additionalProperties": False}
        return Type({"type": "object", **shape}, {})

    def fold(self, macro: Macro | None, node: syntax.Comprehension, local: Types) -> Type:
        match macro:
            case Binding(variable, value, body):
                return self.type_of(body, {**local, variable: self.type_of(value, local)})
            case Quantified(_, variable, items, body) | Counted(variable, items, body):
                inner = {**local, variable: self.loop_variable(items, local)}
                self.expect(body, self.type_of(body, inner), BOOL, "the condition of the loop")
                return of_kind("bool")
            case Collected(variable, items, where, value):
                inner = {**local, variable: self.loop_variable(items, local)}
                if where is not None:
                    self.expect(where, self.type_of(where, inner), BOOL, "the condition of the loop")
                return Type({"type": "array", "items": inlined(self.type_of(value, inner))}, {})
            case Sorted(variable, items, key):
                return self.sort_by(node, variable, items, key, local)
            case None:
                return of_kind(node.kind)

    def sort_by(
        self, node: syntax.Comprehension, variable: str, items: syntax.Node, key: syntax.Node, local: Types
    ) -> Type:
        of = self.type_of(items, local)
        self.expect(items, of, LIST, "what sort_by takes", node)
        item = item_of(of) if kinds_of(of) == LIST else UNKNOWN
        self.expect(key, self.type_of(key, {**local, variable: item}), ITEMS["sort_by"], "the key of sort_by")
        return list_of(item)

    def loop_variable(self, items: syntax.Node, local: Types) -> Type:
        of = self.type_of(items, local)
        self.expect(items, of, LIST | MAP, "what a loop goes through")
        kinds = kinds_of(of) & (LIST | MAP)
        return item_of(of) if kinds == LIST else of_kind("string") if kinds == MAP else UNKNOWN

    def expect(
        self, node: syntax.Node, of: Type, expected: frozenset[str], role: str, where: syntax.Node | None = None
    ) -> None:
        """Report a part whose type cannot be any of the expected ones."""
        if not kinds_of(of) & expected:
            problem = f"{unparse(node)} is {listed(kinds_of(of))}, and {role} is {listed(expected)}"
            self.report(where or node, problem, conversion_remedy(node, kinds_of(of), expected))

    def warn(self, node: syntax.Node, problem: str, remedy: str) -> None:
        found = ExpressionProblem(problem, remedy, position_of(self.source, node.at))
        if found not in self.warnings:
            self.warnings.append(found)

    def report(self, node: syntax.Node, problem: str, remedy: str) -> None:
        found = ExpressionProblem(problem, remedy, position_of(self.source, node.at))
        if found not in self.problems:
            self.problems.append(found)


def asks(node: syntax.Node) -> bool:
    """Whether the node reads a field that may be absent: `has(a.b)` or `a.?b`."""
    return isinstance(node, syntax.Has) or (isinstance(node, syntax.FunctionCall) and node.function == "_?._")


def listed(kinds: Iterable[str]) -> str:
    return " or ".join(sorted(kinds)) or "nothing"


def did_you_mean(key: str, known: tuple[str, ...]) -> str:
    close = difflib.get_close_matches(key, known, n=1, cutoff=0.6)
    if close:
        return f"did you mean '{close[0]}'?"
    return f"read one of its fields: {', '.join(known)}" if known else "declare the field in the schema"


def mixed_remedy(node: syntax.FunctionCall, lefts: frozenset[str], rights: frozenset[str]) -> str | None:
    """A remedy that converts one operand to int or string; None if that would not help."""
    left, right = node.args
    match sorted(lefts), sorted(rights):
        case ["int"] | ["double"], ["int"] | ["double"]:
            return "use integers, as with int(…)"
        case ["string"], ["bool" | "int"] | ["double"] | ["double", "int"] if node.function == "_+_":
            return f"write {unparse(with_args(node, left, syntax.FunctionCall('string', (right,), False, right.at)))}"
        case ["bool" | "int"] | ["double"] | ["double", "int"], ["string"] if node.function == "_+_":
            return f"write {unparse(with_args(node, syntax.FunctionCall('string', (left,), False, left.at), right))}"
        case _:
            return None


def with_args(node: syntax.FunctionCall, *args: syntax.Node) -> syntax.FunctionCall:
    return syntax.FunctionCall(node.function, args, node.method, node.at, node.kind)


def conversion_remedy(node: syntax.Node, kinds: frozenset[str], expected: frozenset[str]) -> str:
    if expected == BOOL:
        return f"compare it with something, as in {unparse(node)} == …"
    if "string" in expected and len(expected) == 1 and kinds <= {"int", "double", "bool"}:
        return f"write string({unparse(node)})"
    return f"use {listed(expected)} here"
