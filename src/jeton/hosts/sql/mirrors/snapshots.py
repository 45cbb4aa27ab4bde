"""The table of snapshots."""

from collections.abc import Sequence

from jeton.actor.pack import packed
from jeton.hosts.sql.bulk import insert_many
from jeton.hosts.sql.connection import Connection, Value
from jeton.hosts.sql.rows import Write

_INSERT = "insert into snapshots(run, number, hash, digest, body) values(?, ?, ?, ?, ?)"
_DELETE = "delete from snapshots where run = ? and number < ?"


class SnapshotMirror:
    """Fulfils `jeton.hosts.sql.rows.Mirror`."""

    def write(self, db: Connection, writes: Sequence[Write]) -> None:
        rows: list[tuple[Value, ...]] = []
        older: list[tuple[Value, ...]] = []
        for write in writes:
            turn, snapshot = write.turn, write.turn.queries.snapshot
            if snapshot is None or turn.entry is None:
                continue
            body = None if snapshot.sections is None else packed(snapshot.sections)
            rows.append((write.actor.run, turn.entry.number, turn.hash, snapshot.digest, body))
            if not snapshot.only or turn.shared:
                older.append((write.actor.run, turn.entry.number))
        insert_many(db, _INSERT, rows)
        if older:
            db.executemany(_DELETE, older)
