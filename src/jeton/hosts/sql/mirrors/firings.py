"""The tables of triggers and firings.

A firing is one transaction: its row, and the start of the run in the inbox. So the run starts once, whenever a process
dies, and the same delivery finds the row and starts nothing.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

import msgspec

from jeton.actor.firings import settle_firing, started_workflow
from jeton.actor.rows import FiringRow, TriggerRow
from jeton.actor.triggers import first_seen
from jeton.actor.whole.digests import row_digest
from jeton.hosts.sql.connection import Connection, upsert
from jeton.hosts.sql.inbox import put_messages
from jeton.hosts.sql.loop.ids import new_run_id
from jeton.hosts.sql.rows import Write
from jeton.hosts.sql.store import Store
from jeton.model.definition.trigger import OnRunFinished, Trigger
from jeton.model.ids import RunId
from jeton.model.state.run import TERMINAL
from jeton.planning.triggers.firing import Planned

_encode = msgspec.json.Encoder().encode
_trigger = msgspec.json.Decoder(Trigger).decode

_TRIGGERS = "select body, seen, origin from triggers"
_FIRING = "trigger, delivery, type, source, depth, at, run, code, problem"
_PUT_TRIGGER = upsert("triggers", ("name",), ("body", "seen", "origin", "digest"))


# writing; the caller has begun a transaction


def put_triggers(db: Connection, triggers: Mapping[str, Trigger], now: int, file: str = "") -> None:
    """Store triggers by name. `file` is where they are declared; without one, the origin is what they start."""
    _delete_unawaited(db)
    last_event = db.dialect.last_number(db, "emitted")
    for name, trigger in triggers.items():
        known = [
            TriggerRow(_trigger(body), *rest) for body, *rest in db.execute(f"{_TRIGGERS} where name = ?", (name,))
        ]
        seen = first_seen(trigger, known[0] if known else None, now, last_event)
        row = (name, _encode(trigger), seen, file or started_workflow(trigger))
        db.execute(_PUT_TRIGGER, (*row, row_digest("triggers", *row)))
    db.dialect.changed(db, "triggers")


def drop_undeclared(db: Connection, declared: Collection[str], origins: Iterable[str]) -> list[str]:
    """Remove triggers that were declared in these places and are not any more. Returns their names."""
    gone: list[str] = []
    for origin in origins:
        found = db.execute("select name from triggers where origin = ? order by name", (origin,))
        gone += [name for (name,) in found if name not in declared]
    for name in gone:
        drop_trigger(db, name)
    return gone


def drop_trigger(db: Connection, name: str) -> bool:
    """Remove a trigger. Returns False if there was none."""
    there = bool(list(db.execute("delete from triggers where name = ? returning 1", (name,))))
    db.dialect.changed(db, "triggers")
    _delete_unawaited(db)
    return there


def _delete_unawaited(db: Connection) -> None:
    """Delete ends that no trigger waits for any more, because a later trigger must not fire for them."""
    causes = [_trigger(body).on for (body,) in db.execute("select body from triggers")]
    awaited = {on.workflow for on in causes if isinstance(on, OnRunFinished)}
    ended = list(db.execute("select number, workflow from finished left join runs using(run)"))
    unawaited = [(number,) for number, workflow in ended if workflow not in awaited]
    db.executemany("delete from finished where number = ?", unawaited)


def set_disabled(db: Connection, workflow: str, disabled: bool, now: int) -> None:
    """Set whether triggers may start a workflow or flow."""
    if disabled:
        insert = "insert into disabled(workflow, since, digest) values(?, ?, ?) on conflict do nothing"
        db.execute(insert, (workflow, now, row_digest("disabled", workflow, now)))
    else:
        db.execute("delete from disabled where workflow = ?", (workflow,))


def put_firings(db: Connection, planned: Iterable[Planned]) -> list[FiringRow]:
    """Store the firings of deliveries. Returns their rows."""
    return [_put_firing(db, each) for each in planned]


def put_progress(db: Connection, planned: Sequence[Planned], seen: Mapping[str, int], finished: Sequence[int]) -> None:
    """Store the firings of deliveries, and how far their triggers have got."""
    put_firings(db, planned)
    for name, to in seen.items():
        for body, origin in list(db.execute("select body, origin from triggers where name = ?", (name,))):
            db.execute(_PUT_TRIGGER, (name, body, to, origin, row_digest("triggers", name, body, to, origin)))
    db.executemany("delete from finished where number = ?", [(number,) for number in finished])


def _put_firing(db: Connection, planned: Planned) -> FiringRow:
    trigger, delivery = planned.trigger, planned.delivery
    query = f"select {_FIRING} from firings where trigger = ? and delivery = ?"
    known = [FiringRow(*found) for found in db.execute(query, (trigger.name, delivery.id))]
    disabled = db.execute("select 1 from disabled where workflow = ?", (started_workflow(trigger),)).get is not None
    settled = settle_firing(planned, known[0] if known else None, disabled, new_run_id(delivery.at))
    row = settled.row
    if not settled.new:
        return row
    messages = [] if settled.start is None else [settled.start]
    if settled.to_cause is not None and _under_way(db, settled.to_cause.run):
        messages.append(settled.to_cause)
    if messages:
        put_messages(db, [(each.run, _encode(each.message)) for each in messages])
    if known:  # it was refused, which did not use the delivery up
        db.execute("delete from firings where trigger = ? and delivery = ?", (trigger.name, delivery.id))
    (number,) = db.dialect.next_numbers(db, "firings")
    stored = number, *msgspec.structs.astuple(row)[:-1]  # all but `again`
    marks = ", ".join("?" * (len(stored) + 1))
    insert = f"insert into firings(number, {_FIRING}, digest) values({marks})"
    db.execute(insert, (*stored, row_digest("firings", *stored)))
    return row


def _under_way(db: Connection, run: RunId) -> bool:
    """Whether a run has not ended; one that has ignores messages."""
    return db.execute("select 1 from runs where run = ? and ended_at is null", (run,)).get is not None


def put_finished(db: Connection, run: RunId) -> None:
    """Store the end of a run, until triggers have fired for it."""
    (number,) = db.dialect.next_numbers(db, "finished")
    insert = "insert into finished(number, run, digest) values(?, ?, ?) on conflict do nothing"
    db.execute(insert, (number, run, row_digest("finished", number, run)))


class FinishedMirror:
    """Stores the ends of runs that triggers wait for, in the commit that ends them.

    Fulfils `jeton.hosts.sql.rows.Mirror`."""

    def __init__(self) -> None:
        self.awaited: frozenset[str] = frozenset()

    def write(self, db: Connection, writes: Sequence[Write]) -> None:
        if not self.awaited:
            return
        for write in writes:
            head = write.turn.head
            if write.turn.entry is not None and head.workflow in self.awaited and head.status in TERMINAL:
                put_finished(db, head.run)


# reading


def triggers_in(store: Store) -> list[TriggerRow]:
    """All triggers, by name."""
    with store.snapshot() as db:
        found = list(db.execute(f"{_TRIGGERS} order by name"))
    return [TriggerRow(_trigger(body), seen, origin) for body, seen, origin in found]


def firings_in(store: Store, trigger: str | None, run: RunId | None, limit: int) -> list[FiringRow]:
    """Firings, newest first: of one trigger, or of all; or the one that started a run."""
    wanted = {column: value for column, value in (("trigger", trigger), ("run", run)) if value is not None}
    conditions = "".join(f" and {column} = ?" for column in wanted)
    query = f"select {_FIRING} from firings where true{conditions} order by number desc limit ?"
    with store.snapshot() as db:
        return [FiringRow(*found) for found in db.execute(query, (*wanted.values(), limit))]


def numbered_firings(db: Connection, trigger: str, before: int | None, limit: int) -> list[tuple[int, FiringRow]]:
    """Firings of a trigger with their numbers, newest first, before a number."""
    where, values = ("", ()) if before is None else (" and number < ?", (before,))
    query = f"select number, {_FIRING} from firings where trigger = ?{where} order by number desc limit ?"
    found = list(db.execute(query, (trigger, *values, limit)))
    return [(number, FiringRow(*rest)) for number, *rest in found]


def fired_by(store: Store, run: RunId, limit: int) -> list[FiringRow]:
    """The firings of the events that a run published, and of its end, oldest first."""
    query = f"select {_FIRING} from firings where source = ? and depth > 0 order by number limit ?"
    with store.snapshot() as db:
        return [FiringRow(*found) for found in db.execute(query, (run, limit))]


def disabled_in(store: Store) -> frozenset[str]:
    """The workflows and flows that no trigger may start."""
    with store.snapshot() as db:
        return frozenset(workflow for (workflow,) in db.execute("select workflow from disabled"))


def finished_in(store: Store, limit: int) -> list[tuple[int, RunId]]:
    """Ends of runs that triggers have yet to fire for, with their numbers."""
    with store.snapshot() as db:
        found = list(db.execute("select number, run from finished order by number limit ?", (limit,)))
    return [(number, RunId(run)) for number, run in found]
