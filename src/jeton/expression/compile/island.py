"""Islands: the parts of an expression that the library evaluates, because of functions or values that are not JSON's.

Such a *foreign* value, a time or a type or bytes, cannot be handed out of the library and in again. So an island is
the smallest part of the tree around it whose own value is plain. The plain parts inside it are evaluated first, and
are its inputs."""

import re
from collections.abc import Callable, Mapping

import msgspec

from jeton.expression.bounds import CHARACTERS_PER_UNIT, LARGEST_VALUE, LimitExceeded, Scope, charge, limit, weigh
from jeton.expression.compile.closures import Evaluator
from jeton.expression.compile.macros import Binding, Collected, Counted, Quantified, Sorted, macro_of, parts_of
from jeton.expression.compile.operators import EvaluationError, EvaluationProblem, KeyMissing, finite
from jeton.expression.compile.optionals import OPENERS, plain_parts
from jeton.expression.compile.substitute import names_made, with_parts, without_bindings
from jeton.expression.library import CelError, compile_part
from jeton.expression.own import OWN, SORT_BY
from jeton.expression.problems import ARITHMETIC, Unsupported
from jeton.expression.syntax import (
    Comprehension,
    Constant,
    ForeignConstant,
    FunctionCall,
    Ident,
    ListOf,
    MapOf,
    Node,
    children,
    descend,
)
from jeton.expression.unparse import unparse
from jeton.model.json import Json

NATIVE = frozenset(
    {"_+_", "_-_", "_*_", "_/_", "_%_", "-_", "_<_", "_<=_", "_>_", "_>=_", "_==_", "_!=_", "@in", "_[_]", "!_", "_&&_"}
    | {"_||_", "_?_:_", "size", "dyn", "contains", "startsWith", "endsWith", "double", "int", "string"}
)
PLAIN = NATIVE | {"split"}  # and those of `math`: they give plain values of a type the checker does not know
CALL_COST = 60
MOST_FOREIGN_DATA = 1_000  # for a loop in the library, which takes time and memory in the square of this
LARGEST_FOREIGN_LOOP = 60
MOST_FOREIGN_GROWTH = 10_000_000  # characters that an island may make, by an estimate from above
MOST_LOOPED_GROWTH = 1_000_000  # the same for each round of a loop
NO_KEY = re.compile(r'Key not found in map : "?(.*?)"?$', re.DOTALL)
NO_VARIABLE = re.compile(r'No value with name "(.*)" found in Activation')
NO_OVERLOAD = re.compile(r"No matching overloads found : (.*)", re.DOTALL)


class LocalVariable(msgspec.Struct, frozen=True):
    """A variable of a loop or a binding."""

    shown: str  # what it is called in the path of a missing key: state.items[]
    bound: bool
    foreign: bool


class Island(msgspec.Struct, frozen=True):
    source: str
    names: tuple[str, ...]  # the island's variables
    inputs: tuple[Node, ...]  # what they are, in the same order
    loops: bool
    arguments: tuple[str, ...] | None  # of a growing function whose arguments are all inputs
    products: int  # calls of growing functions inside it
    sums: int  # additions inside it


class ForeignValues:
    """Finds out which nodes have foreign values. Cached, because every level of the tree asks."""

    def __init__(self, variables: frozenset[str]) -> None:
        self.variables = variables
        self.known: dict[int, tuple[Node, bool]] = {}  # by id(); the node is kept too, or another could get its id

    def __call__(self, node: Node, names: Mapping[str, LocalVariable]) -> bool:
        if node.kind:
            return False
        if id(node) not in self.known:
            self.known[id(node)] = node, self.find(node, names)
        return self.known[id(node)][1]

    def find(self, node: Node, names: Mapping[str, LocalVariable]) -> bool:
        match node:
            case Constant():
                return False
            case ForeignConstant():
                return True
            case Ident(name):
                return names[name].foreign if name in names else name not in self.variables
            case ListOf(_, optional) if optional:
                return True
            case MapOf(entries) if any(entry.optional or entry.key.kind not in ("", "string") for entry in entries):
                return True
            case FunctionCall(function, args) if function in OPENERS:
                parts = plain_parts(args[0])
                bound = (each.accumulator for each in descend(args[0]) if isinstance(each, Comprehension))
                inner = {**names, **{name: LocalVariable(name, True, False) for name in bound}}
                return parts is None or any(self(part, inner) for part in (*parts, *args[1:]))
            case FunctionCall(function) if function in OWN:
                return False
            case FunctionCall(function) if function not in PLAIN and not function.startswith("math."):
                return True
            case Comprehension():
                return self.fold(node, names)
            case _:
                return any(self(child, names) for child in children(node))

    def fold(self, node: Comprehension, names: Mapping[str, LocalVariable]) -> bool:
        match macro_of(node):
            case Binding(variable, value, body):
                return self(body, {**names, variable: LocalVariable(variable, True, self(value, names))})
            case Collected(variable, items, _, value):
                return self(value, {**names, variable: LocalVariable(variable, False, self(items, names))})
            case Quantified() | Counted():
                return False
            case Sorted(_, items, _):
                return self(items, names)
            case None:
                return True


def find_island(node: Node, foreign: Callable[[Node], bool]) -> Island:
    """The island at this node. `foreign` must know the variables in scope there."""
    node = without_bindings(node)
    inputs: dict[int, Node] = {}
    arguments: tuple[Node, ...] | None = None
    if isinstance(node, FunctionCall) and node.function in GROWING and not any(foreign(arg) for arg in node.args):
        arguments = node.args
        inputs = {id(arg): arg for arg in arguments}
    else:
        collect_inputs(node, foreign, frozenset(), inputs, top=True)
    prefix = unused_prefix(node)
    names = {identity: f"{prefix}{position}" for position, identity in enumerate(inputs)}
    # only what the library evaluates: our own arithmetic takes care of mixed numbers itself
    inner = with_mixes(with_inputs(node, names))
    nodes = tuple(descend(inner))
    loops = any(isinstance(each, Comprehension) for each in nodes)
    if loops and len(nodes) > LARGEST_FOREIGN_LOOP:
        problem = "loops over values that JSON does not have, such as times, in a way that is too complex"
        raise Unsupported(problem, "turn them into numbers or text inside the loop", node.at)
    calls = [each.function for each in nodes if isinstance(each, FunctionCall)]
    if own := next((call for call in calls if call in OWN or call == SORT_BY), None):
        problem = f"calls {own} in a loop over values that JSON does not have, such as times"
        raise Unsupported(problem, "turn them into numbers or text before the loop", node.at)
    return Island(
        source=unparse(inner),
        names=tuple(names.values()),
        inputs=tuple(inputs.values()),
        loops=loops,
        arguments=None if arguments is None else tuple(names[id(arg)] for arg in arguments),
        products=0 if arguments is not None else sum(call in GROWING for call in calls),
        sums=0 if loops else calls.count("_+_"),  # in a loop, MOST_FOREIGN_DATA bounds them
    )


def with_mixes(node: Node) -> Node:
    """The node, where arithmetic between a number of a known kind and a value of no known kind takes the other kind."""
    changed = with_parts(node, with_mixes)
    if not isinstance(changed, FunctionCall) or changed.function not in ARITHMETIC:
        return changed
    match [(arg.kind, arg) for arg in changed.args]:
        case [("", unknown), ("int" | "double" as kind, _)] | [("int" | "double" as kind, _), ("", unknown)]:
            return mixed(changed, unknown, kind)
        case _:
            return changed


def mixed(node: FunctionCall, unknown: Node, kind: str) -> Node:
    """`type(unknown) == … ? (the node with its int converted) : node`."""
    other = "double" if kind == "int" else "int"
    asked = unknown
    if unknown is node.args[1]:  # the first side is evaluated first, because the first error is the one that is told
        both = ListOf((FunctionCall("dyn", (node.args[0],), False, node.at), unknown), frozenset(), node.at)
        asked = FunctionCall("_[_]", (both, Constant(1, node.at, "int")), False, node.at)
    is_other = FunctionCall(
        "_==_", (FunctionCall("type", (asked,), False, node.at), Ident(other, node.at)), False, node.at
    )
    converted = tuple(
        FunctionCall("double", (arg,), False, node.at) if (arg is unknown) is (kind == "double") else arg
        for arg in node.args
    )
    sides = [FunctionCall(node.function, args, node.method, node.at) for args in (converted, node.args)]
    return FunctionCall(
        "_?_:_", (is_other, *(FunctionCall("dyn", (side,), False, node.at) for side in sides)), False, node.at
    )


def unused_prefix(node: Node) -> str:
    """A prefix that no variable made inside the node has."""
    prefix = "_"
    while any(name.startswith(prefix) for name in names_made(node)):
        prefix += "_"
    return prefix


def with_inputs(node: Node, names: Mapping[int, str]) -> Node:
    """The node, with every part whose id() has a name replaced by the variable of that name."""
    if id(node) in names:
        return Ident(names[id(node)], node.at, node.kind)
    return with_parts(node, lambda part: with_inputs(part, names))


def collect_inputs(
    node: Node, foreign: Callable[[Node], bool], local: frozenset[str], inputs: dict[int, Node], top: bool
) -> None:
    """Collect the largest plain parts that read no variable made inside the island."""
    if isinstance(node, Constant):
        return
    free = not any(isinstance(each, Ident) and each.name in local for each in descend(node))
    if not top and free and not foreign(node):
        inputs[id(node)] = node
        return
    macro = macro_of(node) if isinstance(node, Comprehension) else None
    if macro is None:
        for child in children(node):
            collect_inputs(child, foreign, local, inputs, top=False)
        return
    items, *body = parts_of(macro)  # what else the parser made of the macro must stay as it is, to be written again
    collect_inputs(items, foreign, local, inputs, top=False)
    for part in body:
        collect_inputs(part, foreign, local | {macro.variable}, inputs, top=False)


def island_evaluator(island: Island, inputs: tuple[Evaluator, ...], node: Node, *, plain: bool = True) -> Evaluator:
    """Evaluate the inputs here and the rest in the library. The result is JSON, unless it need not be plain."""
    program = compile_part(island.source, frozenset(island.names))
    function = node.function if isinstance(node, FunctionCall) else ""
    at = node.at

    def run(scope: Scope) -> Json:
        values: dict[str, Json] = {}
        problems: dict[str, EvaluationProblem] = {}
        for name, value_of in zip(island.names, inputs, strict=True):
            try:
                values[name] = value_of(scope)
            except EvaluationProblem as problem:  # it may lie on a side that is not taken
                problems[name] = problem
        account(island, function, values, scope)
        try:
            result = program.run(values, plain)
        except CelError as error:
            raise explained(str(error), problems, at) from None
        if isinstance(result, float):
            return finite(result, at)
        if isinstance(result, list | dict | str):
            limit(scope, len(result), weigh(result, LARGEST_VALUE))
        return result

    return run


def account(island: Island, function: str, values: Mapping[str, Json], scope: Scope) -> None:
    """Check the cost of the call before it is made, because the library cannot be interrupted."""
    if island.arguments is not None:
        length = GROWING[function](*(values.get(name) for name in island.arguments))
        limit(scope, length, length)
    weight = sum(weigh(value, LARGEST_VALUE) for value in values.values() if isinstance(value, list | dict | str))
    if weight > LARGEST_VALUE:
        raise LimitExceeded(f"hands more than {LARGEST_VALUE:,} values to a function")
    if island.products or island.sums:
        characters = len(island.source) + weight * CHARACTERS_PER_UNIT
        most = MOST_LOOPED_GROWTH if island.loops else MOST_FOREIGN_GROWTH
        if characters ** (1 + island.products) * (1 + island.sums) > most:
            raise LimitExceeded("puts too much text together for values that JSON does not have, such as times")
    if island.loops and weight > MOST_FOREIGN_DATA:
        raise LimitExceeded("loops over too much data for values that JSON does not have, such as times")
    charge(scope, CALL_COST + weight)


def replaced_length(text: Json = None, old: Json = None, new: Json = None, *_most: Json) -> int:
    if not (isinstance(text, str) and isinstance(old, str) and isinstance(new, str)):
        return 0
    return len(text) + text.count(old) * max(len(new) - len(old), 0)


def joined_length(items: Json = None, separator: Json = "") -> int:
    if not (isinstance(items, list) and isinstance(separator, str)):
        return 0
    return sum(len(item) + len(separator) for item in items if isinstance(item, str))


def split_length(text: Json = None, separator: Json = None, *_most: Json) -> int:
    if not (isinstance(text, str) and isinstance(separator, str)):
        return 0
    return text.count(separator) + 1


# functions whose result may be far larger than what went in
GROWING: dict[str, Callable[..., int]] = {"replace": replaced_length, "join": joined_length, "split": split_length}


def explained(message: str, problems: Mapping[str, EvaluationProblem], at: int) -> EvaluationProblem | LimitExceeded:
    """The library's error as an evaluation error."""
    variable = NO_VARIABLE.search(message)
    if variable and variable[1] in problems:
        return problems[variable[1]]
    key = NO_KEY.search(message)
    if key:
        return KeyMissing(key[1])
    if "Iteration budget exceeded" in message:
        return LimitExceeded("takes more steps to evaluate than the limit")
    overload = NO_OVERLOAD.search(message)
    if overload:
        return EvaluationError(f"there is no {overload[1].replace('int64', 'int').replace('null_type', 'null')}", at)
    if "construction from null" in message:
        return EvaluationError("a text in the data is not valid Unicode", at)
    return EvaluationError(message, at)
