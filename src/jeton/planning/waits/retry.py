"""Whether, and when, a failed task is tried again. This is the business retry, owned by the run."""

from jeton.model.definition.task import RetryPolicy
from jeton.model.failure import TaskFailed
from jeton.model.ids import RunId, TokenId


def may_retry(policy: RetryPolicy | None, attempt: int, failure: TaskFailed) -> bool:
    """Only what asked for it, and only while attempts are left. A timeout never asks."""
    return failure.retry and policy is not None and attempt < policy.max_attempts


def retry_delay_ms(policy: RetryPolicy, attempt: int, run: RunId, token: TokenId) -> int:
    """The delay before the next attempt; no two tokens that failed together come back together."""
    return policy.delay_ms(attempt, f"{run}:{token}")
