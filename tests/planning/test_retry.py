"""Whether, and when, a failed task is tried again."""

import pytest

from jeton.model.codes import CustomFailure
from jeton.model.definition.task import RetryPolicy
from jeton.model.failure import TaskFailed
from jeton.model.ids import RunId, TokenId
from jeton.planning.waits.retry import may_retry, retry_delay_ms

ASKED = TaskFailed("assertion_failed", "no", retry=True)
NOT_ASKED = TaskFailed(CustomFailure("http_error"), "no", transient=True)
RUN, TOKEN = RunId("r"), TokenId(1)


@pytest.mark.parametrize(
    ("policy", "attempt", "failure", "then"),
    [
        pytest.param(RetryPolicy(3), 2, ASKED, True, id="asked for, and an attempt is left"),
        pytest.param(RetryPolicy(3), 3, ASKED, False, id="the last attempt is the last"),
        pytest.param(RetryPolicy(3), 1, NOT_ASKED, False, id="a failure that did not ask is never retried by the run"),
        pytest.param(None, 1, ASKED, False, id="no policy: fail at once"),
    ],
)
def test_a_business_retry(policy: RetryPolicy | None, attempt: int, failure: TaskFailed, then: bool) -> None:
    assert may_retry(policy, attempt, failure) is then


@pytest.mark.parametrize(
    ("policy", "attempt", "least", "most"),
    [
        pytest.param(RetryPolicy(9, "none", 100), 3, 100, 110, id="T17 none waits the same each time"),
        pytest.param(RetryPolicy(9, "linear", 100), 3, 300, 330, id="T17 linear grows linearly"),
        pytest.param(RetryPolicy(9, "exponential", 100), 4, 800, 880, id="T17 exponential doubles"),
        pytest.param(RetryPolicy(9, "exponential", 100, 500), 9, 500, 500, id="T17 and is capped"),
        pytest.param(RetryPolicy(9), 1, 0, 0, id="no delay unless one is named"),
        pytest.param(RetryPolicy(9, "exponential", 1, 1000), 5000, 1000, 1000, id="a late attempt is no huge number"),
    ],
)
def test_the_delay(policy: RetryPolicy, attempt: int, least: int, most: int) -> None:
    delay = retry_delay_ms(policy, attempt, RUN, TOKEN)
    assert least <= delay <= most
    assert delay == retry_delay_ms(policy, attempt, RUN, TOKEN), "planning twice says the same"
