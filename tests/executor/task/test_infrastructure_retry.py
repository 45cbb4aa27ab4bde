"""The same call again, inside the step, unseen by the task."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeton.executor import TransientError, VirtualClock, current_call
from jeton.executor.python.action import action
from jeton.executor.task.run_action import retry_delay_ms
from jeton.executor.task.run_task import TaskResult
from jeton.model.definition.task import Action, Backoff, Execution, RetryPolicy, Step, Task
from jeton.model.failure import TaskFailed
from tests.executor.given import mock, run, task


def flaky(times: int, policy: RetryPolicy | None = None, *, transient: bool = True, delay_ms: int = 0) -> Task:
    """One step whose first calls fail."""
    implementation = mock(output={"ok": 1}, fail={"times": times, "transient": transient}, delay_ms=delay_ms)
    return task(Action("mock", implementation.implementation, execution=Execution(retry_policy=policy)))


@pytest.mark.parametrize(
    ("given", "then", "took_ms"),
    [
        pytest.param(
            flaky(2, RetryPolicy(3)), {"ok": 1}, 0, id="T08 transient twice, then success: three calls, one step"
        ),
        pytest.param(
            flaky(1, RetryPolicy(3, "none", 50, 50)), {"ok": 1}, 50, id="between two calls it waits as the policy says"
        ),
        pytest.param(
            flaky(3, RetryPolicy(3, "none", 50, 50)),
            TaskFailed("mock_failure", "mock failure", "s0", transient=True, calls=3),
            100,
            id="after the last attempt nobody waits",
        ),
        pytest.param(
            flaky(1, RetryPolicy(3), transient=False),
            TaskFailed("mock_failure", "mock failure", "s0"),
            0,
            id="T09 what is not transient is not tried again",
        ),
        pytest.param(
            flaky(1),
            TaskFailed("mock_failure", "mock failure", "s0", transient=True),
            0,
            id="T10 no policy: fails at once",
        ),
        pytest.param(flaky(2, RetryPolicy(3), delay_ms=40), {"ok": 1}, 120, id="each call takes its time"),
    ],
)
def test_the_policy_of_an_action(given: Task, then: TaskResult, took_ms: int) -> None:
    clock = VirtualClock()
    assert (run(given, clock=clock), clock.now()) == (then, took_ms)


def slow(delay_ms: int, timeout_ms: int, attempts: int = 1) -> Action:
    return Action("mock", {"delay_ms": delay_ms}, execution=Execution(timeout_ms, RetryPolicy(attempts)))


@pytest.mark.parametrize(
    ("given", "then", "took_ms"),
    [
        pytest.param(
            task(slow(100, 30)),
            TaskFailed("action_timed_out", "did not finish within 30 ms", "s0", transient=True),
            30,
            id="T11 an action's timeout ends the attempt and is a failure",
        ),
        pytest.param(
            task(slow(100, 30, attempts=3)),
            TaskFailed("action_timed_out", "did not finish within 30 ms", "s0", transient=True, calls=3),
            90,
            id="and a passing one: the policy applies, and each attempt has the whole time",
        ),
        pytest.param(task(slow(30, 30)), {}, 30, id="just in time"),
        pytest.param(
            Task((Step(slow(100, 200), ref="a"), Step(slow(100, 200), ref="b")), timeout_ms=150),
            TaskFailed("timed_out", "the task took longer than 150 ms", "b"),
            150,
            id="the task's timeout counts over all its steps, and asks for no retry",
        ),
        pytest.param(
            Task((Step(slow(100, 40, attempts=9), ref="a", on_failure="retry"),), timeout_ms=60),
            TaskFailed("timed_out", "the task took longer than 60 ms", "a"),
            60,
            id="and over all attempts at an action",
        ),
        pytest.param(
            Task((Step(slow(10, 60, attempts=9), ref="a", on_failure="continue"),), timeout_ms=60), {}, 10, id="in time"
        ),
    ],
)
def test_timeouts(given: Task, then: TaskResult, took_ms: int) -> None:
    clock = VirtualClock()
    assert (run(given, clock=clock), clock.now()) == (then, took_ms)


POLICY = RetryPolicy(20, "exponential", 100, 100_000)


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        pytest.param(RetryPolicy(9, "none", 100), (100, 100, 100, 100), id="none: always the same"),
        pytest.param(RetryPolicy(9, "linear", 100), (100, 200, 300, 400), id="T17 linear grows linearly"),
        pytest.param(RetryPolicy(9, "exponential", 100), (100, 200, 400, 800), id="T17 exponential doubles"),
    ],
)
def test_backoff(policy: RetryPolicy, expected: tuple[int, ...]) -> None:
    for attempt, least in enumerate(expected, start=1):
        assert least <= retry_delay_ms(policy, attempt, "key") <= least * 1.1


@given(
    st.sampled_from(("none", "linear", "exponential")),
    st.integers(0, 10_000),
    st.integers(0, 50_000),
    st.integers(1, 200),
    st.text(),
)
def test_t17_a_delay_never_passes_its_cap(backoff: Backoff, initial: int, cap: int, attempt: int, key: str) -> None:
    assert 0 <= retry_delay_ms(RetryPolicy(9, backoff, initial, cap), attempt, key) <= cap


def test_calls_that_failed_together_do_not_come_back_together() -> None:
    assert len({retry_delay_ms(POLICY, 5, f"run:{token}") for token in range(100)}) > 50


def test_a_delay_is_the_same_when_the_run_is_repeated() -> None:
    assert retry_delay_ms(POLICY, 3, "key") == retry_delay_ms(POLICY, 3, "key")


@pytest.mark.parametrize(
    ("asked", "then"),
    [pytest.param(900, 900, id="longer than the policy"), pytest.param(1, 100, id="shorter is no reason")],
)
def test_the_other_side_may_ask_for_a_longer_wait(asked: int, then: int) -> None:
    assert retry_delay_ms(RetryPolicy(9, "none", 100, 100), 1, "key", retry_after_ms=asked) == then


def test_a_function_may_say_when_to_come_back() -> None:
    @action(retry=RetryPolicy(2))
    async def busy() -> dict[str, int]:
        if current_call().action_attempt == 1:
            raise TransientError("come back later", retry_after_ms=700)
        return {"ok": 1}

    clock = VirtualClock()
    assert (run(task(busy.action), clock=clock), clock.now()) == ({"ok": 1}, 700)


def test_the_idempotency_key_is_one_per_step_and_business_attempt() -> None:
    keys: list[tuple[str, int]] = []

    @action(retry=RetryPolicy(3))
    async def note() -> None:
        keys.append((current_call().idempotency_key, current_call().action_attempt))
        raise TransientError

    given = Task(
        (Step(note.action, ref="pay", on_failure="continue"), Step(note.action, on_failure="continue")),
    )
    run(given, attempt=1)
    redelivered = list(keys)
    run(given, attempt=1)
    assert keys == redelivered * 2
    assert keys[:3] == [("r1:7:1:pay", 1), ("r1:7:1:pay", 2), ("r1:7:1:pay", 3)]
    assert keys[3:6] == [("r1:7:1:1", 1), ("r1:7:1:1", 2), ("r1:7:1:1", 3)]
    run(given, attempt=2)
    assert keys[-1] == ("r1:7:2:1", 3)
