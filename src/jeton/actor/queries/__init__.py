"""What a commit changes for queries beside the run's row. Computed with the commit; a host only stores it."""

import msgspec
from msgspec import UnsetType

from jeton.actor.queries.gates import changed_gates
from jeton.actor.queries.snapshots import Snapshot, SnapshotPolicy, snapshot_due, take_snapshot
from jeton.actor.queries.typed import Stretch, changed_branches, typed_state
from jeton.actor.queries.usage import CreditsSpent, TokensSpent, usage_in
from jeton.actor.rows import GateRow
from jeton.actor.sections import Sections
from jeton.apply.draft import Touched
from jeton.model.entry import Entry
from jeton.model.ids import TokenId
from jeton.model.json import Json
from jeton.model.state.run import RunState


class Queries(msgspec.Struct, omit_defaults=True):
    """Everything that a commit changed for queries. Most commits change nothing of it."""

    gates: tuple[GateRow, ...] = ()  # open, new or changed
    closed_gates: tuple[TokenId, ...] = ()
    credits: tuple[CreditsSpent, ...] = ()
    tokens: tuple[TokensSpent, ...] = ()
    state: dict[str, Json | UnsetType] = {}  # by top-level key, if the workflow has a state schema; unset: removed
    branches: tuple[Stretch, ...] = ()  # likewise
    snapshot: Snapshot | None = None


UNCHANGED = Queries()


def queries_of(
    state: RunState, touched: Touched, entry: Entry, policy: SnapshotPolicy, typed: bool, encoded: Sections
) -> Queries:
    """What changed for queries with this entry. `encoded` are the sections that were touched."""
    due = snapshot_due(policy, entry.number, state.head.ended)
    if not (due or typed or touched.more or touched.usage):
        return UNCHANGED
    found = Queries()
    if touched.more and touched.rest.gates:
        found.gates, found.closed_gates = changed_gates(state, touched)
    if touched.usage:
        found.credits, found.tokens = usage_in(entry)
    if typed:
        found.state, found.branches = typed_state(state, touched), changed_branches(state, touched)
    if due:
        found.snapshot = take_snapshot(state, policy, encoded)
    return found
