"""When a cron line fires, by the clocks of a zone, and which of the times that passed are still due."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from functools import cache
from itertools import takewhile
from random import Random
from zoneinfo import ZoneInfo

import pytest

from jeton.model.definition.cron import BadCron, parse_cron
from jeton.model.definition.trigger import Missed
from jeton.planning.triggers.schedule import MOST_AT_ONCE, due, fires, next_fire

BERLIN = ZoneInfo("Europe/Berlin")  # clocks change on 2026-03-29 at 02:00 to 03:00, and on 2026-10-25 at 03:00 to 02:00


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("line", "after", "then"),
    [
        pytest.param("0 6 * * *", "2026-01-01T00:00", "2026-01-01T05:00", id="six o'clock is five in UTC in winter"),
        pytest.param("0 6 * * *", "2026-07-01T00:00", "2026-07-01T04:00", id="and four in summer"),
        pytest.param("0 6 * * *", "2026-01-01T05:00", "2026-01-02T05:00", id="the moment itself is not after it"),
        pytest.param("0 6 * * mon-fri", "2026-01-02T06:00", "2026-01-05T05:00", id="weekdays"),
        pytest.param("0 0 13 * fri", "2026-01-03T00:00", "2026-01-08T23:00", id="two kinds of day: either will do"),
        pytest.param("0 0 29 2 *", "2026-01-01T00:00", "2028-02-28T23:00", id="a day that comes every four years"),
        pytest.param("*/20 * * * *", "2026-01-01T00:05", "2026-01-01T00:20", id="every twenty minutes"),
        pytest.param(
            "30 2 * * *", "2026-03-28T12:00", "2026-03-29T01:00", id="what does not exist fires after the gap"
        ),
        pytest.param("30 2 * * *", "2026-03-29T01:00", "2026-03-30T00:30", id="and only once"),
        pytest.param("*/10 2 * * *", "2026-03-29T01:00", "2026-03-30T00:00", id="however many there were in the gap"),
        pytest.param("30 2 * * *", "2026-10-24T12:00", "2026-10-25T00:30", id="what occurs twice fires the first time"),
        pytest.param("30 2 * * *", "2026-10-25T00:30", "2026-10-26T01:30", id="and not the second"),
        pytest.param(
            "30 * * * *", "2026-10-25T00:30", "2026-10-25T01:30", id="every hour is every real hour, twice 2:30"
        ),
        pytest.param("30 * * * *", "2026-03-29T00:30", "2026-03-29T01:30", id="and none is missed at the gap"),
        pytest.param("@hourly", "2026-01-01T00:05", "2026-01-01T01:00", id="a word for a line"),
    ],
)
def test_the_next_time(line: str, after: str, then: str) -> None:
    assert next_fire(parse_cron(line), BERLIN, utc(after)) == utc(then)


@pytest.mark.parametrize(
    ("missed", "last", "times"),
    [
        pytest.param("skip", "11:30", ["12:00"], id="one that is on time is never skipped"),
        pytest.param("once", "11:30", ["12:00"], id="nor fired twice"),
        pytest.param("all", "11:30", ["12:00"], id="whatever is said about missed ones"),
        pytest.param("skip", "09:30", ["12:00"], id="skip fires none of those that were missed"),
        pytest.param("once", "09:30", ["12:00"], id="once fires for all of them together"),
        pytest.param("all", "09:30", ["10:00", "11:00", "12:00"], id="all fires for each"),
        pytest.param("all", "12:00", [], id="what was fired is not due again"),
    ],
)
def test_what_is_due_on_time(missed: Missed, last: str, times: list[str]) -> None:
    found = due(parse_cron("@hourly"), UTC, utc(f"2026-01-01T{last}"), utc("2026-01-01T12:00:30"), missed)
    assert found.times == tuple(utc(f"2026-01-01T{each}") for each in times)
    assert found.until == utc("2026-01-01T12:00:30")


@pytest.mark.parametrize(
    ("missed", "times"),
    [
        pytest.param("skip", [], id="skip: too late is not at all"),
        pytest.param("once", ["12:00"], id="once: the newest"),
        pytest.param("all", ["11:00", "12:00"], id="all: each"),
    ],
)
def test_what_is_due_when_nobody_looked(missed: Missed, times: list[str]) -> None:
    found = due(parse_cron("@hourly"), UTC, utc("2026-01-01T10:30"), utc("2026-01-01T12:40"), missed)
    assert found.times == tuple(utc(f"2026-01-01T{each}") for each in times)


def test_after_years_of_minutes_all_of_them_come_a_thousand_at_a_time() -> None:
    every_minute, last, now = parse_cron("* * * * *"), utc("2020-01-01T00:00"), utc("2026-01-01T00:00")
    first = due(every_minute, UTC, last, now, "all")
    assert (len(first.times), first.until) == (MOST_AT_ONCE, first.times[-1])
    assert due(every_minute, UTC, first.until, now, "all").times[0] == first.until + timedelta(minutes=1)
    assert due(every_minute, UTC, last, now, "once").times == (now,)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        pytest.param("* * * *", "4 fields", id="four fields"),
        pytest.param("60 * * * *", "minute '60'", id="a minute too many"),
        pytest.param("* 24 * * *", "hour '24'", id="an hour too many"),
        pytest.param("* * 0 * *", "day of month '0'", id="a day too few"),
        pytest.param("* * * foo *", "month 'foo'", id="a month nobody knows"),
        pytest.param("* * * * 8", "day of week '8'", id="a weekday too many"),
        pytest.param("5-1 * * * *", "ends before it begins", id="a range the wrong way round"),
        pytest.param("*/0 * * * *", "step of 0", id="a step of nothing"),
        pytest.param("1,,2 * * * *", "is none", id="nothing between commas"),
        pytest.param("*-5 * * * *", "is none", id="a range from everything"),
        pytest.param("-5 * * * *", "is none", id="a range from nothing"),
        pytest.param("0 0 31 4,6 *", "never fires", id="a day that its months do not have"),
        pytest.param("@reboot", "there is no '@reboot'", id="a word nobody knows"),
        pytest.param("٣ * * * *", "is none", id="digits of another script"),
    ],
)
def test_what_is_no_cron_line(line: str, says: str) -> None:
    with pytest.raises(BadCron) as bad:
        parse_cron(line)
    assert says in bad.value.problem
    assert bad.value.remedy


# the oracle: what clocks show at every minute of a year, one after the other

ZONES = ("Europe/Berlin", "Australia/Lord_Howe", "Africa/Cairo", "America/Santiago")
MINUTE = timedelta(minutes=1)
YEAR = 2026
Readings = dict[tuple[int, int], list[tuple[datetime, date]]]
"""By hour and minute shown: when, and on which day."""


@cache
def readings(zone: str) -> tuple[Readings, Readings]:
    """All that clocks show; and each reading once, what they never showed counting for the moment after the gap."""
    everything: Readings = {}
    once: Readings = {}
    latest: datetime | None = None
    for moment, shown in shown_minutes(ZoneInfo(zone)):
        everything.setdefault((shown.hour, shown.minute), []).append((moment, shown.date()))
        while latest is not None and latest + MINUTE < shown:
            latest += MINUTE
            once.setdefault((latest.hour, latest.minute), []).append((moment, latest.date()))
        if latest is None or shown > latest:
            once.setdefault((shown.hour, shown.minute), []).append((moment, shown.date()))
            latest = shown
    return everything, once


def shown_minutes(zone: ZoneInfo) -> Iterator[tuple[datetime, datetime]]:
    """Every minute, and what clocks show; the zone is asked for each only on days on which they change."""
    for count in range(368):
        midnight = datetime(YEAR - 1, 12, 31, tzinfo=UTC) + timedelta(days=count)
        usual = midnight.astimezone(zone).utcoffset() or timedelta()
        changes = (midnight + timedelta(days=1)).astimezone(zone).utcoffset() != usual
        for minute in range(24 * 60):
            moment = midnight + minute * MINUTE
            offset = (moment.astimezone(zone).utcoffset() or timedelta()) if changes else usual
            yield moment, moment.replace(tzinfo=None) + offset


def expected(line: str, zone: str) -> list[datetime]:
    fields = line.split()
    bounds = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))
    minutes, hours, days, months, weekdays = (numbers(field, *each) for field, each in zip(fields, bounds, strict=True))
    both = fields[2][0] == "*" or fields[4][0] == "*"

    def on(day: date) -> bool:
        by_week = day.isoweekday() in weekdays or day.isoweekday() % 7 in weekdays
        by_month = day.day in days
        return day.month in months and ((by_month and by_week) if both else (by_month or by_week))

    table = readings(zone)[0 if len(hours) == 24 else 1]
    first = date(YEAR - 1, 12, 30)
    chosen = {day for day in (first + timedelta(days=count) for count in range(372)) if on(day)}
    return sorted({at for h in hours for m in minutes for at, day in table.get((h, m), ()) if day in chosen})


def numbers(field: str, least: int, most: int) -> set[int]:
    found: set[int] = set()
    for part in field.split(","):
        span, _, step = part.partition("/")
        first, _, last = span.partition("-")
        low = least if span == "*" else int(first)
        high = most if span == "*" else int(last) if last else most if step else low
        found |= {number for number in range(low, high + 1) if (number - low) % int(step or 1) == 0}
    return found


def make_line(random: Random) -> str:
    """Mostly at night, when clocks change, and seldom every minute, which takes long to count."""

    def field(least: int, most: int, star: float) -> str:
        if random.random() < star:
            return random.choice(("*", "*", f"*/{random.randint(2, 7)}"))
        first = random.randint(least, most)
        part = random.choice((str(first), f"{first}-{random.randint(first, most)}", f"{first}/{random.randint(2, 20)}"))
        return f"{part},{random.randint(least, most)}" if random.random() < 0.3 else part

    minute = random.choice((f"*/{random.randint(7, 45)}", str(random.randint(0, 59)), "0,30", "0", "58-59,0-2"))
    hour = random.choice(("*", str(random.randint(0, 3)), "0-3", field(0, 23, 0.4), "*/2", "1,2,3"))
    return " ".join((minute, hour, field(1, 28, 0.8), field(1, 12, 0.8), field(0, 7, 0.8)))


@pytest.mark.parametrize("zone", [ZONES[0], *(pytest.param(zone, marks=pytest.mark.long) for zone in ZONES[1:])])
def test_a_year_of_every_line_as_one_would_count_it(zone: str) -> None:
    random = Random(zone)
    first, end = datetime(YEAR, 1, 1, tzinfo=UTC), datetime(YEAR + 1, 1, 1, tzinfo=UTC)
    for _ in range(20):
        line = make_line(random)
        wanted = [moment for moment in expected(line, zone) if first < moment < end]
        found = fires(parse_cron(line), ZoneInfo(zone), first)
        assert list(takewhile(lambda moment: moment < end, found)) == wanted, f"{line} in {zone}"
