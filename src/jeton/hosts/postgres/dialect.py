"""What PostgreSQL says otherwise than other databases.

Positions of journal entries, and numbers of published events, follow the order of transactions: a number is made of the
transaction's id and of a count within it. Transactions do not become visible in the order of their ids, so readers look
only behind those that are still under way (`jeton_horizon`).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import msgspec

from jeton.actor.typed.shape import Kind
from jeton.actor.whole.digests import row_digest
from jeton.hosts.postgres.shards import shard_of
from jeton.hosts.sql.connection import Connection, JournalRow, PrunedPositions, upsert
from jeton.model.failure import Refused
from jeton.model.ids import RunId

if TYPE_CHECKING:
    from jeton.hosts.postgres.connection import PgConnection

MOST_PER_TRANSACTION = 1 << 16  # see `jeton_position` in schema.sql
INBOX, CHANGED = "jeton_inbox", "jeton_changed"
"""The channels of notifications: messages for a shard, and what else other processes should read again."""

_pruned = msgspec.json.Decoder(PrunedPositions).decode
_APPEND = (
    "insert into journal(position, run, number, hash, body)"
    " select jeton_position(?1 + n - 1), run, number, hash, body"
    " from unnest(?2::text[], ?3::bigint[], ?4::bytea[], ?5::bytea[]) with ordinality as v(run, number, hash, body, n)"
)
_META = upsert("meta", ("key",), ("value", "digest"))
_WORDS = "superseded_by is null and string_to_array(place || ' ' || words, ' ') @> ?1::text[]"


def put_meta(db: Connection, key: str, value: str) -> None:
    """Store what a store knows of itself."""
    db.execute(_META, (key, value, row_digest("meta", key, value)))


_TYPES: dict[Kind, str] = {
    "text": "text",
    "integer": "bigint",
    "number": "numeric",
    "boolean": "smallint",
    "json": "text",
}


class PostgresDialect:
    """Fulfils `jeton.hosts.sql.connection.Dialect`."""

    progress = (
        "update runs set wake = v.wake, entries = v.entries, hash = v.hash, head = v.head, small = v.small"
        " from (values(?::text, ?::bigint, ?::bigint, ?::bytea, ?::bytea, ?::bytea))"
        " as v(run, wake, entries, hash, head, small) where runs.run = v.run"
    )
    contains = "position(?1::bytea in {}) > 0"
    event_name = "convert_from(triggers.body, 'UTF8')::jsonb -> 'on' ->> 'name'"
    conversations_index = ""
    table_options = ""
    keyed_table_options = ""

    def column_type(self, kind: Kind) -> str:
        return _TYPES[kind]

    def number_check(self, column: str) -> str | None:
        return None

    def table_names(self, db: Connection) -> list[str]:
        query = "select relname::text from pg_class where relnamespace = current_schema()::regnamespace"
        return [name for (name,) in db.execute(query)]

    def tables_created(self, db: Connection, before: Sequence[str]) -> None:
        """Nothing to do: who may alter tables is a matter of the database's roles."""

    def lock(self, db: Connection, name: str) -> None:
        db.execute("select pg_advisory_xact_lock(hashtextextended(?, 0))", (name,))

    def messages_stored(self, db: Connection, runs: Sequence[RunId]) -> None:
        ours = cast("PgConnection", db)
        for shard in sorted({shard_of(run) for run in runs if not ours.is_mine(run)}):
            db.execute("select pg_notify(?, ?)", (INBOX, str(shard)))

    def changed(self, db: Connection, what: str) -> None:
        db.execute("select pg_notify(?, ?)", (CHANGED, what))

    # numbers

    def next_numbers(self, db: Connection, table: str, count: int = 1) -> Sequence[int]:
        if table == "emitted":
            first = self._given(db, count)
            query = "select jeton_position(?1 + n) from generate_series(0, ?2::bigint - 1) as n order by n"
            return [number for (number,) in db.execute(query, (first, count))]
        query = f"select nextval('jeton_{table}') from generate_series(1, ?::bigint)"
        return [number for (number,) in db.execute(query, (count,))]

    def last_number(self, db: Connection, table: str) -> int:
        found: int = db.execute("select jeton_horizon() - 1").get
        return found

    def _given(self, db: Connection, count: int) -> int:
        """The first of some counts within this transaction."""
        ours = cast("PgConnection", db)
        first, ours.given = ours.given, ours.given + count
        if ours.given > MOST_PER_TRANSACTION:
            problem = f"one commit cannot have more than {MOST_PER_TRANSACTION} journal entries in PostgreSQL"
            raise Refused("bad_argument", problem, "fork at an earlier entry, or import it into a file")
        return first

    # the line of positions

    def append_entries(self, db: Connection, rows: Sequence[JournalRow]) -> None:
        if rows:
            columns = [list(column) for column in zip(*rows, strict=True)]
            db.execute(_APPEND, (self._given(db, len(rows)), *columns))  # type: ignore[arg-type]  # lists are arrays

    def head(self, db: Connection) -> int:
        found: int = db.execute("select coalesce(max(position), 0) from journal where position < jeton_horizon()").get
        return max(found, self.pruned(db).last)

    def pruned(self, db: Connection) -> PrunedPositions:
        return _pruned(db.execute("select value from meta where key = 'line'").get)

    def forget_positions(self, db: Connection, positions: Sequence[int]) -> None:
        self.lock(db, "line")
        before = self.pruned(db)
        now = PrunedPositions(max(before.last, *positions), before.count + len(positions), 0)
        put_meta(db, "line", msgspec.json.encode(now).decode())

    def shrink(self, db: Connection) -> bool:
        return False  # autovacuum does it

    # the index of the words of memories is an index of the table

    def index_memory(self, db: Connection, number: int, place: str, words: str) -> None:
        """Nothing to do: the row is indexed."""

    def unindex_memory(self, db: Connection, id: str) -> None:
        """Nothing to do: the index leaves out what is superseded."""

    def erase_deleted(self, db: Connection) -> None:
        """Nothing to do here: the database overwrites deleted rows when it vacuums (docs/postgres.md)."""

    def count_memories(self, db: Connection, places: Sequence[str], word: str) -> int:
        count: int = db.execute(f"select count(*) from memories where {_WORDS}", ([*places, word],)).get  # type: ignore[arg-type]
        return count

    def find_memories(self, db: Connection, places: Sequence[str], word: str, limit: int) -> list[int]:
        query = f"select number from memories where {_WORDS} order by number desc limit ?2"
        return [number for (number,) in db.execute(query, ([*places, word], limit))]  # type: ignore[arg-type]
