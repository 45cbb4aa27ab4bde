"""Closures that evaluate one operation each: made from the evaluators of its parts, called with the scope.

Evaluation is on the hot path, so everything that can be decided once is decided when the closure is made."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar

from jeton.expression.bounds import CHARACTERS_PER_UNIT, CHEAP, Scope, charge
from jeton.expression.compile.operators import (
    COMPARISONS,
    HIGHEST,
    LOWEST,
    ORDERED,
    EvaluationError,
    EvaluationProblem,
    KeyMissing,
    checked,
    compare,
    element,
    equal,
    field,
    no_overload,
)
from jeton.expression.syntax import kind_of
from jeton.expression.values import path_text
from jeton.model.json import Json

T = TypeVar("T")
Evaluator: TypeAlias = Callable[[Scope], Json]  # raises EvaluationProblem or LimitExceeded where there is no value


def always(value: Json) -> Evaluator:
    return lambda scope: value


def variable(name: str, at: int) -> Evaluator:
    def run(scope: Scope) -> Json:
        if name not in scope:
            raise KeyMissing(name)
        return checked(scope[name], at)

    return run


def bound_variable(name: str) -> Evaluator:
    """A variable of `cel.bind`. If its value has a problem, the problem is raised when it is read."""

    def run(scope: Scope) -> Json:
        value: Json | EvaluationProblem = scope[name]
        if isinstance(value, EvaluationProblem):
            raise value
        return value

    return run


def path(keys: Sequence[str], shown: Sequence[str], at: int) -> Evaluator:
    """`state.votes.total`: plain lookups first; the problem is only worked out if they fail."""
    root, first, rest = keys[0], keys[1], tuple(keys[2:])

    def run(scope: Scope) -> Json:
        try:
            value = scope[root][first]
            for key in rest:
                value = value[key]
        except (KeyError, TypeError):
            raise path_problem(scope, keys, shown, at) from None
        found: Json = value
        if type(found) is int and not LOWEST <= found <= HIGHEST:
            return checked(found, at)
        return found

    def short(scope: Scope) -> Json:
        try:
            found: Json = scope[root][first]
        except (KeyError, TypeError):
            raise path_problem(scope, keys, shown, at) from None
        if type(found) is int and not LOWEST <= found <= HIGHEST:
            return checked(found, at)
        return found

    return run if rest else short


def path_problem(scope: Scope, keys: Sequence[str], shown: Sequence[str], at: int) -> EvaluationProblem:
    """Why the path has no value; `shown` are the keys as a message names them."""
    if keys[0] not in scope:
        return KeyMissing(shown[0])
    value: Json = scope[keys[0]]
    for depth, key in enumerate(keys[1:], start=1):
        if type(value) is not dict:
            return EvaluationError(f"{path_text(shown[:depth])} is {kind_of(value)}, which has no field '{key}'", at)
        if key not in value:
            return KeyMissing(path_text(shown[: depth + 1]))
        value = value[key]
    return EvaluationError(f"{path_text(shown)} cannot be read", at)


def select(operand: Evaluator, key: str, base: str, at: int) -> Evaluator:
    return lambda scope: field(operand(scope), key, base, at)


def has(operand: Evaluator, key: str, base: str, at: int) -> Evaluator:
    def run(scope: Scope) -> bool:
        value = operand(scope)
        if type(value) is dict:
            return key in value
        raise EvaluationError(f"{base} is {kind_of(value)}, which has no field '{key}'", at)

    return run


def index(operand: Evaluator, key: Evaluator, base: str, at: int) -> Evaluator:
    return lambda scope: element(operand(scope), key(scope), base, at)


def unary(operator: Callable[[Json, int], Json], operand: Evaluator, at: int) -> Evaluator:
    return lambda scope: operator(operand(scope), at)


def binary(operator: Callable[[Json, Json, int], Json], left: Evaluator, right: Evaluator, at: int) -> Evaluator:
    return lambda scope: operator(left(scope), right(scope), at)


def scoped(operator: Callable[[Json, Json, int, Scope], Json], left: Evaluator, right: Evaluator, at: int) -> Evaluator:
    """A binary operator whose work depends on the size of the data, and is charged for."""
    return lambda scope: operator(left(scope), right(scope), at, scope)


def comparison(function: str, left: Evaluator, right: Evaluator, at: int) -> Evaluator:
    holds = COMPARISONS[function]

    def run(scope: Scope) -> bool:
        a, b = left(scope), right(scope)
        if type(a) is type(b) and type(a) in ORDERED:
            return holds(a, b)
        return compare(function, a, b, at)

    return run


def comparison_with(function: str, left: Evaluator, constant: Json, at: int) -> Evaluator:
    """`left < 10`: the same with a number or text on its right, as most have."""
    holds = COMPARISONS[function]
    kind = type(constant) if type(constant) in ORDERED else None

    def run(scope: Scope) -> bool:
        value = left(scope)
        if type(value) is kind:
            return holds(value, constant)
        return compare(function, value, constant, at)

    return run


def equality(same: bool, left: Evaluator, right: Evaluator) -> Evaluator:
    """`==` if the answer for equal values is to be true, `!=` if false."""

    def run(scope: Scope) -> bool:
        a, b = left(scope), right(scope)
        if type(a) is type(b) and type(a) in ORDERED:
            return (a == b) is same
        return equal(a, b, scope) is same

    return run


def equality_with(same: bool, left: Evaluator, constant: Json) -> Evaluator:
    """`left == 'text'`: the same with a number or text on its right."""
    kind = type(constant) if type(constant) in ORDERED else None

    def run(scope: Scope) -> bool:
        value = left(scope)
        if type(value) is kind:
            return (value == constant) is same
        return equal(value, constant, scope) is same

    return run


def negation(operand: Evaluator, at: int) -> Evaluator:
    def run(scope: Scope) -> bool:
        value = operand(scope)
        if value is True or value is False:
            return not value
        raise no_overload("!", at, value)

    return run


def junction(decisive: bool, symbol: str, left: Evaluator, right: Evaluator, at: int) -> Evaluator:
    """`||` if `decisive` is true, else `&&`. A decisive side hides a problem of the other."""

    def run(scope: Scope) -> bool:
        problem: EvaluationProblem | None = None
        try:
            a = left(scope)
            if a is decisive:
                return decisive
        except EvaluationProblem as found:
            a, problem = None, found
        try:
            b = right(scope)
        except EvaluationProblem as found:
            raise problem or found from None
        if b is decisive:
            return decisive
        if problem is not None:
            raise problem
        if type(a) is bool and type(b) is bool:
            return not decisive
        raise no_overload(symbol, at, a, b)

    return run


def chain(decisive: bool, parts: Sequence[Evaluator], exactly: Evaluator) -> Evaluator:
    """`a && b && c` in one loop while all are bools; otherwise `exactly` finds the right problem."""

    def run(scope: Scope) -> Json:
        try:
            for part in parts:
                value = part(scope)
                if value is decisive:
                    return decisive
                if type(value) is not bool:
                    return exactly(scope)
        except EvaluationProblem:
            return exactly(scope)
        return not decisive

    return run


def choice(
    condition: Evaluator, then: Callable[[Scope], T], otherwise: Callable[[Scope], T], at: int
) -> Callable[[Scope], T]:
    def run(scope: Scope) -> T:
        value = condition(scope)
        if value is True:
            return then(scope)
        if value is False:
            return otherwise(scope)
        raise EvaluationError(f"the condition before ? is {kind_of(value)}, not bool", at)

    return run


def text_test(function: str, left: Evaluator, right: Evaluator, at: int) -> Evaluator:
    """`contains`, `startsWith` and `endsWith`."""
    test: Callable[[str, str], bool] = TEXT_TESTS[function]

    def run(scope: Scope) -> bool:
        a, b = left(scope), right(scope)
        if type(a) is str and type(b) is str:
            if len(a) > CHEAP:
                charge(scope, len(a) // CHARACTERS_PER_UNIT)
            return test(a, b)
        raise no_overload(function, at, a, b)

    return run


TEXT_TESTS: dict[str, Callable[[str, str], bool]] = {
    "contains": str.__contains__,
    "startsWith": str.startswith,
    "endsWith": str.endswith,
}


def conversion(function: str, operand: Evaluator, otherwise: Evaluator) -> Evaluator:
    """`double(x)`, `int(x)` and `string(x)` in their simple cases; the library does the rest."""
    convert = CONVERSIONS[function]

    def run(scope: Scope) -> Json:
        value = operand(scope)
        if type(value) in convert:
            return convert[type(value)](value)
        return otherwise(scope)

    return run


CONVERSIONS: dict[str, dict[type, Callable[[Any], Json]]] = {
    "double": {int: float, float: float},
    "int": {int: int, bool: int},
    "string": {str: str, int: str, bool: lambda value: "true" if value else "false"},
}
