"""The SQLite host: one process owns the store and advances its runs; others read it, and store messages."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from typing import TypeVar
from uuid import uuid4

import apsw
import msgspec

from jeton.actor.definitions import Bundles
from jeton.actor.queries.vitals import Vitals
from jeton.actor.retention import Pruned, Rule, uploads_kept_from
from jeton.actor.rows import FiringRow, RunRow
from jeton.actor.starts import NewFork, NewRun, Started, unknown_run
from jeton.actor.storable import check_storable
from jeton.actor.workers import Workers
from jeton.executor.artifacts import Artifacts, discard_drafts
from jeton.hosts.sqlite.clock import steady_clock, wall_ms
from jeton.hosts.sqlite.commit.rows import Mirror
from jeton.hosts.sqlite.file.advancing import read_set_aside
from jeton.hosts.sqlite.file.connect import Connection, Durability, refusal
from jeton.hosts.sqlite.file.opening import check_readable, open_owned
from jeton.hosts.sqlite.listing import SqliteListing
from jeton.hosts.sqlite.loop.owner import Owner
from jeton.hosts.sqlite.loop.recovery import store_message, write_unowned
from jeton.hosts.sqlite.mirrors.access import SqliteAccessStore
from jeton.hosts.sqlite.mirrors.artifacts import InheritanceMirror, SqliteIndex, artifacts_folder
from jeton.hosts.sqlite.mirrors.credits import UsageMirror, open_account, top_up
from jeton.hosts.sqlite.mirrors.event_sink import SqliteEventSink
from jeton.hosts.sqlite.mirrors.firings import put_firings, set_disabled
from jeton.hosts.sqlite.mirrors.gates import GateMirror
from jeton.hosts.sqlite.mirrors.idempotency import SqliteIdempotencyStore
from jeton.hosts.sqlite.mirrors.mcp_pins import SqlitePinStore
from jeton.hosts.sqlite.mirrors.memory.store import SqliteMemoryStore
from jeton.hosts.sqlite.mirrors.snapshots import SnapshotMirror
from jeton.hosts.sqlite.mirrors.typed.mirror import TypedMirror
from jeton.hosts.sqlite.reads import POLL_S, SqliteReads
from jeton.hosts.sqlite.store import Store
from jeton.model.definition.trigger import Trigger
from jeton.model.definition.workflow import Library
from jeton.model.failure import Refused
from jeton.model.ids import RunId
from jeton.model.message import Message, StartRun
from jeton.model.state.run import TERMINAL
from jeton.planning.triggers.firing import Delivery, Planned, plan_firing

Value = TypeVar("Value")


class SqliteHost:
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
        self._path = path
        self._store = store
        self._bundles = bundles
        self._owner = owner
        self.now = clock
        self.wall = wall
        self.reads = SqliteReads(store, bundles, owner)
        self.pins = SqlitePinStore(store, self._write)
        self.access = SqliteAccessStore(store, self._write)
        self.listing = SqliteListing(path, store, self._write)
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
            store = Store(file)
            return cls(file, store, Bundles(store), None, clock, wall)
        lock, epoch = await asyncio.to_thread(open_owned, file, clock())
        discard_drafts(artifacts_folder(file))
        store = Store(file)
        bundles = Bundles(store)
        try:
            held = Owner(
                file,
                lock,
                epoch,
                store,
                bundles,
                workers,
                durability,
                clock,
                wall,
                (TypedMirror(), SnapshotMirror(), GateMirror(), InheritanceMirror(), UsageMirror(), *mirrors),
            )
        except (apsw.Error, OSError) as problem:
            lock.release()
            raise refusal(problem) from problem
        return cls(file, store, bundles, held, clock, wall)

    @property
    def set_aside(self) -> Mapping[RunId, Refused]:
        """Runs that are left alone, because the process ended several times while it advanced them."""
        return read_set_aside(self._path) if self._owner is None else self._owner.runs.set_aside

    def new_id(self) -> str:
        """An id for a message or a delivery that no other has."""
        return uuid4().hex

    async def close(self, grace_s: float = 5.0) -> None:
        """Accept nothing more, let running tasks finish within the grace time, and leave the rest to the next owner."""
        if self._owner is not None:
            await self._owner.close(grace_s)
        self._store.close()

    async def vitals(self) -> Vitals:
        """How the host fares. Without ownership, what the file tells."""
        found = Vitals() if self._owner is None else self._owner.vitals()
        inbox, size = await asyncio.to_thread(self._in_file)
        return msgspec.structs.replace(found, inbox=inbox, bytes=size)

    def _in_file(self) -> tuple[int, int]:
        with self._store.snapshot() as db:
            inbox: int = db.execute("select count(*) from inbox").get
        files = (self._path.with_name(self._path.name + suffix) for suffix in ("", "-wal"))
        return inbox, sum(file.stat().st_size for file in files if file.exists())

    # definitions

    async def deploy(self, bundle: Library, name: str) -> int:
        """The version number of a bundle: that of the same content, or a new one. New runs get it from now on."""
        return await self._require_owner().deploy(bundle, name)

    # triggers

    async def deploy_triggers(
        self, triggers: Mapping[str, Trigger], *, file: str = "", origins: Sequence[str] = ()
    ) -> list[str]:
        """Store triggers by name, declared in `file`, or each with what it starts.

        Removes those that were declared in `origins` and are not among them. Returns the removed names."""
        return await self._require_owner().triggers.deploy(triggers, file, origins)

    async def remove_trigger(self, name: str) -> bool:
        """Remove a trigger. Returns False if there was none."""
        return await self._require_owner().triggers.remove(name)

    async def fire(self, trigger: Trigger, delivery: Delivery) -> FiringRow:
        """Deliver something to a trigger. Durable when this returns; the owner of the store starts the run."""
        firing = plan_firing(trigger, delivery, self._bundles.startable(trigger))
        (row,) = await self._write(partial(put_firings, planned=[Planned(trigger, delivery, firing)]))
        if self._owner is not None:
            await self._owner.recover()
        return row

    async def set_disabled(self, workflow: str, disabled: bool) -> None:
        """Set whether triggers may start a workflow or flow."""
        await self._write(partial(set_disabled, workflow=workflow, disabled=disabled, now=self.now()))

    # credits

    async def open_account(self, declared: int) -> None:
        """Open the project's account, or change what its settings declare."""
        await self._write(partial(open_account, declared=declared))

    async def top_up(self, amount: int) -> bool:
        """Add credits to the project's account. Returns False if there is none."""
        return await self._write(partial(top_up, amount=amount))

    async def _write(self, act: Callable[[Connection], Value], *, overwrite: bool = False) -> Value:
        """Write in a transaction of the writer thread, or, without ownership, in a short one of its own."""
        if self._owner is not None:
            return await self._owner.write(act, overwrite=overwrite)
        return await asyncio.to_thread(write_unowned, self._path, act, overwrite=overwrite)

    # runs

    async def start(self, new: NewRun) -> Started:
        """Start a run, unless its key or its name says that it was started before."""
        return await self._require_owner().start(new)

    async def fork(self, fork: NewFork) -> RunId:
        """Start a run that shares another run's history up to an entry."""
        return await self._require_owner().fork(fork)

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

    async def idle(self) -> None:
        """Wait until nothing can go on by itself: all runs have ended, or wait for a time or for people."""
        await self._require_owner().idle()

    async def recover(self) -> None:
        """Deliver stored messages and due alarms and start lost tasks again, now. It also happens by itself."""
        await self._require_owner().recover()

    async def prune(self, rules: Sequence[Rule], *, dry_run: bool = False) -> Pruned:
        """Prune ended runs by the rules, in small steps, so that other runs do not wait for it."""
        pruned = await self._require_owner().prune(rules, dry_run=dry_run)
        if not dry_run:
            await self.artifacts.release_uploads(uploads_kept_from(self.wall()))
            await self.artifacts.collect()
        return pruned

    # what the executor uses

    @property
    def artifacts(self) -> Artifacts:
        """The artifacts that the runs hold."""
        return self._services[0]

    @property
    def idempotency(self) -> SqliteIdempotencyStore:
        """The idempotency keys of actions."""
        return self._services[1]

    @property
    def events(self) -> SqliteEventSink:
        """Where events and metrics of actions go."""
        return self._services[2]

    @property
    def memory(self) -> SqliteMemoryStore:
        """The memories of agents. Without ownership they can be read and deleted."""
        return self._memory

    @cached_property
    def _memory(self) -> SqliteMemoryStore:
        artifacts = Artifacts(artifacts_folder(self._path), SqliteIndex(self._store, self._write))
        return SqliteMemoryStore(
            self._store,
            partial(self._write, overwrite=True),
            artifacts if self._owner is None else self.artifacts,
            self._bundles,
            self.wall,
            owned=self._owner is not None,
        )

    @cached_property
    def _services(self) -> tuple[Artifacts, SqliteIdempotencyStore, SqliteEventSink]:
        owner = self._require_owner()
        return (
            Artifacts(artifacts_folder(self._path), SqliteIndex(self._store, owner.write)),
            SqliteIdempotencyStore(owner.write, owner.clock),
            SqliteEventSink(owner.write, owner.clock, owner.triggers.notify_published),
        )

    def _require_owner(self) -> Owner:
        if self._owner is None:
            raise Refused("not_owner", f"{self._path} was opened for reading", "open it as its owner")
        return self._owner
