"""What actions published and measured, as the engine shows it."""

from datetime import datetime

import msgspec

from jeton.actor.rows import Published
from jeton.executor.event_sink import CurrentMetric, MetricType
from jeton.model.ids import RunId
from jeton.model.json import Json
from jeton.model.times import moment


class EmittedEvent(msgspec.Struct, frozen=True):
    """An event that an `emit` action published. `number` is its place among all of the store."""

    number: int
    id: str
    event: str
    data: Json
    run_id: RunId
    node: str
    at: datetime


class MetricValue(msgspec.Struct, frozen=True):
    """What a `metric` stands at: the sum of a counter, the latest value of a gauge."""

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
