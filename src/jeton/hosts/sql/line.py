"""Reads of the line of positions. Every method is one short read transaction."""

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator, Sequence

from jeton.actor.journal import decode_entry, first_event_in
from jeton.actor.rows import EntryPlace, LinePage, PlacedEntry, TreePositions
from jeton.hosts.sql.connection import Connection
from jeton.hosts.sql.damage import reading
from jeton.hosts.sql.store import Store
from jeton.model.ids import RunId

SCANNED_PER_READ = 5_000
POSITIONS_PER_STATEMENT = 200
KNOWN_LINEAGES = 10_000

_ENTRIES = "select number from journal where run = ? order by number"
_TREE = (
    "with recursive tree(run) as (select run from runs where run = ?"
    " union all select runs.run from runs join tree on runs.parent = tree.run)"
)
_ABOVE = (
    "with recursive above(run) as"
    " (select run from runs where run = ?"
    " union all select runs.parent from runs join above using(run) where runs.parent is not null)"
    " select run from above"
)


class LineReads:
    """Reads the line, from any thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lineages: OrderedDict[str, frozenset[str]] = OrderedDict()  # by run: itself, and the runs above it

    def head(self) -> int:
        """The last position."""
        with self._store.snapshot() as db:
            return db.dialect.head(db)

    def page(self, after: int, limit: int, within: RunId | None) -> LinePage:
        """Entries behind a position. Without `within` there are as many as asked for, unless the line ends."""
        scanned = limit if within is None else max(limit, SCANNED_PER_READ)
        with self._store.snapshot() as db:
            head, pruned = db.dialect.head(db), db.dialect.pruned(db).last
            query = "select position, run from journal where position > ? order by position limit ?"
            found = list(db.execute(query, (after, scanned)))
            wanted = [position for position, run in found if within is None or within in self._lineage(db, run)]
            entries = tuple(_placed(db, wanted[:limit]))
        if len(wanted) > limit:
            reached = wanted[limit - 1]
        else:
            reached = found[-1][0] if len(found) == scanned else max(head, after)
        return LinePage(entries, reached, head, pruned)

    def tree_positions(self, run: RunId, after: int) -> TreePositions:
        """The positions of a run and of the runs it called."""
        positions: list[int] = []
        with self._store.snapshot() as db:
            head = db.dialect.head(db)
            for (each,) in list(db.execute(f"{_TREE} select run from tree", (run,))):
                positions += _positions_behind(db, each, after)
        positions.sort()
        return TreePositions(tuple(positions), head)

    def placed(self, positions: Sequence[int]) -> list[PlacedEntry]:
        """The entries at these positions."""
        with self._store.snapshot() as db:
            return list(_placed(db, positions))

    def unended(self, run: RunId) -> int:
        """How many runs of a tree have not ended."""
        with self._store.snapshot() as db:
            # a cross join is done in this order: SQLite would look through all runs for those of the tree
            here = "select count(*) from tree cross join runs where runs.run = tree.run and runs.ended_at is null"
            found: int = db.execute(f"{_TREE} {here}", (run,)).get
        return found

    def place(self, run: RunId, event: int) -> EntryPlace | None:
        """The last stored entry whose first event is not behind this one."""
        with self._store.snapshot() as db, reading(run):
            ends = _ends(db, run)
            if ends is None:
                return None
            first, last = ends
            after = bisect_right(range(first, last + 1), event, key=lambda number: _first_event(db, run, number))
            if not after:
                return None
            number = first + after - 1
            position: int = db.execute("select position from journal where run = ? and number = ?", (run, number)).get
            return EntryPlace(number, position, _first_event(db, run, number))

    def _lineage(self, db: Connection, run: str) -> frozenset[str]:
        """A run and the runs above it. A run's parent never changes, so it is asked for once."""
        known = self._lineages.get(run)
        if known is None:
            known = frozenset(above for (above,) in db.execute(_ABOVE, (run,)))
            self._lineages[run] = known
            while len(self._lineages) > KNOWN_LINEAGES:
                self._lineages.popitem(last=False)
        return known


def _ends(db: Connection, run: str) -> tuple[int, int] | None:
    """The numbers of a run's first and last stored entry."""
    first: int | None = db.execute(f"{_ENTRIES} limit 1", (run,)).get
    last: int | None = db.execute(f"{_ENTRIES} desc limit 1", (run,)).get
    return None if first is None or last is None else (first, last)


def _first_event(db: Connection, run: str, number: int) -> int:
    return first_event_in(db.execute("select body from journal where run = ? and number = ?", (run, number)).get)


def _positions_behind(db: Connection, run: str, after: int) -> list[int]:
    """A run's positions behind another. They ascend with the numbers, so that the first is found by halving."""
    ends = _ends(db, run)
    if ends is None:
        return []
    first, last = ends
    place = "select position from journal where run = ? and number = ?"
    if db.execute(place, (run, last)).get <= after:
        return []
    seen = bisect_right(range(first, last + 1), after, key=lambda number: db.execute(place, (run, number)).get)
    query = "select position from journal where run = ? and number >= ?"
    return [position for (position,) in db.execute(query, (run, first + seen))]


def _placed(db: Connection, positions: Sequence[int]) -> Iterator[PlacedEntry]:
    for first in range(0, len(positions), POSITIONS_PER_STATEMENT):
        some = positions[first : first + POSITIONS_PER_STATEMENT]
        marks = ", ".join("?" * len(some))
        query = f"select position, run, body from journal where position in ({marks}) order by position"
        for position, run, body in list(db.execute(query, some)):
            with reading(run):
                yield PlacedEntry(position, RunId(run), decode_entry(body))
