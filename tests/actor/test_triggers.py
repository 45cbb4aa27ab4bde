"""Which schedule is due, and which event or end concerns which trigger."""

from typing import Any

import pytest

from jeton.actor.rows import Published, RunRow, TriggerRow
from jeton.actor.triggers import NEVER, EventTrigger, Schedule, TriggerTable, first_seen, plan_published
from jeton.executor.event_sink import ActionEvent
from jeton.model.definition.trigger import Cause, OnEvent, OnRunFinished, OnSchedule, Trigger
from jeton.model.ids import RunId
from jeton.model.message import StartRun
from jeton.planning.triggers.firing import Refusal, Startable

MINUTE = 60_000
NOON = 1_700_049_600_000  # 2023-11-15T12:00:00Z
TEXT = {0: "2023-11-15T12:00:00.000Z", 1: "2023-11-15T12:01:00.000Z", 2: "2023-11-15T12:02:00.000Z"}


def startable(trigger: Trigger) -> Startable | None:
    return None if trigger.start == "nowhere" else Startable(trigger.start, 1, None, {})


def trigger(on: Cause, name: str = "t", start: str = "c") -> Trigger:
    return Trigger(name, start, on)


def schedule(missed: Any = "skip", cron: str = "* * * * *") -> Schedule:
    on = OnSchedule(cron, missed=missed)
    return Schedule(trigger(on), on, NOON)


@pytest.mark.parametrize(
    ("missed", "now", "times"),
    [
        pytest.param("skip", NOON + MINUTE - 1, [], id="nothing before its time"),
        pytest.param("skip", NOON + MINUTE, [1], id="at its time, which is its delivery id"),
        pytest.param("all", NOON + 2 * MINUTE + 1, [1, 2], id="all that were missed"),
        pytest.param("once", NOON + 2 * MINUTE + 1, [2], id="one for all that were missed"),
    ],
)
def test_a_schedule(missed: str, now: int, times: list[int]) -> None:
    found = schedule(missed).take_due(now + 7, now)
    assert [delivery.id for delivery in found] == [TEXT[minute] for minute in times]
    assert all((delivery.source, delivery.at) == (delivery.id, now + 7) for delivery in found)


def test_a_schedule_fires_once_for_a_time_and_knows_the_next() -> None:
    found = schedule()
    assert found.next == NOON + MINUTE
    found.take_due(NOON + MINUTE, NOON + MINUTE)
    assert found.take_due(NOON + MINUTE + 1, NOON + MINUTE + 1) == []
    assert found.next == NOON + 2 * MINUTE


def test_a_clock_that_is_set_back_takes_the_schedule_with_it() -> None:
    found = schedule()
    found.take_due(NOON + MINUTE, NOON + MINUTE)
    found.take_due(NOON - 10 * MINUTE, NOON - 10 * MINUTE)
    assert found.next == NOON - 9 * MINUTE


def test_without_a_schedule_nothing_ever_fires_by_itself() -> None:
    assert TriggerTable([]).next_at == NEVER


ENDED = RunRow(RunId("r"), "w", 1, "completed", False, 1, 2, 3, None, 4)
TABLE = [
    TriggerRow(trigger(OnSchedule("* * * * *"), "each_minute"), NOON, "f"),
    TriggerRow(trigger(OnSchedule("0 * * * *"), "each_hour"), NOON, "f"),
    TriggerRow(trigger(OnEvent("told"), "hears"), 7, "f"),
    TriggerRow(trigger(OnRunFinished("w"), "after"), 0, "f"),
    TriggerRow(trigger(OnRunFinished("w"), "lost", "nowhere"), 0, "f"),
    TriggerRow(trigger(OnRunFinished("v"), "after_other"), 0, "f"),
]


def test_a_table_fires_the_schedules_that_are_due_and_says_how_far_they_are() -> None:
    table = TriggerTable(TABLE)
    assert table.next_at == NOON + MINUTE
    planned, seen = table.plan_schedules(5, NOON + MINUTE, startable)
    assert [each.trigger.name for each in planned] == ["each_minute"]
    assert isinstance(planned[0].firing, StartRun)
    assert seen == {"each_minute": NOON + MINUTE}
    assert table.plan_schedules(NOON + MINUTE, NOON + MINUTE, startable) == ([], {})


def test_an_end_concerns_the_triggers_of_its_workflow() -> None:
    planned = TriggerTable(TABLE).plan_ends([ENDED], 9, startable)
    assert [each.trigger.name for each in planned] == ["after", "lost"]
    assert [each.delivery.id for each in planned] == ["r", "r"]
    assert isinstance(planned[1].firing, Refusal)
    assert planned[1].firing.code == "unknown_workflow"


@pytest.mark.parametrize(
    ("condition", "fires"),
    [
        pytest.param("event.n > 1", True, id="one that fits"),
        pytest.param("event.n > 5", False, id="one that does not"),
        pytest.param("event.m > 5", False, id="one without the key"),
    ],
)
def test_an_event(condition: str, fires: bool) -> None:
    on = OnEvent("told", condition)
    event = Published(8, 5, ActionEvent("id", "told", {"n": 2}, RunId("r"), "node"))
    planned = plan_published(EventTrigger(trigger(on), on, 7), event, ENDED, 9, startable)
    assert (planned is not None) == fires
    assert TriggerTable(TABLE).events["hears"].seen == 7


TOLD, EACH = trigger(OnEvent("told")), trigger(OnSchedule("* * * * *"))


@pytest.mark.parametrize(
    ("of", "known", "seen"),
    [
        pytest.param(TOLD, None, 50, id="a new event trigger sees no event that was before"),
        pytest.param(EACH, None, 100, id="a new schedule sees no time that was before"),
        pytest.param(TOLD, TriggerRow(TOLD, 7, "f"), 7, id="the same one goes on"),
        pytest.param(TOLD, TriggerRow(EACH, 7, "f"), 50, id="one with another cause is new"),
        pytest.param(trigger(OnEvent("told"), start="d"), TriggerRow(TOLD, 7, "f"), 7, id="whatever it starts"),
    ],
)
def test_where_a_trigger_begins(of: Trigger, known: TriggerRow | None, seen: int) -> None:
    assert first_seen(of, known, 100, 50) == seen
