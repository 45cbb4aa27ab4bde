"""Idempotency keys of several workers: a call has one holder, and others wait for it."""

import asyncio
from collections.abc import Callable
from functools import partial

from jeton.executor.limits.idempotency import Claimed, Completed
from jeton.hosts.sql.connection import Connection, Transact
from jeton.hosts.sql.mirrors.idempotency import SqlIdempotencyStore, begin
from jeton.model.json import Json

WAIT_S = 0.1

_HELD = (
    "select worker from holders where key = ? and worker <> ? and exists("
    "select 1 from workers join pg_stat_activity on pid = backend where workers.id = holders.worker)"
)


class PgIdempotencyStore(SqlIdempotencyStore):
    """Fulfils `jeton.executor.limits.idempotency.IdempotencyStore`. What a worker held that is gone, is free."""

    def __init__(self, transact: Transact, clock: Callable[[], int], worker: Callable[[], str]) -> None:
        super().__init__(transact, clock)
        self._worker = worker

    async def begin(self, key: str, call: str) -> Claimed | Completed:
        while True:
            found: Claimed | Completed | None = await self._transact(
                partial(_begin, key=key, call=call, now=self._clock(), worker=self._worker())
            )
            if found is not None:
                return found
            await asyncio.sleep(WAIT_S)

    async def finish(self, key: str, result: Json, ttl_ms: int | None) -> None:
        await super().finish(key, result, ttl_ms)
        await self._transact(partial(_let_go, key=key))

    async def forget(self, key: str) -> None:
        await super().forget(key)
        await self._transact(partial(_let_go, key=key))


def _begin(db: Connection, key: str, call: str, now: int, worker: str) -> Claimed | Completed | None:
    """None: another worker is at it."""
    db.dialect.lock(db, f"once {key}")
    found = begin(db, key, call, now)
    if isinstance(found, Claimed):
        if list(db.execute(_HELD, (key, worker))):
            return None
        put = "insert into holders(key, worker) values(?, ?) on conflict(key) do update set worker = excluded.worker"
        db.execute(put, (key, worker))
    return found


def _let_go(db: Connection, key: str) -> None:
    db.execute("delete from holders where key = ?", (key,))
