"""What SQLite says otherwise than other databases."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from jeton.hosts.sql.connection import Connection, JournalRow, PrunedPositions
from jeton.hosts.sqlite.file.line import append_entries, forget_positions, head_in, pruned_in
from jeton.hosts.sqlite.file.meta import put_schema
from jeton.model.ids import RunId

if TYPE_CHECKING:
    from jeton.actor.typed.shape import Kind

if TYPE_CHECKING:
    from jeton.hosts.sqlite.file.connect import FileConnection

PAGES_PER_STEP = 200

# When SQLite moves rows to other pages, copies of them stay behind where nothing is stored. So after a deletion all
# memories are written anew, to pages that were cleared before.
_REWRITE = """
create temp table kept as select * from memories;
delete from memories;
insert into memories select * from temp.kept order by number;
drop table temp.kept;
create temp table kept as select * from memory_vectors;
delete from memory_vectors;
insert into memory_vectors select * from temp.kept order by number;
drop table temp.kept;
insert into memory_index(memory_index) values('delete-all');
insert into memory_index(memory_index) values('rebuild');
"""


# `any` keeps 1 and 1.0 apart, which `real` does not
_TYPES: "dict[Kind, str]" = {
    "text": "text",
    "integer": "integer",
    "number": "any",
    "boolean": "integer",
    "json": "text",
}


class SqliteDialect:
    """Fulfils `jeton.hosts.sql.connection.Dialect`."""

    progress = (
        "update runs set wake = v.column2, entries = v.column3, hash = v.column4, head = v.column5, small = v.column6"
        " from (values(?, ?, ?, ?, ?, ?)) as v where run = v.column1"
    )
    contains = "instr({}, ?1)"
    event_name = "cast(triggers.body as text) ->> '$.on.name'"
    conversations_index = "indexed by conversations_by_time"  # it would look for their names first, and sort all
    table_options = "strict"
    keyed_table_options = "strict, without rowid"

    def column_type(self, kind: "Kind") -> str:
        return _TYPES[kind]

    def number_check(self, column: str) -> str | None:
        return f"typeof({column}) in ('integer', 'real', 'null')"

    def table_names(self, db: Connection) -> list[str]:
        return [name for (name,) in db.execute("select name from sqlite_schema")]

    def tables_created(self, db: Connection, before: Sequence[str]) -> None:
        put_schema(db, before)

    def lock(self, db: Connection, name: str) -> None:
        """Nothing to do: a transaction that writes has locked the whole file."""

    def messages_stored(self, db: Connection, runs: Sequence[RunId]) -> None:
        """Nothing to do: the owner sees that the file has changed."""

    def changed(self, db: Connection, what: str) -> None:
        """Nothing to do: only the owner keeps anything in memory."""

    def next_numbers(self, db: Connection, table: str, count: int = 1) -> Sequence[int]:
        first = self.last_number(db, table) + 1
        return range(first, first + count)

    def last_number(self, db: Connection, table: str) -> int:
        if table == "measured":  # its rows are numbered by their order, and by nothing else
            found: int = db.execute("select coalesce(max(number), 0) from measured").get
            return found
        last: int | None = db.execute("select seq from sqlite_sequence where name = ?", (table,)).get
        return last or 0

    def append_entries(self, db: Connection, rows: Sequence[JournalRow]) -> None:
        append_entries(db, rows)

    def head(self, db: Connection) -> int:
        return head_in(db)

    def pruned(self, db: Connection) -> PrunedPositions:
        return pruned_in(db)

    def forget_positions(self, db: Connection, positions: Sequence[int]) -> None:
        forget_positions(db, positions)

    def shrink(self, db: Connection) -> bool:
        for _ in db.execute(f"pragma incremental_vacuum({PAGES_PER_STEP})"):
            pass
        left: int = cast("FileConnection", db).pragma("freelist_count")
        return left > PAGES_PER_STEP

    # the index of memories is a full-text index, which reads the words of a memory from its row

    def index_memory(self, db: Connection, number: int, place: str, words: str) -> None:
        db.execute("insert into memory_index(rowid, place, words) values(?, ?, ?)", (number, place, words))

    def unindex_memory(self, db: Connection, id: str) -> None:
        db.execute("delete from memory_index where rowid = (select number from memories where id = ?)", (id,))

    def erase_deleted(self, db: Connection) -> None:
        for _ in db.execute(_REWRITE):
            pass

    def count_memories(self, db: Connection, places: Sequence[str], word: str) -> int:
        query = "select count(*) from memory_index where memory_index match ?"
        count: int = db.execute(query, (_match(places, word),)).get
        return count

    def find_memories(self, db: Connection, places: Sequence[str], word: str, limit: int) -> list[int]:
        select = "select rowid from memory_index where memory_index match ? order by rowid desc limit ?"
        return [number for (number,) in db.execute(select, (_match(places, word), limit))]


def _match(places: Sequence[str], word: str) -> str:
    """The query of the full-text index. Everything in it is quoted."""
    return " AND ".join([*(f'place : "{place}"' for place in places), f'words : "{word}"'])
