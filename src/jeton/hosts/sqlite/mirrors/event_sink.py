"""The tables of events and metrics that actions publish: one row per call, however often it is repeated."""

from collections.abc import Callable
from functools import partial

import msgspec

from jeton.actor.rows import Published
from jeton.executor.event_sink import ActionEvent, CurrentMetric, MetricSample
from jeton.hosts.sqlite.file.connect import Connection, Transact
from jeton.hosts.sqlite.store import Store
from jeton.model.ids import RunId

_encode = msgspec.json.Encoder(order="deterministic").encode
_labels = msgspec.json.Decoder(dict[str, str]).decode


class SqliteEventSink:
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
        f"select number, at, id, event, data, run, node from emitted where number > ?{conditions}"
        " order by number limit ?"
    )
    with store.snapshot() as db:
        return [
            Published(number, at, ActionEvent(id, name, msgspec.json.decode(data), RunId(of), node))
            for number, at, id, name, data, of, node in db.execute(query, (after, *wanted.values(), limit))
        ]


def current_metrics(store: Store, run: RunId | None) -> list[CurrentMetric]:
    """Metrics by name and labels: of a run, or of all runs there ever were."""
    of_all = "select name, type, value, labels from metrics order by name, labels"
    of_run = (
        # max() makes SQLite take the other columns from the latest row of a group
        "select name, type, case type when 'counter' then sum(value) else value end, labels, max(number)"
        " from measured where run = ? group by name, labels order by name, labels"
    )
    with store.snapshot() as db:
        rows = db.execute(of_all) if run is None else db.execute(of_run, (run,))
        return [CurrentMetric(name, type, value, _labels(labels)) for name, type, value, labels, *_ in rows]


def _emit(db: Connection, emitted: ActionEvent, at: int) -> None:
    insert = (
        "insert or ignore into emitted(number, id, run, node, event, data, at, digest)"
        " select n, ?1, ?2, ?3, ?4, ?5, ?6, row_digest('emitted', n, ?1, ?2, ?3, ?4, ?5, ?6)"
        " from (select coalesce(max(seq), 0) + 1 as n from sqlite_sequence where name = 'emitted')"
    )
    db.execute(insert, (emitted.id, emitted.run, emitted.node, emitted.event, _encode(emitted.data), at))


def _measure(db: Connection, measured: MetricSample, at: int) -> None:
    labels = _encode(measured.labels).decode()
    insert = (
        "insert or ignore into measured(number, id, run, node, name, type, labels, value, at, digest)"
        " select n, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, row_digest('measured', n, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"
        " from (select coalesce(max(number), 0) + 1 as n from measured) returning 1"
    )
    kind = (measured.name, measured.type, labels, float(measured.value) + 0.0)  # SQLite has no -0.0
    new = list(db.execute(insert, (measured.id, measured.run, measured.node, *kind, at)))
    if new:
        value = "case excluded.type when 'counter' then value + excluded.value else excluded.value end"
        db.execute(
            "insert into metrics(name, type, labels, value, digest)"
            " values(?1, ?2, ?3, ?4, row_digest('metrics', ?1, ?3, ?2, ?4))"
            f" on conflict(name, labels) do update set value = {value}, type = excluded.type,"
            f" digest = row_digest('metrics', name, labels, excluded.type, {value})",
            kind,
        )
