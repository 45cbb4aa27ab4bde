"""Where events that actions publish, and numbers that they measure, go. Each has an id, so a repetition is known."""

from collections import deque
from typing import Literal, Protocol, TypeAlias

import msgspec

from jeton.model.ids import RunId
from jeton.model.json import Json

MOST_KEPT = 1000

MetricType: TypeAlias = Literal["counter", "gauge"]


class ActionEvent(msgspec.Struct, frozen=True):
    """A named event, as an action published it."""

    id: str
    event: str
    data: Json
    run: RunId
    node: str


class MetricSample(msgspec.Struct, frozen=True):
    """A number, as an action measured it: a counter's is added, a gauge's replaces the one before."""

    id: str
    name: str
    type: MetricType
    value: float
    labels: dict[str, str]
    run: RunId
    node: str


class CurrentMetric(msgspec.Struct, frozen=True):
    """What a metric stands at: the sum of a counter, the latest value of a gauge."""

    name: str
    type: MetricType
    value: float
    labels: dict[str, str]


class EventSink(Protocol):
    """Takes what is published and measured; one of an id it has seen before changes nothing."""

    async def emit(self, emitted: ActionEvent) -> None: ...

    async def measure(self, measured: MetricSample) -> None: ...


class MemoryEventSink:
    """Keeps the latest of each for as long as the process lives."""

    def __init__(self) -> None:
        self.events: deque[ActionEvent] = deque(maxlen=MOST_KEPT)
        self.numbers: deque[MetricSample] = deque(maxlen=MOST_KEPT)

    async def emit(self, emitted: ActionEvent) -> None:
        if all(seen.id != emitted.id for seen in self.events):
            self.events.append(emitted)

    async def measure(self, measured: MetricSample) -> None:
        if all(seen.id != measured.id for seen in self.numbers):
            self.numbers.append(measured)
