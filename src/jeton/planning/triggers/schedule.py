"""When a cron line fires in a time zone, and which of the times that passed are still due.

A line that fires in every hour follows elapsed time: each minute whose clock reading matches, also when clocks change.
Any other line follows the clock: a reading that does not exist fires at the moment after the gap, and
one that occurs twice fires the first time. A moment fires at most once.
"""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from itertools import islice

import msgspec

from jeton.model.definition.cron import Cron
from jeton.model.definition.trigger import Missed

MINUTE = timedelta(minutes=1)
DAY = timedelta(days=1)
LONGEST_SEARCH = timedelta(days=366 * 41)  # 29 February on a given weekday: 28 years, and 40 over a year like 2100
MOST_AT_ONCE = 1000
WINDOWS = (timedelta(hours=1), DAY, timedelta(days=31), timedelta(days=366), LONGEST_SEARCH)


class DueTimes(msgspec.Struct, frozen=True):
    """The times to fire now, oldest first, and the time up to which the schedule is then done."""

    times: tuple[datetime, ...]
    until: datetime


def next_fire(cron: Cron, zone: tzinfo, after: datetime) -> datetime | None:
    """The first time after a moment, in UTC. None if there is none for decades."""
    return next(fires(cron, zone, after), None)


def fires(cron: Cron, zone: tzinfo, after: datetime) -> Iterator[datetime]:
    """All times after a moment, in UTC."""
    return _by_time(cron, zone, after) if cron.every_hour else _by_clock(cron, zone, after)


def due(cron: Cron, zone: tzinfo, last: datetime, now: datetime, missed: Missed, grace: timedelta = MINUTE) -> DueTimes:
    """The times due now, if those up to `last` are done. A time older than `grace` is missed.

    Of missed times, `skip` fires none, `once` the newest, and `all` each of them, a thousand at a time.
    """
    if missed == "all":
        times = tuple(islice(_until(cron, zone, last, now), MOST_AT_ONCE))
        return DueTimes(times, times[-1] if len(times) == MOST_AT_ONCE else now)
    since = last if missed == "once" else max(last, now - grace - MINUTE)
    newest = _newest(cron, zone, since, now)
    if newest is None or (missed == "skip" and now - newest > grace):
        return DueTimes((), now)
    return DueTimes((newest,), now)


def _until(cron: Cron, zone: tzinfo, last: datetime, now: datetime) -> Iterator[datetime]:
    for moment in fires(cron, zone, last):
        if moment > now:
            return
        yield moment


def _newest(cron: Cron, zone: tzinfo, since: datetime, now: datetime) -> datetime | None:
    """The newest of the times that passed. Searched in windows of growing length, to avoid going through years of
    minutes."""
    for window in WINDOWS:
        start = max(since, now - window)
        newest = max(_until(cron, zone, start, now), default=None)
        if newest is not None or start == since:
            return newest
    return None


def _by_time(cron: Cron, zone: tzinfo, after: datetime) -> Iterator[datetime]:
    moment = _whole_minute(after) + MINUTE
    end = moment + LONGEST_SEARCH
    while moment < end:
        reading = moment.astimezone(zone)
        if not cron.on(reading.date()):
            moment = max(moment + MINUTE, _first_of(reading.date() + DAY, zone))
        elif reading.minute in cron.minutes:
            yield moment
            end = moment + LONGEST_SEARCH
            moment += MINUTE
        else:
            moment = _towards(cron, reading, moment, zone)


def _towards(cron: Cron, reading: datetime, moment: datetime, zone: tzinfo) -> datetime:
    """The next minute that could match, not past a change of clocks."""
    wanted = next((minute for minute in cron.minutes if minute > reading.minute), 60)
    later = moment + (wanted - reading.minute) * MINUTE
    return later if later.astimezone(zone).utcoffset() == reading.utcoffset() else moment + MINUTE


def _by_clock(cron: Cron, zone: tzinfo, after: datetime) -> Iterator[datetime]:
    day = after.astimezone(zone).date() - DAY  # a reading that did not exist then may fire today
    last, found_on = after, day
    while day - found_on < LONGEST_SEARCH:
        if cron.on(day):
            for hour in cron.hours:
                for minute in cron.minutes:
                    moment = _moment(datetime.combine(day, time(hour, minute)), zone)
                    if moment > last:
                        yield moment
                        last, found_on = moment, day
        day += DAY


def _first_of(day: date, zone: tzinfo) -> datetime:
    """The first moment of a day, which may have no midnight."""
    return _moment(datetime.combine(day, time()), zone)


def _moment(reading: datetime, zone: tzinfo) -> datetime:
    """The moment when clocks first show a reading, or the moment after the gap if they never do."""
    moment = reading.replace(tzinfo=zone, fold=0).astimezone(UTC)
    if moment.astimezone(zone).replace(tzinfo=None) == reading:
        return moment
    before = reading.replace(tzinfo=zone, fold=1).astimezone(UTC)
    old = before.astimezone(zone).utcoffset()
    low, high = 0, int((moment - before).total_seconds())  # clocks change between these two
    while high - low > 1:
        middle = (low + high) // 2
        still_old = (before + timedelta(seconds=middle)).astimezone(zone).utcoffset() == old
        low, high = (middle, high) if still_old else (low, middle)
    return before + timedelta(seconds=high)


def _whole_minute(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(second=0, microsecond=0)
