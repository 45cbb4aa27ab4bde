"""The line of positions: the journal entries of all runs in the order of their commits."""

from jeton.model.ids import RunId


class Line:
    """Which entry of which run is at each position. A position that was given is never given again."""

    def __init__(self) -> None:
        self.head = 0
        self.pruned = 0
        self._places: dict[int, tuple[RunId, int]] = {}  # by position, ascending: run, and number of its entry

    def append(self, run: RunId, number: int) -> None:
        """Put an entry at the end."""
        self.head += 1
        self._places[self.head] = run, number

    def remove(self, run: RunId) -> None:
        """Remove all entries of a run."""
        for position in [position for position, place in self._places.items() if place[0] == run]:
            del self._places[position]
            self.pruned = max(self.pruned, position)

    def behind(self, position: int) -> list[tuple[int, RunId, int]]:
        """Positions with their runs and numbers of entries, behind a position."""
        found: list[tuple[int, RunId, int]] = []
        for place in reversed(self._places):
            if place <= position:
                break
            found.append((place, *self._places[place]))
        return found[::-1]

    def at(self, position: int) -> tuple[RunId, int] | None:
        """The run and the number of the entry at a position."""
        return self._places.get(position)
