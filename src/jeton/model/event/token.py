"""Facts about tokens, their tasks and where they go."""

from typing import Literal, TypeAlias

from jeton.model.event.base import FactBase
from jeton.model.failure import TaskFailed
from jeton.model.ids import TokenId
from jeton.model.json import JsonObject


class TokenCreated(FactBase, frozen=True, tag="token.created"):
    """A token came to a node."""

    token: TokenId
    node: str
    path: str
    parent: TokenId | None = None
    branch_index: int | None = None


class TokenDispatched(FactBase, frozen=True, tag="token.dispatched"):
    """The task of a token was handed to the executor."""

    token: TokenId


class TokenExecuting(FactBase, frozen=True, tag="token.executing"):
    """A worker began the task of a token."""

    token: TokenId


class TokenWaiting(FactBase, frozen=True, tag="token.waiting"):
    """A token waits, without a worker."""

    token: TokenId
    wait: Literal["siblings", "timer", "retry", "subworkflow", "gate", "signal"]
    node: str | None = None  # of the fan-in, for siblings
    due: int | None = None


class TokenCompleted(FactBase, frozen=True, tag="token.completed"):
    """The path of a token ended."""

    token: TokenId


class TokenFailed(FactBase, frozen=True, tag="token.failed"):
    """A token ended with a failure that no transition handled."""

    token: TokenId


class TokenTimedOut(FactBase, frozen=True, tag="token.timed_out"):
    """A token ended because its fan-in timed out."""

    token: TokenId


class TokenCancelled(FactBase, frozen=True, tag="token.cancelled"):
    """A token was cancelled."""

    token: TokenId
    reason: str | None = None


class TaskDispatched(FactBase, frozen=True, tag="task.dispatched"):
    """A task was handed to the executor. `delivery` counts how often, within one attempt."""

    token: TokenId
    node: str
    attempt: int
    delivery: int = 1


class TaskCompleted(FactBase, frozen=True, tag="task.completed"):
    """A task succeeded."""

    token: TokenId
    node: str


class TaskFailedAt(FactBase, frozen=True, tag="task.failed"):
    """A task failed, after its last attempt."""

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
    """How far a step of a task is, as its action reports."""

    token: TokenId
    node: str
    attempt: int
    step: str
    done: float | None = None
    text: str = ""


class TaskLog(FactBase, frozen=True, tag="task.log"):
    """A line of text from a step of a task."""

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
    """The output mapping of a node wrote these values."""

    token: TokenId
    writes: JsonObject
    missing: tuple[str, ...] = ()


class LateIgnored(FactBase, frozen=True, tag="late.ignored"):
    """A result came too late, and was not applied."""

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
