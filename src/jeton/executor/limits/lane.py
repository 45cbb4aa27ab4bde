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
        self._waiting: dict[Hashable, deque[Item]] = {}  # by run, in the order they are served

    def put(self, run: Hashable, item: Item) -> None:
        """Queue an item."""
        items = self._waiting.get(run)
        if items is None:
            self._waiting[run] = deque((item,))
        else:
            items.append(item)

    @property
    def waits(self) -> bool:
        """Whether an item is waiting although a place is free."""
        return bool(self._waiting) and self.taken < self.places

    def take(self) -> Item | None:
        """Take a place for the next item; None if nothing is waiting or no place is free."""
        if not self._waiting or self.taken >= self.places:
            return None
        run = next(iter(self._waiting))
        items = self._waiting.pop(run)
        item = items.popleft()
        if items:
            self._waiting[run] = items
        self.taken += 1
        return item

    def release(self) -> None:
        """Release a place."""
        self.taken -= 1

    def clear(self) -> None:
        """Drop all waiting items."""
        self._waiting.clear()
