"""Connections to a store: one that writes, any number that read, and a short one for other processes' messages."""

from pathlib import Path
from typing import Literal

import apsw

from jeton.model.failure import Refused

BUSY_MS = 10_000
WAL_LIMIT_BYTES = 64 * 1024 * 1024

Durability = Literal["full", "normal"]


def connect(path: Path, *, create: bool = False) -> apsw.Connection:
    """A connection that waits for a lock instead of failing on it."""
    flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if create else 0)
    try:
        db = apsw.Connection(str(path), flags=flags)
    except apsw.CantOpenError:
        problem = f"there is no store at {path}" if not path.exists() else f"{path} cannot be opened"
        raise Refused("no_store", problem, "check the path, and who may read and write there") from None
    db.set_busy_timeout(BUSY_MS)
    return db


def connect_writer(path: Path, durability: Durability) -> apsw.Connection:
    """The one connection that commits. `normal` may lose the last commits when the power fails, and only then."""
    db = connect(path)
    db.pragma("journal_mode", "wal")
    db.pragma("synchronous", durability)
    db.pragma("foreign_keys", True)
    db.pragma("journal_size_limit", WAL_LIMIT_BYTES)
    return db


def connect_reader(path: Path) -> apsw.Connection:
    """A connection that cannot write, whatever it is asked."""
    db = connect(path)
    db.pragma("query_only", True)
    return db


def refusal(problem: Exception) -> Refused:
    """What a failed write means for the caller: nothing more is taken until the store is opened again."""
    reopen = "then open it again: everything acknowledged is there"
    match problem:
        case apsw.FullError():
            return Refused(
                "store_full", f"the disk is full, and the store takes nothing more: {problem}", f"make room, {reopen}"
            )
        case apsw.CorruptError() | apsw.NotADBError():
            return Refused("store_damaged", f"the store is damaged: {problem}", "verify it, and restore a backup")
        case _:
            return Refused("store_failed", f"the store could not be written: {problem}", f"look at the disk, {reopen}")
