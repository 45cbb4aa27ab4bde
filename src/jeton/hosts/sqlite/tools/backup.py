"""A consistent copy of a store, made while it is in use.

The copy is another store with an id of its own, so that files of the original are not taken for its own. Tasks that
were running when the copy was made are run again if its runs go on, under the same idempotency keys.
"""

import os
import secrets
from pathlib import Path
from typing import Any

import apsw
import msgspec

from jeton.hosts.sqlite.file.connect import connect
from jeton.hosts.sqlite.file.meta import put_meta
from jeton.hosts.sqlite.file.opening import check_readable
from jeton.model.failure import Refused


class Origin(msgspec.Struct, frozen=True):
    """The store that a copy was made from, as stored in the copy's `meta` table."""

    store: str
    epoch: int
    commits: int
    at: int
    in_flight: int  # busy runs, whose effects may happen in both stores


class BackedUp(msgspec.Struct, frozen=True):
    """A copy, with its id as a store."""

    path: Path
    store: str
    origin: Origin
    runs: int


def backup(source: Path, to: Path, now: int) -> BackedUp:
    """Copy a store. The copy appears whole or not at all, and replaces no other file."""
    check_readable(source.resolve())
    for taken in _database_files(to):
        if taken.exists():  # a log of an earlier store would be taken for the log of the copy
            raise Refused("file_exists", f"there is something at {taken} already", "name another file")
    if not to.parent.is_dir():
        raise Refused("no_folder", f"there is no folder {to.parent}", "make it first")
    made = to.with_name(f".{to.name}.{secrets.token_hex(4)}")
    try:
        _copy(source, made)
        done = _set_origin(made, to, now)
        sync(made)
        try:
            os.link(made, to)
        except FileExistsError:
            raise Refused("file_exists", f"there is something at {to} by now", "name another file") from None
        sync(to.parent)
    except apsw.FullError as problem:
        raise Refused("store_full", f"there is no room for the copy: {problem}", "make room") from None
    finally:
        for left in _database_files(made):
            left.unlink(missing_ok=True)
    return done


def _database_files(store: Path) -> list[Path]:
    """The files that SQLite uses for one database."""
    return [store.with_name(store.name + suffix) for suffix in ("", "-wal", "-shm", "-journal")]


def _copy(source: Path, to: Path) -> None:
    """Copy in one read transaction, which does not stop writers."""
    reader = connect(source)
    try:
        reader.execute("vacuum into ?", (str(to),))
    finally:
        reader.close()


def _set_origin(made: Path, to: Path, now: int) -> BackedUp:
    """Give the copy an id of its own, and record where it came from."""
    db = connect(made)
    try:
        meta: dict[str, Any] = dict(db.execute("select key, value from meta"))
        in_flight: int = db.execute("select count(*) from runs where busy = 1").get
        runs: int = db.execute("select count(*) from runs").get
        origin = Origin(str(meta["store"]), int(meta["epoch"]), int(meta.get("commits", 0)), now, in_flight)
        store = secrets.token_hex(16)
        with db:
            put_meta(db, "store", store)
            put_meta(db, "origin", msgspec.json.encode(origin))
    finally:
        db.close()
    return BackedUp(to, store, origin, runs)


def sync(path: Path) -> None:
    """Wait until a file or a folder is on the disk."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
