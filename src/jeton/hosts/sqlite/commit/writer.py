"""The writer thread. All writes that wait share one transaction, and so one sync of the disk.

A failed write is final: after an I/O error a later commit may succeed on top of a lost one. So the thread ends, and the
store has to be opened again.
"""

import logging
import threading
from asyncio import AbstractEventLoop, Future
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any, TypeVar

import apsw

from jeton.hosts.sqlite.commit.rows import Mirror, Write, put_writes
from jeton.hosts.sqlite.file.commit_log import CommitLog
from jeton.hosts.sqlite.file.connect import (
    BUSY_MS,
    WAL_LIMIT_BYTES,
    Connection,
    Durability,
    begin,
    connect_writer,
    overwrite_deleted,
)
from jeton.hosts.sqlite.file.failpoints import hit
from jeton.hosts.sqlite.file.identity import StoreIdentity
from jeton.model.failure import Refused

POLL_S = 0.05
CHECKPOINT_PAGES = 1000
PAGE_BYTES = 4096
TRUNCATE_AFTER_S = 1.0
CHECKPOINT_BUSY_MS = 500
TRUNCATE_EVERY_S = 10.0
FATAL = (apsw.IOError, apsw.FullError, apsw.CorruptError, apsw.NotADBError, apsw.ReadOnlyError, apsw.CantOpenError)

_log = logging.getLogger("jeton.store")
_T = TypeVar("_T")


class Job:
    """A function to run in the next transaction, with a future for its result."""

    __slots__ = ("act", "future", "overwrite", "problem", "result")

    def __init__(self, act: Callable[[Connection], Any], future: "Future[Any]", overwrite: bool) -> None:
        self.act = act
        self.future = future
        self.overwrite = overwrite
        self.result: Any = None
        self.problem: Exception | None = None

    def execute(self, db: Connection) -> None:
        """Run the function, on the writer's thread. If it raises, only its own changes are rolled back."""
        try:
            with db:  # a savepoint
                self.result = self.act(db)
        except FATAL:
            raise
        except Exception as problem:
            self.problem = problem

    def resolve(self) -> None:
        """Set the future, on the event loop, after the commit."""
        if self.future.done():
            return
        if self.problem is not None:
            self.future.set_exception(self.problem)
        else:
            self.future.set_result(self.result)


def fail_all(futures: Iterable["Future[Any]"], problem: Exception) -> None:
    """Set an exception on all futures that are not done."""
    for future in futures:
        if not future.done():
            future.set_exception(problem)


class Writer:
    """Takes writes and jobs from the event loop, and calls back on it.

    `on_commit` after each commit, `on_bad_write` for a commit that cannot be written though others can,
    `on_foreign_write` after another process wrote, `on_failure` when nothing can be written any more."""

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
        self._db = connect_writer(path, durability)
        self._db.set_wal_hook(self._count_pages)
        self._commit_log = CommitLog(path, self._db)
        self._identity = StoreIdentity(path, self._db)
        self.commits, self.commit_s, self.commit_entries = 0, 0.0, 0  # so far; written by the thread alone
        self._pages = 0  # of the write-ahead log
        self._checkpointed = 0  # of them, at the last checkpoint
        self._truncated = 0.0
        self._epoch = epoch
        self._loop = loop
        self._mirrors = mirrors
        self._on_commit = on_commit
        self._on_bad_write = on_bad_write
        self._on_foreign_write = on_foreign_write
        self._on_failure = on_failure
        self._futures: set[Future[Any]] = set()
        self._refusing: Refused | None = None
        self._queue: SimpleQueue[list[Write | Job] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="jeton-writer", daemon=True)
        self._thread.start()

    def submit(self, writes: Sequence[Write | Job]) -> None:
        """Queue writes."""
        self._queue.put(list(writes))

    async def transact(self, act: Callable[[Connection], _T], *, overwrite: bool = False) -> _T:
        """Run a function in a transaction. Durable when this returns. `overwrite` what is deleted in it."""
        if self._refusing is not None:
            raise self._refusing
        future: Future[_T] = self._loop.create_future()
        self._futures.add(future)
        future.add_done_callback(self._futures.discard)
        self._queue.put([Job(act, future, overwrite)])
        return await future

    def fail(self, refused: Refused) -> None:
        """Refuse all jobs, those that wait too."""
        self._refusing = refused
        fail_all(list(self._futures), refused)

    async def close(self) -> None:
        """Write what is queued, bring the log into the main file, and end the thread."""
        self._queue.put(None)
        await self._loop.run_in_executor(None, self._thread.join)

    # on the thread

    def _run(self) -> None:
        version = self._data_version()
        last = monotonic()
        try:
            while (batch := self._next_batch()) is not None:
                if batch:
                    self._commit(batch)
                    last = monotonic()
                else:
                    self._identity.check(self._pages)
                if not batch and self._pages and monotonic() - last > TRUNCATE_AFTER_S:
                    self._truncate_log()
                    last = monotonic()
                if (found := self._data_version()) != version:
                    version = found
                    self._pages = max(self._pages, 1)  # so that the log is brought in when there is time
                    self._check_epoch()
                    self._call_back(self._on_foreign_write)
            self._truncate_log()
        except Exception as problem:
            _log.error("the store could not be written, and has to be opened again: %s", problem)
            self._call_back(self._on_failure, problem)
        finally:
            self._db.close()
            self._commit_log.close()

    def _next_batch(self) -> list[Write | Job] | None:
        """Everything that is queued; an empty list after a while without work; None at the end."""
        try:
            batch = self._queue.get(timeout=POLL_S)
        except Empty:
            return []
        while batch is not None and not self._queue.empty():
            more = self._queue.get()
            if more is None:
                self._queue.put(None)  # what was queued before it is written first
                break
            batch += more
        return batch

    def _commit(self, batch: list[Write | Job]) -> None:
        writes = [item for item in batch if isinstance(item, Write)]
        jobs = [item for item in batch if isinstance(item, Job)]
        self._identity.check(self._pages)
        began = monotonic()
        try:
            self._write(writes, jobs)
        except FATAL:
            raise
        except Exception as problem:
            if len(writes) == 1 and not jobs:
                _log.error("a commit cannot be written: %s", problem)
                self._call_back(self._on_bad_write, writes[0], problem)
                return
            for item in batch:  # one by one, because only one of them is at fault
                self._commit([item])
            return
        self.commits += 1
        self.commit_s += monotonic() - began
        self.commit_entries += len(writes)
        hit("after_commit")
        self._call_back(self._on_commit, writes, jobs)
        self._maybe_checkpoint()

    def _write(self, writes: list[Write], jobs: list[Job]) -> None:
        db = self._db
        overwrite = any(job.overwrite for job in jobs)
        if overwrite:  # until the commit, because the full-text index is written by it
            overwrite_deleted(db)
        begin(db, "the owner")
        try:
            put_writes(db, writes)
            shown = [write for write in writes if write.turn.shown]
            for mirror in self._mirrors if shown else ():
                mirror.write(db, shown)
            for job in jobs:
                job.execute(db)
            self._commit_log.count(db, writes)
            hit("before_commit")
            db.execute("commit")
            self._commit_log.append()
        except FATAL:
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

    def _call_back(self, callback: Callable[..., None], *arguments: Any) -> None:
        with suppress(RuntimeError):  # the event loop is closed
            self._loop.call_soon_threadsafe(callback, *arguments)
