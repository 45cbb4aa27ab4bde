"""Everything that is going to happen in a simulated world, soonest first."""

from collections.abc import Callable
from heapq import heappop, heappush
from random import Random
from typing import TypeAlias

Act: TypeAlias = Callable[[], object]
"""Something to do; what it returns is not used."""


class Agenda:
    """One queue for all runs, workers and users: what falls on the same millisecond happens in seeded order."""

    def __init__(self, ties: Random) -> None:
        self._ties = ties
        self._heap: list[tuple[int, float, int, Act]] = []
        self._put = 0

    def put(self, at: int, act: Act) -> None:
        """Do this at that time by the steady clock."""
        heappush(self._heap, (at, self._ties.random(), self._put, act))
        self._put += 1

    @property
    def next_at(self) -> int | None:
        """When the next thing happens; None if nothing will any more."""
        return self._heap[0][0] if self._heap else None

    def take(self) -> tuple[int, Act] | None:
        """The next thing to happen, and when; None if nothing will any more."""
        if not self._heap:
            return None
        at, _, _, act = heappop(self._heap)
        return at, act
