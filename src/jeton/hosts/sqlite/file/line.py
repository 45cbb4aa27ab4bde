"""The line of positions: the journal entries of all runs in the order in which they were committed.

Positions ascend by one, and none is given again. A commit only looks up the last one. Pruning writes down what it took
out, in the `meta` table: so it is known which was the last position, and that no entry has left its place.
"""

from collections.abc import Iterator, Sequence

import msgspec

from jeton.hosts.sql.bulk import insert_many
from jeton.hosts.sql.connection import Connection, JournalRow, PrunedPositions
from jeton.hosts.sqlite.file.meta import LINE, put_meta

_HEAD = (
    "select max(ifnull((select max(position) from journal), 0),"
    f" ifnull((select value ->> 0 from meta where key = '{LINE}'), 0))"
)
_INSERT = "insert into journal(position, run, number, hash, body) values(?, ?, ?, ?, ?)"
_OUT_OF_ORDER = (
    "select distinct run from (select run, position,"
    " lag(position) over (partition by run order by number) as before from journal) where position <= before"
)


_encode = msgspec.json.Encoder().encode
_pruned = msgspec.json.Decoder(PrunedPositions).decode


def head_in(db: Connection) -> int:
    """The last position that was given; 0 if none was."""
    head: int = db.execute(_HEAD).get
    return head


def pruned_in(db: Connection) -> PrunedPositions:
    """The positions that were pruned."""
    return _pruned(db.execute("select value from meta where key = ?", (LINE,)).get)


def put_pruned(db: Connection, pruned: PrunedPositions) -> None:
    """Store which positions were pruned."""
    put_meta(db, LINE, _encode(pruned).decode())


def has_line(db: Connection) -> bool:
    """Whether entries have positions. They have none in a store of an older schema."""
    return bool(db.execute("select count(*) from meta where key = ?", (LINE,)).get)


def append_entries(db: Connection, rows: Sequence[JournalRow]) -> None:
    """Store journal entries at the end of the line."""
    insert_many(db, _INSERT, [(position, *row) for position, row in enumerate(rows, head_in(db) + 1)])


def forget_positions(db: Connection, positions: Sequence[int]) -> None:
    """Note that the entries at these positions are pruned."""
    before = pruned_in(db)
    last = max(before.last, *positions)
    put_pruned(db, PrunedPositions(last, before.count + len(positions), before.sum + sum(positions)))


def line_problems(db: Connection) -> Iterator[str]:
    """Entries that are not at the positions where they were stored."""
    if not has_line(db):
        return  # which is reported already
    head, pruned = head_in(db), pruned_in(db)
    count, total = next(iter(list(db.execute("select count(*), ifnull(sum(position), 0) from journal"))))
    if (count + pruned.count, total + pruned.sum) != (head, head * (head + 1) // 2):
        yield "the positions of journal entries were altered, or entries are missing: restore a backup"


def out_of_order(db: Connection) -> list[str]:
    """Runs with entries whose positions do not ascend with their numbers."""
    return [run for (run,) in db.execute(_OUT_OF_ORDER)]
