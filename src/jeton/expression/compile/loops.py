"""Closures for macros: loops over a list or the keys of a map, and bindings."""

from collections.abc import Callable
from typing import TypeVar

from jeton.expression.bounds import LocalScope, Scope
from jeton.expression.compile.closures import Evaluator
from jeton.expression.compile.operators import EvaluationError, EvaluationProblem
from jeton.expression.syntax import kind_of
from jeton.model.json import Json

T = TypeVar("T")


def metered(run: Evaluator) -> Evaluator:
    """Give the whole evaluation one budget; otherwise each loop would have its own."""
    return lambda scope: run(LocalScope(scope))


def items_of(value: Json, at: int) -> list[Json]:
    """The items of a loop. Keys are sorted, so that their order does not depend on how the data was stored."""
    if type(value) is list:
        return value
    if type(value) is dict:
        return [*sorted(value)]
    raise EvaluationError(f"{kind_of(value)} has no items to go through", at)


def quantified(decisive: bool, variable: str, items: Evaluator, body: Evaluator, cost: int, at: int) -> Evaluator:
    """`exists` if `decisive` is true, else `all`. A decisive item hides the problems of others, as in `||` and `&&`."""

    def run(scope: Scope) -> bool:
        values = items_of(items(scope), at)
        frame = LocalScope(scope)
        frame.meter.spend(cost * len(values))
        problem: EvaluationProblem | None = None
        for value in values:
            frame[variable] = value
            try:
                answer = body(frame)
            except EvaluationProblem as found:
                problem = problem or found
                continue
            if answer is decisive:
                return decisive
            if type(answer) is not bool:
                problem = problem or not_a_bool(answer, at)
        if problem is not None:
            raise problem
        return not decisive

    return run


def counted(variable: str, items: Evaluator, body: Evaluator, cost: int, at: int) -> Evaluator:
    """`exists_one`."""

    def run(scope: Scope) -> bool:
        values = items_of(items(scope), at)
        frame = LocalScope(scope)
        frame.meter.spend(cost * len(values))
        count = 0
        for value in values:
            frame[variable] = value
            answer = body(frame)
            if type(answer) is not bool:
                raise not_a_bool(answer, at)
            count += answer
        return count == 1

    return run


def collected(
    variable: str, items: Evaluator, where: Evaluator | None, value_of: Evaluator, cost: int, at: int
) -> Evaluator:
    """`map` and `filter`."""

    def run(scope: Scope) -> list[Json]:
        values = items_of(items(scope), at)
        frame = LocalScope(scope)
        frame.meter.spend(cost * len(values))
        kept: list[Json] = []
        for value in values:
            frame[variable] = value
            if where is not None:
                answer = where(frame)
                if answer is False:
                    continue
                if answer is not True:
                    raise not_a_bool(answer, at)
            kept.append(value_of(frame))
        return kept

    return run


def bound(variable: str, value: Evaluator, body: Callable[[Scope], T], cost: int) -> Callable[[Scope], T]:
    """`cel.bind`: the value is evaluated once; a problem of it is raised when the variable is read."""

    def run(scope: Scope) -> T:
        frame = LocalScope(scope)
        frame.meter.spend(cost)
        try:
            frame[variable] = value(scope)
        except EvaluationProblem as found:
            frame[variable] = found
        return body(frame)

    return run


def list_of(elements: tuple[Evaluator, ...]) -> Evaluator:
    return lambda scope: [element(scope) for element in elements]


def map_of(entries: tuple[tuple[Evaluator, Evaluator], ...], at: int) -> Evaluator:
    def run(scope: Scope) -> dict[str, Json]:
        made: dict[str, Json] = {}
        for key_of, value_of in entries:
            key = key_of(scope)
            if type(key) is not str:
                raise EvaluationError(f"the key of a map is {kind_of(key)}: make it text with string()", at)
            if key in made:
                raise EvaluationError(f"the key {key!r} is in the map twice", at)
            made[key] = value_of(scope)
        return made

    return run


def not_a_bool(value: Json, at: int) -> EvaluationError:
    return EvaluationError(f"the condition of the loop gives {kind_of(value)}, not bool", at)
