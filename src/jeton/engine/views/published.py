"""Events and metrics that actions published."""

from datetime import datetime

import msgspec

from jeton.actor.rows import Published
from jeton.executor.event_sink import CurrentMetric, MetricType
from jeton.model.ids import RunId
from jeton.model.json import Json
from jeton.model.times import moment


class EmittedEvent(msgspec.Struct, frozen=True):
    """An event that an `emit` action published. `number` is its sequence number in the store."""

    number: int
    id: str
    event: str
    data: Json
    run_id: RunId
    node: str
    at: datetime


class MetricValue(msgspec.Struct, frozen=True):
    """The value of a metric: the sum of a counter, or the latest value of a gauge."""

    name: str
    type: MetricType
    value: float
    labels: dict[str, str]


def emitted_event(published: Published) -> EmittedEvent:
    made = published.emitted
    at = moment(published.at)
    return EmittedEvent(published.number, made.id, made.event, made.data, made.run, made.node, at)


def metric_value(number: CurrentMetric) -> MetricValue:
    return MetricValue(number.name, number.type, number.value, number.labels)
