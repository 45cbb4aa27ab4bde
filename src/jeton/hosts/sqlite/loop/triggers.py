"""What is due by itself: schedules, published events and ended runs, each to the triggers that wait for it.

Nothing here is remembered that the store does not say: looking twice, or dying in between, fires nothing twice. Nobody
sleeps for longer than a second, by a clock that cannot be set; what the clock on the wall then says is what counts.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cached_property, partial
from zoneinfo import ZoneInfo

from jeton.actor.causes import by_end, by_event
from jeton.actor.rows import RunRow, TriggerRow
from jeton.hosts.sqlite.file.connect import Connection
from jeton.hosts.sqlite.mirrors.bundles import Bundles
from jeton.hosts.sqlite.mirrors.event_sink import published
from jeton.hosts.sqlite.mirrors.firings import (
    FinishedMirror,
    drop_trigger,
    drop_undeclared,
    finished_in,
    put_triggers,
    see_to,
    triggers_in,
)
from jeton.hosts.sqlite.store import Store
from jeton.hosts.sqlite.tools.retention import Transactions
from jeton.model.definition.cron import parse_cron
from jeton.model.definition.trigger import Missed, OnEvent, OnRunFinished, OnSchedule, Trigger
from jeton.model.times import moment, rfc3339
from jeton.planning.triggers.firing import Delivery, Planned, Startable, plan_event, plan_firing, startable_in
from jeton.planning.triggers.schedule import due, next_fire

LONGEST_SLEEP_S = 1.0
SHORTEST_SLEEP_S = 0.002
AT_ONCE = 200
NEVER = 1 << 62

_log = logging.getLogger("jeton.store")


class Schedule:
    """One schedule, and when it fires next. Everything up to `seen` was seen to."""

    def __init__(self, trigger: Trigger, on: OnSchedule, seen: int) -> None:
        self.trigger = trigger
        self.seen = seen
        self._missed: Missed = on.missed
        self._cron = parse_cron(on.cron)
        self._zone = ZoneInfo(on.time_zone)

    @cached_property
    def next(self) -> int:
        found = next_fire(self._cron, self._zone, moment(self.seen))
        return NEVER if found is None else _ms(found)

    def take_due(self, now: int) -> list[Delivery]:
        """What to fire for now. A time is its own delivery id, so that it fires once whatever was done to the clock.

        A clock that was set back takes the schedule back with it: otherwise it would keep still until the time that
        the clock once showed by mistake."""
        if now < self.seen:
            self._see(now)
        if now < self.next:
            return []
        found = due(self._cron, self._zone, moment(self.seen), moment(now), self._missed)
        self._see(_ms(found.until))
        times = [rfc3339(_ms(time)) for time in found.times]
        return [Delivery(time, "schedule", now, source=time) for time in times]

    def _see(self, to: int) -> None:
        self.seen = to
        self.__dict__.pop("next", None)


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
        self._take(triggers_in(store))

    def _take(self, rows: Iterable[TriggerRow]) -> None:
        self._schedules: list[Schedule] = []
        self._listening: dict[str, tuple[Trigger, OnEvent, int]] = {}
        self._awaiting: dict[str, list[Trigger]] = {}
        for row in rows:
            match row.trigger.on:
                case OnSchedule() as on:
                    self._schedules.append(Schedule(row.trigger, on, row.seen))
                case OnEvent() as on:
                    self._listening[row.trigger.name] = (row.trigger, on, row.seen)
                case OnRunFinished(workflow):
                    self._awaiting.setdefault(workflow, []).append(row.trigger)
                case _:
                    pass  # somebody else comes with these
        self._mirror.await_by(each for waiting in self._awaiting.values() for each in waiting)

    async def deploy(self, triggers: Mapping[str, Trigger], file: str, origins: Sequence[str]) -> list[str]:
        """Store triggers, and mind them from now on. What `origins` no longer declare is gone: its names."""
        now = self._clock()

        def redeclare(db: Connection) -> list[str]:
            gone = drop_undeclared(db, triggers, origins)
            put_triggers(db, triggers, now, file)
            return gone

        async with self._looking:
            gone: list[str] = await self._do(redeclare)
            self._take(triggers_in(self._store))
        self._news.set()
        return gone

    async def remove(self, name: str) -> bool:
        """Have a trigger no longer. Whether there was one."""
        async with self._looking:
            there: bool = await self._do(partial(drop_trigger, name=name))
            self._take(triggers_in(self._store))
        return there

    def published(self) -> None:
        """An action published something."""
        if self._listening:
            self._news.set()

    def committed(self, row: RunRow) -> None:
        """A run has ended."""
        if row.workflow in self._awaiting:
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
        first = min((schedule.next for schedule in self._schedules), default=NEVER)
        wait_s = min(LONGEST_SLEEP_S, max((first - self._clock()) / 1000, SHORTEST_SLEEP_S))
        with suppress(TimeoutError):
            async with asyncio.timeout(wait_s if self._schedules else None):
                await self._news.wait()
        self._news.clear()

    async def _fire_schedules(self) -> bool:
        now, seen, planned = self._clock(), dict[str, int](), list[Planned]()
        for schedule in self._schedules:
            before = schedule.seen
            planned += [self._plan(schedule.trigger, each) for each in schedule.take_due(now)]
            if schedule.seen != before:
                seen[schedule.trigger.name] = schedule.seen
        if seen:
            try:
                await self._see_to(planned, seen)
            except BaseException:
                self._take(triggers_in(self._store))  # what is stored is what was seen to
                raise
        return any(schedule.next <= now for schedule in self._schedules)

    async def _fire_events(self) -> bool:
        """Those behind the one that was handled last, each to every trigger of its name.

        All in one transaction, so that a run which several triggers hear is told of it once."""
        planned, seen, more = list[Planned](), dict[str, int](), False
        for name, (trigger, on, after) in self._listening.items():
            found = published(self._store, None, on.name, after, AT_ONCE)
            for each in found:
                made = each.emitted
                delivery = by_event(made, self._store.row(made.run), self._clock())
                heard = plan_event(trigger, on, delivery, startable(self._bundles, trigger))
                planned += [] if heard is None else [heard]
                seen[name] = each.number
            more = more or len(found) == AT_ONCE
        if seen:
            await self._see_to(planned, seen)
        for name, last in seen.items():
            trigger, on, _ = self._listening[name]
            self._listening[name] = (trigger, on, last)
        return more

    async def _fire_ends(self) -> bool:
        if not self._awaiting:
            return False
        found = finished_in(self._store, AT_ONCE)
        planned: list[Planned] = []
        for _, run in found:
            row = self._store.row(run)
            if row is not None:
                delivery = by_end(row, self._clock())
                planned += [self._plan(trigger, delivery) for trigger in self._awaiting.get(row.workflow, ())]
        if found:
            await self._see_to(planned, {}, [number for number, _ in found])
        return len(found) == AT_ONCE

    def _plan(self, trigger: Trigger, delivery: Delivery) -> Planned:
        return Planned(trigger, delivery, plan_firing(trigger, delivery, startable(self._bundles, trigger)))

    async def _see_to(self, planned: list[Planned], seen: Mapping[str, int], finished: Iterable[int] = ()) -> None:
        await self._do(partial(see_to, planned=planned, seen=seen, finished=tuple(finished)))
        if planned:
            self.fired += 1
            self._tell_fired()


def startable(bundles: Bundles, trigger: Trigger) -> Startable | None:
    """What a trigger starts, as it is deployed now."""
    name, _, version = trigger.start.partition("@")
    found = bundles.find(name, int(version) if version else None)
    if found is None:
        return None
    bundle, number = found
    return startable_in(bundle, name, number)


def _ms(time: datetime) -> int:
    return round(time.timestamp() * 1000)
