"""Pruning of ended runs."""

from collections.abc import Sequence

from jeton.actor.retention import Pruned, Rule
from jeton.actor.rows import RunRow
from jeton.hosts.simulated.memory.store import Store
from jeton.model.definition.trigger import OnEvent


def prune(store: Store, rules: Sequence[Rule], now: int, *, dry_run: bool) -> tuple[Pruned, list[RunRow]]:
    """Carry out the rules, or only count the runs. Returns also the runs that are gone."""
    pruned, gone = Pruned(), list[RunRow]()
    for rule in rules:
        for row in _old_runs(store, rule, now):
            if dry_run:
                pruned.runs += rule.drop == "run"
            elif rule.drop == "history" and store.tables.snapshot_after(row.run) != row.entries - 1:
                pruned.kept += 1
            else:
                pruned.entries += store.remove_history(row.run)
                if rule.drop == "run":
                    store.remove(row.run)
                    pruned.runs += 1
                    gone.append(row)
        if rule.drop == "run" and not dry_run:
            pruned.firings += _prune_firings(store, rule, now)
    return pruned, gone


def _old_runs(store: Store, rule: Rule, now: int) -> list[RunRow]:
    """Runs of the rule, oldest first. One whose end, or event, a trigger is yet to fire for is left for later."""
    waiting = set(store.triggers.ended)
    for row in store.triggers.rows():
        if isinstance(row.trigger.on, OnEvent):
            found = store.triggers.published(event=row.trigger.on.name, after=row.seen)
            waiting |= {each.emitted.run for each in found}
    return [
        row
        for row in store.rows()
        if row.ended_at is not None
        and row.ended_at <= now - rule.older_than_ms
        and row.status in rule.statuses
        and rule.workflow in (None, row.workflow)
        and row.run not in waiting
    ]


def _prune_firings(store: Store, rule: Rule, now: int) -> int:
    """Remove firings whose run is gone, or that were refused; the latest of each trigger stays."""
    firings = store.triggers.firings()
    latest = {row.trigger: row for row in firings}
    old = [
        row
        for row in firings
        if row.at <= now - rule.older_than_ms
        and row is not latest[row.trigger]
        and (rule.of_all_runs if row.run is None else not store.has(row.run))
    ]
    for row in old:
        store.triggers.remove_firing(row)
    return len(old)
