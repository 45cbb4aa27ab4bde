"""The table of idempotency keys of actions, which outlive the runs that used them."""

from collections.abc import Callable, Sequence
from functools import partial

import msgspec

from jeton.actor.whole.digests import row_digest
from jeton.actor.whole.portable import StepRow
from jeton.executor.limits.idempotency import (
    Claimed,
    Completed,
    StoredCall,
    begin_call,
    expiry,
    step_key,
    steps_prefix,
)
from jeton.hosts.sql.connection import Connection, Transact, Value
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json

_STEP = "insert into once(key, call, result, digest, result_digest) values(?, ?, ?, ?, ?) on conflict do nothing"

EXPIRED_PER_CALL = 50  # each call deletes a few expired keys, so that no other clean-up is needed


class SqlIdempotencyStore:
    """Fulfils `jeton.executor.limits.idempotency.IdempotencyStore`."""

    def __init__(self, transact: Transact, clock: Callable[[], int]) -> None:
        self._transact = transact
        self._clock = clock

    async def begin(self, key: str, call: str) -> Claimed | Completed:
        found: Claimed | Completed = await self._transact(partial(begin, key=key, call=call, now=self._clock()))
        return found

    async def finish(self, key: str, result: Json, ttl_ms: int | None) -> None:
        expires = expiry(self._clock(), ttl_ms)
        await self._transact(partial(_finish, key=key, result=msgspec.json.encode(result), expires=expires))

    async def forget(self, key: str) -> None:
        await self._transact(partial(_forget, key=key))


def share_steps(db: Connection, run: RunId, fork: RunId, slept: dict[TokenId, str]) -> None:
    """Copy the steps that sleeping nodes took before their sleep to a fork, as part of the shared history.

    Rows are numbered in the order in which steps began, so later steps come after the row of the sleep."""
    for token, sleep in slept.items():
        theirs, ours = step_key(run, token, ""), step_key(fork, token, "")
        query = (
            "select substr(key, ?), call, result from once where key >= ? and key < ?"
            " and rowid <= (select rowid from once where key = ?) order by rowid"
        )
        rows = db.execute(query, (len(theirs) + 1, theirs, _after(theirs), f"{theirs}sleep:{sleep}"))
        db.executemany(_STEP, [_step_row(ours + key, call, result) for key, call, result in list(rows)])


def steps_of(db: Connection, run: RunId) -> list[StepRow]:
    """The durable steps of a run, in the order in which they began."""
    prefix = steps_prefix(run)
    query = "select substr(key, ?), call, result from once where key >= ? and key < ? order by rowid"
    return [StepRow(*row) for row in db.execute(query, (len(prefix) + 1, prefix, _after(prefix)))]


def put_steps(db: Connection, run: RunId, steps: Sequence[StepRow]) -> None:
    """Store the durable steps of an imported run."""
    prefix = steps_prefix(run)
    db.executemany(_STEP, [_step_row(prefix + step.key, step.call, step.result) for step in steps])


def _step_row(key: str, call: str, result: bytes | None) -> tuple[Value, ...]:
    finished = None if result is None else row_digest("once", key, result, None)
    return key, call, result, row_digest("once", key, call), finished


def delete_steps(db: Connection, run: RunId) -> None:
    """Delete the durable steps of a run."""
    prefix = steps_prefix(run)
    db.execute("delete from once where key >= ? and key < ?", (prefix, _after(prefix)))


def _after(prefix: str) -> str:
    """A key behind all keys with this prefix."""
    return f"{prefix}\U0010ffff"


def begin(db: Connection, key: str, call: str, now: int) -> Claimed | Completed:
    expired = "select key from once where expires <= ? order by expires limit ?"
    db.execute(f"delete from once where key in ({expired})", (now, EXPIRED_PER_CALL))
    rows = [StoredCall(*row) for row in db.execute("select call, result, expires from once where key = ?", (key,))]
    stored = rows[0] if rows else None
    found = begin_call(stored, call, now)
    if isinstance(found, Claimed) and (stored is None or stored.result is not None):
        db.execute("delete from once where key = ?", (key,))
        insert = "insert into once(key, call, digest) values(?, ?, ?)"
        db.execute(insert, (key, call, row_digest("once", key, call)))
    return found


def _finish(db: Connection, key: str, result: bytes, expires: int | None) -> None:
    update = "update once set result = ?, expires = ?, result_digest = ? where key = ?"
    db.execute(update, (result, expires, row_digest("once", key, result, expires), key))


def _forget(db: Connection, key: str) -> None:
    db.execute("delete from once where key = ?", (key,))
