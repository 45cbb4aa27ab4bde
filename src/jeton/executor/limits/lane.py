"""A queue that is fair between runs, so that one large fan-out does not delay the others."""

from collections import deque
from collections.abc import Hashable
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Lane(Generic[Item]):
    """A number of places, and a queue for them: runs take turns, and each run is served in order."""

    def __init__(self, places: int) -> None:
        self.places = places
        self.taken = 0
        self._next: dict[Hashable, Item] = {}  # by run, in the order they are served
        self._behind: dict[Hashable, deque[Item]] = {}  # those behind it, of runs that have more than one

    def put(self, run: Hashable, item: Item) -> None:
        """Queue an item."""
        if run not in self._next:
            self._next[run] = item
        elif run in self._behind:
            self._behind[run].append(item)
        else:
            self._behind[run] = deque((item,))

    @property
    def waits(self) -> bool:
        """Whether an item is waiting although a place is free."""
        return bool(self._next) and self.taken < self.places

    def take(self) -> Item | None:
        """Take a place for the next item; None if nothing is waiting or no place is free."""
        if not self._next or self.taken >= self.places:
            return None
        run = next(iter(self._next))
        item = self._next.pop(run)
        if run in self._behind:
            behind = self._behind[run]
            self._next[run] = behind.popleft()
            if not behind:
                del self._behind[run]
        self.taken += 1
        return item

    def release(self) -> None:
        """Release a place."""
        self.taken -= 1

    def clear(self) -> None:
        """Drop all waiting items."""
        self._next.clear()
        self._behind.clear()
