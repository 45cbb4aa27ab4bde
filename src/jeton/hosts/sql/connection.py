"""What the tables and reads need of a database connection, whichever database it is.

Statements are written in the SQL that SQLite and PostgreSQL have in common, with `?` or `?1` for values. What they do
not have in common is behind `Dialect`.
"""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

import msgspec

from jeton.model.ids import RunId

if TYPE_CHECKING:
    from jeton.actor.typed.shape import Kind

Value: TypeAlias = int | float | str | bytes | None
Row: TypeAlias = tuple[Any, ...]
JournalRow: TypeAlias = tuple[str, int, bytes, bytes]
"""Run, number, hash and body."""

_T = TypeVar("_T")


class Cursor(Protocol):
    """The result of a statement."""

    @property
    def get(self) -> Any:
        """The only value of the only row, or None; rows and columns where there are more."""
        ...

    def __iter__(self) -> Iterator[Row]: ...


class Connection(Protocol):
    """A connection. As a context manager it is a savepoint, or a transaction if there is none yet."""

    @property
    def dialect(self) -> "Dialect":
        """What this database says otherwise than the others."""
        ...

    @property
    def in_transaction(self) -> bool: ...

    def execute(self, statements: str, bindings: Sequence[Value] = ..., /) -> Cursor: ...
    def executemany(self, statements: str, bindings: Iterable[Sequence[Value]], /) -> Cursor: ...
    def close(self) -> None: ...
    def __enter__(self) -> Any: ...
    def __exit__(self, *problem: Any) -> bool | None: ...


class PrunedPositions(msgspec.Struct, frozen=True, array_like=True):
    """The positions whose entries were pruned: the last of them, how many, and their sum."""

    last: int = 0
    count: int = 0
    sum: int = 0


class Dialect(Protocol):
    """What databases say differently."""

    @property
    def progress(self) -> str:
        """Updates columns of runs: run, wake, entries, hash, head and small."""
        ...

    @property
    def contains(self) -> str:
        """The condition that bytes, `{}`, contain the bytes of the first value."""
        ...

    @property
    def event_name(self) -> str:
        """The name of the event that fires a trigger, from its body."""
        ...

    def column_type(self, kind: "Kind") -> str:
        """The type of a column of a typed table."""
        ...

    @property
    def conversations_index(self) -> str:
        """Names the index of conversations by time, where a database would not choose it."""
        ...

    @property
    def table_options(self) -> str:
        """Of typed tables."""
        ...

    @property
    def keyed_table_options(self) -> str:
        """Of typed tables that are found by a primary key of several columns."""
        ...

    def number_check(self, column: str) -> str | None:
        """The condition that a column of numbers has one, if the type does not say so."""
        ...

    def table_names(self, db: Connection) -> list[str]:
        """The names of all tables, indexes and views."""
        ...

    def tables_created(self, db: Connection, before: Sequence[str]) -> None:
        """Called after tables were created; `before`: the names that there were."""
        ...

    def lock(self, db: Connection, name: str) -> None:
        """Wait until no other process has locked the same name, and lock it until the transaction ends."""
        ...

    def messages_stored(self, db: Connection, runs: Sequence[RunId]) -> None:
        """Tell the processes that advance these runs that there are messages for them, after the commit."""
        ...

    def changed(self, db: Connection, what: str) -> None:
        """Tell other processes that something changed which they keep in memory, after the commit."""
        ...

    # numbers of rows

    def next_numbers(self, db: Connection, table: str, count: int = 1) -> Sequence[int]:
        """Numbers for the next rows of a table. Numbers of deleted rows are not given again."""
        ...

    def last_number(self, db: Connection, table: str) -> int:
        """The number up to which rows of a table are there; those that come later have greater ones."""
        ...

    # the line of positions

    def append_entries(self, db: Connection, rows: Sequence[JournalRow]) -> None:
        """Store journal entries at the end of the line."""
        ...

    def head(self, db: Connection) -> int:
        """The position up to which the line is complete; 0 if there is none."""
        ...

    def pruned(self, db: Connection) -> PrunedPositions:
        """The positions that were pruned."""
        ...

    def forget_positions(self, db: Connection, positions: Sequence[int]) -> None:
        """Note that the entries at these positions are pruned."""
        ...

    def shrink(self, db: Connection) -> bool:
        """Return some free space to the file system. Returns False when it is done."""
        ...

    # the index of the words of memories

    def index_memory(self, db: Connection, number: int, place: str, words: str) -> None:
        """Add a memory, which was just stored."""
        ...

    def unindex_memory(self, db: Connection, id: str) -> None:
        """Remove a memory, which is about to be superseded."""
        ...

    def erase_deleted(self, db: Connection) -> None:
        """Remove every copy of deleted memories that the database can reach."""
        ...

    def count_memories(self, db: Connection, places: Sequence[str], word: str) -> int:
        """How many memories have all of these places and a word."""
        ...

    def find_memories(self, db: Connection, places: Sequence[str], word: str, limit: int) -> list[int]:
        """The numbers of the newest of them."""
        ...


class Transact(Protocol):
    """Runs a function in a transaction of the writer."""

    def __call__(self, act: Callable[[Connection], _T], /) -> Awaitable[_T]: ...


def upsert(table: str, keys: Sequence[str], columns: Sequence[str]) -> str:
    """A statement that inserts a row, or replaces the one with the same keys."""
    names, marks = ", ".join((*keys, *columns)), ", ".join("?" * (len(keys) + len(columns)))
    changes = ", ".join(f"{column} = excluded.{column}" for column in columns)
    return f"insert into {table}({names}) values({marks}) on conflict({', '.join(keys)}) do update set {changes}"
