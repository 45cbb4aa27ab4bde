"""Bodies of answers that are not views of the engine already."""

from datetime import datetime

import msgspec

from jeton.actor.access.keys import ApiKey, Scope
from jeton.actor.whole.verified import Finding
from jeton.engine.browse.catalogue import WorkflowRow
from jeton.engine.credits import UsageView
from jeton.engine.reply import Reply
from jeton.engine.triggers import TriggerView
from jeton.engine.views.conversation import ConversationRow
from jeton.engine.views.draw.graph import GraphView
from jeton.engine.views.firings import FiringView
from jeton.engine.views.gates import GateView
from jeton.engine.views.memory import ForgottenMemory, MemoryView
from jeton.engine.views.past.changes import EntryChanges
from jeton.engine.views.past.entries import EntryView
from jeton.engine.views.published import MetricValue
from jeton.engine.views.record import ForkedFrom, RunRecord
from jeton.engine.views.tokens import TokenView
from jeton.model.failure import Problem
from jeton.model.ids import RunId
from jeton.model.json import Json, JsonObject
from jeton.model.state.run import RunStatus
from jeton.model.times import maybe_moment, moment


class Me(msgspec.Struct, frozen=True):
    """Whose key it is, and what it may do."""

    name: str
    person: str | None
    scopes: tuple[Scope, ...]


class Workflows(msgspec.Struct, frozen=True):
    workflows: tuple[WorkflowRow, ...]


class Enabled(msgspec.Struct, frozen=True):
    """Whether triggers may start a workflow or flow."""

    name: str
    disabled: bool


class Deployed(msgspec.Struct, frozen=True):
    """What was deployed."""

    versions: dict[str, int]
    warnings: tuple[Problem, ...]
    removed: tuple[str, ...]


class Checked(msgspec.Struct, frozen=True):
    """What is wrong with definitions, and what their graphs look like."""

    ok: bool
    problems: tuple[Problem, ...]
    graphs: dict[str, GraphView]


class RunAnswer(RunRecord, frozen=True):
    """A run's record with what its actions measured."""

    metrics: tuple[MetricValue, ...] = ()


class Runs(msgspec.Struct, frozen=True):
    """A page of runs as a client reads it."""

    runs: tuple[RunRecord, ...]
    next: str | None = None


class ErrorSummary(msgspec.Struct, frozen=True):
    """Why a run did not end as completed, without details."""

    type: str
    message: str
    node: str | None


class RunSummary(msgspec.Struct, frozen=True):
    """A run as lists have it: a record without outputs, and without what the nodes of a flow were given."""

    run_id: RunId
    workflow: str
    version: int
    status: RunStatus
    paused: bool
    submitted_at: datetime
    root_run_id: RunId
    parent_run_id: RunId | None
    forked_from: ForkedFrom | None
    started_at: datetime | None
    completed_at: datetime | None
    trigger_type: str
    trigger_id: str | None
    trigger_depth: int
    current_nodes: tuple[str, ...]
    waiting_at_node: str | None
    waiting_label: str | None
    next_step_at: datetime | None
    error: ErrorSummary | None


class RunList(msgspec.Struct, frozen=True):
    """A page of runs. `next` is the cursor of the next page; null: there is none."""

    runs: tuple[RunSummary, ...]
    next: str | None


class ChildList(msgspec.Struct, frozen=True):
    """The runs that a run called, in order."""

    runs: tuple[RunSummary, ...]


class RefusedRun(msgspec.Struct, frozen=True):
    """A run that an action was not possible on."""

    run_id: str
    code: str
    problem: str


class ActionsDone(msgspec.Struct, frozen=True):
    """What became of an action on many runs."""

    matched: int
    done: tuple[str, ...]
    refused: tuple[RefusedRun, ...]
    next: str | None


class Events(msgspec.Struct, frozen=True):
    """A page of a run's own events. `next` is the `after` of the next page; null: there is none."""

    events: tuple[JsonObject, ...]
    next: int | None


class Entries(msgspec.Struct, frozen=True):
    """A page of a run's journal entries. `next` is the `after` of the next page; null: there is none."""

    entries: tuple[EntryView, ...]
    next: int | None


class Deltas(msgspec.Struct, frozen=True):
    """What journal entries changed: numbers of tokens at nodes, and the run's data."""

    deltas: tuple[EntryChanges, ...]


class Tokens(msgspec.Struct, frozen=True):
    tokens: tuple[TokenView, ...]


class Replied(msgspec.Struct, frozen=True):
    """What became of an answer or a signal."""

    outcome: str
    record: RunRecord


class Answered(msgspec.Struct, frozen=True):
    """What became of an answer. `run_id` is the run that took it; `record` is of the run that was named."""

    run_id: RunId
    outcome: str
    record: RunRecord


class Gates(msgspec.Struct, frozen=True):
    gates: tuple[GateView, ...]


class Agents(msgspec.Struct, frozen=True):
    agents: tuple[str, ...]


class Conversations(msgspec.Struct, frozen=True):
    conversations: tuple[ConversationRow, ...]
    next: str | None


class Begun(msgspec.Struct, frozen=True):
    conversation_id: RunId


class TurnBegun(msgspec.Struct, frozen=True):
    turn: int | None


class Memories(msgspec.Struct, frozen=True):
    """What an agent remembers. `next` is the `after` of the next page; null: there is none."""

    memories: tuple[MemoryView, ...]
    next: str | None


class ForgottenMemories(msgspec.Struct, frozen=True):
    """Memories that were deleted, each with the conversations whose history still has it."""

    deleted: tuple[ForgottenMemory, ...]


class Triggers(msgspec.Struct, frozen=True):
    triggers: tuple[TriggerView, ...]


class Firings(msgspec.Struct, frozen=True):
    firings: tuple[FiringView, ...]
    next: str | None


class UsageRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was used: by day, workflow, node or profile."""

    credits: int
    shortfall: int
    input_tokens: int
    output_tokens: int
    day: str | None = None
    workflow: str | None = None
    node: str | None = None
    profile: str | None = None


class UsageList(msgspec.Struct, frozen=True):
    usage: tuple[UsageRow, ...]


class UsageByNode(msgspec.Struct, frozen=True):
    """What was used, by day, run and node."""

    usage: tuple[UsageView, ...]


class PrunedView(msgspec.Struct, frozen=True):
    """What was removed; of a dry run, what would be."""

    runs: int
    entries: int
    firings: int
    kept: int


class StoreView(msgspec.Struct, frozen=True):
    """The store: its size, its runs, who owns it, and when it was last written to."""

    bytes: int
    free_bytes: int
    entries: int
    runs: dict[str, int]
    owner: str | None
    last_commit_at: datetime | None
    lost: int


class Verified(msgspec.Struct, frozen=True):
    """What is wrong with the store. A problem without a run concerns the store as a whole."""

    ok: bool
    problems: tuple[Finding, ...]


class ArtifactView(msgspec.Struct, frozen=True):
    id: str
    media_type: str
    size: int


class QueryView(msgspec.Struct, frozen=True):
    name: str
    q: str


class Queries(msgspec.Struct, frozen=True):
    queries: tuple[QueryView, ...]


class KeyView(msgspec.Struct, frozen=True):
    """A key, without the key. `last_used_at`: null if it was not used since the server started."""

    id: str
    name: str
    scopes: tuple[Scope, ...]
    person: str | None
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None = None


class NewKeyView(KeyView, frozen=True):
    """A key that was just made: the only time that it is shown."""

    key: str = ""


class Keys(msgspec.Struct, frozen=True):
    keys: tuple[KeyView, ...]


def key_view(key: ApiKey, last_used: int | None = None) -> KeyView:
    """A key as it may be shown. `last_used`: as a server knows it, in milliseconds."""
    return KeyView(
        key.id,
        key.name,
        key.scopes,
        key.person,
        moment(key.created_at),
        maybe_moment(key.expires_at),
        maybe_moment(key.revoked_at),
        maybe_moment(last_used),
    )


def new_key_view(key: ApiKey, text: str) -> NewKeyView:
    """A key that was just made, with its text."""
    return NewKeyView(**msgspec.structs.asdict(key_view(key)), key=text)


def summary_of(record: RunRecord) -> RunSummary:
    """A record as lists have it."""
    error = record.error
    known = {name: getattr(record, name) for name in RunSummary.__struct_fields__ if name != "error"}
    return RunSummary(**known, error=None if error is None else ErrorSummary(error.type, error.message, error.node))


def replied(reply: Reply) -> Replied:
    """What a client is told of a reply."""
    return Replied(reply.outcome, reply.record)


class Context(msgspec.Struct, frozen=True):
    """A run's data."""

    input: Json
    state: JsonObject
    output: Json
