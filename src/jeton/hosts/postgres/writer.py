"""The writer of a worker: one connection, which holds the locks of its shards and makes all its commits."""

import logging
from asyncio import AbstractEventLoop
from collections.abc import Callable, Sequence

import psycopg

from jeton.hosts.postgres.connection import LOST, PgConnection
from jeton.hosts.sql.failpoints import hit
from jeton.hosts.sql.rows import Mirror, Write
from jeton.hosts.sql.writer import Job, Writer

MOST_TRIES = 5
MOST_WRITES = 2_000  # in one transaction

_AGAIN = (psycopg.errors.DeadlockDetected, psycopg.errors.SerializationFailure)
_log = logging.getLogger("jeton.store")


class ConnectionLost(Exception):
    """The connection is lost, and with it all shards: another worker may have them by now."""


class PgWriter(Writer):
    """Writes a batch in one transaction, in few round trips."""

    fatal = (ConnectionLost,)

    def __init__(
        self,
        db: PgConnection,
        loop: AbstractEventLoop,
        mirrors: Sequence[Mirror],
        on_commit: Callable[[list[Write], list[Job]], None],
        on_bad_write: Callable[[Write, Exception], None],
        on_foreign_write: Callable[[], None],
        on_failure: Callable[[Exception], None],
    ) -> None:
        super().__init__(loop, mirrors, on_commit, on_bad_write, on_foreign_write, on_failure)
        self._db = db
        self.start()

    def _check(self) -> None:
        if self._db.raw.closed:
            raise ConnectionLost("the connection to PostgreSQL is closed")

    def _commit(self, batch: list[Write | Job]) -> None:
        for first in range(0, len(batch), MOST_WRITES):
            super()._commit(batch[first : first + MOST_WRITES])

    def _write(self, writes: list[Write], jobs: list[Job]) -> None:
        for left in reversed(range(MOST_TRIES)):
            try:
                self._write_once(writes, jobs)
                return
            except _AGAIN:
                self._roll_back()
                if not left:
                    raise
            except LOST as problem:
                raise ConnectionLost(str(problem)) from problem
            except BaseException:
                self._roll_back()
                raise

    def _write_once(self, writes: list[Write], jobs: list[Job]) -> None:
        """Statements go out together; only what is needed for the next one is waited for."""
        db = self._db
        with db.raw.pipeline():
            db.begin()
            self._put(db, writes, [])
            if not jobs:
                hit("before_commit")
                db.execute("commit")
        if jobs:  # each is a savepoint of its own, whose failure must be seen
            for job in jobs:
                job.execute(db, (*LOST, *_AGAIN))
            hit("before_commit")
            db.execute("commit")

    def _roll_back(self) -> None:
        try:
            if self._db.in_transaction:
                self._db.execute("rollback")
        except LOST as problem:
            raise ConnectionLost(str(problem)) from problem

    def _rest(self, wrote: bool) -> None:
        """Nothing to do between batches."""

    def _end(self) -> None:
        """Nothing is left to write."""

    def _close(self) -> None:
        self._db.close()
