"""What is going to happen on a simulated host, soonest first."""

from collections.abc import Callable
from heapq import heappop, heappush
from random import Random
from typing import TypeAlias

Act: TypeAlias = Callable[[], object]
"""Something to do; what it returns is not used."""


class Agenda:
    """One queue for all runs, workers and users. The seed decides the order within a millisecond."""

    def __init__(self, ties: Random) -> None:
        self._ties = ties
        self._heap: list[tuple[int, float, int, Act]] = []
        self._put = 0

    def put(self, at: int, act: Act) -> None:
        """Do something at a monotonic time."""
        heappush(self._heap, (at, self._ties.random(), self._put, act))
        self._put += 1

    @property
    def next_at(self) -> int | None:
        """The monotonic time of the next thing; None if the agenda is empty."""
        return self._heap[0][0] if self._heap else None

    def take(self) -> tuple[int, Act] | None:
        """Take the next thing, and its time; None if the agenda is empty."""
        if not self._heap:
            return None
        at, _, _, act = heappop(self._heap)
        return at, act
