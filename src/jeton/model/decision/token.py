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
    token: TokenId
    node: str
    path: str
    parent: TokenId | None = None
    slot: SlotId | None = None
    loops: dict[int, int] = {}
    error: JsonObject | None = None


class CreateTokens(DecisionBase, frozen=True, tag="create_tokens"):
    """Consecutive creations, as one."""

    tokens: tuple[CreateToken, ...]


class DispatchToken(DecisionBase, frozen=True, tag="dispatch_token"):
    token: TokenId
    node: str
    at: int
    deadline: int
    attempt: int = 1
    input: Json | msgspec.UnsetType = msgspec.UNSET
    missing: tuple[str, ...] = ()  # paths of the input mapping that gave null


class RedeliverToken(DecisionBase, frozen=True, tag="redeliver_token"):
    """Give the same attempt to a worker again: its process died, or nobody ever began it."""

    token: TokenId
    node: str
    at: int
    deadline: int
    attempt: int
    deliveries: int


class SuspendToken(DecisionBase, frozen=True, tag="suspend_token"):
    """Its task sleeps: no worker is held until it is due."""

    token: TokenId
    node: str
    at: int
    due: int
    sleep: str


class WakeToken(DecisionBase, frozen=True, tag="wake_token"):
    """Its task has slept: give the same attempt to a worker again. No worker was lost, so the count begins anew."""

    token: TokenId
    node: str
    at: int
    deadline: int
    attempt: int


class MarkExecuting(DecisionBase, frozen=True, tag="mark_executing"):
    token: TokenId
    at: int
    deadline: int


class NoteTask(DecisionBase, frozen=True, tag="note_task"):
    """Keep what a task said of itself; nothing else follows from it."""

    token: TokenId
    node: str
    attempt: int
    note: Note


class RetryToken(DecisionBase, frozen=True, tag="retry_token"):
    """Try the task again at `due`, as business attempt `attempt`."""

    token: TokenId
    node: str
    at: int
    due: int
    attempt: int
    failure: TaskFailed


class FinishNode(DecisionBase, frozen=True, tag="finish_node"):
    """The node succeeded: write its mapped output. `missing` are the paths that gave null."""

    token: TokenId
    node: str
    work: Literal["task", "timer"] | None = None  # what it waited for, if that has no decision of its own
    writes: dict[str, Json] = {}
    missing: tuple[str, ...] = ()


class FailNode(DecisionBase, frozen=True, tag="fail_node"):
    """The node failed. Whether the failure is handled is for routing to say."""

    token: TokenId
    node: str
    error: JsonObject


class Considered(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True):
    """One transition looked at: followed or not, and why."""

    transition: int
    verdict: Literal["matched", "false", "missing", "loop_limit_reached", "not_first"]
    path: str | None = None  # the missing one


class RouteToken(DecisionBase, frozen=True, tag="route_token"):
    """Where a token goes. `ends` is unset while it stays, parked at a fan-in."""

    token: TokenId
    node: str
    ends: TokenEnd | None = None
    considered: tuple[Considered, ...] = ()


class EndTokens(DecisionBase, frozen=True, tag="end_tokens"):
    """These end without routing on: cancelled, or timed out with their fan-in."""

    tokens: Ranges
    status: TokenEnd
    reason: str


class AbandonTokens(DecisionBase, frozen=True, tag="abandon_tokens"):
    """These may finish, and change nothing."""

    tokens: Ranges


class IgnoreLate(DecisionBase, frozen=True, tag="ignore_late"):
    """A result nobody waits for any more; recorded, never applied."""

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
