"""One session of a worker: the connection that commits, and the shards whose locks it holds.

A worker that has lost this connection has lost its shards with it: the database refuses its late commits, and no clock
has to be right for that. Another session begins with nothing, and takes what is free.
"""

import asyncio
import logging
from asyncio import AbstractEventLoop
from collections.abc import Callable, Sequence
from secrets import token_hex
from socket import gethostname
from typing import Any

from jeton.actor.whole.set_aside import Ends
from jeton.hosts.postgres.connection import PgConnection, unreachable
from jeton.hosts.postgres.shards import SHARDS, Shares, Worker, shard_of, share
from jeton.hosts.postgres.writer import PgWriter
from jeton.hosts.sql.loop.ids import new_run_id
from jeton.hosts.sql.loop.owner import Owner
from jeton.hosts.sql.rows import Mirror, Write
from jeton.hosts.sql.writer import Job
from jeton.model.failure import Refused
from jeton.model.ids import RunId

EVERY_S = 1.0
SILENT_MS = 30_000
LOCKS = 7_017  # the first number of our advisory locks; the second is a shard, or the keeper of the triggers
KEEPER = SHARDS

_BEAT = (
    "insert into workers(id, backend) values(?, pg_backend_pid())"
    " on conflict(id) do update set backend = excluded.backend, seen = now()"
)
_WORKERS = (
    "select id, backend, (extract(epoch from now() - seen) * 1000)::bigint from workers"
    " where exists(select 1 from pg_stat_activity where pid = backend)"
)
_log = logging.getLogger("jeton.store")


class NoNote:
    """Fulfils `jeton.hosts.sql.loop.advancing.Advancing`, and notes nothing."""

    def __init__(self) -> None:
        self.ends: Ends = {}

    def begin(self, run: RunId, places: str) -> None: ...
    def finish(self) -> None: ...
    def passed(self, run: RunId, places: str) -> None: ...
    def forget(self, run: RunId) -> None: ...
    def close(self) -> None: ...


class Session:
    """Fulfils `jeton.hosts.sql.loop.owner.Possession`. `lost` is set when its connection is."""

    def __init__(self, db: PgConnection, url: str, loop: AbstractEventLoop) -> None:
        self.id = f"{gethostname()}:{token_hex(6)}"
        self.mine: frozenset[int] = frozenset()
        self.lost = asyncio.Event()
        self.advancing = NoNote()
        self._keeper = False
        self._db = db
        db.is_mine = self.is_mine
        self._url = url
        self._loop = loop

    def is_mine(self, run: RunId) -> bool:
        return shard_of(run) in self.mine

    def keeps_triggers(self) -> bool:
        return self._keeper

    def new_run_id(self, now: int) -> RunId:
        """The id of a run that this worker advances."""
        while True:
            chosen = new_run_id(now)
            if self.is_mine(chosen) or not self.mine:
                return chosen

    def make_writer(
        self,
        mirrors: Sequence[Mirror],
        on_commit: Callable[[list[Write], list[Job]], None],
        on_bad_write: Callable[[Write, Exception], None],
        on_foreign_write: Callable[[], None],
        on_failure: Callable[[Exception], None],
    ) -> PgWriter:
        calls = on_commit, on_bad_write, on_foreign_write, on_failure
        return PgWriter(self._db, self._loop, mirrors, *calls)

    def refusal(self, problem: Exception) -> Refused:
        self.mine, self._keeper = frozenset(), False
        self.lost.set()
        return problem if isinstance(problem, Refused) else unreachable(self._url, problem)

    def release(self) -> None:
        """Nothing to do: the locks went with the connection."""
        self.mine, self._keeper = frozenset(), False

    # shards

    async def keep(self, owner: Owner) -> None:
        """Say that this worker is there, end the sessions of silent ones, and keep a fair share of the shards."""
        while not self.lost.is_set():
            try:
                await self.step(owner)
            except Refused:
                return  # the session is over
            except Exception:
                _log.exception("keeping shards failed, next try in %s s", EVERY_S)
            await asyncio.sleep(EVERY_S)

    async def step(self, owner: Owner) -> None:
        """Look after the shards once."""
        workers: list[Worker] = await owner.write(self._beat)
        heard = [worker for worker in workers if worker.silent_ms < SILENT_MS or worker.id == self.id]
        shares = share(self.id, heard, sorted(self.mine))
        if shares.released:
            await self._hand_over(owner, shares)
        gained: set[int] = await owner.write(lambda db: self._take(db, shares.wanted)) if shares.wanted else set()
        if gained:
            self.mine |= gained
            await owner.recover()

    def _beat(self, db: Any) -> list[Worker]:
        db.execute(_BEAT, (self.id,))
        workers = [Worker(*row) for row in db.execute(_WORKERS)]
        for worker in workers:
            if worker.silent_ms >= SILENT_MS and worker.id != self.id:
                _log.warning("worker %s was silent for %s ms: its session is ended", worker.id, worker.silent_ms)
                db.execute("select pg_terminate_backend(?::integer)", (worker.backend,))
        db.execute("delete from workers where not exists(select 1 from pg_stat_activity where pid = backend)")
        if not self._keeper:
            self._keeper = _locked(db, KEEPER)
        return workers

    def _take(self, db: Any, wanted: int) -> set[int]:
        gained: set[int] = set()
        for shard in range(SHARDS):
            if len(gained) == wanted:
                break
            if shard not in self.mine and _locked(db, shard):
                gained.add(shard)
        return gained

    async def _hand_over(self, owner: Owner, shares: Shares) -> None:
        """Let other workers have some shards, after all that is under way in them was written."""
        leaving = frozenset(shares.released)
        self.mine -= leaving
        await owner.hand_over(lambda run: shard_of(run) in leaving)

        def unlock(db: Any) -> None:
            for shard in leaving:
                db.execute("select pg_advisory_unlock(?::integer, ?::integer)", (LOCKS, shard))

        await owner.write(unlock)


def _locked(db: Any, what: int) -> bool:
    return bool(db.execute("select pg_try_advisory_lock(?::integer, ?::integer)", (LOCKS, what)).get)
