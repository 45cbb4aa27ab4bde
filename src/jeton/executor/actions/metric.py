"""`metric`: record a value of a counter or a gauge."""

import math
import re
from collections.abc import Iterator

from jeton.executor.action import ActionCall, ActionFailed, ActionHandler, Kind, KindProblem
from jeton.executor.event_sink import MetricSample, MetricType
from jeton.model.json import Json, JsonObject

NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
MAX_LABEL_LENGTH = 128


class Metric(Kind, frozen=True):
    """The names of labels are fixed, and only their values come from the input, so that labels do not multiply."""

    name: str
    type: MetricType = "counter"
    labels: tuple[str, ...] = ()

    def problems(self) -> Iterator[KindProblem]:
        if not NAME.fullmatch(self.name):
            yield KindProblem("name", f"{self.name!r} is not a valid metric name", "write letters, digits, '_' and ':'")
        for index, label in enumerate(self.labels):
            if not LABEL.fullmatch(label) or label.startswith("__"):
                yield KindProblem(
                    f"labels[{index}]", f"{label!r} is not a valid label name", "write letters, digits and '_'"
                )

    def prepare(self) -> ActionHandler:
        async def act(call: ActionCall) -> Json | ActionFailed:
            given = call.input if isinstance(call.input, dict) else {}
            value = given.get("value", 1 if self.type == "counter" else None)
            if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
                return ActionFailed("input_invalid", "needs 'value', a number")
            if self.type == "counter" and value < 0:
                return ActionFailed("input_invalid", f"a counter cannot decrease, and 'value' is {value}")
            labels = self._labels(given)
            if isinstance(labels, ActionFailed):
                return labels
            current = call.call
            key, number = current.idempotency_key, float(value)
            sample = MetricSample(key, self.name, self.type, number, labels, current.run, current.node)
            await call.resources.event_sink.measure(sample)
            return {"name": self.name, "value": value}

        return act

    def _labels(self, given: JsonObject) -> dict[str, str] | ActionFailed:
        labels: dict[str, str] = {}
        for name in self.labels:
            value = given.get(name)
            if not isinstance(value, str | int) or len(str(value)) > MAX_LABEL_LENGTH:
                problem = (
                    f"needs '{name}', a string of up to {MAX_LABEL_LENGTH} characters or an integer, for the label"
                )
                return ActionFailed("input_invalid", problem)
            labels[name] = str(value)
        return labels
