"""Numbers for Prometheus. What is counted is counted as it happens; a scrape reads no run's row."""

import asyncio
import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
    SummaryMetricFamily,
)
from prometheus_client.registry import Collector

from jeton.actor.queries.vitals import Vitals
from jeton.api.problems import STATUSES
from jeton.api.watching.tally import Histogram as Seconds
from jeton.api.watching.tally import Tally
from jeton.engine.engine import Engine
from jeton.engine.views.published import MetricValue
from jeton.telemetry.sinks.follow import Outcome

log = logging.getLogger("jeton.server")

PERIOD_S = 5
HTTP_SECONDS = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30)
METHODS = frozenset({"GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"})
DOOR = frozenset({401, 403, 421, 429, 431})
_NO_NAME = re.compile(r"[^a-zA-Z0-9_]")


class Metrics:
    """The numbers of one server, in a registry of their own."""

    def __init__(self, engine: Engine, streams: Mapping[str, int], dropped: Mapping[str, int]) -> None:
        self._engine = engine
        self._tally: Tally | None = None
        self._counting = asyncio.Lock()
        self._watched = asyncio.Event()
        self.begun = asyncio.Event()  # the runs were counted: what they do from here on is too
        self._streams = streams
        self._dropped = dropped
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "jeton_http_requests", "Requests.", ["route", "method", "status"], registry=self._registry
        )
        self._seconds = Histogram(
            "jeton_http_seconds", "Time per request.", ["route"], buckets=HTTP_SECONDS, registry=self._registry
        )
        self._refused = Counter(
            "jeton_auth_refused", "Requests that did not pass the door.", ["code"], registry=self._registry
        )
        self._sent = Counter(
            "jeton_sink_events", "Events that were sent to sinks.", ["sink", "outcome"], registry=self._registry
        )

    async def follow(self) -> None:
        """Count the runs there are, once; and when somebody watches, read the line again and again.

        So a scrape has little to read, and a server that nobody watches reads nothing."""
        await self._caught_up(only_begin=True)
        self.begun.set()
        await self._watched.wait()
        while True:
            await asyncio.sleep(PERIOD_S)
            try:
                await self._caught_up()
            except Exception:
                log.exception("the line could not be read for metrics")

    async def _caught_up(self, *, only_begin: bool = False) -> Tally:
        async with self._counting:
            if self._tally is None:
                self._tally = Tally(self._engine, await self._engine.census())
            if not only_begin:
                await self._tally.catch_up()
            return self._tally

    def counted(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        self._requests.labels(route, method if method in METHODS else "other", str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def sent(self, sink: str, outcome: Outcome) -> None:
        """Count what came of sending an event to a sink."""
        self._sent.labels(sink, outcome).inc()

    def refused(self, code: str) -> None:
        """Count a refusal, if it is one of the door."""
        if STATUSES.get(code) in DOOR:  # type: ignore[call-overload]
            self._refused.labels(code).inc()

    async def text(self) -> bytes:
        """All numbers, as Prometheus reads them."""
        self._watched.set()
        tally = await self._caught_up()
        vitals = await self._engine.vitals()
        families = [
            *_of_host(vitals),
            _gauge("streams", "Open streams.", ["kind"], _single(self._streams)),
            _counter("streams_dropped", "Streams that were dropped.", ["code"], _single(self._dropped)),
            *_of_runs(tally),
            *_of_users(await self._engine.metrics()),
        ]
        registry = CollectorRegistry()
        registry.register(_Families(families))
        return generate_latest(self._registry) + generate_latest(registry)


class _Families(Collector):
    """Values that were read just now."""

    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = list(families)

    def collect(self) -> Iterator[Metric]:
        yield from self._families


def _of_host(vitals: Vitals) -> list[Metric]:
    return [
        _counter("commits", "Commits to the store.", [], {(): vitals.commits}),
        _summary("commit_seconds", "Time of commits.", vitals.commits, vitals.commit_s),
        _summary("commit_entries", "Journal entries of commits.", vitals.commits, vitals.commit_entries),
        _gauge("actors_live", "Runs in memory.", [], {(): vitals.actors}),
        _gauge("tasks_in_flight", "Attempts that a worker has.", [], {(): vitals.tasks}),
        _gauge("inbox_messages", "Messages that wait to be taken up.", [], {(): vitals.inbox}),
        _gauge("store_bytes", "Size of the store and its log.", [], {(): vitals.bytes}),
    ]


def _of_runs(tally: Tally) -> list[Metric]:
    return [
        _gauge("runs", "Runs.", ["workflow", "status"], tally.runs),
        _counter("runs_started", "Runs that were started.", ["workflow", "trigger"], tally.started),
        _counter("runs_ended", "Runs that ended.", ["workflow", "status"], tally.ended),
        _histogram("run_seconds", "Time from start to end.", "workflow", tally.run_s),
        _counter("nodes_ended", "Nodes that ended.", ["workflow", "node", "status"], tally.nodes),
        _histogram("task_seconds", "Time of tasks, from dispatch to their end.", "action", tally.task_s),
        _counter("retries", "Tasks, and calls within a task, that were repeated.", ["kind"], _single(tally.retries)),
        _gauge("gates_open", "Gates that wait for people.", [], {(): tally.gates}),
        _counter("firings", "Deliveries to triggers.", ["trigger", "outcome"], tally.firings),
        _counter("credits_used", "Credits that nodes cost.", ["workflow"], _single(tally.credits)),
        _counter("model_tokens", "Tokens of model calls.", ["profile", "direction"], tally.tokens),
    ]


def _of_users(metrics: Iterable[MetricValue]) -> list[Metric]:
    """Metrics of actions. Their labels are users' data and are left out: the values of all labels are added up."""
    sums: dict[tuple[str, str], float] = {}
    for each in metrics:
        name = "user_" + _NO_NAME.sub("_", each.name)
        sums[name, each.type] = sums.get((name, each.type), 0.0) + each.value
    found = dict[str, Metric]()
    for (name, kind), value in sums.items():
        make = _counter if kind == "counter" else _gauge
        found.setdefault(name.removesuffix("_total"), make(name, "A metric of actions.", [], {(): value}))
    return list(found.values())


def _single(counts: Mapping[str, int]) -> dict[tuple[str, ...], float]:
    return {(name,): count for name, count in counts.items()}


def _counter(name: str, text: str, labels: list[str], values: Mapping[Any, float]) -> Metric:
    family = CounterMetricFamily(f"jeton_{name}", text, labels=labels)
    for of, value in values.items():
        family.add_metric(list(of), value)
    return family


def _gauge(name: str, text: str, labels: list[str], values: Mapping[Any, float]) -> Metric:
    family = GaugeMetricFamily(f"jeton_{name}", text, labels=labels)
    for of, value in values.items():
        family.add_metric(list(of), value)
    return family


def _summary(name: str, text: str, count: int, total: float) -> Metric:
    return SummaryMetricFamily(f"jeton_{name}", text, count_value=count, sum_value=total)


def _histogram(name: str, text: str, label: str, values: Mapping[str, Seconds]) -> Metric:
    family = HistogramMetricFamily(f"jeton_{name}", text, labels=[label])
    for of, seconds in values.items():
        family.add_metric([of], seconds.buckets(), seconds.sum)
    return family
