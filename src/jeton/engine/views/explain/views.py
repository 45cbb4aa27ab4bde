"""The values that explanations consist of."""

from datetime import datetime
from typing import Literal, TypeAlias

import msgspec

from jeton.engine.views.fan_outs import FanOutView
from jeton.engine.views.tokens import TokenView
from jeton.model.failure import RunError
from jeton.model.ids import GroupId, RunId, TokenId
from jeton.model.json import Json, JsonObject
from jeton.model.state.flow_run import NodeStatus, SkipReason
from jeton.model.state.run import RunStatus, TokenEnd

Verdict: TypeAlias = Literal[
    "matched",
    "false",
    "missing",
    "loop_limit_reached",
    "not_first",  # `fan_out: first_match`, and an earlier one matched
    "not_reached",  # another condition failed the run before this one was evaluated
    "tier_decided",  # a transition of higher priority matched, so this one was not evaluated
    "not_for_failures",  # the node failed, and the condition does not read `state._last_error`
    "error",
]


class ConsideredTransition(msgspec.Struct, frozen=True):
    """One transition at one routing: its condition, the values that it read, and the verdict."""

    transition: int
    to: str
    priority: int
    condition: str | None  # None: there is none, and it always matches
    verdict: Verdict
    values: dict[str, Json] = {}
    missing: str | None = None  # the path that was not there
    iterations: int | None = None  # how often this token's ancestors took it, if that is bounded
    max_iterations: int | None = None
    problem: str | None = None


class Routing(msgspec.Struct, frozen=True):
    """One token routed after its node succeeded or failed."""

    token: TokenId
    node: str
    entry: int
    at: datetime
    after: Literal["success", "failure"]
    considered: tuple[ConsideredTransition, ...]
    created: tuple[TokenId, ...] = ()
    parked_at: str | None = None  # the fan-in it went to
    ends: TokenEnd | None = None
    alike: int = 0  # how many more there are like it, which a shortened explanation leaves out


class FanInView(msgspec.Struct, frozen=True):
    """A fan-in that has not opened: how many branches arrived, can still arrive, and are needed."""

    group: GroupId
    name: str
    node: str
    strategy: str
    needed: int
    arrived: int
    live: int
    lost: int
    total: int
    since: datetime  # the first arrival
    due: datetime | None
    waits_for: tuple[TokenId, ...]  # the first few tokens of live branches


class Wait(msgspec.Struct, frozen=True):
    """What one token waits for, and since when."""

    token: TokenId
    node: str
    kind: Literal[
        "worker", "sleep", "timer", "retry", "siblings", "branch", "turn", "subworkflow", "agent", "gate", "signal"
    ]
    since: datetime
    due: datetime | None = None
    label: str | None = None
    attempt: int = 1
    deliveries: int = 0
    fan_in: FanInView | None = None
    waits_for: tuple[TokenId, ...] = ()
    child: RunId | None = None
    alike: int = 0  # how many more there are like it, which a shortened explanation leaves out


class Cancelled(msgspec.Struct, frozen=True):
    """A token that was stopped, and why."""

    token: TokenId
    status: TokenEnd
    reason: str
    entry: int
    at: datetime
    request: str | None = None  # the reason given with the cancellation
    by_run: RunId | None = None  # the calling run, if it stopped this one
    alike: int = 0  # how many more there are like it, which a shortened explanation leaves out


class MissingPaths(msgspec.Struct, frozen=True):
    """Paths where a mapping found no value; null was written instead."""

    token: TokenId | None  # None: the workflow's own output mapping
    node: str | None
    entry: int
    paths: tuple[str, ...]
    alike: int = 0  # how many more there are like it, which a shortened explanation leaves out


class RunExplained(msgspec.Struct, frozen=True):
    """The explanation of a run."""

    run_id: RunId
    workflow: str
    version: int
    status: RunStatus
    error: RunError | None
    due: datetime | None  # the run's own timeout
    fan_outs: tuple[FanOutView, ...]
    waits: tuple[Wait, ...]
    fan_ins: tuple[FanInView, ...]
    routings: tuple[Routing, ...]
    cancelled: tuple[Cancelled, ...]
    missing: tuple[MissingPaths, ...]
    needs_app: str | None = None
    nodes: tuple["NodeExplained", ...] = ()  # of a flow, in topological order


class IncomingConnection(msgspec.Struct, frozen=True):
    """One connection into a node, and whether it delivered. `open`: its source is not settled yet."""

    source: str
    from_output: str
    to_input: str
    fate: Literal["open", "delivered", "dead", "failed"]


class NodeExplained(msgspec.Struct, frozen=True):
    """One node of a flow, with its incoming connections and what it was given.

    `handled`: the failure that its `on_error` handled."""

    node: str
    status: NodeStatus
    inputs: JsonObject | None  # None: it did not begin
    branch: str | None
    skip_reason: SkipReason | None
    blocked_by: tuple[str, ...]
    incoming: tuple[IncomingConnection, ...]
    error: str | None = None
    handled: str | None = None


class TokenExplained(msgspec.Struct, frozen=True):
    """The explanation of a token: its origin, what it waits for, its routing, and why it was stopped."""

    run_id: RunId
    token: TokenView
    waits: Wait | None
    routing: Routing | None
    cancelled: Cancelled | None
    missing: tuple[MissingPaths, ...]


class TransitionExplained(msgspec.Struct, frozen=True):
    """The explanation of a transition: every routing where it was considered or skipped."""

    run_id: RunId
    transition: int
    source: str
    to: str
    priority: int
    condition: str | None
    routings: tuple[Routing, ...]


Explanation: TypeAlias = RunExplained | TokenExplained | TransitionExplained
