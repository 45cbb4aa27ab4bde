"""Idempotency keys of actions, in the store: they outlive the runs that used them.

Only the owner of a store runs tasks, so a key that was begun and not finished belongs to a call that nobody makes any
more, or to one that this very process is making; which of the two, the executor knows.
"""

from collections.abc import Callable, Sequence
from functools import partial

import msgspec

from jeton.actor.whole.portable import StepRow
from jeton.executor.limits.idempotency import Claimed, Completed, step_key, steps_prefix
from jeton.hosts.sqlite.file.connect import Connection
from jeton.hosts.sqlite.tools.retention import Transactions
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json

EXPIRED_AT_ONCE = 50  # each new key takes a few old ones with it, so that nobody has to come and clean up


class SqliteIdempotencyStore:
    """Fulfils `jeton.executor.limits.idempotency.IdempotencyStore`."""

    def __init__(self, do: Transactions, clock: Callable[[], int]) -> None:
        self._do = do
        self._clock = clock

    async def begin(self, key: str, call: str) -> Claimed | Completed:
        found: Claimed | Completed = await self._do(partial(_begin, key=key, call=call, now=self._clock()))
        return found

    async def finish(self, key: str, result: Json, ttl_ms: int | None) -> None:
        expires = None if ttl_ms is None else self._clock() + ttl_ms
        await self._do(partial(_finish, key=key, result=msgspec.json.encode(result), expires=expires))

    async def forget(self, key: str) -> None:
        await self._do(partial(_forget, key=key))


def share_steps(db: Connection, run: RunId, fork: RunId, slept: dict[TokenId, str]) -> None:
    """Give a fork the steps that nodes had taken when they last went to sleep: they are part of what it shares.

    Rows are numbered in the order that steps began in, so what was done since comes after the sleep's own.
    """
    for token, sleep in slept.items():
        theirs, ours = step_key(run, token, ""), step_key(fork, token, "")
        db.execute(
            "insert or ignore into once(key, call, result) select ? || substr(key, ?), call, result from once"
            " where key >= ? and key < ? and rowid <= (select rowid from once where key = ?) order by rowid",
            (ours, len(theirs) + 1, theirs, _after(theirs), f"{theirs}sleep:{sleep}"),
        )


def steps_of(db: Connection, run: RunId) -> list[StepRow]:
    """All that nodes of a run did in steps, in the order they began."""
    prefix = steps_prefix(run)
    query = "select substr(key, ?), call, result from once where key >= ? and key < ? order by rowid"
    return [StepRow(*row) for row in db.execute(query, (len(prefix) + 1, prefix, _after(prefix)))]


def put_steps(db: Connection, run: RunId, steps: Sequence[StepRow]) -> None:
    """The same in another store."""
    prefix = steps_prefix(run)
    insert = "insert or ignore into once(key, call, result) values(?, ?, ?)"
    db.executemany(insert, [(prefix + step.key, step.call, step.result) for step in steps])


def _after(prefix: str) -> str:
    """Behind every key that begins like this."""
    return f"{prefix}\U0010ffff"


def _begin(db: Connection, key: str, call: str, now: int) -> Claimed | Completed:
    expired = "select key from once where expires <= ? order by expires limit ?"
    db.execute(
        f"delete from once where key = ? and expires <= ? or key in ({expired})", (key, now, now, EXPIRED_AT_ONCE)
    )
    db.execute("insert or ignore into once(key, call) values(?, ?)", (key, call))
    first, result = next(iter(db.execute("select call, result from once where key = ?", (key,))))
    return Claimed(first) if result is None else Completed(msgspec.json.decode(result))


def _finish(db: Connection, key: str, result: bytes, expires: int | None) -> None:
    db.execute("update once set result = ?, expires = ? where key = ?", (result, expires, key))


def _forget(db: Connection, key: str) -> None:
    db.execute("delete from once where key = ?", (key,))
