"""Pruning of ended runs."""

from collections.abc import Sequence

from jeton.actor.retention import EndedRun, OldFiring, Pruned, Rule, firing_prunable, prunable
from jeton.actor.rows import FiringRow, RunRow
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
    """The runs that a rule prunes, oldest first."""
    awaited = set(store.triggers.ended)
    for row in store.triggers.rows():
        if isinstance(row.trigger.on, OnEvent):
            found = store.triggers.published(event=row.trigger.on.name, after=row.seen)
            awaited |= {each.emitted.run for each in found}
    ended = [(row, row.ended_at) for row in store.rows() if row.ended_at is not None]
    return [
        row
        for row, at in ended
        if prunable(rule, EndedRun(row.submitted_at, row.run, row.workflow, row.status, at, row.run in awaited), now)
    ]


def _prune_firings(store: Store, rule: Rule, now: int) -> int:
    firings = store.triggers.firings()
    latest = {row.trigger: row for row in firings}
    old: list[FiringRow] = []
    for number, row in enumerate(firings):
        kept = row.run is not None and store.has(row.run)
        firing = OldFiring(row.at, number, row.run is None, kept, row is latest[row.trigger])
        if row.at <= now - rule.older_than_ms and firing_prunable(rule, firing):
            old.append(row)
    for row in old:
        store.triggers.remove_firing(row)
    return len(old)
