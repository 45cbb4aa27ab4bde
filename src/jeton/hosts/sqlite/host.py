"""The embedded host: one process owns the store and advances its runs; others read, and leave messages."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from typing import TypeVar

import apsw

from jeton.actor.advance import LiveRun
from jeton.actor.rows import Account, FiringRow, GateRow, Published, RunRow, TriggerRow, Usage
from jeton.actor.storable import check_storable
from jeton.actor.workers import Workers
from jeton.executor.artifacts import Artifacts
from jeton.executor.event_sink import CurrentMetric
from jeton.hosts.sqlite.commit.rows import Mirror
from jeton.hosts.sqlite.file.connect import Connection, Durability, refusal
from jeton.hosts.sqlite.file.opening import take, visit
from jeton.hosts.sqlite.loop.owner import Owner, unknown
from jeton.hosts.sqlite.loop.recovery import leave_message, write_beside
from jeton.hosts.sqlite.loop.triggers import startable
from jeton.hosts.sqlite.mirrors.artifacts import InheritanceMirror, SqliteIndex, artifacts_folder
from jeton.hosts.sqlite.mirrors.bundles import Bundles
from jeton.hosts.sqlite.mirrors.credits import UsageMirror, account_in, open_account, top_up, usage_in
from jeton.hosts.sqlite.mirrors.event_sink import SqliteEventSink, numbers, published
from jeton.hosts.sqlite.mirrors.firings import (
    disabled_in,
    firings_in,
    put_firings,
    set_disabled,
    set_off_by,
    triggers_in,
)
from jeton.hosts.sqlite.mirrors.gates import GateMirror
from jeton.hosts.sqlite.mirrors.idempotency import SqliteIdempotencyStore
from jeton.hosts.sqlite.mirrors.snapshots import SnapshotMirror
from jeton.hosts.sqlite.mirrors.typed.mirror import TypedMirror
from jeton.hosts.sqlite.store import ENTRIES_AT_ONCE, Store
from jeton.hosts.sqlite.tools.retention import Pruned, Rule
from jeton.model.definition.trigger import Trigger
from jeton.model.definition.workflow import Library
from jeton.model.entry import Entry
from jeton.model.failure import Refused
from jeton.model.ids import RunId
from jeton.model.json import Json, JsonObject
from jeton.model.message import Message
from jeton.model.state.run import TERMINAL, FiredBy, RunStatus
from jeton.planning.triggers.firing import Delivery, Planned, plan_firing

POLL_S = 0.05

Value = TypeVar("Value")


def wall_ms() -> int:
    """What the clock on the wall says."""
    return time.time_ns() // 1_000_000


class SqliteHost:
    """Runs in one SQLite file. Make one with `open`, and `close` it."""

    def __init__(self, path: Path, store: Store, bundles: Bundles, owner: Owner | None) -> None:
        self._path = path
        self._store = store
        self._bundles = bundles
        self._owner = owner
        self.needs_app: dict[RunId, str] = {} if owner is None else owner.runs.needs_app

    @classmethod
    async def open(
        cls,
        path: str | PathLike[str],
        *,
        workers: Workers | None,
        durability: Durability = "full",
        owner: bool = True,
        clock: Callable[[], int] = wall_ms,
        mirrors: Sequence[Mirror] = (),
    ) -> "SqliteHost":
        """Open a store. The owner makes it if there is none, holds its lock, and advances its runs."""
        file = Path(path).resolve()  # by whichever link one comes, it is one store with one lock
        if not owner:
            await asyncio.to_thread(visit, file)
            store = Store(file)
            return cls(file, store, Bundles(store), None)
        lock, epoch = await asyncio.to_thread(take, file, clock())
        store = Store(file)
        bundles = Bundles(store)
        try:
            taken = Owner(
                file,
                lock,
                epoch,
                store,
                bundles,
                workers,
                durability,
                clock,
                (TypedMirror(), SnapshotMirror(), GateMirror(), InheritanceMirror(), UsageMirror(), *mirrors),
            )
        except apsw.Error as problem:
            lock.release()
            raise refusal(problem) from problem
        return cls(file, store, bundles, taken)

    async def close(self, grace_s: float = 5.0) -> None:
        """Take nothing more in, let what runs finish within the grace time, and leave the rest to the next owner."""
        if self._owner is not None:
            await self._owner.close(grace_s)
        self._store.close()

    # definitions

    async def deploy(self, bundle: Library, name: str) -> int:
        """The version number of a bundle: that of the same content, or a new one. New runs get it from now on."""
        return await self._owning().deploy(bundle, name)

    def bundle(self, name: str, version: int | None = None) -> tuple[Library, int] | None:
        """A version of a workflow with all it reaches; without a number, the one deployed last."""
        return self._bundles.find(name, version)

    # triggers

    async def deploy_triggers(
        self, triggers: Mapping[str, Trigger], *, file: str = "", origins: Sequence[str] = ()
    ) -> list[str]:
        """Have these triggers, by name, from now on: declared in `file`, or each with what it starts.

        Those that were declared in `origins` and are not among them are removed: their names."""
        return await self._owning().triggers.deploy(triggers, file, origins)

    async def remove_trigger(self, name: str) -> bool:
        """Have it no longer; whether there was one."""
        return await self._owning().triggers.remove(name)

    async def fire(self, trigger: Trigger, delivery: Delivery) -> FiringRow:
        """Deliver something to a trigger. Durable when this returns; the run begins with whoever owns the store."""
        firing = plan_firing(trigger, delivery, startable(self._bundles, trigger))
        (row,) = await self._write(partial(put_firings, planned=[Planned(trigger, delivery, firing)]))
        if self._owner is not None:
            await self._owner.recover()
        return row

    async def set_disabled(self, workflow: str, disabled: bool) -> None:
        """Whether triggers may start a workflow or flow."""
        now = wall_ms() if self._owner is None else self._owner.clock()
        await self._write(partial(set_disabled, workflow=workflow, disabled=disabled, now=now))

    def triggers(self) -> list[TriggerRow]:
        """All triggers, by name."""
        return triggers_in(self._store)

    def firings(self, *, trigger: str | None = None, run: RunId | None = None, limit: int = 100) -> list[FiringRow]:
        """What became of deliveries, newest first."""
        return firings_in(self._store, trigger, run, limit)

    def set_off_by(self, run: RunId, limit: int = 100) -> list[FiringRow]:
        """What became of the events that a run published, and of its end, oldest first."""
        return set_off_by(self._store, run, limit)

    def disabled(self) -> frozenset[str]:
        """The workflows and flows that no trigger starts."""
        return disabled_in(self._store)

    # credits

    async def open_account(self, declared: int) -> None:
        """Have an account for the project, as its settings say."""
        await self._write(partial(open_account, declared=declared))

    async def top_up(self, amount: int) -> bool:
        """Put credits into the project's account; whether there is one."""
        return await self._write(partial(top_up, amount=amount))

    def account(self) -> Account | None:
        """The project's account, if it has one."""
        return account_in(self._store)

    def usage(
        self, *, run: RunId | None = None, workflow: str | None = None, day: str | None = None, below: bool = False
    ) -> list[Usage]:
        """What was used, by run, node and day; `below`: by the runs that a run called, too."""
        return usage_in(self._store, run, workflow, day, below=below)

    async def _write(self, act: Callable[[Connection], Value]) -> Value:
        """In a transaction of the owner's, or, beside one, in a short one of our own."""
        if self._owner is not None:
            return await self._owner.write(act)
        return await asyncio.to_thread(write_beside, self._path, act)

    # runs

    async def start(
        self,
        workflow: str,
        version: int,
        input: Json,
        *,
        key: str | None = None,
        run: RunId | None = None,
        overrides: dict[str, JsonObject] | None = None,
        trigger: FiredBy | None = None,
        credits: int | None = None,
    ) -> tuple[RunId, bool]:
        """Begin a run: its id, and whether it is new. Durable when this returns.

        `overrides` are inputs of a flow's nodes, by node and handle; `trigger` is what fired it."""
        return await self._owning().start(workflow, version, input, key, run, overrides or {}, trigger, credits)

    async def fork(
        self, run: RunId, entry: int, writes: dict[str, Json], *, again: bool = False, credits: int = 0
    ) -> RunId:
        """A new run that shares a run's history up to an entry. Durable when this returns.

        `again`: the nodes of a flow that failed in it are done again."""
        return await self._owning().fork(run, entry, writes, again=again, credits=credits)

    async def deliver(self, run: RunId, message: Message) -> None:
        """Tell a run something. Durable when this returns; without ownership it is left for the owner to hand in."""
        check_storable(message)
        if self._owner is not None:
            await self._owner.deliver(run, message)
        elif self.row(run) is None:
            raise unknown(run)
        else:
            await asyncio.to_thread(leave_message, self._path, run, message)

    async def ended(self, run: RunId) -> RunRow:
        """The run's row, once it has ended."""
        if self._owner is not None:
            return await self._owner.ended(run)
        while True:
            row = self.row(run)
            if row is None:
                raise unknown(run)
            if row.status in TERMINAL:
                return row
            await asyncio.sleep(POLL_S)

    async def idle(self) -> None:
        """Wait until nothing can go on by itself: all runs have ended, or wait for a time or for people."""
        await self._owning().idle()

    async def recover(self) -> None:
        """Hand in all that the store owes its runs, now. It happens on opening, and again and again, by itself."""
        await self._owning().recover()

    async def prune(self, rules: Sequence[Rule]) -> Pruned:
        """Drop what the rules say of runs that have ended, a little at a time: runs under way do not wait for it."""
        pruned = await self._owning().prune(rules)
        await self.artifacts.collect()
        return pruned

    # what outlives runs

    @cached_property
    def artifacts(self) -> Artifacts:
        """The artifacts that the runs hold."""
        return Artifacts(artifacts_folder(self._path), SqliteIndex(self._store, self._owning().write))

    @property
    def clock(self) -> Callable[[], int]:
        """The time that messages are stamped with, and alarms ring by."""
        return self._owning().clock

    @cached_property
    def keys(self) -> SqliteIdempotencyStore:
        """The keys by which actions run once."""
        owner = self._owning()
        return SqliteIdempotencyStore(owner.write, owner.clock)

    @cached_property
    def outlet(self) -> SqliteEventSink:
        """Where what actions publish and measure goes."""
        owner = self._owning()
        return SqliteEventSink(owner.write, owner.clock, owner.triggers.published)

    # reading

    def published(
        self, *, run: RunId | None = None, event: str | None = None, after: int = 0, limit: int = 100
    ) -> list[Published]:
        """Events that actions published behind a number, oldest first."""
        return published(self._store, run, event, after, limit)

    def numbers(self, run: RunId | None = None) -> list[CurrentMetric]:
        """What actions measured in a run, or in all there ever were."""
        return numbers(self._store, run)

    def row(self, run: RunId) -> RunRow | None:
        """What queries see of a run."""
        return self._store.row(run)

    def rows(
        self,
        *,
        workflow: str | None = None,
        status: RunStatus | None = None,
        after: RunId | None = None,
        limit: int = 100,
    ) -> list[RunRow]:
        """Runs, newest first. `after` is the last one of the page before."""
        return self._store.rows(workflow, status, after, limit)

    def children(self, run: RunId) -> list[RunRow]:
        """The runs it called, in order."""
        return self._store.children(run)

    def gates(self, run: RunId | None = None) -> list[GateRow]:
        """Gates that are open, the oldest first: of one run, or of all."""
        return self._store.gates(run)

    def entries(self, run: RunId, after: int = -1) -> list[Entry]:
        """A run's journal behind an entry, oldest first."""
        return self._store.entries(run, after)

    def live(self, run: RunId) -> LiveRun | None:
        """The run as it was at its last durable commit, for reading only."""
        return self._store.live(run)

    async def watch(self, run: RunId, after: int = -1) -> AsyncIterator[Entry]:
        """A run's entries behind `after`: those stored, then each after its commit, until the run has ended."""
        if self._owner is None:
            async for entry in self._follow(run, after, lambda: asyncio.sleep(POLL_S)):
                yield entry
            return
        owner = self._owner
        with owner.listening(run) as bell:

            async def rung() -> None:
                await bell.wait()
                bell.clear()
                owner.check(run)

            async for entry in self._follow(run, after, rung):
                yield entry

    async def _follow(
        self, run: RunId, after: int, news: Callable[[], Coroutine[None, None, None]]
    ) -> AsyncIterator[Entry]:
        while True:
            row = self.row(run)  # before the entries: those of a run that has ended are all there
            if row is None:
                raise unknown(run)
            entries = self._store.entries(run, after, ENTRIES_AT_ONCE)
            for entry in entries:
                yield entry
                after = entry.number
            if not entries:
                if row.status in TERMINAL:
                    return
                await news()

    def _owning(self) -> Owner:
        if self._owner is None:
            raise Refused("not_owner", f"{self._path} was opened for reading", "open it as its owner")
        return self._owner
