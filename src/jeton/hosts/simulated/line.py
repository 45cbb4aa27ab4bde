"""Reads of the line of positions of a simulated store."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from jeton.actor.journal import first_event_in
from jeton.actor.rows import EntryPlace, LinePage, PlacedEntry, TreePositions
from jeton.hosts.simulated.memory.store import Store
from jeton.model.ids import RunId


class LineReads:
    """Reads the line of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._line = store.line

    def page(self, after: int, limit: int, within: RunId | None) -> LinePage:
        """Entries behind a position."""
        found = self._line.behind(after)
        wanted = [(p, run, n) for p, run, n in found if within is None or within in self._lineage(run)]
        entries = tuple(self._placed(position, run, number) for position, run, number in wanted[:limit])
        reached = wanted[limit - 1][0] if len(wanted) > limit else max(self._line.head, after)
        return LinePage(entries, reached, self._line.head, self._line.pruned)

    def tree_positions(self, run: RunId, after: int) -> TreePositions:
        """The positions of a run and of the runs it called."""
        found = (position for position, each, _ in self._line.behind(after) if run in self._lineage(each))
        return TreePositions(tuple(found), self._line.head)

    def placed(self, positions: Sequence[int]) -> list[PlacedEntry]:
        """The entries at these positions."""
        found = ((position, self._line.at(position)) for position in positions)
        return [self._placed(position, *place) for position, place in found if place is not None]

    def unended(self, run: RunId) -> int:
        """How many runs of a tree have not ended."""
        return sum(row.ended_at is None and run in self._lineage(row.run) for row in self._store.rows())

    def place(self, run: RunId, event: int) -> EntryPlace | None:
        """The last entry whose first event is not behind this one."""
        bodies = self._store.journal(run)
        after = bisect_right(bodies, event, key=first_event_in)
        if not after:
            return None
        places = ((position, number) for position, each, number in self._line.behind(0) if each == run)
        position = next(position for position, number in places if number == after - 1)
        return EntryPlace(after - 1, position, first_event_in(bodies[after - 1]))

    def _placed(self, position: int, run: RunId, number: int) -> PlacedEntry:
        return PlacedEntry(position, run, self._store.stretch(run, number, number)[0])

    def _lineage(self, run: RunId) -> Iterator[RunId]:
        """A run and the runs above it."""
        above: RunId | None = run
        while above is not None:
            yield above
            row = self._store.row(above)
            above = None if row is None or row.parent is None else row.parent.run
