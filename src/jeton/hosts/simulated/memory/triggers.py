"""Triggers, published events and firings in memory."""

from collections.abc import Collection, Iterable, Mapping

import msgspec

from jeton.actor.firings import started_workflow
from jeton.actor.rows import FiringRow, Published, RunRow, TriggerRow
from jeton.actor.triggers import first_seen
from jeton.executor.event_sink import ActionEvent, CurrentMetric, MetricSample
from jeton.model.definition.trigger import OnRunFinished, Trigger
from jeton.model.ids import RunId

_labels = msgspec.json.Encoder(order="deterministic").encode


class TriggerStore:
    """Every method is one transaction."""

    def __init__(self) -> None:
        self._rows: dict[str, TriggerRow] = {}
        self.disabled: set[str] = set()
        self.ended: dict[RunId, RunRow] = {}  # ends that triggers wait for, and have not fired for
        self._published: dict[str, Published] = {}  # by id
        self._last = 0  # the number of the last event
        self._measured: dict[str, MetricSample] = {}  # by id
        self._firings: dict[tuple[str, str], FiringRow] = {}  # by trigger and delivery, oldest first

    # triggers

    def deploy(self, triggers: Mapping[str, Trigger], now: int, file: str, origins: Collection[str]) -> list[str]:
        """Store triggers, and remove what `origins` no longer declare. Returns the removed names."""
        gone = [name for name, row in sorted(self._rows.items()) if row.origin in origins and name not in triggers]
        for name in gone:
            del self._rows[name]
        self._forget_unawaited()
        for name, trigger in triggers.items():
            seen = first_seen(trigger, self._rows.get(name), now, self._last)
            self._rows[name] = TriggerRow(trigger, seen, file or started_workflow(trigger))
        return gone

    def remove(self, name: str) -> bool:
        """Remove a trigger. Returns False if there was none."""
        there = self._rows.pop(name, None) is not None
        self._forget_unawaited()
        return there

    def rows(self) -> list[TriggerRow]:
        """All triggers, by name."""
        return [row for _, row in sorted(self._rows.items())]

    def note_end(self, row: RunRow) -> None:
        """Keep the end of a run that a trigger waits for."""
        if row.workflow in self._awaited():
            self.ended[row.run] = row

    def _awaited(self) -> set[str]:
        causes = [row.trigger.on for row in self._rows.values()]
        return {on.workflow for on in causes if isinstance(on, OnRunFinished)}

    def _forget_unawaited(self) -> None:
        """Remove ends that no trigger waits for any more: one that comes later must not fire for them."""
        awaited = self._awaited()
        self.ended = {run: row for run, row in self.ended.items() if row.workflow in awaited}

    # firings

    def firing(self, trigger: str, delivery: str) -> FiringRow | None:
        """The result of a delivery."""
        return self._firings.get((trigger, delivery))

    def put_firing(self, row: FiringRow) -> None:
        """Store the result of a delivery. One that was refused before is the newest again."""
        self._firings.pop((row.trigger, row.delivery), None)
        self._firings[row.trigger, row.delivery] = row

    def put_progress(self, seen: Mapping[str, int], ended: Iterable[RunId]) -> None:
        """Store how far triggers have got."""
        for name, to in seen.items():
            self._rows[name] = msgspec.structs.replace(self._rows[name], seen=to)
        for run in ended:
            self.ended.pop(run, None)

    def firings(self) -> list[FiringRow]:
        """All of them, oldest first."""
        return list(self._firings.values())

    def remove_firing(self, row: FiringRow) -> None:
        """Remove the result of a delivery."""
        del self._firings[row.trigger, row.delivery]

    # what actions publish and measure

    def publish(self, emitted: ActionEvent, at: int) -> None:
        """Keep an event. The same one again changes nothing."""
        if emitted.id not in self._published:
            self._last += 1
            self._published[emitted.id] = Published(self._last, at, emitted)

    def published(self, run: RunId | None = None, event: str | None = None, after: int = 0) -> list[Published]:
        """Events behind a number, oldest first: of a run, of a name, or all."""
        return [
            each
            for each in self._published.values()
            if each.number > after and run in (None, each.emitted.run) and event in (None, each.emitted.event)
        ]

    def measure(self, measured: MetricSample) -> None:
        """Keep a sample. The same one again changes nothing."""
        self._measured.setdefault(measured.id, measured)

    def metrics(self, run: RunId | None) -> list[CurrentMetric]:
        """What was measured, by name and labels: in a run, or in all."""
        found: dict[tuple[str, bytes], CurrentMetric] = {}
        for sample in self._measured.values():
            if run in (None, sample.run):
                place = sample.name, _labels(sample.labels)
                before = found[place].value if place in found and sample.type == "counter" else 0
                found[place] = CurrentMetric(sample.name, sample.type, before + sample.value, sample.labels)
        return [found[place] for place in sorted(found)]

    def remove_events(self, run: RunId) -> None:
        """Remove the events that a run published. What was measured in it still counts in all."""
        self._published = {id: each for id, each in self._published.items() if each.emitted.run != run}
