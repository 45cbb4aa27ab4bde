"""Triggers by their cause: which schedule is due, which event or end fires which trigger.

Everything here comes from the rows, so a crash in between fires nothing twice.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import cached_property

import msgspec

from jeton.actor.firings import by_end, by_event
from jeton.actor.rows import Published, RunRow, TriggerRow
from jeton.model.definition.cron import parse_cron
from jeton.model.definition.trigger import Missed, OnEvent, OnRunFinished, OnSchedule, Trigger
from jeton.model.times import moment, rfc3339
from jeton.planning.triggers.firing import Delivery, Planned, Startable, plan_event, plan_firing
from jeton.planning.triggers.schedule import due, next_fire

NEVER = 1 << 62

FindStartable = Callable[[Trigger], Startable | None]
"""What a trigger starts, as it is deployed now."""


class Schedule:
    """One schedule, and when it fires next. Everything up to `seen` was handled."""

    def __init__(self, trigger: Trigger, on: OnSchedule, seen: int) -> None:
        self.trigger = trigger
        self.seen = seen
        self._missed: Missed = on.missed
        self._cron = parse_cron(on.cron)
        from zoneinfo import ZoneInfo  # slow to import, and only schedules need it

        self._zone = ZoneInfo(on.time_zone)

    @cached_property
    def next(self) -> int:
        """When it fires next; `NEVER` if it does not."""
        found = next_fire(self._cron, self._zone, moment(self.seen))
        return NEVER if found is None else _ms(found)

    def take_due(self, now: int, wall: int) -> list[Delivery]:
        """The deliveries that are due by the system clock, stamped with the time of messages.

        A time is its own delivery id, so that it fires once even if the clock is set.
        A clock that was set back sets the schedule back too. Otherwise the schedule would stand still until the time
        that the clock once showed by mistake."""
        if wall < self.seen:
            self._set_seen(wall)
        if wall < self.next:
            return []
        found = due(self._cron, self._zone, moment(self.seen), moment(wall), self._missed)
        self._set_seen(_ms(found.until))
        times = [rfc3339(_ms(time)) for time in found.times]
        return [Delivery(time, "schedule", now, source=time) for time in times]

    def _set_seen(self, to: int) -> None:
        self.seen = to
        self.__dict__.pop("next", None)


class EventTrigger(msgspec.Struct):
    """A trigger for published events, and the number of the last event it was given."""

    trigger: Trigger
    on: OnEvent
    seen: int


class TriggerTable:
    """The triggers of a store by their cause, without webhooks and manual ones, which are fired from outside."""

    def __init__(self, rows: Iterable[TriggerRow] = ()) -> None:
        self.schedules: list[Schedule] = []
        self.events: dict[str, EventTrigger] = {}
        self.ends: dict[str, list[Trigger]] = {}  # by workflow
        for row in rows:
            match row.trigger.on:
                case OnSchedule() as on:
                    self.schedules.append(Schedule(row.trigger, on, row.seen))
                case OnEvent() as on:
                    self.events[row.trigger.name] = EventTrigger(row.trigger, on, row.seen)
                case OnRunFinished(workflow):
                    self.ends.setdefault(workflow, []).append(row.trigger)
                case _:
                    pass

    @property
    def next_at(self) -> int:
        """When the first schedule fires."""
        return min((schedule.next for schedule in self.schedules), default=NEVER)

    def plan_schedules(self, now: int, wall: int, startable: FindStartable) -> tuple[list[Planned], dict[str, int]]:
        """The firings of due schedules, and the new `seen` of each schedule."""
        planned, seen = list[Planned](), dict[str, int]()
        for schedule in self.schedules:
            before = schedule.seen
            planned += [_planned(schedule.trigger, each, startable) for each in schedule.take_due(now, wall)]
            if schedule.seen != before:
                seen[schedule.trigger.name] = schedule.seen
        return planned, seen

    def plan_ends(self, rows: Sequence[RunRow], now: int, startable: FindStartable) -> list[Planned]:
        """The firings for the ends of these runs."""
        return [
            _planned(trigger, by_end(row, now), startable)
            for row in rows
            for trigger in self.ends.get(row.workflow, ())
        ]


def plan_published(
    waiting: EventTrigger, event: Published, publisher: RunRow | None, now: int, startable: FindStartable
) -> Planned | None:
    """The firing of a trigger for an event of its name; None if the event does not meet its condition."""
    trigger = waiting.trigger
    return plan_event(trigger, waiting.on, by_event(event.emitted, publisher, now), startable(trigger))


def first_seen(trigger: Trigger, known: TriggerRow | None, now: int, last_event: int) -> int:
    """The `seen` of a deployed trigger. One whose cause is new, or changed, ignores everything before now."""
    if known is not None and known.trigger.on == trigger.on:
        return known.seen
    return last_event if isinstance(trigger.on, OnEvent) else now


def _planned(trigger: Trigger, delivery: Delivery, startable: FindStartable) -> Planned:
    return Planned(trigger, delivery, plan_firing(trigger, delivery, startable(trigger)))


def _ms(time: datetime) -> int:
    return round(time.timestamp() * 1000)
