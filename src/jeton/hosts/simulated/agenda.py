"""Everything that is going to happen in a simulated world, soonest first."""

from collections.abc import Callable
from heapq import heappop, heappush
from random import Random
from typing import TypeAlias

Act: TypeAlias = Callable[[], None]


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

    def take(self) -> tuple[int, Act] | None:
        """The next thing to happen, and when; None when nothing will any more."""
        if not self._heap:
            return None
        at, _, _, act = heappop(self._heap)
        return at, act
