"""Which ended runs are pruned, and what is left of them: rules and summaries. How rows are deleted is the host's."""

from collections.abc import Iterable
from typing import Literal, TypeAlias

import msgspec

from jeton.apply.record import events_of
from jeton.model.entry import Entry
from jeton.model.event import Fact, TokenCancelled, TokenCompleted, TokenCreated, TokenFailed, TokenTimedOut
from jeton.model.ids import RunId, TokenId
from jeton.model.state.run import TERMINAL, RunStatus

Counts: TypeAlias = dict[str, dict[str, int]]
"""By node and status."""


class Rule(msgspec.Struct, frozen=True):
    """Of runs that ended longer ago than this: drop the history, which leaves record, context and summary; or all."""

    drop: Literal["history", "run"]
    older_than_ms: int
    statuses: frozenset[RunStatus] = TERMINAL
    workflow: str | None = None

    @property
    def of_all_runs(self) -> bool:
        return self.workflow is None and self.statuses >= TERMINAL


class Pruned(msgspec.Struct):
    """What was removed. `kept`: runs without a snapshot, whose history is all that says how they ended."""

    entries: int = 0
    runs: int = 0
    kept: int = 0
    firings: int = 0


class Summary(msgspec.Struct):
    """What is left of pruned entries: how many tokens there were at each node, and how they ended."""

    tokens: Counts = msgspec.field(default_factory=Counts)
    events: int = 0
    alive: dict[TokenId, str] = msgspec.field(default_factory=dict[TokenId, str])  # their ends are further on


def summarise(summary: Summary, run: RunId, entries: Iterable[Entry]) -> None:
    """Add entries that are about to be pruned."""
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
