"""What the hosts on SQL databases do alike."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, TypeVar
from uuid import uuid4

from jeton.actor.definitions import Bundles
from jeton.actor.retention import Pruned, Rule, uploads_kept_from
from jeton.actor.rows import FiringRow
from jeton.actor.starts import NewFork
from jeton.executor.artifacts import Artifacts
from jeton.hosts.sql.connection import Connection
from jeton.hosts.sql.listing import SqlListing, StorePlace
from jeton.hosts.sql.loop.owner import Owner
from jeton.hosts.sql.mirrors.access import SqlAccessStore
from jeton.hosts.sql.mirrors.credits import open_account, top_up
from jeton.hosts.sql.mirrors.event_sink import SqlEventSink
from jeton.hosts.sql.mirrors.firings import put_firings, set_disabled
from jeton.hosts.sql.mirrors.idempotency import SqlIdempotencyStore
from jeton.hosts.sql.mirrors.mcp_pins import SqlPinStore
from jeton.hosts.sql.mirrors.memory.store import SqlMemoryStore
from jeton.hosts.sql.store import Store
from jeton.model.definition.trigger import Trigger
from jeton.model.definition.workflow import Library
from jeton.model.ids import RunId
from jeton.planning.triggers.firing import Delivery, Planned, plan_firing

Value = TypeVar("Value")


class SqlHost(ABC):
    """Fulfils, together with what is left to a host, `jeton.actor.host.Host`."""

    def __init__(self, store: Store, bundles: Bundles, clock: Callable[[], int], wall: Callable[[], int]) -> None:
        self._store = store
        self._bundles = bundles
        self.now = clock
        self.wall = wall
        self.pins = SqlPinStore(store, self._write)
        self.access = SqlAccessStore(store, self._write)
        self.listing = SqlListing(store, self._write, self._place)

    @abstractmethod
    def _require_owner(self) -> Owner:
        """The owner, or a refusal if this process works for nobody."""

    @property
    @abstractmethod
    def _owns(self) -> bool:
        """Whether this process works on the store."""

    @abstractmethod
    async def _write(self, act: Callable[[Any], Value], *, overwrite: bool = False) -> Value:
        """Write in a transaction. Durable when this returns."""

    @abstractmethod
    def _place(self, db: Connection) -> StorePlace:
        """Where the store is, and how large."""

    @abstractmethod
    def _new_artifacts(self) -> Artifacts:
        """The artifacts of the store."""

    def _new_idempotency(self) -> SqlIdempotencyStore:
        return SqlIdempotencyStore(self._write, self.now)

    def new_id(self) -> str:
        """An id for a message or a delivery that no other has."""
        return uuid4().hex

    # definitions and triggers

    async def deploy(self, bundle: Library, name: str) -> int:
        """The version number of a bundle: that of the same content, or a new one. New runs get it from now on."""
        return await self._require_owner().deploy(bundle, name)

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
        """Deliver something to a trigger. Durable when this returns; whoever owns the run starts it."""
        firing = plan_firing(trigger, delivery, self._bundles.startable(trigger))
        (row,) = await self._write(partial(put_firings, planned=[Planned(trigger, delivery, firing)]))
        if self._owns:
            await self._require_owner().recover()
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

    # runs

    async def fork(self, fork: NewFork) -> RunId:
        """Start a run that shares another run's history up to an entry."""
        return await self._require_owner().fork(fork)

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
        self._require_owner()
        return self._all_artifacts

    @property
    def idempotency(self) -> SqlIdempotencyStore:
        """The idempotency keys of actions."""
        self._require_owner()
        return self._idempotency

    @property
    def events(self) -> SqlEventSink:
        """Where events and metrics of actions go."""
        self._require_owner()
        return self._events

    @property
    def memory(self) -> SqlMemoryStore:
        """The memories of agents. Without ownership they can be read and deleted."""
        return self._memory

    @cached_property
    def _all_artifacts(self) -> Artifacts:
        return self._new_artifacts()

    @cached_property
    def _idempotency(self) -> SqlIdempotencyStore:
        return self._new_idempotency()

    @cached_property
    def _events(self) -> SqlEventSink:
        return SqlEventSink(self._write, self.now, self._notify_published)

    def _notify_published(self) -> None:
        self._require_owner().triggers.notify_published()

    @cached_property
    def _memory(self) -> SqlMemoryStore:
        write = partial(self._write, overwrite=True)
        return SqlMemoryStore(self._store, write, self._all_artifacts, self._bundles, self.wall, owned=self._owns)
