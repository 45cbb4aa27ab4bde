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

from jeton.hosts.sqlite.connect import BUSY_MS, WAL_LIMIT_BYTES, Durability, connect_writer
from jeton.hosts.sqlite.failpoints import hit
from jeton.hosts.sqlite.rows import Mirror, Write, put
from jeton.model.failure import Refused

LOOK_AROUND_S = 0.05
FOLD_PAGES = 1000
PAGE_BYTES = 4096
TIDY_AFTER_S = 1.0
PATIENCE_MS = 500

_log = logging.getLogger("jeton.store")
_T = TypeVar("_T")


class Job:
    """Something else to do in a transaction: it takes part in the next one, whole or not at all."""

    __slots__ = ("answer", "do", "problem", "result")

    def __init__(self, do: Callable[[apsw.Connection], Any], answer: "Future[Any]") -> None:
        self.do = do
        self.answer = answer
        self.result: Any = None
        self.problem: Exception | None = None

    def carry_out(self, db: apsw.Connection) -> None:
        try:
            with db:  # a savepoint
                self.result = self.do(db)
        except (apsw.IOError, apsw.FullError, apsw.CorruptError):
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
    """Takes writes and jobs from the event loop, and tells it of each commit, of other processes' writes, of its end."""

    def __init__(
        self,
        path: Path,
        durability: Durability,
        loop: AbstractEventLoop,
        mirrors: Sequence[Mirror],
        written: Callable[[list[Write], list[Job]], None],
        noticed: Callable[[], None],
        failed: Callable[[Exception], None],
    ) -> None:
        self._db = connect_writer(path, durability)
        self._db.set_wal_hook(self._note_pages)
        self._pages = 0  # of the log, since it was last folded into the main file
        self._loop = loop
        self._mirrors = mirrors
        self._tell_written = written
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

    async def do(self, act: Callable[[apsw.Connection], _T]) -> _T:
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
                    self._fold_log(apsw.SQLITE_CHECKPOINT_TRUNCATE)
                    last = monotonic()
                if (seen := self._others()) != others:
                    others = seen
                    self._tell(self._tell_noticed)
            self._fold_log(apsw.SQLITE_CHECKPOINT_TRUNCATE)
        except Exception as problem:
            _log.error("the store could not be written, and must be opened again: %s", problem)
            self._tell(self._tell_failed, problem)
        finally:
            self._db.close()

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
        db = self._db
        writes = [item for item in batch if isinstance(item, Write)]
        jobs = [item for item in batch if isinstance(item, Job)]
        self._begin()
        put(db, writes)
        for mirror in self._mirrors:
            mirror.write(db, writes)
        for job in jobs:
            job.carry_out(db)
        hit("before_commit")
        db.execute("commit")
        hit("after_commit")
        self._tell(self._tell_written, writes, jobs)
        if self._pages >= FOLD_PAGES:
            self._fold_log(apsw.SQLITE_CHECKPOINT_PASSIVE)

    def _begin(self) -> None:
        """Other processes write too, for a moment each; however many there are, it is our turn in the end."""
        while True:
            try:
                self._db.execute("begin immediate")
            except apsw.BusyError:
                _log.warning("another process has kept the store locked for %s s", BUSY_MS // 1000)
            else:
                return

    def _others(self) -> int:
        """Changes when another connection has written, and not when we have."""
        seen: int = self._db.pragma("data_version")
        return seen

    def _note_pages(self, _db: apsw.Connection, _name: str, pages: int) -> int:
        self._pages = pages
        return apsw.SQLITE_OK

    def _fold_log(self, mode: int) -> None:
        """Bring the log into the main file, after the waiting callers were told.

        A log that has outgrown its limit is in some reader's way: we wait for that reader a moment, now and again."""
        if self._pages * PAGE_BYTES > WAL_LIMIT_BYTES:
            mode = apsw.SQLITE_CHECKPOINT_TRUNCATE
        self._db.set_busy_timeout(PATIENCE_MS)
        try:
            self._db.wal_checkpoint(mode=mode)
            self._pages = 0
        except apsw.BusyError:
            if self._pages * PAGE_BYTES > WAL_LIMIT_BYTES:
                _log.warning("a reader keeps the write-ahead log from shrinking: it has %s pages", self._pages)
            self._pages = 0  # looked at again when as much has been written once more
        finally:
            self._db.set_busy_timeout(BUSY_MS)

    def _tell(self, tell: Callable[..., None], *what: Any) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody is left to be told
            self._loop.call_soon_threadsafe(tell, *what)
