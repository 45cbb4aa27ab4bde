"""`emit`: a named event, published once however often it is repeated."""

import pytest

from jeton.executor import check_implementation
from jeton.executor.event_sink import ActionEvent, MemoryEventSink
from jeton.model.definition.task import Action
from jeton.model.ids import RunId
from tests.executor.actions.given_action import Bench, action, failed


def event_sink(bench: Bench) -> MemoryEventSink:
    assert isinstance(bench.resources.event_sink, MemoryEventSink)
    return bench.resources.event_sink


async def test_the_input_is_the_event_s_data_and_a_repetition_changes_nothing(bench: Bench) -> None:
    given = action("emit", event="order.placed")
    for _ in range(2):
        assert await bench.call(given, {"order": 4}) == {"event": "order.placed", "id": "r1:7:1:s0"}
    assert [*event_sink(bench).events] == [ActionEvent("r1:7:1:s0", "order.placed", {"order": 4}, RunId("r1"), "judge")]


async def test_an_event_is_bounded(bench: Bench) -> None:
    answer = failed(await bench.call(action("emit", event="big"), {"x": "y" * 300_000}))
    assert (answer.type, "more than 262144" in answer.message) == ("too_large", True)


@pytest.mark.parametrize(
    ("event", "sound"),
    [("order.placed", True), ("a-b_c.d2", True), ("", False), ("a..b", False), ("a b", False), ("x" * 129, False)],
)
def test_names_of_events(event: str, sound: bool) -> None:
    flaws = check_implementation(Action("emit", {"event": event}))
    assert [flaw.path for flaw in flaws] == ([] if sound else ["event"])
