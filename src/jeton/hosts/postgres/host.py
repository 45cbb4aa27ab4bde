"""The PostgreSQL host: workers share the runs of a database; clients read them, start them and send them messages."""

import asyncio
from asyncio import Task
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from jeton.actor.definitions import Bundles
from jeton.actor.queries.vitals import Vitals
from jeton.actor.rows import RunRow
from jeton.actor.starts import (
    NewFork,
    NewRun,
    Started,
    StartKey,
    check_same_input,
    check_same_run,
    check_start,
    input_hash,
    start_message,
    unknown_run,
)
from jeton.actor.storable import check_storable
from jeton.actor.whole.digests import row_digest
from jeton.actor.workers import Workers
from jeton.executor.artifacts import Artifacts
from jeton.hosts.postgres.connection import LOST, connect, safe_url, unreachable
from jeton.hosts.postgres.dialect import CHANGED
from jeton.hosts.postgres.idempotency import PgIdempotencyStore
from jeton.hosts.postgres.listener import Listener
from jeton.hosts.postgres.migrate import prepare
from jeton.hosts.postgres.pieces import DatabaseArtifacts
from jeton.hosts.postgres.reads import POLL_S, PgReads
from jeton.hosts.postgres.session import Session
from jeton.hosts.postgres.store import PgStore
from jeton.hosts.sql.clock import steady_clock, wall_ms
from jeton.hosts.sql.connection import Connection
from jeton.hosts.sql.host import SqlHost
from jeton.hosts.sql.inbox import put_messages
from jeton.hosts.sql.listing import StorePlace
from jeton.hosts.sql.loop.ids import new_run_id
from jeton.hosts.sql.loop.owner import Owner
from jeton.hosts.sql.mirrors.artifacts import SqlIndex
from jeton.hosts.sql.mirrors.bundles import put_bundle
from jeton.hosts.sql.rows import Mirror
from jeton.model.definition.workflow import Library
from jeton.model.failure import Refused
from jeton.model.ids import RunId
from jeton.model.message import Message, StartRun
from jeton.model.state.run import TERMINAL

AGAIN_S = 0.5
READY_S = 30.0
SEEN_S = 5.0  # how long a start waits until a worker has taken it up

Value = TypeVar("Value")
_KEY = (
    "insert into start_keys(workflow, key, run, input_hash, digest) values(?, ?, ?, ?, ?)"
    " on conflict do nothing returning 1"
)


class PgHost(SqlHost):
    """Runs in one database. Fulfils `jeton.actor.host.Host`; make one with `open`, and `close` it."""

    def __init__(
        self, url: str, store: PgStore, workers: Workers | None, owner: bool, mirrors: Sequence[Mirror] = ()
    ) -> None:
        bundles = Bundles(store)
        super().__init__(store, bundles, steady_clock(), wall_ms)
        self._url = url
        self._pg = store
        self._workers = workers
        self._works = owner
        self._mirrors = mirrors
        self._loop = asyncio.get_running_loop()
        self._owner: Owner | None = None
        self._session: Session | None = None
        self._ready = asyncio.Event()
        self._closing = False
        self._living: Task[None] | None = None
        self._listener: Listener | None = None
        self.reads = PgReads(store, bundles, self)

    @classmethod
    async def open(
        cls, url: str, *, workers: Workers | None, owner: bool = True, mirrors: Sequence[Mirror] = ()
    ) -> "PgHost":
        """Open a store. A worker (`owner`) creates its tables if there are none, and takes its share of the runs."""
        await asyncio.to_thread(prepare_store, url, create=owner)
        host = cls(url, PgStore(url), workers, owner, mirrors)
        if owner:
            host._pg.shards = lambda: () if host._session is None else host._session.mine
            await host._begin()
            host._living = asyncio.create_task(host._live())
            host._listener = Listener(url, host._loop, host._on_notice)
        return host

    # sessions

    async def _begin(self) -> None:
        """Begin a session, with a share of the shards."""
        db = await asyncio.to_thread(connect, self._url, name="jeton worker")
        session = Session(db, self._url, self._loop)
        self._session = session
        owner = Owner(session, self._store, self._bundles, self._workers, self.now, self.wall, self._mirrors)
        self._owner = owner
        await session.step(owner)
        self._ready.set()

    async def _live(self) -> None:
        """Keep the session, and begin another one whenever it is lost."""
        while True:
            session, owner = self._session, self._owner
            if session is not None and owner is not None:
                await session.keep(owner)
                await session.lost.wait()
                self._ready.clear()
                await owner.abandon()
                self._owner = self._session = None
            try:
                await self._begin()
            except (Refused, *LOST):
                await self._give_up()
                await asyncio.sleep(AGAIN_S)

    async def _give_up(self) -> None:
        """End a session that could not begin."""
        if self._owner is not None:
            await self._owner.abandon()
        self._owner = self._session = None

    def _on_notice(self, channel: str, payload: str) -> None:
        if self._owner is None:
            return
        if channel != CHANGED:
            self._owner.notice_messages()
        if channel != CHANGED or payload == "triggers":
            self._reloading = self._loop.create_task(self._reload(self._owner))

    async def _reload(self, owner: Owner) -> None:
        with suppress(Refused):
            await owner.triggers.reload()

    async def _current(self) -> Owner:
        """The owner of the session; waits for one while the database comes back."""
        if self._works and not self._closing:
            with suppress(TimeoutError):
                async with asyncio.timeout(READY_S):
                    await self._ready.wait()
        return self._require_owner()

    async def close(self, grace_s: float = 5.0) -> None:
        """Accept nothing more, let running tasks finish within the grace time, and leave the rest to other workers."""
        self._closing = True
        if self._living is not None:
            self._living.cancel()
            await asyncio.gather(self._living, return_exceptions=True)
        if self._listener is not None:
            await asyncio.to_thread(self._listener.close)
        if self._owner is not None:
            await self._owner.close(grace_s)
        elif self._workers is not None and self._works:
            await self._workers.close(0)
        self._store.close()

    def works_on(self, run: RunId) -> bool:
        """Whether this worker advances the run, as long as it has its shard."""
        return self._session is not None and self._session.is_mine(run)

    # how it fares

    @property
    def needs_app(self) -> Mapping[RunId, str]:
        """Runs that are parked because a Python function of theirs is not here, and the function's name."""
        return {} if self._owner is None else self._owner.runs.tasks.needs_app

    @property
    def set_aside(self) -> Mapping[RunId, Refused]:
        """Runs that are left alone."""
        return {} if self._owner is None else self._owner.runs.set_aside

    async def vitals(self) -> Vitals:
        """How the host fares."""
        found = Vitals() if self._owner is None else self._owner.vitals()
        return replace(
            found, inbox=await asyncio.to_thread(self._store.inbox_size), bytes=await asyncio.to_thread(self._bytes)
        )

    def _bytes(self) -> int:
        with self._store.snapshot() as db:
            found: int = db.execute("select pg_database_size(current_database())").get
        return found

    def _place(self, db: Connection) -> StorePlace:
        size: int = db.execute("select pg_database_size(current_database())").get
        names = [name for (name,) in db.execute("select id from workers order by id")]
        return StorePlace(size, 0, ", ".join(names) or None)

    # definitions and triggers

    async def deploy(self, bundle: Library, name: str) -> int:
        """The version number of a bundle: that of the same content, or a new one. New runs get it from now on."""
        now = self.wall()

        def put(db: Connection) -> int:
            db.dialect.lock(db, "definitions")
            return put_bundle(db, name, bundle, now)

        return await self._write(put)

    # runs

    async def start(self, new: NewRun) -> Started:
        """Start a run, unless its key or its name says that it was started before."""
        check_start(new)
        run = new.run or new_run_id(self.now())
        if new.key is None and self.works_on(run):
            return await (await self._current()).start(replace(new, run=run))
        if new.run is not None and (row := await self.reads.row(run)) is not None:
            live = await self.reads.live(run)
            check_same_run(run, row.workflow, None if live is None else live.state.input, new)
            if new.key is None:
                return Started(run, new=False)
        message = start_message(new, self.now())
        message = replace(message, workflow=f"{new.workflow}@{new.version}")
        check_storable(message)
        key = None if new.key is None else StartKey(new.workflow, new.key, run, input_hash(new))
        known: StartKey | None = await self._write(partial(_put_start, run=run, message=message, key=key))
        if known is not None:
            check_same_input(known, input_hash(new))
        await self._seen(run if known is None else known.run)
        return Started(run, new=True) if known is None else Started(known.run, new=False)

    async def _seen(self, run: RunId) -> None:
        """Wait until a worker has taken up a run, if there is one: whoever started it may look at it next."""
        if self._owner is not None:
            self._owner.notice_messages()
        with suppress(TimeoutError):
            async with asyncio.timeout(SEEN_S):
                while self._store.row(run) is None and await asyncio.to_thread(self._has_workers):
                    await asyncio.sleep(0.01)

    def _has_workers(self) -> bool:
        with self._store.snapshot() as db:
            query = "select exists(select 1 from workers join pg_stat_activity on pid = backend)"
            return bool(db.execute(query).get)

    async def fork(self, fork: NewFork) -> RunId:
        """Start a run that shares another run's history up to an entry."""
        return await (await self._current()).fork(fork)

    async def deliver(self, run: RunId, message: Message) -> None:
        """Send a run a message. Durable when this returns; the worker that has the run handles it."""
        check_storable(message)
        if self.works_on(run):
            await (await self._current()).deliver(run, message)
            return
        if not isinstance(message, StartRun) and not await asyncio.to_thread(self._store.is_there, run):
            raise unknown_run(run)
        body = msgspec.json.encode(message)
        await self._write(lambda db: put_messages(db, [(run, body)]))

    async def ended(self, run: RunId) -> RunRow:
        """Wait until a run has ended."""
        while True:
            row = await asyncio.to_thread(self._store.row, run)
            if row is not None and row.status in TERMINAL:
                return row
            if row is None and not await asyncio.to_thread(self._store.is_there, run):
                raise unknown_run(run)
            await self.committed(run)

    async def committed(self, run: RunId | None) -> None:
        """Wait until the run may have gone on: a commit here, or a while."""
        owner = self._owner
        if owner is None:
            await asyncio.sleep(POLL_S)
            return
        owner.check(run)
        with owner.listen_line() if run is None else owner.listen(run) as changed, suppress(TimeoutError):
            async with asyncio.timeout(POLL_S):
                await changed.wait()

    async def idle(self) -> None:
        """Wait until nothing can go on by itself: all runs have ended, or wait for a time or for people."""
        await (await self._current()).idle()

    async def _write(self, act: Callable[[Any], Value], *, overwrite: bool = False) -> Value:
        """Write in a transaction of the worker, or, for a client, in one of its own."""
        if self._works:
            return await (await self._current()).write(act)
        return await asyncio.to_thread(_write_alone, self._url, act)

    def _new_artifacts(self) -> Artifacts:
        return DatabaseArtifacts(SqlIndex(self._store, self._write), self._store, self._write)

    def _new_idempotency(self) -> PgIdempotencyStore:
        return PgIdempotencyStore(self._write, self.now, self._worker)

    def _worker(self) -> str:
        return "" if self._session is None else self._session.id

    @property
    def _owns(self) -> bool:
        return self._works

    def _require_owner(self) -> Owner:
        if not self._works:
            raise Refused("not_owner", f"{safe_url(self._url)} was opened for reading", "open it as a worker")
        if self._owner is None:
            raise Refused("store_failed", f"{safe_url(self._url)} does not answer", "check that PostgreSQL runs there")
        return self._owner


def prepare_store(url: str, *, create: bool) -> None:
    """Create the tables of a store, or bring them up to date."""
    db = connect(url)
    try:
        prepare(db, url, create=create)
    except LOST as problem:
        raise unreachable(url, problem) from problem
    finally:
        db.close()


def _write_alone(url: str, act: Callable[[Any], Value]) -> Value:
    db = connect(url, name="jeton client")
    try:
        with db:
            return act(db)
    except LOST as problem:
        raise unreachable(url, problem) from problem
    finally:
        db.close()


def _put_start(db: Connection, run: RunId, message: StartRun, key: StartKey | None) -> StartKey | None:
    """Store the start of a run. Returns the key that was there before, if any."""
    if key is not None:
        row = key.workflow, key.key, key.run, key.input_hash
        if not list(db.execute(_KEY, (*row, row_digest("start_keys", *row)))):
            query = "select workflow, key, run, input_hash from start_keys where workflow = ? and key = ?"
            return StartKey(*next(iter(list(db.execute(query, (key.workflow, key.key))))))
    put_messages(db, [(run, msgspec.json.encode(message))])
    return None
