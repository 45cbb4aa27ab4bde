"""Reads of a store in PostgreSQL, by a worker that has some of its shards."""

from collections import deque
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager, suppress

from jeton.hosts.postgres.connection import LOST, PgConnection, connect, unreachable
from jeton.hosts.sql.connection import Row
from jeton.hosts.sql.store import Store
from jeton.model.ids import RunId

_BEGIN = "begin isolation level repeatable read, read only"


class PgStore(Store):
    """Reads everything. What a worker looks for by itself (alarms, messages, lost tasks) is in its shards."""

    inbox_in_order = False

    def __init__(self, url: str) -> None:
        super().__init__(lambda: connect(url, name="jeton reader"))
        self._url = url
        self._pool: deque[PgConnection] = deque()
        self.shards: Callable[[], Collection[int]] = tuple

    @contextmanager
    def snapshot(self) -> Generator[PgConnection]:
        """A read transaction. A connection that is lost is replaced by a new one."""
        db = self._begun()
        try:
            yield db
            db.execute("rollback")
            self._pool.append(db)
        except LOST as problem:
            db.close()
            raise unreachable(self._url, problem) from problem
        except BaseException:
            with suppress(*LOST):
                db.execute("rollback")
                self._pool.append(db)
            raise

    def _begun(self) -> PgConnection:
        """A connection in a transaction. Those in the pool may be lost since they were used."""
        while True:
            try:
                db = self._pool.pop()
            except IndexError:
                db = connect(self._url, name="jeton reader")
                db.execute(_BEGIN)
                return db
            try:
                db.execute(_BEGIN)
                return db
            except LOST:
                db.close()

    def close(self) -> None:
        while self._pool:
            self._pool.pop().close()

    # of the worker's shards

    def due(self, now: int, after: tuple[int, RunId], limit: int) -> list[tuple[int, RunId]]:
        query = (
            "select wake, run from runs where busy = 0 and wake is not null and wake <= ? and (wake, run) > (?, ?)"
            " and shard = any(?::smallint[]) order by wake, run limit ?"
        )
        return [(wake, RunId(run)) for wake, run in self._in_shards(query, now, *after, limit=limit)]

    def next_wake(self) -> int | None:
        query = "select min(wake) from runs where busy = 0 and wake is not null and shard = any(?::smallint[]) limit ?"
        found: int | None = self._in_shards(query, limit=1)[0][0]
        return found

    def busy(self, after: RunId, limit: int) -> list[RunId]:
        query = "select run from runs where busy = 1 and run > ? and shard = any(?::smallint[]) order by run limit ?"
        return [RunId(run) for (run,) in self._in_shards(query, after, limit=limit)]

    def inbox(self, after: int, limit: int) -> list[tuple[int, RunId, bytes]]:
        query = "select id, run, body from inbox where id > ? and shard = any(?::smallint[]) order by id limit ?"
        return [(number, RunId(run), body) for number, run, body in self._in_shards(query, after, limit=limit)]

    def _in_shards(self, query: str, *values: int | str, limit: int) -> list[Row]:
        with self.snapshot() as db:
            return list(db.execute(query, (*values, list(self.shards()), limit)))  # type: ignore[arg-type]
