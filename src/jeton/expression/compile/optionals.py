"""Optionals: `state.?votes.?total.orValue(0)`.

Inside these functions an optional without a value is NOTHING, and one with a value is that value. That works because
they only ever stand below `orValue`, `value` or `hasValue`; optionals anywhere else are left to the library."""

from collections.abc import Callable
from enum import Enum
from typing import TypeAlias

from jeton.expression.bounds import Scope
from jeton.expression.compile.closures import Evaluator
from jeton.expression.compile.macros import Binding, Macro, macro_of
from jeton.expression.compile.operators import EvaluationError, KeyMissing, checked, element, no_overload
from jeton.expression.syntax import Comprehension, FunctionCall, Node, Select
from jeton.model.json import Json


class Nothing(Enum):
    NOTHING = "nothing"


NOTHING = Nothing.NOTHING
Optional: TypeAlias = Callable[[Scope], Json | Nothing]
OPENERS = frozenset({"orValue", "value", "hasValue"})


def plain_parts(node: Node) -> tuple[Node, ...] | None:
    """The parts of an optional that are not optionals; None if the library has to evaluate it."""
    match node:
        case FunctionCall("optional.of", (value,)):
            return (value,)
        case FunctionCall("optional.none", ()):
            return ()
        case FunctionCall("_?._" | "_[?_]", (operand, key)):
            below = plain_parts(operand)
            return (operand, key) if below is None else (*below, key)
        case Select(operand):
            return plain_parts(operand)
        case FunctionCall("_[_]", (operand, key)):
            below = plain_parts(operand)
            return None if below is None else (*below, key)
        case FunctionCall("or", (left, right)):
            return both(left, right, ())
        case FunctionCall("_?_:_", (condition, left, right)):
            return both(left, right, (condition,))
        case Comprehension():
            return parts_of_binding(macro_of(node))
        case _:
            return None


def parts_of_binding(macro: Macro | None) -> tuple[Node, ...] | None:
    """The plain parts of a binding around an optional, the expansion of `optMap` and `optFlatMap`."""
    parts = plain_parts(macro.body) if isinstance(macro, Binding) else None
    return None if parts is None or not isinstance(macro, Binding) else (macro.value, *parts)


def both(left: Node, right: Node, others: tuple[Node, ...]) -> tuple[Node, ...] | None:
    first, second = plain_parts(left), plain_parts(right)
    return None if first is None or second is None else (*others, *first, *second)


def opened(function: str, optional: Optional, otherwise: Evaluator | None, at: int) -> Evaluator:
    """`orValue`, `value` and `hasValue`."""

    def run(scope: Scope) -> Json:
        value = optional(scope)
        if function == "hasValue":
            return value is not NOTHING
        if value is not NOTHING:
            return value
        if otherwise is None:
            raise EvaluationError("the optional has no value", at)
        return otherwise(scope)

    return run


def optional_item(operand: Optional, key: Evaluator, by_name: bool, at: int) -> Optional:
    """`operand.?key` and `operand[?key]`."""

    def run(scope: Scope) -> Json | Nothing:
        container, name = operand(scope), key(scope)
        if container is NOTHING:
            return NOTHING
        if type(container) is dict:
            return checked(container[name], at) if type(name) is str and name in container else NOTHING
        if type(container) is list and type(name) is int and not by_name:
            return checked(container[name], at) if 0 <= name < len(container) else NOTHING
        raise no_overload(".?" if by_name else "[?]", at, container, name)

    return run


def item_of_optional(operand: Optional, key: Evaluator, at: int) -> Optional:
    """`.key` and `[key]` of an optional; a missing key gives NOTHING."""

    def run(scope: Scope) -> Json | Nothing:
        container, name = operand(scope), key(scope)
        if container is NOTHING:
            return NOTHING
        try:
            return element(container, name, "the optional", at)
        except KeyMissing:
            return NOTHING

    return run


def either(left: Optional, right: Optional) -> Optional:
    def run(scope: Scope) -> Json | Nothing:
        value = left(scope)
        return right(scope) if value is NOTHING else value

    return run
