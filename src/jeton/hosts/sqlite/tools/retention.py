"""What of ended runs is kept, and for how long.

Pruning goes in small steps, each a transaction of its own among those of the runs, and may stop after any of them: a
history that is half gone has a summary of the half, and the chain goes on from there.
"""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, Protocol

import msgspec

from jeton.actor.journal import decode_entry
from jeton.actor.retention import Pruned, Rule, Summary, summarise
from jeton.hosts.sqlite.file.connect import Connection
from jeton.hosts.sqlite.mirrors.typed.tables import Tables, stored_layout
from jeton.model.ids import RunId
from jeton.model.state.run import TERMINAL

ROWS_AT_ONCE = 200
RUNS_AT_ONCE = 50
PAGES_AT_ONCE = 200


class Transactions(Protocol):
    """The writer: carries something out in a transaction of its own."""

    def __call__(self, act: Callable[[Connection], Any], /) -> Awaitable[Any]: ...


# Events of a run that a trigger waits for and has not been told of; only those of events have a name in their cause.
_UNHEARD = (
    "select 1 from emitted join triggers on cast(triggers.body as text) ->> '$.on.name' = emitted.event"
    " where emitted.run = runs.run and emitted.number > triggers.seen"
)

_summary = msgspec.json.Decoder(Summary).decode


async def prune(do: Transactions, rules: Sequence[Rule], now: int) -> Pruned:
    """Carry out the rules, step by step, and give back the room."""
    pruned = Pruned()
    for rule in rules:
        after = -1, RunId("")
        while found := await do(partial(old_runs, rule=rule, now=now, after=after)):
            for began, run in found:
                await _prune_run(do, run, rule, pruned)
                after = began, run
        if rule.drop == "run":
            await _prune_firings(do, rule, now, pruned)
    while await do(_give_back):
        pass
    return pruned


async def count_prunable(do: Transactions, rules: Sequence[Rule], now: int) -> Pruned:
    """What `prune` would remove: the number of runs, counting none of their entries."""
    pruned = Pruned()
    for rule in rules:
        after = -1, RunId("")
        while found := await do(partial(old_runs, rule=rule, now=now, after=after)):
            pruned.runs += len(found) if rule.drop == "run" else 0
            after = found[-1]
    return pruned


async def _prune_run(do: Transactions, run: RunId, rule: Rule, pruned: Pruned) -> None:
    if rule.drop == "history" and not await do(partial(_is_safe, run=run)):
        pruned.kept += 1
        return
    while entries := await do(partial(_prune_some, run=run)):
        pruned.entries += entries
    if rule.drop == "run":
        pruned.runs += await do(partial(_forget, run=run))


async def _prune_firings(do: Transactions, rule: Rule, now: int, pruned: Pruned) -> None:
    """That a delivery fired is known for as long as the run that it started: until then the same one starts no other.

    A schedule's time, an event and an end need no firing to be known by: their triggers remember how far they got."""
    after = -1, -1
    while found := await do(partial(_old_firings, until=now - rule.older_than_ms, after=after)):
        after = found[-1]
        numbers = [number for _, number in found]
        pruned.firings += await do(partial(_forget_firings, numbers=numbers, refusals=rule.of_all_runs))


def _old_firings(db: Connection, until: int, after: tuple[int, int]) -> list[tuple[int, int]]:
    query = "select at, number from firings where at <= ? and (at, number) > (?, ?) order by at, number limit ?"
    return [(at, number) for at, number in db.execute(query, (until, *after, ROWS_AT_ONCE))]


def _forget_firings(db: Connection, numbers: Sequence[int], refusals: bool) -> int:
    """Of these, those whose run is gone, or that were refused; a trigger's latest stays, to say when that was."""
    delete = (
        "delete from firings where number = ? and case when run is null then ? else"
        " not exists(select 1 from runs where runs.run = firings.run)"
        " and not exists(select 1 from inbox where inbox.run = firings.run) end"  # it has not begun yet
        " and exists(select 1 from firings f where f.trigger = firings.trigger and f.number > firings.number)"
        " returning 1"
    )
    return sum(len(list(db.execute(delete, (number, refusals)))) for number in numbers)


def old_runs(db: Connection, rule: Rule, now: int, after: tuple[int, RunId]) -> list[tuple[int, RunId]]:
    """Runs of the rule behind one, and when they began: no run has ended before that.

    One whose end, or event, a trigger is yet to fire for is left for the next time."""
    statuses = sorted(rule.statuses & TERMINAL)
    marks = ", ".join("?" * len(statuses))
    until = now - rule.older_than_ms
    query = (
        f"select submitted_at, run from runs where status in ({marks}) and submitted_at <= ? and ended_at <= ?"
        f" and run not in (select run from finished) and not exists({_UNHEARD})"
        " and (submitted_at, run) > (?, ?) and (? is null or workflow = ?) order by submitted_at, run limit ?"
    )
    values = (*statuses, until, until, *after, rule.workflow, rule.workflow, RUNS_AT_ONCE)
    return [(began, RunId(run)) for began, run in db.execute(query, values)]


def _is_safe(db: Connection, run: RunId) -> bool:
    """Whether a snapshot of the end says what the history would."""
    query = "select count(*) from runs join snapshots using(run) where run = ? and number = entries - 1"
    return bool(db.execute(query, (run,)).get)


def _prune_some(db: Connection, run: RunId) -> int:
    """Turn the first entries of an ended run into a summary: how many there were."""
    query = "select number, hash, body from journal where run = ? order by number limit ?"
    rows = list(db.execute(query, (run, ROWS_AT_ONCE)))
    if not rows:
        return 0
    summary = summary_of(db, run) or Summary()
    summarise(summary, run, (decode_entry(body) for _, _, body in rows))
    last, last_hash, _ = rows[-1]
    insert = "insert or replace into summaries(run, entries, hash, body) values(?, ?, ?, ?)"
    db.execute(insert, (run, last + 1, last_hash, msgspec.json.encode(summary)))
    db.execute("delete from journal where run = ? and number <= ?", (run, last))
    return len(rows)


def summary_of(db: Connection, run: RunId) -> Summary | None:
    """What pruning left of a run's history; None if nothing was pruned."""
    body: bytes | None = db.execute("select body from summaries where run = ?", (run,)).get
    return None if body is None else _summary(body)


def _forget(db: Connection, run: RunId) -> bool:
    """Drop a run whose history is gone. Its start key stays: what was begun once is not begun again."""
    if db.execute("select count(*) from journal where run = ?", (run,)).get:
        return False
    version = list(db.execute("select workflow, version from runs where run = ?", (run,)))
    layout = stored_layout(db, *version[0]) if version else None
    if layout is not None:
        Tables(layout).drop_run(db, run)
    for table in ("sections", "snapshots", "summaries", "inbox", "artifacts", "emitted", "measured", "runs"):
        db.execute(f"delete from {table} where run = ?", (run,))
    db.execute("delete from once where key >= ? and key < ?", (f"step:{run}:", f"step:{run};"))  # of its nodes
    return bool(version)


def _give_back(db: Connection) -> bool:
    """Return some of the room to the file system; whether there is more."""
    for _ in db.execute(f"pragma incremental_vacuum({PAGES_AT_ONCE})"):
        pass
    left: int = db.pragma("freelist_count")
    return left > PAGES_AT_ONCE
