"""`metric`: a number with a name."""

import pytest

from jeton.executor import check_implementation
from jeton.executor.event_sink import MemoryEventSink, MetricSample
from jeton.model.definition.task import Action
from jeton.model.ids import RunId
from jeton.model.json import JsonObject
from tests.executor.actions.given_action import Bench, action, failed


async def test_a_number_is_measured_once(bench: Bench) -> None:
    given = action("metric", name="orders_total", labels=["region"])
    for _ in range(2):
        assert await bench.call(given, {"value": 3, "region": "eu"}) == {"name": "orders_total", "value": 3}
    event_sink = bench.resources.event_sink
    assert isinstance(event_sink, MemoryEventSink)
    expected = MetricSample("r1:7:1:s0", "orders_total", "counter", 3.0, {"region": "eu"}, RunId("r1"), "judge")
    assert [*event_sink.metrics] == [expected]


@pytest.mark.parametrize(
    ("type_", "input", "then"),
    [
        pytest.param("counter", {}, {"name": "m", "value": 1}, id="a counter counts one"),
        pytest.param("counter", {"value": -1}, None, id="and never down"),
        pytest.param("gauge", {"value": -1.5}, {"name": "m", "value": -1.5}, id="a gauge may be anything"),
        pytest.param("gauge", {}, None, id="but something"),
        pytest.param("gauge", {"value": True}, None, id="a boolean is no number"),
        pytest.param("gauge", {"value": "3"}, None, id="nor is a text"),
    ],
)
async def test_values(bench: Bench, type_: str, input: JsonObject, then: JsonObject | None) -> None:
    answer = await bench.call(action("metric", name="m", type=type_), input)
    if then is None:
        assert failed(answer).type == "input_invalid"
    else:
        assert answer == then


async def test_a_label_that_is_named_must_be_given(bench: Bench) -> None:
    answer = await bench.call(action("metric", name="m", labels=["region"]), {"region": ["eu"]})
    assert "needs 'region'" in failed(answer).message


@pytest.mark.parametrize(
    ("implementation", "paths"),
    [
        pytest.param({"name": "orders_total"}, [], id="nothing"),
        pytest.param({"name": "orders total"}, ["name"], id="a name with a space"),
        pytest.param({"name": "m", "labels": ["a-b", "__x"]}, ["labels[0]", "labels[1]"], id="labels"),
        pytest.param({"name": "m", "type": "histogram"}, ["type"], id="an unknown type"),
    ],
)
def test_check_at_load(implementation: JsonObject, paths: list[str]) -> None:
    assert [flaw.path for flaw in check_implementation(Action("metric", implementation))] == paths
