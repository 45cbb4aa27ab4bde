"""A queue that is fair between runs: one large fan-out does not keep the others waiting."""

from collections import deque
from collections.abc import Hashable
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Lane(Generic[Item]):
    """BytesPaths for a number of items at a time; whoever waits gets one in turn with the other runs, then in order."""

    def __init__(self, places: int) -> None:
        self.places = places
        self.taken = 0
        self._waiting: dict[Hashable, deque[Item]] = {}  # in the order of their turns

    def put(self, run: Hashable, item: Item) -> None:
        """Wait for a place."""
        items = self._waiting.get(run)
        if items is None:
            self._waiting[run] = deque((item,))
        else:
            items.append(item)

    @property
    def waits(self) -> bool:
        """Whether anybody waits for a place that is free."""
        return bool(self._waiting) and self.taken < self.places

    def take(self) -> Item | None:
        """The next item and a place for it; None if nobody waits or every place is taken."""
        if not self._waiting or self.taken >= self.places:
            return None
        run = next(iter(self._waiting))
        items = self._waiting.pop(run)
        item = items.popleft()
        if items:
            self._waiting[run] = items
        self.taken += 1
        return item

    def leave(self) -> None:
        """Give a place back."""
        self.taken -= 1

    def clear(self) -> None:
        """Send everyone who waits away."""
        self._waiting.clear()
