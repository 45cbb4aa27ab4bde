"""Triggers that fire by themselves: schedules, published events and ended runs."""

from asyncio import Event, Lock
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from jeton.actor.definitions import Bundles
from jeton.actor.rows import RunRow
from jeton.actor.triggers import TriggerTable, plan_published
from jeton.hosts.sql.connection import Connection, Transact
from jeton.hosts.sql.loop.periodic import LONGEST_SLEEP_S, SHORTEST_SLEEP_S, repeat, wait_for_event
from jeton.hosts.sql.mirrors.event_sink import published_events
from jeton.hosts.sql.mirrors.firings import (
    FinishedMirror,
    drop_trigger,
    drop_undeclared,
    finished_in,
    put_progress,
    put_triggers,
    triggers_in,
)
from jeton.hosts.sql.store import Store
from jeton.model.definition.trigger import Trigger
from jeton.planning.triggers.firing import Planned

ROWS_PER_STEP = 200


class TriggerLoop:
    """Fires the triggers of a store. `on_fired` is called after a firing was stored."""

    def __init__(
        self,
        store: Store,
        bundles: Bundles,
        transact: Transact,
        clock: Callable[[], int],
        wall: Callable[[], int],
        mirror: FinishedMirror,
        keeps: Callable[[], bool],
        on_fired: Callable[[], None],
    ) -> None:
        self._store = store
        self._bundles = bundles
        self._transact = transact
        self._clock = clock
        self._wall = wall
        self._mirror = mirror
        self._keeps = keeps
        self._on_fired = on_fired
        self.fired = 0  # how often something fired
        self._wake = Event()
        self._lock = Lock()
        self._load()

    async def reload(self) -> None:
        """Read the triggers again, because another process has changed them."""
        async with self._lock:
            self._load()
        self._wake.set()

    def _load(self) -> None:
        """Read the triggers from the store."""
        self._table = TriggerTable(triggers_in(self._store))
        self._mirror.awaited = frozenset(self._table.ends)

    async def deploy(self, triggers: Mapping[str, Trigger], file: str, origins: Sequence[str]) -> list[str]:
        """Store triggers, and remove what `origins` no longer declare. Returns the removed names."""
        now = self._wall()

        def redeclare(db: Connection) -> list[str]:
            gone = drop_undeclared(db, triggers, origins)
            put_triggers(db, triggers, now, file)
            return gone

        async with self._lock:
            gone: list[str] = await self._transact(redeclare)
            self._load()
        self._wake.set()
        return gone

    async def remove(self, name: str) -> bool:
        """Remove a trigger. Returns False if there was none."""
        async with self._lock:
            there: bool = await self._transact(partial(drop_trigger, name=name))
            self._load()
        return there

    def notify_published(self) -> None:
        """Wake up, because an action published an event."""
        if self._table.events:
            self._wake.set()

    def notify_ended(self, row: RunRow) -> None:
        """Wake up, because a run has ended."""
        if row.workflow in self._table.ends:
            self._wake.set()

    async def run(self) -> None:
        """Fire due triggers until cancelled."""
        await repeat(self._step, "firing triggers", LONGEST_SLEEP_S)

    async def _step(self) -> None:
        await self.fire_due()
        await self._sleep()

    async def fire_due(self) -> None:
        """Fire every trigger that is due, if this process is the one that does."""
        if not self._keeps():
            return
        async with self._lock:
            while await self._fire_schedules():
                pass
            while await self._fire_events():
                pass
            while await self._fire_ends():
                pass

    async def _sleep(self) -> None:
        wait_s = min(LONGEST_SLEEP_S, max((self._table.next_at - self._wall()) / 1000, SHORTEST_SLEEP_S))
        unheard = None if self._store.inbox_in_order else LONGEST_SLEEP_S  # other workers publish events, and end runs
        await wait_for_event(self._wake, wait_s if self._table.schedules else unheard)
        self._wake.clear()

    async def _fire_schedules(self) -> bool:
        wall = self._wall()
        planned, seen = self._table.plan_schedules(self._clock(), wall, self._bundles.startable)
        if seen:
            try:
                await self._store_firings(planned, seen)
            except BaseException:
                self._load()
                raise
        return self._table.next_at <= wall

    async def _fire_events(self) -> bool:
        """Fire for published events that were not handled yet, each for every trigger of its name.

        All in one transaction, so that a run which caused several firings gets their messages together."""
        planned, seen, more = list[Planned](), dict[str, int](), False
        for name, trigger in self._table.events.items():
            found = published_events(self._store, None, trigger.on.name, trigger.seen, ROWS_PER_STEP)
            for each in found:
                publisher = self._store.row(each.emitted.run)
                firing = plan_published(trigger, each, publisher, self._clock(), self._bundles.startable)
                planned += [] if firing is None else [firing]
                seen[name] = each.number
            more = more or len(found) == ROWS_PER_STEP
        if seen:
            await self._store_firings(planned, seen)
        for name, last in seen.items():
            self._table.events[name].seen = last
        return more

    async def _fire_ends(self) -> bool:
        if not self._table.ends:
            return False
        found = finished_in(self._store, ROWS_PER_STEP)
        rows = [row for _, run in found if (row := self._store.row(run)) is not None]
        if found:
            planned = self._table.plan_ends(rows, self._clock(), self._bundles.startable)
            await self._store_firings(planned, {}, [number for number, _ in found])
        return len(found) == ROWS_PER_STEP

    async def _store_firings(
        self, planned: list[Planned], seen: Mapping[str, int], finished: Iterable[int] = ()
    ) -> None:
        await self._transact(partial(put_progress, planned=planned, seen=seen, finished=tuple(finished)))
        if planned:
            self.fired += 1
            self._on_fired()
