"""The tables of events and metrics that actions publish: one row per call, however often it is repeated."""

from collections.abc import Callable
from functools import partial

import msgspec

from jeton.actor.rows import Published
from jeton.actor.whole.digests import row_digest
from jeton.executor.event_sink import ActionEvent, CurrentMetric, MetricSample, MetricType
from jeton.hosts.sql.connection import Connection, Transact, upsert
from jeton.hosts.sql.store import Store
from jeton.model.ids import RunId

_encode = msgspec.json.Encoder(order="deterministic").encode
_labels = msgspec.json.Decoder(dict[str, str]).decode

_EMIT = (
    "insert into emitted(number, id, run, node, event, data, at, digest) values(?, ?, ?, ?, ?, ?, ?, ?)"
    " on conflict do nothing"
)
_MEASURE = (
    "insert into measured(number, id, run, node, name, type, labels, value, at, digest)"
    " values(?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing returning 1"
)
_METRIC = "select value from metrics where name = ? and labels = ?"
_PUT_METRIC = upsert("metrics", ("name", "labels"), ("type", "value", "digest"))


class SqlEventSink:
    """Fulfils `jeton.executor.event_sink.EventSink`."""

    def __init__(self, transact: Transact, clock: Callable[[], int], on_published: Callable[[], None]) -> None:
        self._transact = transact
        self._clock = clock
        self._on_published = on_published

    async def emit(self, emitted: ActionEvent) -> None:
        await self._transact(partial(_emit, emitted=emitted, at=self._clock()))
        self._on_published()

    async def measure(self, measured: MetricSample) -> None:
        await self._transact(partial(_measure, measured=measured, at=self._clock()))


def published_events(store: Store, run: RunId | None, event: str | None, after: int, limit: int) -> list[Published]:
    """Published events behind a number, oldest first: of a run, of a name, or all."""
    wanted = {column: value for column, value in (("run", run), ("event", event)) if value is not None}
    conditions = "".join(f" and {column} = ?" for column in wanted)
    query = (
        f"select number, at, id, event, data, run, node from emitted"
        f" where number > ? and number <= ?{conditions} order by number limit ?"
    )
    with store.snapshot() as db:
        last = db.dialect.last_number(db, "emitted")  # what comes later has a greater number
        return [
            Published(number, at, ActionEvent(id, name, msgspec.json.decode(data), RunId(of), node))
            for number, at, id, name, data, of, node in db.execute(query, (after, last, *wanted.values(), limit))
        ]


def current_metrics(store: Store, run: RunId | None) -> list[CurrentMetric]:
    """Metrics by name and labels: of a run, or of all runs there ever were."""
    of_all = "select name, type, value, labels from metrics order by name, labels"
    of_run = "select name, type, value, labels from measured where run = ? order by name, labels, number"
    with store.snapshot() as db:
        if run is None:
            return [
                CurrentMetric(name, type, value, _labels(labels)) for name, type, value, labels in db.execute(of_all)
            ]
        found: dict[tuple[str, str], tuple[MetricType, float]] = {}
        for name, type, value, labels in db.execute(of_run, (run,)):
            before = found[name, labels][1] if (name, labels) in found else 0.0
            found[name, labels] = type, before + value if type == "counter" else value
    return [
        CurrentMetric(name, type, value, _labels(labels)) for (name, labels), (type, value) in sorted(found.items())
    ]


def _emit(db: Connection, emitted: ActionEvent, at: int) -> None:
    (number,) = db.dialect.next_numbers(db, "emitted")
    row = number, emitted.id, emitted.run, emitted.node, emitted.event, _encode(emitted.data), at
    db.execute(_EMIT, (*row, row_digest("emitted", *row)))


def _measure(db: Connection, measured: MetricSample, at: int) -> None:
    labels = _encode(measured.labels).decode()
    value = float(measured.value) + 0.0  # SQLite has no -0.0
    (number,) = db.dialect.next_numbers(db, "measured")
    row = number, measured.id, measured.run, measured.node, measured.name, measured.type, labels, value, at
    if not list(db.execute(_MEASURE, (*row, row_digest("measured", *row)))):
        return  # the call is made again
    db.dialect.lock(db, f"metric {measured.name}")
    known: float | None = db.execute(_METRIC, (measured.name, labels)).get
    if measured.type == "counter" and known is not None:
        value = known + value
    metric = measured.name, labels, measured.type, value
    db.execute(_PUT_METRIC, (*metric, row_digest("metrics", *metric)))
