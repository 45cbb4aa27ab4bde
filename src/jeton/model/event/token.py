"""Facts about tokens, their tasks and where they go."""

from typing import Literal, TypeAlias

from jeton.model.event.base import FactBase
from jeton.model.failure import TaskFailed
from jeton.model.ids import TokenId
from jeton.model.json import JsonObject


class TokenCreated(FactBase, frozen=True, tag="token.created"):
    token: TokenId
    node: str
    path: str
    parent: TokenId | None = None
    branch_index: int | None = None


class TokenDispatched(FactBase, frozen=True, tag="token.dispatched"):
    token: TokenId


class TokenExecuting(FactBase, frozen=True, tag="token.executing"):
    token: TokenId


class TokenWaiting(FactBase, frozen=True, tag="token.waiting"):
    token: TokenId
    wait: Literal["siblings", "timer", "retry", "subworkflow", "gate", "signal"]
    node: str | None = None  # of the fan-in, for siblings
    due: int | None = None


class TokenCompleted(FactBase, frozen=True, tag="token.completed"):
    token: TokenId


class TokenFailed(FactBase, frozen=True, tag="token.failed"):
    token: TokenId


class TokenTimedOut(FactBase, frozen=True, tag="token.timed_out"):
    token: TokenId


class TokenCancelled(FactBase, frozen=True, tag="token.cancelled"):
    token: TokenId
    reason: str | None = None


class TaskDispatched(FactBase, frozen=True, tag="task.dispatched"):
    token: TokenId
    node: str
    attempt: int
    delivery: int = 1


class TaskCompleted(FactBase, frozen=True, tag="task.completed"):
    token: TokenId
    node: str


class TaskFailedAt(FactBase, frozen=True, tag="task.failed"):
    token: TokenId
    node: str
    error: JsonObject


class TaskRetrying(FactBase, frozen=True, tag="task.retrying"):
    """A task is retried, as the next attempt; or, with `call`, a step of it repeats a call within the attempt."""

    token: TokenId
    node: str
    attempt: int
    due: int
    failure: TaskFailed
    call: int | None = None


class TaskProgress(FactBase, frozen=True, tag="task.progress"):
    token: TokenId
    node: str
    attempt: int
    step: str
    done: float | None = None
    text: str = ""


class TaskLog(FactBase, frozen=True, tag="task.log"):
    token: TokenId
    node: str
    attempt: int
    step: str
    stream: str
    text: str
    truncated: bool = False


class TaskMissing(FactBase, frozen=True, tag="task.missing"):
    """Paths in a step's mapping that were missing and gave null."""

    token: TokenId
    node: str
    attempt: int
    step: str
    paths: tuple[str, ...]


class TaskCost(FactBase, frozen=True, tag="task.cost"):
    """The credits that an attempt has used so far, as its action reports."""

    token: TokenId
    node: str
    attempt: int
    step: str
    credits: int


class TaskTokens(FactBase, frozen=True, tag="task.tokens"):
    """The tokens that one model call used, as its action reports."""

    token: TokenId
    node: str
    attempt: int
    step: str
    profile: str
    input: int
    output: int


class ContextUpdated(FactBase, frozen=True, tag="context.updated"):
    token: TokenId
    writes: JsonObject
    missing: tuple[str, ...] = ()


class LateIgnored(FactBase, frozen=True, tag="late.ignored"):
    token: TokenId
    attempt: int
    why: str


TokenFact: TypeAlias = (
    TokenCreated
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
    | TaskCost
    | TaskTokens
    | ContextUpdated
    | LateIgnored
)
