"""Where the time of a thread goes: at each moment it is exactly one place's, so that together they are the whole."""

import time
from collections import Counter
from collections.abc import Callable, Coroutine, Generator
from functools import partial
from inspect import iscoroutinefunction
from statistics import median
from typing import Any

Function = Callable[..., Any]
Cost = tuple[float, float]
CALLS = 20_000


class Stopwatch:
    """Time by place, in ns. A place's time stops while another, called from it, has its own.

    One per thread: nothing here is locked."""

    def __init__(self, base: str, clock: Callable[[], int] = time.perf_counter_ns) -> None:
        self._clock = clock
        self._place = base
        self._since = clock()
        self._spent: Counter[str] = Counter()
        self._calls: Counter[tuple[str, str]] = Counter()  # from which place to which

    def reset(self) -> None:
        """Forget what was so far."""
        self._spent.clear()
        self._calls.clear()
        self._since = self._clock()

    def read(self, cost: Cost = (0.0, 0.0)) -> dict[str, float]:
        """Each place's time. `cost` is what a watched call adds to the place it calls, and to the one it comes from."""
        found: dict[str, float] = {**self._spent}
        found[self._place] = self._spent[self._place] + self._clock() - self._since
        for (before, place), calls in self._calls.items():
            found[place] -= calls * cost[0]
            found[before] -= calls * cost[1]
        return found

    def watched(self, place: str, function: Function) -> Function:
        """The same function, with its time counted for the place."""
        if iscoroutinefunction(function):
            step = self.watched(place, _go_on)

            async def by_steps(*args: Any, **named: Any) -> Any:
                return await _Steps(step, function(*args, **named))

            return by_steps
        clock, spent, calls = self._clock, self._spent, self._calls

        def timed(*args: Any, **named: Any) -> Any:  # in one piece, because a call costs more than what it does
            before = self._place
            if before == place:
                return function(*args, **named)
            calls[before, place] += 1
            now = clock()
            spent[before] += now - self._since
            self._place, self._since = place, now
            try:
                return function(*args, **named)
            finally:
                now = clock()
                spent[place] += now - self._since
                self._place, self._since = before, now

        return timed


class _Steps:
    """A coroutine whose steps are watched: while it waits, the time is somebody else's."""

    def __init__(self, step: Function, work: Coroutine[Any, Any, Any]) -> None:
        self._step = step
        self._work = work

    def __await__(self) -> Generator[Any, Any, Any]:
        go_on: Function = partial(self._work.send, None)
        while True:
            try:
                waiting = self._step(go_on)
            except StopIteration as end:
                return end.value
            try:
                go_on = partial(self._work.send, (yield waiting))
            except BaseException as error:
                go_on = partial(self._work.throw, error)


def _go_on(step: Function) -> Any:
    return step()


def cost_of_watching() -> Cost:
    """What a watched call takes by itself, in ns: inside, where the called place pays for it, and outside."""
    inside, outside = zip(*(_cost_once() for _ in range(5)), strict=True)
    return median(inside), median(outside)


def _cost_once() -> Cost:
    def nothing() -> None:
        pass

    watch = Stopwatch("outside")
    watched = watch.watched("inside", nothing)
    for _ in range(CALLS):
        watched()
    spent = watch.read()
    began = time.perf_counter_ns()
    for _ in range(CALLS):
        nothing()
    bare = time.perf_counter_ns() - began
    return max(0.0, spent["inside"] - bare) / CALLS, spent["outside"] / CALLS
