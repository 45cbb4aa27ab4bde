"""`execution: {concurrency, rate_per_s}`: how many at a time, and how many in a second."""

import asyncio
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import jeton
from jeton.executor import Executor, Resources, TaskCall, ThreadPool, VirtualClock, compile_task, run_task
from jeton.executor.limits.limiter import Limiter
from jeton.executor.task.run_task import TaskResult
from jeton.model.definition.task import Action, Execution
from jeton.model.definition.workflow import Library
from jeton.model.effect import StartTask
from jeton.model.ids import RunId, TokenId
from tests.executor.actions.given_action import Bench, action, limited, succeeded
from tests.executor.given import mock, task, unheard


class Door:
    """Counts who is inside, and lets everybody out one by one."""

    def __init__(self, name: str) -> None:
        self.inside = 0
        self.most = 0
        self.order: list[int] = []

        @jeton.action(name=name)
        async def door(run: int = 0) -> dict[str, int]:
            self.inside += 1
            self.most = max(self.most, self.inside)
            self.order.append(run)
            await asyncio.sleep(0.001)
            self.inside -= 1
            return {"ok": 1}

        self.action: Action = door.action


@pytest.mark.parametrize("places", [1, 3])
async def test_no_more_calls_of_an_action_at_a_time_than_it_allows(bench: Bench, places: int) -> None:
    door = Door(f"door{places}")
    given = limited(door.action, concurrency=places)
    await asyncio.gather(*(bench.call(given, token=n) for n in range(12)))
    assert (door.most, len(door.order)) == (places, 12)


async def test_no_more_calls_of_a_kind_than_the_project_allows(bench: Bench) -> None:
    bench.settings = {"concurrency": {"python": 2}}
    door = Door("of_a_kind")
    both = [limited(door.action, concurrency=5), door.action]
    await asyncio.gather(*(bench.call(both[n % 2], token=n) for n in range(12)))
    assert (door.most, len(door.order)) == (2, 12)


async def test_one_large_run_does_not_keep_a_small_one_waiting(bench: Bench) -> None:
    door = Door("fair")
    given = limited(door.action, concurrency=1)
    large = [bench.call(given, {"run": 1}, run="large", token=n) for n in range(30)]
    small = [bench.call(given, {"run": 2}, run="small", token=n) for n in range(2)]
    await asyncio.gather(*large, *small)
    assert max(at for at, run in enumerate(door.order) if run == 2) < 6


async def test_who_is_stopped_while_waiting_takes_no_place(bench: Bench) -> None:
    door = Door("stopped")
    given = limited(door.action, concurrency=1)
    calls = [asyncio.ensure_future(bench.call(given, token=n)) for n in range(5)]
    await asyncio.sleep(0)
    for call in calls[1:4]:
        call.cancel()
    assert succeeded(await calls[4]) == {"ok": 1}
    assert len(door.order) == 2
    assert bench.resources.limiter.__dict__["_semaphores"] == {}, "and nothing is kept of it"


async def test_waiting_for_a_turn_is_no_part_of_an_action_s_time(bench: Bench) -> None:
    door = Door("patient")
    given = limited(door.action, concurrency=1, timeout_ms=500)
    answers = await asyncio.gather(*(bench.call(given, token=n) for n in range(20)))
    assert all(answer == {"ok": 1} for answer in answers)


@given(rate=st.floats(0.1, 50), calls=st.integers(1, 8))
def test_calls_begin_no_faster_than_the_rate(rate: float, calls: int) -> None:
    clock, began = VirtualClock(), list[int]()
    resources = Resources(clock, ThreadPool(1), limiter=Limiter(), folder=Path())
    ready = compile_task(task(Action("mock", execution=Execution(rate_per_s=rate))), Library())
    for n in range(calls):
        work = run_task(TaskCall(RunId("r"), TokenId(n), "n", 1, {}), ready, resources)
        with pytest.raises(StopIteration):
            work.send(None)
        began.append(clock.now())
    assert began[0] == 0
    for n, at in enumerate(began):
        assert at >= n * 1000 / rate
        assert at <= n * (1000 / rate + 1)


async def test_a_retry_is_a_call_too(bench: Bench) -> None:
    given = limited(
        mock(fail={"times": 2, "transient": True}), concurrency=1, rate_per_s=50, retry_policy={"max_attempts": 3}
    )
    began = asyncio.get_running_loop().time()
    assert await bench.call(given) == {}
    assert asyncio.get_running_loop().time() - began >= 0.035


async def test_processes_are_bounded_apart() -> None:
    executor = Executor(processes=2)
    answers, begun = list[TaskResult](), list[int]()
    program = task(action("shell", argv=["sleep", "0.2"]))
    for n in range(4):
        effect = StartTask(TokenId(n), "n", 1, 1, {})
        executor.start(RunId("r"), effect, program, Library(), partial(begun.append, n), unheard, answers.append)
    await asyncio.sleep(0.05)
    assert begun == [0, 1]
    async with asyncio.timeout(20):
        while len(answers) < 4:
            await asyncio.sleep(0.01)
    await executor.close(0)
