"""Schedules on a test clock: a year, a week without a process, a clock that is set, a store that is reopened."""

from collections import Counter
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from pathlib import Path
from random import Random

import msgspec
import pytest

from jeton.actor.triggers import Schedule
from jeton.definitions.bundle import bundle_of
from jeton.hosts.sql.mirrors.firings import put_progress, put_triggers
from jeton.hosts.sqlite import SqliteHost
from jeton.hosts.sqlite.file.connect import connect
from jeton.model.definition.trigger import Missed, OnSchedule, Trigger
from jeton.planning.triggers.firing import Planned, Startable, plan_firing
from tests.hosts.library import chain, library
from tests.hosts.trivial import TrivialWorkers
from tests.hosts.works import work
from tests.planning.triggers.test_schedule import YEAR, ZONES, expected, make_line

POLICIES: tuple[Missed, ...] = ("skip", "once", "all")
STARTS = Startable("w", 1, None, {})
GRACE_MS = 60_000


def ms(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)


def at(text: str) -> int:
    return ms(datetime.fromisoformat(text).replace(tzinfo=UTC))


BEGIN, END = ms(datetime(YEAR, 1, 1, tzinfo=UTC)), ms(datetime(YEAR + 1, 1, 1, tzinfo=UTC))


class Process:
    """Fires schedules a moment after they are due, and now and then loads them from the store again."""

    def __init__(self, lines: dict[str, tuple[str, str, Missed]]) -> None:
        self.db = connect(":memory:", create=True)
        for _ in self.db.execute((files("jeton.hosts.sqlite") / "schema.sql").read_text()):
            pass
        self.triggers = {name: Trigger(name, "w", OnSchedule(*line)) for name, line in lines.items()}
        put_triggers(self.db, self.triggers, BEGIN)
        self.restart()

    def restart(self) -> None:
        self.schedules: list[Schedule] = []
        for body, seen in self.db.execute("select body, seen from triggers order by name"):
            trigger = msgspec.json.decode(body, type=Trigger)
            assert isinstance(trigger.on, OnSchedule)
            self.schedules.append(Schedule(trigger, trigger.on, seen))

    def look(self, now: int) -> None:
        seen: dict[str, int] = {}
        planned: list[Planned] = []
        for schedule in self.schedules:
            if schedule.next <= now or now < schedule.seen:
                deliveries = schedule.take_due(now, now)
                planned += [Planned(schedule.trigger, d, plan_firing(schedule.trigger, d, STARTS)) for d in deliveries]
                seen[schedule.trigger.name] = schedule.seen
        with self.db:
            put_progress(self.db, planned, seen, ())

    def pass_to(self, now: int, until: int, random: Random) -> int:
        """Run up to a time, with restarts now and then."""
        while (due := min(schedule.next for schedule in self.schedules)) <= until:
            now = max(now, due) + random.choice((0, 3, 900, 20_000))
            self.look(now)
            if random.random() < 0.001:
                self.restart()
        return now

    def fired(self) -> Counter[tuple[str, int]]:
        rows = self.db.execute("select trigger, delivery from firings where run is not null")
        return Counter((name, at(delivery.removesuffix("Z"))) for name, delivery in rows)

    def started(self) -> int:
        found: int = self.db.execute("select count(*) from inbox").get
        return found


@cache
def times(line: str, zone: str) -> list[int]:
    return [ms(moment) for moment in expected(line, zone)]


def wanted(line: str, zone: str, missed: Missed, down: int, up: int) -> set[int]:
    found = {time for time in times(line, zone) if BEGIN < time < END}
    lost = {time for time in found if down < time <= up}
    match missed:
        case "all":
            return found
        case "once":
            return (found - lost) | set(sorted(lost)[-1:])
        case "skip":
            return found - {time for time in lost if time < up - GRACE_MS}


@pytest.mark.parametrize(
    ("down", "zone"),
    [
        pytest.param("2026-03-25T10:10:30", ZONES[0], id="down while clocks go forward in Berlin"),
        pytest.param("2026-10-21T10:10:30", ZONES[0], id="down while they go back", marks=pytest.mark.long),
        pytest.param(
            "2026-06-10T10:10:30",
            ZONES[1],
            id="down in June, on an island with half an hour of summer",
            marks=pytest.mark.long,
        ),
        pytest.param(
            "2026-09-03T10:10:30",
            ZONES[3],
            id="down while midnight is missing in Santiago",
            marks=pytest.mark.long,
        ),
    ],
)
def test_a_year_in_which_each_line_fires_as_often_as_it_says(down: str, zone: str) -> None:
    """A hundred lines under each policy, the process down for a week: every time once, and none besides."""
    random = Random(f"{down}{zone}")
    written: set[str] = set()
    while len(written) < 25:
        line = make_line(random)
        if len(times(line, zone)) < 450:  # a line that fires all the time says no more, and takes long
            written.add(line)
    lines: dict[str, tuple[str, str, Missed]] = {}
    for number, line in enumerate(sorted(written)):
        lines.update({f"{policy}-{number}": (line, zone, policy) for policy in POLICIES})
    process = Process(lines)
    stopped = max(at(down), process.pass_to(BEGIN, at(down), random))
    up = stopped + 7 * 86_400_000
    process.look(stopped)
    process.restart()
    process.look(up)
    process.pass_to(up, END - 1, random)
    fired = process.fired()
    assert set(fired.values()) == {1}
    for name, (line, _, policy) in lines.items():
        found = {time for each, time in fired if each == name}
        assert found == wanted(line, zone, policy, stopped, up), f"{line} in {zone}, {policy}"
    assert process.started() == len(fired)


@pytest.mark.parametrize("missed", POLICIES)
def test_a_clock_that_is_set_back_fires_no_time_twice(missed: Missed) -> None:
    process = Process({"hourly": ("0 * * * *", "UTC", missed)})
    now = process.pass_to(BEGIN, BEGIN + 5 * 3_600_000, Random(0))
    process.look(now - 3 * 3_600_000)  # it is two o'clock again
    process.pass_to(now - 3 * 3_600_000, BEGIN + 8 * 3_600_000, Random(1))
    assert process.fired() == Counter(("hourly", BEGIN + hour * 3_600_000) for hour in range(1, 9))


@pytest.mark.parametrize("missed", ["skip", "once"])
def test_a_clock_that_was_wrong_for_a_moment_does_not_silence_a_schedule(missed: Missed) -> None:
    process = Process({"hourly": ("0 * * * *", "UTC", missed)})
    process.look(BEGIN + 30_000)
    process.look(BEGIN + 400 * 86_400_000 + 1_800_000)  # next year, says the clock
    process.look(BEGIN + 60_000)
    process.restart()
    process.pass_to(BEGIN + 60_000, BEGIN + 3 * 3_600_000, Random(0))
    hours = {BEGIN + hour * 3_600_000 for hour in (1, 2, 3)}
    assert hours <= {time for _, time in process.fired()}


async def test_a_store_that_was_closed_for_hours_fires_what_each_policy_says(tmp_path: Path) -> None:
    now = at("2026-05-04T08:30:00")
    schedules = (OnSchedule("0 * * * *", "Europe/Berlin", policy) for policy in POLICIES)
    triggers = {str(on.missed): Trigger(on.missed, "w", on) for on in schedules}
    bundle = bundle_of(library(w=chain(1)), "w")

    async def host() -> SqliteHost:
        return await SqliteHost.open(tmp_path / "runs.db", workers=TrivialWorkers(work), clock=lambda: now)

    async def due(host: SqliteHost, policy: str) -> list[str]:
        return sorted(firing.source or "" for firing in await host.reads.firings(trigger=policy))

    first = await host()
    await first.deploy(bundle, "w")
    await first.deploy_triggers(triggers)
    await first.idle()
    assert await first.reads.firings() == []
    now = at("2026-05-04T09:00:10")
    await first.idle()
    await first.close()
    now = at("2026-05-04T12:20:00")
    second = await host()
    await second.deploy_triggers(triggers)  # once more changes nothing
    await second.idle()
    hours = [f"2026-05-04T{hour:02}:00:00.000Z" for hour in (9, 10, 11, 12)]
    assert (await due(second, "skip"), await due(second, "once")) == (hours[:1], [hours[0], hours[3]])
    assert await due(second, "all") == hours
    await second.idle()
    rows = await second.reads.rows()
    assert len(rows) == len(await second.reads.firings()) == 7
    assert {row.status for row in rows} <= {"completed", "failed"}
    assert all(row.trigger is not None and row.trigger.type == "schedule" for row in rows)
    await second.close()


async def test_a_schedule_that_is_changed_looks_at_nothing_that_was_before(tmp_path: Path) -> None:
    now = at("2026-05-04T08:30:00")
    host = await SqliteHost.open(tmp_path / "runs.db", workers=TrivialWorkers(work), clock=lambda: now)
    await host.deploy(bundle_of(library(w=chain(1)), "w"), "w")
    await host.deploy_triggers({"s": Trigger("s", "w", OnSchedule("@daily", missed="all"))})
    now = at("2026-05-04T12:30:00")
    await host.deploy_triggers({"s": Trigger("s", "w", OnSchedule("@hourly", missed="all"))})
    await host.idle()
    assert await host.reads.firings() == []
    await host.close()
