"""Fires what is due by itself: schedules, published events and ended runs.

Nobody sleeps for longer than a second, by a clock that cannot be set; what the wall clock then says is what counts.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial

from jeton.actor.definitions import Bundles
from jeton.actor.rows import RunRow
from jeton.actor.triggers import TriggerTable, plan_published
from jeton.hosts.sqlite.file.connect import Connection
from jeton.hosts.sqlite.mirrors.event_sink import published
from jeton.hosts.sqlite.mirrors.firings import (
    FinishedMirror,
    drop_trigger,
    drop_undeclared,
    finished_in,
    put_progress,
    put_triggers,
    triggers_in,
)
from jeton.hosts.sqlite.store import Store
from jeton.hosts.sqlite.tools.retention import Transactions
from jeton.model.definition.trigger import Trigger
from jeton.planning.triggers.firing import Planned

LONGEST_SLEEP_S = 1.0
SHORTEST_SLEEP_S = 0.002
AT_ONCE = 200

_log = logging.getLogger("jeton.store")


class Triggers:
    """One per owner."""

    def __init__(
        self,
        store: Store,
        bundles: Bundles,
        do: Transactions,
        clock: Callable[[], int],
        mirror: FinishedMirror,
        fired: Callable[[], None],
    ) -> None:
        self._store = store
        self._bundles = bundles
        self._do = do
        self._clock = clock
        self._mirror = mirror
        self._tell_fired = fired
        self.fired = 0  # how often something was
        self._news = asyncio.Event()
        self._looking = asyncio.Lock()
        self._load()

    def _load(self) -> None:
        """Read the triggers again: what is stored is what was handled."""
        self._table = TriggerTable(triggers_in(self._store))
        self._mirror.awaited = frozenset(self._table.ends)

    async def deploy(self, triggers: Mapping[str, Trigger], file: str, origins: Sequence[str]) -> list[str]:
        """Store triggers, and remove what `origins` no longer declare. Returns the removed names."""
        now = self._clock()

        def redeclare(db: Connection) -> list[str]:
            gone = drop_undeclared(db, triggers, origins)
            put_triggers(db, triggers, now, file)
            return gone

        async with self._looking:
            gone: list[str] = await self._do(redeclare)
            self._load()
        self._news.set()
        return gone

    async def remove(self, name: str) -> bool:
        """Remove a trigger. Returns False if there was none."""
        async with self._looking:
            there: bool = await self._do(partial(drop_trigger, name=name))
            self._load()
        return there

    def published(self) -> None:
        """Note that an action published an event."""
        if self._table.events:
            self._news.set()

    def committed(self, row: RunRow) -> None:
        """Note that a run has ended."""
        if row.workflow in self._table.ends:
            self._news.set()

    async def keep(self) -> None:
        """Fire what is due, for ever."""
        while True:
            try:
                await self.look()
                await self._sleep()
            except Exception:  # whatever it was, it concerns some trigger and not all of them
                _log.exception("triggers are looked at again in a moment")
                await asyncio.sleep(LONGEST_SLEEP_S)

    async def look(self) -> None:
        """Everything that is due by now."""
        async with self._looking:
            while await self._fire_schedules():
                pass
            while await self._fire_events():
                pass
            while await self._fire_ends():
                pass

    async def _sleep(self) -> None:
        wait_s = min(LONGEST_SLEEP_S, max((self._table.next_at - self._clock()) / 1000, SHORTEST_SLEEP_S))
        with suppress(TimeoutError):
            async with asyncio.timeout(wait_s if self._table.schedules else None):
                await self._news.wait()
        self._news.clear()

    async def _fire_schedules(self) -> bool:
        now = self._clock()
        planned, seen = self._table.plan_schedules(now, self._bundles.startable)
        if seen:
            try:
                await self._settle(planned, seen)
            except BaseException:
                self._load()
                raise
        return self._table.next_at <= now

    async def _fire_events(self) -> bool:
        """Those behind the one that was handled last, each to every trigger of its name.

        All in one transaction, so that a run which several triggers hear is told of it once."""
        planned, seen, more = list[Planned](), dict[str, int](), False
        for name, listening in self._table.events.items():
            found = published(self._store, None, listening.on.name, listening.seen, AT_ONCE)
            for each in found:
                publisher = self._store.row(each.emitted.run)
                heard = plan_published(listening, each, publisher, self._clock(), self._bundles.startable)
                planned += [] if heard is None else [heard]
                seen[name] = each.number
            more = more or len(found) == AT_ONCE
        if seen:
            await self._settle(planned, seen)
        for name, last in seen.items():
            self._table.events[name].seen = last
        return more

    async def _fire_ends(self) -> bool:
        if not self._table.ends:
            return False
        found = finished_in(self._store, AT_ONCE)
        rows = [row for _, run in found if (row := self._store.row(run)) is not None]
        if found:
            planned = self._table.plan_ends(rows, self._clock(), self._bundles.startable)
            await self._settle(planned, {}, [number for number, _ in found])
        return len(found) == AT_ONCE

    async def _settle(self, planned: list[Planned], seen: Mapping[str, int], finished: Iterable[int] = ()) -> None:
        await self._do(partial(put_progress, planned=planned, seen=seen, finished=tuple(finished)))
        if planned:
            self.fired += 1
            self._tell_fired()
