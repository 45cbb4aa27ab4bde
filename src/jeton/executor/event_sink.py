"""Where events and metrics of actions go. Each has an id, so that a repeated call counts once."""

from collections import deque
from typing import Literal, Protocol, TypeAlias

import msgspec

from jeton.model.ids import RunId
from jeton.model.json import Json

MAX_KEPT = 1000

MetricType: TypeAlias = Literal["counter", "gauge"]


class ActionEvent(msgspec.Struct, frozen=True):
    """A named event that an action published."""

    id: str
    event: str
    data: Json
    run: RunId
    node: str


class MetricSample(msgspec.Struct, frozen=True):
    """A measured value. A counter adds it to its sum, a gauge is set to it."""

    id: str
    name: str
    type: MetricType
    value: float
    labels: dict[str, str]
    run: RunId
    node: str


class CurrentMetric(msgspec.Struct, frozen=True):
    """The current value of a metric: the sum of a counter, the latest value of a gauge."""

    name: str
    type: MetricType
    value: float
    labels: dict[str, str]


class EventSink(Protocol):
    """Stores events and metrics. An id that was stored before is ignored."""

    async def emit(self, event: ActionEvent, /) -> None: ...

    async def measure(self, sample: MetricSample, /) -> None: ...


class MemoryEventSink:
    """The latest events and metrics, in memory."""

    def __init__(self) -> None:
        self.events: deque[ActionEvent] = deque(maxlen=MAX_KEPT)
        self.metrics: deque[MetricSample] = deque(maxlen=MAX_KEPT)

    async def emit(self, event: ActionEvent) -> None:
        if all(seen.id != event.id for seen in self.events):
            self.events.append(event)

    async def measure(self, sample: MetricSample) -> None:
        if all(seen.id != sample.id for seen in self.metrics):
            self.metrics.append(sample)
