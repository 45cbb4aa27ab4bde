"""Rows that cross the host protocol: what queries see of runs, gates, triggers, credits and published events.

They are plain values, the same for every host. Times are milliseconds since 1970, UTC.
"""

import msgspec

from jeton.executor.event_sink import ActionEvent
from jeton.model.codes import RefusalCode
from jeton.model.definition.trigger import Trigger
from jeton.model.failure import RunError
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json
from jeton.model.state.run import FiredBy, Fork, Head, Parent, RunStatus


class RunRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """A run, as lists show it."""

    run: RunId
    workflow: str
    version: int
    status: RunStatus
    paused: bool
    submitted_at: int
    started_at: int | None
    ended_at: int | None
    wake: int | None
    entries: int
    error: RunError | None = None
    output: Json = None
    parent: Parent | None = None
    forked: Fork | None = None
    trigger: FiredBy | None = None


def run_row(head: Head, wake: int | None) -> RunRow:
    """The row of a run with this head."""
    return RunRow(
        run=head.run,
        workflow=head.workflow,
        version=head.version,
        status=head.status,
        paused=head.paused,
        submitted_at=head.submitted_at,
        started_at=head.started_at,
        ended_at=head.ended_at,
        wake=wake,
        entries=head.entries,
        error=head.error,
        output=None if head.result is msgspec.UNSET else head.result,
        parent=head.parent,
        forked=head.forked,
        trigger=head.trigger,
    )


class GateRow(msgspec.Struct, frozen=True):
    """An open gate."""

    run: RunId
    token: TokenId
    node: str
    path: str
    title: str
    since: int
    due: int | None
    answers: int


class TriggerRow(msgspec.Struct, frozen=True):
    """A trigger, and how far it has got: `seen` is a time for a schedule, an event number for an event trigger."""

    trigger: Trigger
    seen: int
    origin: str


class FiringRow(msgspec.Struct, frozen=True):
    """The result of one delivery to a trigger: the run it started, or the reason why it started none."""

    trigger: str
    delivery: str
    type: str
    source: str | None
    depth: int
    at: int
    run: RunId | None
    code: RefusalCode | None
    problem: str | None


class Account(msgspec.Struct, frozen=True):
    """The project's credit account: what is left in it, and what unfinished runs have been granted from it."""

    balance: int
    granted: int


class TokensUsed(msgspec.Struct, frozen=True):
    """Tokens that model calls read and wrote."""

    input: int
    output: int


class Usage(msgspec.Struct, frozen=True):
    """What a node of a run cost on a day, in UTC, and the tokens its model calls used, by profile."""

    run: RunId
    node: str
    day: str
    workflow: str
    credits: int
    shortfall: int
    tokens: dict[str, TokensUsed]


class Published(msgspec.Struct, frozen=True):
    """A published event as it is stored. `number` is its position among all events of the store."""

    number: int
    at: int
    emitted: ActionEvent
