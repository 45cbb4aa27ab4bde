"""Retention: which ended runs and firings are pruned, and the summary that is left. Hosts delete the rows."""

from collections.abc import Iterable
from typing import Literal, TypeAlias

import msgspec

from jeton.apply.record import events_of
from jeton.model.entry import Entry
from jeton.model.event import Fact, TokenCancelled, TokenCompleted, TokenCreated, TokenFailed, TokenTimedOut
from jeton.model.ids import RunId, TokenId
from jeton.model.state.run import TERMINAL, RunStatus
from jeton.model.times import rfc3339

Counts: TypeAlias = dict[str, dict[str, int]]
"""By node and status."""


UPLOADS_DAYS = 30
DAY_MS = 24 * 60 * 60 * 1000


def uploads_kept_from(now: int) -> str:
    """The first day whose uploads are kept without a run that holds them, in UTC."""
    return rfc3339(max(now - UPLOADS_DAYS * DAY_MS, 0))[:10]


class Rule(msgspec.Struct, frozen=True):
    """Of runs that ended longer ago than this, drop the history (record, context and summary stay), or everything."""

    drop: Literal["history", "run"]
    older_than_ms: int
    statuses: frozenset[RunStatus] = TERMINAL
    workflow: str | None = None

    @property
    def of_all_runs(self) -> bool:
        """Whether it concerns every workflow and every status."""
        return self.workflow is None and self.statuses >= TERMINAL


class EndedRun(msgspec.Struct, frozen=True):
    """A run as pruning sees it. `awaited`: a trigger has yet to fire for its end, or for an event it published."""

    submitted_at: int
    run: RunId
    workflow: str
    status: RunStatus
    ended_at: int
    awaited: bool

    @property
    def position(self) -> tuple[int, RunId]:
        """Its place in the order in which runs are pruned."""
        return self.submitted_at, self.run


def prunable(rule: Rule, run: EndedRun, now: int) -> bool:
    """Whether a rule prunes a run. One that a trigger has yet to fire for is left for the next time."""
    return (
        run.status in rule.statuses
        and run.status in TERMINAL
        and rule.workflow in (None, run.workflow)
        and run.ended_at <= now - rule.older_than_ms
        and not run.awaited
    )


class OldFiring(msgspec.Struct, frozen=True):
    """A firing as pruning sees it. `kept`: its run is stored, or its start is in the inbox."""

    at: int
    number: int
    refused: bool
    kept: bool
    latest: bool  # of its trigger

    @property
    def position(self) -> tuple[int, int]:
        """Its place in the order in which firings are pruned."""
        return self.at, self.number


def firing_prunable(rule: Rule, firing: OldFiring) -> bool:
    """Whether a rule that drops runs prunes an old firing.

    A firing is kept as long as the run that it started, so that the same delivery starts no other. Schedules, events
    and ends need no firing for that: their triggers store how far they have got. The latest of a trigger is kept."""
    if firing.latest:
        return False
    return rule.of_all_runs if firing.refused else not firing.kept


class Pruned(msgspec.Struct):
    """What was removed. `kept` counts runs whose history was kept, because they have no snapshot of their end."""

    entries: int = 0
    runs: int = 0
    kept: int = 0
    firings: int = 0


class Summary(msgspec.Struct):
    """What is left of pruned entries: the number of tokens at each node, by how they ended."""

    tokens: Counts = msgspec.field(default_factory=Counts)
    events: int = 0
    alive: dict[TokenId, str] = msgspec.field(default_factory=dict[TokenId, str])  # they end in later entries


def summarise(summary: Summary, run: RunId, entries: Iterable[Entry]) -> None:
    """Add entries that are about to be pruned to a summary."""
    for entry in entries:
        for event in events_of(run, entry):
            _add(summary, event.fact)


def _add(summary: Summary, fact: Fact) -> None:
    summary.events += 1
    match fact:
        case TokenCreated(token, node):
            summary.alive[token] = node
        case TokenCompleted(token):
            _count(summary, token, "completed")
        case TokenFailed(token):
            _count(summary, token, "failed")
        case TokenTimedOut(token):
            _count(summary, token, "timed_out")
        case TokenCancelled(token):
            _count(summary, token, "cancelled")
        case _:
            pass


def _count(summary: Summary, token: TokenId, status: str) -> None:
    counts = summary.tokens.setdefault(summary.alive.pop(token), {})
    counts[status] = counts.get(status, 0) + 1
