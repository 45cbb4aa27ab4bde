"""Triggers in the store, and what became of each delivery to them.

A firing is one transaction: the row that says so, and the start of the run in the inbox. Whoever dies afterwards, the
run begins, once; and the same delivery finds the row and fires nothing.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from jeton.hosts.sqlite.connect import Connection
from jeton.hosts.sqlite.ids import new_run_id
from jeton.hosts.sqlite.rows import Write
from jeton.hosts.sqlite.store import Store
from jeton.model.ids import RunId
from jeton.model.run import TERMINAL
from jeton.model.trigger import OnEvent, OnRunFinished, Trigger
from jeton.planning.firing import Delivery, Firing, Refusal, firing_depth

_encode = msgspec.json.Encoder().encode
_trigger = msgspec.json.Decoder(Trigger).decode

_FIRING = "number, trigger, delivery, type, source, depth, at, run, code, problem"


class FiringRow(msgspec.Struct, frozen=True):
    """What became of a delivery: a run, or why there is none."""

    number: int
    trigger: str
    delivery: str
    type: str
    source: str | None
    depth: int
    at: int
    run: RunId | None
    code: str | None
    problem: str | None


class TriggerRow(msgspec.Struct, frozen=True):
    """A trigger, and how far it has got: a schedule with time, an event's with what was published."""

    trigger: Trigger
    seen: int


class Planned(msgspec.Struct, frozen=True):
    """A delivery, and what it should lead to."""

    trigger: Trigger
    delivery: Delivery
    firing: Firing


# writing; the caller has begun a transaction


def put_triggers(db: Connection, triggers: Mapping[str, Trigger], now: int) -> None:
    """Store triggers by name. One whose cause is new, or changed, looks at nothing that was before."""
    for name, trigger in triggers.items():
        known = list(db.execute("select body, seen from triggers where name = ?", (name,)))
        if known and _trigger(known[0][0]).on == trigger.on:
            seen = known[0][1]
        elif isinstance(trigger.on, OnEvent):
            seen = db.execute("select coalesce(max(seq), 0) from sqlite_sequence where name = 'emitted'").get
        else:
            seen = now
        db.execute("insert or replace into triggers(name, body, seen) values(?, ?, ?)", (name, _encode(trigger), seen))


def drop_trigger(db: Connection, name: str) -> bool:
    """Whether there was one."""
    return bool(list(db.execute("delete from triggers where name = ? returning 1", (name,))))


def set_disabled(db: Connection, workflow: str, disabled: bool, now: int) -> None:
    if disabled:
        db.execute("insert or ignore into disabled(workflow, since) values(?, ?)", (workflow, now))
    else:
        db.execute("delete from disabled where workflow = ?", (workflow,))


def put_firings(db: Connection, planned: Iterable[Planned]) -> list[FiringRow]:
    """Make these true, and say what became of each. A delivery that has fired already is told what it fired."""
    return [_put_firing(db, each.trigger, each.delivery, each.firing) for each in planned]


def see_to(db: Connection, planned: Sequence[Planned], seen: Mapping[str, int], finished: Sequence[int]) -> None:
    """Firings, together with how far that brings their triggers."""
    put_firings(db, planned)
    db.executemany("update triggers set seen = ? where name = ?", [(to, name) for name, to in seen.items()])
    db.executemany("delete from finished where number = ?", [(number,) for number in finished])


def _put_firing(db: Connection, trigger: Trigger, delivery: Delivery, firing: Firing) -> FiringRow:
    query = f"select {_FIRING} from firings where trigger = ? and delivery = ?"
    for known in [FiringRow(*found) for found in db.execute(query, (trigger.name, delivery.id))]:
        if known.run is not None:
            return known
    workflow = trigger.start.partition("@")[0]
    if db.execute("select 1 from disabled where workflow = ?", (workflow,)).get is not None:
        firing = Refusal("disabled", f"'{workflow}' is disabled, and no trigger starts it", "enable it")
    run: RunId | None = None
    code = problem = None
    if isinstance(firing, Refusal):
        code, problem = firing.code, firing.problem
    else:
        run = new_run_id(delivery.at)
        db.execute("insert into inbox(run, body) values(?, ?)", (run, _encode(firing)))
    facts = (trigger.name, delivery.id, delivery.type, delivery.source, firing_depth(delivery), delivery.at)
    insert = "insert or replace into firings(trigger, delivery, type, source, depth, at, run, code, problem)"
    db.execute(f"{insert} values(?, ?, ?, ?, ?, ?, ?, ?, ?)", (*facts, run, code, problem))
    return FiringRow(db.last_insert_rowid(), *facts, run, code, problem)


class FinishedMirror:
    """Notes the ends of runs that triggers wait for, in the commit that ends them.

    Fulfils `jeton.hosts.sqlite.rows.Mirror`."""

    def __init__(self) -> None:
        self.awaited: frozenset[str] = frozenset()

    def await_by(self, triggers: Iterable[Trigger]) -> None:
        """Whose ends are to be noted from now on."""
        self.awaited = frozenset(each.on.workflow for each in triggers if isinstance(each.on, OnRunFinished))

    def write(self, db: Connection, writes: Sequence[Write]) -> None:
        if not self.awaited:
            return
        for write in writes:
            head = write.live.state.head
            if write.stored is not None and head.workflow in self.awaited and head.status in TERMINAL:
                db.execute("insert or ignore into finished(run) values(?)", (head.run,))


# reading


def triggers_in(store: Store) -> list[TriggerRow]:
    """All triggers, by name."""
    with store.snapshot() as db:
        found = list(db.execute("select body, seen from triggers order by name"))
    return [TriggerRow(_trigger(body), seen) for body, seen in found]


def firings_in(store: Store, trigger: str | None, run: RunId | None, limit: int) -> list[FiringRow]:
    """What became of deliveries, newest first: to one trigger, or to all; or the one that began a run."""
    query = (
        f"select {_FIRING} from firings where (?1 is null or trigger = ?1) and (?2 is null or run = ?2)"
        " order by number desc limit ?3"
    )
    with store.snapshot() as db:
        return [FiringRow(*found) for found in db.execute(query, (trigger, run, limit))]


def disabled_in(store: Store) -> frozenset[str]:
    """The workflows and flows that no trigger starts."""
    with store.snapshot() as db:
        return frozenset(workflow for (workflow,) in db.execute("select workflow from disabled"))


def finished_in(store: Store, limit: int) -> list[tuple[int, RunId]]:
    """Ends that triggers wait for, and have not fired for."""
    with store.snapshot() as db:
        found = list(db.execute("select number, run from finished order by number limit ?", (limit,)))
    return [(number, RunId(run)) for number, run in found]
