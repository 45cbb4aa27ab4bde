"""The one thread that writes. Whatever waits when it looks shares one transaction, and so one sync of the disk.

A failed write is final. What SQLite says after an I/O error cannot be trusted (a later commit may succeed on top of a
lost one), so the thread ends, and the host has to be opened again.
"""

import logging
import threading
from asyncio import AbstractEventLoop, Future
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any, TypeVar

import apsw

from jeton.hosts.sqlite.commit.rows import Mirror, Write, put
from jeton.hosts.sqlite.file.commit_log import Tail
from jeton.hosts.sqlite.file.connect import BUSY_MS, WAL_LIMIT_BYTES, Connection, Durability, begin, connect_writer
from jeton.hosts.sqlite.file.failpoints import hit
from jeton.model.failure import Refused

LOOK_AROUND_S = 0.05
FOLD_PAGES = 1000
PAGE_BYTES = 4096
TIDY_AFTER_S = 1.0
PATIENCE_MS = 500
TRUNCATE_EVERY_S = 10.0
FATAL = (apsw.IOError, apsw.FullError, apsw.CorruptError, apsw.NotADBError, apsw.ReadOnlyError, apsw.CantOpenError)

_log = logging.getLogger("jeton.store")
_T = TypeVar("_T")


class Job:
    """Something else to do in a transaction: it takes part in the next one, whole or not at all."""

    __slots__ = ("answer", "do", "problem", "result")

    def __init__(self, do: Callable[[Connection], Any], answer: "Future[Any]") -> None:
        self.do = do
        self.answer = answer
        self.result: Any = None
        self.problem: Exception | None = None

    def carry_out(self, db: Connection) -> None:
        try:
            with db:  # a savepoint
                self.result = self.do(db)
        except FATAL:
            raise
        except Exception as problem:
            self.problem = problem

    def tell(self) -> None:
        if self.answer.done():
            return
        if self.problem is not None:
            self.answer.set_exception(self.problem)
        else:
            self.answer.set_result(self.result)


class Writer:
    """Takes writes and jobs from the event loop; tells it of each commit, of others' writes, and of its end."""

    def __init__(
        self,
        path: Path,
        durability: Durability,
        epoch: int,
        loop: AbstractEventLoop,
        mirrors: Sequence[Mirror],
        written: Callable[[list[Write], list[Job]], None],
        spoiled: Callable[[Write, Exception], None],
        noticed: Callable[[], None],
        failed: Callable[[Exception], None],
    ) -> None:
        self._db = connect_writer(path, durability)
        self._db.set_wal_hook(self._note_pages)
        self._tail = Tail(path, self._db)
        self._pages = 0  # of the log
        self._folded = 0  # of them, when they were last brought into the main file
        self._truncated = 0.0
        self._epoch = epoch
        self._loop = loop
        self._mirrors = mirrors
        self._tell_written = written
        self._tell_spoiled = spoiled
        self._tell_noticed = noticed
        self._tell_failed = failed
        self._asked: set[Future[Any]] = set()
        self._refusing: Refused | None = None
        self._queue: SimpleQueue[list[Write | Job] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="jeton-writer", daemon=True)
        self._thread.start()

    def put(self, writes: Sequence[Write | Job]) -> None:
        """Write these, soon; whoever waits is told after the commit."""
        self._queue.put(list(writes))

    async def do(self, act: Callable[[Connection], _T]) -> _T:
        """Carry something out in a transaction; durable when this returns."""
        if self._refusing is not None:
            raise self._refusing
        answer: Future[_T] = self._loop.create_future()
        self._asked.add(answer)
        answer.add_done_callback(self._asked.discard)
        self._queue.put([Job(act, answer)])
        return await answer

    def fail(self, refused: Refused) -> None:
        """Tell all who wait for a job that it will not be done."""
        self._refusing = refused
        for answer in list(self._asked):
            if not answer.done():
                answer.set_exception(refused)

    async def close(self) -> None:
        """Write what is left, fold the log into the main file, and end."""
        self._queue.put(None)
        await self._loop.run_in_executor(None, self._thread.join)

    # on the thread

    def _work(self) -> None:
        others = self._others()
        last = monotonic()
        try:
            while (batch := self._take()) is not None:
                if batch:
                    self._commit(batch)
                    last = monotonic()
                elif self._pages and monotonic() - last > TIDY_AFTER_S:
                    self._truncate_log()
                    last = monotonic()
                if (seen := self._others()) != others:
                    others = seen
                    self._stay_owner()
                    self._tell(self._tell_noticed)
            self._truncate_log()
        except Exception as problem:
            _log.error("the store could not be written, and must be opened again: %s", problem)
            self._tell(self._tell_failed, problem)
        finally:
            self._db.close()
            self._tail.close()

    def _take(self) -> list[Write | Job] | None:
        """Everything that waits; nothing, after a while without work; None at the end."""
        try:
            batch = self._queue.get(timeout=LOOK_AROUND_S)
        except Empty:
            return []
        while batch is not None and not self._queue.empty():
            more = self._queue.get()
            if more is None:
                self._queue.put(None)  # the end comes after what was asked before it
                break
            batch += more
        return batch

    def _commit(self, batch: list[Write | Job]) -> None:
        writes = [item for item in batch if isinstance(item, Write)]
        jobs = [item for item in batch if isinstance(item, Job)]
        try:
            self._write(writes, jobs)
        except FATAL:
            raise
        except Exception as problem:
            if len(writes) == 1 and not jobs:
                _log.error("a commit cannot be written: %s", problem)
                self._tell(self._tell_spoiled, writes[0], problem)
                return
            for item in batch:  # one of them is at fault: the others need not suffer
                self._commit([item])
            return
        hit("after_commit")
        self._tell(self._tell_written, writes, jobs)
        self._fold_log_now_and_again()

    def _write(self, writes: list[Write], jobs: list[Job]) -> None:
        db = self._db
        begin(db, "the owner")
        try:
            put(db, writes)
            shown = [write for write in writes if write.turn.shown]
            for mirror in self._mirrors if shown else ():
                mirror.write(db, shown)
            for job in jobs:
                job.carry_out(db)
            self._tail.count(db, writes)
            hit("before_commit")
            db.execute("commit")
            self._tail.note()
        except FATAL:
            raise
        except BaseException:
            db.execute("rollback")
            raise

    def _others(self) -> int:
        """Changes when another connection has written, and not when we have."""
        seen: int = self._db.pragma("data_version")
        return seen

    def _stay_owner(self) -> None:
        """Somebody removed the lock file, and another process took the store: it is theirs."""
        epoch = self._db.execute("select value from meta where key = 'epoch'").get
        if epoch != self._epoch:
            raise Refused("store_owned", "another process has taken the store", "use that process")

    def _note_pages(self, _db: object, _name: str, pages: int) -> int:
        self._pages = pages
        return apsw.SQLITE_OK

    def _fold_log_now_and_again(self) -> None:
        """Bring the log into the main file, after those who waited were told.

        A log that outgrows its limit is in some reader's use: once in a while we wait for that reader, a moment."""
        if self._pages < self._folded:
            self._folded = 0  # the log began anew
        if self._pages - self._folded >= FOLD_PAGES:
            self._folded = self._pages
            if self._pages * PAGE_BYTES > WAL_LIMIT_BYTES and monotonic() - self._truncated > TRUNCATE_EVERY_S:
                self._truncate_log()
            else:
                self._checkpoint(apsw.SQLITE_CHECKPOINT_PASSIVE)

    def _truncate_log(self) -> None:
        self._truncated = monotonic()
        if self._checkpoint(apsw.SQLITE_CHECKPOINT_TRUNCATE):
            self._pages = self._folded = 0
            self._tail.fold()
        elif self._pages * PAGE_BYTES > WAL_LIMIT_BYTES:
            _log.warning("a reader keeps the write-ahead log from shrinking: it has %s pages", self._pages)

    def _checkpoint(self, mode: int) -> bool:
        self._db.set_busy_timeout(PATIENCE_MS)
        try:
            self._db.wal_checkpoint(mode=mode)
        except apsw.BusyError:
            return False
        finally:
            self._db.set_busy_timeout(BUSY_MS)
        return True

    def _tell(self, tell: Callable[..., None], *what: Any) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody is left to be told
            self._loop.call_soon_threadsafe(tell, *what)
