"""Pruning of ended runs.

Each step is a short transaction between those of the runs, and pruning may stop after any of them: a history that is
half pruned has a summary of that half, and the hash chain goes on from there.
"""

from collections.abc import Sequence
from functools import partial

import msgspec

from jeton.actor.journal import decode_entry
from jeton.actor.retention import (
    EndedRun,
    OldFiring,
    Pruned,
    Rule,
    Summary,
    firing_prunable,
    prunable,
    summarise,
)
from jeton.actor.whole.digests import row_digest
from jeton.hosts.sql.connection import Connection, Transact, upsert
from jeton.hosts.sql.mirrors.idempotency import delete_steps
from jeton.hosts.sql.mirrors.memory.rows import forget_calls
from jeton.model.ids import RunId
from jeton.model.state.run import TERMINAL

ROWS_PER_STEP = 200
RUNS_PER_STEP = 50


# Events of a run that a trigger has not handled yet; only event triggers have a name in `on`.
_UNHANDLED_EVENTS = (
    "select 1 from emitted join triggers on {} = emitted.event"
    " where emitted.run = runs.run and emitted.number > triggers.seen"
)

_PUT_SUMMARY = upsert("summaries", ("run",), ("entries", "hash", "body", "digest"))
_summary = msgspec.json.Decoder(Summary).decode


async def prune(transact: Transact, rules: Sequence[Rule], now: int) -> Pruned:
    """Prune by the rules, step by step, and return free pages to the file system."""
    pruned = Pruned()
    for rule in rules:
        after = -1, RunId("")
        while page := await transact(partial(ended_runs, rule=rule, now=now, after=after)):
            for run in page:
                if prunable(rule, run, now):
                    await _prune_run(transact, run.run, rule, pruned)
            after = page[-1].position
        if rule.drop == "run":
            await _prune_firings(transact, rule, now, pruned)
    while await transact(_shrink):
        pass
    return pruned


async def count_prunable(transact: Transact, rules: Sequence[Rule], now: int) -> Pruned:
    """The number of runs that `prune` would remove."""
    pruned = Pruned()
    for rule in rules:
        after = -1, RunId("")
        while page := await transact(partial(ended_runs, rule=rule, now=now, after=after)):
            pruned.runs += sum(prunable(rule, run, now) for run in page) if rule.drop == "run" else 0
            after = page[-1].position
    return pruned


async def _prune_run(transact: Transact, run: RunId, rule: Rule, pruned: Pruned) -> None:
    if rule.drop == "history" and not await transact(partial(_has_final_snapshot, run=run)):
        pruned.kept += 1
        return
    while entries := await transact(partial(_prune_entries, run=run)):
        pruned.entries += entries
    if rule.drop == "run":
        pruned.runs += await transact(partial(_delete_run, run=run))


async def _prune_firings(transact: Transact, rule: Rule, now: int, pruned: Pruned) -> None:
    after = -1, -1
    while page := await transact(partial(_old_firings, until=now - rule.older_than_ms, after=after)):
        after = page[-1].position
        numbers = [firing.number for firing in page if firing_prunable(rule, firing)]
        await transact(partial(_delete_firings, numbers=numbers))
        pruned.firings += len(numbers)


def _old_firings(db: Connection, until: int, after: tuple[int, int]) -> list[OldFiring]:
    """A page of firings behind a position; `firing_prunable` decides about each."""
    query = (
        "select at, number, run is null, exists(select 1 from runs where runs.run = firings.run)"
        " or exists(select 1 from inbox where inbox.run = firings.run),"
        " not exists(select 1 from firings f where f.trigger = firings.trigger and f.number > firings.number)"
        " from firings where at <= ? and (at, number) > (?, ?) order by at, number limit ?"
    )
    found = db.execute(query, (until, *after, ROWS_PER_STEP))
    return [OldFiring(at, number, bool(refused), bool(kept), bool(last)) for at, number, refused, kept, last in found]


def _delete_firings(db: Connection, numbers: Sequence[int]) -> None:
    db.executemany("delete from firings where number = ?", [(number,) for number in numbers])


def ended_runs(db: Connection, rule: Rule, now: int, after: tuple[int, RunId]) -> list[EndedRun]:
    """A page of runs behind a position that the rule may prune; `prunable` decides about each.

    A run submitted after the limit cannot have ended before it, so the index on that time narrows the search."""
    statuses = sorted(rule.statuses & TERMINAL)
    marks = ", ".join("?" * len(statuses))
    query = (
        "select submitted_at, run, workflow, status, ended_at,"
        f" run in (select run from finished) or exists({_UNHANDLED_EVENTS.format(db.dialect.event_name)})"
        f" from runs where status in ({marks}) and submitted_at <= ?"
        " and (submitted_at, run) > (?, ?) and workflow = coalesce(?, workflow) order by submitted_at, run limit ?"
    )
    until = now - rule.older_than_ms
    found = db.execute(query, (*statuses, until, *after, rule.workflow, RUNS_PER_STEP))
    return [EndedRun(began, run, of, status, ended, bool(awaited)) for began, run, of, status, ended, awaited in found]


def _has_final_snapshot(db: Connection, run: RunId) -> bool:
    """Whether there is a snapshot of the run's end, which replaces the history."""
    query = "select count(*) from runs join snapshots using(run) where run = ? and number = entries - 1"
    return bool(db.execute(query, (run,)).get)


def _prune_entries(db: Connection, run: RunId) -> int:
    """Replace the first entries of an ended run by a summary. Returns their number."""
    query = "select number, hash, body, position from journal where run = ? order by number limit ?"
    rows = list(db.execute(query, (run, ROWS_PER_STEP)))
    if not rows:
        return 0
    summary = summary_of(db, run) or Summary()
    summarise(summary, run, (decode_entry(body) for _, _, body, _ in rows))
    last, last_hash, _, _ = rows[-1]
    put_summary(db, run, last + 1, last_hash, msgspec.json.encode(summary))
    db.dialect.forget_positions(db, [position for _, _, _, position in rows])
    db.execute("delete from journal where run = ? and number <= ?", (run, last))
    return len(rows)


def put_summary(db: Connection, run: RunId, entries: int, last_hash: bytes, body: bytes) -> None:
    """Store the summary of a run's first entries, which were pruned."""
    row = run, entries, last_hash, body
    db.execute(_PUT_SUMMARY, (*row, row_digest("summaries", *row)))


def summary_of(db: Connection, run: RunId) -> Summary | None:
    """The summary of a run's pruned entries; None if nothing was pruned."""
    body: bytes | None = db.execute("select body from summaries where run = ?", (run,)).get
    return None if body is None else _summary(body)


def _delete_run(db: Connection, run: RunId) -> bool:
    """Delete a run whose history was pruned. Its start key is kept, so that it starts no second run."""
    if db.execute("select count(*) from journal where run = ?", (run,)).get:
        return False
    version = list(db.execute("select workflow, version from runs where run = ?", (run,)))
    from jeton.hosts.sql.mirrors.typed.tables import Tables, stored_layout  # loaded when something is pruned

    layout = stored_layout(db, *version[0]) if version else None
    if layout is not None:
        Tables(layout).drop_run(db, run)
    for table in ("sections", "snapshots", "summaries", "inbox", "artifacts", "emitted", "measured", "runs"):
        db.execute(f"delete from {table} where run = ?", (run,))
    delete_steps(db, run)
    forget_calls(db, run)
    return bool(version)


def _shrink(db: Connection) -> bool:
    return db.dialect.shrink(db)
