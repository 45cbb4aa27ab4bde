"""Rows that cross the host protocol: what queries see of runs, gates, triggers, credits and published events.

They are plain values, the same for every host. Times are milliseconds since 1970, UTC.
"""

import msgspec

from jeton.executor.event_sink import ActionEvent
from jeton.model.codes import RefusalCode
from jeton.model.definition.trigger import Trigger
from jeton.model.entry import Entry
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
    key: str | None = None  # that it was started with


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
        key=head.key,
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
    question: str | None = None  # the schema of what a task asks, as JSON; the node of any other gate has it


class TriggerRow(msgspec.Struct, frozen=True):
    """A trigger, and how far it has got: `seen` is a time for a schedule, an event number for an event trigger."""

    trigger: Trigger
    seen: int
    origin: str


class FiringRow(msgspec.Struct, frozen=True):
    """The result of one delivery to a trigger: the run it started, or the reason why it started none.

    `again`: the delivery was known, and this is what came of it the first time. It is stored nowhere."""

    trigger: str
    delivery: str
    type: str
    source: str | None
    depth: int
    at: int
    run: RunId | None
    code: RefusalCode | None
    problem: str | None
    again: bool = False


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


# the line of positions: journal entries of all runs in the order of their commits; positions begin with 1


class PlacedEntry(msgspec.Struct, frozen=True):
    """A journal entry with its position."""

    position: int
    run: RunId
    entry: Entry


class LinePage(msgspec.Struct, frozen=True):
    """A part of the line, oldest first.

    `reached`: nothing up to this position is missing here; `head`: the last position there was when the page was read;
    `pruned`: the last position whose entry was pruned by then, 0 if none was."""

    entries: tuple[PlacedEntry, ...]
    reached: int
    head: int
    pruned: int


class TreePositions(msgspec.Struct, frozen=True):
    """The positions, ascending, that a run and the runs it called have up to `head`, the last position there was."""

    positions: tuple[int, ...]
    head: int


class EntryPlace(msgspec.Struct, frozen=True):
    """Where an entry is: its number in its run, its position, and the number of its first event."""

    number: int
    position: int
    first_event: int
