"""The macros: loops over a list or the keys of a map, and bindings."""

from collections.abc import Callable
from typing import TypeVar

from jeton.expression.bounds import Frame, Scope
from jeton.expression.compile.closures import Run
from jeton.expression.compile.operators import Problem, Wrong
from jeton.expression.syntax import kind_of
from jeton.model.json import Json

T = TypeVar("T")


def metered(run: Run) -> Run:
    """One meter for the whole evaluation, where loops side by side would each have their own."""
    return lambda scope: run(Frame(scope))


def items_of(value: Json, at: int) -> list[Json]:
    """What a loop runs over. Keys come sorted: their order must not depend on how the data was stored."""
    if type(value) is list:
        return value
    if type(value) is dict:
        return [*sorted(value)]
    raise Wrong(f"{kind_of(value)} has no items to go through", at)


def quantified(decisive: bool, variable: str, items: Run, body: Run, cost: int, at: int) -> Run:
    """`exists` if one true item decides, `all` if one false item does: like `||` and `&&`, in spite of problems."""

    def run(scope: Scope) -> bool:
        values = items_of(items(scope), at)
        frame = Frame(scope)
        frame.meter.spend(cost * len(values))
        problem: Problem | None = None
        for value in values:
            frame[variable] = value
            try:
                answer = body(frame)
            except Problem as found:
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


def counted(variable: str, items: Run, body: Run, cost: int, at: int) -> Run:
    """`exists_one`."""

    def run(scope: Scope) -> bool:
        values = items_of(items(scope), at)
        frame = Frame(scope)
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


def collected(variable: str, items: Run, where: Run | None, value_of: Run, cost: int, at: int) -> Run:
    """`map` and `filter`."""

    def run(scope: Scope) -> list[Json]:
        values = items_of(items(scope), at)
        frame = Frame(scope)
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


def bound(variable: str, value: Run, body: Callable[[Scope], T], cost: int) -> Callable[[Scope], T]:
    """`cel.bind`: evaluates the value once, and keeps its problem for those who read it."""

    def run(scope: Scope) -> T:
        frame = Frame(scope)
        frame.meter.spend(cost)
        try:
            frame[variable] = value(scope)
        except Problem as found:
            frame[variable] = found
        return body(frame)

    return run


def list_of(elements: tuple[Run, ...]) -> Run:
    return lambda scope: [element(scope) for element in elements]


def map_of(entries: tuple[tuple[Run, Run], ...], at: int) -> Run:
    def run(scope: Scope) -> dict[str, Json]:
        made: dict[str, Json] = {}
        for key_of, value_of in entries:
            key = key_of(scope)
            if type(key) is not str:
                raise Wrong(f"the key of a map is {kind_of(key)}: make it text with string()", at)
            if key in made:
                raise Wrong(f"the key {key!r} is in the map twice", at)
            made[key] = value_of(scope)
        return made

    return run


def not_a_bool(value: Json, at: int) -> Wrong:
    return Wrong(f"the condition of the loop gives {kind_of(value)}, not bool", at)
