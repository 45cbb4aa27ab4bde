"""The SQLite host: one process owns the store and advances its runs; others read it, and store messages."""

import asyncio
import shutil
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import apsw
import msgspec

from jeton.actor.definitions import Bundles
from jeton.actor.queries.vitals import Vitals
from jeton.actor.rows import RunRow
from jeton.actor.starts import NewRun, Started, unknown_run
from jeton.actor.storable import check_storable
from jeton.actor.workers import Workers
from jeton.executor.artifacts import Artifacts, discard_drafts
from jeton.hosts.sql.clock import steady_clock, wall_ms
from jeton.hosts.sql.connection import Connection
from jeton.hosts.sql.host import SqlHost
from jeton.hosts.sql.listing import StorePlace
from jeton.hosts.sql.loop.ids import new_run_id
from jeton.hosts.sql.loop.owner import Owner
from jeton.hosts.sql.mirrors.artifacts import SqlIndex
from jeton.hosts.sql.reads import POLL_S, SqlReads
from jeton.hosts.sql.rows import Mirror, Write
from jeton.hosts.sql.store import Store
from jeton.hosts.sql.writer import Job
from jeton.hosts.sqlite.file.advancing import FileAdvancing, read_set_aside
from jeton.hosts.sqlite.file.commit_log import stored_losses
from jeton.hosts.sqlite.file.connect import Durability, refusal
from jeton.hosts.sqlite.file.lock import OwnerLock, read_record
from jeton.hosts.sqlite.file.opening import artifacts_folder, check_readable, open_owned
from jeton.hosts.sqlite.file.unowned import store_message, write_unowned
from jeton.hosts.sqlite.store import file_store
from jeton.hosts.sqlite.writer import SqliteWriter
from jeton.model.failure import Refused
from jeton.model.ids import RunId
from jeton.model.message import Message, StartRun
from jeton.model.state.run import TERMINAL

Value = TypeVar("Value")


class _OwnedFile:
    """A file whose lock this process holds. Fulfils `jeton.hosts.sql.loop.owner.Possession`."""

    def __init__(self, path: Path, lock: OwnerLock, epoch: int, store: Store, durability: Durability) -> None:
        self._path = path
        self._lock = lock
        self._epoch = epoch
        self._durability: Durability = durability
        self.advancing = FileAdvancing(path, store.is_known)

    def is_mine(self, run: RunId) -> bool:
        return True

    def new_run_id(self, now: int) -> RunId:
        return new_run_id(now)

    def keeps_triggers(self) -> bool:
        return True

    def make_writer(
        self,
        mirrors: Sequence[Mirror],
        on_commit: Callable[[list[Write], list[Job]], None],
        on_bad_write: Callable[[Write, Exception], None],
        on_foreign_write: Callable[[], None],
        on_failure: Callable[[Exception], None],
    ) -> SqliteWriter:
        calls = on_commit, on_bad_write, on_foreign_write, on_failure
        return SqliteWriter(self._path, self._durability, self._epoch, asyncio.get_running_loop(), mirrors, *calls)

    def refusal(self, problem: Exception) -> Refused:
        return refusal(problem)

    def release(self) -> None:
        self._lock.release()


class SqliteHost(SqlHost):
    """Runs in one SQLite file. Fulfils `jeton.actor.host.Host`; make one with `open`, and `close` it."""

    def __init__(
        self,
        path: Path,
        store: Store,
        bundles: Bundles,
        owner: Owner | None,
        clock: Callable[[], int],
        wall: Callable[[], int],
    ) -> None:
        super().__init__(store, bundles, clock, wall)
        self._path = path
        self._owner = owner
        self.reads = SqlReads(store, bundles, owner)
        self.needs_app: Mapping[RunId, str] = {} if owner is None else owner.runs.tasks.needs_app

    @classmethod
    async def open(
        cls,
        path: str | PathLike[str],
        *,
        workers: Workers | None,
        durability: Durability = "full",
        owner: bool = True,
        clock: Callable[[], int] | None = None,
        wall: Callable[[], int] | None = None,
        mirrors: Sequence[Mirror] = (),
    ) -> "SqliteHost":
        """Open a store. The owner creates it if there is none, holds its lock, and advances its runs.

        `clock` is for lengths of time, and `wall` for points in time; of a test's clock, both are the same."""
        wall = wall or clock or wall_ms
        clock = clock or steady_clock()
        file = Path(path).resolve()  # a store has one lock, whichever link leads to it
        if not owner:
            await asyncio.to_thread(check_readable, file)
            store = file_store(file)
            return cls(file, store, Bundles(store), None, clock, wall)
        lock, epoch = await asyncio.to_thread(open_owned, file, clock())
        discard_drafts(artifacts_folder(file))
        store = file_store(file)
        bundles = Bundles(store)
        bundles.cache_newest()
        try:
            owned = _OwnedFile(file, lock, epoch, store, durability)
            held = Owner(owned, store, bundles, workers, clock, wall, mirrors)
        except (apsw.Error, OSError) as problem:
            lock.release()
            raise refusal(problem) from problem
        return cls(file, store, bundles, held, clock, wall)

    @property
    def set_aside(self) -> Mapping[RunId, Refused]:
        """Runs that are left alone, because the process ended several times while it advanced them."""
        return read_set_aside(self._path) if self._owner is None else self._owner.runs.set_aside

    async def close(self, grace_s: float = 5.0) -> None:
        """Accept nothing more, let running tasks finish within the grace time, and leave the rest to the next owner."""
        if self._owner is not None:
            await self._owner.close(grace_s)
        self._store.close()

    async def vitals(self) -> Vitals:
        """How the host fares. Without ownership, what the file tells."""
        found = Vitals() if self._owner is None else self._owner.vitals()
        inbox = await asyncio.to_thread(self._store.inbox_size)
        return msgspec.structs.replace(found, inbox=inbox, bytes=self._bytes())

    def _bytes(self) -> int:
        files = (self._path.with_name(self._path.name + suffix) for suffix in ("", "-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def _place(self, db: Connection) -> StorePlace:
        owner = read_record(self._path)
        return StorePlace(
            bytes=self._bytes(),
            free_bytes=shutil.disk_usage(self._path.parent).free,
            owner=None if owner is None else f"process {owner.pid} on {owner.machine}",
            lost=sum(loss.commits for loss in stored_losses(db)),
        )

    async def _write(self, act: Callable[[Any], Value], *, overwrite: bool = False) -> Value:
        """Write in a transaction of the writer thread, or, without ownership, in a short one of its own."""
        if self._owner is not None:
            return await self._owner.write(act, overwrite=overwrite)
        return await asyncio.to_thread(write_unowned, self._path, act, overwrite=overwrite)

    # runs

    async def start(self, new: NewRun) -> Started:
        """Start a run, unless its key or its name says that it was started before."""
        return await self._require_owner().start(new)

    async def deliver(self, run: RunId, message: Message) -> None:
        """Send a run a message. Durable when this returns. Without ownership it is left for the owner to deliver."""
        check_storable(message)
        if self._owner is not None:
            await self._owner.deliver(run, message)
        elif self._store.row(run) is None and not isinstance(message, StartRun) and run not in self.set_aside:
            raise unknown_run(run)
        else:
            await asyncio.to_thread(store_message, self._path, run, message)

    async def ended(self, run: RunId) -> RunRow:
        """Wait until a run has ended."""
        if self._owner is not None:
            return await self._owner.ended(run)
        while True:
            row = self._store.row(run)
            if row is None and run not in self.set_aside:
                raise unknown_run(run)
            if row is not None and row.status in TERMINAL:
                return row
            await asyncio.sleep(POLL_S)

    def _new_artifacts(self) -> Artifacts:
        return Artifacts(artifacts_folder(self._path), SqlIndex(self._store, self._write))

    @property
    def _owns(self) -> bool:
        return self._owner is not None

    def _require_owner(self) -> Owner:
        if self._owner is None:
            raise Refused("not_owner", f"{self._path} was opened for reading", "open it as its owner")
        return self._owner
