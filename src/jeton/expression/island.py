"""The parts of an expression that the library evaluates: functions we do not have, and values that JSON does not have.

Such a *foreign* value, a time or a type or bytes, cannot be handed out of the library and in again. So an island is the
smallest part of the tree around it whose own value is plain; the plain parts inside are evaluated first, and are its inputs."""

import re
from collections.abc import Callable, Mapping

import msgspec

from jeton.expression.bounds import LARGEST_VALUE, Exhausted, Frame, Scope, limit, weigh
from jeton.expression.closures import Run
from jeton.expression.encode import encode
from jeton.expression.library import CelError, load_program
from jeton.expression.macros import Bound, Collected, Counted, Quantified, macro_of
from jeton.expression.operators import KeyMissing, Problem, Value, Wrong
from jeton.expression.optionals import OPENERS, plain_parts
from jeton.expression.syntax import Call, Fold, ForeignLiteral, Ident, ListOf, Literal, MapOf, Node, children, descend

NATIVE = frozenset(
    {"_+_", "_-_", "_*_", "_/_", "_%_", "-_", "_<_", "_<=_", "_>_", "_>=_", "_==_", "_!=_", "@in", "_[_]", "!_", "_&&_"}
    | {"_||_", "_?_:_", "size", "dyn", "contains", "startsWith", "endsWith", "double", "int", "string"}
)
PLAIN = NATIVE | {"split"}  # and those of `math`: they give plain values of a type the checker does not know
CALL_COST = 60
MOST_FOREIGN_DATA = 1_000  # for a loop in the library, which takes time and memory in the square of this
LARGEST_FOREIGN_LOOP = 100
NO_KEY = re.compile(r'Key not found in map : "?(.*?)"?$', re.DOTALL)
NO_VARIABLE = re.compile(r'No value with name "(.*)" found in Activation')
NO_OVERLOAD = re.compile(r"No matching overloads found : (.*)", re.DOTALL)


class Name(msgspec.Struct, frozen=True):
    """What is known of a variable that a loop or a binding made."""

    shown: tuple[str, ...]  # what it is called in the path of a missing key: ("state", "items[]")
    bound: bool
    foreign: bool


class Island(msgspec.Struct, frozen=True):
    serialized: bytes
    inputs: tuple[Node, ...]  # the variables @0, @1… of the island, in this order
    loops: bool


class TooComplex(Exception):
    """A loop over foreign values is larger than we let the library have."""

    def __init__(self, at: int) -> None:
        super().__init__("loops over values that JSON does not have, such as times, in too complex a way")
        self.at = at


class Foreign:
    """Tells which nodes have foreign values. Answers are kept: the question comes up at every level of the tree."""

    def __init__(self, variables: frozenset[str]) -> None:
        self.variables = variables
        self.known: dict[int, bool] = {}

    def __call__(self, node: Node, names: Mapping[str, Name]) -> bool:
        if node.kind:
            return False
        if id(node) not in self.known:
            self.known[id(node)] = self.find(node, names)
        return self.known[id(node)]

    def find(self, node: Node, names: Mapping[str, Name]) -> bool:
        match node:
            case Literal():
                return False
            case ForeignLiteral():
                return True
            case Ident(name):
                return names[name].foreign if name in names else name.removeprefix(".") not in self.variables
            case ListOf(_, optional) if optional:
                return True
            case MapOf(entries) if any(entry.optional or entry.key.kind not in ("", "string") for entry in entries):
                return True
            case Call(function, args) if function in OPENERS:
                parts = plain_parts(args[0])
                return parts is None or any(self(part, names) for part in (*parts, *args[1:]))
            case Call(function) if function not in PLAIN and not function.startswith("math."):
                return True
            case Fold():
                return self.fold(node, names)
            case _:
                return any(self(child, names) for child in children(node))

    def fold(self, node: Fold, names: Mapping[str, Name]) -> bool:
        match macro_of(node):
            case Bound(variable, value, body):
                return self(body, {**names, variable: Name((variable,), True, self(value, names))})
            case Collected(variable, items, _, value):
                return self(value, {**names, variable: Name((variable,), False, self(items, names))})
            case Quantified() | Counted():
                return False
            case None:
                return True


def survey(node: Node, foreign: Callable[[Node], bool]) -> Island:
    """The island at this node; `foreign` must know the names visible there."""
    inputs: list[Node] = []
    collect(node, foreign, frozenset(), inputs, top=True)
    names = {id(each): f"@{position}" for position, each in enumerate(inputs)}
    loops = any(isinstance(each, Fold) for each in inside(node, names))
    if loops and sum(1 for _ in inside(node, names)) > LARGEST_FOREIGN_LOOP:
        raise TooComplex(node.at)
    return Island(encode(node, names), tuple(inputs), loops)


def collect(node: Node, foreign: Callable[[Node], bool], local: frozenset[str], inputs: list[Node], top: bool) -> None:
    """Finds the largest parts that are plain and read no variable made inside the island."""
    if isinstance(node, Literal) and not top:
        return
    free = not any(isinstance(each, Ident) and each.name in local for each in descend(node))
    if not top and free and not foreign(node):
        inputs.append(node)
        return
    if isinstance(node, Fold):
        collect(node.range, foreign, local, inputs, top=False)
        collect(node.start, foreign, local, inputs, top=False)
        inner = local | {node.variable, node.accumulator}
        for part in (node.condition, node.step, node.result):
            collect(part, foreign, inner, inputs, top=False)
        return
    for child in children(node):
        collect(child, foreign, local, inputs, top=False)
