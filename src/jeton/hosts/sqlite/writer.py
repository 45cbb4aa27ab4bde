"""The writer of a SQLite file, with its write-ahead log."""

import logging
from asyncio import AbstractEventLoop
from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic

import apsw

from jeton.hosts.sql.failpoints import hit
from jeton.hosts.sql.rows import Mirror, Write
from jeton.hosts.sql.writer import Job, Writer
from jeton.hosts.sqlite.file.commit_log import CommitLog
from jeton.hosts.sqlite.file.connect import (
    BUSY_MS,
    WAL_LIMIT_BYTES,
    Durability,
    begin,
    connect_writer,
    overwrite_deleted,
)
from jeton.hosts.sqlite.file.identity import StoreIdentity
from jeton.model.failure import Refused

CHECKPOINT_PAGES = 1000
PAGE_BYTES = 4096
TRUNCATE_AFTER_S = 1.0
CHECKPOINT_BUSY_MS = 500
TRUNCATE_EVERY_S = 10.0

_log = logging.getLogger("jeton.store")


class SqliteWriter(Writer):
    """Writes a file, counts its commits, and brings its log into the main file."""

    fatal = (apsw.IOError, apsw.FullError, apsw.CorruptError, apsw.NotADBError, apsw.ReadOnlyError, apsw.CantOpenError)

    def __init__(
        self,
        path: Path,
        durability: Durability,
        epoch: int,
        loop: AbstractEventLoop,
        mirrors: Sequence[Mirror],
        on_commit: Callable[[list[Write], list[Job]], None],
        on_bad_write: Callable[[Write, Exception], None],
        on_foreign_write: Callable[[], None],
        on_failure: Callable[[Exception], None],
    ) -> None:
        super().__init__(loop, mirrors, on_commit, on_bad_write, on_foreign_write, on_failure)
        self._db = connect_writer(path, durability)
        self._db.set_wal_hook(self._count_pages)
        self._commit_log = CommitLog(path, self._db)
        self._identity = StoreIdentity(path, self._db)
        self._pages = 0  # of the write-ahead log
        self._checkpointed = 0  # of them, at the last checkpoint
        self._truncated = 0.0
        self._epoch = epoch
        self._version = self._data_version()
        self._last = monotonic()  # when something was written
        self.start()

    def _rest(self, wrote: bool) -> None:
        if wrote:
            self._maybe_checkpoint()
            self._last = monotonic()
        else:
            self._identity.check(self._pages)
            if self._pages and monotonic() - self._last > TRUNCATE_AFTER_S:
                self._truncate_log()
                self._last = monotonic()
        if (found := self._data_version()) != self._version:
            self._version = found
            self._pages = max(self._pages, 1)  # so that the log is brought in when there is time
            self._check_epoch()
            self._call_back(self._on_foreign_write)

    def _end(self) -> None:
        self._truncate_log()

    def _close(self) -> None:
        self._db.close()
        self._commit_log.close()

    def _check(self) -> None:
        self._identity.check(self._pages)

    def _write(self, writes: list[Write], jobs: list[Job]) -> None:
        db = self._db
        overwrite = any(job.overwrite for job in jobs)
        if overwrite:  # until the commit, because the full-text index is written by it
            overwrite_deleted(db)
        begin(db, "the owner")
        try:
            self._put(db, writes, jobs)
            self._commit_log.count(db, writes)
            hit("before_commit")
            db.execute("commit")
            self._commit_log.append()
        except self.fatal:
            raise
        except BaseException:
            db.execute("rollback")
            raise
        finally:
            if overwrite:
                overwrite_deleted(db, False)

    def _data_version(self) -> int:
        """A number that changes when another connection has written, and not when this one has."""
        version: int = self._db.pragma("data_version")
        return version

    def _check_epoch(self) -> None:
        """Raise Refused if another process owns the store now, which happens if the lock file was removed."""
        epoch = self._db.execute("select value from meta where key = 'epoch'").get
        if epoch != self._epoch:
            raise Refused("store_owned", "another process has taken the store", "use that process")

    def _count_pages(self, _db: object, _name: str, pages: int) -> int:
        self._pages = pages
        return apsw.SQLITE_OK

    def _maybe_checkpoint(self) -> None:
        """Bring a long log into the main file. Called after a commit was announced, so that no caller waits for it.

        A log that outgrows its limit is held by a reader, and once in a while the reader is waited for."""
        if self._pages < self._checkpointed:
            self._checkpointed = 0  # the log was restarted
        if self._pages - self._checkpointed >= CHECKPOINT_PAGES:
            self._checkpointed = self._pages
            if self._pages * PAGE_BYTES > WAL_LIMIT_BYTES and monotonic() - self._truncated > TRUNCATE_EVERY_S:
                self._truncate_log()
            else:
                self._checkpoint(apsw.SQLITE_CHECKPOINT_PASSIVE)

    def _truncate_log(self) -> None:
        self._truncated = monotonic()
        if self._checkpoint(apsw.SQLITE_CHECKPOINT_TRUNCATE):
            self._pages = self._checkpointed = 0
            self._commit_log.reset()
        elif self._pages * PAGE_BYTES > WAL_LIMIT_BYTES:
            _log.warning("a reader keeps the write-ahead log from shrinking: it has %s pages", self._pages)

    def _checkpoint(self, mode: int) -> bool:
        self._db.set_busy_timeout(CHECKPOINT_BUSY_MS)
        try:
            self._db.wal_checkpoint(mode=mode)
        except apsw.BusyError:
            return False
        finally:
            self._db.set_busy_timeout(BUSY_MS)
        return True
