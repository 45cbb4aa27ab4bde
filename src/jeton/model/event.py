"""Every fact kept in a run's history. Events are not stored: each is read off the decision that made it true."""

from typing import Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from jeton.model.failure import RunError, TaskFailed
from jeton.model.ids import GroupId, RunId, TokenId
from jeton.model.json import Json, JsonObject


class _Fact(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type"):
    """What happened, without when and where in the sequence."""


class RunSubmitted(_Fact, frozen=True, tag="run.submitted"):
    input: Json


class RunStarted(_Fact, frozen=True, tag="run.started"):
    pass


class TriggerFired(_Fact, frozen=True, tag="trigger.fired"):
    """A trigger began this run; or, with `started`, that one, for an event that this run published."""

    cause: str
    depth: int
    trigger: str | None = None
    source: str | None = None
    started: RunId | None = None


class TriggerRefused(_Fact, frozen=True, tag="trigger.refused"):
    """A trigger heard an event that this run published, and started nothing."""

    trigger: str
    code: str
    problem: str


class RunWaiting(_Fact, frozen=True, tag="run.waiting"):
    pass


class RunResumed(_Fact, frozen=True, tag="run.resumed"):
    pass


class RunPaused(_Fact, frozen=True, tag="run.paused"):
    pass


class RunUnpaused(_Fact, frozen=True, tag="run.unpaused"):
    pass


class RunForked(_Fact, frozen=True, tag="run.forked"):
    from_run: RunId
    entry: int
    writes: JsonObject = {}


class RunCompleted(_Fact, frozen=True, tag="run.completed"):
    output: Json | UnsetType = UNSET


class RunFailed(_Fact, frozen=True, tag="run.failed"):
    error: RunError | None = None


class RunCancelled(_Fact, frozen=True, tag="run.cancelled"):
    error: RunError | None = None


class RunTimedOut(_Fact, frozen=True, tag="run.timed_out"):
    error: RunError | None = None


class RunExhausted(_Fact, frozen=True, tag="run.exhausted"):
    error: RunError | None = None


class TokenCreated(_Fact, frozen=True, tag="token.created"):
    token: TokenId
    node: str
    path: str
    parent: TokenId | None = None
    branch_index: int | None = None


class TokenDispatched(_Fact, frozen=True, tag="token.dispatched"):
    token: TokenId


class TokenExecuting(_Fact, frozen=True, tag="token.executing"):
    token: TokenId


class TokenWaiting(_Fact, frozen=True, tag="token.waiting"):
    token: TokenId
    wait: Literal["siblings", "timer", "retry", "subworkflow", "gate", "signal"]
    node: str | None = None  # for siblings: the fan-in's
    due: int | None = None


class TokenCompleted(_Fact, frozen=True, tag="token.completed"):
    token: TokenId


class TokenFailed(_Fact, frozen=True, tag="token.failed"):
    token: TokenId


class TokenTimedOut(_Fact, frozen=True, tag="token.timed_out"):
    token: TokenId


class TokenCancelled(_Fact, frozen=True, tag="token.cancelled"):
    token: TokenId
    reason: str | None = None


class TaskDispatched(_Fact, frozen=True, tag="task.dispatched"):
    token: TokenId
    node: str
    attempt: int
    delivery: int = 1


class TaskCompleted(_Fact, frozen=True, tag="task.completed"):
    token: TokenId
    node: str


class TaskFailedAt(_Fact, frozen=True, tag="task.failed"):
    token: TokenId
    node: str
    error: JsonObject


class TaskRetrying(_Fact, frozen=True, tag="task.retrying"):
    token: TokenId
    node: str
    attempt: int
    due: int
    failure: TaskFailed


class TaskProgress(_Fact, frozen=True, tag="task.progress"):
    token: TokenId
    node: str
    attempt: int
    step: str
    done: float | None = None
    text: str = ""


class TaskLog(_Fact, frozen=True, tag="task.log"):
    token: TokenId
    node: str
    attempt: int
    step: str
    stream: str
    text: str
    truncated: bool = False


class TaskMissing(_Fact, frozen=True, tag="task.missing"):
    """Paths in a step's mapping that gave null."""

    token: TokenId
    node: str
    attempt: int
    step: str
    paths: tuple[str, ...]


class FanOutStarted(_Fact, frozen=True, tag="fan_out.started"):
    group: GroupId
    name: str
    node: str
    total: int


class FanInOpened(_Fact, frozen=True, tag="fan_in.opened"):
    group: GroupId
    node: str
    arrived: int


class BranchesMerged(_Fact, frozen=True, tag="branches.merged"):
    group: GroupId
    node: str
    target: str


class SyncTimedOut(_Fact, frozen=True, tag="sync.timed_out"):
    group: GroupId
    node: str


class ContextUpdated(_Fact, frozen=True, tag="context.updated"):
    token: TokenId
    writes: JsonObject
    missing: tuple[str, ...] = ()


class TimerSet(_Fact, frozen=True, tag="timer.set"):
    token: TokenId
    due: int
    label: str | None = None


class TimerFired(_Fact, frozen=True, tag="timer.fired"):
    token: TokenId


class ChildStarted(_Fact, frozen=True, tag="child.started"):
    token: TokenId
    child: RunId
    workflow: str


class ChildCompleted(_Fact, frozen=True, tag="child.completed"):
    token: TokenId
    child: RunId


class ChildFailed(_Fact, frozen=True, tag="child.failed"):
    token: TokenId
    child: RunId
    error: RunError | None = None


class ChildCancelled(_Fact, frozen=True, tag="child.cancelled"):
    token: TokenId
    child: RunId
    reason: str | None = None


class GateOpened(_Fact, frozen=True, tag="gate.opened"):
    token: TokenId
    node: str
    title: str
    due: int | None = None


class GateAnswered(_Fact, frozen=True, tag="gate.answered"):
    token: TokenId
    node: str
    value: Json
    by: str | None = None


class GateTimedOut(_Fact, frozen=True, tag="gate.timed_out"):
    token: TokenId
    node: str


class SignalReceived(_Fact, frozen=True, tag="signal.received"):
    name: str
    value: Json = None
    key: str | None = None


class NodeStarted(_Fact, frozen=True, tag="node.started"):
    token: TokenId
    node: str


class NodeCompleted(_Fact, frozen=True, tag="node.completed"):
    token: TokenId
    node: str
    outputs: JsonObject
    branch: str | None = None
    warning: str | None = None


class NodeFailed(_Fact, frozen=True, tag="node.failed"):
    token: TokenId
    node: str
    error: TaskFailed


class NodeSkipped(_Fact, frozen=True, tag="node.skipped"):
    node: str


class CreditsReserved(_Fact, frozen=True, tag="credits.reserved"):
    token: TokenId
    node: str
    amount: int


class CreditsSettled(_Fact, frozen=True, tag="credits.settled"):
    token: TokenId
    node: str
    cost: int
    refund: int = 0
    shortfall: int = 0


class CreditsRequested(_Fact, frozen=True, tag="credits.asked"):
    amount: int


class CreditsReceived(_Fact, frozen=True, tag="credits.granted"):
    amount: int


class CreditsShort(_Fact, frozen=True, tag="credits.short"):
    missing: int


class CreditsLent(_Fact, frozen=True, tag="credits.lent"):
    """What a run below was given."""

    run: RunId
    amount: int


class CreditsReturned(_Fact, frozen=True, tag="credits.returned"):
    """A run below is over, and used this much."""

    run: RunId
    used: int


class TaskCost(_Fact, frozen=True, tag="task.cost"):
    """What an action says it used so far."""

    token: TokenId
    node: str
    attempt: int
    step: str
    credits: int


class TaskTokens(_Fact, frozen=True, tag="task.tokens"):
    """What one model call used, as an action says."""

    token: TokenId
    node: str
    attempt: int
    step: str
    profile: str
    input: int
    output: int


class LateIgnored(_Fact, frozen=True, tag="late.ignored"):
    token: TokenId
    attempt: int
    why: str


Fact: TypeAlias = (
    RunSubmitted
    | RunStarted
    | TriggerFired
    | TriggerRefused
    | RunWaiting
    | RunResumed
    | RunPaused
    | RunUnpaused
    | RunForked
    | RunCompleted
    | RunFailed
    | RunCancelled
    | RunTimedOut
    | RunExhausted
    | TokenCreated
    | TokenDispatched
    | TokenExecuting
    | TokenWaiting
    | TokenCompleted
    | TokenFailed
    | TokenTimedOut
    | TokenCancelled
    | TaskDispatched
    | TaskCompleted
    | TaskFailedAt
    | TaskRetrying
    | TaskProgress
    | TaskLog
    | TaskMissing
    | FanOutStarted
    | FanInOpened
    | BranchesMerged
    | SyncTimedOut
    | ContextUpdated
    | TimerSet
    | TimerFired
    | ChildStarted
    | ChildCompleted
    | ChildFailed
    | ChildCancelled
    | GateOpened
    | GateAnswered
    | GateTimedOut
    | SignalReceived
    | NodeStarted
    | NodeCompleted
    | NodeFailed
    | NodeSkipped
    | CreditsReserved
    | CreditsSettled
    | CreditsRequested
    | CreditsReceived
    | CreditsShort
    | CreditsLent
    | CreditsReturned
    | TaskCost
    | TaskTokens
    | LateIgnored
)


class Event(msgspec.Struct, frozen=True):
    """A fact at its place in the run's one sequence."""

    seq: int
    at: int
    run: RunId
    fact: Fact
