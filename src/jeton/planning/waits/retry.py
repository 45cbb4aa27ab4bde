"""Whether, and when, the run retries a failed task."""

from jeton.model.definition.task import RetryPolicy
from jeton.model.failure import TaskFailed
from jeton.model.ids import RunId, TokenId


def may_retry(policy: RetryPolicy | None, attempt: int, failure: TaskFailed) -> bool:
    """Whether the failure asks for a retry and attempts are left. A timeout never asks."""
    return failure.retry and policy is not None and attempt < policy.max_attempts


def retry_delay_ms(policy: RetryPolicy, attempt: int, run: RunId, token: TokenId) -> int:
    """The delay before the next attempt, with a part that differs between tokens."""
    return policy.delay_ms(attempt, f"{run}:{token}")
