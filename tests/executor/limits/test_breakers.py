"""`execution.circuit_breaker`: an action that fails for everybody is left alone for a while."""

import asyncio

import pytest

import jeton
from jeton.executor import LoopClock, Resources, TaskCall, ThreadPool, VirtualClock, compile_task, run_task
from jeton.executor.limits.circuit_breakers import CircuitBreakers, CircuitOpen
from jeton.executor.task.run_task import TaskResult
from jeton.model.definition.task import Action, CircuitBreaker, Execution, RetryPolicy
from jeton.model.definition.workflow import Library
from jeton.model.failure import TaskFailed
from jeton.model.ids import RunId, TokenId
from tests.executor.actions.given_action import Bench, failed, limited, succeeded
from tests.executor.given import mock, task

TWO = CircuitBreaker(failures=2, cool_down_ms=100)


class Line:
    """Calls of one action, on a clock that is moved by hand."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.breakers = CircuitBreakers()

    def call(self, answered: bool | None) -> str:
        try:
            with self.breakers.call("a", TWO, self.clock) as attempted:
                attempted.responded = answered
        except CircuitOpen as circuit:
            return f"in {circuit.wait_ms}"
        return "made"


async def test_after_enough_failures_in_a_row_no_call_is_made_until_one_may_try() -> None:
    line = Line()
    assert [line.call(False), line.call(False), line.call(False)] == ["made", "made", "in 100"]
    await line.clock.sleep(40)
    assert line.call(True) == "in 60"
    await line.clock.sleep(60)
    assert [line.call(False), line.call(True)] == ["made", "in 100"], "the one that tried has failed"
    await line.clock.sleep(100)
    assert [line.call(True), line.call(False), line.call(True)] == ["made", "made", "made"]


async def test_one_success_between_them_and_failures_are_not_in_a_row() -> None:
    line = Line()
    assert [line.call(answered) for answered in (False, True, False, True, False)] == ["made"] * 5


async def test_while_one_tries_the_others_wait_and_one_that_was_stopped_has_not_tried() -> None:
    line = Line()
    line.call(False)
    line.call(False)
    await line.clock.sleep(100)
    with line.breakers.call("a", TWO, line.clock):
        assert line.call(True) == "in 100"
    assert line.call(True) == "made", "nobody heard what became of the first"


async def test_actions_have_circuits_of_their_own() -> None:
    line = Line()
    line.call(False)
    line.call(False)
    with line.breakers.call("b", TWO, line.clock) as attempted:
        attempted.responded = True


class Service:
    """Is down until it is mended; counts who asks."""

    def __init__(self, name: str) -> None:
        self.asked = 0
        self.down: type[Exception] | None = ConnectionError

        @jeton.action(name=name)
        async def ask() -> dict[str, int]:
            self.asked += 1
            if self.down is not None:
                raise self.down("refused")
            return {"ok": 1}

        self.action: Action = ask.action


async def test_a_call_that_is_not_made_is_a_passing_failure_that_says_why(bench: Bench) -> None:
    service = Service("refusing")
    given = limited(service.action, circuit_breaker={"failures": 2, "cool_down_ms": 60_000})
    answers = [failed(await bench.call(given, token=number)) for number in range(5)]
    assert [answer.type for answer in answers] == ["ConnectionError"] * 2 + ["circuit_open"] * 3
    assert "2 calls in a row failed" in answers[-1].message
    assert answers[-1].transient
    assert service.asked == 2


async def test_a_failure_that_does_not_pass_is_an_answer(bench: Bench) -> None:
    service = Service("strict")
    service.down = ValueError
    given = limited(service.action, circuit_breaker={"failures": 1})
    assert {failed(await bench.call(given, token=number)).type for number in range(3)} == {"ValueError"}


async def test_a_retry_waits_for_the_circuit(bench: Bench) -> None:
    service = Service("mended")
    policy = {"max_attempts": 3, "initial_delay_ms": 1}
    breaker = {"failures": 1, "cool_down_ms": 50}
    given = limited(service.action, circuit_breaker=breaker, retry_policy=policy)
    assert failed(await bench.call(limited(service.action, circuit_breaker=breaker))).transient
    service.down = None
    assert succeeded(await bench.call(given)) == {"ok": 1}
    assert service.asked == 2


STORM = 200


@pytest.mark.parametrize(
    ("breaker", "fewest", "most"),
    [
        pytest.param(None, 4 * STORM, 4 * STORM, id="without a breaker all come back, again and again"),
        pytest.param(CircuitBreaker(5, 50), 5, STORM // 2, id="with one a few ask"),
    ],
)
async def test_while_a_service_is_down(breaker: CircuitBreaker | None, fewest: int, most: int) -> None:
    service = Service(f"storm{breaker}")
    execution = Execution(retry_policy=RetryPolicy(4, "none", 5), circuit_breaker=breaker)
    given = compile_task(task(Action("python", service.action.implementation, execution=execution)), Library())
    resources = Resources(LoopClock(), ThreadPool(1))

    async def one(number: int) -> TaskResult:
        return await run_task(TaskCall(RunId(f"r{number}"), TokenId(1), "n", 1, {}), given, resources)

    answers = await asyncio.gather(*(one(number) for number in range(STORM)))
    assert all(isinstance(answer, TaskFailed) for answer in answers)
    assert fewest <= service.asked <= most


async def test_an_action_that_never_waits_may_have_one_too(bench: Bench) -> None:
    given = limited(mock(output={"ok": 1}), circuit_breaker={"failures": 1})
    assert succeeded(await bench.call(given)) == {"ok": 1}
