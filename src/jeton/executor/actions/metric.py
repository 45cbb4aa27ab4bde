"""`metric`: a number, kept with its run and shown to Prometheus."""

import math
import re
from collections.abc import Iterator

from jeton.executor.action import ActionCall, ActionFailed, ActionHandler, Kind, KindProblem
from jeton.executor.event_sink import MetricSample, MetricType
from jeton.model.json import Json, JsonObject

NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
LONGEST_LABEL = 128


class Metric(Kind, frozen=True):
    """Labels are named here and given in the input: their number must not grow with what comes in."""

    name: str
    type: MetricType = "counter"
    labels: tuple[str, ...] = ()

    def problems(self) -> Iterator[KindProblem]:
        if not NAME.fullmatch(self.name):
            yield KindProblem("name", f"{self.name!r} cannot name a metric", "write letters, digits, '_' and ':'")
        for index, label in enumerate(self.labels):
            if not LABEL.fullmatch(label) or label.startswith("__"):
                yield KindProblem(f"labels[{index}]", f"{label!r} cannot name a label", "write letters, digits and '_'")

    def prepare(self) -> ActionHandler:
        async def act(call: ActionCall) -> Json | ActionFailed:
            given = call.input if isinstance(call.input, dict) else {}
            value = given.get("value", 1 if self.type == "counter" else None)
            if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
                return ActionFailed("input_invalid", "needs a 'value', which is a number")
            if self.type == "counter" and value < 0:
                return ActionFailed("input_invalid", f"a counter only grows, and 'value' is {value}")
            labels = self._labels(given)
            if isinstance(labels, ActionFailed):
                return labels
            made = call.call
            key, number = made.idempotency_key, float(value)
            measured = MetricSample(key, self.name, self.type, number, labels, made.run, made.node)
            await call.resources.event_sink.measure(measured)
            return {"name": self.name, "value": value}

        return act

    def _labels(self, given: JsonObject) -> dict[str, str] | ActionFailed:
        labels: dict[str, str] = {}
        for name in self.labels:
            value = given.get(name)
            if not isinstance(value, str | int) or len(str(value)) > LONGEST_LABEL:
                problem = f"needs '{name}', a text of up to {LONGEST_LABEL} letters or a whole number, for the label"
                return ActionFailed("input_invalid", problem)
            labels[name] = str(value)
        return labels
