"""Connections to a store: the writer's, those of readers, and short ones of processes that store a message."""

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Literal, Protocol, cast

import apsw

from jeton.actor.whole.digests import row_digest
from jeton.hosts.sql.connection import Connection, Value
from jeton.hosts.sqlite.dialect import SqliteDialect
from jeton.model.failure import Refused

BUSY_MS = 10_000
WAL_LIMIT_BYTES = 64 * 1024 * 1024

Durability = Literal["full", "normal"]

_log = logging.getLogger("jeton.store")


class FileConnection(Connection, Protocol):
    """The part of `apsw.Connection` that is used besides, because its own types need a newer Python."""

    def pragma(self, name: str, value: Value = ..., /) -> Any: ...
    def wal_checkpoint(self, dbname: str | None = ..., mode: int = ...) -> tuple[int, int]: ...
    def set_wal_hook(self, hook: Callable[..., int], /) -> None: ...
    def create_scalar_function(self, name: str, callable: Callable[..., Value], numargs: int = ..., /) -> None: ...
    def set_busy_timeout(self, milliseconds: int, /) -> None: ...
    def setlk_timeout(self, ms: int, flags: int, /) -> None: ...
    def backup(self, name: str, source: "FileConnection", source_name: str, /) -> AbstractContextManager["Backup"]: ...


class Backup(Protocol):
    """A copy being made."""

    def step(self, pages: int = ..., /) -> bool: ...


class _Connection(apsw.Connection):  # type: ignore[misc, unused-ignore]
    """A connection of apsw that knows its dialect."""

    dialect = SqliteDialect()


def connect(path: Path | str, *, create: bool = False, flags: int = apsw.SQLITE_OPEN_READWRITE) -> FileConnection:
    """A connection that waits for a lock instead of failing on it."""
    try:
        opened = _Connection(str(path), flags=flags | (apsw.SQLITE_OPEN_CREATE if create else 0))
    except apsw.CantOpenError:
        if Path(path).exists():
            problem = f"the store at {path} cannot be opened"
            raise Refused("store_failed", problem, "check who may read and write there") from None
        raise Refused("no_store", f"there is no store at {path}", "check the path") from None
    db = cast(FileConnection, opened)
    db.set_busy_timeout(BUSY_MS)
    db.create_scalar_function("row_digest", row_digest)  # for values that only SQL knows
    return db


def connect_writer(path: Path, durability: Durability) -> FileConnection:
    """The writer's connection. With `normal` a power failure may lose the last commits; nothing else does."""
    db = connect(path)
    db.pragma("journal_mode", "wal")
    db.pragma("synchronous", durability)
    db.pragma("fullfsync", durability == "full")  # on macOS a plain sync does not flush the disk's cache
    db.pragma("foreign_keys", True)
    db.pragma("journal_size_limit", WAL_LIMIT_BYTES)
    db.pragma("temp_store", "memory")  # what is copied on the way must not be left on the disk
    return db


def overwrite_deleted(db: FileConnection, on: bool = True) -> None:
    """Set whether what is deleted is overwritten in the file. It costs a write of each page that gets free."""
    db.pragma("secure_delete", on)


def connect_reader(path: Path) -> FileConnection:
    """A connection that cannot write."""
    db = connect(path)
    db.pragma("query_only", True)
    return db


def begin(db: FileConnection, whose: str) -> None:
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
