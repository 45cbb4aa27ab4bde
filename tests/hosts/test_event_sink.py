"""Events and metrics of actions: stored once per call, and removed with their run."""

from pathlib import Path

from jeton.actor.retention import Rule
from jeton.actor.starts import NewRun
from jeton.executor.event_sink import ActionEvent, CurrentMetric, MetricSample, MetricType
from jeton.model.ids import RunId
from tests.hosts.conftest import OpenHost
from tests.hosts.library import chain, library

RUN = RunId("r1")
EVERYTHING = Rule("run", -1_000)


def placed(id: str, run: RunId = RUN, event: str = "order.placed") -> ActionEvent:
    return ActionEvent(id, event, {"order": id}, run, "tell")


def measured(id: str, value: float, type: MetricType = "counter", run: RunId = RUN, **labels: str) -> MetricSample:
    return MetricSample(id, f"a_{type}", type, value, labels, run, "count")


async def test_an_event_is_kept_once_and_in_order(open_host: OpenHost) -> None:
    host = await open_host()
    events = [placed("b"), placed("a"), placed("c", RunId("r2")), placed("d", event="order.paid")]
    for event in (*events, *events):
        await host.events.emit(event)
    await host.close(0.0)
    host = await open_host()
    assert [found.emitted for found in await host.reads.published()] == events
    assert [found.emitted.id for found in await host.reads.published(run=RUN)] == ["b", "a", "d"]
    assert [found.emitted.id for found in await host.reads.published(event="order.placed")] == ["b", "a", "c"]
    second = (await host.reads.published())[1]
    assert [found.emitted.id for found in await host.reads.published(run=RUN, after=second.number)] == ["d"]
    assert [found.emitted.id for found in await host.reads.published(limit=1)] == ["b"]


async def test_a_counter_is_the_sum_of_its_calls_and_a_gauge_the_latest(open_host: OpenHost) -> None:
    host = await open_host()
    other = RunId("r2")
    for number in (
        measured("1", 2, region="eu"),
        measured("2", 3, region="eu"),
        measured("2", 3, region="eu"),  # made again after a crash
        measured("3", 1, region="us"),
        measured("4", 9, "gauge"),
        measured("5", 4, "gauge"),
        measured("6", 10, run=other, region="eu"),
        measured("7", 1, "gauge", run=other),
        measured("5", 4, "gauge"),
    ):
        await host.events.measure(number)
    await host.close(0.0)
    host = await open_host()
    assert await host.reads.metrics(RUN) == [
        CurrentMetric("a_counter", "counter", 5, {"region": "eu"}),
        CurrentMetric("a_counter", "counter", 1, {"region": "us"}),
        CurrentMetric("a_gauge", "gauge", 4, {}),
    ]
    assert await host.reads.metrics() == [
        CurrentMetric("a_counter", "counter", 15, {"region": "eu"}),
        CurrentMetric("a_counter", "counter", 1, {"region": "us"}),
        CurrentMetric("a_gauge", "gauge", 1, {}),
    ]


async def test_both_go_with_their_run_and_a_counter_over_all_runs_stays(open_host: OpenHost, path: Path) -> None:
    host = await open_host()
    version = await host.deploy(library(w=chain(1)), "w")
    run, _ = await host.start(NewRun("w", version, {"n": 0}))
    await host.ended(run)
    await host.events.emit(placed("a", run))
    await host.events.emit(placed("b", RunId("another")))
    await host.events.measure(measured("a", 2, run=run))
    assert (await host.prune([EVERYTHING])).runs == 1
    assert [found.emitted.id for found in await host.reads.published()] == ["b"]
    assert await host.reads.metrics(run) == []
    assert await host.reads.metrics() == [CurrentMetric("a_counter", "counter", 2, {})]
    await host.events.measure(measured("c", 1))
    assert await host.reads.metrics() == [CurrentMetric("a_counter", "counter", 3, {})]
