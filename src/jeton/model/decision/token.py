"""Decisions about tokens, their tasks and where they go."""

from typing import Literal, TypeAlias

import msgspec

from jeton.model.decision.base import DecisionBase
from jeton.model.failure import TaskFailed
from jeton.model.ids import SlotId, TokenId
from jeton.model.json import Json, JsonObject
from jeton.model.note import Note
from jeton.model.state.ranges import Ranges
from jeton.model.state.run import TokenEnd


class CreateToken(DecisionBase, frozen=True, tag="create_token"):
    """Put a new token at a node."""

    token: TokenId
    node: str
    path: str
    parent: TokenId | None = None
    slot: SlotId | None = None
    loops: dict[int, int] = {}
    error: JsonObject | None = None


class CreateTokens(DecisionBase, frozen=True, tag="create_tokens"):
    """Several creations as one decision."""

    tokens: tuple[CreateToken, ...]


class DispatchToken(DecisionBase, frozen=True, tag="dispatch_token"):
    """Hand the task of a token to the executor. It must begin before `deadline`."""

    token: TokenId
    node: str
    at: int
    deadline: int
    attempt: int = 1
    input: Json | msgspec.UnsetType = msgspec.UNSET
    missing: tuple[str, ...] = ()  # paths of the input mapping that were missing and gave null


class RedeliverToken(DecisionBase, frozen=True, tag="redeliver_token"):
    """Hand the same attempt to a worker again: its process died, or no worker began it."""

    token: TokenId
    node: str
    at: int
    deadline: int
    attempt: int
    deliveries: int


class SuspendToken(DecisionBase, frozen=True, tag="suspend_token"):
    """The task sleeps until `due`, without a worker."""

    token: TokenId
    node: str
    at: int
    due: int
    sleep: str
    state: Json = None  # what the task wants to find when it continues


class WakeToken(DecisionBase, frozen=True, tag="wake_token"):
    """The task's sleep is over: hand the same attempt to a worker. Deliveries are counted anew, since none was lost."""

    token: TokenId
    node: str
    at: int
    deadline: int
    attempt: int


class MarkExecuting(DecisionBase, frozen=True, tag="mark_executing"):
    """A worker began the task; from now on its own deadline holds."""

    token: TokenId
    at: int
    deadline: int


class NoteTask(DecisionBase, frozen=True, tag="note_task"):
    """Record a note of a task."""

    token: TokenId
    node: str
    attempt: int
    note: Note


class RetryToken(DecisionBase, frozen=True, tag="retry_token"):
    """Run the task again at `due`, as attempt `attempt`."""

    token: TokenId
    node: str
    at: int
    due: int
    attempt: int
    failure: TaskFailed


class FinishNode(DecisionBase, frozen=True, tag="finish_node"):
    """The node succeeded: write its mapped output. `missing` lists the paths that were missing and gave null."""

    token: TokenId
    node: str
    work: Literal["task", "timer"] | None = None  # what it did, unless another decision says so
    writes: dict[str, Json] = {}
    missing: tuple[str, ...] = ()


class FailNode(DecisionBase, frozen=True, tag="fail_node"):
    """The node failed. Routing decides whether the failure is handled."""

    token: TokenId
    node: str
    error: JsonObject


class Considered(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True):
    """A transition that was considered, with the verdict."""

    transition: int
    verdict: Literal["matched", "false", "missing", "loop_limit_reached", "not_first"]
    path: str | None = None  # that was missing


class RouteToken(DecisionBase, frozen=True, tag="route_token"):
    """How a token ends; None if it stays, parked at a fan-in."""

    token: TokenId
    node: str
    ends: TokenEnd | None = None
    considered: tuple[Considered, ...] = ()


class EndTokens(DecisionBase, frozen=True, tag="end_tokens"):
    """End tokens without routing: cancelled, or timed out with their fan-in."""

    tokens: Ranges
    status: TokenEnd
    reason: str


class AbandonTokens(DecisionBase, frozen=True, tag="abandon_tokens"):
    """Let tokens finish without any effect on the run."""

    tokens: Ranges


class IgnoreLate(DecisionBase, frozen=True, tag="ignore_late"):
    """A result that came too late: recorded and not applied."""

    token: TokenId
    attempt: int
    why: str


TokenDecision: TypeAlias = (
    CreateToken
    | CreateTokens
    | DispatchToken
    | RedeliverToken
    | SuspendToken
    | WakeToken
    | MarkExecuting
    | NoteTask
    | RetryToken
    | FinishNode
    | FailNode
    | RouteToken
    | EndTokens
    | AbandonTokens
    | IgnoreLate
)
