"""Detection of lost commits.

SQLite cannot tell that a write-ahead log has lost its end. So each transaction is counted in the store, and after each
commit, before it is announced, the count and the runs in it are appended to a small file beside the store. If that file
has more commits than the store, they are lost.

The file is not synced, which would double the cost of a commit. After a power cut it may lack the last commits, but it
never has one that was not made. It is of no use if it is lost together with the log.
"""

import logging
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from jeton.actor.whole.digests import row_digest
from jeton.hosts.sql.connection import Connection
from jeton.hosts.sql.rows import Write
from jeton.hosts.sqlite.file.meta import COPY_SEQUENCES, put_meta
from jeton.model.ids import RunId

LONGEST_BYTES = 1_000_000

_COUNT = f"insert or replace into meta(key, value, digest) values('commits', ?, ?), {COPY_SEQUENCES}"

_log = logging.getLogger("jeton.store")
_encode = msgspec.json.Encoder().encode


class LoggedCommit(msgspec.Struct, frozen=True, array_like=True):
    """One commit: its number, and how many entries each run in it had afterwards."""

    number: int
    runs: dict[RunId, int]


class Loss(msgspec.Struct, frozen=True):
    """Commits that were made and are not there, and how many entries each of their runs should have."""

    commits: int
    runs: dict[RunId, int]


class _Header(msgspec.Struct, frozen=True):
    store: str
    commits: int


_commit = msgspec.json.Decoder(LoggedCommit).decode
_losses = msgspec.json.Decoder(list[Loss]).decode


def tail_path(store: Path) -> Path:
    return store.with_name(f"{store.name}-tail")


class CommitLog:
    """Counts commits in the store, and logs them beside it. Used by the writer."""

    def __init__(self, path: Path, db: Connection) -> None:
        self._store_loss(path, db)
        self._store: str = db.execute("select value from meta where key = 'store'").get
        self._commits: int = db.execute("select value from meta where key = 'commits'").get or 0
        self._counted = LoggedCommit(self._commits, {})
        self._file = _open(tail_path(path))
        self._end = 0
        self.reset()

    def count(self, db: Connection, writes: Sequence[Write]) -> None:
        """Count a commit, in its transaction, which may still fail."""
        runs = {write.actor.run: write.turn.head.entries for write in writes if write.turn.entry is not None}
        self._counted = LoggedCommit(self._commits + 1, runs)
        db.execute(_COUNT, (self._counted.number, row_digest("meta", "commits", self._counted.number)))

    def append(self) -> None:
        """Log the counted commit, after it was made."""
        self._commits = self._counted.number
        if self._end > LONGEST_BYTES:
            self.reset()
        self._append(_encode(self._counted) + b"\n")

    def reset(self) -> None:
        """Keep only the count. Commits in the main file cannot be lost with the write-ahead log."""
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
        except OSError as problem:  # then a loss may go unnoticed, which is no reason to stop
            _log.warning("commit %s could not be logged beside the store: %s", self._commits, problem)

    def _store_loss(self, path: Path, db: Connection) -> None:
        """Report lost commits, and store the report, because the file is about to be reset."""
        loss = lost_commits(path, db)
        if loss is not None:
            _log.error("the store has lost its last %s commits, of %s runs: verify it", loss.commits, len(loss.runs))
            put_meta(db, "losses", _encode([*stored_losses(db), loss]))


def _open(path: Path) -> int | None:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as problem:
        _log.warning("commits cannot be logged beside the store, so a lost one would go unnoticed: %s", problem)
        return None


def lost_commits(path: Path, db: Connection) -> Loss | None:
    """Commits that the file has and the store has not. The file is read first, because the store may be in use."""
    try:
        header, *lines = tail_path(path).read_bytes().split(b"\n")
        logged = msgspec.json.decode(header, type=_Header)
    except (OSError, msgspec.MsgspecError):
        return None
    commits: int = db.execute("select value from meta where key = 'commits'").get or 0
    if logged.store != db.execute("select value from meta where key = 'store'").get:
        return None
    last, runs = logged.commits, dict[RunId, int]()
    for line in lines:
        with suppress(msgspec.MsgspecError):  # the last one may be cut short
            commit = _commit(line)
            last = max(last, commit.number)
            runs |= commit.runs if commit.number > commits else {}
    return Loss(last - commits, runs) if last > commits else None


def stored_losses(db: Connection) -> list[Loss]:
    """Losses that were found when the store was opened."""
    found: bytes | None = db.execute("select value from meta where key = 'losses'").get
    return [] if found is None else _losses(found)
