"""Events as plain data: one sequence without holes, one terminal event, last."""

import re

import msgspec

from jeton.engine.views.events import events_in, trace_in
from jeton.model.json import JsonObject
from jeton.model.state.run import TERMINAL
from tests.engine.views.journals import PANEL, told

PANELLED = told(PANEL, {"judges": ["a", "b", "c"]})
EVENTS = list(events_in(PANELLED.head.run, PANELLED.entries))


def test_the_sequence_has_no_holes() -> None:
    assert [event["seq"] for event in EVENTS] == list(range(len(EVENTS)))


def test_submitted_comes_first_and_one_terminal_event_last() -> None:
    assert EVENTS[0]["type"] == "run.submitted"
    ends = [event for event in EVENTS if str(event["type"]).removeprefix("run.") in TERMINAL]
    assert ends == [EVENTS[-1]]


def test_reading_goes_on_behind_any_event() -> None:
    for after in range(-1, len(EVENTS)):
        assert list(events_in(PANELLED.head.run, PANELLED.entries, after)) == EVENTS[after + 1 :]


def test_an_event_says_when_it_happened_and_in_which_run() -> None:
    for event in EVENTS:
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", str(event["at"]))
        assert event["run_id"] == "r"
        assert msgspec.json.encode(event)


def test_a_time_in_an_event_is_readable_too() -> None:
    nap = told({"initial_node": "a", "nodes": {"a": {"wait": {"seconds": 5}}}})
    timers = [event for event in events_in(nap.head.run, nap.entries) if event["type"] == "timer.set"]
    assert [str(event["due"])[-1] for event in timers] == ["Z"]


def test_a_trace_has_every_decision_and_no_place_in_the_sequence() -> None:
    traced: list[JsonObject] = [event for entry in PANELLED.entries for event in trace_in(PANELLED.head.run, entry)]
    assert len(traced) == sum(len(entry.decisions) for entry in PANELLED.entries)
    assert traced[0]["type"] == "decision.begin_run"
    assert not any("seq" in event for event in traced)
