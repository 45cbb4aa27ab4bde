"""Connections to a store: the writer's, those of readers, and short ones of processes that store a message."""

import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias, TypeVar, cast

import apsw

from jeton.actor.whole.digests import row_digest
from jeton.model.failure import Refused

BUSY_MS = 10_000
WAL_LIMIT_BYTES = 64 * 1024 * 1024

Durability = Literal["full", "normal"]
Value: TypeAlias = int | float | str | bytes | None
Row: TypeAlias = tuple[Any, ...]

_T = TypeVar("_T")
_log = logging.getLogger("jeton.store")


class Cursor(Protocol):
    """The result of a statement."""

    @property
    def get(self) -> Any:
        """The only value of the only row, or None; rows and columns where there are more."""
        ...

    def __iter__(self) -> Iterator[Row]: ...


class Connection(Protocol):
    """The part of `apsw.Connection` that is used, because its own types need a newer Python."""

    @property
    def in_transaction(self) -> bool: ...

    def execute(self, statements: str, bindings: Sequence[Value] = ..., /) -> Cursor: ...
    def executemany(self, statements: str, bindings: Iterable[Sequence[Value]], /) -> Cursor: ...
    def last_insert_rowid(self) -> int: ...
    def pragma(self, name: str, value: Value = ..., /) -> Any: ...
    def wal_checkpoint(self, dbname: str | None = ..., mode: int = ...) -> tuple[int, int]: ...
    def set_wal_hook(self, hook: Callable[..., int], /) -> None: ...
    def create_scalar_function(self, name: str, callable: Callable[..., Value], numargs: int = ..., /) -> None: ...
    def set_busy_timeout(self, milliseconds: int, /) -> None: ...
    def setlk_timeout(self, ms: int, flags: int, /) -> None: ...
    def backup(self, name: str, source: "Connection", source_name: str, /) -> AbstractContextManager["Backup"]: ...
    def close(self) -> None: ...
    def __enter__(self) -> "Connection": ...
    def __exit__(self, *problem: object) -> bool | None: ...


class Backup(Protocol):
    """A copy being made."""

    def step(self, pages: int = ..., /) -> bool: ...


class Transact(Protocol):
    """Runs a function in a transaction of the writer."""

    def __call__(self, act: Callable[[Connection], _T], /) -> Awaitable[_T]: ...


def connect(path: Path | str, *, create: bool = False, flags: int = apsw.SQLITE_OPEN_READWRITE) -> Connection:
    """A connection that waits for a lock instead of failing on it."""
    try:
        opened = apsw.Connection(str(path), flags=flags | (apsw.SQLITE_OPEN_CREATE if create else 0))
    except apsw.CantOpenError:
        if Path(path).exists():
            problem = f"the store at {path} cannot be opened"
            raise Refused("store_failed", problem, "check who may read and write there") from None
        raise Refused("no_store", f"there is no store at {path}", "check the path") from None
    db = cast(Connection, opened)
    db.set_busy_timeout(BUSY_MS)
    db.create_scalar_function("row_digest", row_digest)  # for values that only SQL knows
    return db


def connect_writer(path: Path, durability: Durability) -> Connection:
    """The writer's connection. With `normal` a power failure may lose the last commits; nothing else does."""
    db = connect(path)
    db.pragma("journal_mode", "wal")
    db.pragma("synchronous", durability)
    db.pragma("fullfsync", durability == "full")  # on macOS a plain sync does not flush the disk's cache
    db.pragma("foreign_keys", True)
    db.pragma("journal_size_limit", WAL_LIMIT_BYTES)
    db.pragma("temp_store", "memory")  # what is copied on the way must not be left on the disk
    return db


def overwrite_deleted(db: Connection, on: bool = True) -> None:
    """Set whether what is deleted is overwritten in the file. It costs a write of each page that gets free."""
    db.pragma("secure_delete", on)


def connect_reader(path: Path) -> Connection:
    """A connection that cannot write."""
    db = connect(path)
    db.pragma("query_only", True)
    return db


def begin(db: Connection, whose: str) -> None:
    """Begin a write transaction. Waits for the lock as long as it takes; others hold it for a moment each."""
    while True:
        try:
            db.execute("begin immediate")
        except apsw.BusyError:
            _log.warning("%s has waited %s s for the store's lock", whose, BUSY_MS // 1000)
        else:
            return


def refusal(problem: Exception) -> Refused:
    """The refusal that callers get after a failed write, until the store is opened again."""
    reopen = "then open it again: everything acknowledged is there"
    match problem:
        case Refused():
            return problem
        case apsw.FullError():
            full = f"the disk is full, and nothing more can be stored: {problem}"
            return Refused("store_full", full, f"make room, {reopen}")
        case apsw.CorruptError() | apsw.NotADBError():
            return Refused("store_damaged", f"the store is damaged: {problem}", "verify it, and restore a backup")
        case _:
            return Refused("store_failed", f"the store could not be written: {problem}", f"check the disk, {reopen}")
