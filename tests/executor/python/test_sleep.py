"""`step.sleep`: the function is left there, called again when it is time, and goes on behind it."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton.executor import ActionFunction, TaskCall, ThreadPool, compile_task, run_task
from jeton.executor.action import Resources
from jeton.executor.event_sink import MemoryEventSink
from jeton.executor.limits.idempotency import MemoryIdempotencyStore
from jeton.executor.python.node_steps import MOMENT_MS
from jeton.executor.task.notes import NoteLimiter
from jeton.executor.task.run_task import TaskResult
from jeton.model.definition.task import Action, Idempotency, Step, Suspended, Task
from jeton.model.definition.workflow import Library
from jeton.model.ids import RunId, TokenId
from jeton.model.json import JsonObject
from jeton.model.note import CostNote, Note
from tests.executor.actions.given_action import Bench, failed
from tests.executor.given import task

DONE: Counter[str] = Counter()


@pytest.fixture(autouse=True)
def nothing_done() -> None:
    DONE.clear()


def do(what: str) -> str:
    DONE[what] += 1
    return what


class Clock:
    """A clock that notes how long it was asked to wait, and does not."""

    def __init__(self) -> None:
        self.slept: list[int] = []

    def now(self) -> int:
        return 0

    async def sleep(self, ms: int) -> None:
        self.slept.append(ms)

    async def within(self, ms: int, work: Any) -> Any:
        return await work


class Night:
    """Calls of one node, between which time passes."""

    def __init__(self, function: ActionFunction[..., Any] | Task) -> None:
        self.wall, self.clock = 1_000, Clock()
        self.costs: list[int] = []
        made = function if isinstance(function, Task) else task(function.action)
        self._ready = compile_task(made, Library())
        self.event_sink = MemoryEventSink()
        self._resources = Resources(
            self.clock,
            ThreadPool(2),
            idempotency=MemoryIdempotencyStore(),
            event_sink=self.event_sink,
            wall_clock=lambda: self.wall,
        )

    async def call(self, **inputs: Any) -> TaskResult:
        given: JsonObject = {"inputs": inputs, "data": {}, "context": {}, "node_id": "n"}
        call = TaskCall(RunId("r"), TokenId(0), "n", 1, given)
        return await run_task(call, self._ready, self._resources, NoteLimiter(self._hear))

    def _hear(self, note: Note) -> None:
        if isinstance(note, CostNote):
            self.costs.append(note.credits)


@jeton.node
async def dozes(step: jeton.Steps) -> dict[str, Any]:
    do("called")
    first = await step.run("first", lambda: do("first"))
    try:
        await step.sleep(10, "nap")
    except Exception:
        do("caught")
    second = await step.run("second", lambda: do("second"))
    await step.sleep(5)
    return {"made": [first, second]}


@jeton.node
def dozes_in_a_thread(step: jeton.BlockingSteps) -> dict[str, Any]:
    do("called")
    first = step.run("first", lambda: do("first"))
    try:
        step.sleep(10, "nap")
    except Exception:
        do("caught")
    second = step.run("second", lambda: do("second"))
    step.sleep(5)
    return {"made": [first, second]}


@pytest.mark.parametrize("function", [dozes, dozes_in_a_thread])
async def test_it_is_left_at_a_sleep_and_goes_on_behind_it(function: ActionFunction[..., Any]) -> None:
    night = Night(function)
    assert await night.call() == Suspended(11_000, "nap")
    night.wall = 4_000
    assert await night.call() == Suspended(11_000, "nap")  # woken too early: it sleeps on, and no longer
    night.wall = 11_000
    assert await night.call() == Suspended(16_000, "sleep 2")
    night.wall = 16_000
    assert await night.call() == {"made": ["first", "second"]}
    assert DONE == {"called": 4, "first": 1, "second": 1}
    assert night.clock.slept == []


async def test_a_moment_is_waited_for_where_it_is() -> None:
    night = Night(dozes)
    await night.call()
    night.wall = 11_000 - MOMENT_MS
    assert await night.call() == Suspended(night.wall + 5_000, "sleep 2")
    assert night.clock.slept == [MOMENT_MS]


# who goes on all the same


@jeton.node
async def swallows(step: jeton.Steps) -> dict[str, Any]:
    try:
        await step.sleep(10, "nap")
    except BaseException:
        do("swallowed")
    return {}


@jeton.node
def swallows_in_a_thread(step: jeton.BlockingSteps) -> dict[str, Any]:
    try:
        step.sleep(10, "nap")
    except:  # noqa: E722 -- as somebody may write it
        do("swallowed")
    return {}


@jeton.node
async def turns_it_into_an_error(step: jeton.Steps) -> dict[str, Any]:
    try:
        await step.sleep(10, "nap")
    except BaseException as error:
        raise ValueError("could not nap") from error
    return {}


@jeton.node
async def takes_a_step_all_the_same(step: jeton.Steps) -> dict[str, Any]:
    try:
        await step.sleep(10, "nap")
    except BaseException:
        do("swallowed")
    return {"made": await step.run("early", lambda: do("early"))}


@jeton.node
def takes_a_step_in_a_thread(step: jeton.BlockingSteps) -> dict[str, Any]:
    for number in range(3):
        try:
            step.sleep(10, f"nap {number}")
        except BaseException:
            do("swallowed")
    return {}


@pytest.mark.parametrize(
    ("function", "sleep", "did"),
    [
        pytest.param(swallows, "nap", "but it returned", id="caught, and returned"),
        pytest.param(swallows_in_a_thread, "nap", "but it returned", id="the same in a thread"),
        pytest.param(turns_it_into_an_error, "nap", "raised ValueError: could not nap", id="made an error of"),
        pytest.param(takes_a_step_all_the_same, "nap", "but it continued", id="caught, and took a step"),
        pytest.param(takes_a_step_in_a_thread, "nap 0", "but it continued", id="caught again and again"),
    ],
)
async def test_whoever_does_not_let_it_pass_fails(function: ActionFunction[..., Any], sleep: str, did: str) -> None:
    failure = failed(await Night(function).call())
    assert (failure.type, failure.retry) == ("sleep_swallowed", False)
    assert f"ended at '{sleep}'" in failure.message
    assert did in failure.message
    assert "catch Exception" in failure.message
    assert DONE["early"] == 0


@jeton.node
async def fails_while_it_cleans_up(step: jeton.Steps) -> None:
    try:
        await step.sleep(10, "nap")
    finally:
        raise KeyError("lost")


@jeton.node
async def fails_beside_its_sleep(step: jeton.Steps) -> None:
    async def fails() -> None:
        await asyncio.sleep(0)
        raise KeyError("lost")

    failing = asyncio.create_task(fails())
    await asyncio.wait([asyncio.create_task(step.sleep(10, "nap")), failing])
    await failing


@pytest.mark.parametrize(
    ("function", "type"),
    [(fails_while_it_cleans_up, "sleep_swallowed"), (fails_beside_its_sleep, "KeyError")],
)
async def test_an_error_of_its_own_is_told_from_one_about_the_sleep(
    function: ActionFunction[..., Any], type: str
) -> None:
    failure = failed(await Night(function).call())
    assert failure.type == type
    assert "lost" in failure.message


# several at a time


@jeton.node
async def sleeps_twice_at_once(step: jeton.Steps) -> dict[str, Any]:
    await asyncio.gather(step.sleep(20, "long"), step.sleep(10, "short"))
    return {"rested": True}


@jeton.node
async def sleeps_in_a_group(step: jeton.Steps) -> dict[str, Any]:
    async with asyncio.TaskGroup() as group:
        group.create_task(step.sleep(20, "long"))
        group.create_task(step.sleep(10, "short"))
    return {"rested": True}


@pytest.mark.parametrize("function", [sleeps_twice_at_once, sleeps_in_a_group])
async def test_of_several_sleeps_the_soonest_wakes_it(function: ActionFunction[..., Any]) -> None:
    night = Night(function)
    assert await night.call() == Suspended(11_000, "short")
    night.wall = 11_000
    assert await night.call() == Suspended(21_000, "long")
    night.wall = 21_000
    assert await night.call() == {"rested": True}


@jeton.node
async def sleeps_beside_a_step(step: jeton.Steps) -> dict[str, Any]:
    _, made = await asyncio.gather(step.sleep(10, "nap"), step.run("beside", lambda: do("beside")))
    return {"made": made}


async def test_a_step_beside_a_sleep_is_taken_once() -> None:
    night = Night(sleeps_beside_a_step)
    assert isinstance(await night.call(), Suspended)
    night.wall = 11_000
    assert await night.call() == {"made": "beside"}
    assert DONE["beside"] == 1


# names and lengths


@jeton.node
async def same_nap_twice(step: jeton.Steps) -> None:
    await step.sleep(0, "nap")
    await step.sleep(0, "nap")


@jeton.node
async def for_so_long(step: jeton.Steps, seconds: float) -> None:
    await step.sleep(seconds)


async def test_a_sleep_has_a_name_of_its_own() -> None:
    assert "its own name" in failed(await Night(same_nap_twice).call()).message


@pytest.mark.parametrize("seconds", [-1, 1e12])
async def test_a_sleep_has_a_length(seconds: float) -> None:
    failure = failed(await Night(for_so_long).call(seconds=seconds))
    assert (failure.type, "100 years" in failure.message) == ("ValueError", True)


# where its place has to be kept


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(Task((Step(Action("mock")), Step(dozes.action))), id="a task with other steps"),
        pytest.param(
            Task((Step(Action("node", dozes.action.implementation, idempotency=Idempotency("'k'"))),)),
            id="an action that runs once per key",
        ),
    ],
)
async def test_where_more_would_be_done_again_it_keeps_its_place(made: Task) -> None:
    night = Night(made)
    assert not isinstance(await night.call(), Suspended)
    assert night.clock.slept == [10_000, 5_000]


# what it costs


@jeton.node
async def costs(step: jeton.Steps) -> None:
    def pay() -> None:
        jeton.current_call().cost(5)

    await step.run("pay", pay)
    jeton.current_call().cost(1)
    await step.sleep(10)
    jeton.current_call().cost(2)


@jeton.node
def costs_in_a_thread(step: jeton.BlockingSteps) -> None:
    step.run("pay", lambda: jeton.current_call().cost(5))
    jeton.current_call().cost(1)
    step.sleep(10)
    jeton.current_call().cost(2)


@pytest.mark.parametrize("function", [costs, costs_in_a_thread])
async def test_what_a_step_cost_counts_once(function: ActionFunction[..., Any]) -> None:
    night = Night(function)
    await night.call()
    assert night.costs == [5, 6]
    night.wall = 11_000
    await night.call()
    assert night.costs == [5, 6, 5, 6, 8]  # of each call, so far


@jeton.node
async def costs_within(step: jeton.Steps) -> None:
    async def outer() -> None:
        await step.run("inner", lambda: jeton.current_call().cost(5))
        do("tried")
        if DONE["tried"] < 2:
            await step.sleep(10, "amid a step")
        jeton.current_call().cost(2)

    await step.run("outer", outer)
    await step.sleep(10)


async def test_a_step_costs_what_those_inside_it_cost() -> None:
    night = Night(costs_within)
    costs: list[list[int]] = []
    for wall in (1_000, 11_000, 21_000):
        night.wall, night.costs = wall, []
        await night.call()
        costs.append(night.costs)
    assert costs == [[5], [5, 7], [7]]


# what it publishes


@jeton.node
async def publishes(step: jeton.Steps, publish: jeton.Publisher) -> None:
    async def inside() -> None:
        await publish("was.said", "in a step")
        await publish("was.said", "in a step, again")

    await publish("was.said", "before")
    await step.run("say", inside)
    await step.sleep(10)
    await publish("was.said", "after")


@jeton.node
def publishes_in_a_thread(step: jeton.BlockingSteps, publish: jeton.BlockingPublisher) -> None:
    def inside() -> None:
        publish("was.said", "in a step")
        publish("was.said", "in a step, again")

    publish("was.said", "before")
    step.run("say", inside)
    step.sleep(10)
    publish("was.said", "after")


@pytest.mark.parametrize("function", [publishes, publishes_in_a_thread])
async def test_what_is_published_around_a_sleep_counts_once_each(function: ActionFunction[..., Any]) -> None:
    night = Night(function)
    await night.call()
    night.wall = 11_000
    await night.call()
    assert [event.data for event in night.event_sink.events] == ["before", "in a step", "in a step, again", "after"]


async def test_being_stopped_is_no_swallowing(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    work = asyncio.ensure_future(bench.call(stays.action, {}))
    while not DONE["cleaning up"]:
        await asyncio.sleep(0)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work


@jeton.node
async def stays(step: jeton.Steps) -> None:
    try:
        await step.sleep(10)
    finally:
        do("cleaning up")
        await asyncio.Event().wait()
