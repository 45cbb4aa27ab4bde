"""Whether the last commits are still there.

A write-ahead log that lost its end is whole as far as SQLite can tell. So each transaction counts itself in the store,
and after each commit, before anybody is told of it, the count and the runs in it go to a small file beside the store.
If that file knows of more commits than the store does, they are lost.

The file is not synced, which would double the price of a commit. So it may be behind after a power cut, and then says
less than it could; it is never ahead of what was committed. It cannot help if it is lost together with the log.
"""

import logging
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from jeton.hosts.sqlite.commit.rows import Write
from jeton.hosts.sqlite.file.connect import Connection
from jeton.model.ids import RunId

LONGEST_BYTES = 1_000_000

_log = logging.getLogger("jeton.store")
_encode = msgspec.json.Encoder().encode


class Known(msgspec.Struct, frozen=True, array_like=True):
    """One commit: its number, and how many entries each run in it then had."""

    commit: int
    runs: dict[RunId, int]


class Loss(msgspec.Struct, frozen=True):
    """Commits that were made and are not there. `runs`: by name, how many entries each should have."""

    commits: int
    runs: dict[RunId, int]


class _Header(msgspec.Struct, frozen=True):
    store: str
    commits: int


_known = msgspec.json.Decoder(Known).decode
_losses = msgspec.json.Decoder(list[Loss]).decode


def tail_path(store: Path) -> Path:
    return store.with_name(f"{store.name}-tail")


class Tail:
    """The writer's side: counts, and notes what was counted."""

    def __init__(self, path: Path, db: Connection) -> None:
        self._keep_loss(path, db)
        self._store: str = db.execute("select value from meta where key = 'store'").get
        self._commits: int = db.execute("select value from meta where key = 'commits'").get or 0
        self._counted = Known(self._commits, {})
        self._file = _opened(tail_path(path))
        self._end = 0
        self.fold()

    def count(self, db: Connection, writes: Sequence[Write]) -> None:
        """In the transaction, which may still fail."""
        runs = {write.actor.run: write.turn.head.entries for write in writes if write.turn.entry is not None}
        self._counted = Known(self._commits + 1, runs)
        db.execute("insert or replace into meta(key, value) values('commits', ?)", (self._counted.commit,))

    def note(self) -> None:
        """After the commit."""
        self._commits = self._counted.commit
        if self._end > LONGEST_BYTES:
            self.fold()
        self._append(_encode(self._counted) + b"\n")

    def fold(self) -> None:
        """Keep the count, and not which runs it was: what is in the main file cannot be lost with the log."""
        self._end = 0
        self._append(_encode(_Header(self._store, self._commits)) + b"\n")
        if self._file is not None:
            with suppress(OSError):
                os.ftruncate(self._file, self._end)

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)

    def _append(self, line: bytes) -> None:
        if self._file is None:
            return
        try:
            os.pwrite(self._file, line, self._end)
            self._end += len(line)
        except OSError as problem:  # it then knows less, which is no reason to stop
            _log.warning("commit %s is not noted beside the store: %s", self._commits, problem)

    def _keep_loss(self, path: Path, db: Connection) -> None:
        """What is lost is said now, and kept, since the file beside the store will not say it again."""
        loss = lost_commits(path, db)
        if loss is not None:
            _log.error("the store has lost its last %s commits, of %s runs: verify it", loss.commits, len(loss.runs))
            kept = _encode([*kept_losses(db), loss])
            db.execute("insert or replace into meta(key, value) values('losses', ?)", (kept,))


def _opened(path: Path) -> int | None:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as problem:
        _log.warning("commits are not noted beside the store, so that a lost one would not be noticed: %s", problem)
        return None


def lost_commits(path: Path, db: Connection) -> Loss | None:
    """What the file beside the store knows of and the store does not have. The file is read first: it is behind."""
    try:
        header, *lines = tail_path(path).read_bytes().split(b"\n")
        beside = msgspec.json.decode(header, type=_Header)
    except (OSError, msgspec.MsgspecError):
        return None
    commits: int = db.execute("select value from meta where key = 'commits'").get or 0
    if beside.store != db.execute("select value from meta where key = 'store'").get:
        return None
    last, runs = beside.commits, dict[RunId, int]()
    for line in lines:
        with suppress(msgspec.MsgspecError):  # the last one may be cut short
            known = _known(line)
            last = max(last, known.commit)
            runs |= known.runs if known.commit > commits else {}
    return Loss(last - commits, runs) if last > commits else None


def kept_losses(db: Connection) -> list[Loss]:
    """Losses that were found when the store was opened."""
    found: bytes | None = db.execute("select value from meta where key = 'losses'").get
    return [] if found is None else _losses(found)
