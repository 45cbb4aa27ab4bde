"""The writer thread. All writes that wait share one transaction, and so one sync of the disk.

A failed write is final: after an I/O error a later commit may succeed on top of a lost one. So the thread ends, and the
store has to be opened again.
"""

import logging
import threading
from abc import ABC, abstractmethod
from asyncio import AbstractEventLoop, Future
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any, ClassVar, TypeVar

from jeton.hosts.sql.connection import Connection
from jeton.hosts.sql.failpoints import hit
from jeton.hosts.sql.rows import Mirror, Write, put_writes
from jeton.model.failure import Refused

POLL_S = 0.05

_log = logging.getLogger("jeton.store")
_T = TypeVar("_T")


class Job:
    """A function to run in the next transaction, with a future for its result."""

    __slots__ = ("act", "future", "overwrite", "problem", "result")

    def __init__(self, act: Callable[[Any], Any], future: "Future[Any]", overwrite: bool) -> None:
        self.act = act
        self.future = future
        self.overwrite = overwrite
        self.result: Any = None
        self.problem: Exception | None = None

    def execute(self, db: Connection, fatal: tuple[type[Exception], ...]) -> None:
        """Run the function, on the writer's thread. If it raises, only its own changes are rolled back."""
        try:
            with db:  # a savepoint
                self.result = self.act(db)
        except fatal:
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


class Writer(ABC):
    """Takes writes and jobs from the event loop, and calls back on it.

    `on_commit` after each commit, `on_bad_write` for a commit that cannot be written though others can,
    `on_foreign_write` after another process wrote, `on_failure` when nothing can be written any more.

    A host says how a batch is one transaction (`_write`), and what is done between batches (`_rest`)."""

    fatal: ClassVar[tuple[type[Exception], ...]]
    """Errors after which nothing can be written any more."""

    def __init__(
        self,
        loop: AbstractEventLoop,
        mirrors: Sequence[Mirror],
        on_commit: Callable[[list[Write], list[Job]], None],
        on_bad_write: Callable[[Write, Exception], None],
        on_foreign_write: Callable[[], None],
        on_failure: Callable[[Exception], None],
    ) -> None:
        self.commits, self.commit_s, self.commit_entries = 0, 0.0, 0  # so far; written by the thread alone
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

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def submit(self, writes: Sequence[Write | Job]) -> None:
        """Queue writes."""
        self._queue.put(list(writes))

    async def transact(self, act: Callable[[Any], _T], *, overwrite: bool = False) -> _T:
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
        """Write what is queued, and end the thread."""
        self._queue.put(None)
        await self._loop.run_in_executor(None, self._thread.join)

    # on the thread

    @abstractmethod
    def _check(self) -> None:
        """Raise an exception if nothing may be written any more."""

    @abstractmethod
    def _write(self, writes: list[Write], jobs: list[Job]) -> None:
        """Write a batch in one transaction."""

    @abstractmethod
    def _rest(self, wrote: bool) -> None:
        """Called after each batch, and from time to time without one."""

    @abstractmethod
    def _end(self) -> None:
        """Called when all is written."""

    @abstractmethod
    def _close(self) -> None:
        """Close the connection."""

    def _run(self) -> None:
        try:
            while (batch := self._next_batch()) is not None:
                if batch:
                    self._commit(batch)
                self._rest(bool(batch))
            self._end()
        except Exception as problem:
            _log.error("the store could not be written, and has to be opened again: %s", problem)
            self._call_back(self._on_failure, problem)
        finally:
            self._close()

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
        self._check()
        began = monotonic()
        try:
            self._write(writes, jobs)
        except self.fatal:
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

    def _put(self, db: Connection, writes: list[Write], jobs: list[Job]) -> None:
        """Write a batch. The caller has begun a transaction."""
        put_writes(db, writes)
        shown = [write for write in writes if write.turn.shown]
        for mirror in self._mirrors if shown else ():
            mirror.write(db, shown)
        for job in jobs:
            job.execute(db, self.fatal)

    def _call_back(self, callback: Callable[..., None], *arguments: Any) -> None:
        with suppress(RuntimeError):  # the event loop is closed
            self._loop.call_soon_threadsafe(callback, *arguments)
