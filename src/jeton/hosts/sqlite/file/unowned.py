"""Writes of a process that does not own the store."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import msgspec

from jeton.hosts.sql.connection import Connection
from jeton.hosts.sql.inbox import put_messages
from jeton.hosts.sqlite.file.connect import BUSY_MS, begin, connect, overwrite_deleted
from jeton.hosts.sqlite.file.meta import put_sequences
from jeton.model.ids import RunId
from jeton.model.message import Message

Value = TypeVar("Value")


def store_message(path: Path, run: RunId, message: Message) -> None:
    """Store a message for the owner to deliver, from a process that is not the owner."""
    row = (run, msgspec.json.encode(message))
    write_unowned(path, lambda db: put_messages(db, [row]))


def write_unowned(path: Path, act: Callable[[Connection], Value], *, overwrite: bool = False) -> Value:
    """Write in one short transaction, from a process that is not the owner. `overwrite` what is deleted in it."""
    db = connect(path)
    try:
        if overwrite:
            db.pragma("temp_store", "memory")
            overwrite_deleted(db)
        db.setlk_timeout(BUSY_MS, 0)  # queue for the lock, because a busy owner takes it again at once
        begin(db, "a message")
        done = act(db)
        put_sequences(db)
        db.execute("commit")
        return done
    finally:
        db.close()
