"""Whether, and when, a failed task is tried again. This is the business retry, owned by the run."""

from zlib import crc32

from jeton.model.failure import TaskFailed
from jeton.model.ids import RunId, TokenId
from jeton.model.task import RetryPolicy


def may_retry(policy: RetryPolicy | None, attempt: int, failure: TaskFailed) -> bool:
    """Only what asked for it, and only while attempts are left. A timeout never asks."""
    return failure.retry and policy is not None and attempt < policy.max_attempts


def retry_delay_ms(policy: RetryPolicy, attempt: int, run: RunId, token: TokenId) -> int:
    """The delay after the attempt that failed, capped, with up to a tenth on top.

    The extra spreads runs that failed together. It is derived from who waits, so that planning twice says the same.
    """
    match policy.backoff:
        case "none":
            delay = policy.initial_delay_ms
        case "linear":
            delay = policy.initial_delay_ms * attempt
        case "exponential":
            delay = policy.initial_delay_ms * 2 ** min(attempt - 1, 40)
    delay += crc32(f"{run}:{token}:{attempt}".encode()) % (delay // 10 + 1)
    return delay if policy.max_delay_ms is None else min(delay, policy.max_delay_ms)
