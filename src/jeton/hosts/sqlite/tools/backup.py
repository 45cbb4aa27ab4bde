"""A consistent copy of a store, made while it is in use.

The copy is another store: it has a name of its own, so that nothing meant for the original can be taken for its own.
Tasks that were in work when the copy was made are done again if its runs go on, under the keys they had before.
"""

import os
import secrets
from pathlib import Path
from typing import Any

import apsw
import msgspec

from jeton.hosts.sqlite.file.connect import connect
from jeton.hosts.sqlite.file.opening import visit
from jeton.model.failure import Refused


class Origin(msgspec.Struct, frozen=True):
    """What a copy says of the store it was made from; it is kept in the copy's `meta`."""

    store: str
    epoch: int
    commits: int
    at: int
    in_flight: int  # runs with something in work, whose effects may happen in both


class BackedUp(msgspec.Struct, frozen=True):
    """The copy, under the name it has as a store."""

    path: Path
    store: str
    origin: Origin
    runs: int


def backup(source: Path, to: Path, now: int) -> BackedUp:
    """Copy a store. The copy appears whole or not at all, and never takes another file's place."""
    visit(source.resolve())
    for taken in _family(to):
        if taken.exists():  # a log that an earlier store left there would be taken for the copy's own
            raise Refused("file_exists", f"there is something at {taken} already", "name another file")
    if not to.parent.is_dir():
        raise Refused("no_folder", f"there is no folder {to.parent}", "make it first")
    made = to.with_name(f".{to.name}.{secrets.token_hex(4)}")
    try:
        _copy(source, made)
        done = _rename(made, to, now)
        _sync(made)
        try:
            os.link(made, to)
        except FileExistsError:
            raise Refused("file_exists", f"there is something at {to} by now", "name another file") from None
        _sync(to.parent)
    except apsw.FullError as problem:
        raise Refused("store_full", f"there is no room for the copy: {problem}", "make room") from None
    finally:
        for left in _family(made):
            left.unlink(missing_ok=True)
    return done


def _family(store: Path) -> list[Path]:
    """The files that SQLite takes for one database."""
    return [store.with_name(store.name + suffix) for suffix in ("", "-wal", "-shm", "-journal")]


def _copy(source: Path, to: Path) -> None:
    """One reading transaction: writers go on meanwhile, and none of what they write is in the copy."""
    reader = connect(source)
    try:
        reader.execute("vacuum into ?", (str(to),))
    finally:
        reader.close()


def _rename(made: Path, to: Path, now: int) -> BackedUp:
    db = connect(made)
    try:
        facts: dict[str, Any] = dict(db.execute("select key, value from meta"))
        in_flight: int = db.execute("select count(*) from runs where busy = 1").get
        runs: int = db.execute("select count(*) from runs").get
        origin = Origin(str(facts["store"]), int(facts["epoch"]), int(facts.get("commits", 0)), now, in_flight)
        store = secrets.token_hex(16)
        with db:
            db.execute("update meta set value = ? where key = 'store'", (store,))
            db.execute("insert or replace into meta(key, value) values('origin', ?)", (msgspec.json.encode(origin),))
    finally:
        db.close()
    return BackedUp(to, store, origin, runs)


def _sync(path: Path) -> None:
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
